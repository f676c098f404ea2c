"""Poses of bodies."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from mbssa.joints.relations import JointCoordinate

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Poses:
    """Poses of N bodies: ``position`` (N, 3) m, ``rotation`` (N, 3, 3), ``angle`` (N,) rad."""

    position: Array  # (N, 3) m
    rotation: Array  # (N, 3, 3)
    angle: Array  # (N,) rad, unwrapped; meaningful in the plane only
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

    def __getitem__(self, bodies: list[int]) -> Poses:
        """Poses of some of the bodies."""
        return Poses(self.position[bodies], self.rotation[bodies], self.angle[bodies])
