"""Planar groups in closed form: driven bodies, dyads and chains that one point closes."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from groups.kernels.chains import (
    ANGLE_1,
    ANGLE_2,
    DEAD,
    FULL,
    SIGN,
    STATE,
    TOUCH,
    Inputs,
    Pair,
    Quality,
    circle_meets_line,
    circles_meet,
    turns_to,
)
from groups.kernels.lanes import LANES, after, lanes, room, select
from groups.kernels.trigonometry import angle_of, far, sines_cosines
from groups.status import OK, PREDECESSOR_FAILED, SINGULAR
from mbssa.arrays import Floats, Ints
from mbssa.compiled import inlined

DRIVEN, ARMS, GUIDE, CHAINS, CRANK = 0, 1, 2, 3, 4
FORM, BASE_1, OWN_1, BASE_2 = 0, 1, 2, 3
INPUT = 3
SIDE = 12

#: Rows to work in: the states of both own bodies; the condition, NaN where nothing closes, and the
#: residual (m); then, for rates, sine from arm to arm, each base's own point (2), arms at length one or
#: direction of the guide (2), own origin from that point (2), and angular velocity or speed.
OF_1, OF_2, CLEAR, MISS, SINE = 0, STATE, 2 * STATE, 2 * STATE + 1, 2 * STATE + 2
AT_1, AT_2, ARM_1, ARM_2 = SINE + 1, SINE + 3, SINE + 5, SINE + 7
OUT_1, OUT_2, RATE_1, RATE_2, ROWS = SINE + 9, SINE + 11, SINE + 13, SINE + 14, SINE + 15


class Arm(NamedTuple):
    """A side that a hinge begins: an arm of constant length from it to the closing point."""

    base: int
    own: int
    hinge: Pair
    length: float
    origin: Pair
    turn: Pair
    angle: float
    pin: Pair


class Guide(NamedTuple):
    """A side that slides: the closing point moves along a line of the base, and nothing turns."""

    base: int
    own: int
    point: Pair
    direction: Pair
    origin: Pair
    turn: Pair
    angle: float
    pin: Pair


class Crank(NamedTuple):
    """One body on one driven hinge."""

    base: int
    own: int
    row: int
    hinge: Pair
    sign: float
    origin: Pair
    turn: Pair
    angle: float


def arm_in(ints: Ints, floats: Floats, base: int, k: int) -> Arm:
    """Read the side that begins at these places."""
    return Arm(
        ints[base], ints[base + 1], (floats[k], floats[k + 1]), floats[k + 4], (floats[k + 5], floats[k + 6]),
        (floats[k + 7], floats[k + 8]), floats[k + 9], (floats[k + 10], floats[k + 11]),
    )  # fmt: skip


def guide_in(ints: Ints, floats: Floats, base: int, k: int) -> Guide:
    """Read the side that begins at these places."""
    return Guide(
        ints[base], ints[base + 1], (floats[k], floats[k + 1]), (floats[k + 2], floats[k + 3]),
        (floats[k + 5], floats[k + 6]), (floats[k + 7], floats[k + 8]), floats[k + 9],
        (floats[k + 10], floats[k + 11]),
    )  # fmt: skip


def crank_in(ints: Ints, floats: Floats) -> Crank:
    """Read a driven hinge."""
    return Crank(
        ints[BASE_1], ints[OWN_1], ints[INPUT], (floats[0], floats[1]), floats[4], (floats[5], floats[6]),
        (floats[7], floats[8]), floats[9],
    )  # fmt: skip


# --- two hinges with arms of constant length, the common dyad --------------------------------------


def solve_arms(
    group: int, ints: Ints, floats: Floats, S: Floats, first: int, count: int, inputs: Inputs, time: Floats,
    memory: Floats, work: Floats, quality: Quality, level: int,
) -> None:  # fmt: skip
    """Two circles about points of known bodies; arguments as :mod:`groups.kernels` has them."""
    one, two = arm_in(ints, floats, BASE_1, 0), arm_in(ints, floats, BASE_2, SIDE)
    least = DEAD if level > 0 else -1.0
    W = room(ROWS, LANES)
    for begin in range(0, count, LANES):
        n, at = min(LANES, count - begin), first + begin
        place_arms(one, two, memory[SIGN], S, begin, n, W)
        if level > 0:
            move_arms(one, two, S, begin, n, W)
        if level > 1:
            accelerate_arms(one, two, S, begin, n, W)
        report(W, n, quality, group, at)
        for k in range(n):
            if not W[CLEAR, k] >= least:
                fail(W, k, quality, group, at + k, fault_of_arms(one, two, S, begin + k))
        if one.own >= 0:
            memory[ANGLE_1] = count_turns(W, OF_1 + 4, n, one.angle, memory[ANGLE_1])
            copy_out(W, OF_1, n, S, one.own, begin, level)
        if two.own >= 0:
            memory[ANGLE_2] = count_turns(W, OF_2 + 4, n, two.angle, memory[ANGLE_2])
            copy_out(W, OF_2, n, S, two.own, begin, level)


@inlined
def place_arms(one: Arm, two: Arm, sign: float, S: Floats, begin: int, n: int, W: Floats) -> None:
    """Poses and residual; angles are those of the arms yet, between -pi and pi."""
    square = one.length * one.length
    difference = 0.5 * ((one.length - two.length) * (one.length + two.length))
    over_1, over_2 = 1.0 / one.length, 1.0 / two.length
    over_both = over_1 * over_2
    tiny = 1e-24 * (square + two.length * two.length)
    for k in lanes(n):
        t = after(begin, k)
        c, s = S[one.base, 2, t], S[one.base, 3, t]
        g1x, g1y = rotated(c, s, one.hinge)
        c, s = S[two.base, 2, t], S[two.base, 3, t]
        g2x, g2y = rotated(c, s, two.hinge)
        x1, y1 = S[one.base, 0, t] + g1x, S[one.base, 1, t] + g1y
        x2, y2 = S[two.base, 0, t] + g2x, S[two.base, 1, t] + g2y
        dx, dy = x2 - x1, y2 - y1
        apart = dx * dx + dy * dy
        over = 1.0 / apart
        a, b = 0.5 + difference * over, square * over
        h = b - a * a
        # NaN where a base has no answer, where the centres coincide, and out of reach.
        h = select(h >= -TOUCH * (b + 1.0), h, math.nan)
        h = select(apart > tiny, h, math.nan)
        h = sign * np.sqrt(select(h < 0.0, 0.0, h))
        sine = h * apart * over_both
        W[CLEAR, k] = abs(sine)
        # Arms from either hinge to the closing point, of length one.
        u1x, u1y = over_1 * (a * dx - h * dy), over_1 * (a * dy + h * dx)
        u2x, u2y = over_2 * ((a - 1.0) * dx - h * dy), over_2 * ((a - 1.0) * dy + h * dx)
        f = 1.5 - 0.5 * (u1x * u1x + u1y * u1y)
        u1x, u1y = u1x * f, u1y * f
        f = 1.5 - 0.5 * (u2x * u2x + u2y * u2y)
        u2x, u2y = u2x * f, u2y * f
        e1x, e1y = rotated(u1x, u1y, one.origin)
        e2x, e2y = rotated(u2x, u2y, two.origin)
        ca, sa = rotated(u1x, u1y, one.turn)
        cb, sb = rotated(u2x, u2y, two.turn)
        xa, ya, xb, yb = x1 + e1x, y1 + e1y, x2 + e2x, y2 + e2y
        miss_x = (xa + ca * one.pin[0] - sa * one.pin[1]) - (xb + cb * two.pin[0] - sb * two.pin[1])
        miss_y = (ya + sa * one.pin[0] + ca * one.pin[1]) - (yb + sb * two.pin[0] + cb * two.pin[1])
        miss_x, miss_y = abs(miss_x), abs(miss_y)
        W[MISS, k] = select(miss_y > miss_x, miss_y, miss_x)
        W[OF_1, k], W[OF_1 + 1, k], W[OF_1 + 2, k], W[OF_1 + 3, k] = xa, ya, ca, sa
        W[OF_2, k], W[OF_2 + 1, k], W[OF_2 + 2, k], W[OF_2 + 3, k] = xb, yb, cb, sb
        W[OF_1 + 4, k], W[OF_2 + 4, k] = angle_of(u1x, u1y), angle_of(u2x, u2y)
        W[SINE, k] = sine
        W[AT_1, k], W[AT_1 + 1, k], W[AT_2, k], W[AT_2 + 1, k] = g1x, g1y, g2x, g2y
        W[ARM_1, k], W[ARM_1 + 1, k], W[ARM_2, k], W[ARM_2 + 1, k] = u1x, u1y, u2x, u2y
        W[OUT_1, k], W[OUT_1 + 1, k], W[OUT_2, k], W[OUT_2 + 1, k] = e1x, e1y, e2x, e2y


@inlined
def move_arms(one: Arm, two: Arm, S: Floats, begin: int, n: int, W: Floats) -> None:
    """Velocities: w1 l1 ⊥u1 - w2 l2 ⊥u2 = velocity of hinge 2 less that of hinge 1."""
    over_1, over_2 = 1.0 / one.length, 1.0 / two.length
    for k in lanes(n):
        t = after(begin, k)
        w = S[one.base, 7, t]
        v1x, v1y = S[one.base, 5, t] - w * W[AT_1 + 1, k], S[one.base, 6, t] + w * W[AT_1, k]
        w = S[two.base, 7, t]
        v2x, v2y = S[two.base, 5, t] - w * W[AT_2 + 1, k], S[two.base, 6, t] + w * W[AT_2, k]
        dx, dy = v2x - v1x, v2y - v1y
        f = 1.0 / W[SINE, k]
        w1 = (dx * W[ARM_2, k] + dy * W[ARM_2 + 1, k]) * (over_1 * f)
        w2 = (dx * W[ARM_1, k] + dy * W[ARM_1 + 1, k]) * (over_2 * f)
        W[OF_1 + 5, k], W[OF_1 + 6, k] = v1x - w1 * W[OUT_1 + 1, k], v1y + w1 * W[OUT_1, k]
        W[OF_2 + 5, k], W[OF_2 + 6, k] = v2x - w2 * W[OUT_2 + 1, k], v2y + w2 * W[OUT_2, k]
        W[OF_1 + 7, k], W[OF_2 + 7, k], W[SINE, k] = w1, w2, f


@inlined
def accelerate_arms(one: Arm, two: Arm, S: Floats, begin: int, n: int, W: Floats) -> None:
    """Accelerations, after :func:`move_arms`, which has left the sine's inverse in its place."""
    over_1, over_2 = 1.0 / one.length, 1.0 / two.length
    for k in lanes(n):
        t = after(begin, k)
        w, f = S[one.base, 7, t], S[one.base, 10, t]
        v1x = S[one.base, 8, t] - f * W[AT_1 + 1, k] - w * w * W[AT_1, k]
        v1y = S[one.base, 9, t] + f * W[AT_1, k] - w * w * W[AT_1 + 1, k]
        w, f = S[two.base, 7, t], S[two.base, 10, t]
        v2x = S[two.base, 8, t] - f * W[AT_2 + 1, k] - w * w * W[AT_2, k]
        v2y = S[two.base, 9, t] + f * W[AT_2, k] - w * w * W[AT_2 + 1, k]
        w1, w2, f = W[OF_1 + 7, k], W[OF_2 + 7, k], W[SINE, k]
        w1, w2 = w1 * w1, w2 * w2
        u1x, u1y, u2x, u2y = W[ARM_1, k], W[ARM_1 + 1, k], W[ARM_2, k], W[ARM_2 + 1, k]
        dx = v2x - v1x + w1 * one.length * u1x - w2 * two.length * u2x
        dy = v2y - v1y + w1 * one.length * u1y - w2 * two.length * u2y
        a1, a2 = (dx * u2x + dy * u2y) * (over_1 * f), (dx * u1x + dy * u1y) * (over_2 * f)
        ex, ey = W[OUT_1, k], W[OUT_1 + 1, k]
        W[OF_1 + 8, k], W[OF_1 + 9, k] = v1x - a1 * ey - w1 * ex, v1y + a1 * ex - w1 * ey
        ex, ey = W[OUT_2, k], W[OUT_2 + 1, k]
        W[OF_2 + 8, k], W[OF_2 + 9, k] = v2x - a2 * ey - w2 * ex, v2y + a2 * ex - w2 * ey
        W[OF_1 + 10, k], W[OF_2 + 10, k] = a1, a2


def fault_of_arms(one: Arm, two: Arm, S: Floats, t: int) -> tuple[int, float]:
    """Status and residual (m) at an instant without an answer."""
    (x1, y1), (x2, y2) = place_of(one.base, one.hinge, S, t), place_of(two.base, two.hinge, S, t)
    if x1 != x1 or x2 != x2:
        return PREDECESSOR_FAILED, 0.0
    status, miss, _, _ = circles_meet(x1, y1, one.length, x2, y2, two.length, 1.0)
    return SINGULAR if status == OK else status, miss


# --- a hinge with an arm of constant length, and a guide -------------------------------------------


def solve_guide(
    group: int, ints: Ints, floats: Floats, S: Floats, first: int, count: int, inputs: Inputs, time: Floats,
    memory: Floats, work: Floats, quality: Quality, level: int,
) -> None:  # fmt: skip
    """A circle about a known point, a line of a known body; arguments as :mod:`groups.kernels` has them."""
    one, two = arm_in(ints, floats, BASE_1, 0), guide_in(ints, floats, BASE_2, SIDE)
    least = DEAD if level > 0 else -1.0
    W = room(ROWS, LANES)
    for begin in range(0, count, LANES):
        n, at = min(LANES, count - begin), first + begin
        place_guide(one, two, memory[SIGN], S, begin, n, W)
        if level > 0:
            move_guide(one, two, S, begin, n, W)
        if level > 1:
            accelerate_guide(one, two, S, begin, n, W)
        report(W, n, quality, group, at)
        for k in range(n):
            if not W[CLEAR, k] >= least:
                fail(W, k, quality, group, at + k, fault_of_guide(one, two, S, begin + k))
        if one.own >= 0:
            memory[ANGLE_1] = count_turns(W, OF_1 + 4, n, one.angle, memory[ANGLE_1])
            copy_out(W, OF_1, n, S, one.own, begin, level)
        if two.own >= 0:
            copy_out(W, OF_2, n, S, two.own, begin, level)


@inlined
def place_guide(one: Arm, two: Guide, sign: float, S: Floats, begin: int, n: int, W: Floats) -> None:
    """Poses and residual; the angle of the first body is that of the arm yet, between -pi and pi."""
    square, over_1 = one.length * one.length, 1.0 / one.length
    for k in lanes(n):
        t = after(begin, k)
        x1, y1, x2, y2 = S[one.base, 0, t], S[one.base, 1, t], S[two.base, 0, t], S[two.base, 1, t]
        c, s = S[one.base, 2, t], S[one.base, 3, t]
        g1x, g1y = rotated(c, s, one.hinge)
        c, s = S[two.base, 2, t], S[two.base, 3, t]
        g2x, g2y = rotated(c, s, two.point)
        dirx, diry = rotated(c, s, two.direction)
        dx, dy = (x1 + g1x) - (x2 + g2x), (y1 + g1y) - (y2 + g2y)
        foot, height = dx * dirx + dy * diry, dirx * dy - diry * dx
        h = square - height * height
        # NaN where a base has no answer, and out of reach.
        h = select(h >= -TOUCH * square, h, math.nan)
        h = sign * np.sqrt(select(h < 0.0, 0.0, h))
        W[CLEAR, k] = abs(over_1 * h)
        # The arm, of length one, and the closing point from the base of the guide.
        u1x, u1y = over_1 * (h * dirx + height * diry), over_1 * (h * diry - height * dirx)
        f = 1.5 - 0.5 * (u1x * u1x + u1y * u1y)
        u1x, u1y = u1x * f, u1y * f
        slide = foot + h
        r2x, r2y = g2x + slide * dirx, g2y + slide * diry
        e1x, e1y = rotated(u1x, u1y, one.origin)
        ca, sa = rotated(u1x, u1y, one.turn)
        q2x, q2y = r2x + c * two.origin[0] - s * two.origin[1], r2y + s * two.origin[0] + c * two.origin[1]
        cb, sb = rotated(c, s, two.turn)
        xa, ya, xb, yb = x1 + g1x + e1x, y1 + g1y + e1y, x2 + q2x, y2 + q2y
        miss_x = (xa + ca * one.pin[0] - sa * one.pin[1]) - (xb + cb * two.pin[0] - sb * two.pin[1])
        miss_y = (ya + sa * one.pin[0] + ca * one.pin[1]) - (yb + sb * two.pin[0] + cb * two.pin[1])
        miss_x, miss_y = abs(miss_x), abs(miss_y)
        W[MISS, k] = select(miss_y > miss_x, miss_y, miss_x)
        W[OF_1, k], W[OF_1 + 1, k], W[OF_1 + 2, k], W[OF_1 + 3, k] = xa, ya, ca, sa
        W[OF_2, k], W[OF_2 + 1, k], W[OF_2 + 2, k], W[OF_2 + 3, k] = xb, yb, cb, sb
        W[OF_1 + 4, k], W[OF_2 + 4, k] = angle_of(u1x, u1y), S[two.base, 4, t] + two.angle
        W[AT_1, k], W[AT_1 + 1, k], W[AT_2, k], W[AT_2 + 1, k] = g1x, g1y, r2x, r2y
        W[ARM_1, k], W[ARM_1 + 1, k], W[ARM_2, k], W[ARM_2 + 1, k] = u1x, u1y, dirx, diry
        W[OUT_1, k], W[OUT_1 + 1, k], W[OUT_2, k], W[OUT_2 + 1, k] = e1x, e1y, q2x, q2y


@inlined
def move_guide(one: Arm, two: Guide, S: Floats, begin: int, n: int, W: Floats) -> None:
    """Velocities: w1 l1 ⊥u1 - speed · direction = velocity of the guide at the point less the hinge's."""
    for k in lanes(n):
        t = after(begin, k)
        w, b = S[one.base, 7, t], S[two.base, 7, t]
        u1x, u1y, dirx, diry = W[ARM_1, k], W[ARM_1 + 1, k], W[ARM_2, k], W[ARM_2 + 1, k]
        v1x, v1y = S[one.base, 5, t] - w * W[AT_1 + 1, k], S[one.base, 6, t] + w * W[AT_1, k]
        v2x, v2y = S[two.base, 5, t], S[two.base, 6, t]
        dx, dy = v2x - b * W[AT_2 + 1, k] - v1x, v2y + b * W[AT_2, k] - v1y
        f = 1.0 / (one.length * (u1x * dirx + u1y * diry))
        w1 = (dy * dirx - dx * diry) * f
        speed = one.length * w1 * (u1x * diry - u1y * dirx) - dx * dirx - dy * diry
        W[OF_1 + 5, k], W[OF_1 + 6, k] = v1x - w1 * W[OUT_1 + 1, k], v1y + w1 * W[OUT_1, k]
        W[OF_2 + 5, k] = v2x - b * W[OUT_2 + 1, k] + speed * dirx
        W[OF_2 + 6, k] = v2y + b * W[OUT_2, k] + speed * diry
        W[OF_1 + 7, k], W[OF_2 + 7, k], W[SINE, k], W[RATE_2, k] = w1, b, f, speed


@inlined
def accelerate_guide(one: Arm, two: Guide, S: Floats, begin: int, n: int, W: Floats) -> None:
    """Accelerations, after :func:`move_guide`."""
    for k in lanes(n):
        t = after(begin, k)
        w, b = S[one.base, 7, t], S[two.base, 7, t]
        u1x, u1y, dirx, diry = W[ARM_1, k], W[ARM_1 + 1, k], W[ARM_2, k], W[ARM_2 + 1, k]
        w1, f, speed = W[OF_1 + 7, k], W[SINE, k], W[RATE_2, k]
        a = S[one.base, 10, t]
        v1x = S[one.base, 8, t] - a * W[AT_1 + 1, k] - w * w * W[AT_1, k]
        v1y = S[one.base, 9, t] + a * W[AT_1, k] - w * w * W[AT_1 + 1, k]
        a = S[two.base, 10, t]
        v2x = S[two.base, 8, t] - 2.0 * b * speed * diry
        v2y = S[two.base, 9, t] + 2.0 * b * speed * dirx
        b, w1 = b * b, w1 * w1
        dx = v2x - a * W[AT_2 + 1, k] - b * W[AT_2, k] - v1x + w1 * one.length * u1x
        dy = v2y + a * W[AT_2, k] - b * W[AT_2 + 1, k] - v1y + w1 * one.length * u1y
        a1 = (dy * dirx - dx * diry) * f
        second = one.length * a1 * (u1x * diry - u1y * dirx) - dx * dirx - dy * diry
        ex, ey = W[OUT_1, k], W[OUT_1 + 1, k]
        W[OF_1 + 8, k], W[OF_1 + 9, k] = v1x - a1 * ey - w1 * ex, v1y + a1 * ex - w1 * ey
        ex, ey = W[OUT_2, k], W[OUT_2 + 1, k]
        W[OF_2 + 8, k] = v2x - a * ey - b * ex + second * dirx
        W[OF_2 + 9, k] = v2y + a * ex - b * ey + second * diry
        W[OF_1 + 10, k], W[OF_2 + 10, k] = a1, a


def fault_of_guide(one: Arm, two: Guide, S: Floats, t: int) -> tuple[int, float]:
    """Status and residual (m) at an instant without an answer."""
    (x1, y1), (x2, y2) = place_of(one.base, one.hinge, S, t), place_of(two.base, two.point, S, t)
    if x1 != x1 or x2 != x2:
        return PREDECESSOR_FAILED, 0.0
    dirx, diry = rotated(S[two.base, 2, t], S[two.base, 3, t], two.direction)
    status, miss, _, _ = circle_meets_line(x1, y1, one.length, x2, y2, dirx, diry, 1.0)
    return SINGULAR if status == OK else status, miss


# --- a driven hinge, too common for records --------------------------------------------------------


def solve_crank(
    group: int, ints: Ints, floats: Floats, S: Floats, first: int, count: int, inputs: Inputs, time: Floats,
    memory: Floats, work: Floats, quality: Quality, level: int,
) -> None:  # fmt: skip
    """One body on a driven hinge; arguments as :mod:`groups.kernels` has them."""
    crank = crank_in(ints, floats)
    W = room(ROWS, LANES)
    for begin in range(0, count, LANES):
        n, at = min(LANES, count - begin), first + begin
        place_crank(crank, inputs[0][crank.row], S, begin, at, n, W)
        if level > 0:
            move_crank(crank, inputs[1][crank.row], S, begin, at, n, W)
        if level > 1:
            accelerate_crank(crank, inputs[2][crank.row], S, begin, at, n, W)
        report(W, n, quality, group, at)
        for k in range(n):
            if W[CLEAR, k] != W[CLEAR, k]:
                fail(W, k, quality, group, at + k, (PREDECESSOR_FAILED, 0.0))
        copy_out(W, OF_1, n, S, crank.own, begin, level)


@inlined
def place_crank(crank: Crank, value: Floats, S: Floats, begin: int, first: int, n: int, W: Floats) -> None:
    """Poses; ``value`` (T,) of the input, from ``first`` on."""
    for k in lanes(n):
        W[ARM_1 + 1, k], W[ARM_1, k] = sines_cosines(crank.sign * value[after(first, k)])
    for k in range(n):
        q = crank.sign * value[first + k]
        if far(q):
            W[ARM_1, k], W[ARM_1 + 1, k] = math.cos(q), math.sin(q)
    for k in lanes(n):
        t = after(begin, k)
        c, s, cq, sq = S[crank.base, 2, t], S[crank.base, 3, t], W[ARM_1, k], W[ARM_1 + 1, k]
        gx, gy = rotated(c, s, crank.hinge)
        cz, sz = crank.turn[0] * cq - crank.turn[1] * sq, crank.turn[1] * cq + crank.turn[0] * sq
        co, so = c * cz - s * sz, s * cz + c * sz
        ex, ey = rotated(co, so, crank.origin)
        x, y = S[crank.base, 0, t], S[crank.base, 1, t]
        W[OF_1, k], W[OF_1 + 1, k], W[OF_1 + 2, k], W[OF_1 + 3, k] = x + gx + ex, y + gy + ey, co, so
        W[OF_1 + 4, k] = S[crank.base, 4, t] + (crank.angle + crank.sign * value[after(first, k)])
        W[AT_1, k], W[AT_1 + 1, k], W[OUT_1, k], W[OUT_1 + 1, k] = gx, gy, ex, ey
        W[CLEAR, k], W[MISS, k] = select(x == x, 1.0, math.nan), 0.0


@inlined
def move_crank(crank: Crank, rate: Floats, S: Floats, begin: int, first: int, n: int, W: Floats) -> None:
    """Velocities; ``rate`` (T,) of the input, from ``first`` on."""
    for k in lanes(n):
        t = after(begin, k)
        w = S[crank.base, 7, t]
        own = w + crank.sign * rate[after(first, k)]
        W[OF_1 + 5, k] = S[crank.base, 5, t] - w * W[AT_1 + 1, k] - own * W[OUT_1 + 1, k]
        W[OF_1 + 6, k] = S[crank.base, 6, t] + w * W[AT_1, k] + own * W[OUT_1, k]
        W[OF_1 + 7, k] = own


@inlined
def accelerate_crank(
    crank: Crank, second: Floats, S: Floats, begin: int, first: int, n: int, W: Floats
) -> None:
    """Accelerations; ``second`` (T,) rate of the input, from ``first`` on."""
    for k in lanes(n):
        t = after(begin, k)
        gx, gy, ex, ey = W[AT_1, k], W[AT_1 + 1, k], W[OUT_1, k], W[OUT_1 + 1, k]
        a, w, own_w = S[crank.base, 10, t], S[crank.base, 7, t], W[OF_1 + 7, k]
        own = a + crank.sign * second[after(first, k)]
        w, own_w = w * w, own_w * own_w
        W[OF_1 + 8, k] = S[crank.base, 8, t] - a * gy - w * gx - own * ey - own_w * ex
        W[OF_1 + 9, k] = S[crank.base, 9, t] + a * gx - w * gy + own * ex - own_w * ey
        W[OF_1 + 10, k] = own


# --- common to the three ---------------------------------------------------------------------------


@inlined
def rotated(c: Any, s: Any, point: Pair) -> tuple[Any, Any]:
    """A vector turned by the angle of this cosine and sine."""
    return c * point[0] - s * point[1], s * point[0] + c * point[1]


def place_of(body: int, point: Pair, S: Floats, t: int) -> Pair:
    """A point of a body in the world."""
    x, y = rotated(S[body, 2, t], S[body, 3, t], point)
    return S[body, 0, t] + x, S[body, 1, t] + y


@inlined
def report(W: Floats, n: int, quality: Quality, group: int, first: int) -> None:
    """Residual and condition of instants as if all of them were solved."""
    status, residual, iterations, condition = (
        quality[0][group], quality[1][group], quality[2][group], quality[3][group],
    )  # fmt: skip
    for k in lanes(n):
        residual[after(first, k)] = W[MISS, k]
    for k in lanes(n):
        condition[after(first, k)] = W[CLEAR, k]
    for k in lanes(n):
        status[after(first, k)] = OK
    for k in lanes(n):
        iterations[after(first, k)] = 0


def fail(W: Floats, k: int, quality: Quality, group: int, at: int, fault: tuple[int, float]) -> None:
    """Give an instant the status and residual of a fault; both own bodies have no answer."""
    quality[0][group, at], quality[1][group, at] = fault
    if W[CLEAR, k] != W[CLEAR, k]:
        quality[3][group, at] = 0.0
    for row in range(2 * STATE):
        W[row, k] = math.nan


def count_turns(W: Floats, row: int, n: int, turned: float, last: float) -> float:
    """Add ``turned`` and whole turns to the angles in a row, each near the one before; returns the last."""
    turns = turns_to(turned, last)
    begin = turned + FULL * turns
    for k in range(n):
        raw = W[row, k]
        if raw == raw:
            angle = raw + begin
            if abs(angle - last) > math.pi:
                turns += turns_to(angle, last)
                begin = turned + FULL * turns
                angle = raw + begin
            last = angle
            W[row, k] = angle
    return last


@inlined
def copy_out(W: Floats, row: int, n: int, S: Floats, body: int, begin: int, level: int) -> None:
    """Write a body's states of some instants, up to a level."""
    for m in range(5 + 3 * level):
        for k in lanes(n):
            S[body, m, after(begin, k)] = W[row + m, k]
