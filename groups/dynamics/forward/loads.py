"""Masses and loads of one instant, for the equations of motion of all bodies."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from groups.dynamics.forces import TYPES
from groups.dynamics.forces.at import Solved, coordinate_fault
from groups.dynamics.forward.equations import Measured
from groups.dynamics.masses import MassTable
from groups.dynamics.state import State
from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.bounds import LARGEST_LOAD, range_fault
from mbssa.graph.nodes import Number
from mbssa.joints.catalogue import is_length
from mbssa.joints.frames import Frames

#: Largest rotation in a step, rad, less than half a turn, so that turns are counted correctly.
FARTHEST = 1.5
#: A force, N, or torque, N m, along a coordinate: constant, or a function of time.
Applied = float | Callable[[float], float]


class Loads:
    """Force elements and forces applied along joint coordinates, of a mechanism at one instant."""

    def __init__(self, mechanism: Mechanism, frames: Frames, applied: Mapping[str, Applied]) -> None:
        self.mechanism, self.frames, self.applied = mechanism, frames, dict(applied)
        self.planar, self.table = mechanism.space == "planar", MassTable.of(mechanism, frames)
        #: By name of a coordinate, its value at the end of the last step, and then its value and rate now.
        self._counted: dict[str, float] = {}
        self._now: dict[str, tuple[float, float]] = {}

    @property
    def longest_step(self) -> float:
        """s that a step may take, so that turns of angles with forces are counted right."""
        fastest = max((abs(rate) for _, rate in self._now.values()), default=0.0)
        return FARTHEST / fastest if fastest > 0.0 else math.inf

    def at(self, time: float, parts: Sequence[Floats]) -> Floats:
        """Loads (N, 6), planar (N, 3), but weight and inertia, about the bodies' origins, world axes."""
        position, orientation, velocity, *others = parts  # as of absolute.Bodies.unpacked
        if not (self.mechanism.forces or self.applied):
            return np.zeros_like(velocity)
        one, zero = np.ones(1), np.zeros((2, 1))
        rate = velocity[None]
        measured = Measured(position[None], orientation[None], rate, 0.0 * rate, one, zero, zero[0])
        trajectory = measured.trajectory(self.mechanism, time * one)
        vars(trajectory)["reference"] = self.frames
        place, rotation, twist = (x[:, None] for x in others)
        angle = orientation[:, None] if self.planar else np.zeros((len(place), 1))
        state = State(self.mechanism, self.frames, place, rotation, angle, trajectory, twist, 0.0 * twist)
        at, found = _Counting(state, self._counted, self._now), np.zeros((len(place), 6))
        with np.errstate(invalid="ignore", divide="ignore"):
            for force in self.mechanism.forces:
                TYPES[force.type].exert(force, at)
            for name, value in self.applied.items():
                at.along(name, float(value(time) if callable(value) else value))
        for wrench in at.wrenches:
            found[wrench.body] += wrench.about(at.state.position[wrench.body].T)[:, 0]
        return found[:, [0, 1, 5]] if self.planar else found

    def turn(self) -> None:
        """Continue the turns of angles from the last evaluation."""
        self._counted |= {name: value for name, (value, _) in self._now.items()}


class _Counting(Solved):
    """Loads at an instant, with angles that count turns."""

    def __init__(
        self, state: State, counted: Mapping[str, float], now: dict[str, tuple[float, float]]
    ) -> None:
        super().__init__(state)
        self.last, self.now = counted, now

    def coordinate(self, name: str) -> tuple[Number, Number]:
        value, rate = super().coordinate(name)
        if not is_length(name.rpartition(".")[2]):
            last = self.last.get(name, float(value[0]))
            value = value + 2 * np.pi * np.round((last - value) / (2 * np.pi))
            self.now[name] = float(value[0]), float(rate[0])
        return value, rate


def applied_faults(applied: Mapping[str, Applied], mechanism: Mechanism) -> list[str]:
    """Faults of applied forces: unknown joints and coordinates."""
    faults = []
    for name, value in applied.items():
        if isinstance(value, str):
            faults.append(f"applied {name!r} is a text; give a number or a function of time")
        elif not callable(value) and (fault := range_fault(value, largest=LARGEST_LOAD)):
            faults.append(f"applied {name!r} {fault}")
        if fault := coordinate_fault(mechanism, name):
            faults.append(f"applied {name!r}: {fault}")
    return faults
