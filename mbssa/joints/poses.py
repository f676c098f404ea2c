"""Poses of bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

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
        """Poses without rotation, or of planar angle 0, where these are not given."""
        n = len(position)
        return Poses(
            position,
            np.tile(np.eye(3), (n, 1, 1)) if rotation is None else rotation,
            np.zeros(n) if angle is None else angle,
        )

    def __getitem__(self, which: Any) -> Poses:
        """Poses by an index of the leading axes, the last of which is that of the bodies."""
        return Poses(self.position[which], self.rotation[which], self.angle[which])


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
    of_first, across = R @ axes[..., 0, :, :], q + arms[1] - p - arms[0]
    d = np.einsum("...ba,...b->...a", of_first, across)
    C = of_first.swapaxes(-1, -2) @ (S @ axes[..., 1, :, :])
    return RelativePose(d, C, of_first, (arms[0], arms[1]), across)
