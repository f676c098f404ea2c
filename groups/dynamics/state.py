"""All bodies of a solved motion in one form: spatial, body by body, world axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
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
    known : bodies that have a state, the others are zero; None: all
    """

    trajectory: Trajectory
    frames: Frames
    position: Floats
    rotation: Floats
    angle: Floats
    twist: Floats
    acceleration: Floats
    centre: Floats
    known: Sequence[int] | None = field(default=None, kw_only=True)

    @staticmethod
    def of(trajectory: Trajectory, bodies: Sequence[int] | None = None) -> State:
        """The state of a trajectory; of some bodies only if they are named, the others are zero.

        Raises
        ------
        ValueError
            Not all bodies, or no accelerations, were kept.
        """
        if len(trajectory.kept) < trajectory.mechanism.n_bodies:
            raise ValueError("forces need all bodies; solve without bodies=…")
        if trajectory.velocity is None or trajectory.acceleration is None:
            raise ValueError('forces need accelerations; solve with level="acceleration"')
        frames, planar = trajectory.reference, trajectory.planar
        some = None if bodies is None else list(bodies)
        which = slice(None) if some is None else some
        arrays = (trajectory.position, trajectory.orientation, trajectory.velocity, trajectory.acceleration)
        place, flat, rate, second = (array.swapaxes(0, 1)[which] for array in arrays)
        rotation = plane_rotation(flat) if planar else rotation_of(flat)
        position = in_space(place)
        centre = position + np.einsum("ntab,nb->nta", rotation, frames.centre[which])
        angle = flat if planar else np.zeros(flat.shape[:2])
        found = (position, rotation, angle, twist_in_space(rate), twist_in_space(second), centre)
        # Products of matrices round by how these lie in memory: not by which bodies are wanted.
        if some is None:
            return State(trajectory, frames, *(np.ascontiguousarray(each) for each in found))
        return State(
            trajectory, frames, *(_spread(each, some, trajectory.mechanism.n_bodies) for each in found),
            known=some,
        )  # fmt: skip

    @property
    def instants(self) -> int:
        """T."""
        return int(self.position.shape[1])

    def at(self, instants: npt.NDArray[np.intp]) -> State:
        """The state at some instants."""
        arrays = (self.position, self.rotation, self.angle, self.twist, self.acceleration, self.centre)
        return State(
            self.trajectory.instants(instants), self.frames, *(each[:, instants] for each in arrays),
            known=self.known,
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


def _spread(array: Floats, bodies: list[int], n_bodies: int) -> Floats:
    """The rows of some bodies among zeros of the others, which take no memory until they are touched."""
    found = np.zeros((n_bodies, *array.shape[1:]))
    found[bodies] = array
    return found
