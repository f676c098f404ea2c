"""What closes a group: how far its cuts are open, by what unknowns they close, and how fast they open.

A *pin* holds a point of one body on a point of another, a *rod* at a distance from it, a *row* is any other
joint equation, as a jet. The Jacobian is analytic: what a unit rate of an unknown does to the points that
are compared. Rows may be more than are needed: those not ``SOLVED`` are only checked.
:mod:`groups.kernels.record` lays the data out.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from groups.kernels.jets import SIZE as JET
from groups.kernels.jets import WORK as JETS
from groups.kernels.jets import evaluate, shortest
from groups.kernels.record import (
    AXES,
    CENTRE,
    CODE,
    CURVES,
    FIRST_TERM,
    FOREIGN,
    INFLUENCE,
    JOINT,
    KIND,
    LOOKED,
    MATRIX,
    N_CURVES,
    N_FOREIGN,
    N_KNOWN,
    N_LINKS,
    N_PAIRS,
    N_PINS,
    N_RODS,
    N_ROWS,
    N_STEPS,
    N_TERMS,
    N_UNKNOWNS,
    NEAR,
    NEAR_FACTOR,
    NEAR_FROM,
    NEAR_ZERO,
    NUMBER,
    ORIGIN,
    PAIR,
    PIN,
    PIN_POINT,
    PLANAR,
    RIGHT,
    ROD,
    ROD_POINT,
    ROOM,
    ROW_CONTACT,
    ROW_DRIVE,
    ROW_SCALE,
    ROW_SIGN,
    ROW_ZERO,
    SCALE,
    SIZE,
    SLIDE,
    SOLVED,
    STAGE,
    STEP_AXIS,
    STEP_POINT,
    TABLE,
    TURNED,
    UNIT,
    UNKNOWN,
    VALUE,
    WEIGHT,
    P,
    R,
    U,
    V,
    X,
)
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
    dot,
    length,
    matrix_in,
    minus,
    plus,
    plus_times,
    put_in,
    rotate,
    times,
    unit,
    vector_in,
)

Array = Any

#: Share of the largest miss from which a contact counts as its cause.
CAUSE = 0.1


def point_of(ints: Array, work: Array, body: Any, numbers: Array, k: Any) -> Vector:
    """A point of a body on the stage, in the world; in the body's axes it begins at ``numbers[k]``."""
    at = ints[STAGE] + STATE * body
    arm = rotate(matrix_in(work, at + ROTATION), vector_in(numbers, k))
    return plus(vector_in(work, at + POSITION), arm)


def rod_length(ints: Array, floats: Array, work: Array, k: Any) -> Vector:
    """Length of a rod, m, and its first two derivatives by its input."""
    row, f = ints[ints[ROD] + 3 * k + 2], ints[ROD_POINT] + 9 * k + 6
    constant, linear, square = vector_in(floats, f)
    s = work[ints[U] + row] if row >= 0 else 0.0
    size = math.sqrt(max(constant + s * (linear + s * square), 0.0))
    slope = (0.5 * linear + s * square) / size
    return size, slope, (square - slope * slope) / size


def misses(ints: Array, floats: Array, work: Array, memory: Array) -> float:
    """What the cuts leave open, from RIGHT on, lengths over the size; returns the largest, or NaN.

    That is in m: angles count as arcs at the size.
    """
    right, worst = ints[RIGHT], 0.0
    per = 1.0 / floats[ints[SIZE]]
    width = 2 if ints[PLANAR] == 1 else 3
    for k in range(ints[N_PINS]):
        a, b, f = ints[ints[PIN] + 2 * k], ints[ints[PIN] + 2 * k + 1], ints[PIN_POINT] + 6 * k
        gap = minus(point_of(ints, work, b, floats, f + 3), point_of(ints, work, a, floats, f))
        for m in range(width):
            work[right + m] = per * gap[m]
            worst = max(worst, abs(work[right + m]))
        right += width
    for k in range(ints[N_RODS]):
        a, b, f = ints[ints[ROD] + 3 * k], ints[ints[ROD] + 3 * k + 1], ints[ROD_POINT] + 9 * k
        size, _, _ = rod_length(ints, floats, work, k)
        gap = minus(point_of(ints, work, b, floats, f + 3), point_of(ints, work, a, floats, f))
        work[right] = per * (length(gap) - size)
        worst = max(worst, abs(work[right]))
        right += 1
    if ints[N_ROWS] > 0:
        look(ints, floats, work)
        for k in range(ints[N_ROWS]):
            if memory[ints[SOLVED] + k] > 0.0:
                work[right] = floats[ints[ROW_SCALE] + k] * row_miss(ints, floats, work, k)
                worst = max(worst, abs(work[right]))
                right += 1
    # Comparisons lose NaN: say it aloud.
    for k in range(ints[RIGHT], right):
        if work[k] != work[k]:
            return math.nan
    total: float = worst * floats[ints[SIZE]]
    return total


def left_out(ints: Array, floats: Array, work: Array, memory: Array) -> float:
    """The largest miss of the rows that are only checked, m; angles as arcs at the size."""
    worst = 0.0
    if ints[N_ROWS] > 0:
        look(ints, floats, work)
        for k in range(ints[N_ROWS]):
            if memory[ints[SOLVED] + k] == 0.0:
                worst = max(worst, floats[ints[ROW_SCALE] + k] * abs(row_miss(ints, floats, work, k)))
    total: float = worst * floats[ints[SIZE]]
    return total


def gap_left(ints: Array, floats: Array, work: Array, memory: Array, solved: bool) -> float:
    """The gap of the contact that misses most, m, positive where its bodies are apart; 0 if none does.

    Of the rows that are solved, or of those that are only checked, by the jets of the last evaluation. A
    contact that misses far less than something else is not the cause: then 0 too.
    """
    worst, found = 0.0, 0.0
    if solved:
        for k in range(ints[RIGHT], ints[RIGHT] + ints[N_UNKNOWNS]):
            worst = max(worst, abs(work[k]))
    for k in range(ints[N_ROWS]):
        if (memory[ints[SOLVED] + k] > 0.0) == solved:
            miss = floats[ints[ROW_SCALE] + k] * row_miss(ints, floats, work, k)
            worst = max(worst, abs(miss))
            if ints[ints[ROW_CONTACT] + k] == 1 and abs(miss) > abs(found):
                found = miss
    gap: float = found * floats[ints[SIZE]]
    return gap if abs(found) >= CAUSE * worst else 0.0


def row_miss(ints: Array, floats: Array, work: Array, k: Any) -> float:
    """What joint equation k misses by its jets, m or rad."""
    first, stop = ints[ints[FIRST_TERM] + k], ints[ints[FIRST_TERM] + k + 1]
    miss: float = -floats[ints[ROW_ZERO] + k]
    for t in range(first, stop):
        miss += work[ints[TABLE] + JET * t]
    row = ints[ints[ROW_DRIVE] + k]
    if row >= 0:
        miss -= work[ints[U] + row]
        if stop == first + 1:
            miss = shortest(ints[ints[CODE] + first], miss)
    return miss


def look(ints: Array, floats: Array, work: Array) -> None:
    """Jets of all rows as the bodies stand, unless they are there already."""
    if work[ints[LOOKED]] == 0.0:
        evaluate_rows(ints, floats, work, False)


def evaluate_rows(ints: Array, floats: Array, work: Array, moving: bool) -> None:
    """Jets of all rows as the bodies stand and, with ``moving``, move on the stage, into TABLE."""
    stage, pairs, terms = ints[N_KNOWN] + ints[N_LINKS], ints[N_PAIRS], ints[N_TERMS]
    for b in range(stage):
        at = ints[STAGE] + STATE * b
        for m in range(3):
            work[ints[P] + 3 * b + m] = work[at + POSITION + m]
        for m in range(9):
            work[ints[R] + 9 * b + m] = work[at + ROTATION + m]
        for m in range(6):
            work[ints[V] + 6 * b + m] = work[at + VELOCITY + m]
    table = (
        ints[ints[PAIR] : ints[PAIR] + 2 * pairs].reshape(pairs, 2),
        floats[ints[ORIGIN] : ints[ORIGIN] + 6 * pairs].reshape(pairs, 2, 3),
        floats[ints[AXES] : ints[AXES] + 18 * pairs].reshape(pairs, 2, 3, 3),
        ints[ints[CODE] : ints[CODE] + terms],
        ints[ints[JOINT] : ints[JOINT] + terms],
        ints[ints[NUMBER] : ints[NUMBER] + 4 * terms].reshape(terms, 4),
        floats[ints[ROW_SIGN] : ints[ROW_SIGN] + terms],
        floats[ints[VALUE] : ints[VALUE] + terms],
        floats[ints[WEIGHT] : ints[WEIGHT] + terms],
        work[ints[NEAR] : ints[NEAR] + terms],
        floats[ints[CURVES] : ints[CURVES] + ints[N_CURVES]],
        work[ints[FOREIGN] : ints[FOREIGN] + ints[N_FOREIGN]],
    )
    for t in range(terms):
        of = ints[ints[NEAR_FROM] + t]
        if of != -1:
            counts = work[ints[X] + of] if of >= 0 else work[ints[U] - 2 - of]
            work[ints[NEAR] + t] = floats[ints[NEAR_FACTOR] + t] * counts - floats[ints[NEAR_ZERO] + t]
    evaluate(
        0, terms, table,
        work[ints[P] : ints[P] + 3 * stage].reshape(stage, 3),
        work[ints[R] : ints[R] + 9 * stage].reshape(stage, 3, 3),
        work[ints[V] : ints[V] + 6 * stage].reshape(stage, 6),
        work[ints[TURNED] : ints[TURNED] + stage],
        moving,
        work[ints[ROOM] : ints[ROOM] + JETS * JET].reshape(JETS, JET),
        work[ints[TABLE] : ints[TABLE] + JET * terms].reshape(terms, JET),
    )  # fmt: skip
    work[ints[LOOKED]] = 1.0


def slopes(ints: Array, floats: Array, work: Array, memory: Array, everything: bool) -> float:
    """Jacobian of the misses by the unknowns, over the scales of both, from MATRIX on.

    Returns the largest entry that could be. ``everything`` takes the rows that are only checked too: there
    must be room for them.
    """
    n, width = ints[N_UNKNOWNS], 2 if ints[PLANAR] == 1 else 3
    centre = vector_in(floats, ints[CENTRE])
    per = 1.0 / floats[ints[SIZE]]
    twist = ints[UNIT]
    for k in range(twist, twist + 6 * n):
        work[k] = 0.0
    for s in range(ints[N_STEPS]):
        k = ints[ints[UNKNOWN] + s]
        if k < 0:
            continue
        at = twist + 6 * k
        along = vector_in(work, ints[STEP_AXIS] + 3 * s)
        if ints[ints[KIND] + s] == SLIDE:
            put_in(work, at + 3, plus(vector_in(work, at + 3), along))
        else:
            moment = cross(along, minus(centre, vector_in(work, ints[STEP_POINT] + 3 * s)))
            put_in(work, at, plus(vector_in(work, at), along))
            put_in(work, at + 3, plus(vector_in(work, at + 3), moment))
    row, scale = ints[MATRIX], 1e-300
    for j in range(ints[N_PINS]):
        a, b, f = ints[ints[PIN] + 2 * j], ints[ints[PIN] + 2 * j + 1], ints[PIN_POINT] + 6 * j
        to_a = minus(point_of(ints, work, a, floats, f), centre)
        to_b = minus(point_of(ints, work, b, floats, f + 3), centre)
        for k in range(n):
            rate = times(per * floats[ints[SCALE] + k], parting(ints, work, k, a, b, to_a, to_b))
            for m in range(width):
                work[row + m * n + k] = rate[m]
                scale = max(scale, abs(rate[m]))
        row += width * n
    for j in range(ints[N_RODS]):
        a, b, f = ints[ints[ROD] + 3 * j], ints[ints[ROD] + 3 * j + 1], ints[ROD_POINT] + 9 * j
        to_a = minus(point_of(ints, work, a, floats, f), centre)
        to_b = minus(point_of(ints, work, b, floats, f + 3), centre)
        direction = unit(minus(to_b, to_a))
        for k in range(n):
            rate = times(per * floats[ints[SCALE] + k], parting(ints, work, k, a, b, to_a, to_b))
            work[row + k] = dot(direction, rate)
            scale = max(scale, length(rate))
        row += n
    if ints[N_ROWS] == 0:
        return scale
    look(ints, floats, work)
    for j in range(ints[N_ROWS]):
        if memory[ints[SOLVED] + j] == 0.0 and not everything:
            continue
        for k in range(n):
            total = 0.0
            for t in range(ints[ints[FIRST_TERM] + j], ints[ints[FIRST_TERM] + j + 1]):
                for side in range(2):
                    b = ints[ints[PAIR] + 2 * ints[ints[JOINT] + t] + side]
                    if ints[ints[INFLUENCE] + n * b + k] == 1:
                        w, v = vector_in(work, twist + 6 * k), vector_in(work, twist + 6 * k + 3)
                        at = minus(vector_in(work, ints[STAGE] + STATE * b + POSITION), centre)
                        jet = ints[TABLE] + JET * t + 1 + 6 * side
                        speed = plus(v, cross(w, at))
                        total += dot(vector_in(work, jet), speed) + dot(vector_in(work, jet + 3), w)
            work[row + k] = total * floats[ints[ROW_SCALE] + j] * floats[ints[SCALE] + k]
            scale = max(scale, abs(work[row + k]))
        row += n
    return scale


def parting(ints: Array, work: Array, k: Any, a: Any, b: Any, to_a: Vector, to_b: Vector) -> Vector:
    """Velocity of a point of body b less that of one of body a at a unit rate of unknown k."""
    n, at = ints[N_UNKNOWNS], ints[UNIT] + 6 * k
    w, v = vector_in(work, at), vector_in(work, at + 3)
    rate = (0.0, 0.0, 0.0)
    if ints[ints[INFLUENCE] + n * b + k] == 1:
        rate = plus(v, cross(w, to_b))
    if ints[ints[INFLUENCE] + n * a + k] == 1:
        rate = minus(rate, plus(v, cross(w, to_a)))
    return rate


def closing_rates(
    ints: Array, floats: Array, work: Array, memory: Array, inputs: Any, instant: Any, order: Any
) -> None:
    """First or second time derivative of the misses as the bodies move now, from RIGHT on."""
    per = 1.0 / floats[ints[SIZE]]
    right, width = ints[RIGHT], 2 if ints[PLANAR] == 1 else 3
    for k in range(ints[N_PINS]):
        _, speed, rise = apart(ints, floats, work, ints[PIN] + 2 * k, ints[PIN_POINT] + 6 * k)
        for m in range(width):
            work[right + m] = per * (speed[m] if order == 1 else rise[m])
        right += width
    for k in range(ints[N_RODS]):
        gap, speed, rise = apart(ints, floats, work, ints[ROD] + 3 * k, ints[ROD_POINT] + 9 * k)
        _, slope, bend = rod_length(ints, floats, work, k)
        row = ints[ints[ROD] + 3 * k + 2]
        rate = inputs[1][row, instant] if row >= 0 else 0.0
        second = inputs[2][row, instant] if row >= 0 else 0.0
        size = length(gap)
        along = dot(gap, speed) / size
        if order == 1:
            work[right] = along - slope * rate
        else:
            work[right] = (dot(gap, rise) + dot(speed, speed) - along * along) / size
            work[right] -= slope * second + bend * rate * rate
        work[right] *= per
        right += 1
    if ints[N_ROWS] == 0:
        return
    if order == 1:
        look(ints, floats, work)
    else:
        evaluate_rows(ints, floats, work, True)
    for k in range(ints[N_ROWS]):
        if memory[ints[SOLVED] + k] == 0.0:
            continue
        row = ints[ints[ROW_DRIVE] + k]
        total = 0.0
        if row >= 0:
            total -= inputs[1][row, instant] if order == 1 else inputs[2][row, instant]
        for t in range(ints[ints[FIRST_TERM] + k], ints[ints[FIRST_TERM] + k + 1]):
            jet = ints[TABLE] + JET * t
            if order == 2:
                total += work[jet + 13]
            for side in range(2):
                b = ints[ints[PAIR] + 2 * ints[ints[JOINT] + t] + side]
                at = ints[STAGE] + STATE * b + (VELOCITY if order == 1 else ACCELERATION)
                for m in range(6):
                    total += work[jet + 1 + 6 * side + m] * work[at + m]
        work[right] = total * floats[ints[ROW_SCALE] + k]
        right += 1


def apart(ints: Array, floats: Array, work: Array, pair: Any, points: Any) -> tuple[Vector, Vector, Vector]:
    """From a point of one body to one of another: distance vector, its rate, and its second derivative.

    Bodies begin at ``ints[pair]``, points at ``floats[points]``.
    """
    gap, speed, rise = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for side in range(2):
        at = ints[STAGE] + STATE * ints[pair + side]
        sense = 1.0 if side == 1 else -1.0
        arm = rotate(matrix_in(work, at + ROTATION), vector_in(floats, points + 3 * side))
        w = vector_in(work, at + SPIN)
        arc = cross(w, arm)
        gap = plus_times(gap, sense, plus(vector_in(work, at + POSITION), arm))
        speed = plus_times(speed, sense, plus(vector_in(work, at + VELOCITY), arc))
        pull = plus(cross(vector_in(work, at + SPIN_RATE), arm), cross(w, arc))
        rise = plus_times(rise, sense, plus(vector_in(work, at + ACCELERATION), pull))
    return gap, speed, rise


def is_redundant(ints: Array) -> bool:
    """Whether there are more equations than are needed; then no determinant tells the modes apart."""
    width = 2 if ints[PLANAR] == 1 else 3
    return bool(width * ints[N_PINS] + ints[N_RODS] + ints[N_ROWS] > ints[N_UNKNOWNS])


def choose_rows(ints: Array, floats: Array, work: Array, memory: Array) -> int:
    """Choose the rows that are solved, where the bodies stand: a full set, the most independent first.

    Rods and drives come before all others (they are never left out); returns how many equations there are
    then. By Gram-Schmidt with the longest remainder next.
    """
    n, rods, rows = ints[N_UNKNOWNS], ints[N_RODS], ints[N_ROWS]
    room = np.zeros(len(work) + (rods + rows) * n)
    room[: len(work)] = work
    # A matrix behind everything else has room for all rows.
    head = ints.copy()
    head[MATRIX] = len(work)
    slopes(head, floats, room, memory, True)
    for k in range(rows):
        memory[ints[SOLVED] + k] = 0.0
    matrix, total = len(work), rods + rows
    largest = 0.0
    for r in range(total):
        largest = max(largest, row_size(room, matrix + r * n, n))
    chosen = np.zeros(total, dtype=np.int64)
    count = 0
    for turn in range(2):
        while count < n:
            best, which = 1e-7 * largest, -1
            for r in range(total):
                must = r < rods or ints[ints[ROW_DRIVE] + r - rods] >= 0
                size = row_size(room, matrix + r * n, n)
                if chosen[r] == 0 and must == (turn == 0) and size > best:
                    best, which = size, r
            if which < 0:
                break
            chosen[which] = 1
            count += 1
            for r in range(total):
                if chosen[r] == 0:
                    along = 0.0
                    for k in range(n):
                        along += room[matrix + r * n + k] * room[matrix + which * n + k]
                    for k in range(n):
                        room[matrix + r * n + k] -= along / (best * best) * room[matrix + which * n + k]
    for k in range(rows):
        memory[ints[SOLVED] + k] = chosen[rods + k]
    return count


def row_size(room: Array, at: Any, n: Any) -> float:
    """Length of a row of n numbers."""
    square = 0.0
    for k in range(at, at + n):
        square += room[k] * room[k]
    return math.sqrt(square)
