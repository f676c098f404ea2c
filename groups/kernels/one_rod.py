"""One unknown and one rod, through any number of links: a circle or a line meets a sphere."""

from __future__ import annotations

import math

from groups.kernels.jets import turns
from groups.kernels.layout import SIGN, SLIDE, Group
from groups.kernels.loop_closure import point_of, rod_length
from groups.kernels.newton import POLISH, Answer, newton
from groups.kernels.tree import forward
from groups.kernels.vectors import cross, dot, minus, plus_times, vector_of
from groups.status import OK, OUT_OF_REACH


def solve_one_rod(g: Group) -> Answer:
    """The root with the sign of the mode, polished by Newton."""
    status = reach(g, g.memory.head[SIGN])
    if status != OK:
        return status, 0, math.nan, 0.0, 0.0
    return newton(g, None, POLISH, True)


def reach(g: Group, sign: float) -> int:
    """Move the unknown to where the rod has its length; returns a status."""
    tree, cuts, pose = g.tree, g.cuts, g.pose
    forward(tree, pose)
    s = 0
    while tree.unknown[s] < 0:
        s += 1
    a, b = cuts.rod[0, 0], cuts.rod[0, 1]
    p, t = point_of(pose, b, cuts.rod_point, 0, 3), point_of(pose, a, cuts.rod_point, 0, 0)
    if tree.influence[b, 0] == 0:
        p, t = t, p
    size, _, _ = rod_length(cuts, pose, 0)
    axis = vector_of(pose.along, s, 0)
    status, change = OK, 0.0
    if tree.kind[s] == SLIDE:
        gap = minus(p, t)
        along = dot(gap, axis)
        across = plus_times(gap, -along, axis)
        square = size * size - dot(across, across)
        if square < -1e-14 * size * size:
            status = OUT_OF_REACH
        change = sign * math.sqrt(max(square, 0.0)) - along
    else:
        o = vector_of(pose.point, s, 0)
        p, t = minus(p, o), minus(t, o)
        high, low = dot(p, axis), dot(t, axis)
        p, t = plus_times(p, -high, axis), plus_times(t, -low, axis)
        wanted = 0.5 * ((high - low) * (high - low) + dot(p, p) + dot(t, t) - size * size)
        x, y = dot(p, t), dot(cross(axis, p), t)
        far = math.sqrt(x * x + y * y)
        if abs(wanted) <= far * (1.0 + 1e-14) and far > 0.0:
            change = math.atan2(y, x) + sign * math.acos(max(-1.0, min(1.0, wanted / far)))
            change -= turns(change)  # the turn nearest to the predicted x
        else:
            status = OUT_OF_REACH
    pose.x[0] += change
    return status
