"""Loop closure of a group: residuals of its cuts, their Jacobian by the unknowns."""

from __future__ import annotations

import math

from groups.kernels.jets import evaluate, shortest
from groups.kernels.layout import LOOKED, SLIDE, Cuts, Group, Pose, Rows, Tree
from groups.kernels.vectors import (
    ACCELERATION,
    POSITION,
    ROTATION,
    SPIN,
    SPIN_RATE,
    VELOCITY,
    Vector,
    cross,
    dot,
    length,
    matrix_of,
    minus,
    plus,
    plus_times,
    put_of,
    rotate,
    times,
    unit,
    vector_in,
    vector_of,
)
from mbssa.arrays import Floats, Ints
from mbssa.compiled import merged

#: Share of the largest residual from which a contact counts as its cause.
CAUSE = 0.1


def point_of(pose: Pose, body: int, points: Floats, row: int, k: int) -> Vector:
    """A point of a body on the stage, in the world; in the body's axes it is in a row from column k on."""
    arm = rotate(matrix_of(pose.stage, body, ROTATION), vector_of(points, row, k))
    return plus(vector_of(pose.stage, body, POSITION), arm)


def rod_length(cuts: Cuts, pose: Pose, k: int) -> Vector:
    """Length of a rod, m, and its first two derivatives by its input."""
    row = cuts.rod[k, 2]
    constant, linear, square = vector_of(cuts.rod_point, k, 6)
    s = pose.u[row] if row >= 0 else 0.0
    size = math.sqrt(max(constant + s * (linear + s * square), 0.0))
    slope = (0.5 * linear + s * square) / size
    return size, slope, (square - slope * slope) / size


def residuals(g: Group, rows: Rows | None) -> float:
    """Residuals of what is solved into ``equations.right``, lengths over the size; the largest, or NaN."""
    tree, cuts, pose, right = g.tree, g.cuts, g.pose, g.equations.right
    at, worst = 0, 0.0
    per = 1.0 / cuts.limit[0]
    for k in range(len(cuts.pin)):
        to_a = point_of(pose, cuts.pin[k, 0], cuts.pin_point, k, 0)
        gap = minus(point_of(pose, cuts.pin[k, 1], cuts.pin_point, k, 3), to_a)
        right[at], right[at + 1] = per * gap[0], per * gap[1]
        worst = max(worst, abs(right[at]), abs(right[at + 1]))
        at += 2
        if tree.planar == 0:
            right[at] = per * gap[2]
            worst = max(worst, abs(right[at]))
            at += 1
    for k in range(len(cuts.rod)):
        size, _, _ = rod_length(cuts, pose, k)
        to_a = point_of(pose, cuts.rod[k, 0], cuts.rod_point, k, 0)
        gap = minus(point_of(pose, cuts.rod[k, 1], cuts.rod_point, k, 3), to_a)
        right[at] = per * (length(gap) - size)
        worst = max(worst, abs(right[at]))
        at += 1
    if rows is not None:
        ensure_evaluated(g, rows)
        for k in range(len(rows.drive)):
            if g.memory.solved[k] > 0.0:
                right[at] = rows.scale[k] * row_residual(rows, pose, k)
                worst = max(worst, abs(right[at]))
                at += 1
    # Comparisons lose NaN: return it.
    for k in range(at):
        if right[k] != right[k]:
            return math.nan
    total: float = worst * cuts.limit[0]
    return total


def left_out(g: Group, rows: Rows) -> float:
    """The largest residual of the rows that are only checked, m; angles as arcs at the size."""
    worst = 0.0
    ensure_evaluated(g, rows)
    for k in range(len(rows.drive)):
        if g.memory.solved[k] == 0.0:
            worst = max(worst, rows.scale[k] * abs(row_residual(rows, g.pose, k)))
    total: float = worst * g.cuts.limit[0]
    return total


def gap_left(g: Group, rows: Rows, solved: bool) -> float:
    """The gap of the contact with the largest residual, m, positive where its bodies are apart; 0 if none."""
    worst, found = 0.0, 0.0
    if solved:
        for k in range(len(g.equations.right)):
            worst = max(worst, abs(g.equations.right[k]))
    for k in range(len(rows.drive)):
        if (g.memory.solved[k] > 0.0) == solved:
            miss = rows.scale[k] * row_residual(rows, g.pose, k)
            worst = max(worst, abs(miss))
            if rows.contact[k] == 1 and abs(miss) > abs(found):
                found = miss
    gap: float = found * g.cuts.limit[0]
    return gap if abs(found) >= CAUSE * worst else 0.0


def row_residual(rows: Rows, pose: Pose, k: int) -> float:
    """Residual of joint equation k by its jets, m or rad."""
    first, stop = rows.first_term[k], rows.first_term[k + 1]
    miss: float = -rows.zero[k]
    for t in range(first, stop):
        miss += rows.table[t, 0]
    drive = rows.drive[k]
    if drive >= 0:
        miss -= pose.u[drive]
        if stop == first + 1:
            miss = shortest(rows.code[first], miss)
    return miss


def ensure_evaluated(g: Group, rows: Rows) -> None:
    """Jets of all rows as the bodies stand, unless they are there already."""
    if g.equations.flags[LOOKED] == 0.0:
        evaluate_rows(g, rows, False)


def evaluate_rows(g: Group, rows: Rows, moving: bool) -> None:
    """Jets of all rows as the bodies stand and, with ``moving``, move on the stage."""
    pose = g.pose
    for b in range(len(pose.stage)):
        for m in range(3):
            rows.position[b, m] = pose.stage[b, POSITION + m]
            for j in range(3):
                rows.rotation[b, m, j] = pose.stage[b, ROTATION + 3 * m + j]
        for m in range(6):
            rows.velocity[b, m] = pose.stage[b, VELOCITY + m]
    for t in range(len(rows.code)):
        of = rows.near_from[t]
        if of != -1:
            counts = pose.x[of] if of >= 0 else pose.u[-2 - of]
            rows.near[t] = rows.near_factor[t] * counts - rows.near_zero[t]
    terms = (
        rows.pair, rows.origin, rows.axes, rows.code, rows.joint, rows.number, rows.sign, rows.parameter,
        rows.weight, rows.near, rows.curves, rows.foreign, g.memory.place,
    )  # fmt: skip
    evaluate(
        0, len(rows.code), terms, rows.position, rows.rotation, rows.velocity, pose.turned, moving, rows.room,
        rows.table,
    )  # fmt: skip
    g.equations.flags[LOOKED] = 1.0


def jacobian(g: Group, rows: Rows | None, matrix: Floats, everything: bool) -> float:
    """Jacobian of the residuals by the unknowns, over the scales of both."""
    tree, cuts, pose, twist = g.tree, g.cuts, g.pose, g.equations.unit
    n = len(pose.x)
    width = 2 if tree.planar == 1 else 3
    centre = vector_in(tree.centre, 0)
    per = 1.0 / cuts.limit[0]
    unit_twists(tree, pose, twist)
    row, scale = 0, 1e-300
    for j in range(len(cuts.pin)):
        a, b = cuts.pin[j, 0], cuts.pin[j, 1]
        to_a = minus(point_of(pose, a, cuts.pin_point, j, 0), centre)
        to_b = minus(point_of(pose, b, cuts.pin_point, j, 3), centre)
        for k in range(n):
            rate = times(per * tree.scale[k], parting(tree, twist, k, a, b, to_a, to_b))
            for m in range(width):
                matrix[row + m, k] = rate[m]
                scale = max(scale, abs(rate[m]))
        row += width
    for j in range(len(cuts.rod)):
        a, b = cuts.rod[j, 0], cuts.rod[j, 1]
        to_a = minus(point_of(pose, a, cuts.rod_point, j, 0), centre)
        to_b = minus(point_of(pose, b, cuts.rod_point, j, 3), centre)
        direction = unit(minus(to_b, to_a))
        for k in range(n):
            rate = times(per * tree.scale[k], parting(tree, twist, k, a, b, to_a, to_b))
            matrix[row, k] = dot(direction, rate)
            scale = max(scale, length(rate))
        row += 1
    if rows is not None:
        scale = max(scale, row_jacobian(g, rows, matrix, row, everything))
    return scale


def unit_twists(tree: Tree, pose: Pose, twist: Floats) -> None:
    """Twists (n, 6) of a unit rate of each unknown: angular velocity, then velocity of the centre."""
    centre = vector_in(tree.centre, 0)
    for k in range(len(twist)):
        for m in range(6):
            twist[k, m] = 0.0
    for s in range(len(tree.kind)):
        k = tree.unknown[s]
        if k < 0:
            continue
        along = vector_of(pose.along, s, 0)
        if tree.kind[s] == SLIDE:
            put_of(twist, k, 3, plus(vector_of(twist, k, 3), along))
        else:
            moment = cross(along, minus(centre, vector_of(pose.point, s, 0)))
            put_of(twist, k, 0, plus(vector_of(twist, k, 0), along))
            put_of(twist, k, 3, plus(vector_of(twist, k, 3), moment))


def row_jacobian(g: Group, rows: Rows, matrix: Floats, row: int, everything: bool) -> float:
    """Jacobian of the joint equations, from a row of the matrix on; the largest entry."""
    tree, pose, twist = g.tree, g.pose, g.equations.unit
    centre, n, scale = vector_in(tree.centre, 0), len(pose.x), 0.0
    ensure_evaluated(g, rows)
    for j in range(len(rows.drive)):
        if g.memory.solved[j] == 0.0 and not everything:
            continue
        for k in range(n):
            total = 0.0
            for t in range(rows.first_term[j], rows.first_term[j + 1]):
                for side in range(2):
                    b = rows.pair[rows.joint[t], side]
                    if tree.influence[b, k] == 1:
                        w, v = vector_of(twist, k, 0), vector_of(twist, k, 3)
                        at = minus(vector_of(pose.stage, b, POSITION), centre)
                        column = 1 + 6 * side
                        speed = plus(v, cross(w, at))
                        total += dot(vector_of(rows.table, t, column), speed)
                        total += dot(vector_of(rows.table, t, column + 3), w)
            matrix[row, k] = total * rows.scale[j] * tree.scale[k]
            scale = max(scale, abs(matrix[row, k]))
        row += 1
    return scale


def parting(tree: Tree, twist: Floats, k: int, a: int, b: int, to_a: Vector, to_b: Vector) -> Vector:
    """Velocity of a point of body b less that of one of body a at a unit rate of unknown k."""
    w, v = vector_of(twist, k, 0), vector_of(twist, k, 3)
    rate = (0.0, 0.0, 0.0)
    if tree.influence[b, k] == 1:
        rate = plus(v, cross(w, to_b))
    if tree.influence[a, k] == 1:
        rate = minus(rate, plus(v, cross(w, to_a)))
    return rate


@merged
def closing_rates(
    g: Group, rows: Rows | None, inputs: tuple[Floats, Floats, Floats], instant: int, order: int
) -> None:
    """First or second time derivative of the residuals as the bodies move now, into ``equations.right``."""
    tree, cuts, pose, right = g.tree, g.cuts, g.pose, g.equations.right
    per = 1.0 / cuts.limit[0]
    at, width = 0, 2 if tree.planar == 1 else 3
    for k in range(len(cuts.pin)):
        _, speed, rise = apart(pose, cuts.pin, cuts.pin_point, k)
        for m in range(width):
            right[at + m] = per * (speed[m] if order == 1 else rise[m])
        at += width
    for k in range(len(cuts.rod)):
        gap, speed, rise = apart(pose, cuts.rod, cuts.rod_point, k)
        _, slope, bend = rod_length(cuts, pose, k)
        row = cuts.rod[k, 2]
        rate = inputs[1][row, instant] if row >= 0 else 0.0
        second = inputs[2][row, instant] if row >= 0 else 0.0
        size = length(gap)
        along = dot(gap, speed) / size
        if order == 1:
            right[at] = along - slope * rate
        else:
            right[at] = (dot(gap, rise) + dot(speed, speed) - along * along) / size
            right[at] -= slope * second + bend * rate * rate
        right[at] *= per
        at += 1
    if rows is not None:
        row_rates(g, rows, inputs, instant, order, at)


def row_rates(
    g: Group, rows: Rows, inputs: tuple[Floats, Floats, Floats], instant: int, order: int, at: int
) -> None:
    """Time derivatives of the joint equations, from a place of ``equations.right`` on."""
    if order == 1:
        ensure_evaluated(g, rows)
    else:
        evaluate_rows(g, rows, True)
    for k in range(len(rows.drive)):
        if g.memory.solved[k] == 0.0:
            continue
        drive = rows.drive[k]
        total = 0.0
        if drive >= 0:
            total -= inputs[1][drive, instant] if order == 1 else inputs[2][drive, instant]
        for t in range(rows.first_term[k], rows.first_term[k + 1]):
            if order == 2:
                total += rows.table[t, 13]
            for side in range(2):
                b = rows.pair[rows.joint[t], side]
                column = VELOCITY if order == 1 else ACCELERATION
                for m in range(6):
                    total += rows.table[t, 1 + 6 * side + m] * g.pose.stage[b, column + m]
        g.equations.right[at] = total * rows.scale[k]
        at += 1


@merged
def apart(pose: Pose, bodies: Ints, points: Floats, k: int) -> tuple[Vector, Vector, Vector]:
    """From a point of one body to one of another: distance vector, its rate, and its second derivative."""
    gap, speed, rise = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for side in range(2):
        body = bodies[k, side]
        sense = 1.0 if side == 1 else -1.0
        arm = rotate(matrix_of(pose.stage, body, ROTATION), vector_of(points, k, 3 * side))
        w = vector_of(pose.stage, body, SPIN)
        arc = cross(w, arm)
        gap = plus_times(gap, sense, plus(vector_of(pose.stage, body, POSITION), arm))
        speed = plus_times(speed, sense, plus(vector_of(pose.stage, body, VELOCITY), arc))
        pull = plus(cross(vector_of(pose.stage, body, SPIN_RATE), arm), cross(w, arc))
        rise = plus_times(rise, sense, plus(vector_of(pose.stage, body, ACCELERATION), pull))
    return gap, speed, rise


def is_redundant(g: Group) -> bool:
    """Whether there are more equations than unknowns; then no determinant tells the assembly modes apart."""
    return g.cuts.number > len(g.pose.x)


def choose_rows(g: Group, rows: Rows) -> int:
    """Choose the rows that are solved, where the bodies stand: a full set, the most independent first."""
    n, rods, number = len(g.pose.x), len(g.cuts.rod), len(rows.drive)
    total = rods + number
    matrix, chosen = rows.every, rows.chosen
    jacobian(g, rows, matrix, True)
    for k in range(number):
        g.memory.solved[k] = 0.0
    largest = 0.0
    for r in range(total):
        largest = max(largest, row_size(matrix, r))
    chosen[:] = 0.0
    count = 0
    for turn in range(2):
        while count < n:
            best, which = 1e-7 * largest, -1
            for r in range(total):
                must = r < rods or rows.drive[r - rods] >= 0
                size = row_size(matrix, r)
                if chosen[r] == 0.0 and must == (turn == 0) and size > best:
                    best, which = size, r
            if which < 0:
                break
            chosen[which] = 1.0
            count += 1
            for r in range(total):
                if chosen[r] == 0.0:
                    along = 0.0
                    for k in range(n):
                        along += matrix[r, k] * matrix[which, k]
                    for k in range(n):
                        matrix[r, k] -= along / (best * best) * matrix[which, k]
    for k in range(number):
        g.memory.solved[k] = chosen[rods + k]
    return count


def row_size(matrix: Floats, r: int) -> float:
    """Length of a row of a matrix."""
    square = 0.0
    for k in range(matrix.shape[1]):
        square += matrix[r, k] * matrix[r, k]
    return math.sqrt(square)
