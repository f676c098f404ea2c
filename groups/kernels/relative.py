"""A group in relative coordinates over a block of instants: position, rates, struts.

Known bodies come on a *stage*, the state of one instant in space; planar groups are staged in the plane
z = 0. :mod:`groups.kernels.record` lays the data out.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from groups.kernels.closing import (
    choose_rows,
    closing_rates,
    gap_left,
    is_redundant,
    left_out,
    slopes,
)
from groups.kernels.led import solve_led
from groups.kernels.linear import factorise, substitute
from groups.kernels.reach import is_simple, solve_reach
from groups.kernels.record import (
    FACTORS,
    FIRST,
    FRESH,
    KNOWN,
    MATRIX,
    N_INPUTS,
    N_KNOWN,
    N_LINKS,
    N_ROWS,
    N_STRUTS,
    N_UNKNOWNS,
    N_WORK,
    ORDER,
    OWN,
    PLANAR,
    RIGHT,
    ROW_CONTACT,
    RUN,
    SCALE,
    SECOND,
    SIGN,
    SIZE,
    STAGE,
    STRUT,
    STRUT_NUMBER,
    STRUT_SIGN,
    TURNED,
    U,
)
from groups.kernels.status import DROPPED, LIFTED, MODE_LOST, OK, PENETRATES, SINGULAR, WAITS
from groups.kernels.strut import CONDITION, LANES, RESIDUAL, SCRATCH, STATUS, cell, place
from groups.kernels.strut import FLOATS as STRUT_FLOATS
from groups.kernels.strut import INTS as STRUT_INTS
from groups.kernels.strut import SIGNS as STRUT_SIGNS
from groups.kernels.tree import rise, swing, swing_known
from groups.kernels.unknowns import POOR, approach, is_counted, position, remember
from groups.kernels.vectors import ACCELERATION, ROTATION, SPIN, SPIN_RATE, STATE, VELOCITY, void, void_planar

Array = Any

#: Condition below which a position has no rates.
FLAT = 1e-9


def solve_relative(
    group: int,
    ints: Array,
    floats: Array,
    S: Array,
    first: int,
    count: int,
    inputs: Any,
    time: Array,
    memory: Array,
    quality: Any,
    level: int,
) -> None:
    """Solve a group over a block of instants, as :mod:`groups.kernels` lays down."""
    if ints[N_UNKNOWNS] == 0 and ints[PLANAR] == 0 and ints[N_ROWS] == 0:
        solve_led(group, ints, floats, S, first, count, inputs, quality, level)
    elif is_simple(ints):
        solve_reach(group, ints, floats, S, first, count, inputs, memory, quality, level)
    else:
        solve_any(group, ints, floats, S, first, count, inputs, time, memory, quality, level)
    if ints[N_STRUTS] > 0:
        lay_struts(group, ints, floats, S, first, count, inputs, memory, quality, level)


def solve_any(
    group: int,
    ints: Array,
    floats: Array,
    S: Array,
    first: int,
    count: int,
    inputs: Any,
    time: Array,
    memory: Array,
    quality: Any,
    level: int,
) -> None:
    """Solve any group over a block of instants, without its struts."""
    status, residual, iterations, condition = quality
    work = np.zeros(ints[N_WORK])
    redundant, touching = is_redundant(ints), False
    for k in range(ints[N_ROWS]):
        touching = touching or ints[ints[ROW_CONTACT] + k] == 1
    for t in range(count):
        instant = first + t
        for k in range(ints[N_INPUTS]):
            work[ints[U] + k] = inputs[0][k, instant]
        pace = time[instant] - time[instant - 1] if instant > 0 else 0.0
        found, steps, worst, measure = WAITS, 0, math.nan, 0.0
        if enter(ints, S, t, work, level):
            found, steps, worst, sign, measure = position(ints, floats, work, memory, pace, instant)
            if found != OK and touching:
                # What cannot be closed at all is said of the contact that stays open.
                miss = approach(ints, floats, work, memory)
                if miss > floats[ints[SIZE] + 2]:
                    found, worst = parted(found, gap_left(ints, floats, work, memory, True)), miss
            if found == OK and level > 0 and ints[N_UNKNOWNS] > 0:
                if work[ints[FRESH]] == 0.0:
                    scale = slopes(ints, floats, work, memory, False)
                    sign, smallest = factorise(work, ints[MATRIX], ints[ORDER], ints[N_UNKNOWNS])
                    measure = smallest / scale
                    work[ints[FRESH]] = 1.0
                if measure < FLAT:
                    found = SINGULAR
            if found == OK and ints[N_UNKNOWNS] > 0 and sign != memory[SIGN] and not redundant:
                found = MODE_LOST
        if found == OK:
            if level > 0:
                rates(ints, floats, work, memory, inputs, instant, level)
            if level == 2 and not is_counted(ints, floats, work, memory, pace):
                found = MODE_LOST
            if redundant:
                miss = left_out(ints, floats, work, memory)
                worst = max(worst, miss)
                if found == OK and miss > floats[ints[SIZE] + 2]:
                    found = parted(DROPPED, gap_left(ints, floats, work, memory, False))
                elif measure < POOR:
                    choose_rows(ints, floats, work, memory)
                    work[ints[FACTORS]] = 0.0
        if found == OK:
            remember(ints, floats, work, memory, pace, level)
            leave(ints, work, S, t, level)
        else:
            memory[RUN] = 0.0
            for k in range(ints[N_LINKS]):
                if ints[PLANAR] == 0:
                    void(S, ints[ints[OWN] + k], t)
                else:
                    void_planar(S, ints[ints[OWN] + k], t)
        status[group, instant] = found
        residual[group, instant] = worst
        iterations[group, instant] = steps
        condition[group, instant] = measure


def parted(status: int, gap: float) -> int:
    """A status that a contact explains, if its gap, m, is not 0."""
    if gap > 0.0:
        return LIFTED
    return PENETRATES if gap < 0.0 else status


def rates(
    ints: Array, floats: Array, work: Array, memory: Array, inputs: Any, instant: int, level: int
) -> None:
    """Velocities and accelerations of the own bodies, with the Jacobian that is factorised already."""
    n, right = ints[N_UNKNOWNS], ints[RIGHT]
    swing_known(ints, floats, work)
    for k in range(n):
        work[ints[FIRST] + k], work[ints[SECOND] + k] = 0.0, 0.0
    swing(ints, floats, work, inputs, instant)
    if n == 0:
        return
    for order in range(1, level + 1):
        closing_rates(ints, floats, work, memory, inputs, instant, order)
        substitute(work, ints[MATRIX], ints[ORDER], n, right)
        to = ints[FIRST] if order == 1 else ints[SECOND]
        for k in range(n):
            work[to + k] = -floats[ints[SCALE] + k] * work[right + k]
        if order == 1:
            swing(ints, floats, work, inputs, instant)
        else:
            rise(ints, floats, work)


def enter(ints: Array, S: Array, t: int, work: Array, level: int) -> bool:
    """Bring the known bodies on the stage; False if one has no answer."""
    sound = True
    for k in range(ints[N_KNOWN]):
        body, at = ints[ints[KNOWN] + k], ints[STAGE] + STATE * k
        if ints[PLANAR] == 0:
            if S[body, t, 0] != S[body, t, 0]:
                sound = False
            for m in range(VELOCITY + 6 * level):
                work[at + m] = S[body, t, m]
            continue
        if S[body, 0, t] != S[body, 0, t]:
            sound = False
        c, s = S[body, 2, t], S[body, 3, t]
        work[ints[TURNED] + k] = S[body, 4, t]
        work[at], work[at + 1] = S[body, 0, t], S[body, 1, t]
        work[at + ROTATION], work[at + ROTATION + 1], work[at + ROTATION + 3] = c, -s, s
        work[at + ROTATION + 4], work[at + ROTATION + 8] = c, 1.0
        work[at + VELOCITY], work[at + VELOCITY + 1] = S[body, 5, t], S[body, 6, t]
        work[at + ACCELERATION], work[at + ACCELERATION + 1] = S[body, 8, t], S[body, 9, t]
        work[at + SPIN + 2], work[at + SPIN_RATE + 2] = S[body, 7, t], S[body, 10, t]
    return sound


def leave(ints: Array, work: Array, S: Array, t: int, level: int) -> None:
    """Take the bodies of the tree from the stage to ``S``."""
    for k in range(ints[N_LINKS]):
        body, at = ints[ints[OWN] + k], ints[STAGE] + STATE * (ints[N_KNOWN] + k)
        if ints[PLANAR] == 0:
            for m in range(VELOCITY + 6 * level):
                S[body, t, m] = work[at + m]
            continue
        S[body, 0, t], S[body, 1, t] = work[at], work[at + 1]
        S[body, 2, t], S[body, 3, t] = work[at + ROTATION], work[at + ROTATION + 3]
        S[body, 4, t] = work[ints[TURNED] + ints[N_KNOWN] + k]
        S[body, 5, t], S[body, 6, t] = work[at + VELOCITY], work[at + VELOCITY + 1]
        S[body, 7, t] = work[at + SPIN + 2]
        S[body, 8, t], S[body, 9, t] = work[at + ACCELERATION], work[at + ACCELERATION + 1]
        S[body, 10, t] = work[at + SPIN_RATE + 2]


def lay_struts(
    group: int,
    ints: Array,
    floats: Array,
    S: Array,
    first: int,
    count: int,
    inputs: Any,
    memory: Array,
    quality: Any,
    level: int,
) -> None:
    """Struts between bodies that stand already; each has a say in the group's status."""
    status, residual, _, condition = quality
    scratch = np.empty(SCRATCH)
    for k in range(ints[N_STRUTS]):
        for t in range(0, count, LANES):
            lanes = min(LANES, count - t)
            place(
                ints, ints[STRUT] + k * STRUT_INTS, floats, ints[STRUT_NUMBER] + k * STRUT_FLOATS, S, t,
                lanes, inputs, first + t, memory, ints[STRUT_SIGN] + k * STRUT_SIGNS, level, scratch,
            )  # fmt: skip
            for lane in range(lanes):
                at = first + t + lane
                if status[group, at] == OK:
                    status[group, at] = int(scratch[cell(STATUS, lane)])
                    residual[group, at] = max(residual[group, at], scratch[cell(RESIDUAL, lane)])
                    condition[group, at] = min(condition[group, at], scratch[cell(CONDITION, lane)])
