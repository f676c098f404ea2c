"""Masses and loads of one instant, for the equations of motion: tables that are made once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from groups.dynamics.forces import wrenches_of
from groups.dynamics.forward.elements import Linear, is_linear
from groups.dynamics.state import State
from groups.rotations import in_space, plane_rotation, rotation_of, twist_in_space
from groups.trajectory import Trajectory
from mbssa import Mechanism
from mbssa.joints.frames import Frames

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: A force, N, or torque, N m, along a coordinate: constant, or a function of time.
Applied = float | Callable[[float], float]


@dataclass(frozen=True, eq=False)
class MassTable:
    """Bodies with mass.

    Attributes
    ----------
    body : (b,) indices; mass : (b,) kg
    centre : (b, 3) m, centre of mass from the body's origin in its own axes; planar: (b, 2)
    moment : (b, 3, 3) kg m², about the centre of mass in body axes; planar: (b, 1, 1)
    gravity : (3,) m/s²
    """

    body: Ints
    mass: Floats
    centre: Floats
    moment: Floats
    gravity: Floats

    @staticmethod
    def of(mechanism: Mechanism, frames: Frames) -> MassTable:
        """The table of a mechanism."""
        given = [
            (body, geometry.inertia)
            for body, geometry in sorted(mechanism.body_geometry.items())
            if geometry.inertia is not None and body > 0
        ]
        planar = mechanism.space == "planar"
        centre = np.zeros((len(given), 3))
        for row, (body, inertia) in enumerate(given):
            out = in_space(np.array(inertia.centre)) - frames.position[body]
            centre[row] = frames.rotation[body].T @ out
        moment = np.array([inertia.matrix for _, inertia in given]).reshape(-1, 3, 3)
        gravity = np.zeros(3) if mechanism.gravity is None else in_space(np.array(mechanism.gravity))
        return MassTable(
            np.array([body for body, _ in given], dtype=np.int64),
            np.array([inertia.mass for _, inertia in given], dtype=np.float64),
            np.ascontiguousarray(centre[:, :2]) if planar else centre,
            np.ascontiguousarray(moment[:, 2:, 2:]) if planar else moment,
            gravity,
        )


class Loads:
    """Force elements and applied forces of a mechanism at one instant.

    Parameters
    ----------
    applied : further forces by joint coordinate, positive along it
    """

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
        # One view of these arrays for all instants: nothing is built anew in an evaluation.
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
            self._linear = Linear(mechanism, frames, linear, list(applied), self._state(), compiled)

    @property
    def longest_step(self) -> float:
        """s that a step may take, so that turns of angles with torsion springs are counted right."""
        return math.inf if self._linear is None else self._linear.longest_step

    def at(self, time: float, position: Floats, orientation: Floats, velocity: Floats) -> Floats:
        """(N, 6) force at each body's origin, N, and moment about it, N m, world axes; planar: (N, 3).

        Weight and inertia are not among them.
        """
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
        position = in_space(self._position)
        return State(
            self._trajectory,
            self.frames,
            position,
            rotation,
            flat if self.planar else np.zeros(flat.shape[:2]),
            twist_in_space(self._velocity),
            self._still,
            position + (rotation @ self.frames.centre[:, None, :, None])[..., 0],
        )


def applied_faults(applied: Mapping[str, Applied], mechanism: Mechanism) -> list[str]:
    """Faults of applied forces: joints and coordinates that there are not."""
    faults = []
    for name in applied:
        joint, _, coordinate = name.rpartition(".")
        try:
            there = mechanism.joint(joint).type.drivable
        except KeyError as error:
            faults.append(f"applied {name!r}: {error.args[0]}")
            continue
        if coordinate not in there:
            faults.append(f"applied {name!r}: joint {joint} has {', '.join(there) or 'no coordinates'}")
    return faults
