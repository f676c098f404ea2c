"""Motion of all bodies in one form: spatial, body by body, world axes."""

# Arrays have the time last in memory, and with it first as views. What is computed of vectors has the
# components first, so that the formulas of ``mbssa.graph.frames`` take it.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from groups.joint_jacobian import PosesOverTime
from groups.rotations import plane_rotation, rotation_of, twist_in_space
from mbssa.arrays import Floats
from mbssa.graph.frames import cross, minus, plus
from mbssa.joints.axes import in_space

if TYPE_CHECKING:
    from groups.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class State(PosesOverTime):
    """Poses, twists and accelerations of N bodies at T instants."""

    twist: Floats  # (N, T, 6) linear of the origin, then angular
    acceleration: Floats  # (N, T, 6)
    trajectory: Trajectory

    @staticmethod
    def of(trajectory: Trajectory, bodies: Sequence[int] | None = None) -> State:
        """State of a trajectory; of some bodies only if they are named, the others are zero."""
        if len(trajectory.kept) < trajectory.mechanism.n_bodies:
            raise ValueError("forces need all bodies; solve without bodies=…")
        if trajectory.velocity is None or trajectory.acceleration is None:
            raise ValueError('forces need accelerations; solve with level="acceleration"')
        mechanism, planar = trajectory.mechanism, trajectory.planar
        which = slice(None) if bodies is None else list(bodies)
        arrays = (trajectory.position, trajectory.orientation, trajectory.velocity, trajectory.acceleration)
        place, flat, *rates = (array.swapaxes(0, 1)[which] for array in arrays)
        rotation = plane_rotation(flat) if planar else rotation_of(flat)
        angle = flat if planar else np.zeros(flat.shape[:2])

        def laid(array: Floats) -> Floats:
            found = np.zeros((mechanism.n_bodies, *array.shape[2:], array.shape[1]))
            found[which] = np.moveaxis(array, 1, -1)
            return np.moveaxis(found, -1, 1)

        motion = (in_space(place), rotation, angle, *map(twist_in_space, rates))
        position, rotation, angle, twist, acceleration = map(laid, motion)
        poses = mechanism, trajectory.reference, position, rotation, angle
        return State(*poses, twist, acceleration, trajectory)

    @cached_property
    def scale(self) -> Floats:
        """(6, 1): size, m, of forces, 1 of moments."""
        return np.array([self.frames.size] * 3 + [1.0] * 3)[:, None]

    def motion(self, body: int) -> Floats:
        """Velocity over the size of a body's point at the point of all loads, angular velocity: (6, T)."""
        linear, spin = np.split(self.twist[body].T, 2)
        moved = np.array(plus(linear, cross(spin, minus(self.point, self.position[body].T))))
        return np.concatenate([moved / self.frames.size, spin])
