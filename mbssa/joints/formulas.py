"""Elementary equations on any numbers: floats, arrays or nodes of a graph; angles are sine and cosine."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mbssa.graph.frames import Vector, cross, dot, minus, plus, times
from mbssa.graph.nodes import Number, cos, sin, sqrt
from mbssa.joints.cams.contact_kernels import CURVE, FLAT
from mbssa.joints.equations import Elementary


def sine_cosine(elementary: Elementary, d: Vector, C: Sequence[Vector]) -> tuple[Number, Number] | None:
    """Two numbers in the ratio of sine and cosine of an elementary angle; None for a length."""
    if elementary.kind == "turn":
        i, j, k, m = elementary.numbers
        return elementary.sign * C[i][j], C[k][m]
    if elementary.kind == "cardan":
        return C[0][2], sqrt(C[0][0] * C[0][0] + C[0][1] * C[0][1])
    if elementary.kind == "azimuth":
        return d[1], d[0]
    if elementary.kind == "elevation":
        return d[2], sqrt(d[0] * d[0] + d[1] * d[1])
    return None


def differs(sine: Number, cosine: Number, angle: Number) -> Number:
    """Zero where an angle by its sine and cosine is this one: no turns to be counted."""
    return sine * cos(angle) - cosine * sin(angle)


def value(elementary: Elementary, d: Vector, C: Sequence[Vector], given: Number = None) -> Number:
    """A length or a cosine, less what is given."""
    kind, numbers, given = elementary.kind, elementary.numbers, 0.0 if given is None else given
    if kind == "along":
        return d[numbers[0]] - given
    if kind == "cosine":
        return C[numbers[0]][numbers[1]]
    if kind == "distance":
        return sqrt(dot(d, d)) - given
    if kind == "offset":
        z = [C[r][2] for r in range(3)]
        return d[numbers[0]] - given * cross([0.0, 0.0, 1.0], z)[numbers[0]]
    if kind == "screw":
        return differs(C[1][0], C[0][0], d[2] * (1.0 / given))
    raise NotImplementedError(kind)


def holds_along(elementary: Elementary) -> bool:
    """Whether it holds a place along an axis."""
    return elementary.kind == "along" and not elementary.parameter


def contact_rows(
    kind: int, d: Vector, C: Sequence[Vector], on: Callable[[int, int], Vector], size: Number
) -> tuple[Number, list[Number]]:
    """Gap of two profiles at given places of contact, and what is zero where these are right, in sizes.

    ``on(k, order)`` is the point of profile k at its place, or a derivative of it.
    """
    d, x, y = d[:2], [C[0][0], C[1][0]], [C[0][1], C[1][1]]
    point, tangent = on(0, 0), on(0, 1)
    speed = sqrt(_flat(tangent, tangent))
    tangent = [v / speed for v in tangent]
    normal = [tangent[1], -tangent[0]]
    if kind == FLAT:  # the tangent is along the face
        return _flat(minus(d, point), y), [size * _flat(tangent, y)]
    rows = []
    if kind == CURVE:
        q, way = on(1, 0), on(1, 1)
        d = plus(d, times(q[0], x), times(q[1], y))
        rows.append(size * _flat(normal, plus(times(way[0], x), times(way[1], y))))
    rows.append(_flat(minus(d, point), tangent))
    return _flat(minus(d, point), normal), rows


def _flat(a: Vector, b: Vector) -> Number:
    return a[0] * b[0] + a[1] * b[1]
