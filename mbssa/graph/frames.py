"""Vectors and frames on any numbers, and how frames move: the one place where rotations are composed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mbssa.graph.derivative import Direction, Twist, derivative
from mbssa.graph.nodes import Number, atan2, cos, is_node, sin
from mbssa.graph.nodes import Vector as Vector

#: Rows, or the columns where that is said.
Matrix: TypeAlias = Sequence[Vector]

ZERO = [0.0, 0.0, 0.0]
UNIT: list[list[float]] = np.eye(3).tolist()


def total(numbers: Vector) -> Number:
    """Sum."""
    return sum(numbers[1:], numbers[0]) if numbers else 0.0


def dot(a: Vector, b: Vector) -> Number:
    """Scalar product of two vectors in space."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> list[Number]:
    """Vector product."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def plus(*vectors: Vector) -> list[Number]:
    """Sum of vectors."""
    return [total(list(x)) for x in zip(*vectors, strict=True)]


def minus(a: Vector, b: Vector) -> list[Number]:
    """Difference of two vectors."""
    return [x - y for x, y in zip(a, b, strict=True)]


def times(k: Number, a: Vector) -> list[Number]:
    """Multiple of a vector."""
    return [k * x for x in a]


def transposed(matrix: Matrix) -> list[list[Number]]:
    """Columns of a matrix by rows."""
    return [list(column) for column in zip(*matrix, strict=True)]


def clean(numbers: npt.ArrayLike) -> Any:
    """Geometry as nested lists without rounding noise, so that zeros and ones fold."""
    values = np.asarray(numbers, dtype=np.float64)
    near = np.round(values)
    return np.where(np.abs(values - near) < 1e-15, near, values).tolist()


class Motion:
    """Motion of a frame: a motion before it and a step by x along a screw, or that of an earlier body."""

    def __init__(
        self, before: Motion | None, x: Number = 0.0, screw: Twist | None = None, body: Any = None
    ) -> None:
        self.before, self.x, self.screw, self.body = before, x, screw, body

    def twist(self, by: Direction) -> Twist:
        """Velocity of the point at the world's origin, and angular velocity, along a direction."""
        found: Twist | None = by.memo.get(self)
        if found is None:
            found = by.memo[self] = self._twist(by)
        return found

    def _twist(self, by: Direction) -> Twist:
        if self.screw is None or self.before is None:
            return by.body(self.body) if self.body is not None and by.body else (ZERO, ZERO)
        rate = derivative([self.x], by)[0]
        linear, angular = self.before.twist(by)
        return plus(linear, times(rate, self.screw[0])), plus(angular, times(rate, self.screw[1]))


STILL = Motion(None)


class _Carried:
    """A vector or a place that a motion carries: its derivative is a rigid body's, of every order."""

    def __init__(self, motion: Motion, vector: Vector, is_place: bool) -> None:
        self.motion, self.vector, self.is_place = motion, vector, is_place

    def rate(self, by: Direction) -> Vector:
        """Angular velocity × vector, and the velocity of the origin for a place."""
        found: Vector | None = by.memo.get(self)
        if found is None:
            linear, angular = self.motion.twist(by)
            turned = cross(angular, self.vector)
            found = by.memo[self] = plus(linear, turned) if self.is_place else turned
        return found


def carried(motion: Motion, vector: Vector, is_place: bool = False) -> list[Number]:
    """The vector as nodes with a rigid body's derivative; numbers stay as they are."""
    rule = _Carried(motion, vector, is_place)
    return [x.graph.make("moved", (x.i,), (rule, k)) if is_node(x) else x for k, x in enumerate(vector)]


class Frame:
    """A place, three axes, the angle in the plane, which counts turns, and what moves them."""

    def __init__(self, place: Vector, axes: Matrix, angle: Number = 0.0, motion: Motion = STILL) -> None:
        self.place, self.axes, self.angle, self.motion = place, axes, angle, motion

    def along(self, x: Vector) -> list[Number]:
        """A vector of this frame in world axes."""
        return plus(*[times(k, e) for k, e in zip(x, self.axes, strict=True)])

    def seen(self, x: Vector) -> list[Number]:
        """A vector of the world in the frame's axes."""
        return [dot(e, x) for e in self.axes]

    def turned(self, matrix: Matrix) -> list[list[Number]]:
        """Axes that have these columns in the frame."""
        return [carried(self.motion, self.along(column)) for column in transposed(matrix)]

    def end(self, origin: Vector, axes: Matrix) -> Frame:
        """The frame of a joint on this body."""
        place = carried(self.motion, plus(self.place, self.along(origin)), True)
        return Frame(place, self.turned(axes), self.angle, self.motion)

    def back(self, origin: Vector, axes: Matrix) -> Frame:
        """The body whose joint's frame this is: the inverse of :meth:`end`."""
        body = Frame(self.place, self.turned(transposed(axes)), self.angle, self.motion)
        body.place = carried(self.motion, minus(self.place, body.along(origin)), True)
        return body

    def turn(self, k: int, x: Number) -> Frame:
        """Turned about axis k by an angle, or by its (cosine, sine)."""
        c, s = x if isinstance(x, tuple) else (cos(x), sin(x))
        angle = atan2(s, c) if isinstance(x, tuple) else x
        motion = Motion(self.motion, angle, (cross(self.place, self.axes[k]), self.axes[k]))
        i, j = (k + 1) % 3, (k + 2) % 3
        axes = list(self.axes)
        axes[i] = carried(motion, plus(times(c, self.axes[i]), times(s, self.axes[j])))
        axes[j] = carried(motion, minus(times(c, self.axes[j]), times(s, self.axes[i])))
        return Frame(self.place, axes, self.angle + angle, motion)

    def shift(self, k: int, x: Number) -> Frame:
        """Moved by x along axis k."""
        motion = Motion(self.motion, x, (self.axes[k], ZERO))
        place = carried(motion, plus(self.place, times(x, self.axes[k])), True)
        return Frame(place, self.axes, self.angle, motion)


def relative(a: Frame, b: Frame) -> tuple[list[Number], list[list[Number]]]:
    """Place and axes of frame b seen from a: d, and C[row][column]."""
    return a.seen(minus(b.place, a.place)), transposed([a.seen(e) for e in b.axes])


def quaternion(axes: Matrix, above: Callable[..., Number], sqrt: Callable[[Number], Number]) -> list[Number]:
    """Unit quaternion w, x, y, z of three axes, without a branch: the largest part first (Shepperd 1978)."""
    (xx, yx, zx), (xy, yy, zy), (xz, yz, zz) = axes
    by_w, by_y = xx + yy + zz, yy - zz
    by_x = above(yy - zz, xx - yy, xx - zz)

    def largest(w: Number, x: Number, y: Number, z: Number) -> Number:
        return above(by_w, w, above(by_x, x, above(by_y, y, z)))

    square = largest(1.0 + xx + yy + zz, 1.0 + xx - yy - zz, 1.0 + yy - xx - zz, 1.0 + zz - xx - yy)
    root = sqrt(square)
    half, over = 0.5 * root, 0.5 / root
    a, b, c = (zy - yz) * over, (xz - zx) * over, (yx - xy) * over
    d, e, f = (xy + yx) * over, (xz + zx) * over, (yz + zy) * over
    return [largest(half, a, b, c), largest(a, half, d, e), largest(b, d, half, f), largest(c, e, f, half)]
