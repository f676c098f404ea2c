"""Data of the loop that finds tearing inputs, and the drives and predictions that its steps share."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from groups.kernels.jets import Rows, evaluate, shortest
from groups.kernels.linear import substitute
from groups.kernels.span import Data, load_planar, load_spatial
from groups.kernels.vectors import ACCELERATION, POSITION, ROTATION, VELOCITY
from mbssa.arrays import Floats, Ints
from mbssa.compiled import merged

Array = Any


class Loop(NamedTuple):
    """The loop of a model: m unknowns, s shared inputs."""

    #: Indices of the groups before the loop and in it, each after those that it needs.
    before: Ints
    inside: Ints
    #: Rows of the tearing inputs that are unknown (m,), and that are driven as well (s,).
    unknown: Ints
    shared: Ints
    #: Rows of the motion: drives to be met (m,), and those of the shared inputs (s,).
    wanted: Ints
    given: Ints
    #: (m,) scales of the unknowns and of the drives: the size for lengths.
    scale: Floats
    measure: Floats
    #: Bodies of the drives' joints, and the drives as coordinates of these.
    stage: Ints
    rows: Rows
    #: A good condition of each group (G,), and of the drives' Jacobian.
    usual: Floats
    regular: float
    #: Miss of a drive, over its scale, that counts as none.
    closed: float


class Problem(NamedTuple):
    """The loop and the motion of its drives."""

    loop: Loop
    planar: bool
    #: Groups before the loop and in it.
    groups: Ints
    #: (G,) condition of each group below which tearing inputs are no measure of its pose.
    close: Floats
    #: Misses of the drives' rates and accelerations that a last correction removes.
    near_1: float
    near_2: float
    #: Condition of the Jacobian from which on instants are filled.
    steady: float
    #: Value, rate, acceleration (D, T) of the drives, and time (T,).
    motion: Any
    time: Floats


class State(NamedTuple):
    """Solution, memory from instant to instant, and workspace of the groups at L lanes."""

    #: (7, m) rows of ``past``, values (s,) of the shared inputs then, (14,) places of ``mark`` and ``plan``.
    past: Floats
    past_shared: Floats
    mark: Floats
    plan: Ints
    #: States (N, ·, L), inputs of lanes (3 arrays), their time, quality of the groups (4 arrays), memory.
    states: Floats
    inputs: Any
    clock: Floats
    group_quality: Any
    trial: Floats
    #: The stage: positions, rotations, velocities; jets and their table.
    place: Floats
    turn: Floats
    twist: Floats
    jets: Floats
    table: Floats
    #: The drives' Jacobian (m, m) or its factors, their order (m,), right side (m,).
    jacobian: Floats
    order: Floats
    right: Floats
    #: (9, m) rows of ``now``; values of the shared inputs (s,).
    now: Floats
    level: Floats
    #: Inverse Jacobians at the last instant and at the end of what is filled (2, m, m); misses (3, m).
    inverse: Floats
    misses: Floats
    #: Value, rate, acceleration (D, T) of the tearing inputs.
    found: Any
    #: Status, group that failed or -1, residual, steps, condition, (T,) each.
    quality: Any


#: Rows of ``now``: unknowns, where they were before a step, where they were predicted, values that the drives
#: shall have, unknowns by another way, their last change, their rates, where they were before a piece, and
#: their accelerations.
U, BACK, GUESS, GOAL, OTHER, CHANGE, RATE, BEGUN, RISE = range(9)
#: Rows of ``past``: unknowns, rates, accelerations at the last instant and at the one before; drives.
U_1, RATE_1, RISE_1, U_2, RATE_2, RISE_2, GOAL_1 = range(7)
#: Places of ``mark``: the determinant's sign; instants solved in a row; time of the last and its pace; misses
#: of the predictions from rates and from values at the last; of the last look the miss, the condition and the
#: sign; how many instants the next look may be ahead, and how many are solved one by one before it; the last
#: instant's condition; miss at the last look at filled instants, over what is near; and the least condition
#: at the looks at an instant, negative with the other sign.
(
    SIGN, RUN, TIME, PACE, BY_RATES, BY_VALUES, WORST, CONDITION, TURNED, AHEAD, PATIENCE, STOOD, WAS, LEAST
) = range(14)  # fmt: skip
#: Places of ``plan``: what the groups are solved for; whether their own memory goes on; lanes; level; whether
#: the groups before the loop are solved too; Newton steps from one start, halvings, and steps in all; pieces
#: of the way (0: none, in one go), the present one, and whether another way has come to the end; group that
#: failed; the instant that is solved, those before it being filled; looks at these.
(
    PHASE, REAL, LANES, UP_TO, ANEW, STEP, HALVED, STEPS, PIECES, PIECE, HAVE, FAILED, TARGET, LOOKS
) = range(14)  # fmt: skip
#: Phases: the sign at the last pose, a look of Newton's, the instant's own rates, and instants being filled.
SIGNING, LOOKING, ADVANCING, FILLING = range(4)


# --- drives ------------------------------------------------------------------------------------------


def drive_residuals(problem: Problem, state: State, lane: int, moving: bool) -> float:
    """Jets of the drives at a lane; right sides of a Newton step, and the largest of them, NaN if one is."""
    S, place, turn, twist = state.states, state.place, state.turn, state.twist
    stage, rows, table, now = problem.loop.stage, problem.loop.rows, state.table, state.now
    m = now.shape[1]
    for k in range(len(stage)):
        body = stage[k]
        if problem.planar:
            c, s = S[body, 2, lane], S[body, 3, lane]
            place[k, 0], place[k, 1] = S[body, 0, lane], S[body, 1, lane]
            turn[k, 0, 0], turn[k, 0, 1], turn[k, 1, 0], turn[k, 1, 1], turn[k, 2, 2] = c, -s, s, c, 1.0
            twist[k, 0], twist[k, 1], twist[k, 5] = S[body, 5, lane], S[body, 6, lane], S[body, 7, lane]
            continue
        for i in range(3):
            place[k, i] = S[body, POSITION + i, lane]
            for j in range(3):
                turn[k, i, j] = S[body, ROTATION + 3 * i + j, lane]
        for i in range(6):
            twist[k, i] = S[body, VELOCITY + i, lane]
    # Drives that can be met by tearing inputs read no angles that count turns.
    evaluate(0, m, rows, place, turn, twist, rows[9], moving, state.jets, table)
    worst = 0.0
    for r in range(m):
        miss = shortest(rows[3][r], table[r, 0] - now[GOAL, r]) / problem.loop.measure[r]
        state.right[r] = miss
        if not abs(miss) < math.inf:
            return math.nan
        worst = max(worst, abs(miss))
    return worst


@merged
def along(problem: Problem, state: State, r: int, lane: int, level: int) -> float:
    """A drive's derivative by its bodies' poses times their velocity (level 1) or acceleration (2)."""
    S, table = state.states, state.table
    pair, joint = problem.loop.rows[0], problem.loop.rows[4]
    total = 0.0
    for side in range(2):
        body = problem.loop.stage[pair[joint[r], side]]
        first = 1 + 6 * side
        if problem.planar:
            at = 5 if level == 1 else 8
            total += table[r, first] * S[body, at, lane] + table[r, first + 1] * S[body, at + 1, lane]
            total += table[r, first + 5] * S[body, at + 2, lane]
        else:
            at = VELOCITY if level == 1 else ACCELERATION
            for i in range(6):
                total += table[r, first + i] * S[body, at + i, lane]
    return total


def invert(state: State, end: int) -> None:
    """The inverse of the Jacobian that is factorised, over the scales."""
    right, inverse = state.right, state.inverse
    m = len(right)
    for k in range(m):
        for r in range(m):
            right[r] = 1.0 if r == k else 0.0
        substitute(state.jacobian, state.order, right)
        for r in range(m):
            inverse[end, r, k] = right[r]


def missed_planar(
    first: int, stop: int, problem: Problem, state: State, row_of: Ints, outputs: Any, worst: Floats
) -> None:
    """Largest miss of the drives, over their scales, of stored poses; ``worst`` (T,) takes it."""
    for t in range(first, stop):
        load_planar(problem.loop.stage, row_of, outputs, state.states, t, 1)
        worst[t] = missed(t, problem, state)


def missed_spatial(
    first: int, stop: int, problem: Problem, state: State, row_of: Ints, outputs: Any, worst: Floats
) -> None:
    """As :func:`missed_planar`, in space."""
    for t in range(first, stop):
        load_spatial(problem.loop.stage, row_of, outputs, state.states, t, 1)
        worst[t] = missed(t, problem, state)


def missed(t: int, problem: Problem, state: State) -> float:
    """Largest miss of the drives at lane 0 at an instant."""
    set_goals(t, problem, state)
    return drive_residuals(problem, state, 0, False)


def set_goals(t: int, problem: Problem, state: State) -> None:
    """Set the values that the drives shall have to those of an instant."""
    for r in range(len(problem.loop.wanted)):
        state.now[GOAL, r] = problem.motion[0][problem.loop.wanted[r], t]


# --- from one instant to the next --------------------------------------------------------------------


def store(t: int, problem: Problem, state: State) -> None:
    """Write an instant's answer, and remember it."""
    unknown, scale, motion = problem.loop.unknown, problem.loop.scale, problem.motion
    now, past, mark = state.now, state.past, state.mark
    pace = problem.time[t] - mark[TIME] if mark[RUN] > 0.0 else 1.0
    value, rate, second = state.found
    by_rates, by_values = 0.0, 0.0
    for k in range(len(unknown)):
        row = unknown[k]
        by_rates = max(by_rates, abs(now[U, k] - by_hermite(past, mark, pace, k)) / scale[k])
        by_values = max(by_values, abs(now[U, k] - by_line(past, mark, pace, k)) / scale[k])
        value[row, t], rate[row, t], second[row, t] = now[U, k], now[RATE, k], now[RISE, k]
        for level in range(3):
            past[U_2 + level, k] = past[U_1 + level, k]
        past[U_1, k], past[RATE_1, k], past[RISE_1, k] = value[row, t], rate[row, t], second[row, t]
        past[GOAL_1, k] = motion[0][problem.loop.wanted[k], t]
    for k in range(len(problem.loop.shared)):
        state.past_shared[k] = motion[0][problem.loop.given[k], t]
    mark[BY_RATES], mark[BY_VALUES] = by_rates, by_values
    mark[PACE], mark[TIME], mark[STOOD] = pace, problem.time[t], mark[CONDITION]
    mark[RUN] += 1.0


def predict(past: Floats, mark: Floats, pace: float, now: Floats) -> None:
    """Lead the unknowns on, from their rates or from their values: by what was nearer at the last instant."""
    for k in range(now.shape[1]):
        if mark[BY_RATES] <= mark[BY_VALUES]:
            now[U, k] = by_hermite(past, mark, pace, k)
        else:
            now[U, k] = by_line(past, mark, pace, k)


def by_line(past: Floats, mark: Floats, pace: float, k: int) -> float:
    """The line through the last two values; the last if there are no two."""
    if mark[RUN] < 2.0:
        return float(past[U_1, k])
    return float(past[U_1, k] + pace / mark[PACE] * (past[U_1, k] - past[U_2, k]))


def by_hermite(past: Floats, mark: Floats, pace: float, k: int) -> float:
    """The polynomial of degree 5 through the last two values, rates and accelerations; else a parabola."""
    if mark[RUN] < 1.0:
        return float(past[U_1, k])
    if mark[RUN] < 2.0:
        return float(past[U_1, k] + pace * (past[RATE_1, k] + 0.5 * pace * past[RISE_1, k]))
    h, x = mark[PACE], pace / mark[PACE]
    a, b = past[RATE_1, k] * h, past[RISE_1, k] * h * h
    # What x³ (p + q x + r x²) has to be at x = -1, with its first two derivatives.
    miss = past[U_1, k] - a + 0.5 * b - past[U_2, k]
    slope = past[RATE_2, k] * h - a + b
    bend = past[RISE_2, k] * h * h - b
    r = 6.0 * miss - 3.0 * slope - 0.5 * bend
    q = 3.0 * miss - slope + 2.0 * r
    p = miss + q - r
    return float(past[U_1, k] + x * (a + x * (0.5 * b + x * (p + x * (q + x * r)))))


def copy_memory(data: Data, groups: Ints, source: Floats, target: Floats) -> None:
    """Copy the memory of some groups: their own to a trial's, or back."""
    for g in groups:
        for k in range(data.memory_start[g], data.memory_start[g + 1]):
            target[k] = source[k]
