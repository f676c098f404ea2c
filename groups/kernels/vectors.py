"""Vectors and rotations in space as tuples of floats, which the compiler keeps in registers."""

from __future__ import annotations

import math
from typing import Any

Array = Any
Vector = tuple[float, float, float]
Matrix = tuple[float, float, float, float, float, float, float, float, float]

#: Offsets of the parts of a body's state in its row of ``S``, and the length of that row.
POSITION, ROTATION, VELOCITY, SPIN, ACCELERATION, SPIN_RATE, STATE = 0, 3, 12, 15, 18, 21, 24


def vector_at(S: Array, body: int, t: Any, k: int) -> Any:
    """Three numbers of a body's state from place ``k`` on."""
    return S[body, k, t], S[body, k + 1, t], S[body, k + 2, t]


def rotation_at(S: Array, body: int, t: Any) -> Any:
    """Rotation of a body."""
    return (
        S[body, 3, t], S[body, 4, t], S[body, 5, t], S[body, 6, t], S[body, 7, t], S[body, 8, t],
        S[body, 9, t], S[body, 10, t], S[body, 11, t],
    )  # fmt: skip


def put_vector(S: Array, body: int, t: int, k: int, a: Vector) -> None:
    """Write three numbers of a body's state from place ``k`` on."""
    S[body, k, t], S[body, k + 1, t], S[body, k + 2, t] = a


def put_rotation(S: Array, body: int, t: int, m: Matrix) -> None:
    """Write the rotation of a body."""
    for k in range(9):
        S[body, 3 + k, t] = m[k]


def void(S: Array, body: int, t: int) -> None:
    """Mark a body as without an answer at an instant: NaN throughout."""
    for k in range(S.shape[1]):
        S[body, k, t] = math.nan


def vector_in(floats: Array, k: int) -> Vector:
    """Three numbers of a flat array from place ``k`` on."""
    return floats[k], floats[k + 1], floats[k + 2]


def matrix_in(floats: Array, k: int) -> Matrix:
    """Nine numbers of a flat array from place ``k`` on."""
    return (
        floats[k],
        floats[k + 1],
        floats[k + 2],
        floats[k + 3],
        floats[k + 4],
        floats[k + 5],
        floats[k + 6],
        floats[k + 7],
        floats[k + 8],
    )


def vector_of(table: Array, row: int, k: int) -> Vector:
    """Three numbers of a row of a table from column ``k`` on."""
    return table[row, k], table[row, k + 1], table[row, k + 2]


def matrix_of(table: Array, row: int, k: int) -> Matrix:
    """Nine numbers of a row of a table from column ``k`` on."""
    return (
        table[row, k], table[row, k + 1], table[row, k + 2], table[row, k + 3], table[row, k + 4],
        table[row, k + 5], table[row, k + 6], table[row, k + 7], table[row, k + 8],
    )  # fmt: skip


def put_of(table: Array, row: int, k: int, a: Vector) -> None:
    """Write three numbers into a row of a table from column ``k`` on."""
    table[row, k], table[row, k + 1], table[row, k + 2] = a


def put_matrix_of(table: Array, row: int, k: int, m: Matrix) -> None:
    """Write nine numbers into a row of a table from column ``k`` on."""
    table[row, k], table[row, k + 1], table[row, k + 2] = m[0], m[1], m[2]
    table[row, k + 3], table[row, k + 4], table[row, k + 5] = m[3], m[4], m[5]
    table[row, k + 6], table[row, k + 7], table[row, k + 8] = m[6], m[7], m[8]


def plus(a: Vector, b: Vector) -> Vector:
    """``a`` + ``b``."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def minus(a: Vector, b: Vector) -> Vector:
    """``a`` - ``b``."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def times(f: float, a: Vector) -> Vector:
    """A number times a vector."""
    return f * a[0], f * a[1], f * a[2]


def plus_times(a: Vector, f: float, b: Vector) -> Vector:
    """``a`` + ``f`` ``b``."""
    return a[0] + f * b[0], a[1] + f * b[1], a[2] + f * b[2]


def dot(a: Vector, b: Vector) -> float:
    """Scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """Vector product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def length(a: Vector) -> float:
    """Euclidean length."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


def unit(a: Vector) -> Vector:
    """``a`` at length one; zero stays zero."""
    size = length(a)
    return times(1.0 / size, a) if size > 0.0 else a


def largest(a: Vector) -> float:
    """Largest number without its sign."""
    return max(abs(a[0]), abs(a[1]), abs(a[2]))


def rotate(m: Matrix, a: Vector) -> Vector:
    """``a`` in body axes, turned into the world."""
    return (
        m[0] * a[0] + m[1] * a[1] + m[2] * a[2],
        m[3] * a[0] + m[4] * a[1] + m[5] * a[2],
        m[6] * a[0] + m[7] * a[1] + m[8] * a[2],
    )


def rotate_back(m: Matrix, a: Vector) -> Vector:
    """``a`` in the world, turned into body axes (the transpose of ``m`` times ``a``)."""
    return (
        m[0] * a[0] + m[3] * a[1] + m[6] * a[2],
        m[1] * a[0] + m[4] * a[1] + m[7] * a[2],
        m[2] * a[0] + m[5] * a[1] + m[8] * a[2],
    )


def transposed(m: Matrix) -> Matrix:
    """The rotation back."""
    return m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]


def product(m: Matrix, n: Matrix) -> Matrix:
    """Matrix product ``m`` ``n``."""
    return (
        m[0] * n[0] + m[1] * n[3] + m[2] * n[6],
        m[0] * n[1] + m[1] * n[4] + m[2] * n[7],
        m[0] * n[2] + m[1] * n[5] + m[2] * n[8],
        m[3] * n[0] + m[4] * n[3] + m[5] * n[6],
        m[3] * n[1] + m[4] * n[4] + m[5] * n[7],
        m[3] * n[2] + m[4] * n[5] + m[5] * n[8],
        m[6] * n[0] + m[7] * n[3] + m[8] * n[6],
        m[6] * n[1] + m[7] * n[4] + m[8] * n[7],
        m[6] * n[2] + m[7] * n[5] + m[8] * n[8],
    )


def rotation_of(w: float, x: float, y: float, z: float) -> Matrix:
    """Rotation of a unit quaternion."""
    return (
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    )  # fmt: skip


def from_columns(a: Vector, b: Vector, c: Vector) -> Matrix:
    """Matrix with these columns."""
    return a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2]


def exponential(v: Vector) -> Matrix:
    """Rotation by the rotation vector ``v`` (rad)."""
    half = 0.5 * length(v)
    # (1 - cos) / angle² as half the square of sin(half) / half: no digits are lost at small angles.
    share = math.sin(half) / half if half > 1e-9 else 1.0
    a, b = share * math.cos(half), 0.5 * share * share
    x, y, z = v
    return (
        1.0 - b * (y * y + z * z),
        b * x * y - a * z,
        b * x * z + a * y,
        b * x * y + a * z,
        1.0 - b * (x * x + z * z),
        b * y * z - a * x,
        b * x * z - a * y,
        b * y * z + a * x,
        1.0 - b * (x * x + y * y),
    )


def rotation_vector(m: Matrix) -> Vector:
    """The rotation vector (rad, at most pi long) of a rotation."""
    axis = (0.5 * (m[7] - m[5]), 0.5 * (m[2] - m[6]), 0.5 * (m[3] - m[1]))
    sine, cosine = length(axis), 0.5 * (m[0] + m[4] + m[8] - 1.0)
    angle = math.atan2(sine, cosine)
    if cosine > -0.99:
        return times(angle / sine if sine > 1e-9 else 1.0, axis)
    # Near half a turn the axis is the longest column of (R + Rᵀ) / 2 - cos.
    if m[0] >= m[4] and m[0] >= m[8]:
        along = unit((m[0] - cosine, 0.5 * (m[1] + m[3]), 0.5 * (m[2] + m[6])))
    elif m[4] >= m[8]:
        along = unit((0.5 * (m[1] + m[3]), m[4] - cosine, 0.5 * (m[5] + m[7])))
    else:
        along = unit((0.5 * (m[2] + m[6]), 0.5 * (m[5] + m[7]), m[8] - cosine))
    return times(angle if dot(along, axis) >= 0.0 else -angle, along)


def turned(m: Matrix, v: Vector) -> Matrix:
    """``m`` turned further by the rotation vector ``v`` (rad, world axes)."""
    return product(exponential(v), m)


def upright(m: Matrix) -> Matrix:
    """A rotation without the rounding of many products: its first two axes made perpendicular units."""
    x = unit((m[0], m[3], m[6]))
    y = (m[1], m[4], m[7])
    y = unit(plus_times(y, -dot(x, y), x))
    return from_columns(x, y, cross(x, y))


def turned_by(R: Matrix, k: Any, c: float, s: float) -> Matrix:
    """``R`` turned about its own axis ``k`` by the angle of this cosine and sine."""
    if k == 2:
        return (
            c * R[0] + s * R[1], c * R[1] - s * R[0], R[2], c * R[3] + s * R[4], c * R[4] - s * R[3], R[5],
            c * R[6] + s * R[7], c * R[7] - s * R[6], R[8],
        )  # fmt: skip
    if k == 0:
        return (
            R[0], c * R[1] + s * R[2], c * R[2] - s * R[1], R[3], c * R[4] + s * R[5], c * R[5] - s * R[4],
            R[6], c * R[7] + s * R[8], c * R[8] - s * R[7],
        )  # fmt: skip
    return (
        c * R[0] - s * R[2], R[1], c * R[2] + s * R[0], c * R[3] - s * R[5], R[4], c * R[5] + s * R[3],
        c * R[6] - s * R[8], R[7], c * R[8] + s * R[6],
    )  # fmt: skip
