"""The tree of a group: where its bodies are at given unknowns, and how they move at given rates.

The bodies of a group hang from solved bodies along a tree (:mod:`groups.tree`). Every joint of the tree is a
sequence of *steps*: a constant transform, a turn or a slide along an axis of the moving frame, or one of the
three turns of a ball. The amount of a step is an unknown of the group or an input. Recursions after
Featherstone 2008, *Rigid body dynamics algorithms*, chapters 2 and 4: twists are taken at one point fixed
in the world, the group's centre. :mod:`groups.kernels.record` lays the data out.
"""

from __future__ import annotations

from typing import Any

from groups.kernels.record import (
    AXIS,
    BALL,
    BALL_X,
    BALL_Z,
    CENTRE,
    CONSTANT,
    DRIVE,
    FACTOR,
    FIRST,
    INFLUENCE,
    KIND,
    LOOKED,
    N_KNOWN,
    N_LINKS,
    N_STEPS,
    N_UNKNOWNS,
    PARENT,
    PLANAR,
    RISE,
    SECOND,
    SLIDE,
    STAGE,
    START,
    STEP_AXIS,
    STEP_POINT,
    STILL,
    TRANSFORM,
    TURN_ZERO,
    TURNED,
    TWIST,
    UNIT,
    UNKNOWN,
    U,
    X,
)
from groups.kernels.trigonometry import sine_cosine
from groups.kernels.vectors import (
    ACCELERATION,
    POSITION,
    ROTATION,
    SPIN,
    SPIN_RATE,
    STATE,
    VELOCITY,
    Vector,
    cross,
    exponential,
    matrix_in,
    minus,
    plus,
    plus_times,
    product,
    put_in,
    put_matrix_in,
    rotate,
    times,
    turned_by,
    vector_in,
)

Array = Any


def forward(ints: Array, floats: Array, work: Array) -> None:
    """Poses of the own bodies at X, and axis and point of every step in the world."""
    work[ints[LOOKED]] = 0.0
    kind, axis, unknown, drive = ints[KIND], ints[AXIS], ints[UNKNOWN], ints[DRIVE]
    ball = ints[BALL]
    for link in range(ints[N_LINKS]):
        at = ints[STAGE] + STATE * ints[ints[PARENT] + link]
        p, R = vector_in(work, at + POSITION), matrix_in(work, at + ROTATION)
        turned = 0.0
        for s in range(ints[ints[START] + link], ints[ints[START] + link + 1]):
            what = ints[kind + s]
            if what == STILL:
                c = ints[TRANSFORM] + 12 * ints[ints[CONSTANT] + s]
                p = plus(p, rotate(R, vector_in(floats, c)))
                R = product(R, matrix_in(floats, c + 3))
                continue
            k = ints[axis + s]
            along = (R[k], R[3 + k], R[6 + k])
            factor = floats[ints[FACTOR] + s]
            put_in(work, ints[STEP_AXIS] + 3 * s, times(factor, along))
            put_in(work, ints[STEP_POINT] + 3 * s, p)
            if what >= BALL_X:
                if what == BALL_Z:
                    R = product(R, matrix_in(work, ball))
                    ball += 9
                continue
            amount = factor
            if ints[unknown + s] >= 0:
                amount *= work[ints[X] + ints[unknown + s]]
            else:
                amount *= work[ints[U] + ints[drive + s]]
            if what == SLIDE:
                p = plus_times(p, amount, along)
            else:
                sine, cosine = sine_cosine(amount)
                R = turned_by(R, k, cosine, sine)
                turned += amount
        at = ints[STAGE] + STATE * (ints[N_KNOWN] + link)
        put_in(work, at + POSITION, p)
        put_matrix_in(work, at + ROTATION, R)
        if ints[PLANAR] == 1:
            before = work[ints[TURNED] + ints[ints[PARENT] + link]]
            work[ints[TURNED] + ints[N_KNOWN] + link] = before + turned + floats[ints[TURN_ZERO] + link]


def move(ints: Array, work: Array, step: Any) -> None:
    """Change the unknowns by what begins at ``work[step]``; balls turn by small rotation vectors."""
    unknowns = ints[BALL] - ints[X]
    for k in range(unknowns):
        work[ints[X] + k] += work[step + k]
    ball = ints[BALL]
    for s in range(ints[N_STEPS]):
        if ints[ints[KIND] + s] == BALL_X:
            turn = exponential(vector_in(work, step + ints[ints[UNKNOWN] + s]))
            put_matrix_in(work, ball, product(turn, matrix_in(work, ball)))
            ball += 9


def swing_known(ints: Array, floats: Array, work: Array) -> None:
    """Twists of the known bodies and their rates at the group's centre."""
    centre = vector_in(floats, ints[CENTRE])
    for k in range(ints[N_KNOWN]):
        at = ints[STAGE] + STATE * k
        arm = minus(vector_in(work, at + POSITION), centre)
        w, v = vector_in(work, at + SPIN), vector_in(work, at + VELOCITY)
        wd, a = vector_in(work, at + SPIN_RATE), vector_in(work, at + ACCELERATION)
        put_in(work, ints[TWIST] + 6 * k, w)
        put_in(work, ints[TWIST] + 6 * k + 3, minus(v, cross(w, arm)))
        put_in(work, ints[RISE] + 6 * k, wd)
        put_in(work, ints[RISE] + 6 * k + 3, minus(minus(a, cross(wd, arm)), cross(w, v)))


def swing(ints: Array, floats: Array, work: Array, inputs: Any, instant: Any) -> None:
    """Velocities and accelerations of the own bodies along the tree at FIRST, SECOND being zero."""
    centre = vector_in(floats, ints[CENTRE])
    for link in range(ints[N_LINKS]):
        at = 6 * ints[ints[PARENT] + link]
        w, v = vector_in(work, ints[TWIST] + at), vector_in(work, ints[TWIST] + at + 3)
        wd, a = vector_in(work, ints[RISE] + at), vector_in(work, ints[RISE] + at + 3)
        w_before, v_before = w, v
        for s in range(ints[ints[START] + link], ints[ints[START] + link + 1]):
            what = ints[ints[KIND] + s]
            if what == STILL:
                continue
            unknown = ints[ints[UNKNOWN] + s]
            if unknown >= 0:
                rate, rise = work[ints[FIRST] + unknown], 0.0
            else:
                row = ints[ints[DRIVE] + s]
                rate, rise = inputs[1][row, instant], inputs[2][row, instant]
            if what <= BALL_X:  # the turns of one ball are seen from the same frame
                w_before, v_before = w, v
            along = vector_in(work, ints[STEP_AXIS] + 3 * s)
            if what == SLIDE:
                a = plus(plus_times(a, rise, along), times(rate, cross(w_before, along)))
                v = plus_times(v, rate, along)
                continue
            moment = cross(along, minus(centre, vector_in(work, ints[STEP_POINT] + 3 * s)))
            bend = plus(cross(w_before, moment), cross(v_before, along))
            wd = plus(plus_times(wd, rise, along), times(rate, cross(w_before, along)))
            a = plus(plus_times(a, rise, moment), times(rate, bend))
            w, v = plus_times(w, rate, along), plus_times(v, rate, moment)
        k = ints[N_KNOWN] + link
        put_in(work, ints[TWIST] + 6 * k, w)
        put_in(work, ints[TWIST] + 6 * k + 3, v)
        put_in(work, ints[RISE] + 6 * k, wd)
        put_in(work, ints[RISE] + 6 * k + 3, a)
        here = ints[STAGE] + STATE * k
        arm = minus(vector_in(work, here + POSITION), centre)
        speed: Vector = plus(v, cross(w, arm))
        put_in(work, here + VELOCITY, speed)
        put_in(work, here + SPIN, w)
        put_in(work, here + ACCELERATION, plus(plus(a, cross(wd, arm)), cross(w, speed)))
        put_in(work, here + SPIN_RATE, wd)


def rise(ints: Array, floats: Array, work: Array) -> None:
    """Add what the accelerations SECOND of the unknowns do to the own bodies."""
    centre, n = vector_in(floats, ints[CENTRE]), ints[N_UNKNOWNS]
    for link in range(ints[N_LINKS]):
        k = ints[N_KNOWN] + link
        here = ints[STAGE] + STATE * k
        arm = minus(vector_in(work, here + POSITION), centre)
        for m in range(n):
            if ints[ints[INFLUENCE] + n * k + m] == 1:
                amount, at = work[ints[SECOND] + m], ints[UNIT] + 6 * m
                w, v = vector_in(work, at), vector_in(work, at + 3)
                more = plus(v, cross(w, arm))
                put_in(work, here + SPIN_RATE, plus_times(vector_in(work, here + SPIN_RATE), amount, w))
                put_in(
                    work,
                    here + ACCELERATION,
                    plus_times(vector_in(work, here + ACCELERATION), amount, more),
                )
