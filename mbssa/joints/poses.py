"""Poses of bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mbssa.joints.axes import cross, rotation_of

if TYPE_CHECKING:
    from mbssa.joints.relations import JointCoordinate

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Poses:
    """Poses of N bodies, over any leading axes: position, m, rotation, and angle in the plane, rad."""

    position: Array  # (…, N, 3) m
    rotation: Array  # (…, N, 3, 3), columns are the axes
    angle: Array  # (…, N) rad, unwrapped; meaningful in the plane only
    # coordinates: those of other joints that a joint names, in its order
    coordinates: tuple[JointCoordinate, ...] = field(default=(), kw_only=True)

    @staticmethod
    def of(position: Array, rotation: Array | None = None, angle: Array | None = None) -> Poses:
        """Poses without rotation, or with its principal angle in the plane, where these are not given."""
        if rotation is None:
            rotation = np.tile(np.eye(3), (len(position), 1, 1))
        if angle is None:
            angle = np.arctan2(rotation[..., 1, 0], rotation[..., 0, 0])
        return Poses(position, rotation, angle)

    def __getitem__(self, which: Any) -> Poses:
        """Poses by an index of the leading axes, the last of which is that of the bodies."""
        return Poses(self.position[which], self.rotation[which], self.angle[which])

    def centres(self, centre: Array) -> Array:
        """Points (N, 3) of the bodies in the world, m, that are ``centre`` (N, 3) in their own frames."""
        return np.asarray(self.position + np.einsum("nab,nb->na", self.rotation, centre))

    def moved(self, step: Array, centre: Array) -> Poses:
        """Each body moved by a small motion, (N, 6): translation of its centre, rotation vector."""
        vector = step[:, 3:]
        angle = np.linalg.norm(vector, axis=1, keepdims=True)
        half = 0.5 * np.sinc(angle / (2 * np.pi)) * vector
        rotation = rotation_of(np.hstack([np.cos(0.5 * angle), half])) @ self.rotation
        # Newton multiplies many small rotations: keep each matrix orthogonal to the last digit.
        rotation = 1.5 * rotation - 0.5 * rotation @ rotation.transpose(0, 2, 1) @ rotation
        position = self.centres(centre) + step[:, :3] - np.einsum("nab,nb->na", rotation, centre)
        return Poses(position, rotation, self.angle + step[:, 5])

    def correction(self, first: Poses, centre: Array) -> tuple[Array, Array]:
        """Way (N,) m of each body's centre and angle (N,) rad from the first poses to these."""
        way = np.linalg.norm(self.centres(centre) - first.centres(centre), axis=1)
        trace = np.einsum("nab,nab->n", self.rotation, first.rotation)
        angle = np.arccos(np.clip((trace - 1) / 2, -1, 1))
        return way, np.where(angle < 1e-7, 0.0, angle)


class RelativePose(NamedTuple):
    """Frame B of one body seen from frame A of another, over any leading axes."""

    d: Array  # (…, 3) m, from A to B in the axes of A
    C: Array  # (…, 3, 3), columns are the axes of B in those of A
    axes: Array  # (…, 3, 3) of A in the world
    arms: tuple[Array, Array]  # (…, 3) m, from each body's origin to that of its frame, world axes
    across: Array  # (…, 3) m, from A to B, world axes


def relative_pose(bodies: Sequence[tuple[Array, Array]], origin: Array, axes: Array) -> RelativePose:
    """By position (…, 3) and rotation (…, 3, 3) of two bodies; origin (…, 2, 3) and axes of their frames."""
    (p, R), (q, S) = bodies
    arms = tuple(np.einsum("...ab,...b->...a", turn, origin[..., k, :]) for k, turn in enumerate((R, S)))
    # With the leading axes together in memory, several times as fast as products of small matrices.
    product = partial(np.einsum, "...ab,...bc->...ac", order="F")
    of_first, of_second = (product(turn, axes[..., k, :, :]) for k, turn in enumerate((R, S)))
    across = q + arms[1] - p - arms[0]
    d = np.einsum("...ba,...b->...a", of_first, across)
    C = product(of_first.swapaxes(-1, -2), of_second)
    return RelativePose(d, C, of_first, (arms[0], arms[1]), across)


def by_bodies(rate: Array, axes: Array, arms: tuple[Array, Array]) -> Array:
    """Derivatives (…, e, 2, 6) by the twists of both bodies, of those (…, e, 6) by the relative twist."""
    # A row acts at B's origin on the second body, and is turned round on the first. `arms` (…, 3) lead there
    # from the point of each body whose velocity is meant; world axes.
    back = axes.swapaxes(-1, -2)
    force, moment = rate[..., :3] @ back, rate[..., 3:] @ back
    found = np.empty((*rate.shape[:-1], 2, 6))
    for side, sign in enumerate((-1.0, 1.0)):
        found[..., side, :3] = sign * force
        found[..., side, 3:] = sign * (moment + cross(arms[side][..., None, :], force))
    return found
