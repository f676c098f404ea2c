"""A strut in space: a leg of one or two bodies between two points, in closed form."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from groups.kernels.lanes import after, lanes, room, select
from groups.kernels.vectors import (
    ACCELERATION,
    POSITION,
    SPIN,
    SPIN_RATE,
    STATE,
    VELOCITY,
    Matrix,
    Vector,
    cross,
    dot,
    matrix_in,
    minus,
    plus,
    plus_times,
    product,
    rotate,
    rotation_at,
    times,
    vector_at,
    vector_in,
    void,
)
from groups.status import GIMBAL, NOT_CONVERGED, OK, OUT_OF_REACH, PREDECESSOR_FAILED, SINGULAR
from mbssa.arrays import Floats, Ints
from mbssa.compiled import inlined

#: ``ints``: indices of the bodies, LAST -1 if there is one body only; row of the inputs of the slide, -1 if
#: unknown or none; body in which the pin axis across the strut's own is fixed: A, or the frame where a spin
#: is held.
A, B, FIRST, LAST, DRIVE, PIN_BODY, INTS = range(7)
#: ``floats``: in A, the universal's centre; in PIN_BODY, the unit pin axis; in B, the ball's centre; in pin
#: axes, the arm at s = 0, the unit direction of the slide, and each body's origin from the universal's centre
#: at s = 0; the matrices that turn each body's axes into pin axes; in the last body, the ball's centre.
CENTRE_A, PIN_A, CENTRE_B = 0, 3, 6
ARM, ALONG, ORIGIN_1, ORIGIN_2, TURN_1, TURN_2, BALL, FLOATS = 9, 12, 15, 18, 21, 30, 39, 42
#: ``memory``: the signs of the mode.
SLIDE_SIGN, PIN_SIGN, SIGNS = range(3)

#: Conditions below this count as zero: a gimbal, or, for rates, a dead point of the slide.
FLAT = 1e-9
#: Largest distance between a strut of given length and its ball, relative to its size.
MISS = 1e-8
#: Rounding of a difference of squared lengths.
ROUNDING = 1e-14

#: Instants solved at a time.
LANES = 32
#: Rows of numbers of those instants: the states of the first and the last body as in ``S``…
OF_1, OF_2 = 0, STATE
#: … the slide and its rates; the pin across the strut's own in the world; the pin axes in the world; the
#: universal's centre and the ball in the world; square roots that rates divide by, and the square of their
#: distance; then the answers that callers read.
SLIDE = 2 * STATE
PIN, AXES, CENTRE, END, LEAN, SLOPE = (SLIDE + k for k in (3, 6, 15, 18, 21, 22))
SQUARE, STATUS, RESIDUAL, CONDITION, ROWS = (SLIDE + k for k in (23, 24, 25, 26, 27))


class Strut(NamedTuple):
    """One strut, read by :func:`strut_in` from where its data begin."""

    a: int
    b: int
    first: int
    last: int
    drive: int
    pin_body: int
    centre_a: Vector
    pin: Vector
    centre_b: Vector
    arm: Vector
    along: Vector
    origin_1: Vector
    origin_2: Vector
    turn_1: Matrix
    turn_2: Matrix
    ball: Vector


def strut_in(ints: Ints, i: int, floats: Floats, f: int) -> Strut:
    """Read the strut whose data begin at ``ints[i]`` and ``floats[f]``."""
    return Strut(
        ints[i + A], ints[i + B], ints[i + FIRST], ints[i + LAST], ints[i + DRIVE], ints[i + PIN_BODY],
        vector_in(floats, f + CENTRE_A), vector_in(floats, f + PIN_A), vector_in(floats, f + CENTRE_B),
        vector_in(floats, f + ARM), vector_in(floats, f + ALONG), vector_in(floats, f + ORIGIN_1),
        vector_in(floats, f + ORIGIN_2), matrix_in(floats, f + TURN_1), matrix_in(floats, f + TURN_2),
        vector_in(floats, f + BALL),
    )  # fmt: skip


def solve_struts(
    group: int, ints: Ints, floats: Floats, S: Floats, first: int, count: int, inputs: tuple[Floats, ...],
    time: Floats, memory: Floats, work: Floats, quality: tuple[npt.NDArray[np.int8], Floats, Ints, Floats],
    level: int,
) -> None:  # fmt: skip
    """Solve a group that is one strut over a block, with the arguments of :mod:`groups.kernels`."""
    status, residual, iterations, condition = quality
    strut = strut_in(ints, 0, floats, 0)
    W = room(ROWS, LANES)
    for t in range(0, count, LANES):
        n, begin = min(LANES, count - t), first + t
        place(strut, memory, 0, S, t, n, inputs, begin, level, W)
        for k in range(n):
            status[group, begin + k] = int(W[STATUS, k])
            residual[group, begin + k] = W[RESIDUAL, k]
            iterations[group, begin + k] = 0
            condition[group, begin + k] = W[CONDITION, k]


@inlined
def place(
    strut: Strut, memory: Floats, m: int, S: Floats, t: int, n: int, inputs: tuple[Floats, ...], instant: int,
    level: int, W: Floats,
) -> None:  # fmt: skip
    """Write the bodies of one strut at up to LANES instants whose bodies A and B are up to date to."""
    sliding = strut.last >= 0
    free = sliding and strut.drive < 0
    driven = sliding and not free
    for j in range(level + 1):
        for k in range(n):
            W[SLIDE + j, k] = inputs[j][strut.drive, instant + k] if driven else 0.0
    stand(strut, memory[m + SLIDE_SIGN], memory[m + PIN_SIGN], free, sliding, S, t, n, W)
    judge(free, level, n, W)
    if level > 0:
        move(strut, free, S, t, n, level, W)
    copy_out(W, OF_1, S[strut.first], t, n, level)
    if sliding:
        copy_out(W, OF_2, S[strut.last], t, n, level)
    for k in range(n):
        if W[STATUS, k] != OK:
            if W[STATUS, k] == OUT_OF_REACH:
                W[RESIDUAL, k] = math.sqrt(over2(strut)) - math.sqrt(W[SQUARE, k])
            void(S, strut.first, t + k)
            if sliding:
                void(S, strut.last, t + k)


@inlined
def copy_out(W: Floats, begin: int, state: Floats, t: int, n: int, level: int) -> None:
    """A body's states of some instants to where they are kept."""
    for j in range(VELOCITY + 6 * level):
        for k in range(n):
            state[j, t + k] = W[begin + j, k]


@inlined
def rows_of(W: Floats, row: int, k: Any) -> tuple[Any, Any, Any]:
    """Vector of lane ``k`` in three rows."""
    return W[row, k], W[row + 1, k], W[row + 2, k]


@inlined
def put_rows(W: Floats, row: int, k: Any, a: tuple[Any, Any, Any]) -> None:
    """Write a vector of lane ``k`` into three rows."""
    W[row, k], W[row + 1, k], W[row + 2, k] = a


def over2(strut: Strut) -> float:
    """Square of the least distance of the ball from the universal's centre, m²."""
    nearest = dot(strut.arm, strut.along)
    return max(dot(strut.arm, strut.arm) - nearest * nearest, 0.0)


@inlined
def stand(
    strut: Strut, slide_sign: float, pin_sign: float, free: bool, sliding: bool, S: Floats, begin: int,
    n: int, W: Floats,
) -> None:  # fmt: skip
    """Poses and residual."""
    centre_a, centre_b = strut.centre_a, strut.centre_b
    start, along = strut.arm, strut.along
    origin_1, origin_2, turn_1, turn_2 = strut.origin_1, strut.origin_2, strut.turn_1, strut.turn_2
    end = strut.ball
    nearest, over = dot(start, along), over2(strut)
    for k in lanes(n):
        t = after(begin, k)
        centre = plus(vector_at(S, strut.a, t, POSITION), rotate(rotation_at(S, strut.a, t), centre_a))
        pin = rotate(rotation_at(S, strut.pin_body, t), strut.pin)
        ball = plus(vector_at(S, strut.b, t, POSITION), rotate(rotation_at(S, strut.b, t), centre_b))
        D = minus(ball, centre)
        size2 = dot(D, D)

        square = size2 - over
        near = select(square > 0.0, square, 0.0)
        slope = slide_sign * np.sqrt(select(square >= -ROUNDING * size2, near, math.nan))
        s = slope - nearest if free else W[SLIDE, k]
        arm = plus_times(start, s, along)

        across = plus_times(D, -dot(D, pin), pin)
        across = plus_times(across, -dot(across, pin), pin)  # twice: it may be a small part of D
        across2 = dot(across, across)
        bow2 = arm[1] * arm[1] + arm[2] * arm[2]
        square = across2 - arm[0] * arm[0]
        square = select(square > FLAT * FLAT * size2, square, math.nan)
        lean = pin_sign * np.sqrt(select(bow2 > 0.0, square, math.nan))
        normal = plus_times(times(arm[0], across), lean, cross(pin, across))
        normal = times(1.0 / across2, normal)
        foot = plus_times(D, -arm[0], normal)
        foot = plus_times(foot, -dot(foot, normal), normal)
        swing = cross(normal, foot)
        scale = 1.0 / np.sqrt(dot(foot, foot) * bow2)
        u, v = arm[1] * scale, arm[2] * scale
        X = plus_times(times(u, foot), -v, swing)
        Y = plus_times(times(v, foot), u, swing)
        axes = (normal[0], X[0], Y[0], normal[1], X[1], Y[1], normal[2], X[2], Y[2])

        position = plus(centre, rotate(axes, origin_1))
        rotation = product(axes, turn_1)
        put_rows(W, OF_1, k, position)
        put_rows(W, OF_1 + 3, k, (rotation[0], rotation[1], rotation[2]))
        put_rows(W, OF_1 + 6, k, (rotation[3], rotation[4], rotation[5]))
        put_rows(W, OF_1 + 9, k, (rotation[6], rotation[7], rotation[8]))
        if sliding:
            position = plus(centre, rotate(axes, plus_times(origin_2, s, along)))
            rotation = product(axes, turn_2)
        put_rows(W, OF_2, k, position)
        put_rows(W, OF_2 + 3, k, (rotation[0], rotation[1], rotation[2]))
        put_rows(W, OF_2 + 6, k, (rotation[3], rotation[4], rotation[5]))
        put_rows(W, OF_2 + 9, k, (rotation[6], rotation[7], rotation[8]))
        gap = minus(plus(position, rotate(rotation, end)), ball)
        miss = np.maximum(
            np.maximum(abs(gap[0]), abs(gap[1])), np.maximum(abs(gap[2]), abs(dot(normal, pin)))
        )
        W[RESIDUAL, k], W[SQUARE, k] = miss, size2
        put_rows(W, AXES, k, (axes[0], axes[1], axes[2]))
        put_rows(W, AXES + 3, k, (axes[3], axes[4], axes[5]))
        put_rows(W, AXES + 6, k, (axes[6], axes[7], axes[8]))
        put_rows(W, PIN, k, pin)
        put_rows(W, CENTRE, k, centre)
        put_rows(W, END, k, ball)
        W[SLIDE, k] = s
        W[LEAN, k] = lean
        W[SLOPE, k] = slope


@inlined
def judge(free: bool, level: int, n: int, W: Floats) -> None:
    """Status and condition, after :func:`stand`."""
    least, far = FLAT if level > 0 else -1.0, MISS * MISS
    for k in lanes(n):
        size2, miss, lean, slope = W[SQUARE, k], W[RESIDUAL, k], W[LEAN, k], W[SLOPE, k]
        if free:
            condition = abs(lean * slope) / size2
            code = select(condition < least, 1.0 * SINGULAR, 1.0 * OK)
            code = select(lean == lean, code, 1.0 * GIMBAL)
            code = select(slope == slope, code, 1.0 * OUT_OF_REACH)
        else:
            condition = np.sqrt(lean * lean / size2)
            code = select(condition < least, 1.0 * SINGULAR, 1.0 * OK)
            code = select(miss * miss > far * size2, 1.0 * NOT_CONVERGED, code)
            code = select(lean == lean, code, 1.0 * GIMBAL)
        W[STATUS, k] = select((size2 == size2) & (W[PIN, k] == W[PIN, k]), code, 1.0 * PREDECESSOR_FAILED)
        W[CONDITION, k] = select(condition == condition, condition, 0.0)


@inlined
def move(strut: Strut, free: bool, S: Floats, begin: int, n: int, level: int, W: Floats) -> None:
    """Velocities and accelerations, after :func:`stand`."""
    along, a, b, p = strut.along, strut.a, strut.b, strut.pin_body
    for k in lanes(n):
        t = after(begin, k)
        x, y, z = rows_of(W, AXES, k), rows_of(W, AXES + 3, k), rows_of(W, AXES + 6, k)
        slide = dot(x, along), dot(y, along), dot(z, along)
        normal = x[0], y[0], z[0]
        centre, pin, ball = rows_of(W, CENTRE, k), rows_of(W, PIN, k), rows_of(W, END, k)
        lean, slope = W[LEAN, k], W[SLOPE, k]
        to_a, to_b = minus(centre, vector_at(S, a, t, POSITION)), minus(ball, vector_at(S, b, t, POSITION))
        to_1, to_2 = minus(rows_of(W, OF_1, k), centre), minus(rows_of(W, OF_2, k), centre)
        D = minus(ball, centre)
        per_size2, per_lean, per_slope = 1.0 / dot(D, D), 1.0 / lean, 1.0 / slope
        side = cross(normal, pin)  # D·side = lean

        w_a, w_b = vector_at(S, a, t, SPIN), vector_at(S, b, t, SPIN)
        arc_a, arc_b = cross(w_a, to_a), cross(w_b, to_b)
        v_a = plus(vector_at(S, a, t, VELOCITY), arc_a)
        rate = minus(plus(vector_at(S, b, t, VELOCITY), arc_b), v_a)
        ds = dot(D, rate) * per_slope if free else W[SLIDE + 1, k]
        w = times(per_size2, cross(D, plus_times(rate, -ds, slide)))
        w_p = vector_at(S, p, t, SPIN)
        w = plus_times(w, dot(minus(w_p, w), side) * per_lean, D)
        arc_1, arc_2 = cross(w, to_1), plus_times(cross(w, to_2), ds, slide)
        put_rows(W, OF_1 + VELOCITY, k, plus(v_a, arc_1))
        put_rows(W, OF_1 + SPIN, k, w)
        put_rows(W, OF_2 + VELOCITY, k, plus(v_a, arc_2))
        put_rows(W, OF_2 + SPIN, k, w)

        if level > 1:
            d_a, d_b = vector_at(S, a, t, SPIN_RATE), vector_at(S, b, t, SPIN_RATE)
            a_a = plus(vector_at(S, a, t, ACCELERATION), plus(cross(d_a, to_a), cross(w_a, arc_a)))
            a_b = plus(vector_at(S, b, t, ACCELERATION), plus(cross(d_b, to_b), cross(w_b, arc_b)))
            drift = times(ds, cross(w, slide))
            bend = plus(cross(w, plus_times(cross(w, D), ds, slide)), drift)
            rate = minus(minus(a_b, a_a), bend)
            dds = dot(D, rate) * per_slope if free else W[SLIDE + 2, k]
            veer = plus(cross(cross(w, normal), pin), cross(normal, cross(w_p, pin)))  # rate of ``side``
            d = times(per_size2, cross(D, plus_times(rate, -dds, slide)))
            d_p = vector_at(S, p, t, SPIN_RATE)
            d = plus_times(d, (dot(minus(d_p, d), side) - dot(minus(w, w_p), veer)) * per_lean, D)
            put_rows(W, OF_1 + ACCELERATION, k, plus(a_a, plus(cross(d, to_1), cross(w, arc_1))))
            put_rows(W, OF_1 + SPIN_RATE, k, d)
            carried = plus(plus_times(cross(d, to_2), dds, slide), plus(cross(w, arc_2), drift))
            put_rows(W, OF_2 + ACCELERATION, k, plus(a_a, carried))
            put_rows(W, OF_2 + SPIN_RATE, k, d)
