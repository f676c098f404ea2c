"""Motion of all bodies in one form: spatial, body by body, world axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from groups.dynamics.gears import with_teeth
from groups.joint_jacobian import PosesOverTime
from groups.rotations import plane_rotation, rotation_of, twist_in_space
from mbssa.arrays import Floats
from mbssa.joints.axes import cross, in_space

if TYPE_CHECKING:
    from groups.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class State(PosesOverTime):
    """Poses, twists and accelerations of N bodies at T instants."""

    trajectory: Trajectory
    twist: Floats  # (N, T, 6) linear of the origin, then angular
    acceleration: Floats  # (N, T, 6)
    # Bodies that have a state, the others are zero; None: all.
    known: Sequence[int] | None = field(default=None, kw_only=True)

    @staticmethod
    def of(trajectory: Trajectory, bodies: Sequence[int] | None = None) -> State:
        """State of a trajectory; of some bodies only if they are named, the others are zero."""
        if len(trajectory.kept) < trajectory.mechanism.n_bodies:
            raise ValueError("forces need all bodies; solve without bodies=…")
        if trajectory.velocity is None or trajectory.acceleration is None:
            raise ValueError('forces need accelerations; solve with level="acceleration"')
        mechanism, planar = trajectory.mechanism, trajectory.planar
        some = None if bodies is None else list(bodies)
        which = slice(None) if some is None else some
        arrays = (trajectory.position, trajectory.orientation, trajectory.velocity, trajectory.acceleration)
        place, flat, rate, second = (array.swapaxes(0, 1)[which] for array in arrays)
        rotation = plane_rotation(flat) if planar else rotation_of(flat)
        angle = flat if planar else np.zeros(flat.shape[:2])
        # Products of matrices round by how these lie in memory: not by which bodies are wanted.
        position, rotation, angle, twist, acceleration = (
            np.ascontiguousarray(each) if some is None else _spread(each, some, mechanism.n_bodies)
            for each in (in_space(place), rotation, angle, twist_in_space(rate), twist_in_space(second))
        )
        return State(
            mechanism, with_teeth(mechanism, trajectory.reference)[0], position, rotation, angle, trajectory,
            twist, acceleration, known=some,
        )  # fmt: skip

    def arm(self, body: int, point: Floats) -> Floats:
        """Vector (T, 3) from a body's origin to its point, given in world coordinates at the reference."""
        local = self.frames.rotation[body].T @ (in_space(point) - self.frames.position[body])
        found: Floats = self.rotation[body] @ local
        return found

    def velocity(self, body: int, arm: Floats) -> Floats:
        """Velocity (T, 3) of a point of a body."""
        found: Floats = self.twist[body, :, :3] + cross(self.twist[body, :, 3:], arm)
        return found

    def second(self, body: int, arm: Floats) -> Floats:
        """Acceleration (T, 3) of a point of a body."""
        spin, second = self.twist[body, :, 3:], self.acceleration[body]
        found: Floats = second[:, :3] + cross(second[:, 3:], arm) + cross(spin, cross(spin, arm))
        return found


def _spread(array: Floats, bodies: list[int], n_bodies: int) -> Floats:
    """The rows of some bodies among zeros of the others, which take no memory until they are touched."""
    found = np.zeros((n_bodies, *array.shape[1:]))
    found[bodies] = array
    return found
