"""Axes of frames from directions that are given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbssa.arrays import Floats

if TYPE_CHECKING:
    from mbssa.joints.geometry import Vector


#: The components after and before x, y and z.
_NEXT, _LAST = [1, 2, 0], [2, 0, 1]


def in_space(vector: Vector | Floats) -> Floats:
    """(3,) of a vector of the plane or of space."""
    return np.array([*vector, 0.0] if len(vector) == 2 else vector, dtype=float)


def unit(vector: Vector | Floats) -> Floats:
    """(3,) of length 1."""
    v = in_space(vector)
    found: Floats = v / np.linalg.norm(v)
    return found


def cross(a: Floats, b: Floats) -> Floats:
    """Vector products of two arrays of vectors (…, 3); ``numpy.cross`` takes long for a few of them.

    >>> cross(np.array([1.0, 0.0, 0.0]), np.eye(3)).tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]
    """
    found: Floats = a[..., _NEXT] * b[..., _LAST] - a[..., _LAST] * b[..., _NEXT]
    return found


def axes_of(z: Vector | Floats | None = None, x: Vector | Floats | None = None) -> Floats:
    """Right-handed axes as columns (3, 3) with this z, and x as near as can be to the one given.

    Without z it is the normal of the plane; without x the axis of the world that is farthest from z.
    """
    up = np.array([0.0, 0.0, 1.0]) if z is None else unit(z)
    along = np.eye(3)[np.argmin(np.abs(up))] if x is None else unit(x)
    along = unit(along - (along @ up) * up)
    return np.stack([along, cross(up, along), up], axis=1)
