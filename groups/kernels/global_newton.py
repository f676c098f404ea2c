"""The global approach, compiled: Newton on the poses of all bodies at once, one system per instant.

The system is square: ``kept`` equations, as many as unknowns; ``dropped`` ones follow from them and are
only looked at. Unknowns are the small motions of every body but the frame, body by body, in the
``columns`` (of v_x, v_y, v_z, w_x, w_y, w_z) that its space has. Lengths come divided by the size of the
mechanism, so that pivots compare. The stage is that of :mod:`groups.kernels.jets`, with the frame first.

The Jacobian is written through ``slots`` (n, 12): the place in a flat array of each of the 12 derivatives
of each kept equation; -1 where there is none. One kernel so fills dense and sparse matrices alike.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from groups.kernels.elimination import factorise, substitute
from groups.kernels.jets import SIZE, WORK, Rows, evaluate, shortest
from groups.kernels.status import DROPPED, NOT_CONVERGED, OK, SINGULAR
from groups.kernels.vectors import Vector, cross, dot, exponential, plus_times, rotate, unit

Array = Any
#: kept (n,) and dropped rows, drive (E,) row of the inputs or -1, slots (n, 12), columns
System = tuple[Array, Array, Array, Array, Array]
#: time (T,); value, rate, second (D, T)
Inputs = tuple[Array, Array, Array, Array]
#: position (N, T, 3), rotation (N, T, 3, 3), velocity and acceleration (N, T, 6)
Poses = tuple[Array, Array, Array, Array]
#: status, residual, iterations, condition, (T,) each
Quality = tuple[Array, Array, Array, Array]
#: jets to work in, their table, the matrix's numbers (flat), right side (n,)
Work = tuple[Array, Array, Array, Array]
#: largest residual of kept equations, of dropped ones, and the most Newton steps
Limits = tuple[float, float, int]

#: Pivots' ratio below which rates have no answer, and a Newton step none either.
LEAST, HOPELESS = 1e-9, 1e-13

#: Half a radian, or half the mechanism's size, is as far as a linear model is trusted.
FURTHEST = 0.5


def solve_dense(
    first: int,
    stop: int,
    last: int,
    rows: Rows,
    system: System,
    inputs: Inputs,
    poses: Poses,
    quality: Quality,
    limits: Limits,
    level: int,
) -> int:
    """Solve instants ``first`` to ``stop`` - 1 in place, each warm-started from the one before.

    ``last`` is the last instant before them that has an answer; returns the same for what follows. One
    factorisation per Newton step, and the one at the solution serves the rates.
    """
    columns = system[4]
    status, residual, iterations, condition = quality
    tolerance, _, most = limits
    n, n_rows, m = len(system[0]), len(rows[3]), poses[0].shape[0]
    stage = np.zeros((m, 3)), np.zeros((m, 3, 3)), np.zeros((m, 6)), np.zeros((m, 6))
    P, R, V, A = stage
    flat, order, right = np.zeros(n * n), np.zeros(n, dtype=np.int64), np.zeros(n)
    matrix = flat.reshape((n, n))
    work = np.zeros((WORK, SIZE)), np.zeros((n_rows, SIZE)), flat, right
    for t in range(first, stop):
        begin(t, last, inputs[0], poses, stage)
        status[t] = NOT_CONVERGED
        ratio = 0.0
        for step in range(most + 1):
            worst = linearise(t, rows, system, inputs, stage, work)
            residual[t], iterations[t] = worst, step
            if not worst < math.inf:
                break
            closed = worst <= tolerance
            # Where only positions are asked for, the last step's factors do for the prediction.
            if not closed or level > 0 or step == 0:
                ratio = factorise(matrix, order)
            if closed:
                status[t] = OK if level == 0 or ratio > LEAST else SINGULAR
            elif not ratio > HOPELESS:
                status[t] = SINGULAR
            if status[t] != NOT_CONVERGED:
                break
            substitute(matrix, order, right)
            move(right, columns, P, R)
        condition[t] = ratio
        if status[t] == OK:
            if ratio > LEAST:
                velocities(t, system, inputs, right)
                substitute(matrix, order, right)
                spread(right, columns, V)
            if level == 2:
                accelerations(t, rows, system, inputs, stage, work)
                substitute(matrix, order, right)
                spread(right, columns, A)
            compare_dropped(t, rows, system, inputs, work[1], quality, limits)
        if end(t, status[t], stage, poses):
            last = t
    return last


def begin(t: int, last: int, time: Array, poses: Poses, stage: Poses) -> None:
    """Set the stage at rest where the instant before leads, else at the last pose that there is."""
    P, R, V, A = stage
    for b in range(len(P)):
        for i in range(3):
            P[b, i] = poses[0][b, last, i]
            for j in range(3):
                R[b, i, j] = poses[1][b, last, i, j]
        if last == t - 1:
            dt = time[t] - time[last]
            shift = predicted(dt, b, last, 0, poses)
            displace(b, shift, predicted(dt, b, last, 3, poses), P, R)
        for i in range(6):
            V[b, i], A[b, i] = 0.0, 0.0


def predicted(dt: float, b: int, last: int, k: int, poses: Poses) -> Vector:
    """What three numbers of a body's velocity and acceleration come to after a time."""
    v, a = poses[2], poses[3]
    return (
        dt * (v[b, last, k] + 0.5 * dt * a[b, last, k]),
        dt * (v[b, last, k + 1] + 0.5 * dt * a[b, last, k + 1]),
        dt * (v[b, last, k + 2] + 0.5 * dt * a[b, last, k + 2]),
    )


def linearise(t: int, rows: Rows, system: System, inputs: Inputs, stage: Poses, work: Work) -> float:
    """Jacobian and right side of a Newton step on the stage; the largest residual."""
    kept, slots = system[0], system[3]
    P, R, V, _ = stage
    jets, table, flat, right = work
    evaluate(0, len(table), rows, P, R, V, False, jets, table)
    flat[:] = 0.0
    for i in range(len(kept)):
        for m in range(12):
            if slots[i, m] >= 0:
                flat[slots[i, m]] += table[kept[i], 1 + m]
    return misses(t, kept, rows, system, inputs, table, right)


def misses(
    t: int, which: Array, rows: Rows, system: System, inputs: Inputs, table: Array, right: Array
) -> float:
    """``right``: minus the residuals of these rows; the largest of them, NaN where one is."""
    code, drive = rows[3], system[2]
    worst = 0.0
    for i in range(len(which)):
        r = which[i]
        miss = table[r, 0]
        if drive[r] >= 0:
            miss = shortest(code[r], miss - inputs[1][drive[r], t])
        right[i] = -miss
        if not abs(miss) <= worst and worst == worst:
            worst = abs(miss)
    return worst


def velocities(t: int, system: System, inputs: Inputs, right: Array) -> None:
    """Right side for the velocities."""
    kept, drive = system[0], system[2]
    for i in range(len(kept)):
        row = drive[kept[i]]
        right[i] = inputs[2][row, t] if row >= 0 else 0.0


def accelerations(t: int, rows: Rows, system: System, inputs: Inputs, stage: Poses, work: Work) -> None:
    """Right side for the accelerations, with the velocities on the stage."""
    kept, drive = system[0], system[2]
    P, R, V, _ = stage
    jets, table, _, right = work
    evaluate(0, len(table), rows, P, R, V, True, jets, table)
    for i in range(len(kept)):
        row = drive[kept[i]]
        right[i] = (inputs[3][row, t] if row >= 0 else 0.0) - table[kept[i], 13]


def compare_dropped(
    t: int,
    rows: Rows,
    system: System,
    inputs: Inputs,
    table: Array,
    quality: Quality,
    limits: Limits,
) -> None:
    """Look at the equations that were left out; status DROPPED where they are violated."""
    dropped = system[1]
    if len(dropped) > 0:
        worst = misses(t, dropped, rows, system, inputs, table, np.zeros(len(dropped)))
        quality[1][t] = max(quality[1][t], worst)
        if not worst <= limits[1]:
            quality[0][t] = DROPPED


def move(step: Array, columns: Array, P: Array, R: Array) -> None:
    """Move every body by its part of a Newton step, as far as a linear model is trusted."""
    furthest = 0.0
    for i in range(len(step)):
        furthest = max(furthest, abs(step[i]))
    scale = 1.0 if furthest <= FURTHEST else FURTHEST / furthest
    c = len(columns)
    for b in range(1, len(P)):
        at = (b - 1) * c
        if c == 6:
            shift = scale * step[at], scale * step[at + 1], scale * step[at + 2]
            turn = scale * step[at + 3], scale * step[at + 4], scale * step[at + 5]
        else:
            shift = scale * step[at], scale * step[at + 1], 0.0
            turn = 0.0, 0.0, scale * step[at + 2]
        displace(b, shift, turn, P, R)


def displace(b: int, shift: Vector, turn: Vector, P: Array, R: Array) -> None:
    """One body by a translation of its origin and a rotation vector, both in world axes."""
    P[b, 0] += shift[0]
    P[b, 1] += shift[1]
    P[b, 2] += shift[2]
    turn_matrix = exponential(turn)
    # Made orthogonal to the last digit, or rounding would grow over a long motion.
    x = unit(rotate(turn_matrix, (R[b, 0, 0], R[b, 1, 0], R[b, 2, 0])))
    y = rotate(turn_matrix, (R[b, 0, 1], R[b, 1, 1], R[b, 2, 1]))
    y = unit(plus_times(y, -dot(x, y), x))
    R[b, 0, 0], R[b, 1, 0], R[b, 2, 0] = x
    R[b, 0, 1], R[b, 1, 1], R[b, 2, 1] = y
    R[b, 0, 2], R[b, 1, 2], R[b, 2, 2] = cross(x, y)


def spread(answer: Array, columns: Array, twists: Array) -> None:
    """A solution of the system as twists (m, 6) of the bodies."""
    c = len(columns)
    for b in range(1, len(twists)):
        for m in range(c):
            twists[b, columns[m]] = answer[(b - 1) * c + m]


def end(t: int, status: int, stage: Poses, poses: Poses) -> bool:
    """Keep an instant's answer, NaN where there is none; whether there is one."""
    sound = status in (OK, DROPPED)
    P, R, V, A = stage
    position, rotation, velocity, acceleration = poses
    for b in range(1, len(P)):
        for i in range(3):
            position[b, t, i] = P[b, i] if sound else math.nan
            for j in range(3):
                rotation[b, t, i, j] = R[b, i, j] if sound else math.nan
        for i in range(6):
            velocity[b, t, i] = V[b, i] if sound else math.nan
            acceleration[b, t, i] = A[b, i] if sound else math.nan
    return sound
