"""Instants between two that the loop of tearing inputs has solved: a polynomial that is corrected."""

from __future__ import annotations

import math
from typing import Any

from groups.kernels import torn_state as at
from groups.kernels.span import Data
from groups.kernels.torn_state import (
    Problem,
    State,
    along,
    copy_memory,
    drive_residuals,
    invert,
    set_goals,
    store,
)
from groups.status import OK

#: Result if instants cannot be interpolated.
REFUSED = 1 << 60
#: Instants that are filled at once, the last one with them, at most.
WIDEST = 32
#: Looks at what is filled, how much less each has to miss than the last, how far the unknowns may be from
#: where they were predicted, and by how much the inverse Jacobian may change on the way.
REPEATED, FALLING, STRAY, BENT = 6, 0.2, 0.01, 0.3


def plan_filling(first: int, data: Data, problem: Problem, state: State) -> bool:
    """Plan a look at the instants up to the one that was solved; False if the Jacobian is too far another."""
    invert(state, 1)
    if not inverse_change(state.inverse) <= BENT:
        return False
    now, past, mark, plan, clock = state.now, state.past, state.mark, state.plan, state.clock
    motion, time = problem.motion, problem.time
    value, rate, second = state.inputs
    last = plan[at.TARGET]
    wide = time[last] - mark[at.TIME]
    lanes = last + 1 - first
    clock[0] = mark[at.TIME]
    for lane in range(1, lanes + 1):
        clock[lane] = time[first + lane - 1]
    over = 1.0 / wide
    for k in range(len(problem.loop.unknown)):
        row = problem.loop.unknown[k]
        # u + a x + b x² / 2 + x³ (p + q x + r x²) goes from the last instant, x = 0, to the other, x = 1.
        start, a, b = past[at.U_1, k], past[at.RATE_1, k] * wide, past[at.RISE_1, k] * wide * wide
        miss = now[at.U, k] - start - a - 0.5 * b
        slope = now[at.RATE, k] * wide - a - b
        bend = now[at.RISE, k] * wide * wide - b
        p = 10.0 * miss - 4.0 * slope + 0.5 * bend
        q = -15.0 * miss + 7.0 * slope - bend
        r = 6.0 * miss - 3.0 * slope + 0.5 * bend
        for lane in range(1, lanes):
            x = (clock[lane] - mark[at.TIME]) * over
            value[row, lane] = start + x * (a + x * (0.5 * b + x * (p + x * (q + x * r))))
            rate[row, lane] = over * (a + x * (b + x * (3.0 * p + x * (4.0 * q + x * 5.0 * r))))
            second[row, lane] = over * over * (b + x * (6.0 * p + x * (12.0 * q + x * 20.0 * r)))
        value[row, lanes], rate[row, lanes], second[row, lanes] = (
            now[at.U, k],
            now[at.RATE, k],
            now[at.RISE, k],
        )
    for k in range(len(problem.loop.shared)):
        row, given = problem.loop.shared[k], problem.loop.given[k]
        for lane in range(1, lanes + 1):
            t = first + lane - 1
            value[row, lane], rate[row, lane] = motion[0][given, t], motion[1][given, t]
            second[row, lane] = motion[2][given, t]
    plan[at.PHASE], plan[at.REAL], plan[at.LANES], plan[at.UP_TO], plan[at.ANEW] = at.FILLING, 0, lanes, 2, 1
    plan[at.LOOKS], mark[at.WAS] = 0, math.inf
    copy_memory(data, problem.groups, data.memory, state.trial)
    return True


def inverse_change(inverse: Any) -> float:
    """Largest change of the inverse Jacobian (2, m, m) between the ends, over its largest entry."""
    m = inverse.shape[1]
    largest, apart = 0.0, 0.0
    for r in range(m):
        for k in range(m):
            largest = max(largest, abs(inverse[0, r, k]))
            apart = max(apart, abs(inverse[1, r, k] - inverse[0, r, k]))
    return apart / largest


def correct_filled(first: int, data: Data, problem: Problem, state: State) -> int:
    """Correct what is filled by what the drives miss."""
    unknown, now, mark, plan, quality = problem.loop.unknown, state.now, state.mark, state.plan, state.quality
    lanes, last = plan[at.LANES], plan[at.TARGET]
    plan[at.LOOKS] += 1
    near, far = 0.0, 0.0
    for lane in range(1, lanes + 1):
        miss, most = correct_instant(first, lane, problem, state)
        if not miss < math.inf:
            return REFUSED
        quality[2][first + lane - 1] = miss
        near, far = max(near, miss / problem.loop.closed, most), max(far, miss)
    if near > 1.0:
        if plan[at.LOOKS] == REPEATED or far > STRAY or near > FALLING * mark[at.WAS]:
            return REFUSED
        mark[at.WAS] = near
        copy_memory(data, problem.groups, data.memory, state.trial)
        return first
    for k in range(len(unknown)):
        row = unknown[k]
        for lane in range(1, lanes + 1):
            for level in range(3):
                state.found[level][row, first + lane - 1] = state.inputs[level][row, lane]
        now[at.U, k], now[at.RATE, k] = state.inputs[0][row, lanes], state.inputs[1][row, lanes]
        now[at.RISE, k] = state.inputs[2][row, lanes]
    for lane in range(lanes):
        share = (lane + 1.0) / lanes
        quality[0][first + lane], quality[1][first + lane] = OK, -1
        quality[3][first + lane] = plan[at.LOOKS] - 1
        quality[4][first + lane] = mark[at.STOOD] + share * (mark[at.CONDITION] - mark[at.STOOD])
    quality[3][last] += plan[at.STEPS]
    for r in range(len(unknown)):
        for k in range(len(unknown)):
            state.inverse[0, r, k] = state.inverse[1, r, k]
    store(last, problem, state)
    copy_memory(data, problem.groups, state.trial, data.memory)
    if plan[at.LOOKS] <= 3 and lanes >= mark[at.AHEAD]:
        mark[at.AHEAD] = min(2.0 * mark[at.AHEAD], WIDEST)
    elif plan[at.LOOKS] > 4:
        mark[at.AHEAD] = max(2.0, 0.5 * mark[at.AHEAD])
    return int(last + 1)


def correct_instant(first: int, lane: int, problem: Problem, state: State) -> tuple[float, float]:
    """Correct the unknowns of a lane. Returns what the drives missed, and their rates over what is near."""
    unknown, wanted, scale = problem.loop.unknown, problem.loop.wanted, problem.loop.scale
    motion, time, table, misses, inverse = (
        problem.motion, problem.time, state.table, state.misses, state.inverse
    )  # fmt: skip
    m, t = len(unknown), first + lane - 1
    set_goals(t, problem, state)
    miss, most = drive_residuals(problem, state, lane - 1, True), 0.0
    for r in range(m):
        over = 1.0 / problem.loop.measure[r]
        first_miss = over * (table[r, 14] - motion[1][wanted[r], t])
        second_miss = table[r, 13] + along(problem, state, r, lane - 1, 2)
        second_miss = over * (second_miss - motion[2][wanted[r], t])
        misses[0, r], misses[1, r], misses[2, r] = state.right[r], first_miss, second_miss
        most = max(most, abs(first_miss) / problem.near_1, abs(second_miss) / problem.near_2)
        if not abs(first_miss) + abs(second_miss) < math.inf:
            return math.nan, math.nan
    share = (time[t] - state.mark[at.TIME]) / (time[state.plan[at.TARGET]] - state.mark[at.TIME])
    for k in range(m):
        by_0, by_1, by_2 = 0.0, 0.0, 0.0
        for r in range(m):
            entry = inverse[0, k, r] + share * (inverse[1, k, r] - inverse[0, k, r])
            by_0 += entry * misses[0, r]
            by_1 += entry * misses[1, r]
            by_2 += entry * misses[2, r]
        row = unknown[k]
        state.inputs[0][row, lane] -= scale[k] * by_0
        state.inputs[1][row, lane] -= scale[k] * by_1
        state.inputs[2][row, lane] -= scale[k] * by_2
    return miss, most
