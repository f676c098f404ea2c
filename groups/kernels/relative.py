"""A group in relative coordinates over a block of time steps: position, velocity, acceleration."""

from __future__ import annotations

import math
from typing import Any

from groups.kernels.following import POOR, follow
from groups.kernels.layout import (
    FACTORS,
    FRESH,
    RUN,
    SIGN,
    Group,
    Meeting,
    Rows,
    group_of,
    meeting_of,
    rows_of,
)
from groups.kernels.linear import substitute
from groups.kernels.loop_closure import choose_rows, closing_rates, gap_left, is_redundant, left_out
from groups.kernels.meeting import LARGE, solve_meeting
from groups.kernels.newton import MOST, Answer, approach, by_chord, linearise, place
from groups.kernels.newton import newton as iterate_newton
from groups.kernels.one_rod import solve_one_rod
from groups.kernels.path import is_counted, keep_known, predict, recall, remember, turn_on
from groups.kernels.tree import rise, swing, swing_known
from groups.kernels.vectors import ACCELERATION, ROTATION, SPIN, SPIN_RATE, VELOCITY, void
from groups.status import (
    BRANCH_JUMP,
    CONTACT_LOST,
    DROPPED,
    INTERPENETRATION,
    OK,
    PREDECESSOR_FAILED,
    SINGULAR,
)
from mbssa.arrays import Floats, Ints
from mbssa.compiled import merged

Inputs = tuple[Floats, Floats, Floats]

#: Condition below which a position has no rates.
FLAT = 1e-9


def solve_geared(
    group: int, ints: Ints, floats: Floats, S: Floats, first: int, count: int, inputs: Inputs, time: Floats,
    memory: Floats, work: Floats, quality: Any, level: int,
) -> None:  # fmt: skip
    """A group without unknowns, in the plane or in space; arguments as :mod:`groups.kernels` has them."""
    g = group_of(ints, floats, memory, work)
    solve(group, g, None, None, None, S, first, 0, count, inputs, time, quality, level)


def solve_closed_form(
    group: int, ints: Ints, floats: Floats, S: Floats, first: int, count: int, inputs: Inputs, time: Floats,
    memory: Floats, work: Floats, quality: Any, level: int,
) -> None:  # fmt: skip
    """One unknown and a rod, or three and a pin; arguments as :mod:`groups.kernels` has them."""
    g, meeting = group_of(ints, floats, memory, work), meeting_of(ints, work)
    solve(group, g, None, meeting, None, S, first, 0, count, inputs, time, quality, level)


def solve_cuts(
    group: int, ints: Ints, floats: Floats, S: Floats, first: int, count: int, inputs: Inputs, time: Floats,
    memory: Floats, work: Floats, quality: Any, level: int,
) -> None:  # fmt: skip
    """A group that pins and rods close, by Newton; arguments as :mod:`groups.kernels` has them."""
    g = group_of(ints, floats, memory, work)
    solve(group, g, None, None, True, S, first, 0, count, inputs, time, quality, level)


def solve_rows(
    group: int, ints: Ints, floats: Floats, S: Floats, first: int, count: int, inputs: Inputs, time: Floats,
    memory: Floats, work: Floats, quality: Any, level: int,
) -> None:  # fmt: skip
    """A group that any joint equations close, by Newton; arguments as :mod:`groups.kernels` has them."""
    g, rows = group_of(ints, floats, memory, work), rows_of(ints, floats, work)
    solve(group, g, rows, None, True, S, first, 0, count, inputs, time, quality, level)


def solve(
    group: int, g: Group, rows: Rows | None, meeting: Meeting | None, newton: bool | None,
    S: Floats, first: int, begin: int, count: int, inputs: Inputs, time: Floats, quality: Any, level: int,
) -> None:  # fmt: skip
    """Solve a group over a block of time steps, from step ``begin`` of it on, without its struts."""
    status, residual, iterations, condition = quality
    flags = g.equations.flags
    for k in range(len(flags)):
        flags[k] = 0.0
    n, redundant, touching = len(g.pose.x), is_redundant(g), False
    if rows is not None:
        touching = has_contact(rows)
    for t in range(begin, count):
        instant = first + t
        for k in range(len(g.pose.u)):
            g.pose.u[k] = inputs[0][k, instant]
        pace = time[instant] - time[instant - 1] if instant > 0 else 0.0
        found, steps, worst, sign, measure = PREDECESSOR_FAILED, 0, math.nan, 0.0, 0.0
        if enter(g, S, t, level):
            found, steps, worst, sign, measure = position(g, rows, meeting, newton, pace, instant)
            if rows is not None:  # noqa: SIM102 (compiled without rows, this branch is dropped whole)
                if found != OK and touching:
                    found, worst = explained(g, rows, found, worst)
            if found == OK and level > 0 and n > 0:
                if flags[FRESH] == 0.0:
                    sign, measure = linearise(g, rows)
                    flags[FRESH] = 1.0
                if measure < FLAT:
                    found = SINGULAR
            if found == OK and n > 0 and sign != g.memory.head[SIGN] and not redundant:
                found = BRANCH_JUMP
        if found == OK:
            if level > 0:
                solve_rates(g, rows, inputs, instant, level)
            if rows is not None:
                if level == 2 and not is_counted(g.memory, rows, pace):
                    found = BRANCH_JUMP
                if redundant:
                    found, worst = checked(g, rows, found, worst, measure)
        if found == OK:
            remember(g, rows, pace, level)
            leave(g, S, t, level)
        else:
            g.memory.head[RUN] = 0.0
            for k in range(len(g.tree.own)):
                void(S, g.tree.own[k], t)
        status[group, instant] = found
        residual[group, instant] = worst
        iterations[group, instant] = steps
        condition[group, instant] = measure


@merged
def position(
    g: Group, rows: Rows | None, meeting: Meeting | None, newton: bool | None, pace: float,
    instant: int,
) -> Answer:  # fmt: skip
    """Place the group's own bodies on the stage, where known bodies and inputs are as they should be."""
    recall(g, rows)
    if rows is not None:
        turn_on(g.memory, rows, pace)
    predict(g, pace)
    g.equations.flags[FRESH] = 0.0
    if meeting is not None:
        answer = solve_meeting(g, meeting) if len(g.pose.x) == 3 else solve_one_rod(g)
    elif newton is not None:
        answer = iterate(g, rows, instant)
    else:
        place(g.tree, g.pose, g.equations)
        answer = OK, 0, 0.0, 0.0, 1.0
    return answer


@merged
def iterate(g: Group, rows: Rows | None, instant: int) -> Answer:
    """Solve by the last factors, else by Newton; a large or lost step in pieces."""
    answer = by_chord(g, rows, instant)
    if answer[0] != OK:
        answer = iterate_newton(g, rows, MOST, False)
    jump = 0.0
    for k in range(len(g.pose.x)):
        jump = max(jump, abs(g.pose.x[k] - g.path.guess[k]) / g.tree.scale[k])
    turned_over = answer[3] != g.memory.head[SIGN] and not is_redundant(g)
    if answer[0] != OK or turned_over or jump > LARGE:
        g.equations.flags[FRESH] = 0.0
        answer = follow(g, rows)
    return answer


@merged
def solve_rates(g: Group, rows: Rows | None, inputs: Inputs, instant: int, level: int) -> None:
    """Velocities and accelerations of the own bodies, with the Jacobian that is factorised already."""
    equations, rates = g.equations, g.rates
    swing_known(g.tree, g.pose, rates)
    for k in range(len(rates.first)):
        rates.first[k], rates.second[k] = 0.0, 0.0
    if len(rates.first) == 0:
        swing(g.tree, g.pose, rates, inputs, instant, level)
        return
    swing(g.tree, g.pose, rates, inputs, instant, 1)
    closing_rates(g, rows, inputs, instant, 1)
    substitute(equations.matrix, equations.order, equations.right)
    for k in range(len(rates.first)):
        rates.first[k] = -g.tree.scale[k] * equations.right[k]
    swing(g.tree, g.pose, rates, inputs, instant, level)
    if level == 2:
        closing_rates(g, rows, inputs, instant, 2)
        substitute(equations.matrix, equations.order, equations.right)
        for k in range(len(rates.second)):
            rates.second[k] = -g.tree.scale[k] * equations.right[k]
        rise(g.tree, g.pose, equations, rates)


# --- contacts, and equations that are only checked ---------------------------------------------------


def has_contact(rows: Rows) -> bool:
    """Whether an equation is the gap of a contact."""
    found = False
    for k in range(len(rows.contact)):
        found = found or rows.contact[k] == 1
    return found


def explained(g: Group, rows: Rows, status: int, worst: float) -> tuple[int, float]:
    """Status and residual where nothing closes: of the contact that stays open, if one is the cause."""
    miss = approach(g, rows)
    if miss > g.cuts.limit[2]:
        return parted(status, gap_left(g, rows, True)), miss
    return status, worst


def checked(g: Group, rows: Rows, status: int, worst: float, measure: float) -> tuple[int, float]:
    """Status and residual with the equations that are only checked; where poor, others are solved."""
    miss = left_out(g, rows)
    worst = max(worst, miss)
    if status == OK and miss > g.cuts.limit[2]:
        status = parted(DROPPED, gap_left(g, rows, False))
    elif measure < POOR:
        choose_rows(g, rows)
        g.equations.flags[FACTORS] = 0.0
    return status, worst


def parted(status: int, gap: float) -> int:
    """A status that a contact explains, if its gap, m, is not 0."""
    if gap > 0.0:
        return CONTACT_LOST
    return INTERPENETRATION if gap < 0.0 else status


# --- the stage ---------------------------------------------------------------------------------------


def enter(g: Group, S: Floats, t: int, level: int) -> bool:
    """Bring the known bodies on the stage; False if one has no answer."""
    stage, sound = g.pose.stage, True
    for k in range(len(g.tree.known)):
        body = g.tree.known[k]
        if S[body, 0, t] != S[body, 0, t]:
            sound = False
        if g.tree.planar == 0:
            for m in range(VELOCITY + 6 * level):
                stage[k, m] = S[body, m, t]
            continue
        c, s = S[body, 2, t], S[body, 3, t]
        g.pose.turned[k] = S[body, 4, t]
        stage[k, 0], stage[k, 1] = S[body, 0, t], S[body, 1, t]
        stage[k, ROTATION], stage[k, ROTATION + 1], stage[k, ROTATION + 3] = c, -s, s
        stage[k, ROTATION + 4], stage[k, ROTATION + 8] = c, 1.0
        stage[k, VELOCITY], stage[k, VELOCITY + 1] = S[body, 5, t], S[body, 6, t]
        stage[k, ACCELERATION], stage[k, ACCELERATION + 1] = S[body, 8, t], S[body, 9, t]
        stage[k, SPIN + 2], stage[k, SPIN_RATE + 2] = S[body, 7, t], S[body, 10, t]
    return sound


def leave(g: Group, S: Floats, t: int, level: int) -> None:
    """Take the bodies of the tree from the stage to ``S``."""
    stage, known = g.pose.stage, len(g.tree.known)
    for link in range(len(g.tree.own)):
        body, k = g.tree.own[link], known + link
        if g.tree.planar == 0:
            for m in range(VELOCITY + 6 * level):
                S[body, m, t] = stage[k, m]
            continue
        S[body, 0, t], S[body, 1, t] = stage[k, 0], stage[k, 1]
        S[body, 2, t], S[body, 3, t] = stage[k, ROTATION], stage[k, ROTATION + 3]
        S[body, 4, t] = g.pose.turned[k]
        S[body, 5, t], S[body, 6, t] = stage[k, VELOCITY], stage[k, VELOCITY + 1]
        S[body, 7, t] = stage[k, SPIN + 2]
        S[body, 8, t], S[body, 9, t] = stage[k, ACCELERATION], stage[k, ACCELERATION + 1]
        S[body, 10, t] = stage[k, SPIN_RATE + 2]


def keep_known_of(g: Group, S: Floats, t: int, inputs: Inputs, instant: int) -> None:
    """Keep where the known bodies and inputs were at a time step."""
    enter(g, S, t, 0)
    for k in range(len(g.pose.u)):
        g.pose.u[k] = inputs[0][k, instant]
    keep_known(g)
