"""Borrowed inputs, compiled: an outer Newton finds those that give the real drives what they shall be.

The groups are solved for *borrowed* inputs u, by the kernels of :mod:`groups.kernels.span`. Each drive is a
coordinate of two bodies, a row of :mod:`groups.kernels.jets`. At an instant the groups are solved at several
*lanes* at once: all stand in the pose of u, lane 0 with the rates of the shared inputs alone, the others each
with a unit rate of one unknown. So the lanes' velocities are the exact Jacobian of the drives by the
unknowns; with its factors u' and u'' follow level by level.

Whatever calls the groups' kernels takes as long to compile as these. So one loop calls them, in one place:
``plan`` says what they shall solve next, and :func:`judge` what follows from it.

Where all goes smoothly only every so many instants are solved like this. Those between two of them are
*filled*: a polynomial leads through values, rates and accelerations at both ends, the groups are solved at
all these instants at once, and what the drives miss, at the three levels, is taken away by the inverse
Jacobian, led along a line from one end to the other. It is not exact, so that this is repeated until nothing
is missed; it takes two looks, and a look at many instants costs little more than one at few.

Lane k is instant k + 1 of small arrays of inputs; their instant 0 is the one before. What is kept from one
instant to the next stands in ``past`` and ``mark``, and in the groups' own memory.
"""

from __future__ import annotations

import math
from typing import Any

from groups.kernels.jets import Rows, evaluate, shortest
from groups.kernels.linear import factorise, substitute
from groups.kernels.span import Data, load_planar, load_spatial, solve_groups
from groups.kernels.status import MODE_LOST, NOT_CONVERGED, OK, SINGULAR
from groups.kernels.vectors import ACCELERATION, POSITION, ROTATION, VELOCITY

Array = Any
#: Whether planar; groups before the loop, groups in it, both; of the borrowed inputs the rows that are
#: unknown (m,) and those that are shared (s,); rows of the motion that are wanted (m,) and those that are
#: shared (s,); scales of the unknowns and of the drives (m,); bodies on the stage; condition of each group
#: (G,) below which borrowed inputs are no measure of its pose any more; miss that counts as none; misses of
#: rates and accelerations, over the drives' scales, that a last correction takes away; condition of the
#: Jacobian from which instants are filled.
Task = Any
(
    PLANE, BEFORE, INSIDE, ALL, UNKNOWN, SHARED, WANTED, GIVEN, SCALE, MEASURE, STAGE, CLOSE, CLOSED, NEAR_1,
    NEAR_2, STEADY,
) = range(16)  # fmt: skip
#: States (N, L + 1, K) of L lanes; inputs (3 arrays); time; quality; trial memory; stage P, R, V; jets and
#: their table; the Jacobian, the order of its rows and the right side in one flat array; ``now``; values of
#: the shared inputs; what :mod:`groups.kernels.span` keeps, which is nothing here; inverse Jacobians at the
#: last instant and at the end of what is filled (2, m, m); misses at three levels (3, m).
Bench = Any
(
    STATES, INPUTS, CLOCK, QUALITY, TRIAL, P, R, V, JETS, TABLE, FLAT, NOW, LEVEL, KEPT, OUTPUTS, INVERSE,
    MISSES,
) = range(17)  # fmt: skip

#: Rows of ``now`` (9, m): unknowns, where they were before a step, where they were led to, what the drives
#: shall be, unknowns by another way, their last change, their rates, where they were before a piece, and
#: their accelerations.
U, BACK, GUESS, GOAL, OTHER, CHANGE, RATE, BEGUN, RISE = range(9)
#: Rows of ``past`` (7, m): unknowns, rates, accelerations at the last instant and at the one before; drives.
U_1, RATE_1, RISE_1, U_2, RATE_2, RISE_2, GOAL_1 = range(7)
#: Places of ``mark`` (14,): the determinant's sign; instants solved in a row; time of the last and its pace;
#: what the prediction from rates and that from values missed at the last; and of the last look the miss, the
#: condition and the sign; how many instants the next look may be ahead, and how many are solved one by one
#: before it; the last instant's condition; what the last look at filled instants missed, over what is near;
#: and the least condition at the looks at an instant, negative with the other sign.
(
    SIGN, RUN, TIME, PACE, BY_RATES, BY_VALUES, WORST, CONDITION, TURNED, AHEAD, PATIENCE, STOOD, WAS, LEAST
) = range(14)  # fmt: skip
#: Places of ``plan`` (14,): what the groups are solved for; whether their own memory goes on; lanes; level;
#: whether the groups before the loop are solved too; Newton steps from one start, halvings, and steps in all;
#: pieces of the way (0: none, in one go), the present one, and whether another way has come to the end; group
#: that failed; the instant that is solved, those before it being filled; looks at these.
(
    PHASE, REAL, LANES, UP_TO, ANEW, STEP, HALVED, STEPS, PIECES, PIECE, HAVE, FAILED, TARGET, LOOKS
) = range(14)  # fmt: skip
#: Phases: the sign at the last pose, a look of Newton's, the instant's own rates, and instants being filled.
SIGNING, LOOKING, ADVANCING, FILLING = range(4)
#: What Newton says if it has to look again, and what there is to say if instants cannot be filled.
AGAIN, REFUSED = -1, 1 << 60

#: Steps of the outer Newton, and how often one is halved that leads out of reach.
MOST, HALVINGS = 25, 12
#: Pieces into which a step is cut at most, how far one may lead, corrections that are looked at more
#: closely, and agreement of two ways; rad, or of the size.
FINEST, STRIDE, LARGE, SAME = 128, 0.3, 0.1, 1e-6
#: Condition of the Jacobian below which there is no step, and none for the rates.
NONE, FLAT_OUT = 1e-14, 1e-9
#: Instants that are filled at once, the last one with them, at most; instants that are solved one by one
#: after that has failed.
WIDEST, REST = 32, 8
#: Looks at what is filled, how much less each has to miss than the last, how far the unknowns may be from
#: where they were led to, and by how much the Jacobian may change on the way.
REPEATED, FALLING, STRAY, BENT = 6, 0.2, 0.01, 0.3


def solve_torn(
    first: int, stop: int, data: Data, task: Task, rows: Rows, motion: Any, time: Array,
    past: Array, past_shared: Array, mark: Array, plan: Array, bench: Bench, found: Any, quality: Any,
) -> int:  # fmt: skip
    """Find the unknowns at instants ``first`` … ``stop`` - 1; returns the first that has no answer, or stop.

    Parameters
    ----------
    motion : value, rate, acceleration (D, T) of the drives; ``time`` (T,)
    past : (7, m), past_shared (s,) and mark (14,): the last instant that was solved; go on with the instants
    plan : (14,) room
    found : value, rate, acceleration (D, T) of the borrowed inputs, to be written
    quality : status, group that failed or -1, residual, steps, condition, (T,) each
    """
    t = first
    ask(t, stop, data, task, motion, time, past, past_shared, mark, plan, bench)
    while t < stop:
        solve_groups(
            task[ALL] if plan[ANEW] == 1 else task[INSIDE], data,
            data.memory if plan[REAL] == 1 else bench[TRIAL], bench[STATES], 1, plan[LANES], plan[UP_TO],
            bench[INPUTS], bench[CLOCK], bench[QUALITY],
        )  # fmt: skip
        after = judge(t, data, task, rows, motion, time, past, past_shared, mark, plan, bench, found, quality)
        if after < 0:
            return t
        if after == REFUSED:
            mark[AHEAD], mark[PATIENCE] = 1.0, REST
            after = t
            ask(t, stop, data, task, motion, time, past, past_shared, mark, plan, bench)
        elif t < after < stop:
            ask(after, stop, data, task, motion, time, past, past_shared, mark, plan, bench)
        t = after
    return t


def ask(
    first: int, stop: int, data: Data, task: Task, motion: Any, time: Array, past: Array, past_shared: Array,
    mark: Array, plan: Array, bench: Bench,
) -> None:  # fmt: skip
    """Plan the first look at the next instant or one ahead; at the last pose if its sign is not known yet."""
    clock, now = bench[CLOCK], bench[NOW]
    t = first
    if mark[PATIENCE] > 0.0:
        mark[PATIENCE] -= 1.0
    elif mark[RUN] > 0.0 and mark[STOOD] >= task[STEADY]:
        t = min(first + int(mark[AHEAD]), stop) - 1
    plan[TARGET] = t
    pace = time[t] - mark[TIME] if mark[RUN] > 0.0 else 1.0
    for lane in range(len(clock)):
        clock[lane] = lane * pace
    plan[STEPS], plan[FAILED] = 0, -1
    mark[WORST], mark[CONDITION], mark[LEAST] = math.nan, 0.0, math.inf
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
    first: int, data: Data, task: Task, rows: Rows, motion: Any, time: Array, past: Array,
    past_shared: Array, mark: Array, plan: Array, bench: Bench, found: Any, quality: Any,
) -> int:  # fmt: skip
    """What follows from what was solved.

    ``first`` to solve what is planned next, the next instant to be solved, -1 for no answer, or REFUSED.
    """
    scale, now = task[SCALE], bench[NOW]
    m, t = now.shape[1], plan[TARGET]
    status = fault(task, plan, bench)
    if plan[PHASE] == FILLING:
        if status != OK:
            return REFUSED
        return filled(
            first, data, task, rows, motion, time, past, past_shared, mark, plan, bench, found, quality
        )
    if plan[PHASE] == ADVANCING:
        if status == OK:
            status = advanced(t, task, rows, motion, mark, bench)
        if t > first:
            if status != OK or not fill(first, data, task, motion, time, past, mark, plan, bench):
                return REFUSED
            return first
        if status == OK:
            invert(bench, 0)
            keep(t, task, motion, time, past, past_shared, mark, bench, found)
            if mark[PATIENCE] == 0.0:
                mark[AHEAD] = max(mark[AHEAD], 2.0)
        report(t, status, mark, plan, quality)
        return t + 1 if status == OK else -1
    if status == OK:
        mark[WORST] = drives(task, rows, bench, 0, False)
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
        return first
    if status == OK:
        mark[LEAST] = min(mark[LEAST], mark[TURNED] * mark[SIGN] * mark[CONDITION])
    status = newton(status, task, mark, plan, bench)
    if status == AGAIN:
        look(t, task, motion, plan, bench, False)
        return first
    if status == OK and mark[TURNED] != mark[SIGN]:
        status = MODE_LOST
    if plan[PIECES] == 0:
        jump = 0.0
        for k in range(m):
            jump = max(jump, abs(now[U, k] - now[GUESS, k]) / scale[k])
            now[OTHER, k] = math.nan
        done = status == OK and jump <= LARGE
        if t > first and not (done and jump <= STRAY and mark[CONDITION] >= task[STEADY]):
            return REFUSED
        if not done:
            plan[HAVE] = 0
            set_out(t, 2, data, task, motion, past, past_shared, plan, bench)
            return first
    else:
        far = 0.0
        for k in range(m):
            now[CHANGE, k] = now[U, k] - now[BEGUN, k]
            far = max(far, abs(now[CHANGE, k]) / scale[k])
        if status == OK and not far <= STRIDE:
            status = MODE_LOST
        if status == OK and plan[PIECE] < plan[PIECES]:
            go_on(t, task, motion, past, past_shared, plan, bench)
            return first
        apart = 0.0
        for k in range(m):
            gap = abs(now[U, k] - now[OTHER, k]) / scale[k]
            apart = gap if not gap <= apart else apart
            now[OTHER, k] = now[U, k]
        done = status == OK and plan[HAVE] == 1 and apart <= SAME
        if not done:
            plan[HAVE] = 1 if status == OK else 0
            if 2 * plan[PIECES] > FINEST:
                status = MODE_LOST if status == OK else status
                if status in (MODE_LOST, NOT_CONVERGED) and mark[LEAST] < task[STEADY]:
                    status = SINGULAR  # a dead point, and beyond it nothing or the other way back
                report(t, status, mark, plan, quality)
                return -1
            set_out(t, 2 * plan[PIECES], data, task, motion, past, past_shared, plan, bench)
            return first
    if not mark[CONDITION] > FLAT_OUT:
        report(t, SINGULAR, mark, plan, quality)
        return -1
    go_through(t, task, rows, motion, plan, bench)
    if t > first:
        copy_memory(data, task, bench[TRIAL])
        plan[REAL] = 0
    return first


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
    lanes = plan[LANES] if plan[PHASE] == FILLING else 1
    for g in task[INSIDE]:
        for lane in range(lanes):
            if condition[g, lane + 1] < task[CLOSE][g]:
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
    substitute(flat[: m * m].reshape(m, m), flat[m * m : right], flat[right : right + m])
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
    sign, smallest = factorise(flat[: m * m].reshape(m, m), flat[m * m : m * m + m])
    return sign, smallest / max(1.0, largest)


# --- instants that are filled ------------------------------------------------------------------------


def invert(bench: Bench, end: int) -> None:
    """The inverse of the Jacobian that is factorised, over the scales."""
    flat, inverse = bench[FLAT], bench[INVERSE]
    m = bench[NOW].shape[1]
    right = m * m + m
    for k in range(m):
        for r in range(m):
            flat[right + r] = 1.0 if r == k else 0.0
        substitute(flat[: m * m].reshape(m, m), flat[m * m : right], flat[right : right + m])
        for r in range(m):
            inverse[end, r, k] = flat[right + r]


def bent(bench: Bench) -> float:
    """How far the inverse at the end of what is filled is from that at the last instant, of its largest."""
    inverse = bench[INVERSE]
    m = inverse.shape[1]
    largest, apart = 0.0, 0.0
    for r in range(m):
        for k in range(m):
            largest = max(largest, abs(inverse[0, r, k]))
            apart = max(apart, abs(inverse[1, r, k] - inverse[0, r, k]))
    return apart / largest


def fill(
    first: int, data: Data, task: Task, motion: Any, time: Array, past: Array, mark: Array, plan: Array,
    bench: Bench,
) -> bool:  # fmt: skip
    """Plan a look at the instants up to the one that was solved; False if the Jacobian is too far another."""
    unknown, shared, given, now = task[UNKNOWN], task[SHARED], task[GIVEN], bench[NOW]
    value, rate, second = bench[INPUTS]
    invert(bench, 1)
    if not bent(bench) <= BENT:
        return False
    last = plan[TARGET]
    wide = time[last] - mark[TIME]
    lanes = last + 1 - first
    clock = bench[CLOCK]
    clock[0] = mark[TIME]
    for lane in range(1, lanes + 1):
        clock[lane] = time[first + lane - 1]
    over = 1.0 / wide
    for k in range(len(unknown)):
        row = unknown[k]
        # u + a x + b x² / 2 + x³ (p + q x + r x²) goes from the last instant, x = 0, to the other, x = 1.
        start, a, b = past[U_1, k], past[RATE_1, k] * wide, past[RISE_1, k] * wide * wide
        miss = now[U, k] - start - a - 0.5 * b
        slope = now[RATE, k] * wide - a - b
        bend = now[RISE, k] * wide * wide - b
        p = 10.0 * miss - 4.0 * slope + 0.5 * bend
        q = -15.0 * miss + 7.0 * slope - bend
        r = 6.0 * miss - 3.0 * slope + 0.5 * bend
        for lane in range(1, lanes):
            x = (clock[lane] - mark[TIME]) * over
            value[row, lane] = start + x * (a + x * (0.5 * b + x * (p + x * (q + x * r))))
            rate[row, lane] = over * (a + x * (b + x * (3.0 * p + x * (4.0 * q + x * 5.0 * r))))
            second[row, lane] = over * over * (b + x * (6.0 * p + x * (12.0 * q + x * 20.0 * r)))
        value[row, lanes], rate[row, lanes], second[row, lanes] = now[U, k], now[RATE, k], now[RISE, k]
    for k in range(len(shared)):
        row = shared[k]
        for lane in range(1, lanes + 1):
            t = first + lane - 1
            value[row, lane], rate[row, lane] = motion[0][given[k], t], motion[1][given[k], t]
            second[row, lane] = motion[2][given[k], t]
    plan[PHASE], plan[REAL], plan[LANES], plan[UP_TO], plan[ANEW] = FILLING, 0, lanes, 2, 1
    plan[LOOKS], mark[WAS] = 0, math.inf
    copy_memory(data, task, bench[TRIAL])
    return True


def filled(
    first: int, data: Data, task: Task, rows: Rows, motion: Any, time: Array, past: Array,
    past_shared: Array, mark: Array, plan: Array, bench: Bench, found: Any, quality: Any,
) -> int:  # fmt: skip
    """Correct what is filled by what the drives miss; as :func:`judge`, which this is the end of."""
    unknown, now, lanes, last = task[UNKNOWN], bench[NOW], plan[LANES], plan[TARGET]
    plan[LOOKS] += 1
    near, far = 0.0, 0.0
    for lane in range(1, lanes + 1):
        miss, most = corrected(first, lane, task, rows, motion, time, mark, plan, bench)
        if not miss < math.inf:
            return REFUSED
        quality[2][first + lane - 1] = miss
        near, far = max(near, miss / task[CLOSED], most), max(far, miss)
    if near > 1.0:
        if plan[LOOKS] == REPEATED or far > STRAY or near > FALLING * mark[WAS]:
            return REFUSED
        mark[WAS] = near
        copy_memory(data, task, bench[TRIAL])
        return first
    for k in range(len(unknown)):
        row = unknown[k]
        for lane in range(1, lanes + 1):
            for level in range(3):
                found[level][row, first + lane - 1] = bench[INPUTS][level][row, lane]
        now[U, k], now[RATE, k] = bench[INPUTS][0][row, lanes], bench[INPUTS][1][row, lanes]
        now[RISE, k] = bench[INPUTS][2][row, lanes]
    for lane in range(lanes):
        share = (lane + 1.0) / lanes
        quality[0][first + lane], quality[1][first + lane] = OK, -1
        quality[3][first + lane] = plan[LOOKS] - 1
        quality[4][first + lane] = mark[STOOD] + share * (mark[CONDITION] - mark[STOOD])
    quality[3][last] += plan[STEPS]
    for r in range(len(unknown)):
        for k in range(len(unknown)):
            bench[INVERSE][0, r, k] = bench[INVERSE][1, r, k]
    keep(last, task, motion, time, past, past_shared, mark, bench, found)
    recall_memory(data, task, bench[TRIAL])
    if plan[LOOKS] <= 3 and lanes >= mark[AHEAD]:
        mark[AHEAD] = min(2.0 * mark[AHEAD], WIDEST)
    elif plan[LOOKS] > 4:
        mark[AHEAD] = max(2.0, 0.5 * mark[AHEAD])
    return int(last + 1)


def corrected(
    first: int, lane: int, task: Task, rows: Rows, motion: Any, time: Array, mark: Array, plan: Array,
    bench: Bench,
) -> tuple[float, float]:  # fmt: skip
    """Correct the unknowns of a lane. Returns what the drives missed, and their rates over what is near."""
    unknown, wanted, scale, measure = task[UNKNOWN], task[WANTED], task[SCALE], task[MEASURE]
    planar, stage, inverse = task[PLANE], task[STAGE], bench[INVERSE]
    S, table, pair, joint = bench[STATES], bench[TABLE], rows[0], rows[4]
    misses, flat = bench[MISSES], bench[FLAT]
    m, t = len(unknown), first + lane - 1
    right = m * m + m
    accelerations = 8 if planar else ACCELERATION
    for r in range(m):
        bench[NOW][GOAL, r] = motion[0][wanted[r], t]
    miss, most = drives(task, rows, bench, lane - 1, True), 0.0
    for r in range(m):
        over = 1.0 / measure[r]
        first_miss = over * (table[r, 14] - motion[1][wanted[r], t])
        second_miss = table[r, 13] + along(planar, stage, S, table, pair, joint, r, lane - 1, accelerations)
        second_miss = over * (second_miss - motion[2][wanted[r], t])
        misses[0, r], misses[1, r], misses[2, r] = flat[right + r], first_miss, second_miss
        most = max(most, abs(first_miss) / task[NEAR_1], abs(second_miss) / task[NEAR_2])
        if not abs(first_miss) + abs(second_miss) < math.inf:
            return math.nan, math.nan
    share = (time[t] - mark[TIME]) / (time[plan[TARGET]] - mark[TIME])
    for k in range(m):
        by_0, by_1, by_2 = 0.0, 0.0, 0.0
        for r in range(m):
            entry = inverse[0, k, r] + share * (inverse[1, k, r] - inverse[0, k, r])
            by_0 += entry * misses[0, r]
            by_1 += entry * misses[1, r]
            by_2 += entry * misses[2, r]
        row = unknown[k]
        bench[INPUTS][0][row, lane] -= scale[k] * by_0
        bench[INPUTS][1][row, lane] -= scale[k] * by_1
        bench[INPUTS][2][row, lane] -= scale[k] * by_2
    return miss, most


# --- looks -------------------------------------------------------------------------------------------


def look(t: int, task: Task, motion: Any, plan: Array, bench: Bench, anew: bool) -> None:
    """Plan the groups where the unknowns are, with the trial memory: pose and unit rates.

    ``anew`` solves the groups before the loop, too: shared inputs have changed.
    """
    lanes = bench[NOW].shape[1] + 1
    set_inputs(t, task, motion, bench, lanes)
    plan[REAL], plan[LANES], plan[UP_TO], plan[ANEW] = 0, lanes, 1, 1 if anew else 0


def go_through(t: int, task: Task, rows: Rows, motion: Any, plan: Array, bench: Bench) -> None:
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
    substitute(flat[: m * m].reshape(m, m), flat[m * m : right], flat[right : right + m])
    set_inputs(t, task, motion, bench, 1)
    for k in range(m):
        now[RATE, k] = flat[right + k] * scale[k]
        bench[INPUTS][1][task[UNKNOWN][k], 1] = now[RATE, k]
    plan[PHASE], plan[REAL], plan[LANES], plan[UP_TO], plan[ANEW] = ADVANCING, 1, 1, 2, 1


def advanced(t: int, task: Task, rows: Rows, motion: Any, mark: Array, bench: Bench) -> int:
    """u'' from what the drives do at u'' = 0; a status."""
    flat, stage, planar = bench[FLAT], task[STAGE], task[PLANE]
    S, table, pair, joint = bench[STATES], bench[TABLE], rows[0], rows[4]
    m = bench[NOW].shape[1]
    right = m * m + m
    accelerations = 8 if planar else ACCELERATION
    mark[WORST] = drives(task, rows, bench, 0, True)
    if not mark[WORST] <= 100.0 * task[CLOSED]:
        return MODE_LOST
    for r in range(m):
        second = motion[2][task[WANTED][r], t] - table[r, 13]
        second -= along(planar, stage, S, table, pair, joint, r, 0, accelerations)
        flat[right + r] = second / task[MEASURE][r]
    substitute(flat[: m * m].reshape(m, m), flat[m * m : right], flat[right : right + m])
    for k in range(m):
        bench[NOW][RISE, k] = flat[right + k] * task[SCALE][k]
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


def drives(task: Task, rows: Rows, bench: Bench, lane: int, moving: bool) -> float:
    """Jets of the drives at a lane; right sides of a Newton step, and the largest of them, NaN if one is."""
    S, place, turn, twist = bench[STATES], bench[P], bench[R], bench[V]
    stage, table, flat, now = task[STAGE], bench[TABLE], bench[FLAT], bench[NOW]
    m = now.shape[1]
    for k in range(len(stage)):
        body = stage[k]
        if task[PLANE]:
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
    # Drives that can be met by borrowed inputs read no angles that count turns.
    evaluate(0, m, rows, place, turn, twist, rows[9], moving, bench[JETS], table)
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
            total += table[r, first] * S[body, at, lane] + table[r, first + 1] * S[body, at + 1, lane]
            total += table[r, first + 5] * S[body, at + 2, lane]
        else:
            for i in range(6):
                total += table[r, first + i] * S[body, at + i, lane]
    return total


# --- from one instant to the next --------------------------------------------------------------------


def keep(
    t: int, task: Task, motion: Any, time: Array, past: Array, past_shared: Array, mark: Array, bench: Bench,
    found: Any,
) -> None:  # fmt: skip
    """Write an instant's answer, and remember it."""
    unknown, shared, scale, now = task[UNKNOWN], task[SHARED], task[SCALE], bench[NOW]
    pace = time[t] - mark[TIME] if mark[RUN] > 0.0 else 1.0
    m = now.shape[1]
    value, rate, second = found
    by_rates, by_values = 0.0, 0.0
    for k in range(m):
        row = unknown[k]
        by_rates = max(by_rates, abs(now[U, k] - by_hermite(past, mark, pace, k)) / scale[k])
        by_values = max(by_values, abs(now[U, k] - by_line(past, mark, pace, k)) / scale[k])
        value[row, t], rate[row, t], second[row, t] = now[U, k], now[RATE, k], now[RISE, k]
        for level in range(3):
            past[U_2 + level, k] = past[U_1 + level, k]
        past[U_1, k], past[RATE_1, k], past[RISE_1, k] = value[row, t], rate[row, t], second[row, t]
        past[GOAL_1, k] = motion[0][task[WANTED][k], t]
    for k in range(len(shared)):
        past_shared[k] = motion[0][task[GIVEN][k], t]
    mark[BY_RATES], mark[BY_VALUES] = by_rates, by_values
    mark[PACE], mark[TIME], mark[STOOD] = pace, time[t], mark[CONDITION]
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
    memory, start = data.memory, data.memory_start
    for g in task[ALL]:
        for k in range(start[g], start[g + 1]):
            target[k] = memory[k]


def recall_memory(data: Data, task: Task, source: Array) -> None:
    """Make trial memory the groups' own."""
    memory, start = data.memory, data.memory_start
    for g in task[ALL]:
        for k in range(start[g], start[g + 1]):
            memory[k] = source[k]


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
    return drives(task, rows, bench, 0, False)
