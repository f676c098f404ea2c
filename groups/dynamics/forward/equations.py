"""Interface of a method: equations of motion as an initial-value problem of a state vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from groups.trajectory import Trajectory
from mbssa import Mechanism
from mbssa.arrays import Floats


class CannotGoOnError(ValueError):
    """The equations of motion have no solution in any choice of coordinates."""


@dataclass(frozen=True, eq=False)
class Measured:
    """All bodies at T samples, in the form of a trajectory's arrays, their energies and errors."""

    position: Floats
    orientation: Floats
    velocity: Floats
    acceleration: Floats
    condition: Floats  # (T,) smallest over largest pivot of the equations: 1 well conditioned, 0 singular
    off: Floats  # (2, T) largest residual of the constraints, m, and of their rates, m/s
    work: Floats  # (T,) J
    energies: tuple[Floats, Floats, Floats] | None = None  # (T,) J: kinetic, of gravity, of elements
    inside: Sequence[str] = ()  # coordinates that keep within their limits; others may, too
    fault: tuple[int, str] | None = None  # a sample, and what is off its balance there

    def trajectory(self, mechanism: Mechanism, time: Floats) -> Trajectory:
        """The bodies as a trajectory with one group, the whole mechanism."""
        position, orientation, velocity, acceleration = (  # stored body by body
            np.ascontiguousarray(array.swapaxes(0, 1))
            for array in (self.position, self.orientation, self.velocity, self.acceleration)
        )
        if orientation.ndim == 3:  # quaternions of one body keep their sign
            inner = (orientation[:, 1:] * orientation[:, :-1]).sum(axis=2)
            orientation[:, 1:] *= np.cumprod(np.where(inner < 0, -1.0, 1.0), axis=1)[..., None]
        zero = np.zeros((len(time), 1))
        return Trajectory(
            mechanism, time, position.swapaxes(0, 1), orientation.swapaxes(0, 1), velocity.swapaxes(0, 1),
            acceleration.swapaxes(0, 1), zero.astype(np.int8), zero, zero.astype(np.int64),
            self.condition[:, None], np.arange(len(position)), group_names=("the whole mechanism",),
        )  # fmt: skip


class Equations(Protocol):
    """Equations of motion of one method."""

    mechanism: Mechanism  # its driven coordinates are those of the method
    start: Floats  # (n,) state at the beginning; its last entry is the work of all loads but weight, J
    evaluations: int  # of the equations of motion, so far

    @property
    def longest_step(self) -> float:
        """s that a step may take."""

    def rate(self, t: float, y: Floats) -> Floats:
        """Derivative (n,) of a state; NaN where the bodies cannot be placed."""

    def settle(self, t: float, y: Floats) -> Floats | None:
        """The state after an accepted step, projected on the constraints; None where it is unchanged."""

    def sample(self, t: float, y: Floats) -> Floats:
        """Numbers of a state that a sample keeps."""

    def measured(self, time: Floats, samples: Floats) -> Measured:
        """All bodies at the times (T,) of some samples (T, …)."""

    def weakest(self, t: float, sample: Floats) -> str:
        """The group that is nearest to a singular position."""


def instant(equations: Equations, t: float, y: Floats) -> Trajectory:
    """All bodies in a state, as a trajectory of one instant."""
    time = np.array([t])
    return equations.measured(time, equations.sample(t, y)[None]).trajectory(equations.mechanism, time)
