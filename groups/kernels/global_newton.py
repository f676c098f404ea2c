"""The global approach, compiled: Newton on the poses of many bodies at once, one system per instant."""

from __future__ import annotations

import math
from typing import Any

from groups.kernels.jets import Rows, evaluate, shortest, turns
from groups.kernels.linear import arrange, factorise, solve_arranged, substitute
from groups.kernels.vectors import (
    Vector,
    cross,
    dot,
    exponential,
    plus_times,
    product,
    rotate,
    rotation_vector,
    unit,
)
from groups.status import BRANCH_JUMP, DROPPED, NOT_CONVERGED, OK, PREDECESSOR_FAILED, SINGULAR

Array = Any
#: drive (E,) row of the inputs or -1, equation (T,) of each term, constant (E,), slots (T, 12), columns, how
#: many bodies are given
System = tuple[Array, Array, Array, Array, Array, int]
#: time (T,); value, rate, second (D, T)
Inputs = tuple[Array, Array, Array, Array]
#: position (N, T, 3), rotation (N, T, 3, 3), velocity and acceleration (N, T, 6), angle (N, T) in the plane,
#: which counts turns, and that of each term (E, T)
Poses = tuple[Array, Array, Array, Array, Array, Array]
#: the first five of one instant
Stage = tuple[Array, Array, Array, Array, Array]
#: status, residual, iterations, condition, (T,) each
Quality = tuple[Array, Array, Array, Array]
#: jets to work in, their table, the matrix's numbers (flat), right side (E,)
Work = tuple[Array, Array, Array, Array]
#: largest residual of the equations that were solved, of those that follow, the most Newton steps, the
#: farthest that they may lead, and the sign of the determinant, 0 for any
Limits = tuple[float, float, int, float, float]

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
    stage: Stage,
    work: Work,
    pivots: tuple[Array, Array],
    level: int,
) -> tuple[int, int]:
    """Solve instants ``first`` to ``stop`` - 1 in place, each warm-started from the one before."""
    columns, known = system[4], system[5]
    status, residual, iterations, condition = quality
    tolerance, allowance, most, farthest, sign = limits
    _, _, V, A, _ = stage
    order, gone = pivots
    _, _, flat, right = work
    n = len(gone)
    matrix, answer = flat.reshape((len(right), n)), right[:n]
    for t in range(first, stop):
        if not begin(t, last, known, inputs[0], rows, poses, stage):
            status[t], residual[t], iterations[t], condition[t] = PREDECESSOR_FAILED, math.nan, 0, 0.0
            end(t, last, status[t], known, inputs[0], rows, work, poses, stage, level)
            continue
        status[t] = NOT_CONVERGED
        ratio, turned = 0.0, 0.0
        gone[:] = 0.0
        for step in range(most + 1):
            worst = assemble(t, rows, system, inputs, stage, work)
            residual[t], iterations[t] = worst, step
            if not worst < math.inf:
                break
            # For positions alone the last step's factors predict well enough.
            if worst > tolerance or level > 0 or step == 0:
                fill(system, work)
                turned, smallest, largest_pivot = factorise(matrix, order)
                ratio = smallest / largest_pivot if smallest > 0.0 else 0.0
            arrange(order, right)
            if worst <= tolerance or (ratio > HOPELESS and largest(answer) <= tolerance):
                status[t] = OK if worst <= max(tolerance, allowance) else DROPPED
                if level > 0 and not ratio > LEAST:
                    status[t] = SINGULAR
                break
            if not ratio > HOPELESS:
                status[t] = SINGULAR
                break
            solve_arranged(matrix, right)
            move(answer, columns, known, stage, gone)
        condition[t] = ratio
        sound = status[t] in (OK, DROPPED)
        if sound and (largest(gone) > farthest or turned * sign < 0.0):
            status[t], sound = BRANCH_JUMP, False
        if sound:
            if ratio > LEAST and (level > 0 or known == 1):
                velocities(t, rows, system, inputs, stage, work)
                substitute(matrix, order, right)
                spread(answer, columns, known, V)
            if level == 2:
                accelerations(t, rows, system, inputs, stage, work)
                substitute(matrix, order, right)
                spread(answer, columns, known, A)
        elif farthest < math.inf:
            return last, t
        if end(t, last, status[t], known, inputs[0], rows, work, poses, stage, level):
            last = t
    return last, stop


def begin(t: int, last: int, known: int, time: Array, rows: Rows, poses: Poses, stage: Stage) -> bool:
    """Set the stage: given bodies as they are, the others where the instant before leads, at rest."""
    P, R, V, A, T = stage
    sound = True
    for r in range(len(rows[9])):
        rows[9][r] = poses[5][r, last]
    for b in range(len(P)):
        at = t if b < known else last
        for i in range(3):
            P[b, i] = poses[0][b, at, i]
            for j in range(3):
                R[b, i, j] = poses[1][b, at, i, j]
        T[b] = poses[4][b, at]
        for i in range(6):
            V[b, i], A[b, i] = 0.0, 0.0
            if b < known:
                V[b, i], A[b, i] = poses[2][b, t, i], poses[3][b, t, i]
        if P[b, 0] != P[b, 0]:
            sound = False
        if b >= known:
            dt = time[t] - time[last] if last == t - 1 else 0.0
            displace(b, predicted(dt, b, last, 0, poses), predicted(dt, b, last, 3, poses), stage)
    return sound


def predicted(dt: float, b: int, last: int, k: int, poses: Poses) -> Vector:
    """Taylor step of three numbers of a body by velocity and acceleration."""
    v, a = poses[2], poses[3]
    return (
        dt * (v[b, last, k] + 0.5 * dt * a[b, last, k]),
        dt * (v[b, last, k + 1] + 0.5 * dt * a[b, last, k + 1]),
        dt * (v[b, last, k + 2] + 0.5 * dt * a[b, last, k + 2]),
    )


def assemble(t: int, rows: Rows, system: System, inputs: Inputs, stage: Stage, work: Work) -> float:
    """Jets of all terms and the right side of a Newton step; the largest residual, NaN where one is."""
    code, drive, equation, constant = rows[3], system[0], system[1], system[2]
    P, R, V, _, T = stage
    jets, table, _, right = work
    evaluate(0, len(table), rows, P, R, V, T, False, jets, table)
    for e in range(len(drive)):
        right[e] = constant[e] + (inputs[1][drive[e], t] if drive[e] >= 0 else 0.0)
    for r in range(len(table)):
        e = equation[r]
        right[e] -= table[r, 0]
        # Sums of terms count their turns.
        if drive[e] >= 0:
            right[e] = shortest(code[r], right[e])
    return largest(right)


def largest(numbers: Array) -> float:
    """Largest without its sign; NaN where one is."""
    worst = 0.0
    for i in range(len(numbers)):
        if not abs(numbers[i]) <= worst:
            worst = abs(numbers[i])
            if not worst < math.inf:
                return math.nan
    return worst


def fill(system: System, work: Work) -> None:
    """The Jacobian, from the jets."""
    slots, table, flat = system[3], work[1], work[2]
    flat[:] = 0.0
    for r in range(len(slots)):
        for m in range(12):
            if slots[r, m] >= 0:
                flat[slots[r, m]] += table[r, 1 + m]


def velocities(t: int, rows: Rows, system: System, inputs: Inputs, stage: Stage, work: Work) -> None:
    """Right side for the velocities: of the inputs, and of the bodies that are given."""
    drive, equation, known = system[0], system[1], system[5]
    right = work[3]
    for e in range(len(drive)):
        right[e] = inputs[2][drive[e], t] if drive[e] >= 0 else 0.0
    for r in range(len(equation)):
        right[equation[r]] -= carried(r, rows, known, stage[2], work[1])


def accelerations(t: int, rows: Rows, system: System, inputs: Inputs, stage: Stage, work: Work) -> None:
    """Right side for the accelerations, with the velocities on the stage."""
    drive, equation, known = system[0], system[1], system[5]
    P, R, V, A, T = stage
    jets, table, _, right = work
    evaluate(0, len(table), rows, P, R, V, T, True, jets, table)
    for e in range(len(drive)):
        right[e] = inputs[3][drive[e], t] if drive[e] >= 0 else 0.0
    for r in range(len(equation)):
        right[equation[r]] -= table[r, 13] + carried(r, rows, known, A, table)


def carried(r: int, rows: Rows, known: int, twists: Array, table: Array) -> float:
    """Part of an equation's rate that the twists of given bodies make."""
    total = 0.0
    for side in range(2):
        body = rows[0][rows[4][r], side]
        if body < known:
            for m in range(6):
                total += table[r, 1 + 6 * side + m] * twists[body, m]
    return total


def move(step: Array, columns: Array, known: int, stage: Stage, gone: Array) -> None:
    """Move every body by its part of a Newton step, as far as a linear model is trusted; ``gone`` sums up."""
    furthest = largest(step)
    scale = 1.0 if furthest <= FURTHEST else FURTHEST / furthest
    c = len(columns)
    for b in range(known, len(stage[0])):
        at = (b - known) * c
        if c == 6:
            shift = scale * step[at], scale * step[at + 1], scale * step[at + 2]
            turn = scale * step[at + 3], scale * step[at + 4], scale * step[at + 5]
        else:
            shift = scale * step[at], scale * step[at + 1], 0.0
            turn = 0.0, 0.0, scale * step[at + 2]
        displace(b, shift, turn, stage)
    for k in range(len(gone)):
        gone[k] += scale * step[k]


def displace(b: int, shift: Vector, turn: Vector, stage: Stage) -> None:
    """One body by a translation of its origin and a rotation vector, both in world axes."""
    P, R, T = stage[0], stage[1], stage[4]
    T[b] += turn[2]
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


def spread(answer: Array, columns: Array, known: int, twists: Array) -> None:
    """A solution of the system as twists (m, 6) of the bodies."""
    c = len(columns)
    for b in range(known, len(twists)):
        for m in range(c):
            twists[b, columns[m]] = answer[(b - known) * c + m]


def end(
    t: int, last: int, status: int, known: int, time: Array, rows: Rows, work: Work, poses: Poses,
    stage: Stage, level: int,
) -> bool:  # fmt: skip
    """Keep an instant's answer, NaN where there is none; whether there is one."""
    sound = status in (OK, DROPPED)
    P, R, V, A, T = stage
    position, rotation, velocity, acceleration, angle, near = poses
    for r in range(len(near)):
        near[r, t] = work[1][r, 0] / rows[8][r] if sound else math.nan
    if sound and level == 0 and known > 1:
        secant(last, time[t] - time[last], known, poses, stage)
    for b in range(known, len(P)):
        turned = math.atan2(R[b, 1, 0], R[b, 0, 0])
        angle[b, t] = turned + turns(T[b] - turned) if sound else math.nan
        for i in range(3):
            position[b, t, i] = P[b, i] if sound else math.nan
            for j in range(3):
                rotation[b, t, i, j] = R[b, i, j] if sound else math.nan
        for i in range(6):
            velocity[b, t, i] = V[b, i] if sound else math.nan
            acceleration[b, t, i] = A[b, i] if sound else math.nan
    return sound


def secant(last: int, dt: float, known: int, poses: Poses, stage: Stage) -> None:
    """Mean velocities since the last pose, to go on by where those of the given bodies are not known."""
    P, R, V, _, _ = stage
    for b in range(known, len(P)):
        now = (
            R[b, 0, 0], R[b, 0, 1], R[b, 0, 2], R[b, 1, 0], R[b, 1, 1], R[b, 1, 2], R[b, 2, 0], R[b, 2, 1],
            R[b, 2, 2],
        )  # fmt: skip
        B = poses[1][b, last]
        back = B[0, 0], B[1, 0], B[2, 0], B[0, 1], B[1, 1], B[2, 1], B[0, 2], B[1, 2], B[2, 2]
        turn = rotation_vector(product(now, back))
        for i in range(3):
            V[b, i] = (P[b, i] - poses[0][b, last, i]) / dt
        V[b, 3], V[b, 4], V[b, 5] = turn[0] / dt, turn[1] / dt, turn[2] / dt
