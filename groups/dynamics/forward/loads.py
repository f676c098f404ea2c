"""Masses and loads of one instant, for the equations of motion of all bodies."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from groups.dynamics.forces import TYPES
from groups.dynamics.forces.at import Solved, coordinate_fault
from groups.dynamics.masses import MassTable
from groups.dynamics.state import State
from groups.rotations import plane_rotation, rotation_of, twist_in_space
from groups.trajectory import Trajectory
from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.bounds import LARGEST_LOAD, range_fault
from mbssa.graph.nodes import Number
from mbssa.joints.axes import in_space
from mbssa.joints.catalogue import is_length
from mbssa.joints.frames import Frames

#: Largest rotation in a step, rad, less than half a turn, so that turns are counted correctly.
FARTHEST = 1.5
#: A force, N, or torque, N m, along a coordinate: constant, or a function of time.
Applied = float | Callable[[float], float]


class Loads:
    """Force elements and forces applied along joint coordinates, of a mechanism at one instant."""

    def __init__(self, mechanism: Mechanism, frames: Frames, applied: Mapping[str, Applied]) -> None:
        n, self.planar = mechanism.n_bodies, mechanism.space == "planar"
        self.frames, self.applied = frames, dict(applied)
        self.table = MassTable.of(mechanism, frames)
        wide = 3 if self.planar else 6
        self._time = np.zeros(1)
        self._position = np.zeros((n, 1, 2 if self.planar else 3))
        self._orientation = np.zeros((n, 1) if self.planar else (n, 1, 4))
        self._velocity = np.zeros((n, 1, wide))
        self._still = np.zeros((n, 1, 6))
        self._none = np.zeros((n, wide))
        quality = np.zeros((1, 1))
        # One view of these arrays for all instants: an evaluation allocates nothing.
        self._trajectory = Trajectory(
            mechanism, self._time, self._position.swapaxes(0, 1), self._orientation.swapaxes(0, 1),
            self._velocity.swapaxes(0, 1), np.zeros((1, n, wide)), quality.astype(np.int8), quality,
            quality.astype(np.int64), quality + 1.0, np.arange(n), group_names=("all",),
        )  # fmt: skip
        vars(self._trajectory)["reference"] = frames
        self._forces = mechanism.forces
        #: By name of a coordinate, its value at the end of the last step, and then its value and rate now.
        self._counted: dict[str, float] = {}
        self._now: dict[str, tuple[float, float]] = {}

    @property
    def longest_step(self) -> float:
        """s that a step may take, so that turns of angles with forces are counted right."""
        fastest = max((abs(rate) for _, rate in self._now.values()), default=0.0)
        return FARTHEST / fastest if fastest > 0.0 else math.inf

    def at(self, time: float, position: Floats, orientation: Floats, velocity: Floats) -> Floats:
        """Loads (N, 6), planar (N, 3), but weight and inertia, about the bodies' origins, world axes."""
        if not (self._forces or self.applied):
            return self._none
        self._time[0] = time
        self._position[:, 0], self._orientation[:, 0] = position, orientation
        self._velocity[:, 0] = velocity
        at, found = _Counting(self._state(), self._counted, self._now), np.zeros((len(position), 6))
        with np.errstate(invalid="ignore", divide="ignore"):
            for force in self._forces:
                TYPES[force.type].exert(force, at)
            for name, value in self.applied.items():
                at.along(name, float(value(time) if callable(value) else value))
        for wrench in at.wrenches:
            found[wrench.body] += wrench.about(at.state.position[wrench.body].T)[:, 0]
        if not self.planar:
            return found
        flat = np.empty((len(found), 3))
        flat[:, :2], flat[:, 2] = found[:, :2], found[:, 5]
        return flat

    def turn(self) -> None:
        """Continue the turns of angles from the last evaluation."""
        self._counted |= {name: value for name, (value, _) in self._now.items()}

    def _state(self) -> State:
        flat = self._orientation
        rotation = plane_rotation(flat) if self.planar else rotation_of(flat)
        angle = flat if self.planar else np.zeros(flat.shape[:2])
        return State(
            self._trajectory.mechanism, self.frames, in_space(self._position), rotation, angle,
            self._trajectory, twist_in_space(self._velocity), self._still,
        )  # fmt: skip


class _Counting(Solved):
    """Loads at an instant, with angles that count turns."""

    def __init__(
        self, state: State, counted: Mapping[str, float], now: dict[str, tuple[float, float]]
    ) -> None:  # fmt: skip
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
