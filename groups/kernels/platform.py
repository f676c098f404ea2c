"""A platform: one free body on six rods from bodies that stand already, in straight code."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from groups.kernels.lanes import lanes, room, select
from groups.kernels.layout import (
    BALL_X,
    BALL_Y,
    BALL_Z,
    N_PINS,
    N_RODS,
    N_ROWS,
    PACE,
    PLANAR,
    RUN,
    SIGN,
    SLIDE,
    STILL,
    Cuts,
    Memory,
    Tree,
    group_of,
    tree_of,
)
from groups.kernels.linear import factorise, substitute
from groups.kernels.meeting import LARGE
from groups.kernels.newton import EVERY, MOST
from groups.kernels.relative import FLAT, keep_known_of, solve
from groups.kernels.strut import put_rows, rows_of
from groups.kernels.vectors import (
    ACCELERATION,
    POSITION,
    SPIN,
    SPIN_RATE,
    VELOCITY,
    Matrix,
    Vector,
    cross,
    dot,
    matrix_of,
    minus,
    plus,
    product,
    put_matrix_of,
    put_rotation,
    put_vector,
    rotate,
    rotation_at,
    times,
    upright,
    vector_at,
    vector_in,
    vector_of,
)
from groups.status import OK
from mbssa.arrays import Floats, Ints
from mbssa.compiled import merged

Inputs = tuple[Floats, Floats, Floats]

#: Rods, and the lanes that they take; those beyond the sixth repeat it, and are not looked at.
RODS, LANES = 6, 8
#: Rows of numbers of the rods: held point in the platform; squared length by powers of its input; the other
#: end, its velocity and acceleration; the input and its rates; length; from the platform's origin to the held
#: point; unit direction, towards the platform; distance of the ends; residual, m; vector product of
#: arm and direction; square of the largest speed of the held point at a unit turn about an axis.
HELD, SQUARES, END, END_SPEED, END_RISE, INPUT = 0, 3, 6, 9, 12, 15
LENGTH, ARM, WAY, APART, MISS, TURN, FASTEST, ROWS = 18, 19, 22, 25, 26, 27, 30, 31


def is_simple(ints: Ints, floats: Floats) -> bool:
    """Whether a group that is closed by pins and rods is a free body on six rods."""
    if ints[PLANAR] or ints[N_PINS] or ints[N_ROWS] or ints[N_RODS] != RODS:
        return False
    tree = tree_of(ints, floats)
    kinds = tree.kind.tolist()
    return (
        len(tree.own) == 1 and tree.known[tree.parent[0]] == 0
        and kinds[kinds[0] == STILL :] == [SLIDE, SLIDE, SLIDE, BALL_X, BALL_Y, BALL_Z]
    )  # fmt: skip


def solve_platform(
    group: int, ints: Ints, floats: Floats, S: Floats, first: int, count: int, inputs: Inputs, time: Floats,
    memory: Floats, work: Floats, quality: Any, level: int,
) -> None:  # fmt: skip
    """A free body on six rods, without its struts; arguments as :mod:`groups.kernels` has them."""
    g = group_of(ints, floats, memory, work)
    status, residual, iterations, condition = quality
    tree, cuts, last, head = g.tree, g.cuts, g.memory, g.memory.head
    if not is_at_the_origin(S):
        solve(group, g, None, None, True, S, first, 0, count, inputs, time, quality, level)
        return
    per, closed, own = 1.0 / cuts.limit[0], cuts.limit[1], tree.own[0]
    start = vector_of(tree.transform, 0, 0) if tree.kind[0] == STILL else (0.0, 0.0, 0.0)
    W, matrix, systems = room(ROWS, LANES), room(RODS, RODS), room(4, RODS)
    order, right, step, lead = systems[0], systems[1], systems[2], systems[3]
    moving = put_rods(W, tree, cuts)
    kept, factors, sign, measure = -1, False, 0.0, 0.0
    for t in range(count):
        instant = first + t
        pace = time[instant] - time[instant - 1] if instant > 0 else 0.0
        if moving or t == 0:
            put_ends(W, tree, cuts, S, t, level)
        put_lengths(W, cuts, inputs, instant, level)
        predict(last, pace, step, lead)
        p = plus(plus(start, vector_in(last.x, 0)), vector_in(step, 0))
        R = product(turn_of(vector_in(step, 3)), matrix_of(last.ball, 0, 0))
        steps = 0
        while True:
            worst = assemble(W, p, R)
            if (worst <= closed and steps > 0) or steps >= MOST or not worst < 1e300:
                break
            if steps > 0 or not factors or instant % EVERY == 0 or head[RUN] < 3.0:
                sign, measure = linearise(W, matrix, order, per)
                factors = measure > FLAT
                if not factors:
                    break
            shift, turn = solved(W, matrix, order, right, per, -1.0)
            p, R = plus(p, shift), product(turn_of(turn), R)
            for k in range(3):
                step[k] += shift[k]
                step[3 + k] += turn[k]
            steps += 1
        sound = worst <= closed and steps > 0
        for k in range(RODS):
            sound = sound and abs(step[k] - lead[k]) <= LARGE * tree.scale[k]
        if sound and level > 0:
            sign, measure = linearise(W, matrix, order, per)
            factors = measure > FLAT
        if not (sound and factors and sign == head[SIGN]):
            if kept >= 0:
                keep_known_of(g, S, kept, inputs, first + kept)
            solve(group, g, None, None, True, S, first, t, t + 1, inputs, time, quality, level)
            kept, factors = -1, False
            continue
        put_vector(S, own, t, POSITION, p)
        put_rotation(S, own, t, R)
        if level > 0:
            for i in lanes(LANES):
                W[MISS, i] = dot(rows_of(W, WAY, i), rows_of(W, END_SPEED, i)) + W[INPUT + 1, i]
            v, w = solved(W, matrix, order, right, per, 1.0)
            put_vector(S, own, t, VELOCITY, v)
            put_vector(S, own, t, SPIN, w)
            if level > 1:
                for i in lanes(LANES):
                    arm, way = rows_of(W, ARM, i), rows_of(W, WAY, i)
                    arc = cross(w, arm)
                    speed = minus(plus(v, arc), rows_of(W, END_SPEED, i))
                    along = dot(way, speed)
                    pull = minus(rows_of(W, END_RISE, i), cross(w, arc))
                    bow = (dot(speed, speed) - along * along) / W[APART, i]
                    W[MISS, i] = dot(way, pull) - bow + W[INPUT + 2, i]
                a, d = solved(W, matrix, order, right, per, 1.0)
                put_vector(S, own, t, ACCELERATION, a)
                put_vector(S, own, t, SPIN_RATE, d)
        for k in range(RODS):
            last.change_third[k], last.change_before[k] = last.change_before[k], last.change[k]
            last.change[k] = step[k]
            last.x[k] += step[k]
        put_matrix_of(last.ball, 0, 0, upright(R) if instant % EVERY == 0 else R)
        even = abs(pace - head[PACE]) <= 1e-6 * abs(pace)
        head[RUN], head[PACE] = head[RUN] + 1.0 if even else 1.0, pace
        kept = t
        status[group, instant], residual[group, instant] = OK, worst
        iterations[group, instant], condition[group, instant] = steps, measure
    if kept >= 0:
        keep_known_of(g, S, kept, inputs, first + kept)


def is_at_the_origin(S: Floats) -> bool:
    """Whether the frame's axes are those of the world."""
    at = True
    for k in range(VELOCITY):
        at = at and S[0, k, 0] == (1.0 if k in (3, 7, 11) else 0.0)
    return at


def turn_of(v: Vector) -> Matrix:
    """Rotation about ``v`` by twice the arctangent of half its length, rad; small ones are by ``v``."""
    x, y, z = 0.5 * v[0], 0.5 * v[1], 0.5 * v[2]
    f = 2.0 / (1.0 + x * x + y * y + z * z)
    xx, yy, zz, xy, yz, zx = f * x * x, f * y * y, f * z * z, f * x * y, f * y * z, f * z * x
    x, y, z = f * x, f * y, f * z
    return 1.0 - (yy + zz), xy - z, zx + y, xy + z, 1.0 - (xx + zz), yz - x, zx - y, yz + x, 1.0 - (xx + yy)


def predict(last: Memory, pace: float, step: Floats, lead: Floats) -> None:
    """Changes to which the last four time steps lead, and :func:`groups.kernels.path.predict` does."""
    run = last.head[RUN]
    share, bend, third = 0.0, 0.0, 0.0
    if run >= 2.0:
        share = pace / last.head[PACE]
        if run >= 3.0 and abs(share - 1.0) <= 1e-6:
            bend = 1.0
            third = 1.0 if run >= 4.0 else 0.0
    for k in range(RODS):
        d, before = last.change[k], last.change_before[k]
        lead[k] = share * d + bend * (share * d - before)
        step[k] = lead[k] + third * (d - 2.0 * before + last.change_third[k])


def put_rods(W: Floats, tree: Tree, cuts: Cuts) -> bool:
    """Held points and lengths of the rods; whether a body at their other ends moves."""
    moving = False
    for i in range(LANES):
        rod = min(i, RODS - 1)
        side = side_of(tree, cuts, rod)
        put_rows(W, HELD, i, vector_of(cuts.rod_point, rod, 3 * side))
        put_rows(W, SQUARES, i, vector_of(cuts.rod_point, rod, 6))
        put_rows(W, INPUT, i, (0.0, 0.0, 0.0))
        moving = moving or tree.known[cuts.rod[rod, 1 - side]] != 0
    return moving


def side_of(tree: Tree, cuts: Cuts, rod: int) -> int:
    """End of a rod that is on the platform."""
    return 1 if cuts.rod[rod, 1] == len(tree.known) else 0


def put_ends(W: Floats, tree: Tree, cuts: Cuts, S: Floats, t: int, level: int) -> None:
    """The other ends of the rods, their velocities and accelerations."""
    for i in range(LANES):
        rod = min(i, RODS - 1)
        side = 1 - side_of(tree, cuts, rod)
        body = tree.known[cuts.rod[rod, side]]
        arm = rotate(rotation_at(S, body, t), vector_of(cuts.rod_point, rod, 3 * side))
        put_rows(W, END, i, plus(vector_at(S, body, t, POSITION), arm))
        if level > 0:
            w = vector_at(S, body, t, SPIN)
            arc = cross(w, arm)
            put_rows(W, END_SPEED, i, plus(vector_at(S, body, t, VELOCITY), arc))
            if level > 1:
                pull = plus(cross(vector_at(S, body, t, SPIN_RATE), arm), cross(w, arc))
                put_rows(W, END_RISE, i, plus(vector_at(S, body, t, ACCELERATION), pull))


def put_lengths(W: Floats, cuts: Cuts, inputs: Inputs, instant: int, level: int) -> None:
    """Lengths of the rods; in place of their inputs' rates, those of the lengths."""
    for j in range(level + 1):
        for i in range(LANES):
            row = cuts.rod[min(i, RODS - 1), 2]
            if row >= 0:
                W[INPUT + j, i] = inputs[j][row, instant]
    for i in lanes(LANES):
        constant, linear, square = rows_of(W, SQUARES, i)
        s = W[INPUT, i]
        square2 = constant + s * (linear + s * square)
        size = np.sqrt(select(square2 < 0.0, 0.0, square2))
        W[LENGTH, i] = size
        if level > 0:
            slope, rate = (0.5 * linear + s * square) / size, W[INPUT + 1, i]
            if level > 1:
                W[INPUT + 2, i] = slope * W[INPUT + 2, i] + (square - slope * slope) / size * rate * rate
            W[INPUT + 1, i] = slope * rate  # last: all lanes at once, rate is a view of it


@merged
def assemble(W: Floats, p: Vector, R: Matrix) -> float:
    """Arms, directions and residuals of the rods for a pose; the largest residual, m, or NaN."""
    for i in lanes(LANES):
        arm = rotate(R, rows_of(W, HELD, i))
        apart = minus(plus(p, arm), rows_of(W, END, i))
        size = np.sqrt(dot(apart, apart))
        put_rows(W, ARM, i, arm)
        put_rows(W, WAY, i, times(1.0 / size, apart))
        W[APART, i] = size
        W[MISS, i] = size - W[LENGTH, i]
    worst, total = 0.0, 0.0
    for i in range(RODS):
        worst = max(worst, abs(W[MISS, i]))
        total += W[MISS, i]
    return worst + 0.0 * total  # comparisons lose NaN


@merged
def linearise(W: Floats, matrix: Floats, order: Floats, per: float) -> tuple[float, float]:
    """Jacobian and its factors at the pose looked at: sign of the determinant and condition."""
    for i in lanes(LANES):
        x, y, z = rows_of(W, ARM, i)
        put_rows(W, TURN, i, cross((x, y, z), rows_of(W, WAY, i)))
        xx, yy, zz = x * x, y * y, z * z
        W[FASTEST, i] = np.maximum(np.maximum(xx + yy, yy + zz), zz + xx)
    fastest = 0.0
    for i in range(RODS):
        for k in range(3):
            matrix[i, k], matrix[i, 3 + k] = W[WAY + k, i], per * W[TURN + k, i]
        fastest = max(fastest, W[FASTEST, i])
    sign, smallest, _ = factorise(matrix, order)
    return sign, smallest / max(1.0, per * math.sqrt(fastest))


@merged
def solved(
    W: Floats, matrix: Floats, order: Floats, right: Floats, per: float, sense: float
) -> tuple[Vector, Vector]:
    """Solve for the translation and rotation that change the rods' lengths by ``sense`` times ``MISS``, m."""
    for i in range(RODS):
        right[i] = sense * W[MISS, i]
    substitute(matrix, order, right)
    return vector_in(right, 0), times(per, vector_in(right, 3))
