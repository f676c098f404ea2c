"""Path of a group from the last time step to this one: prediction, memory, and motion of known bodies."""

from __future__ import annotations

import math

from groups.kernels.jets import COUNTED, LINE
from groups.kernels.layout import PACE, RUN, Group, Memory, Rows
from groups.kernels.tree import move
from groups.kernels.vectors import (
    POSITION,
    ROTATION,
    exponential,
    matrix_of,
    product,
    put_matrix_of,
    put_of,
    rotation_vector,
    times,
    transposed,
    upright,
    vector_of,
)

#: Largest distance (rad) of an angle from its prediction by rates, beyond which its turns are uncertain.
DOUBT = 2.0


def recall(g: Group, rows: Rows | None) -> None:
    """The unknowns as they were at the last time step that was solved."""
    memory, pose = g.memory, g.pose
    for k in range(len(pose.x)):
        pose.x[k] = memory.x[k]
    for b in range(len(pose.ball)):
        for m in range(9):
            pose.ball[b, m] = memory.ball[b, m]
    if rows is not None:
        for k in range(len(rows.near)):
            rows.near[k] = memory.held[k]


def predict(g: Group, pace: float) -> None:
    """Lead the unknowns on as the last time steps did; ``path.guess`` keeps where to."""
    memory, path, pose = g.memory, g.path, g.pose
    share, bend = 0.0, 0.0
    if memory.head[RUN] >= 2.0:
        share = pace / memory.head[PACE]
        if memory.head[RUN] >= 3.0 and abs(share - 1.0) <= 1e-6:
            bend = 1.0
    for k in range(len(pose.x)):
        step = share * memory.change[k]
        path.change[k] = step + bend * (step - memory.change_before[k])
    move(g.tree, pose, path.change)
    for k in range(len(pose.x)):
        path.guess[k] = pose.x[k]


def turn_on(memory: Memory, rows: Rows, pace: float) -> None:
    """Extrapolate the angles from which the turns of terms are counted by their rates."""
    if memory.head[RUN] > 0.0:
        for k in range(len(rows.near)):
            rows.near[k] += pace * memory.held_rate[k]


def count_on(rows: Rows) -> None:
    """Let the turns of angles go on from where they are."""
    for k in range(len(rows.near)):
        rows.near[k] = rows.table[k, 0] / rows.weight[k]


def is_counted(memory: Memory, rows: Rows, pace: float) -> bool:
    """Whether angles that only time steps count changed by as much as their rates give."""
    if memory.head[RUN] == 0.0:
        return True
    for k in range(len(rows.code)):
        code = rows.code[k]
        if rows.near_from[k] == -1 and (code in (COUNTED, LINE)):
            weight = rows.weight[k]
            change = rows.table[k, 0] / weight - memory.held[k]
            rates = rows.table[k, 14] / weight + memory.held_rate[k]
            if abs(change - 0.5 * pace * rates) > DOUBT:
                return False
    return True


def remember(g: Group, rows: Rows | None, pace: float, level: int) -> None:
    """Keep the unknowns, how they changed, and where the known bodies and inputs were."""
    memory, pose = g.memory, g.pose
    for k in range(len(pose.x)):
        memory.change_third[k] = memory.change_before[k]
        memory.change_before[k] = memory.change[k]
        memory.change[k] = pose.x[k] - memory.x[k]
        memory.x[k] = pose.x[k]
    for b in range(len(pose.ball)):
        put_matrix_of(memory.ball, b, 0, upright(matrix_of(pose.ball, b, 0)))
    keep_known(g)
    if rows is not None:
        count_on(rows)
        for k in range(len(rows.near)):
            memory.held[k] = rows.near[k]
            memory.held_rate[k] = rows.table[k, 14] / rows.weight[k] if level == 2 else 0.0
        keep_places(memory)
    even = abs(pace - memory.head[PACE]) <= 1e-6 * abs(pace)
    memory.head[RUN] = memory.head[RUN] + 1.0 if even else 1.0
    memory.head[PACE] = pace


def keep_known(g: Group) -> None:
    """Keep where the known bodies and inputs are."""
    memory, pose = g.memory, g.pose
    for k in range(len(memory.known)):
        for m in range(12):
            memory.known[k, m] = pose.stage[k, m]
        if g.tree.planar == 1:
            memory.turned[k] = pose.turned[k]
    for k in range(len(pose.u)):
        memory.u[k] = pose.u[k]


def keep_places(memory: Memory) -> None:
    """Keep where contacts are, and where they were at the last two time steps."""
    for k in range(len(memory.place)):
        for m in range(5, -1, -1):
            memory.place[k, m + 2] = memory.place[k, m]


def keep_goal(g: Group) -> None:
    """Set the time step's known poses and inputs aside."""
    path, pose = g.path, g.pose
    for k in range(len(path.goal)):
        for m in range(12):
            path.goal[k, m] = pose.stage[k, m]
        path.goal_turn[k, 0] = math.nan
        path.goal_turned[k] = pose.turned[k]
    for k in range(len(pose.u)):
        path.goal_u[k] = pose.u[k]


def part_way(g: Group, share: float) -> None:
    """Known bodies and inputs so far on the way from the last time step (0) to the goal (1)."""
    memory, path, pose, planar = g.memory, g.path, g.pose, g.tree.planar == 1
    for k in range(len(path.goal)):
        if planar:
            last, will = memory.turned[k], path.goal_turned[k]
            pose.turned[k] = last + share * (will - last)
        if share == 1.0:
            for m in range(12):
                pose.stage[k, m] = path.goal[k, m]
            continue
        if planar and memory.head[RUN] > 0.0:  # after a gap no time step covers all of the way
            put_of(path.goal_turn, k, 0, (0.0, 0.0, path.goal_turned[k] - memory.turned[k]))
        elif path.goal_turn[k, 0] != path.goal_turn[k, 0]:
            back = transposed(matrix_of(memory.known, k, 3))
            put_of(path.goal_turn, k, 0, rotation_vector(product(matrix_of(path.goal, k, 3), back)))
        for m in range(3):
            was = memory.known[k, m]
            pose.stage[k, POSITION + m] = was + share * (path.goal[k, m] - was)
        turn = exponential(times(share, vector_of(path.goal_turn, k, 0)))
        put_matrix_of(pose.stage, k, ROTATION, product(turn, matrix_of(memory.known, k, 3)))
    for k in range(len(pose.u)):
        last, will = memory.u[k], path.goal_u[k]
        pose.u[k] = will if share == 1.0 else last + share * (will - last)
