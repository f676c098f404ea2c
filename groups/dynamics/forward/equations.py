"""Interface of a method: equations of motion as an initial-value problem of a state vector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from mbssa import Mechanism
from mbssa.arrays import Floats


class CannotGoOnError(ValueError):
    """The equations of motion have no solution in any choice of coordinates."""


@dataclass(frozen=True, eq=False)
class Instant:
    """All bodies at one instant, in the form of a trajectory's arrays without the time axis."""

    position: Floats
    orientation: Floats
    velocity: Floats
    acceleration: Floats
    condition: float  # smallest over largest pivot of the equations: 1 well conditioned, 0 singular


class Equations(Protocol):
    """Equations of motion of one method."""

    mechanism: Mechanism  # its driven coordinates are those of the method
    start: Floats  # (n,) state at the beginning; its last entry is the work of all loads but weight, J
    coordinates: tuple[str, ...]  # independent ones; empty for methods that have none
    evaluations: int  # of the equations of motion, so far
    notes: list[str]  # remarks on the run for the user

    @property
    def longest_step(self) -> float:
        """s that a step may take."""
        ...

    def rate(self, t: float, y: Floats) -> Floats:
        """Derivative (n,) of a state; NaN where the bodies cannot be placed."""
        ...

    def settle(self, t: float, y: Floats) -> Floats | None:
        """The state after an accepted step, projected on the constraints; None where it is unchanged."""
        ...

    def instant(self, t: float, y: Floats) -> Instant:
        """All bodies in a state."""
        ...

    def renewed(self, t: float, y: Floats) -> Equations | None:
        """The same motion in other independent coordinates where these are ill-conditioned; else None."""
        ...
