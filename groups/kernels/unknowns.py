"""The unknowns of a group at one instant: in closed form, by Newton, or led there in small pieces.

A closed form holds the mode by the determinant's sign: the two roots of a quadratic have opposite ones,
and of a quartic's the nearest with the right sign is taken. Newton starts where the last instants lead; when
its correction is large, the sign changes or it fails, known bodies and inputs are led from the last instant
to this one in pieces, ever more, until two ways agree. :mod:`groups.kernels.record` lays the data out.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from groups.kernels.closing import choose_rows, is_redundant, misses, point_of, rod_length, slopes
from groups.kernels.jets import COUNTED, LINE, turns
from groups.kernels.jets import SIZE as JET
from groups.kernels.linear import factorise, substitute
from groups.kernels.loci import meet
from groups.kernels.record import (
    BALL,
    BALL_X,
    CHANGE,
    CHANGE_BEFORE,
    CODE,
    FACTORS,
    FEWEST,
    FOUND,
    FRESH,
    GOAL,
    GOAL_TURN,
    GOAL_TURNED,
    GOAL_U,
    GUESS,
    HELD,
    HELD_RATE,
    INFLUENCE,
    KIND,
    LAST_BALL,
    LAST_CHANGE,
    LAST_KNOWN,
    LAST_MEASURE,
    LAST_TURNED,
    LAST_U,
    LAST_X,
    LINES,
    MATRIX,
    MEASURE,
    MEET,
    MEETING,
    METHOD,
    N_BALLS,
    N_INPUTS,
    N_KNOWN,
    N_STEPS,
    N_TERMS,
    N_UNKNOWNS,
    NEAR,
    NEAR_FROM,
    ORDER,
    OTHER,
    OTHER_BALL,
    PACE,
    PIN,
    PIN_POINT,
    PLANAR,
    POINTS,
    REACH,
    RIGHT,
    ROD,
    ROD_POINT,
    RUN,
    SCALE,
    SIGN,
    SIZE,
    SLIDE,
    STAGE,
    STEP_AXIS,
    STEP_POINT,
    TABLE,
    TURNED,
    UNKNOWN,
    WEIGHT,
    U,
    X,
)
from groups.kernels.status import MODE_LOST, NOT_CONVERGED, OK, OUT_OF_REACH, SINGULAR
from groups.kernels.tree import forward, move
from groups.kernels.vectors import (
    POSITION,
    ROTATION,
    STATE,
    Matrix,
    Vector,
    cross,
    dot,
    exponential,
    length,
    matrix_in,
    minus,
    plus_times,
    product,
    put_in,
    put_matrix_in,
    times,
    transposed,
    unit,
    upright,
    vector_in,
)

Array = Any
#: (status, Newton steps, residual, sign of the determinant, condition)
Answer = tuple[int, int, float, float, float]

#: Newton steps before an instant counts as not converged, and those that polish a closed form.
MOST, POLISH = 25, 3
#: Pieces into which a step is cut at most before the mode counts as lost.
PIECES = 128
#: How far (rad, or of the size) one piece may lead.
STRIDE = 0.3
#: Corrections (rad, or of the size) from which a step is looked at more closely, and agreement of two ways.
LARGE, SAME = 0.1, 1e-6
#: Condition below which other rows are solved instead, where there are more than are needed.
POOR = 0.1
#: Newton factorises anew at every so manieth instant; in between, factors may serve once more.
EVERY = 4
#: How much farther a second point with the mode's sign must be, after a large step, for the first to be it.
APART = 2.0
#: Condition of a pose from which a large step may go on, and how far from a dead point a mode is found again.
WIDE, RETURN = 0.05, 0.5
#: Steps of damped least squares where nothing closes, and the largest of them, rad or of the size.
NEARER, CAREFUL = 80, 0.5
#: How far (rad) an angle may be from where its rates lead before its turns are in doubt.
DOUBT = 2.0
#: Condition below which a Newton step has no direction.
NONE = 1e-14


def position(ints: Array, floats: Array, work: Array, memory: Array, pace: float, instant: int) -> Answer:
    """Place the group's own bodies on the stage, where known bodies and inputs are as they should be."""
    n, method = ints[N_UNKNOWNS], ints[METHOD]
    recall(ints, work, memory)
    if memory[RUN] > 0.0:
        for k in range(ints[N_TERMS]):
            work[ints[NEAR] + k] += pace * memory[ints[HELD_RATE] + k]
    if n == 0:
        forward(ints, floats, work)
        return OK, 0, 0.0, 0.0, 1.0
    predict(ints, work, memory, pace)
    work[ints[FRESH]] = 0.0
    if method == REACH:
        fault = by_reach(ints, floats, work, memory[SIGN])
        if fault != OK:
            return fault, 0, math.nan, 0.0, 0.0
        return newton(ints, floats, work, memory, POLISH, True)
    if method == MEET:
        answer = by_meeting(ints, floats, work, memory)
        if answer[0] == NOT_CONVERGED:
            work[ints[FRESH]] = 0.0
            answer = newton(ints, floats, work, memory, POLISH, False)
        if answer[0] == MODE_LOST:  # two points may be meant, or none
            work[ints[FRESH]] = 0.0
            answer = follow(ints, floats, work, memory)
            if answer[0] != OK:
                answer = (MODE_LOST, answer[1], answer[2], answer[3], answer[4])
        return answer
    answer = by_chord(ints, floats, work, memory, instant)
    if answer[0] != OK:
        answer = newton(ints, floats, work, memory, MOST, False)
    jump = 0.0
    for k in range(n):
        jump = max(jump, abs(work[ints[X] + k] - work[ints[GUESS] + k]) / floats[ints[SCALE] + k])
    turned_over = answer[3] != memory[SIGN] and not is_redundant(ints)
    if answer[0] != OK or turned_over or jump > LARGE:
        work[ints[FRESH]] = 0.0
        answer = follow(ints, floats, work, memory)
    return answer


def recall(ints: Array, work: Array, memory: Array) -> None:
    """The unknowns as they were at the last instant that was solved."""
    for k in range(ints[N_UNKNOWNS]):
        work[ints[X] + k] = memory[ints[LAST_X] + k]
    for k in range(9 * ints[N_BALLS]):
        work[ints[BALL] + k] = memory[ints[LAST_BALL] + k]
    for k in range(ints[N_TERMS]):
        work[ints[NEAR] + k] = memory[ints[HELD] + k]


def count_on(ints: Array, floats: Array, work: Array) -> None:
    """Let the turns of angles go on from where they are."""
    for k in range(ints[N_TERMS]):
        work[ints[NEAR] + k] = work[ints[TABLE] + JET * k] / floats[ints[WEIGHT] + k]


def is_counted(ints: Array, floats: Array, work: Array, memory: Array, pace: float) -> bool:
    """Whether angles that only instants count changed by what their rates, here and at the last, come to.

    By another whole turn an equation would hold just as well, with bodies in other places. To be asked after
    accelerations: the jets have the rates then.
    """
    if memory[RUN] == 0.0:
        return True
    for k in range(ints[N_TERMS]):
        code = ints[ints[CODE] + k]
        if ints[ints[NEAR_FROM] + k] == -1 and (code in (COUNTED, LINE)):
            jet, weight = ints[TABLE] + JET * k, floats[ints[WEIGHT] + k]
            change = work[jet] / weight - memory[ints[HELD] + k]
            rates = work[jet + 14] / weight + memory[ints[HELD_RATE] + k]
            if abs(change - 0.5 * pace * rates) > DOUBT:
                return False
    return True


def remember(ints: Array, floats: Array, work: Array, memory: Array, pace: float, level: int) -> None:
    """Keep the unknowns, how they changed, and where the known bodies and inputs were."""
    for k in range(ints[N_UNKNOWNS]):
        memory[ints[CHANGE_BEFORE] + k] = memory[ints[LAST_CHANGE] + k]
        memory[ints[LAST_CHANGE] + k] = work[ints[X] + k] - memory[ints[LAST_X] + k]
        memory[ints[LAST_X] + k] = work[ints[X] + k]
    for ball in range(ints[N_BALLS]):
        put_matrix_in(memory, ints[LAST_BALL] + 9 * ball, upright(matrix_in(work, ints[BALL] + 9 * ball)))
    for k in range(ints[N_KNOWN]):
        for m in range(12):
            memory[ints[LAST_KNOWN] + 12 * k + m] = work[ints[STAGE] + STATE * k + m]
        if ints[PLANAR] == 1:
            memory[ints[LAST_TURNED] + k] = work[ints[TURNED] + k]
    count_on(ints, floats, work)
    for k in range(ints[N_TERMS]):
        memory[ints[HELD] + k] = work[ints[NEAR] + k]
        rate = work[ints[TABLE] + JET * k + 14] / floats[ints[WEIGHT] + k]
        memory[ints[HELD_RATE] + k] = rate if level == 2 else 0.0
    for k in range(ints[N_INPUTS]):
        memory[ints[LAST_U] + k] = work[ints[U] + k]
    even = abs(pace - memory[PACE]) <= 1e-6 * abs(pace)
    memory[RUN] = memory[RUN] + 1.0 if even else 1.0
    memory[PACE] = pace


def predict(ints: Array, work: Array, memory: Array, pace: float) -> None:
    """Lead the unknowns on as the last instants did; GUESS keeps where to."""
    share, bend = 0.0, 0.0
    if memory[RUN] >= 2.0:
        share = pace / memory[PACE]
        if memory[RUN] >= 3.0 and abs(share - 1.0) <= 1e-6:
            bend = 1.0
    for k in range(ints[N_UNKNOWNS]):
        step = share * memory[ints[LAST_CHANGE] + k]
        work[ints[CHANGE] + k] = step + bend * (step - memory[ints[CHANGE_BEFORE] + k])
    move(ints, work, ints[CHANGE])
    for k in range(ints[N_UNKNOWNS]):
        work[ints[GUESS] + k] = work[ints[X] + k]


def by_chord(ints: Array, floats: Array, work: Array, memory: Array, instant: int) -> Answer:
    """One step with the factors of an instant just before; not converged where that does not close.

    Near a singular pose the factors change too fast for it, and Newton looks at the determinant again. It
    does so at fixed instants too, so that an answer does not depend on where a span of time ends.
    """
    n, right = ints[N_UNKNOWNS], ints[RIGHT]
    if instant % EVERY == 0 or work[ints[FACTORS]] == 0.0 or memory[RUN] < 3.0:
        return NOT_CONVERGED, 0, math.nan, 0.0, 0.0
    forward(ints, floats, work)
    misses(ints, floats, work, memory)
    substitute(work, ints[MATRIX], ints[ORDER], n, right)
    for k in range(n):
        work[right + k] *= -floats[ints[SCALE] + k]
    move(ints, work, right)
    forward(ints, floats, work)
    worst = misses(ints, floats, work, memory)
    status = OK if worst <= floats[ints[SIZE] + 1] else NOT_CONVERGED
    return status, 1, worst, memory[SIGN], work[ints[MEASURE]]


def newton(ints: Array, floats: Array, work: Array, memory: Array, most: int, may_stand: bool) -> Answer:
    """Solve for the unknowns from where they are; ``may_stand`` accepts the start, a closed form, as it is.

    Corrections are kept short: a linear model is trusted for half a radian, or half the size.
    """
    n, right, matrix, order = ints[N_UNKNOWNS], ints[RIGHT], ints[MATRIX], ints[ORDER]
    closed = floats[ints[SIZE] + 1]
    status, steps, worst, sign, condition = NOT_CONVERGED, 0, math.nan, 0.0, 0.0
    while True:
        forward(ints, floats, work)
        worst = misses(ints, floats, work, memory)
        done = worst <= closed and (steps > 0 or may_stand)
        if done:
            status = OK
        if (done and steps > 0) or steps >= most or not worst < 1e300:
            break
        scale = slopes(ints, floats, work, memory, False)
        sign, smallest = factorise(work, matrix, order, n)
        condition = smallest / scale
        work[ints[FACTORS]] = 1.0
        work[ints[MEASURE]] = condition
        if done:
            work[ints[FRESH]] = 1.0
            break
        if not condition > NONE:
            status = SINGULAR
            break
        substitute(work, matrix, order, n, right)
        largest = 0.0
        for k in range(n):
            largest = max(largest, abs(work[right + k]))
        share = -1.0 if largest <= 0.5 else -0.5 / largest
        for k in range(n):
            work[right + k] *= share * floats[ints[SCALE] + k]
        move(ints, work, right)
        steps += 1
    return status, steps, worst, sign, condition


# --- closed forms ----------------------------------------------------------------------------------


def by_reach(ints: Array, floats: Array, work: Array, sign: float) -> int:
    """One unknown and one rod: a circle or a line meets a sphere. Moves X; returns a status.

    Of the two points the one is taken where the rod's distance changes with x in the sense of ``sign``.
    """
    forward(ints, floats, work)
    s = 0
    while ints[ints[UNKNOWN] + s] < 0:
        s += 1
    a, b, f = ints[ints[ROD]], ints[ints[ROD] + 1], ints[ROD_POINT]
    p, t = point_of(ints, work, b, floats, f + 3), point_of(ints, work, a, floats, f)
    if ints[ints[INFLUENCE] + b] == 0:
        p, t = t, p
    size, _, _ = rod_length(ints, floats, work, 0)
    axis = vector_in(work, ints[STEP_AXIS] + 3 * s)
    status, change = OK, 0.0
    if ints[ints[KIND] + s] == SLIDE:
        gap = minus(p, t)
        along = dot(gap, axis)
        across = plus_times(gap, -along, axis)
        square = size * size - dot(across, across)
        if square < -1e-14 * size * size:
            status = OUT_OF_REACH
        change = sign * math.sqrt(max(square, 0.0)) - along
    else:
        o = vector_in(work, ints[STEP_POINT] + 3 * s)
        p, t = minus(p, o), minus(t, o)
        high, low = dot(p, axis), dot(t, axis)
        p, t = plus_times(p, -high, axis), plus_times(t, -low, axis)
        wanted = 0.5 * ((high - low) * (high - low) + dot(p, p) + dot(t, t) - size * size)
        x, y = dot(p, t), dot(cross(axis, p), t)
        far = math.sqrt(x * x + y * y)
        if abs(wanted) <= far * (1.0 + 1e-14) and far > 0.0:
            change = math.atan2(y, x) + sign * math.acos(max(-1.0, min(1.0, wanted / far)))
            change -= turns(change)  # the turn nearest to where x is led
        else:
            status = OUT_OF_REACH
    work[ints[X]] += change
    return status


def by_meeting(ints: Array, floats: Array, work: Array, memory: Array) -> Answer:
    """Three unknowns and one pin. Of the points with the mode's sign, the one nearest to where x is led.

    Points appear and vanish in pairs of opposite signs. After a large step the nearest may be another than
    the one that was followed, unless no other is nearly as near and either there are as many points as
    before, or a pair is born again after the mode had ended: if not, the mode counts as lost for now.
    """
    forward(ints, floats, work)
    x, meeting, found = ints[X], ints[MEETING], ints[FOUND]
    far = ints[meeting + 3]
    end = ints[ints[PIN] + far]
    lines = work[ints[LINES] : ints[LINES] + 27].reshape(9, 3)
    put_in(work, ints[LINES] + 18, point_of(ints, work, end, floats, ints[PIN_POINT] + 3 * far))
    other = ints[ints[PIN] + 1 - far]
    put_in(work, ints[LINES] + 21, point_of(ints, work, other, floats, ints[PIN_POINT] + 3 * (1 - far)))
    done = found + 12
    for j in range(3):
        s = ints[meeting + j]
        put_in(work, ints[LINES] + 3 * j, vector_in(work, ints[STEP_POINT] + 3 * s))
        put_in(work, ints[LINES] + 9 + 3 * j, vector_in(work, ints[STEP_AXIS] + 3 * s))
    table = work[found : found + 12].reshape(4, 3)
    count, gap = meet(ints[meeting + 4 : meeting + 7], lines[0:3], lines[3:6], lines[6], lines[7], table)
    for k in range(3):
        work[ints[LINES] + 24 + k] = work[x + k]
    for c in range(count):
        work[done + c] = 0.0
    chosen, near, rival = -1, 0.0, 1e300
    for _ in range(count):  # the nearest first
        best, which = 1e300, 0
        for c in range(count):
            distance = 0.0
            for j in range(3):
                k = ints[ints[UNKNOWN] + ints[meeting + j]]
                distance = max(distance, abs(table[c, j]) / floats[ints[SCALE] + k])
            if distance < best and work[done + c] == 0.0:
                best, which = distance, c
        work[done + which] = 1.0
        sign, condition = stand_at(ints, floats, work, memory, found + 3 * which)
        if sign == memory[SIGN]:
            if chosen >= 0:
                rival = best
                break
            chosen, near = which, best
            if near <= LARGE:
                break
    if chosen < 0:
        memory[FEWEST] = 0.0
        return (MODE_LOST if count > 0 else OUT_OF_REACH if gap > 0.0 else SINGULAR), 0, gap, 0.0, 0.0
    if near > LARGE:
        memory[FEWEST] = min(memory[FEWEST], count)
        alone = rival >= APART * near
        # From a pose that was far from any dead point, or back from one with a pair of points born again.
        steady = count == memory[POINTS] and memory[LAST_MEASURE] > WIDE
        back = memory[RUN] == 0.0 and near <= RETURN and count > memory[FEWEST]
        if not alone or not (steady or back):
            return MODE_LOST, 0, math.nan, 0.0, 0.0
        sign, condition = stand_at(ints, floats, work, memory, found + 3 * chosen)
    memory[FEWEST], memory[LAST_MEASURE] = count, condition
    memory[POINTS] = count
    work[ints[FRESH]] = 1.0
    worst = misses(ints, floats, work, memory)
    status = OK if worst <= floats[ints[SIZE] + 1] else NOT_CONVERGED
    return status, 0, worst, memory[SIGN], condition


def stand_at(ints: Array, floats: Array, work: Array, memory: Array, found: int) -> tuple[float, float]:
    """Go to what was found and factorise there: sign of the determinant and condition."""
    go_to(ints, work, found)
    forward(ints, floats, work)
    scale = slopes(ints, floats, work, memory, False)
    sign, smallest = factorise(work, ints[MATRIX], ints[ORDER], 3)
    return sign, smallest / scale


def go_to(ints: Array, work: Array, found: Any) -> None:
    """Three unknowns by what was found from where they were; a J1 in the same chain turns back."""
    meeting, start = ints[MEETING], ints[LINES] + 24
    end = ints[ints[PIN] + ints[meeting + 3]]
    for j in range(3):
        k = ints[ints[UNKNOWN] + ints[meeting + j]]
        back = j == 0 and ints[ints[INFLUENCE] + 3 * end + k] == 1
        work[ints[X] + k] = work[start + k] + (-work[found] if back else work[found + j])


# --- led from the last instant ---------------------------------------------------------------------


def follow(ints: Array, floats: Array, work: Array, memory: Array) -> Answer:
    """Go from the last instant that was solved to this one in pieces, ever more, until two ways agree.

    Between the two instants known bodies and inputs are led along straight lines and turns.
    """
    balls = 9 * ints[N_BALLS]
    keep_goal(ints, work)
    status, steps, worst, sign, condition = MODE_LOST, 0, math.nan, 0.0, 0.0
    total, have, pieces = 0, False, 2
    while pieces <= PIECES:
        recall(ints, work, memory)
        status, steps, worst, sign, condition = walk(ints, floats, work, memory, pieces)
        total += steps
        apart = 0.0
        for s in range(ints[N_STEPS]):
            k = ints[ints[UNKNOWN] + s]
            if k >= 0 and ints[ints[KIND] + s] < BALL_X:  # the small turns of balls do not commute
                gap = abs(work[ints[X] + k] - work[ints[OTHER] + k])
                apart = max(apart, gap / floats[ints[SCALE] + k])
                work[ints[OTHER] + k] = work[ints[X] + k]
        for k in range(balls):
            apart = max(apart, abs(work[ints[BALL] + k] - work[ints[OTHER_BALL] + k]))
            work[ints[OTHER_BALL] + k] = work[ints[BALL] + k]
        if status == OK and have and apart <= SAME:
            break
        have = status == OK
        pieces *= 2
    if status == OK and pieces > PIECES:
        status = MODE_LOST
    part_way(ints, work, memory, 1.0)
    return status, total, worst, sign, condition


def walk(ints: Array, floats: Array, work: Array, memory: Array, pieces: int) -> Answer:
    """One way to the goal in so many pieces; lost where a piece leads far, or to another sign."""
    n, x, change, start = ints[N_UNKNOWNS], ints[X], ints[CHANGE], ints[GUESS]
    redundant = is_redundant(ints)
    status, steps, worst, sign, condition = OK, 0, math.nan, 0.0, 0.0
    total = 0
    for k in range(n):
        work[change + k] = 0.0
    for piece in range(1, pieces + 1):
        part_way(ints, work, memory, piece / pieces)
        for k in range(n):
            work[start + k] = work[x + k]
        move(ints, work, change)
        status, steps, worst, sign, condition = newton(ints, floats, work, memory, MOST, False)
        total += steps
        if status != OK:
            break
        far = 0.0
        for k in range(n):
            work[change + k] = work[x + k] - work[start + k]
            far = max(far, abs(work[change + k]) / floats[ints[SCALE] + k])
        if far > STRIDE or (sign != memory[SIGN] and not redundant):
            status = MODE_LOST
            break
        count_on(ints, floats, work)
        if condition < POOR and redundant:
            choose_rows(ints, floats, work, memory)
            work[ints[FACTORS]] = 0.0
    return status, total, worst, sign, condition


def approach(ints: Array, floats: Array, work: Array, memory: Array) -> float:
    """Go from the last instant as near to closing as it gets; returns the largest miss left, m.

    For instants at which nothing closes: what is left over says why. Damped least squares after Levenberg
    and Marquardt; the jets are those of where it ends.
    """
    n, right, x, ball = ints[N_UNKNOWNS], ints[RIGHT], ints[X], ints[BALL]
    room = np.zeros(n * n + 3 * n)
    order, by, slope = n * n, n * n + n, n * n + 2 * n
    recall(ints, work, memory)
    forward(ints, floats, work)
    worst = misses(ints, floats, work, memory)
    least, damping, better = squares(work, right, n), 1e-3, True
    for _ in range(NEARER):
        if not least < math.inf or least == 0.0 or damping > 1e9:
            break
        if better:
            slopes(ints, floats, work, memory, False)
            for i in range(n):
                total = 0.0
                for r in range(n):
                    total += work[ints[MATRIX] + r * n + i] * work[right + r]
                room[slope + i] = total
            for k in range(n):
                work[ints[OTHER] + k] = work[x + k]
            for k in range(9 * ints[N_BALLS]):
                work[ints[OTHER_BALL] + k] = work[ball + k]
        for i in range(n):
            for j in range(n):
                total = damping if i == j else 0.0
                for r in range(n):
                    total += work[ints[MATRIX] + r * n + i] * work[ints[MATRIX] + r * n + j]
                room[i * n + j] = total
            room[by + i] = room[slope + i]
        factorise(room, 0, order, n)
        substitute(room, 0, order, n, by)
        largest = 0.0
        for k in range(n):
            largest = max(largest, abs(room[by + k]))
        share = -1.0 if largest <= CAREFUL else -CAREFUL / largest
        for k in range(n):
            work[ints[CHANGE] + k] = share * room[by + k] * floats[ints[SCALE] + k]
        move(ints, work, ints[CHANGE])
        forward(ints, floats, work)
        misses(ints, floats, work, memory)
        square = squares(work, right, n)
        better = square < least
        if better:
            least = square
            damping *= 0.2
        else:
            damping *= 8.0
            for k in range(n):
                work[x + k] = work[ints[OTHER] + k]
            for k in range(9 * ints[N_BALLS]):
                work[ball + k] = work[ints[OTHER_BALL] + k]
    forward(ints, floats, work)
    worst = misses(ints, floats, work, memory)
    # The Jacobian lies where factors were.
    work[ints[FACTORS]], work[ints[FRESH]] = 0.0, 0.0
    return worst


def squares(work: Array, at: Any, n: Any) -> float:
    """Sum of the squares of n numbers."""
    total = 0.0
    for k in range(at, at + n):
        total += work[k] * work[k]
    return total


def keep_goal(ints: Array, work: Array) -> None:
    """Set the instant's known poses and inputs aside."""
    for k in range(ints[N_KNOWN]):
        for m in range(12):
            work[ints[GOAL] + 12 * k + m] = work[ints[STAGE] + STATE * k + m]
        work[ints[GOAL_TURN] + 3 * k] = math.nan
        work[ints[GOAL_TURNED] + k] = work[ints[TURNED] + k]
    for k in range(ints[N_INPUTS]):
        work[ints[GOAL_U] + k] = work[ints[U] + k]


def part_way(ints: Array, work: Array, memory: Array, share: float) -> None:
    """Known bodies and inputs so far on the way from the last instant (0) to the goal (1)."""
    for k in range(ints[N_KNOWN]):
        at, goal, was = ints[STAGE] + STATE * k, ints[GOAL] + 12 * k, ints[LAST_KNOWN] + 12 * k
        if ints[PLANAR] == 1:
            last, will = memory[ints[LAST_TURNED] + k], work[ints[GOAL_TURNED] + k]
            work[ints[TURNED] + k] = last + share * (will - last)
        if share == 1.0:
            for m in range(12):
                work[at + m] = work[goal + m]
            continue
        turn = ints[GOAL_TURN] + 3 * k
        if ints[PLANAR] == 1 and memory[RUN] > 0.0:  # after a gap nobody went all of the way
            put_in(work, turn, (0.0, 0.0, work[ints[GOAL_TURNED] + k] - memory[ints[LAST_TURNED] + k]))
        elif work[turn] != work[turn]:
            back = transposed(matrix_in(memory, was + 3))
            put_in(work, turn, rotation_vector(product(matrix_in(work, goal + 3), back)))
        for m in range(3):
            work[at + POSITION + m] = memory[was + m] + share * (work[goal + m] - memory[was + m])
        turned = product(exponential(times(share, vector_in(work, turn))), matrix_in(memory, was + 3))
        put_matrix_in(work, at + ROTATION, turned)
    for k in range(ints[N_INPUTS]):
        last, will = memory[ints[LAST_U] + k], work[ints[GOAL_U] + k]
        work[ints[U] + k] = will if share == 1.0 else last + share * (will - last)


def rotation_vector(m: Matrix) -> Vector:
    """The rotation vector (rad, at most pi long) of a rotation."""
    axis = (0.5 * (m[7] - m[5]), 0.5 * (m[2] - m[6]), 0.5 * (m[3] - m[1]))
    sine, cosine = length(axis), 0.5 * (m[0] + m[4] + m[8] - 1.0)
    angle = math.atan2(sine, cosine)
    if cosine > -0.99:
        return times(angle / sine if sine > 1e-9 else 1.0, axis)
    # Near half a turn the axis is the longest column of (R + Rᵀ) / 2 - cos.
    if m[0] >= m[4] and m[0] >= m[8]:
        along = unit((m[0] - cosine, 0.5 * (m[1] + m[3]), 0.5 * (m[2] + m[6])))
    elif m[4] >= m[8]:
        along = unit((0.5 * (m[1] + m[3]), m[4] - cosine, 0.5 * (m[5] + m[7])))
    else:
        along = unit((0.5 * (m[2] + m[6]), 0.5 * (m[5] + m[7]), m[8] - cosine))
    return times(angle if dot(along, axis) >= 0.0 else -angle, along)
