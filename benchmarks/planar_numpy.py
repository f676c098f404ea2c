"""Joint centres of planar linkages by NumPy, whole arrays of all instants at once.

Position, velocity and acceleration of the centres alone, not of the bodies: less than the other contestants
answer, and the way in which such a linkage is most often written.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
#: Position, velocity and acceleration of a point, (2, T) each.
Point = tuple[Floats, Floats, Floats]


def four_bar(
    turn: Floats, rate: Floats, acceleration: Floats, o: Floats, a: Floats, b: Floats, c: Floats
) -> list[Point]:
    """The crank's pin and the coupler's, m and s, for turns of the crank from its reference, (T,)."""
    pin = crank(turn, rate, acceleration, o, a)
    return [pin, dyad(pin, fixed(c), a, c, b)]


def jansen(
    turn: Floats, rate: Floats, acceleration: Floats, o: Floats, p: Floats, b: Floats, q: Floats, r: Floats,
    s: Floats, foot: Floats,
) -> list[Point]:  # fmt: skip
    """The pins p, q, r, s and the foot of Jansen's leg."""
    pin, ground = crank(turn, rate, acceleration, o, p), fixed(b)
    upper, lower = dyad(pin, ground, p, b, q), dyad(pin, ground, p, b, r)
    shoulder = carried(ground, upper, b, q, s)
    return [pin, upper, lower, shoulder, dyad(shoulder, lower, s, r, foot)]


def fixed(at: Floats) -> Point:
    """A point of the frame."""
    still = np.zeros((2, 1))
    return np.reshape(at, (2, 1)), still, still


def crank(turn: Floats, rate: Floats, acceleration: Floats, o: Floats, a: Floats) -> Point:
    """A point that turns about another of the frame."""
    c, s = np.cos(turn), np.sin(turn)
    x, y = a[0] - o[0], a[1] - o[1]
    r = np.stack([c * x - s * y, s * x + c * y])
    across = np.stack([-r[1], r[0]])
    return np.reshape(o, (2, 1)) + r, rate * across, acceleration * across - rate * rate * r


def dyad(one: Point, two: Point, at_one: Floats, at_two: Floats, at: Floats) -> Point:
    """A point at constant distances from two others; the side is that of the reference."""
    l1, l2 = np.hypot(*np.subtract(at, at_one)), np.hypot(*np.subtract(at, at_two))
    base, out = np.subtract(at_two, at_one), np.subtract(at, at_one)
    side = np.sign(base[0] * out[1] - base[1] * out[0])
    d = two[0] - one[0]
    square = d[0] * d[0] + d[1] * d[1]
    along = 0.5 + 0.5 * (l1 * l1 - l2 * l2) / square
    up = side * np.sqrt(l1 * l1 / square - along * along)
    p = one[0] + along * d + up * np.stack([-d[1], d[0]])
    u, w = p - one[0], p - two[0]
    over = 1.0 / (u[0] * w[1] - u[1] * w[0])
    v = meet(u, w, dot(one[1], u), dot(two[1], w), over)
    first, second = v - one[1], v - two[1]
    a = meet(u, w, dot(one[2], u) - dot(first, first), dot(two[2], w) - dot(second, second), over)
    return p, v, a


def carried(one: Point, two: Point, at_one: Floats, at_two: Floats, at: Floats) -> Point:
    """A point that two others of the same body carry."""
    base, out = np.subtract(at_two, at_one), np.subtract(at, at_one)
    square = base @ base
    c, s = base @ out / square, (base[0] * out[1] - base[1] * out[0]) / square
    parts = []
    for first, second in zip(one, two, strict=True):
        d = second - first
        parts.append(first + c * d + s * np.stack([-d[1], d[0]]))
    return parts[0], parts[1], parts[2]


def meet(u: Floats, w: Floats, by_u: Floats, by_w: Floats, over: Floats) -> Floats:
    """The vector with these products with ``u`` and ``w``."""
    return np.stack([(by_u * w[1] - by_w * u[1]) * over, (by_w * u[0] - by_u * w[0]) * over])


def dot(a: Floats, b: Floats) -> Floats:
    """Scalar product."""
    return a[0] * b[0] + a[1] * b[1]
