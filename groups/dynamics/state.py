"""All bodies of a solved motion in one form: spatial, body by body, world axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from groups.rotations import cross, in_space, plane_rotation, rotation_of, twist_in_space

if TYPE_CHECKING:
    from groups.trajectory import Trajectory
    from mbssa.joints.frames import Frames

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class State:
    """Poses, twists and accelerations of N bodies at T instants.

    Attributes
    ----------
    trajectory : the motion; frames : geometry at its reference, m
    position : (N, T, 3) m, of each body's origin; rotation : (N, T, 3, 3); angle : (N, T) rad, planar alone
    twist, acceleration : (N, T, 6) linear of the origin, then angular
    centre : (N, T, 3) m, the mean of each body's joints: what its loads are taken about
    """

    trajectory: Trajectory
    frames: Frames
    position: Floats
    rotation: Floats
    angle: Floats
    twist: Floats
    acceleration: Floats
    centre: Floats

    @staticmethod
    def of(trajectory: Trajectory) -> State:
        """The state of a trajectory.

        Raises
        ------
        ValueError
            Not all bodies, or no accelerations, were kept.
        """
        if len(trajectory.kept) < trajectory.mechanism.n_bodies:
            raise ValueError("forces need all bodies; solve without bodies=…")
        if trajectory.velocity is None or trajectory.acceleration is None:
            raise ValueError('forces need accelerations; solve with level="acceleration"')
        frames, flat = trajectory.reference, trajectory.orientation.swapaxes(0, 1)
        planar = flat.ndim == 2
        rotation = plane_rotation(flat) if planar else rotation_of(flat)
        position = in_space(trajectory.position.swapaxes(0, 1))
        return State(
            trajectory,
            frames,
            position,
            rotation,
            flat if planar else np.zeros(flat.shape[:2]),
            twist_in_space(trajectory.velocity.swapaxes(0, 1)),
            twist_in_space(trajectory.acceleration.swapaxes(0, 1)),
            position + np.einsum("ntab,nb->nta", rotation, frames.centre),
        )

    @property
    def instants(self) -> int:
        """T."""
        return int(self.position.shape[1])

    def at(self, instants: npt.NDArray[np.intp]) -> State:
        """The state at some instants."""
        arrays = (self.position, self.rotation, self.angle, self.twist, self.acceleration, self.centre)
        return State(
            self.trajectory.instants(instants), self.frames, *(each[:, instants] for each in arrays)
        )  # fmt: skip

    def frame_of(self, joint: int) -> tuple[Floats, Floats]:
        """Origin (T, 3), m, of a joint's frame on its second body; axes (T, 3, 3) of that on its first."""
        first, second = self.trajectory.mechanism.joint_bodies(joint)[:2]
        place: Floats = self.position[second] + self.rotation[second] @ self.frames.origin[joint, 1]
        axes: Floats = self.rotation[first] @ self.frames.axes[joint, 0]
        return place, axes

    def arm(self, body: int, point: Floats) -> Floats:
        """(T, 3) from a body's origin to its point, given in world coordinates at the reference."""
        local = self.frames.rotation[body].T @ (in_space(point) - self.frames.position[body])
        found: Floats = self.rotation[body] @ local
        return found

    def velocity(self, body: int, arm: Floats) -> Floats:
        """(T, 3) velocity of a point of a body."""
        found: Floats = self.twist[body, :, :3] + cross(self.twist[body, :, 3:], arm)
        return found

    def second(self, body: int, arm: Floats) -> Floats:
        """(T, 3) acceleration of a point of a body."""
        spin, second = self.twist[body, :, 3:], self.acceleration[body]
        found: Floats = second[:, :3] + cross(second[:, 3:], arm) + cross(spin, cross(spin, arm))
        return found
