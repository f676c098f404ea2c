"""Borrowed inputs, compiled: an outer Newton finds those that give the real drives what they shall be.

The groups are solved for *borrowed* inputs u, by the kernels of :mod:`groups.kernels.span`. Each drive is a
coordinate of two bodies, a row of :mod:`groups.kernels.jets`. At an instant the groups are solved at several
*lanes* at once: all stand in the pose of u, lane 0 with the rates of the shared inputs alone, the others each
with a unit rate of one unknown. So the lanes' velocities are the exact Jacobian of the drives by the
unknowns; with its factors u' and u'' follow level by level.

Whatever calls the groups' kernels takes as long to compile as these. So one loop calls them, in one place:
``plan`` says what they shall solve next, and :func:`judge` what follows from it.

Lane k is instant k + 1 of small arrays of inputs; their instant 0 is the one before. What is kept from one
instant to the next stands in ``past`` and ``mark``, and in the groups' own memory.
"""

from __future__ import annotations

import math
from typing import Any

from groups.kernels.jets import Rows, evaluate, shortest
from groups.kernels.linear import factorise, substitute
from groups.kernels.span import load_planar, load_spatial, solve_planar_any, solve_spatial
from groups.kernels.status import MODE_LOST, NOT_CONVERGED, OK, SINGULAR
from groups.kernels.vectors import ACCELERATION, POSITION, ROTATION, VELOCITY

Array = Any
#: ints, int_start, floats, float_start, memory, memory_start, code of :mod:`groups.kernels.span`
Data = Any
#: Whether planar; groups before the loop, groups in it, both; of the borrowed inputs the rows that are
#: unknown (m,) and those that are shared (s,); rows of the motion that are wanted (m,) and those that are
#: shared (s,); scales of the unknowns and of the drives (m,); bodies on the stage; condition of each group
#: (G,) below which borrowed inputs are no measure of its pose any more; miss that counts as none.
Task = Any
PLANE, BEFORE, INSIDE, ALL, UNKNOWN, SHARED, WANTED, GIVEN, SCALE, MEASURE, STAGE, CLOSE, CLOSED = range(13)
#: States (N, m + 2, K); inputs (3 arrays); time; quality; trial memory; stage P, R, V; jets and their table;
#: the Jacobian, the order of its rows and the right side in one flat array; ``now``; values of the shared
#: inputs; and what :mod:`groups.kernels.span` keeps, which is nothing here.
Bench = Any
STATES, INPUTS, CLOCK, QUALITY, TRIAL, P, R, V, JETS, TABLE, FLAT, NOW, LEVEL, KEPT, OUTPUTS = range(15)

#: Rows of ``now`` (8, m): unknowns, where they were before a step, where they were led to, what the drives
#: shall be, unknowns by another way, their last change, their rates, where they were before a piece.
U, BACK, GUESS, GOAL, OTHER, CHANGE, RATE, BEGUN = range(8)
#: Rows of ``past`` (7, m): unknowns, rates, accelerations at the last instant and at the one before; drives.
U_1, RATE_1, RISE_1, U_2, RATE_2, RISE_2, GOAL_1 = range(7)
#: Places of ``mark`` (9,): the determinant's sign; instants solved in a row; time of the last and its pace;
#: what the prediction from rates and that from values missed at the last; and of the last look the miss, the
#: condition and the sign.
SIGN, RUN, TIME, PACE, BY_RATES, BY_VALUES, WORST, CONDITION, TURNED = range(9)
#: Places of ``plan`` (12,): what the groups are solved for; whether their own memory goes on; lanes; level;
#: whether the groups before the loop are solved too; Newton steps from one start, halvings, and steps in all;
#: pieces of the way (0: none, in one go), the present one, and whether another way has come to the end.
PHASE, REAL, LANES, UP_TO, ANEW, STEP, HALVED, STEPS, PIECES, PIECE, HAVE, FAILED = range(12)
#: Phases: the sign at the last pose, a look of Newton's, and the instant's own rates.
SIGNING, LOOKING, ADVANCING = range(3)
#: What Newton says if it has to look again.
AGAIN = -1

#: Steps of the outer Newton, and how often one is halved that leads out of reach.
MOST, HALVINGS = 25, 12
#: Pieces into which a step is cut at most, how far one may lead, corrections that are looked at more
#: closely, and agreement of two ways; rad, or of the size.
FINEST, STRIDE, LARGE, SAME = 128, 0.3, 0.1, 1e-6
#: Condition of the Jacobian below which there is no step, and none for the rates.
NONE, FLAT_OUT = 1e-14, 1e-9


def torn_planar(
    first: int, stop: int, level: int, data: Data, task: Task, rows: Rows, motion: Any, time: Array,
    past: Array, past_shared: Array, mark: Array, plan: Array, bench: Bench, found: Any, quality: Any,
) -> int:  # fmt: skip
    """As :func:`torn_spatial`, in the plane."""
    ints, int_start, floats, float_start, memory, memory_start, code = data
    t = first
    ask(t, data, task, motion, time, past, past_shared, mark, plan, bench)
    while t < stop:
        own = memory if plan[REAL] == 1 else bench[TRIAL]
        packed = (ints, int_start, floats, float_start, own, memory_start, code)
        solve_planar_any(
            task[ALL] if plan[ANEW] == 1 else task[INSIDE], packed, bench[STATES],
            (1, 1 + plan[LANES], plan[UP_TO]), bench[INPUTS], bench[CLOCK], bench[QUALITY], bench[KEPT],
            bench[OUTPUTS],
        )  # fmt: skip
        after = judge(
            t, level, data, task, rows, motion, time, past, past_shared, mark, plan, bench, found, quality
        )
        if after < 0:
            return t
        if t < after < stop:
            ask(after, data, task, motion, time, past, past_shared, mark, plan, bench)
        t = after
    return t


def torn_spatial(
    first: int, stop: int, level: int, data: Data, task: Task, rows: Rows, motion: Any, time: Array,
    past: Array, past_shared: Array, mark: Array, plan: Array, bench: Bench, found: Any, quality: Any,
) -> int:  # fmt: skip
    """Find the unknowns at instants ``first`` … ``stop`` - 1; returns the first that has no answer, or stop.

    Parameters
    ----------
    level : the last level that is wanted of u
    motion : value, rate, acceleration (D, T) of the drives; ``time`` (T,)
    past : (7, m), past_shared (s,) and mark (9,): the last instant that was solved; go on with the instants
    plan : (12,) room
    found : value, rate, acceleration (D, T) of the borrowed inputs, to be written
    quality : status, group that failed or -1, residual, steps, condition, (T,) each
    """
    ints, int_start, floats, float_start, memory, memory_start, code = data
    t = first
    ask(t, data, task, motion, time, past, past_shared, mark, plan, bench)
    while t < stop:
        own = memory if plan[REAL] == 1 else bench[TRIAL]
        packed = (ints, int_start, floats, float_start, own, memory_start, code)
        solve_spatial(
            task[ALL] if plan[ANEW] == 1 else task[INSIDE], packed, bench[STATES],
            (1, 1 + plan[LANES], plan[UP_TO]), bench[INPUTS], bench[CLOCK], bench[QUALITY], bench[KEPT],
            bench[OUTPUTS],
        )  # fmt: skip
        after = judge(
            t, level, data, task, rows, motion, time, past, past_shared, mark, plan, bench, found, quality
        )
        if after < 0:
            return t
        if t < after < stop:
            ask(after, data, task, motion, time, past, past_shared, mark, plan, bench)
        t = after
    return t


def ask(
    t: int, data: Data, task: Task, motion: Any, time: Array, past: Array, past_shared: Array, mark: Array,
    plan: Array, bench: Bench,
) -> None:  # fmt: skip
    """Plan the first look at an instant: at the last pose, where its sign is not known yet."""
    clock, now = bench[CLOCK], bench[NOW]
    pace = time[t] - mark[TIME] if mark[RUN] > 0.0 else 1.0
    for lane in range(len(clock)):
        clock[lane] = lane * pace
    plan[STEPS], plan[FAILED] = 0, -1
    mark[WORST], mark[CONDITION] = math.nan, 0.0
    if mark[SIGN] != 0.0:
        begin(t, data, task, motion, past, mark, plan, bench)
        return
    copy_memory(data, task, bench[TRIAL])
    for k in range(now.shape[1]):
        now[U, k], now[GOAL, k] = past[U_1, k], past[GOAL_1, k]
    for k in range(len(past_shared)):
        bench[LEVEL][k] = past_shared[k]
    plan[PHASE] = SIGNING
    look(t, task, motion, plan, bench, True)


def begin(
    t: int, data: Data, task: Task, motion: Any, past: Array, mark: Array, plan: Array, bench: Bench
) -> None:
    """Plan Newton from where the last instants lead."""
    wanted, given, now = task[WANTED], task[GIVEN], bench[NOW]
    pace = bench[CLOCK][1]
    copy_memory(data, task, bench[TRIAL])
    predict(past, mark, pace, now)
    for k in range(now.shape[1]):
        now[GUESS, k] = now[U, k]
        now[GOAL, k] = motion[0][wanted[k], t]
    for k in range(len(given)):
        bench[LEVEL][k] = motion[0][given[k], t]
    plan[PHASE], plan[PIECES], plan[STEP], plan[HALVED] = LOOKING, 0, 0, 0
    look(t, task, motion, plan, bench, True)


def judge(
    t: int, level: int, data: Data, task: Task, rows: Rows, motion: Any, time: Array, past: Array,
    past_shared: Array, mark: Array, plan: Array, bench: Bench, found: Any, quality: Any,
) -> int:  # fmt: skip
    """What follows from what was solved: t to solve what is planned next, t + 1, or -1 for no answer."""
    scale, now = task[SCALE], bench[NOW]
    m = now.shape[1]
    status = fault(task, plan, bench)
    if plan[PHASE] == ADVANCING:
        if status == OK:
            status = advanced(t, level, task, rows, motion, mark, bench)
        if status == OK:
            keep(t, task, motion, time, past, past_shared, mark, bench, found)
        report(t, status, mark, plan, quality)
        return t + 1 if status == OK else -1
    if status == OK:
        mark[WORST] = drives(task, rows, bench, False)
        jacobian(task, rows, bench)
        mark[TURNED], mark[CONDITION] = factors(bench[FLAT], m)
    if plan[PHASE] == SIGNING:
        if status == OK and not mark[CONDITION] > FLAT_OUT:
            status = SINGULAR
        if status != OK:
            report(t, status, mark, plan, quality)
            return -1
        mark[SIGN] = mark[TURNED]
        begin(t, data, task, motion, past, mark, plan, bench)
        return t
    status = newton(status, task, mark, plan, bench)
    if status == AGAIN:
        look(t, task, motion, plan, bench, False)
        return t
    if status == OK and mark[TURNED] != mark[SIGN]:
        status = MODE_LOST
    if plan[PIECES] == 0:
        jump = 0.0
        for k in range(m):
            jump = max(jump, abs(now[U, k] - now[GUESS, k]) / scale[k])
            now[OTHER, k] = math.nan
        done = status == OK and jump <= LARGE
        if not done:
            plan[HAVE] = 0
            set_out(t, 2, data, task, motion, past, past_shared, plan, bench)
            return t
    else:
        far = 0.0
        for k in range(m):
            now[CHANGE, k] = now[U, k] - now[BEGUN, k]
            far = max(far, abs(now[CHANGE, k]) / scale[k])
        if status == OK and not far <= STRIDE:
            status = MODE_LOST
        if status == OK and plan[PIECE] < plan[PIECES]:
            go_on(t, task, motion, past, past_shared, plan, bench)
            return t
        apart = 0.0
        for k in range(m):
            gap = abs(now[U, k] - now[OTHER, k]) / scale[k]
            apart = gap if not gap <= apart else apart
            now[OTHER, k] = now[U, k]
        done = status == OK and plan[HAVE] == 1 and apart <= SAME
        if not done:
            plan[HAVE] = 1 if status == OK else 0
            if 2 * plan[PIECES] > FINEST:
                report(t, MODE_LOST if status == OK else status, mark, plan, quality)
                return -1
            set_out(t, 2 * plan[PIECES], data, task, motion, past, past_shared, plan, bench)
            return t
    if not mark[CONDITION] > FLAT_OUT:
        report(t, SINGULAR, mark, plan, quality)
        return -1
    go_through(t, level, task, rows, motion, plan, bench)
    return t


def report(t: int, status: int, mark: Array, plan: Array, quality: Any) -> None:
    """Write what became of an instant."""
    quality[0][t], quality[1][t] = status, plan[FAILED]
    quality[2][t], quality[3][t], quality[4][t] = mark[WORST], plan[STEPS], mark[CONDITION]
    if status != OK:
        mark[RUN] = 0.0


def fault(task: Task, plan: Array, bench: Bench) -> int:
    """The worst that became of the groups at all lanes; ``plan[FAILED]`` is the group, or -1."""
    status, condition = bench[QUALITY][0], bench[QUALITY][3]
    plan[FAILED] = -1
    groups = task[ALL] if plan[ANEW] == 1 else task[INSIDE]
    for g in groups:
        for lane in range(plan[LANES]):
            if status[g, lane + 1] != OK:
                plan[FAILED] = g
                return int(status[g, lane + 1])
    for g in task[INSIDE]:
        if condition[g, 1] < task[CLOSE][g]:
            plan[FAILED] = g
            return SINGULAR
    return OK


# --- Newton, and a way in pieces -----------------------------------------------------------------------


def newton(status: int, task: Task, mark: Array, plan: Array, bench: Bench) -> int:
    """A step of the unknowns from what a look has found: AGAIN, OK or a fault.

    A step that leads out of reach is halved. Where the drives are met the last, tiny correction needs no
    other look.
    """
    scale, flat, now = task[SCALE], bench[FLAT], bench[NOW]
    m = now.shape[1]
    right = m * m + m
    if status != OK:
        if plan[STEP] == 0 or plan[HALVED] >= HALVINGS:
            return status
        plan[HALVED] += 1
        for k in range(m):
            now[U, k] = 0.5 * (now[U, k] + now[BACK, k])
        return AGAIN
    if mark[WORST] != mark[WORST] or not mark[CONDITION] > NONE:
        return SINGULAR if mark[WORST] == mark[WORST] else NOT_CONVERGED
    substitute(flat, 0, m * m, m, right)
    largest = 0.0
    for k in range(m):
        if not abs(flat[right + k]) < math.inf:
            return NOT_CONVERGED
        largest = max(largest, abs(flat[right + k]))
    done = mark[WORST] <= task[CLOSED]
    if not done and plan[STEP] >= MOST:
        return NOT_CONVERGED
    share = 1.0 if largest <= 0.5 else 0.5 / largest
    for k in range(m):
        now[BACK, k] = now[U, k]
        now[U, k] -= share * flat[right + k] * scale[k]
    if done:
        return OK
    plan[STEP] += 1
    plan[STEPS] += 1
    return AGAIN


def set_out(
    t: int, pieces: int, data: Data, task: Task, motion: Any, past: Array, past_shared: Array, plan: Array,
    bench: Bench,
) -> None:  # fmt: skip
    """Lead the drives from the last instant to this one in so many pieces."""
    now = bench[NOW]
    copy_memory(data, task, bench[TRIAL])
    for k in range(now.shape[1]):
        now[U, k], now[CHANGE, k] = past[U_1, k], 0.0
    plan[PIECES], plan[PIECE] = pieces, 0
    go_on(t, task, motion, past, past_shared, plan, bench)


def go_on(
    t: int, task: Task, motion: Any, past: Array, past_shared: Array, plan: Array, bench: Bench
) -> None:
    """Plan the next piece."""
    wanted, given, now = task[WANTED], task[GIVEN], bench[NOW]
    plan[PIECE] += 1
    plan[STEP], plan[HALVED] = 0, 0
    share = plan[PIECE] / plan[PIECES]
    for k in range(now.shape[1]):
        goal = motion[0][wanted[k], t]
        now[GOAL, k] = goal if share == 1.0 else past[GOAL_1, k] + share * (goal - past[GOAL_1, k])
        now[BEGUN, k] = now[U, k]
        now[U, k] += now[CHANGE, k]
    for k in range(len(given)):
        goal = motion[0][given[k], t]
        bench[LEVEL][k] = goal if share == 1.0 else past_shared[k] + share * (goal - past_shared[k])
    look(t, task, motion, plan, bench, True)


def factors(flat: Array, m: int) -> tuple[float, float]:
    """Factorise the Jacobian, over the scales: the determinant's sign and the smallest pivot.

    A borrowed input moves a drive by the order of 1, so that a pivot is compared with 1 if all are smaller.
    """
    largest = 0.0
    for k in range(m * m):
        largest = max(largest, abs(flat[k]))
    sign, smallest = factorise(flat, 0, m * m, m)
    return sign, smallest / max(1.0, largest)


# --- looks -------------------------------------------------------------------------------------------


def look(t: int, task: Task, motion: Any, plan: Array, bench: Bench, anew: bool) -> None:
    """Plan the groups where the unknowns are, with the trial memory: pose and unit rates.

    ``anew`` solves the groups before the loop, too: shared inputs have changed.
    """
    lanes = bench[NOW].shape[1] + 1
    set_inputs(t, task, motion, bench, lanes)
    plan[REAL], plan[LANES], plan[UP_TO], plan[ANEW] = 0, lanes, 1, 1 if anew else 0


def go_through(t: int, level: int, task: Task, rows: Rows, motion: Any, plan: Array, bench: Bench) -> None:
    """Plan the instant itself: rates that the drives ask for, and u'' = 0; the groups' own memory goes on."""
    scale, measure, flat, now = task[SCALE], task[MEASURE], bench[FLAT], bench[NOW]
    stage, planar = task[STAGE], task[PLANE]
    S, table, pair, joint = bench[STATES], bench[TABLE], rows[0], rows[4]
    m = now.shape[1]
    right = m * m + m
    rates = 5 if planar else VELOCITY
    for r in range(m):
        by_shared = along(planar, stage, S, table, pair, joint, r, 0, rates)
        flat[right + r] = (motion[1][task[WANTED][r], t] - by_shared) / measure[r]
    substitute(flat, 0, m * m, m, right)
    set_inputs(t, task, motion, bench, 1)
    for k in range(m):
        now[RATE, k] = flat[right + k] * scale[k]
        bench[INPUTS][1][task[UNKNOWN][k], 1] = now[RATE, k]
    plan[PHASE], plan[REAL], plan[LANES], plan[UP_TO], plan[ANEW] = ADVANCING, 1, 1, max(level, 1), 1


def advanced(t: int, level: int, task: Task, rows: Rows, motion: Any, mark: Array, bench: Bench) -> int:
    """u'' from what the drives do at u'' = 0, on the right side; a status."""
    flat, stage, planar = bench[FLAT], task[STAGE], task[PLANE]
    S, table, pair, joint = bench[STATES], bench[TABLE], rows[0], rows[4]
    m = bench[NOW].shape[1]
    right = m * m + m
    accelerations = 8 if planar else ACCELERATION
    mark[WORST] = drives(task, rows, bench, True)
    if not mark[WORST] <= 100.0 * task[CLOSED]:
        return MODE_LOST
    for r in range(m):
        second = 0.0
        if level > 1:
            second = motion[2][task[WANTED][r], t] - table[r, 13]
            second -= along(planar, stage, S, table, pair, joint, r, 0, accelerations)
        flat[right + r] = second / task[MEASURE][r]
    substitute(flat, 0, m * m, m, right)
    return OK


def jacobian(task: Task, rows: Rows, bench: Bench) -> None:
    """Rates of the drives at the lanes of unit rates, over the scales."""
    flat, measure, stage, planar = bench[FLAT], task[MEASURE], task[STAGE], task[PLANE]
    S, table, pair, joint = bench[STATES], bench[TABLE], rows[0], rows[4]
    m = bench[NOW].shape[1]
    rates = 5 if planar else VELOCITY
    for r in range(m):
        over = 1.0 / measure[r]
        for k in range(m):
            flat[r * m + k] = over * along(planar, stage, S, table, pair, joint, r, k + 1, rates)


def set_inputs(t: int, task: Task, motion: Any, bench: Bench, lanes: int) -> None:
    """Inputs of the lanes: 0 has the rates of the shared ones, the others one of an unknown, its scale."""
    unknown, shared, given, scale = task[UNKNOWN], task[SHARED], task[GIVEN], task[SCALE]
    now, standing = bench[NOW], bench[LEVEL]
    value, rate, second = bench[INPUTS]
    for k in range(len(unknown)):
        row = unknown[k]
        for lane in range(lanes):
            value[row, lane + 1], rate[row, lane + 1], second[row, lane + 1] = now[U, k], 0.0, 0.0
        if k + 1 < lanes:
            rate[row, k + 2] = scale[k]
    for k in range(len(shared)):
        row = shared[k]
        for lane in range(lanes):
            value[row, lane + 1], rate[row, lane + 1], second[row, lane + 1] = standing[k], 0.0, 0.0
        rate[row, 1], second[row, 1] = motion[1][given[k], t], motion[2][given[k], t]


def drives(task: Task, rows: Rows, bench: Bench, moving: bool) -> float:
    """Jets of the drives at lane 0; right sides of a Newton step, and the largest of them, NaN if one is."""
    S, place, turn, twist = bench[STATES], bench[P], bench[R], bench[V]
    stage, table, flat, now = task[STAGE], bench[TABLE], bench[FLAT], bench[NOW]
    m = now.shape[1]
    for k in range(len(stage)):
        state = S[stage[k], 0]
        if task[PLANE]:
            c, s = state[2], state[3]
            place[k, 0], place[k, 1] = state[0], state[1]
            turn[k, 0, 0], turn[k, 0, 1], turn[k, 1, 0], turn[k, 1, 1], turn[k, 2, 2] = c, -s, s, c, 1.0
            twist[k, 0], twist[k, 1], twist[k, 5] = state[5], state[6], state[7]
            continue
        for i in range(3):
            place[k, i] = state[POSITION + i]
            for j in range(3):
                turn[k, i, j] = state[ROTATION + 3 * i + j]
        for i in range(6):
            twist[k, i] = state[VELOCITY + i]
    evaluate(0, m, rows, place, turn, twist, moving, bench[JETS], table)
    worst = 0.0
    for r in range(m):
        miss = shortest(rows[3][r], table[r, 0] - now[GOAL, r]) / task[MEASURE][r]
        flat[m * m + m + r] = miss
        if not abs(miss) < math.inf:
            return math.nan
        worst = max(worst, abs(miss))
    return worst


def along(
    planar: bool, stage: Array, S: Array, table: Array, pair: Array, joint: Array, r: int, lane: int, at: int
) -> float:
    """A drive's derivative times what begins at a place of its two bodies' states.

    Arrays one by one: a tuple of them is copied at every call.
    """
    total = 0.0
    for side in range(2):
        body = stage[pair[joint[r], side]]
        first = 1 + 6 * side
        if planar:
            total += table[r, first] * S[body, lane, at] + table[r, first + 1] * S[body, lane, at + 1]
            total += table[r, first + 5] * S[body, lane, at + 2]
        else:
            for i in range(6):
                total += table[r, first + i] * S[body, lane, at + i]
    return total


# --- from one instant to the next --------------------------------------------------------------------


def keep(
    t: int, task: Task, motion: Any, time: Array, past: Array, past_shared: Array, mark: Array, bench: Bench,
    found: Any,
) -> None:  # fmt: skip
    """Write an instant's answer, and remember it."""
    unknown, shared, scale, now, flat = task[UNKNOWN], task[SHARED], task[SCALE], bench[NOW], bench[FLAT]
    pace = bench[CLOCK][1]
    m = now.shape[1]
    right = m * m + m
    value, rate, second = found
    by_rates, by_values = 0.0, 0.0
    for k in range(m):
        row = unknown[k]
        by_rates = max(by_rates, abs(now[U, k] - by_hermite(past, mark, pace, k)) / scale[k])
        by_values = max(by_values, abs(now[U, k] - by_line(past, mark, pace, k)) / scale[k])
        value[row, t], rate[row, t] = now[U, k], now[RATE, k]
        second[row, t] = flat[right + k] * scale[k]
        for level in range(3):
            past[U_2 + level, k] = past[U_1 + level, k]
        past[U_1, k], past[RATE_1, k], past[RISE_1, k] = value[row, t], rate[row, t], second[row, t]
        past[GOAL_1, k] = motion[0][task[WANTED][k], t]
    for k in range(len(shared)):
        past_shared[k] = motion[0][task[GIVEN][k], t]
    mark[BY_RATES], mark[BY_VALUES] = by_rates, by_values
    mark[PACE], mark[TIME] = pace, time[t]
    mark[RUN] += 1.0


def predict(past: Array, mark: Array, pace: float, now: Array) -> None:
    """Lead the unknowns on, from their rates or from their values: by what was nearer at the last instant."""
    for k in range(now.shape[1]):
        if mark[BY_RATES] <= mark[BY_VALUES]:
            now[U, k] = by_hermite(past, mark, pace, k)
        else:
            now[U, k] = by_line(past, mark, pace, k)


def by_line(past: Array, mark: Array, pace: float, k: int) -> float:
    """The line through the last two values; the last if there are no two."""
    if mark[RUN] < 2.0:
        return float(past[U_1, k])
    return float(past[U_1, k] + pace / mark[PACE] * (past[U_1, k] - past[U_2, k]))


def by_hermite(past: Array, mark: Array, pace: float, k: int) -> float:
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


def copy_memory(data: Data, task: Task, target: Array) -> None:
    """The groups' own memory, of those before the loop and in it."""
    memory, start = data[4], data[5]
    for g in task[ALL]:
        for k in range(start[g], start[g + 1]):
            target[k] = memory[k]


# --- the answer --------------------------------------------------------------------------------------


def missed_planar(
    first: int, stop: int, task: Task, rows: Rows, motion: Any, bench: Bench, row_of: Array, outputs: Any,
    worst: Array,
) -> None:  # fmt: skip
    """Largest miss of the drives, over their scales, of stored poses; ``worst`` (T,) takes it."""
    for t in range(first, stop):
        load_planar(task[STAGE], row_of, outputs, bench[STATES], t, 1)
        worst[t] = missed(t, task, rows, motion, bench)


def missed_spatial(
    first: int, stop: int, task: Task, rows: Rows, motion: Any, bench: Bench, row_of: Array, outputs: Any,
    worst: Array,
) -> None:  # fmt: skip
    """As :func:`missed_planar`, in space."""
    for t in range(first, stop):
        load_spatial(task[STAGE], row_of, outputs, bench[STATES], t, 1)
        worst[t] = missed(t, task, rows, motion, bench)


def missed(t: int, task: Task, rows: Rows, motion: Any, bench: Bench) -> float:
    """Largest miss of the drives at lane 0 at an instant."""
    for k in range(len(task[WANTED])):
        bench[NOW][GOAL, k] = motion[0][task[WANTED][k], t]
    return drives(task, rows, bench, False)
