"""Vectors and rotations in space as tuples of floats, which the compiler keeps in registers."""

from __future__ import annotations

from typing import Any

Array = Any
Vector = tuple[float, float, float]
Matrix = tuple[float, float, float, float, float, float, float, float, float]


def plus(a: Vector, b: Vector) -> Vector:
    """``a`` + ``b``."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def minus(a: Vector, b: Vector) -> Vector:
    """``a`` - ``b``."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def times(f: float, a: Vector) -> Vector:
    """A number times a vector."""
    return f * a[0], f * a[1], f * a[2]


def dot(a: Vector, b: Vector) -> float:
    """Scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """Vector product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def rotation_of(w: float, x: float, y: float, z: float) -> Matrix:
    """Rotation of a unit quaternion."""
    return (
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    )  # fmt: skip
