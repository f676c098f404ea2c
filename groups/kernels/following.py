"""Continuation of a group from the last time step in pieces, ever more, until two agree."""

from __future__ import annotations

import math

from groups.kernels.layout import BALL_X, FACTORS, SIGN, Group, Rows
from groups.kernels.loop_closure import choose_rows, is_redundant
from groups.kernels.newton import MOST, Answer, newton
from groups.kernels.path import count_on, keep_goal, part_way, recall
from groups.kernels.tree import move
from groups.status import BRANCH_JUMP, OK
from mbssa.compiled import separate

#: Pieces into which a step is cut at most before the mode counts as lost.
PIECES = 128
#: Largest step of one piece, rad or relative to the size.
STRIDE = 0.3
#: Agreement of two ways, rad or of the size.
SAME = 1e-6
#: Condition below which other rows are solved instead, where there are more than are needed.
POOR = 0.1


@separate
def follow(g: Group, rows: Rows | None) -> Answer:
    """Go from the last time step that was solved to this one in pieces, ever more, until two ways agree."""
    tree, pose, path = g.tree, g.pose, g.path
    keep_goal(g)
    status, steps, worst, sign, condition = BRANCH_JUMP, 0, math.nan, 0.0, 0.0
    total, have, pieces = 0, False, 2
    while pieces <= PIECES:
        recall(g, rows)
        status, steps, worst, sign, condition = walk(g, rows, pieces)
        total += steps
        apart = 0.0
        for s in range(len(tree.kind)):
            k = tree.unknown[s]
            if k >= 0 and tree.kind[s] < BALL_X:  # the small turns of balls do not commute
                apart = max(apart, abs(pose.x[k] - path.other[k]) / tree.scale[k])
                path.other[k] = pose.x[k]
        for b in range(len(pose.ball)):
            for m in range(9):
                apart = max(apart, abs(pose.ball[b, m] - path.other_ball[b, m]))
                path.other_ball[b, m] = pose.ball[b, m]
        if status == OK and have and apart <= SAME:
            break
        have = status == OK
        pieces *= 2
    if status == OK and pieces > PIECES:
        status = BRANCH_JUMP
    part_way(g, 1.0)
    return status, total, worst, sign, condition


def walk(g: Group, rows: Rows | None, pieces: int) -> Answer:
    """Continuation to the goal in so many pieces; lost where a piece leads far, or to another sign."""
    pose, change, start = g.pose, g.path.change, g.path.guess
    n, redundant = len(pose.x), is_redundant(g)
    status, steps, worst, sign, condition = OK, 0, math.nan, 0.0, 0.0
    total = 0
    for k in range(n):
        change[k] = 0.0
    for piece in range(1, pieces + 1):
        part_way(g, piece / pieces)
        for k in range(n):
            start[k] = pose.x[k]
        move(g.tree, pose, change)
        status, steps, worst, sign, condition = newton(g, rows, MOST, False)
        total += steps
        if status != OK:
            break
        far = 0.0
        for k in range(n):
            change[k] = pose.x[k] - start[k]
            far = max(far, abs(change[k]) / g.tree.scale[k])
        if far > STRIDE or (sign != g.memory.head[SIGN] and not redundant):
            status = BRANCH_JUMP
            break
        if rows is not None:
            count_on(rows)
            if condition < POOR and redundant:
                choose_rows(g, rows)
                g.equations.flags[FACTORS] = 0.0
    return status, total, worst, sign, condition
