"""Three unknowns and one pin: three joints bring two points together, a quartic at most.

Points appear and vanish in pairs of opposite signs of the Jacobian's determinant, which holds the mode.
"""

from __future__ import annotations

import math

from groups.kernels.following import follow
from groups.kernels.layout import (
    FEWEST,
    FRESH,
    LAST_MEASURE,
    POINTS,
    RUN,
    SIGN,
    Floats,
    Group,
    Meeting,
)
from groups.kernels.loci import meet
from groups.kernels.loop_closure import point_of, residuals
from groups.kernels.newton import POLISH, Answer, linearise, newton, place
from groups.kernels.status import MODE_LOST, NOT_CONVERGED, OK, OUT_OF_REACH, SINGULAR
from groups.kernels.tree import forward
from groups.kernels.vectors import put_of, vector_of

#: Corrections (rad, or of the size) from which a step is looked at more closely.
LARGE = 0.1
#: How much farther a second point with the mode's sign must be, after a large step, for the first to be it.
APART = 2.0
#: Condition of a pose from which a large step may go on, and how far from a dead point a mode is found again.
WIDE, RETURN = 0.05, 0.5


def solve_meeting(g: Group, meeting: Meeting) -> Answer:
    """The point of the mode, polished by Newton where it must be; led there where two may be meant."""
    flags = g.equations.flags
    answer = by_meeting(g, meeting)
    if answer[0] == NOT_CONVERGED:
        flags[FRESH] = 0.0
        answer = newton(g, None, POLISH, False)
    if answer[0] == MODE_LOST:  # two points may be meant, or none
        flags[FRESH] = 0.0
        answer = follow(g, None)
        if answer[0] != OK:
            answer = (MODE_LOST, answer[1], answer[2], answer[3], answer[4])
    return answer


def points_of(g: Group, meeting: Meeting) -> tuple[int, float]:
    """Write all points at which the joints meet into ``meeting.found``; how many, and the miss if none."""
    tree, cuts, pose, lines = g.tree, g.cuts, g.pose, meeting.lines
    forward(tree, pose)
    far, other = meeting.far, 1 - meeting.far
    put_of(lines, 6, 0, point_of(pose, cuts.pin[0, far], cuts.pin_point, 0, 3 * far))
    put_of(lines, 7, 0, point_of(pose, cuts.pin[0, other], cuts.pin_point, 0, 3 * other))
    for j in range(3):
        s = meeting.step[j]
        put_of(lines, j, 0, vector_of(pose.point, s, 0))
        put_of(lines, 3 + j, 0, vector_of(pose.along, s, 0))
        lines[8, j] = pose.x[j]
    return meet(meeting.slides, lines[0:3], lines[3:6], lines[6], lines[7], meeting.found)


def by_meeting(g: Group, meeting: Meeting) -> Answer:
    """Of the points with the mode's sign, the one nearest to where the unknowns are led.

    After a large step the nearest may be another than the one that was followed, unless no other is nearly as
    near and either there are as many points as before, or a pair is born again after the mode had ended: if
    not, the mode counts as lost for now.
    """
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
        return (MODE_LOST if count > 0 else OUT_OF_REACH if gap > 0.0 else SINGULAR), 0, gap, 0.0, 0.0
    if near > LARGE:
        head[FEWEST] = min(head[FEWEST], count)
        alone = rival >= APART * near
        # From a pose that was far from any dead point, or back from one with a pair of points born again.
        steady = count == head[POINTS] and head[LAST_MEASURE] > WIDE
        back = head[RUN] == 0.0 and near <= RETURN and count > head[FEWEST]
        if not alone or not (steady or back):
            return MODE_LOST, 0, math.nan, 0.0, 0.0
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
    tree, end = g.tree, g.cuts.pin[0, meeting.far]
    for j in range(3):
        k = tree.unknown[meeting.step[j]]
        back = j == 0 and tree.influence[end, k] == 1
        change = -found[which, 0] if back else found[which, j]
        g.pose.x[k] = meeting.lines[8, k] + change
