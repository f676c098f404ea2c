"""Three unknowns and one pin: three joints bring two points together, a quartic at most."""

from __future__ import annotations

import math

from groups.kernels.following import follow
from groups.kernels.layout import FEWEST, FRESH, LAST_MEASURE, POINTS, RUN, SIGN, Group, Meeting
from groups.kernels.loci import meet
from groups.kernels.loop_closure import point_of, residuals
from groups.kernels.newton import POLISH, Answer, linearise, newton, place
from groups.kernels.path import keep_goal, part_way, recall
from groups.kernels.tree import forward, move
from groups.kernels.vectors import Vector, cross, dot, length, minus, put_of, times, vector_of
from groups.status import BRANCH_JUMP, NOT_CONVERGED, OK, OUT_OF_REACH, SINGULAR
from mbssa.arrays import Floats
from mbssa.compiled import merged

#: Corrections (rad, or of the size) from which a step is looked at more closely.
LARGE = 0.1
#: Least ratio of the distances to a second and to the first point with the mode's sign, after a large step.
APART = 2.0
#: Condition of a pose from which a large step may go on, and how far from a dead point a mode is found again.
WIDE, RETURN = 0.05, 0.5
#: Newton steps (rad, or of the size) below which another is not seen, and their most.
SETTLED, STEPS = 1e-8, 4
#: Largest product of inverse, second derivative and first step (Kantorovich). One point is certain up to 0.5;
#: the rest is for arms that grow on the way.
CERTAIN = 0.25
#: :attr:`Memory.head`: that the points of the last time step were not counted.
UNKNOWN = -1.0


@merged
def solve_meeting(g: Group, meeting: Meeting) -> Answer:
    """The point of the mode: followed from the last time step, or chosen of all points."""
    answer = followed(g, meeting)
    if answer[0] != OK:
        answer = chosen(g, meeting)
    return answer


@merged
def followed(g: Group, meeting: Meeting) -> Answer:
    """The point of the mode by Newton from the predicted unknowns, if no other point is nearer to them."""
    tree, pose, equations, head = g.tree, g.pose, g.equations, g.memory.head
    right, steps, largest, lost = equations.right, 0, math.inf, (NOT_CONVERGED, 0, math.nan, 0.0, 0.0)
    while True:
        place(tree, pose, equations)
        worst = residuals(g, None)
        if largest <= SETTLED or steps == STEPS or not worst < math.inf:
            break
        step, inverse, reach = towards(g, meeting)
        largest = max(abs(step[0]), abs(step[1]), abs(step[2]))
        # Another point is farther than 1 / (inverse bend) from here; the one found at most 2 largest.
        bend = 9.0 * max(reach, 1.0)
        if steps == 0 and not (largest <= 0.5 * LARGE and inverse * bend * largest <= CERTAIN):
            return lost
        for j in range(3):
            k = tree.unknown[meeting.step[j]]
            right[k] = tree.scale[k] * step[j]
        move(tree, pose, right)
        steps += 1
    if not (largest <= SETTLED and worst <= g.cuts.limit[1]):
        return lost
    sign, measure = linearise(g, None)
    if sign != head[SIGN] or not measure > WIDE:
        return lost
    equations.flags[FRESH] = 1.0
    head[POINTS], head[LAST_MEASURE] = UNKNOWN, measure
    return OK, steps, worst, sign, measure


@merged
def towards(g: Group, meeting: Meeting) -> tuple[Vector, float, float]:
    """Newton's step of the three joints over their scales, a bound of the inverse Jacobian."""
    cuts, pose = g.cuts, g.pose
    per, far = 1.0 / cuts.limit[0], meeting.far[0]
    end = point_of(pose, cuts.pin[0, far], cuts.pin_point, 0, 3 * far)
    other = point_of(pose, cuts.pin[0, 1 - far], cuts.pin_point, 0, 3 - 3 * far)
    a, first = column(g, meeting, 0, end, other)
    b, second = column(g, meeting, 1, end, other)
    c, third = column(g, meeting, 2, end, other)
    one, two, three = cross(b, c), cross(c, a), cross(a, b)
    volume = dot(a, one)
    over = 1.0 / volume if volume != 0.0 else math.inf
    miss = times(per, minus(other, end))
    step = over * dot(one, miss), over * dot(two, miss), over * dot(three, miss)
    square = max(dot(one, one), dot(two, two), dot(three, three))
    return step, abs(over) * math.sqrt(square), max(first, second, third)


@merged
def column(g: Group, meeting: Meeting, j: int, end: Vector, other: Vector) -> tuple[Vector, float]:
    """Rate of the gap from ``other`` to ``end`` at a unit rate of a joint over its scale."""
    tree, pose, s = g.tree, g.pose, meeting.step[j]
    k, per = tree.unknown[s], 1.0 / g.cuts.limit[0]
    along, carries = vector_of(pose.along, s, 0), tree.influence[g.cuts.pin[0, meeting.far[0]], k] == 1
    if meeting.slides[j] == 1:
        rate, arm = along, 1.0
    else:
        lever = times(per, minus(end if carries else other, vector_of(pose.point, s, 0)))
        rate, arm = cross(along, lever), length(lever)
    return rate if carries else times(-1.0, rate), arm


def chosen(g: Group, meeting: Meeting) -> Answer:
    """The point of the mode among all, polished by Newton; followed in pieces where two are possible."""
    flags, head = g.equations.flags, g.memory.head
    if head[POINTS] == UNKNOWN:
        head[POINTS] = points_before(g, meeting)
        head[FEWEST] = head[POINTS]
    for k in range(len(g.pose.x)):
        g.pose.x[k] = g.path.guess[k]
    answer = by_meeting(g, meeting)
    if answer[0] == NOT_CONVERGED:
        flags[FRESH] = 0.0
        answer = newton(g, None, POLISH, False)
    if answer[0] == BRANCH_JUMP:  # two points may be meant, or none
        flags[FRESH] = 0.0
        answer = follow(g, None)
        if answer[0] != OK:
            answer = (BRANCH_JUMP, answer[1], answer[2], answer[3], answer[4])
    return answer


def points_before(g: Group, meeting: Meeting) -> int:
    """Number of points at which the joints met at the last time step that was solved."""
    keep_goal(g)
    part_way(g, 0.0)
    recall(g, None)
    count, _ = points_of(g, meeting)
    part_way(g, 1.0)
    return count


def points_of(g: Group, meeting: Meeting) -> tuple[int, float]:
    """Write all points at which the joints meet into ``meeting.found``; how many, and the miss if none."""
    tree, cuts, pose, lines = g.tree, g.cuts, g.pose, meeting.lines
    forward(tree, pose)
    far, other = meeting.far[0], 1 - meeting.far[0]
    put_of(lines, 6, 0, point_of(pose, cuts.pin[0, far], cuts.pin_point, 0, 3 * far))
    put_of(lines, 7, 0, point_of(pose, cuts.pin[0, other], cuts.pin_point, 0, 3 * other))
    for j in range(3):
        s = meeting.step[j]
        put_of(lines, j, 0, vector_of(pose.point, s, 0))
        put_of(lines, 3 + j, 0, vector_of(pose.along, s, 0))
        lines[8, j] = pose.x[j]
    return meet(meeting.slides, lines[0:3], lines[3:6], lines[6], lines[7], meeting.found)


def by_meeting(g: Group, meeting: Meeting) -> Answer:
    """Of the points with the mode's sign, the one nearest to the predicted unknowns."""
    tree, head, found, done = g.tree, g.memory.head, meeting.found, meeting.done
    count, gap = points_of(g, meeting)
    for c in range(count):
        done[c] = 0.0
    chosen, near, rival, measure = -1, 0.0, 1e300, 0.0
    for _ in range(count):  # the nearest first
        best, which = 1e300, 0
        for c in range(count):
            distance = 0.0
            for j in range(3):
                k = tree.unknown[meeting.step[j]]
                distance = max(distance, abs(found[c, j]) / tree.scale[k])
            if distance < best and done[c] == 0.0:
                best, which = distance, c
        done[which] = 1.0
        sign, condition = stand_at(g, meeting, found, which)
        if sign == head[SIGN]:
            if chosen >= 0:
                rival = best
                break
            chosen, near, measure = which, best, condition
            if near <= LARGE:
                break
    if chosen < 0:
        head[FEWEST] = 0.0
        return (BRANCH_JUMP if count > 0 else OUT_OF_REACH if gap > 0.0 else SINGULAR), 0, gap, 0.0, 0.0
    if near > LARGE:
        head[FEWEST] = min(head[FEWEST], count)
        alone = rival >= APART * near
        # From a pose that was far from any dead point, or back from one with a pair of points born again.
        steady = count == head[POINTS] and head[LAST_MEASURE] > WIDE
        back = head[RUN] == 0.0 and near <= RETURN and count > head[FEWEST]
        if not alone or not (steady or back):
            return BRANCH_JUMP, 0, math.nan, 0.0, 0.0
        _, measure = stand_at(g, meeting, found, chosen)
    head[FEWEST], head[LAST_MEASURE] = count, measure
    head[POINTS] = count
    g.equations.flags[FRESH] = 1.0
    worst = residuals(g, None)
    status = OK if worst <= g.cuts.limit[1] else NOT_CONVERGED
    return status, 0, worst, head[SIGN], measure


def stand_at(g: Group, meeting: Meeting, found: Floats, which: int) -> tuple[float, float]:
    """Go to a point that was found and factorise there: sign of the determinant and condition."""
    go_to(g, meeting, found, which)
    place(g.tree, g.pose, g.equations)
    return linearise(g, None)


def go_to(g: Group, meeting: Meeting, found: Floats, which: int) -> None:
    """Three unknowns by what was found from where they were; a first joint in the same chain turns back."""
    tree, end = g.tree, g.cuts.pin[0, meeting.far[0]]
    for j in range(3):
        k = tree.unknown[meeting.step[j]]
        back = j == 0 and tree.influence[end, k] == 1
        change = -found[which, 0] if back else found[which, j]
        g.pose.x[k] = meeting.lines[8, k] + change
