"""Gap of a contact as a jet: the search of :mod:`mbssa.joints.cams.contact_kernels`."""

from __future__ import annotations

from typing import Any

from groups.kernels.vectors import Vector, cross, dot, minus, plus
from mbssa.joints.cams.contact_kernels import found_at

Array = Any


def contact(
    A: tuple[Vector, Vector, Vector], B: tuple[Vector, Vector, Vector], across: Vector,
    arms: tuple[Vector, Vector], apart: Vector, spins: tuple[Vector, Vector], data: Array, first: Any,
    second: Any, kind: Any, radius: float, moving: bool, place: Array, out: Array, to: Any,
) -> None:  # fmt: skip
    """The jet of the gap (m) into row ``to`` of ``out``, laid out as in :mod:`groups.kernels.jets`."""
    at = dot(A[0], across), dot(A[1], across)
    turned = dot(A[0], B[0]), dot(A[1], B[0])
    normal = dot(A[0], B[1]), dot(A[1], B[1])
    nx, ny, px, py, gap, vv, vw, ww = found_at(
        data, first, second, kind, at, turned, normal, radius, place, to
    )  # fmt: skip
    z = dot(A[2], across)
    n, touch = _in_world(A, nx, ny, 0.0), _in_world(A, px, py, z)
    from_a, from_b = plus(arms[0], touch), plus(arms[1], minus(touch, across))
    out[to, 0] = gap
    out[to, 1], out[to, 2], out[to, 3] = -n[0], -n[1], -n[2]
    out[to, 4], out[to, 5], out[to, 6] = cross(n, from_a)
    out[to, 7], out[to, 8], out[to, 9] = n
    out[to, 10], out[to, 11], out[to, 12] = cross(from_b, n)
    if moving:
        swing_a, swing_b = cross(spins[0], from_a), cross(spins[1], from_b)
        rate = plus(apart, minus(swing_b, swing_a))
        inwards = minus(cross(spins[1], swing_b), cross(spins[0], swing_a))
        v = dot(_in_world(A, -ny, nx, 0.0), rate)
        w = dot(A[2], minus(spins[1], spins[0]))
        second_rate = dot(n, inwards) - 2.0 * dot(n, cross(spins[0], rate)) + vv * v * v
        if w != 0.0:  # a straight side that does not turn against a face has no infinity
            second_rate += w * (2.0 * vw * v + ww * w)
        out[to, 13] = second_rate
        out[to, 14] = dot(n, rate)


def _in_world(A: tuple[Vector, Vector, Vector], x: float, y: float, z: float) -> Vector:
    """A vector of A's axes in world axes."""
    return (
        x * A[0][0] + y * A[1][0] + z * A[2][0],
        x * A[0][1] + y * A[1][1] + z * A[2][1],
        x * A[0][2] + y * A[1][2] + z * A[2][2],
    )
