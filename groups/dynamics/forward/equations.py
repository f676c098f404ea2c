"""Equations of motion of a method as an initial-value problem of a state vector."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from groups.dynamics.forces.at import coordinate_fault
from groups.dynamics.forward.program import Measured, Program
from groups.dynamics.masses import massless
from mbssa.bounds import LARGEST_LOAD, range_fault

if TYPE_CHECKING:
    from groups.model import Model
    from groups.motion import Law
    from groups.trajectory import Trajectory
    from mbssa import Mechanism
    from mbssa.arrays import Floats

#: A force, N, or torque, N m, along a coordinate: constant, or a function of time.
Applied = float | Callable[[float], float]


class CannotGoOnError(ValueError):
    """The equations of motion have no solution in any choice of coordinates."""


def too_small(t: float) -> str:
    """Fault of a run whose steps have become too small."""
    return (
        f"t = {t:.9g} s: no step is small enough for the tolerance, as forces or rates jump or grow without "
        "bound; see whether they are meant and whether points of a spring meet, or take a larger tolerance"
    )


class Equations(ABC):
    """Equations of motion of one method."""

    start: Floats  # (n,) state at the beginning; its last entry is the work of all loads but weight, J

    def __init__(
        self, model: Model, applied: Mapping[str, Applied], laws: Mapping[str, Law], method: str
    ) -> None:
        self.model, self.mechanism, self.applied, self.laws = model, model.mechanism, applied, laws
        asks = bool(laws) or any(map(callable, applied.values()))
        self.program = Program.of(model, tuple(applied), tuple(laws), asks, method)
        self.traced = self.program.traced
        #: Evaluations so far, and what rows may leave over their weights.
        self.evaluations, self.allowed = 0, np.inf
        #: Whole turns in rows (m,) at the beginning.
        self.turns = np.zeros(self.traced.m)

    @abstractmethod
    def rate(self, t: float, y: Floats) -> Floats:
        """Derivative (n,) of a state; NaN where the bodies cannot be placed."""

    def settle(self, t: float, y: Floats) -> Floats | None:
        """The state after an accepted step, projected on the constraints; None where it is unchanged."""
        return None

    @abstractmethod
    def sample(self, t: float, y: Floats) -> Floats:
        """Numbers of a state that a sample keeps; nothing is changed."""

    def hindered(self, t: float, y: Floats) -> str:
        """A reason for small steps in a state that ends a run; empty where none is known."""
        return ""

    @abstractmethod
    def weakest(self, t: float, sample: Floats) -> str:
        """The group that is nearest to a singular position."""

    def measured(self, time: Floats, samples: Floats) -> Measured:
        """All bodies at the times (T,) of some samples (T, …)."""
        laws = np.array([law(time) for law in self.laws.values()]).reshape(-1, len(time))
        return self.program.measured(time, samples, laws, self.allowed, self.turns)

    def instant(self, t: float, y: Floats) -> Trajectory:
        """All bodies in a state, as a trajectory of one instant."""
        return self.measured(np.array([t]), self.sample(t, y)[None]).trajectory


def applied_faults(applied: Mapping[str, Applied], mechanism: Mechanism) -> list[str]:
    """Faults of applied forces, unknown joints and coordinates, and of a mechanism without masses."""
    faults = []
    for name, value in applied.items():
        if isinstance(value, str):
            faults.append(f"applied {name!r} is a text; give a number or a function of time")
        elif not callable(value) and (fault := range_fault(value, largest=LARGEST_LOAD)):
            faults.append(f"applied {name!r} {fault}")
        if fault := coordinate_fault(mechanism, name):
            faults.append(f"applied {name!r}: {fault}")
    if len(massless(mechanism)) == mechanism.n_bodies - 1:
        faults.append("no body has mass; give bodies an inertia = { mass = …, centre = …, … }")
    return faults
