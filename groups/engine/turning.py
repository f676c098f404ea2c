"""Closed forms that turned back at a dead point between two instants: the sign holds, the path does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from groups.engine.plan import GIMBAL, REACH
from groups.status import BRANCH_JUMP, OK, PREDECESSOR_FAILED
from mbssa.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from groups.engine.arrays import Life
    from groups.engine.path import Way
    from groups.engine.plan import Part, Plan
    from groups.engine.rescue import Statuses

#: Share of its largest reach below which a group is near a dead point, and below which a parabola is telling.
CLOSE, TELLING = 0.25, 0.05
#: Way of an input in a long time step, rad or sizes; share of the reach below which such steps are solved in
#: pieces, and how many.
COARSE, WIDE, PIECES = 0.05, 0.6, 64
#: Displacements may be off those of the rates by this share, and this much of the size or rad.
LEAP, BLUR = 0.3, 1e-6
#: A body may turn so much more in a time step than its rates say, rad.
FLIP = 0.5


def mark_turned_back(
    plan: Plan, life: Life, way: Way, X: Floats, status: Statuses, ranges: Sequence[tuple[float, float]]
) -> bool:
    """Say of the first instant behind a dead point that a closed form did not go through it."""
    if not plan.signed or all(least >= WIDE**2 * largest for least, largest in ranges):
        return False
    share = (WIDE if way.longest > COARSE else CLOSE) ** 2
    if all(least >= share * largest for least, largest in ranges):
        return False  # nowhere near a dead point
    coarse, changed = np.flatnonzero(way.travel > COARSE), False
    for part in plan.parts:
        if changed:
            lost = (status[list(part.known)] == BRANCH_JUMP).any(axis=0) & (status[part.index] == OK)
            status[part.index, lost] = PREDECESSOR_FAILED
        if part not in plan.signed:
            continue
        for row in (REACH, GIMBAL):
            square = X[part.quality + row]
            largest = max(square.max(), 1e-300)
            if not square.min() < share * largest:
                continue
            measure = np.sqrt(np.maximum(square, 0.0) / largest)
            back = _turned(plan, life, way, part, X, status, measure, coarse, row)
            status[part.index, back] = BRANCH_JUMP
            changed |= bool(back.any())
    return changed


def _turned(
    plan: Plan,
    life: Life,
    way: Way,
    part: Part,
    X: Floats,
    status: Statuses,
    measure: Floats,
    coarse: Ints,
    row: int,
) -> Bools:
    """(T,) instants behind a dead point."""
    solved = (status[part.index] == OK) & np.isfinite(X[part.records[0]])
    back = _turned_back(plan, part, X, way.time, measure, solved)
    for k in coarse[np.minimum(measure[coarse], measure[coarse + 1]) < WIDE].tolist():
        back[k + 1] |= solved[k] and solved[k + 1] and _inside(plan, life, way, part, X, k, row)
    return back


def _turned_back(plan: Plan, part: Part, X: Floats, time: Floats, measure: Floats, solved: Bools) -> Bools:
    near = np.flatnonzero((np.minimum(measure[1:], measure[:-1]) < CLOSE) & solved[1:] & solved[:-1])
    found = np.zeros(len(time), dtype=bool)
    if len(near):
        h = time[near + 1] - time[near]
        leaps = np.zeros(len(near), dtype=bool)
        for b in part.group.own:
            first = plan.body(b)
            leaps |= _leaps(plan, X[first : first + plan.record.stored], near, h)
        found[near[leaps | _mirrored(measure, time, solved, near)] + 1] = True
    return found


def _inside(plan: Plan, life: Life, way: Way, part: Part, X: Floats, k: int, row: int) -> bool:
    """Whether the group turned back inside a long time step, which is solved in pieces for that."""
    share = np.linspace(0.0, 1.0, PIECES + 1)
    Y = life.storage(len(share))
    Y[: plan.first_body, : len(share)] = way.at(k + share)
    Y[plan.q, : len(share)] = X[plan.q, k, None] + share * (X[plan.q, k + 1] - X[plan.q, k])[:, None]
    life.apart(Y, len(share), np.inf)
    Y = Y[:, : len(share)]
    measure = np.sqrt(np.maximum(Y[part.quality + row], 0.0))
    solved = np.isfinite(Y[part.records[0]])
    if not solved.all():  # it comes back with the sign that it had
        return False
    time = way.time_at(k + share)
    return bool(_turned_back(plan, part, Y, time, measure / max(measure.max(), 1e-300), solved).any())


def _leaps(plan: Plan, body: Floats, near: Ints, h: Floats) -> Bools:
    """Whether a body goes elsewhere in a step than its rates say (Hermite's rule)."""
    record = plan.record
    before, after = body[:, near], body[:, near + 1]
    places, n = list(record.position), len(record.position)
    v0, v1 = before[list(record.velocity)], after[list(record.velocity)]
    a0, a1 = before[list(record.acceleration)], after[list(record.acceleration)]
    way = 0.5 * h * (v0 + v1) + h * h / 12.0 * (a0 - a1)
    off = np.linalg.norm(after[places] - before[places] - way[:n], axis=0)
    fast = np.maximum(np.linalg.norm(v0[:n], axis=0), np.linalg.norm(v1[:n], axis=0))
    found: Bools = off > LEAP * h * fast + BLUR * plan.size
    if record.planar:
        turned = after[record.turn] - before[record.turn]
        off = np.abs(np.mod(turned - way[2] + np.pi, 2 * np.pi) - np.pi)
        found |= off > LEAP * h * np.maximum(np.abs(v0[2]), np.abs(v1[2])) + BLUR
        return found
    inner = np.abs((before[3:7] * after[3:7]).sum(axis=0))
    turn = 2.0 * np.arccos(np.minimum(inner, 1.0))
    rates = np.maximum(np.linalg.norm(v0[3:], axis=0), np.linalg.norm(v1[3:], axis=0))
    found |= turn > h * rates + FLIP
    return found


def _mirrored(measure: Floats, time: Floats, solved: Bools, near: Ints) -> Bools:
    """Whether the parabola through three measures is below zero at the next, which is its mirror image."""
    found = np.zeros(len(near), dtype=bool)
    t = near[near >= 2] + 1
    pace = time[t] - time[t - 1]
    even = np.abs(time[t - 1] - time[t - 2] - pace) + np.abs(time[t - 2] - time[t - 3] - pace)
    ahead = 3.0 * (measure[t - 1] - measure[t - 2]) + measure[t - 3]
    mirrored = np.abs(measure[t] + ahead) < -0.5 * ahead
    falling = (measure[t - 1] < measure[t - 2]) & (measure[t - 1] < TELLING)
    found[near >= 2] = (even <= 1e-6 * pace) & mirrored & falling & solved[t - 2] & solved[t - 3]
    return found
