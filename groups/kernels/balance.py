"""Inverse dynamics of one instant after another."""

from __future__ import annotations

import math
from typing import Any

from groups.kernels.jets import Rows, evaluate, to_world, vector
from groups.kernels.vectors import Vector, cross, dot, minus, plus, times
from mbssa.compiled import merged

Array = Any
#: first equation (B + 1,) of each block in ``equations``; first body (B + 1,) in ``bodies``; columns, of v_x,
#: v_y, v_z, w_x, w_y, w_z, that the space has
Blocks = tuple[Array, Array, Array, Array, Array]
#: The matrices of all blocks as one array of numbers, and a step of elimination for each equation:
#: place (T, 12) of each term's derivatives in the numbers, or -1; first entry (B + 1,) that is assembled, and
#: place, row and column of each; pivot, its row and its column, by step; first (S + 1,) number below a pivot,
#: their places and rows; first (S + 1,) number beside it, their places and columns; first (S + 1,) place that
#: a step changes, and these places, below by below
Elimination = tuple[Array, ...]
#: first term (E + 1,), drive (E,) or -1, slot (T, 2) of each term's bodies in the wrenches or -1
Equations = tuple[Array, Array, Array]
#: mass (N,) kg, centre of mass (N, 3) from the body's centre, over the size; inertia (N, 3, 3) about the
#: centre of mass, kg m²; gravity (3,) m/s²
Masses = tuple[Array, Array, Array, Array]
#: position of the origin (N, T, 3) m, rotation (N, T, 3, 3), twist and acceleration of the origin (N, T, 6),
#: angle (N, T); centre (N, 3) m, in the body's own axes
Motion = tuple[Array, ...]
#: body and joint (S,) of each wrench; body (J,) and place (J, 3) of each joint's point, from the body's
#: centre, over the size
Points = tuple[Array, Array, Array, Array]
#: driving (D, T) and rate (D, T), lengths over the size; wrench (S, T, 6) N and N m about the joint's point;
#: load on the frame (T, 6) about its centre; energy, its rate, gravity's power (3, T); doubtful (T,)
Answer = tuple[Array, Array, Array, Array, Array, Array]
#: P, R, V, T and accelerations of the bodies; jets and their table; loads (N, 6); the matrices' numbers and
#: their entries; of the widest block right side, probe, their solutions, and the residual
Work = tuple[Array, ...]

#: Residual, over the largest number of the solution and of the right side, beyond which the order of pivots
#: does not do.
ROUNDING = 1e-12


def balance_backwards(
    first: int,
    stop: int,
    rows: Rows,
    blocks: Blocks,
    elimination: Elimination,
    equations: Equations,
    masses: Masses,
    motion: Motion,
    loads: Array,
    points: Points,
    size: float,
    suspicious: float,
    answer: Answer,
    work: Work,
) -> None:
    """Balance all blocks at the instants ``first`` … ``stop`` - 1."""
    P, R, V, T, A, jets, table, load, numbers = work[:9]
    slots = elimination[0]
    wrench, doubtful = answer[2], answer[5]
    for t in range(first, stop):
        sound = True
        for b in range(len(P)):
            for i in range(6):
                load[b, i] = loads[b, t, i]
            if not (set_body(t, b, motion, size, P, R, V, T, A) and math.isfinite(load[b, 0])):
                sound = False
        if sound:
            answer[4][0, t], answer[4][1, t], answer[4][2, t] = inertia(masses, size, R, V, A, load)
            evaluate(0, len(table), rows, P, R, V, T, False, jets, table)
            for k in range(len(wrench)):
                for i in range(6):
                    wrench[k, t, i] = 0.0
            for k in range(len(numbers)):
                numbers[k] = 0.0
            for r in range(len(table)):
                for m in range(12):
                    if slots[r, m] >= 0:
                        numbers[slots[r, m]] += table[r, 1 + m]
            for block in range(len(blocks[0]) - 2, -1, -1):
                if not solve_block(block, t, rows, blocks, elimination, equations, suspicious, answer, work):
                    sound = False
                    break
        doubtful[t] = not sound
        if sound:
            for i in range(6):
                answer[3][t, i] = load[0, i]
            about_points(t, points, size, wrench, P, R)


@merged
def set_body(
    t: int, b: int, motion: Motion, size: float, P: Array, R: Array, V: Array, T: Array, A: Array
) -> bool:
    """Set pose, twist and acceleration of a body at its centre; False where it has no pose."""
    position, rotation, twist, acceleration, angle, centre = motion
    for i in range(3):
        for j in range(3):
            R[b, i, j] = rotation[b, t, i, j]
        V[b, 3 + i], A[b, 3 + i] = twist[b, t, 3 + i], acceleration[b, t, 3 + i]
    T[b] = angle[b, t]
    arm = to_world(R, b, centre[b, 0], centre[b, 1], centre[b, 2])
    spin, faster = vector(V, b, 3), vector(A, b, 3)
    swing = cross(spin, arm)
    inwards = cross(spin, swing)
    tangential = cross(faster, arm)
    for i in range(3):
        P[b, i] = (position[b, t, i] + arm[i]) / size
        V[b, i] = (twist[b, t, i] + swing[i]) / size
        A[b, i] = (acceleration[b, t, i] + tangential[i] + inwards[i]) / size
    return math.isfinite(P[b, 0] + V[b, 0] + A[b, 0])


@merged
def inertia(
    masses: Masses, size: float, R: Array, V: Array, A: Array, load: Array
) -> tuple[float, float, float]:
    """Add weight, inertia force and moment of every body; kinetic energy, its rate, and gravity's power."""
    mass, place, matrix, gravity = masses
    energy, change, fall = 0.0, 0.0, 0.0
    g = (gravity[0], gravity[1], gravity[2])
    for b in range(1, len(mass)):
        m = mass[b]
        if m > 0.0:
            arm = to_world(R, b, place[b, 0], place[b, 1], place[b, 2])
            spin, faster = vector(V, b, 3), vector(A, b, 3)
            swing = cross(spin, arm)
            velocity = times(size, plus(vector(V, b, 0), swing))
            second = times(size, plus(vector(A, b, 0), plus(cross(faster, arm), cross(spin, swing))))
            momentum = turned(R, matrix, b, spin)
            torque = plus(turned(R, matrix, b, faster), cross(spin, momentum))
            force = times(m * size, minus(g, second))
            moment = minus(cross(arm, force), torque)
            for i in range(3):
                load[b, i] += force[i]
                load[b, 3 + i] += moment[i]
            energy += 0.5 * (m * dot(velocity, velocity) + dot(spin, momentum))
            change += m * dot(second, velocity) + dot(spin, torque)
            fall += m * dot(g, velocity)
    return energy, change, fall


@merged
def turned(R: Array, matrix: Array, b: int, a: Vector) -> Vector:
    """A body's matrix times a vector, both in world axes."""
    x = R[b, 0, 0] * a[0] + R[b, 1, 0] * a[1] + R[b, 2, 0] * a[2]
    y = R[b, 0, 1] * a[0] + R[b, 1, 1] * a[1] + R[b, 2, 1] * a[2]
    z = R[b, 0, 2] * a[0] + R[b, 1, 2] * a[1] + R[b, 2, 2] * a[2]
    return to_world(
        R,
        b,
        matrix[b, 0, 0] * x + matrix[b, 0, 1] * y + matrix[b, 0, 2] * z,
        matrix[b, 1, 0] * x + matrix[b, 1, 1] * y + matrix[b, 1, 2] * z,
        matrix[b, 2, 0] * x + matrix[b, 2, 1] * y + matrix[b, 2, 2] * z,
    )


@merged
def solve_block(
    block: int, t: int, rows: Rows, blocks: Blocks, elimination: Elimination, equations: Equations,
    suspicious: float, answer: Answer, work: Work,
) -> bool:  # fmt: skip
    """Balance one block; False where its rank is in doubt."""
    pair, joint = rows[0], rows[4]
    start, equation, body_start, bodies, columns = blocks
    first_term, drive, slot = equations
    driving, rates, wrench = answer[:3]
    V, table, load, right, probe, found = work[2], work[6], work[7], work[10], work[11], work[12]
    free = len(columns)
    n = start[block + 1] - start[block]
    for k in range(body_start[block], body_start[block + 1]):
        for c in range(free):
            right[free * (k - body_start[block]) + c] = -load[bodies[k], columns[c]]
    for k in range(n):
        probe[k] = math.cos(k + 1.0)
    if not eliminate(start[block], n, block, elimination, suspicious, work):
        return False
    for q in range(n):
        e, multiplier = equation[start[block] + q], found[q]
        if drive[e] >= 0:
            driving[drive[e], t], rates[drive[e], t] = multiplier, 0.0
        for r in range(first_term[e], first_term[e + 1]):
            for side in range(2):
                b, k = pair[joint[r], side], slot[r, side]
                for i in range(6):
                    slope = table[r, 1 + 6 * side + i]
                    load[b, i] += multiplier * slope
                    if drive[e] >= 0:
                        rates[drive[e], t] += slope * V[b, i]
                    elif k >= 0:
                        wrench[k, t, i] += multiplier * slope
    return True


@merged
def eliminate(
    first: int, n: int, block: int, elimination: Elimination, suspicious: float, work: Work
) -> bool:
    """Solve a block for its right side; False where the probe's solution or the residual is too large."""
    numbers, entries, right, probe, found, trial, rest = work[8:]
    _, entry, at, at_row, at_column, pivot, row, column = elimination[:8]
    low, low_at, low_row, up, up_at, up_column, change, changed = elimination[8:]
    size = 0.0
    for k in range(n):
        rest[k] = right[k]
        size = max(size, abs(right[k]))
    for e in range(entry[block], entry[block + 1]):
        entries[e] = numbers[at[e]]
    for k in range(first, first + n):
        over, to = 1.0 / numbers[pivot[k]], change[k]
        for a in range(low[k], low[k + 1]):
            factor = over * numbers[low_at[a]]
            right[low_row[a]] -= factor * right[row[k]]
            probe[low_row[a]] -= factor * probe[row[k]]
            for b in range(up[k], up[k + 1]):
                numbers[changed[to]] -= factor * numbers[up_at[b]]
                to += 1
    for k in range(first + n - 1, first - 1, -1):
        x, y = right[row[k]], probe[row[k]]
        for b in range(up[k], up[k + 1]):
            x -= numbers[up_at[b]] * found[up_column[b]]
            y -= numbers[up_at[b]] * trial[up_column[b]]
        found[column[k]], trial[column[k]] = x / numbers[pivot[k]], y / numbers[pivot[k]]
        size = max(size, abs(found[column[k]]))
        if not abs(trial[column[k]]) <= suspicious:
            return False
    for e in range(entry[block], entry[block + 1]):
        rest[at_row[e]] -= entries[e] * found[at_column[e]]
    worst = 0.0
    for k in range(n):
        worst = max(worst, abs(rest[k]))
    return worst <= ROUNDING * size


@merged
def about_points(t: int, points: Points, size: float, wrench: Array, P: Array, R: Array) -> None:
    """Forces in N, and moments about the joints' points, of all wrenches."""
    body, joint, second, place = points
    for k in range(len(body)):
        j = joint[k]
        b = second[j]
        point = plus(vector(P, b, 0), to_world(R, b, place[j, 0], place[j, 1], place[j, 2]))
        force = (wrench[k, t, 0], wrench[k, t, 1], wrench[k, t, 2])
        lever = cross(minus(vector(P, body[k], 0), point), force)
        for i in range(3):
            wrench[k, t, i] /= size
            wrench[k, t, 3 + i] += lever[i]
