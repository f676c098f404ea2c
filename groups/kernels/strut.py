"""A strut in space: a leg of one or two bodies between two points, in closed form.

At body A a universal joint: its centre and a pin axis in A, across it a pin axis in the strut's first body.
(A strut between two balls that holds its idle spin by a direction of another body is the same, with the pin
axis in that body.) At body B a ball whose centre is fixed in the strut's last body. Between the strut's two
bodies a slide along a direction fixed in the first; or there is one body and no slide. In *pin axes* (fixed
in the first body, the pin axis first) the ball seen from the universal's centre is ``arm + s along``.

An unknown slide follows from the distance of the two centres, two roots; the pin direction n in the world
from n·pin_A = 0 and n·D = arm's first number, two more, D being the vector between the centres. Which of them
is held by two signs in ``memory``: that of (arm + s along)·along, and that of D·(n × pin_A).

Instants are solved :data:`LANES` at a time: states are copied from ``S`` to scratch, where one number of all
those instants is contiguous, and loops without branches run over it, which the compiler turns into vector
instructions. That is twice as fast as one instant after the other. What fails is NaN until the end.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from groups.kernels.status import GIMBAL, NOT_CONVERGED, OK, OUT_OF_REACH, SINGULAR, WAITS
from groups.kernels.vectors import (
    ACCELERATION,
    SPIN,
    SPIN_RATE,
    STATE,
    VELOCITY,
    Matrix,
    Vector,
    cross,
    dot,
    largest,
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

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

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

#: Conditions below this count as zero: a gimbal, or a dead point of the slide when rates are asked.
FLAT = 1e-9
#: How far, of its size, a strut of given length may miss its ball.
MISS = 1e-8
#: Rounding of a difference of squared lengths.
ROUNDING = 1e-14

#: Instants solved at a time.
LANES = 32
#: Scratch: rows of LANES numbers, first the states of A, B, first and last body as in ``S``…
IN_A, IN_B, OF_1, OF_2 = 0, STATE, 2 * STATE, 3 * STATE
#: … the slide and its rates; the pin across the strut's own in the world, spin and its rate of the body that
#: holds it; the pin axes in the world; the universal's centre and the ball in the world; square roots that
#: rates divide by; then the answers that callers read.
SLIDE = 4 * STATE
PIN, PIN_SPIN, PIN_SPIN_RATE = SLIDE + 3, SLIDE + 6, SLIDE + 9
AXES, CENTRE, END, LEAN, SLOPE = SLIDE + 12, SLIDE + 21, SLIDE + 24, SLIDE + 27, SLIDE + 28
STATUS, RESIDUAL, CONDITION, ROWS = SLIDE + 29, SLIDE + 30, SLIDE + 31, SLIDE + 32
#: Length of the scratch that :func:`place` takes.
SCRATCH = ROWS * LANES


class Strut(NamedTuple):
    """One strut, read by :func:`strut_in` from where its data begin.

    Attributes
    ----------
    a, b : bodies at the universal joint and at the ball
    first, last : own bodies, the one at the universal first; last is -1 if there is one only
    drive : row of the inputs of the slide, -1 if it is unknown or there is none
    pin_body : body in which the pin axis across the strut's own is fixed
    centre_a, centre_b : the universal's centre in A and the ball's in B, m
    pin : unit pin axis in ``pin_body``
    arm, along : from centre to centre at slide 0 (m) and unit direction of the slide, in pin axes
    origin_1, origin_2 : each own body's origin from the universal's centre at slide 0, m, in pin axes
    turn_1, turn_2 : matrices that turn each own body's axes into pin axes
    ball : the ball's centre in the last body, m
    """

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
    """Solve a group that is one strut over a block, as :mod:`groups.kernels` lays down."""
    status, residual, iterations, condition = quality
    for t in range(0, count, LANES):
        lanes = min(LANES, count - t)
        place(ints, 0, floats, 0, S, t, lanes, inputs, first + t, memory, 0, level, work)
        for k in range(lanes):
            status[group, first + t + k] = int(work[cell(STATUS, k)])
            residual[group, first + t + k] = work[cell(RESIDUAL, k)]
            iterations[group, first + t + k] = 0
            condition[group, first + t + k] = work[cell(CONDITION, k)]


def place(
    ints: Ints,
    i: int,
    floats: Floats,
    f: int,
    S: Floats,
    t: int,
    lanes: int,
    inputs: tuple[Floats, ...],
    instant: int,
    memory: Floats,
    m: int,
    level: int,
    scratch: Floats,
) -> None:
    """Write the bodies of one strut at up to LANES instants whose bodies A and B are up to date to ``level``.

    The strut's data begin at ``ints[i]``, ``floats[f]`` and ``memory[m]``. The instants are ``t`` to
    ``t + lanes - 1`` of ``S``, and those from ``instant`` on of ``inputs``. ``scratch`` is (SCRATCH,). There
    the answer for the k-th instant is at ``cell(STATUS, k)``, ``cell(RESIDUAL, k)``, ``cell(CONDITION, k)``,
    and the slide at ``cell(SLIDE, k)``; bodies of a status other than OK are NaN.

    The residual (m, rad) is the largest miss of the ball on the poses written and of the right angle between
    the pins; out of reach, how much the centres are too near (m); NaN at a gimbal or waiting. The condition
    is the volume of (D, n, pin_A) at unit lengths times, with an unknown slide, the cosine of slide and arm.
    """
    strut = strut_in(ints, i, floats, f)
    sliding = strut.last >= 0
    free = sliding and strut.drive < 0
    copy_in(S, strut.a, t, lanes, level, scratch, IN_A)
    copy_in(S, strut.b, t, lanes, level, scratch, IN_B)
    if strut.pin_body == strut.a:
        turn_pin(strut.pin, lanes, level, scratch)
    else:
        copy_pin(S, strut.pin_body, t, lanes, level, strut.pin, scratch)
    if sliding and not free:
        for j in range(3):
            for k in range(lanes):
                scratch[cell(SLIDE + j, k)] = inputs[j][strut.drive, instant + k]
    else:
        for k in range(3 * LANES):
            scratch[cell(SLIDE, k)] = 0.0
    stand(strut, memory[m + SLIDE_SIGN], memory[m + PIN_SIGN], free, sliding, level, lanes, scratch)
    if level > 0:
        move(strut.along, free, level, lanes, scratch)
    copy_out(S, strut.first, t, lanes, level, scratch, OF_1)
    if sliding:
        copy_out(S, strut.last, t, lanes, level, scratch, OF_2)
    for k in range(lanes):
        if scratch[cell(STATUS, k)] != OK:
            void(S, strut.first, t + k)
            if sliding:
                void(S, strut.last, t + k)


def copy_in(S: Floats, body: int, t: int, lanes: int, level: int, scratch: Floats, to: int) -> None:
    """A body's states of some instants into scratch."""
    for k in range(lanes):
        for j in range(12):
            scratch[cell(to + j, k)] = S[body, t + k, j]
    if level > 0:
        for k in range(lanes):
            for j in range(12, 24):
                scratch[cell(to + j, k)] = S[body, t + k, j]


def turn_pin(pin: Vector, lanes: int, level: int, scratch: Floats) -> None:
    """As :func:`copy_pin` for a pin axis in body A, whose states are in scratch."""
    for k in range(lanes):
        x, y, z = at(scratch, IN_A + 3, k), at(scratch, IN_A + 6, k), at(scratch, IN_A + 9, k)
        put(scratch, PIN, k, (dot(x, pin), dot(y, pin), dot(z, pin)))
    if level > 0:
        for j in range(3):
            for k in range(lanes):
                scratch[cell(PIN_SPIN + j, k)] = scratch[cell(IN_A + SPIN + j, k)]
            for k in range(lanes):
                scratch[cell(PIN_SPIN_RATE + j, k)] = scratch[cell(IN_A + SPIN_RATE + j, k)]


def copy_pin(S: Floats, body: int, t: int, lanes: int, level: int, pin: Vector, scratch: Floats) -> None:
    """The pin axis across the strut's own, in the world, and the spin of the body that holds it."""
    for k in range(lanes):
        put(scratch, PIN, k, rotate(rotation_at(S, body, t + k), pin))
        if level > 0:
            put(scratch, PIN_SPIN, k, vector_at(S, body, t + k, SPIN))
            put(scratch, PIN_SPIN_RATE, k, vector_at(S, body, t + k, SPIN_RATE))


def copy_out(S: Floats, body: int, t: int, lanes: int, level: int, scratch: Floats, begin: int) -> None:
    """A body's states of some instants out of scratch; NaN where the status is not OK."""
    for k in range(lanes):
        for j in range(12):
            S[body, t + k, j] = scratch[cell(begin + j, k)]
    if level > 0:
        for k in range(lanes):
            for j in range(12, 18):
                S[body, t + k, j] = scratch[cell(begin + j, k)]
    if level > 1:
        for k in range(lanes):
            for j in range(18, 24):
                S[body, t + k, j] = scratch[cell(begin + j, k)]


def cell(row: int, k: int) -> Any:
    """Index into scratch; unsigned, because tests for a negative index would forbid vector instructions."""
    return np.uint64(row * LANES + k)


def at(scratch: Floats, row: int, k: int) -> Vector:
    """Vector of lane ``k`` in three rows."""
    return scratch[cell(row, k)], scratch[cell(row + 1, k)], scratch[cell(row + 2, k)]


def put(scratch: Floats, row: int, k: int, a: Vector) -> None:
    """Write a vector of lane ``k`` into three rows."""
    scratch[cell(row, k)], scratch[cell(row + 1, k)], scratch[cell(row + 2, k)] = a


def stand(
    strut: Strut,
    slide_sign: float,
    pin_sign: float,
    free: bool,
    sliding: bool,
    level: int,
    lanes: int,
    scratch: Floats,
) -> None:
    """Poses, status, residual and condition in scratch. Divisions are NumPy's: they raise nothing."""
    centre_a, centre_b = strut.centre_a, strut.centre_b
    start, along = strut.arm, strut.along
    origin_1, origin_2, turn_1, turn_2 = strut.origin_1, strut.origin_2, strut.turn_1, strut.turn_2
    end = strut.ball
    nearest = dot(start, along)
    over2 = max(dot(start, start) - nearest * nearest, 0.0)
    over = math.sqrt(over2)
    for k in range(lanes):
        x, y, z = at(scratch, IN_A + 3, k), at(scratch, IN_A + 6, k), at(scratch, IN_A + 9, k)
        turn = (x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2])
        centre = plus(at(scratch, IN_A, k), rotate(turn, centre_a))
        pin = at(scratch, PIN, k)
        x, y, z = at(scratch, IN_B + 3, k), at(scratch, IN_B + 6, k), at(scratch, IN_B + 9, k)
        turn = (x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2])
        ball = plus(at(scratch, IN_B, k), rotate(turn, centre_b))
        D = minus(ball, centre)
        size2 = dot(D, D)
        size = math.sqrt(size2)

        square = size2 - over2
        near = square if square > 0.0 else 0.0
        slope = slide_sign * math.sqrt(near if square >= -ROUNDING * size2 else math.nan)
        s = slope - nearest if free else scratch[cell(SLIDE, k)]
        arm = plus_times(start, s, along)

        across = plus_times(D, -dot(D, pin), pin)
        across = plus_times(across, -dot(across, pin), pin)  # twice: it may be a small part of D
        across2 = dot(across, across)
        bow2 = arm[1] * arm[1] + arm[2] * arm[2]
        square = across2 - arm[0] * arm[0]
        square = square if square > FLAT * FLAT * size2 else math.nan
        lean = pin_sign * math.sqrt(square if bow2 > 0.0 else math.nan)
        n = plus_times(times(arm[0], across), lean, cross(pin, across))
        n = times(np.divide(1.0, across2), n)
        foot = plus_times(D, -arm[0], n)
        foot = plus_times(foot, -dot(foot, n), n)
        swing = cross(n, foot)
        scale = np.divide(1.0, math.sqrt(dot(foot, foot) * bow2))
        u, v = arm[1] * scale, arm[2] * scale
        X = plus_times(times(u, foot), -v, swing)
        Y = plus_times(times(v, foot), u, swing)
        axes = (n[0], X[0], Y[0], n[1], X[1], Y[1], n[2], X[2], Y[2])

        position = plus(centre, rotate(axes, origin_1))
        rotation = product(axes, turn_1)
        put(scratch, OF_1, k, position)
        put(scratch, OF_1 + 3, k, (rotation[0], rotation[1], rotation[2]))
        put(scratch, OF_1 + 6, k, (rotation[3], rotation[4], rotation[5]))
        put(scratch, OF_1 + 9, k, (rotation[6], rotation[7], rotation[8]))
        if sliding:
            position = plus(centre, rotate(axes, plus_times(origin_2, s, along)))
            rotation = product(axes, turn_2)
        put(scratch, OF_2, k, position)
        put(scratch, OF_2 + 3, k, (rotation[0], rotation[1], rotation[2]))
        put(scratch, OF_2 + 6, k, (rotation[3], rotation[4], rotation[5]))
        put(scratch, OF_2 + 9, k, (rotation[6], rotation[7], rotation[8]))
        miss = largest(minus(plus(position, rotate(rotation, end)), ball))
        miss = max(miss, abs(dot(n, pin)))
        condition = np.divide(abs(lean), size) * (np.divide(abs(slope), size) if free else 1.0)

        code = 1.0 * OK
        code = SINGULAR if level > 0 and condition < FLAT else code
        code = NOT_CONVERGED if not free and miss > MISS * size else code
        code = code if lean == lean else GIMBAL
        beyond = free and slope != slope
        code = OUT_OF_REACH if beyond else code
        code = code if size == size and pin[0] == pin[0] else WAITS
        scratch[cell(STATUS, k)] = code
        scratch[cell(RESIDUAL, k)] = over - size if beyond else miss
        scratch[cell(CONDITION, k)] = condition if condition == condition else 0.0
        put(scratch, AXES, k, (axes[0], axes[1], axes[2]))
        put(scratch, AXES + 3, k, (axes[3], axes[4], axes[5]))
        put(scratch, AXES + 6, k, (axes[6], axes[7], axes[8]))
        put(scratch, CENTRE, k, centre)
        put(scratch, END, k, ball)
        scratch[cell(SLIDE, k)] = s
        scratch[cell(LEAN, k)] = lean
        scratch[cell(SLOPE, k)] = slope


def move(along: Vector, free: bool, level: int, lanes: int, scratch: Floats) -> None:
    """Velocities and accelerations in scratch, after :func:`stand`.

    The strut's spin w follows from D' = w × D + s' slide, and for its part about D from the pins: with
    side = n × pin_A, (w - w_P)·side = 0, P being the body that holds pin_A. Accelerations follow
    from the derivatives of both.
    """
    for k in range(lanes):
        x, y, z = at(scratch, AXES, k), at(scratch, AXES + 3, k), at(scratch, AXES + 6, k)
        slide = dot(x, along), dot(y, along), dot(z, along)
        n = x[0], y[0], z[0]
        centre, pin, ball = at(scratch, CENTRE, k), at(scratch, PIN, k), at(scratch, END, k)
        lean, slope = scratch[cell(LEAN, k)], scratch[cell(SLOPE, k)]
        to_a, to_b = minus(centre, at(scratch, IN_A, k)), minus(ball, at(scratch, IN_B, k))
        to_1, to_2 = minus(at(scratch, OF_1, k), centre), minus(at(scratch, OF_2, k), centre)
        D = minus(ball, centre)
        per_size2, per_lean, per_slope = (
            np.divide(1.0, dot(D, D)),
            np.divide(1.0, lean),
            np.divide(1.0, slope),
        )
        side = cross(n, pin)  # D·side = lean

        w_a, w_b = at(scratch, IN_A + SPIN, k), at(scratch, IN_B + SPIN, k)
        arc_a, arc_b = cross(w_a, to_a), cross(w_b, to_b)
        v_a = plus(at(scratch, IN_A + VELOCITY, k), arc_a)
        rate = minus(plus(at(scratch, IN_B + VELOCITY, k), arc_b), v_a)
        ds = dot(D, rate) * per_slope if free else scratch[cell(SLIDE + 1, k)]
        w = times(per_size2, cross(D, plus_times(rate, -ds, slide)))
        w_p = at(scratch, PIN_SPIN, k)
        w = plus_times(w, dot(minus(w_p, w), side) * per_lean, D)
        arc_1, arc_2 = cross(w, to_1), plus_times(cross(w, to_2), ds, slide)
        put(scratch, OF_1 + VELOCITY, k, plus(v_a, arc_1))
        put(scratch, OF_1 + SPIN, k, w)
        put(scratch, OF_2 + VELOCITY, k, plus(v_a, arc_2))
        put(scratch, OF_2 + SPIN, k, w)

        if level > 1:
            d_a, d_b = at(scratch, IN_A + SPIN_RATE, k), at(scratch, IN_B + SPIN_RATE, k)
            a_a = plus(at(scratch, IN_A + ACCELERATION, k), plus(cross(d_a, to_a), cross(w_a, arc_a)))
            a_b = plus(at(scratch, IN_B + ACCELERATION, k), plus(cross(d_b, to_b), cross(w_b, arc_b)))
            drift = times(ds, cross(w, slide))
            bend = plus(cross(w, plus_times(cross(w, D), ds, slide)), drift)
            rate = minus(minus(a_b, a_a), bend)
            dds = dot(D, rate) * per_slope if free else scratch[cell(SLIDE + 2, k)]
            veer = plus(cross(cross(w, n), pin), cross(n, cross(w_p, pin)))  # rate of ``side``
            d = times(per_size2, cross(D, plus_times(rate, -dds, slide)))
            d_p = at(scratch, PIN_SPIN_RATE, k)
            d = plus_times(d, (dot(minus(d_p, d), side) - dot(minus(w, w_p), veer)) * per_lean, D)
            put(scratch, OF_1 + ACCELERATION, k, plus(a_a, plus(cross(d, to_1), cross(w, arc_1))))
            put(scratch, OF_1 + SPIN_RATE, k, d)
            carried = plus(plus_times(cross(d, to_2), dds, slide), plus(cross(w, arc_2), drift))
            put(scratch, OF_2 + ACCELERATION, k, plus(a_a, carried))
            put(scratch, OF_2 + SPIN_RATE, k, d)
