"""Axes of frames from directions that are given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbssa.arrays import Floats
from mbssa.graph import frames

if TYPE_CHECKING:
    from mbssa.joints.geometry import Vector


def in_space(vector: Vector | Floats) -> Floats:
    """Vectors (…, 3) of vectors in the plane z = 0 (…, 2); vectors of space stay as they are."""
    given = np.asarray(vector, dtype=float)
    if given.shape[-1] == 3:
        return given
    found = np.zeros((*given.shape[:-1], 3))
    found[..., :2] = given
    return found


def unit(vector: Vector | Floats) -> Floats:
    """Vector (3,) of length 1."""
    v = in_space(vector)
    return np.asarray(v / np.linalg.norm(v))


def cross(a: Floats, b: Floats) -> Floats:
    """Vector products of two arrays of vectors (…, 3), five times as fast as those of NumPy."""
    return np.stack(frames.cross(np.moveaxis(a, -1, 0), np.moveaxis(b, -1, 0)), axis=-1)


def axes_of(z: Vector | Floats | None = None, x: Vector | Floats | None = None) -> Floats:
    """Right-handed axes as columns (3, 3) with this z, and x as near as can be to the one given."""
    # Without z it is the normal of the plane; without x the axis of the world that is farthest from z.
    up = np.array([0.0, 0.0, 1.0]) if z is None else unit(z)
    along = np.eye(3)[np.argmin(np.abs(up))] if x is None else unit(x)
    along = unit(along - (along @ up) * up)
    return np.stack([along, cross(up, along), up], axis=1)


def rotation_of(quaternion: Floats) -> Floats:
    """Rotation matrices (…, 3, 3) of unit quaternions (…, 4): w, x, y, z."""
    w, x, y, z = np.moveaxis(quaternion, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def plane_rotation(angle: Floats) -> Floats:
    """Rotation matrices (…, 3, 3) about z by angles (…), rad."""
    rotation = np.zeros((*np.shape(angle), 3, 3))
    rotation[..., 0, 0] = rotation[..., 1, 1] = np.cos(angle)
    rotation[..., 1, 0] = np.sin(angle)
    rotation[..., 0, 1], rotation[..., 2, 2] = -rotation[..., 1, 0], 1.0
    return rotation


def whole_turns(angle: Any) -> Any:
    """Whole turns nearest to an angle, rad."""
    return 2 * np.pi * np.round(angle / (2 * np.pi))
