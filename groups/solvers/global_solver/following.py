"""Global runs that keep their assembly mode: a time step in which Newton goes far is divided into pieces."""

from __future__ import annotations

import numpy as np

from groups.kernels.vectors import exponential, rotation_vector
from groups.solvers.global_solver.solver import Advance
from groups.solvers.global_solver.system import GlobalRun, empty_quality, room
from groups.status import BRANCH_JUMP
from mbssa.arrays import Floats

#: Largest step of Newton (rad, or relative to the size) before an instant is approached in pieces.
LARGE = 0.1
#: Largest step of one piece then, largest number of pieces, and agreement of two paths.
STRIDE, PIECES, SAME = 0.3, 128, 1e-6


def solved(solve: Advance, run: GlobalRun) -> int:
    """Solve all instants of a run but the first; returns the last that has an answer."""
    last, at, stop = 0, 1, len(run.inputs[0])
    while at < stop:
        last, at = solve(run, at, stop, last)
        if at < stop:
            if _followed(solve, run, last, at):
                last = at
            at += 1
    return last


def _followed(solve: Advance, run: GlobalRun, last: int, t: int) -> bool:
    """Go from the last instant to this one in pieces, ever more, until two ways agree; whether they do."""
    known = run.system.known
    status, residual, iterations, condition = run.quality
    steps, pieces, agreed = int(iterations[t]), 2, False
    before: tuple[Floats, Floats, Floats] | None = None
    near = run.poses[5][:, last]
    while pieces <= PIECES and not agreed:
        way = _way(run, last, t, pieces)
        _, reached = solve(way, 1, pieces + 1, 0)
        steps += int(way.quality[2].sum())
        now = way.poses[0][known:, -1], way.poses[1][known:, -1], way.poses[4][known:, -1]
        if reached > pieces and before is not None:
            agreed = all(np.abs(a - b).max() <= SAME for a, b in zip(now, before, strict=True))
            near = way.poses[5][:, -1]
        status[t] = way.quality[0][reached] if reached <= pieces else BRANCH_JUMP
        before = now if reached > pieces else None
        pieces *= 2
    if agreed:
        end = _end(run, t, now, near)
        _, reached = solve(end, 1, 2, 0)
        steps += int(end.quality[2][1])
        agreed = reached == 2
        for mine, found in zip((status, residual, condition), end.quality[:2] + end.quality[3:], strict=True):
            mine[t] = found[1]
        for pose, there in zip(run.poses[:5], end.poses, strict=False):
            pose[known:, t] = there[known:, 1] if agreed else np.nan
        run.poses[5][:, t] = end.poses[5][:, 1]
    iterations[t] = steps
    return agreed


def _way(run: GlobalRun, last: int, t: int, pieces: int) -> GlobalRun:
    """A run of so many instants from one to another, each a second long, positions alone."""
    system = run.system
    share = np.arange(pieces + 1) / pieces
    poses = room(len(run.poses[0]), pieces + 1, len(run.poses[5]))
    poses[5][:, 0] = run.poses[5][:, last]
    for b in range(len(run.poses[4])):
        goal = run.poses[4][b, t] if b < system.known else np.nan
        poses[4][b] = run.poses[4][b, last] * (1.0 - share) + share * goal
    poses[4][:, 0] = run.poses[4][:, last]
    for place, kept in zip(poses[:2], run.poses[:2], strict=True):
        place[:, 0] = kept[:, last]
        place[: system.known, -1] = kept[: system.known, t]
    for b in range(system.known):
        start, goal = run.poses[1][b, last], run.poses[1][b, t]
        turn = np.array(rotation_vector(tuple((goal @ start.T).ravel().tolist())))
        for k in range(1, pieces):
            poses[0][b, k] = (1.0 - share[k]) * run.poses[0][b, last] + share[k] * run.poses[0][b, t]
            turned = np.array(exponential(tuple((share[k] * turn).tolist()))).reshape(3, 3)
            poses[1][b, k] = turned @ start
    gap = run.inputs[1][:, t] - run.inputs[1][:, last]
    value = run.inputs[1][:, last, None] + np.outer(gap, share)
    value[:, -1] = run.inputs[1][:, t]
    rate = np.repeat(gap[:, None] / pieces, pieces + 1, axis=1)
    return GlobalRun(
        system,
        (np.arange(pieces + 1.0), value, rate, np.zeros_like(rate)),
        poses,
        empty_quality(pieces + 1),
        (*run.limits[:3], STRIDE, run.limits[4]),
        0,
    )


def _end(run: GlobalRun, t: int, own: tuple[Floats, Floats, Floats], near: Floats) -> GlobalRun:
    """A run of the one instant that begins at the end of the pieces before it."""
    known = run.system.known
    poses = room(len(run.poses[0]), 2, len(near))
    poses[5][:, 0] = near
    for k, found in zip((0, 1, 4), own, strict=True):
        poses[k][:known] = run.poses[k][:known, t, None]
        poses[k][known:, 0] = found
    for place, kept in zip(poses[2:4], run.poses[2:4], strict=True):
        place[:known, 1] = kept[:known, t]
    value, rate, second = (np.ascontiguousarray(part[:, [t, t]]) for part in run.inputs[1:])
    return GlobalRun(
        run.system,
        (np.array([0.0, 1.0]), value, rate, second),
        poses,
        empty_quality(2),
        run.limits,
        run.level,
    )
