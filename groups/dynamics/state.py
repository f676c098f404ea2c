"""Motion of all bodies in one form: spatial, body by body, world axes."""

# Arrays have the time last in memory, and with it first as views. What is computed of vectors has the
# components first, so that the formulas of ``mbssa.graph.frames`` take it.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from groups.dynamics.gears import Tooth, teeth
from groups.rotations import plane_rotation, rotation_of, twist_in_space
from mbssa.arrays import Floats
from mbssa.graph.frames import Frame, Vector, cross, minus, plus
from mbssa.joints.axes import in_space

if TYPE_CHECKING:
    from groups.trajectory import Trajectory
    from mbssa import Mechanism
    from mbssa.joints.frames import Frames


@dataclass(frozen=True, eq=False)
class State:
    """Poses, twists and accelerations of N bodies at T instants."""

    mechanism: Mechanism
    frames: Frames  # geometry at the reference, m
    position: Floats  # (N, T, 3) m, of each body's origin
    rotation: Floats  # (N, T, 3, 3)
    angle: Floats  # (N, T) rad, planar alone
    trajectory: Trajectory
    twist: Floats  # (N, T, 6) linear of the origin, then angular
    acceleration: Floats  # (N, T, 6)
    # Bodies that have a state, the others are zero; None: all.
    known: Sequence[int] | None = field(default=None, kw_only=True)
    teeth: Mapping[int, Tooth | None] = field(default_factory=dict, kw_only=True)  # where gears have loads

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
        place, flat, rate, second = (array.swapaxes(0, 1)[which] for array in arrays)
        rotation = plane_rotation(flat) if planar else rotation_of(flat)
        angle = flat if planar else np.zeros(flat.shape[:2])

        def laid(array: Floats) -> Floats:
            found = np.zeros((mechanism.n_bodies, *array.shape[2:], array.shape[1]))
            found[which] = np.moveaxis(array, 1, -1)
            return np.moveaxis(found, -1, 1)

        motion = in_space(place), rotation, angle, twist_in_space(rate), twist_in_space(second)
        position, rotation, angle, twist, acceleration = map(laid, motion)
        return State(
            mechanism, trajectory.reference, position, rotation, angle, trajectory, twist, acceleration,
            known=bodies, teeth=teeth(mechanism, trajectory.reference),
        )  # fmt: skip

    @property
    def instants(self) -> int:
        """T."""
        return int(self.position.shape[1])

    @cached_property
    def point(self) -> Floats:
        """The point of space (3, 1), m, about which loads of all bodies are taken, amid the mechanism."""
        frames = self.frames
        centres = frames.position + np.einsum("nab,nb->na", frames.rotation, frames.centre)
        found: Floats = centres.mean(axis=0)[:, None]
        return found

    def frame(self, body: int) -> Frame:
        """Frame of a body: place (3, T), axes (3, 3, T) column by column."""
        return Frame(self.position[body].T, self.rotation[body].T, self.angle[body])

    def velocity(self, body: int, place: Vector) -> list[Floats]:
        """Velocity (3, T) of a body's point that is at a place."""
        twist = self.twist[body].T
        return plus(twist[:3], cross(twist[3:], minus(place, self.position[body].T)))

    def about(self, place: Floats, wrench: Floats, sign: float = 1.0) -> Floats:
        """Wrenches (6, …, T), forces times size, about the point of all loads, given about a place (3, T)."""
        # With a sign of -1 the other way round.
        arm = (place - self.point) * (sign / self.frames.size)
        arm = arm.reshape(3, *[1] * (wrench.ndim - 2), -1)
        found = wrench.copy()
        found[3:] += cross(arm, wrench[:3])
        return found

    def motion(self, body: int) -> Floats:
        """Velocity over the size of a body's point at the point of all loads, angular velocity: (6, T)."""
        linear = np.array(self.velocity(body, self.point)) / self.frames.size
        return np.concatenate([linear, self.twist[body].T[3:]])
