"""Tearing inputs, compiled: an outer Newton finds those that give the real drives what they shall be."""

from __future__ import annotations

import math

from groups.kernels import torn_state as at
from groups.kernels.linear import factorise, substitute
from groups.kernels.span import Data, solve_groups
from groups.kernels.torn_filling import REFUSED, STRAY, correct_filled, plan_filling
from groups.kernels.torn_state import (
    Problem,
    State,
    along,
    copy_memory,
    drive_residuals,
    invert,
    predict,
    set_goals,
    store,
)
from groups.status import BRANCH_JUMP, NOT_CONVERGED, OK, SINGULAR

#: Result of Newton if the position must be solved again.
AGAIN = -1
#: Instants that are solved one by one after filling has failed.
REST = 8
#: Steps of the outer Newton, and how often one is halved that leads out of reach.
MOST, HALVINGS = 25, 12
#: Pieces into which a step is cut at most, how far one may lead, corrections that are looked at more
#: closely, and agreement of two ways; rad, or of the size.
FINEST, STRIDE, LARGE, SAME = 128, 0.3, 0.1, 1e-6
#: Condition of the Jacobian below which there is no step, and none for the rates.
NONE, FLAT_OUT = 1e-14, 1e-9


def solve_torn(first: int, stop: int, data: Data, problem: Problem, state: State) -> int:
    """Find the unknowns at instants ``first`` … ``stop`` - 1."""
    mark, plan = state.mark, state.plan
    t = first
    plan_next(t, stop, data, problem, state)
    while t < stop:
        solve_groups(
            problem.groups if plan[at.ANEW] == 1 else problem.loop.inside, data,
            data.memory if plan[at.REAL] == 1 else state.trial, state.states, 1, plan[at.LANES],
            plan[at.UP_TO], state.inputs, state.clock, state.group_quality,
        )  # fmt: skip
        after = assess(t, data, problem, state)
        if after < 0:
            return t
        if after == REFUSED:
            mark[at.AHEAD], mark[at.PATIENCE] = 1.0, REST
            after = t
            plan_next(t, stop, data, problem, state)
        elif t < after < stop:
            plan_next(after, stop, data, problem, state)
        t = after
    return t


# --- what the groups are solved for --------------------------------------------------------------------


def plan_next(first: int, stop: int, data: Data, problem: Problem, state: State) -> None:
    """Plan the first look at the next instant or one ahead; at the last pose if its sign is not known yet."""
    past, mark, plan, clock = state.past, state.mark, state.plan, state.clock
    t = first
    if mark[at.PATIENCE] > 0.0:
        mark[at.PATIENCE] -= 1.0
    elif mark[at.RUN] > 0.0 and mark[at.STOOD] >= problem.steady:
        t = min(first + int(mark[at.AHEAD]), stop) - 1
    plan[at.TARGET] = t
    pace = problem.time[t] - mark[at.TIME] if mark[at.RUN] > 0.0 else 1.0
    for lane in range(len(clock)):
        clock[lane] = lane * pace
    plan[at.STEPS], plan[at.FAILED] = 0, -1
    mark[at.WORST], mark[at.CONDITION], mark[at.LEAST] = math.nan, 0.0, math.inf
    if mark[at.SIGN] != 0.0:
        plan_newton(t, data, problem, state)
        return
    copy_memory(data, problem.groups, data.memory, state.trial)
    for k in range(len(problem.loop.unknown)):
        state.now[at.U, k], state.now[at.GOAL, k] = past[at.U_1, k], past[at.GOAL_1, k]
    for k in range(len(problem.loop.shared)):
        state.level[k] = state.past_shared[k]
    plan[at.PHASE] = at.SIGNING
    plan_look(t, problem, state, True)


def plan_newton(t: int, data: Data, problem: Problem, state: State) -> None:
    """Plan Newton from where the last instants lead."""
    now, plan = state.now, state.plan
    copy_memory(data, problem.groups, data.memory, state.trial)
    predict(state.past, state.mark, state.clock[1], now)
    for k in range(len(problem.loop.unknown)):
        now[at.GUESS, k] = now[at.U, k]
    set_goals(t, problem, state)
    for k in range(len(problem.loop.shared)):
        state.level[k] = problem.motion[0][problem.loop.given[k], t]
    plan[at.PHASE], plan[at.PIECES], plan[at.STEP], plan[at.HALVED] = at.LOOKING, 0, 0, 0
    plan_look(t, problem, state, True)


def plan_pieces(t: int, pieces: int, data: Data, problem: Problem, state: State) -> None:
    """Lead the drives from the last instant to this one in so many pieces."""
    now, plan = state.now, state.plan
    copy_memory(data, problem.groups, data.memory, state.trial)
    for k in range(len(problem.loop.unknown)):
        now[at.U, k], now[at.CHANGE, k] = state.past[at.U_1, k], 0.0
    plan[at.PIECES], plan[at.PIECE] = pieces, 0
    plan_piece(t, problem, state)


def plan_piece(t: int, problem: Problem, state: State) -> None:
    """Plan the next piece."""
    now, past, plan, value = state.now, state.past, state.plan, problem.motion[0]
    plan[at.PIECE] += 1
    plan[at.STEP], plan[at.HALVED] = 0, 0
    share = plan[at.PIECE] / plan[at.PIECES]
    for k in range(len(problem.loop.unknown)):
        goal = value[problem.loop.wanted[k], t]
        now[at.GOAL, k] = goal if share == 1.0 else past[at.GOAL_1, k] + share * (goal - past[at.GOAL_1, k])
        now[at.BEGUN, k] = now[at.U, k]
        now[at.U, k] += now[at.CHANGE, k]
    for k in range(len(problem.loop.shared)):
        goal, start = value[problem.loop.given[k], t], state.past_shared[k]
        state.level[k] = goal if share == 1.0 else start + share * (goal - start)
    plan_look(t, problem, state, True)


def plan_look(t: int, problem: Problem, state: State, anew: bool) -> None:
    """Plan the groups where the unknowns are, with the trial memory: pose and unit rates."""
    plan, lanes = state.plan, len(problem.loop.unknown) + 1
    set_inputs(t, problem, state, lanes)
    plan[at.REAL], plan[at.LANES], plan[at.UP_TO], plan[at.ANEW] = 0, lanes, 1, 1 if anew else 0


def plan_instant(t: int, problem: Problem, state: State) -> None:
    """Plan the instant itself: rates that the drives ask for, and u'' = 0; the groups' own memory goes on."""
    plan, right = state.plan, state.right
    for r in range(len(problem.loop.wanted)):
        by_shared = along(problem, state, r, 0, 1)
        right[r] = (problem.motion[1][problem.loop.wanted[r], t] - by_shared) / problem.loop.measure[r]
    substitute(state.jacobian, state.order, right)
    set_inputs(t, problem, state, 1)
    for k in range(len(problem.loop.unknown)):
        state.now[at.RATE, k] = right[k] * problem.loop.scale[k]
        state.inputs[1][problem.loop.unknown[k], 1] = state.now[at.RATE, k]
    plan[at.PHASE], plan[at.REAL], plan[at.LANES], plan[at.UP_TO], plan[at.ANEW] = at.ADVANCING, 1, 1, 2, 1


def set_inputs(t: int, problem: Problem, state: State, lanes: int) -> None:
    """Inputs of the lanes: 0 has the rates of the shared ones, the others one of an unknown, its scale."""
    motion = problem.motion
    value, rate, second = state.inputs
    for k in range(len(problem.loop.unknown)):
        row = problem.loop.unknown[k]
        for lane in range(lanes):
            value[row, lane + 1], rate[row, lane + 1], second[row, lane + 1] = state.now[at.U, k], 0.0, 0.0
        if k + 1 < lanes:
            rate[row, k + 2] = problem.loop.scale[k]
    for k in range(len(problem.loop.shared)):
        row, given = problem.loop.shared[k], problem.loop.given[k]
        for lane in range(lanes):
            value[row, lane + 1], rate[row, lane + 1], second[row, lane + 1] = state.level[k], 0.0, 0.0
        rate[row, 1], second[row, 1] = motion[1][given, t], motion[2][given, t]


# --- what follows from what was solved -------------------------------------------------------------------


def assess(first: int, data: Data, problem: Problem, state: State) -> int:
    """Assess what was solved, and plan what is next."""
    mark, phase = state.mark, state.plan[at.PHASE]
    status = group_fault(problem, state)
    if phase == at.FILLING:
        return correct_filled(first, data, problem, state) if status == OK else REFUSED
    if phase == at.ADVANCING:
        return assess_instant(first, status, data, problem, state)
    if status == OK:
        mark[at.WORST] = drive_residuals(problem, state, 0, False)
        linearise(problem, state)
    if phase == at.LOOKING:
        return assess_look(first, status, data, problem, state)
    if status == OK and not mark[at.CONDITION] > FLAT_OUT:
        status = SINGULAR
    if status != OK:
        return no_answer(state, status)
    mark[at.SIGN] = mark[at.TURNED]
    plan_newton(state.plan[at.TARGET], data, problem, state)
    return first


def assess_instant(first: int, status: int, data: Data, problem: Problem, state: State) -> int:
    """Assess the instant with its own rates, as :func:`assess`: it is done, or those before it are filled."""
    mark, t = state.mark, state.plan[at.TARGET]
    if status == OK:
        status = second_rates(t, problem, state)
    if t > first:
        return first if status == OK and plan_filling(first, data, problem, state) else REFUSED
    if status != OK:
        return no_answer(state, status)
    invert(state, 0)
    store(t, problem, state)
    if mark[at.PATIENCE] == 0.0:
        mark[at.AHEAD] = max(mark[at.AHEAD], 2.0)
    report(state, OK)
    return int(t + 1)


def assess_look(first: int, status: int, data: Data, problem: Problem, state: State) -> int:
    """Assess a look of Newton's, as :func:`assess`."""
    mark, plan, t = state.mark, state.plan, state.plan[at.TARGET]
    if status == OK:
        mark[at.LEAST] = min(mark[at.LEAST], mark[at.TURNED] * mark[at.SIGN] * mark[at.CONDITION])
    status = newton(status, problem, state)
    if status == AGAIN:
        plan_look(t, problem, state, False)
        return first
    if status == OK and mark[at.TURNED] != mark[at.SIGN]:
        status = BRANCH_JUMP
    if plan[at.PIECES] == 0:
        jump = 0.0
        for k in range(len(problem.loop.unknown)):
            jump = max(jump, abs(state.now[at.U, k] - state.now[at.GUESS, k]) / problem.loop.scale[k])
            state.now[at.OTHER, k] = math.nan
        done = status == OK and jump <= LARGE
        if t > first and not (done and jump <= STRAY and mark[at.CONDITION] >= problem.steady):
            return REFUSED
        if not done:
            plan[at.HAVE] = 0
            plan_pieces(t, 2, data, problem, state)
            return first
    else:
        status, goes_on = end_of_piece(status, problem, state)
        if goes_on:
            plan_piece(t, problem, state)
            return first
        done = agrees(problem, state) and status == OK and plan[at.HAVE] == 1
        if not done:
            plan[at.HAVE] = 1 if status == OK else 0
            if 2 * plan[at.PIECES] > FINEST:
                status = BRANCH_JUMP if status == OK else status
                if status in (BRANCH_JUMP, NOT_CONVERGED) and mark[at.LEAST] < problem.steady:
                    status = SINGULAR  # a dead point, and beyond it nothing or the other way back
                return no_answer(state, status)
            plan_pieces(t, 2 * plan[at.PIECES], data, problem, state)
            return first
    if not mark[at.CONDITION] > FLAT_OUT:
        return no_answer(state, SINGULAR)
    plan_instant(t, problem, state)
    if t > first:
        copy_memory(data, problem.groups, data.memory, state.trial)
        plan[at.REAL] = 0
    return first


def end_of_piece(status: int, problem: Problem, state: State) -> tuple[int, bool]:
    """Status at the end of a piece, where a change that is too long is a jump; whether there is another."""
    now, far = state.now, 0.0
    for k in range(len(problem.loop.unknown)):
        now[at.CHANGE, k] = now[at.U, k] - now[at.BEGUN, k]
        far = max(far, abs(now[at.CHANGE, k]) / problem.loop.scale[k])
    if status == OK and not far <= STRIDE:
        status = BRANCH_JUMP
    return status, status == OK and state.plan[at.PIECE] < state.plan[at.PIECES]


def agrees(problem: Problem, state: State) -> bool:
    """Whether the unknowns are those that the way in half as many pieces led to; they are remembered."""
    now, apart = state.now, 0.0
    for k in range(len(problem.loop.unknown)):
        gap = abs(now[at.U, k] - now[at.OTHER, k]) / problem.loop.scale[k]
        apart = gap if not gap <= apart else apart
        now[at.OTHER, k] = now[at.U, k]
    return apart <= SAME


def no_answer(state: State, status: int) -> int:
    """Report that an instant has no answer; -1."""
    report(state, status)
    state.mark[at.RUN] = 0.0
    return -1


def report(state: State, status: int) -> None:
    """Write what became of an instant."""
    quality, mark, plan = state.quality, state.mark, state.plan
    t = plan[at.TARGET]
    quality[0][t], quality[1][t] = status, plan[at.FAILED]
    quality[2][t], quality[3][t], quality[4][t] = mark[at.WORST], plan[at.STEPS], mark[at.CONDITION]


def group_fault(problem: Problem, state: State) -> int:
    """The worst that became of the groups at all lanes; ``plan[FAILED]`` is the group, or -1."""
    plan, status, condition = state.plan, state.group_quality[0], state.group_quality[3]
    plan[at.FAILED] = -1
    groups = problem.groups if plan[at.ANEW] == 1 else problem.loop.inside
    for g in groups:
        for lane in range(plan[at.LANES]):
            if status[g, lane + 1] != OK:
                plan[at.FAILED] = g
                return int(status[g, lane + 1])
    lanes = plan[at.LANES] if plan[at.PHASE] == at.FILLING else 1
    for g in problem.loop.inside:
        for lane in range(lanes):
            if condition[g, lane + 1] < problem.close[g]:
                plan[at.FAILED] = g
                return SINGULAR
    return OK


def newton(status: int, problem: Problem, state: State) -> int:
    """A step of the unknowns from what a look has found: AGAIN, OK or a fault."""
    now, right, mark, plan = state.now, state.right, state.mark, state.plan
    m = len(right)
    if status != OK:
        if plan[at.STEP] == 0 or plan[at.HALVED] >= HALVINGS:
            return status
        plan[at.HALVED] += 1
        for k in range(m):
            now[at.U, k] = 0.5 * (now[at.U, k] + now[at.BACK, k])
        return AGAIN
    if mark[at.WORST] != mark[at.WORST] or not mark[at.CONDITION] > NONE:
        return SINGULAR if mark[at.WORST] == mark[at.WORST] else NOT_CONVERGED
    substitute(state.jacobian, state.order, right)
    largest = 0.0
    for k in range(m):
        if not abs(right[k]) < math.inf:
            return NOT_CONVERGED
        largest = max(largest, abs(right[k]))
    done = mark[at.WORST] <= problem.loop.closed
    if not done and plan[at.STEP] >= MOST:
        return NOT_CONVERGED
    share = 1.0 if largest <= 0.5 else 0.5 / largest
    for k in range(m):
        now[at.BACK, k] = now[at.U, k]
        now[at.U, k] -= share * right[k] * problem.loop.scale[k]
    if done:
        return OK
    plan[at.STEP] += 1
    plan[at.STEPS] += 1
    return AGAIN


def linearise(problem: Problem, state: State) -> None:
    """Factorise the Jacobian: rates of the drives at the lanes of unit rates, over the scales."""
    jacobian, largest = state.jacobian, 0.0
    for r in range(len(jacobian)):
        over = 1.0 / problem.loop.measure[r]
        for k in range(len(jacobian)):
            jacobian[r, k] = over * along(problem, state, r, k + 1, 1)
            largest = max(largest, abs(jacobian[r, k]))
    state.mark[at.TURNED], smallest, _ = factorise(jacobian, state.order)
    state.mark[at.CONDITION] = smallest / max(1.0, largest)


def second_rates(t: int, problem: Problem, state: State) -> int:
    """u'' from what the drives do at u'' = 0; a status."""
    right = state.right
    state.mark[at.WORST] = drive_residuals(problem, state, 0, True)
    if not state.mark[at.WORST] <= 100.0 * problem.loop.closed:
        return BRANCH_JUMP
    for r in range(len(problem.loop.wanted)):
        second = problem.motion[2][problem.loop.wanted[r], t] - state.table[r, 13]
        second -= along(problem, state, r, 0, 2)
        right[r] = second / problem.loop.measure[r]
    substitute(state.jacobian, state.order, right)
    for k in range(len(problem.loop.unknown)):
        state.now[at.RISE, k] = right[k] * problem.loop.scale[k]
    return OK
