"""Masses and loads of one instant for the equations of motion, as tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from groups.dynamics.forces import wrenches_of
from groups.dynamics.forward.elements import Linear, is_linear
from groups.dynamics.masses import MassTable
from groups.dynamics.state import State
from groups.rotations import plane_rotation, rotation_of, twist_in_space
from groups.trajectory import Trajectory
from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.bounds import LARGEST_LOAD, range_fault
from mbssa.joints.axes import in_space
from mbssa.joints.frames import Frames

#: A force, N, or torque, N m, along a coordinate: constant, or a function of time.
Applied = float | Callable[[float], float]


class Loads:
    """Force elements and forces applied along joint coordinates, of a mechanism at one instant."""

    def __init__(
        self, mechanism: Mechanism, frames: Frames, applied: Mapping[str, Applied], compiled: bool
    ) -> None:
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
        linear = [force for force in mechanism.forces if is_linear(force)]
        self.others = [force for force in mechanism.forces if not is_linear(force)]
        self._linear: Linear | None = None
        if linear or applied:
            self._position[:, 0] = frames.position[:, : self._position.shape[2]]
            if not self.planar:
                self._orientation[:, 0, 0] = 1.0
            names = [_canonical(mechanism, name) for name in applied]
            self._linear = Linear(mechanism, frames, linear, names, self._state(), compiled)

    @property
    def longest_step(self) -> float:
        """s that a step may take, so that turns of angles with torsion springs are counted right."""
        return math.inf if self._linear is None else self._linear.longest_step

    def at(self, time: float, position: Floats, orientation: Floats, velocity: Floats) -> Floats:
        """Loads (N, 6), planar (N, 3), but weight and inertia, about the bodies' origins, world axes."""
        if self._linear is None and not self.others:
            return self._none
        found = np.zeros((len(position), 6))
        if self._linear is not None:
            given = {name: float(v(time) if callable(v) else v) for name, v in self.applied.items()}
            self._linear.at(position, orientation, velocity, given, found)
        if self.others:
            self._time[0] = time
            self._position[:, 0], self._orientation[:, 0] = position, orientation
            self._velocity[:, 0] = velocity
            state = self._state()
            for force in self.others:
                for wrench in wrenches_of(force, state):
                    found[wrench.body] += wrench.about(state.position[wrench.body])[0]
        if not self.planar:
            return found
        flat = np.empty((len(found), 3))
        flat[:, :2], flat[:, 2] = found[:, :2], found[:, 5]
        return flat

    def _state(self) -> State:
        flat = self._orientation
        rotation = plane_rotation(flat) if self.planar else rotation_of(flat)
        angle = flat if self.planar else np.zeros(flat.shape[:2])
        return State(
            self._trajectory.mechanism, self.frames, in_space(self._position), rotation, angle,
            self._trajectory, twist_in_space(self._velocity), self._still,
        )  # fmt: skip


def _canonical(mechanism: Mechanism, text: str) -> str:
    joint, _, coordinate = text.rpartition(".")
    return f"{mechanism.joint(joint).id}.{coordinate}"


def applied_faults(applied: Mapping[str, Applied], mechanism: Mechanism) -> list[str]:
    """Faults of applied forces: unknown joints and coordinates."""
    faults = []
    for name, value in applied.items():
        if not callable(value) and (fault := range_fault(value, largest=LARGEST_LOAD)):
            faults.append(f"applied {name!r} {fault}")
        joint, _, coordinate = name.rpartition(".")
        try:
            there = mechanism.joint(joint).type.drivable
        except KeyError as error:
            faults.append(f"applied {name!r}: {error.args[0]}")
            continue
        if coordinate not in there:
            faults.append(f"applied {name!r}: joint {joint} has {', '.join(there) or 'no coordinates'}")
    return faults
