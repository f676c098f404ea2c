"""Closed forms that turned back at a dead point between two instants: the sign holds, the path does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from groups.engine.arrays import way
from groups.engine.path import between
from groups.engine.plan import GIMBAL, REACH
from groups.status import BRANCH_JUMP, OK, PREDECESSOR_FAILED
from mbssa.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from groups.engine.arrays import Life
    from groups.engine.path import Way
    from groups.engine.plan import Part, Plan
    from groups.engine.rescue import Statuses

#: Sine of its angle below which a group is near a dead point, and below which a parabola is telling.
CLOSE, TELLING = 0.25, 0.05
#: Way of an input in a long time step, rad or sizes; sine below which such steps are solved in pieces, and
#: how many, no whole number, so that what is symmetric is not singular at one of them.
COARSE, WIDE, PIECES = 0.05, 0.6, 61.7
#: Sine over its largest change in a step from which on it does not come to zero inside of one, where the
#: inputs go at most so many times as far in one step as in another.
FAR, EVEN = 8.0, 2.0
#: Displacements may be off those of the rates by this share, and this much of the size or rad.
LEAP, BLUR = 0.3, 1e-6
#: A body may turn so much more in a time step than its rates say, rad.
FLIP = 0.5


def mark_turned_back(life: Life, way: Way, X: Floats, status: Statuses, notes: Floats) -> bool:
    """Say of the first instant behind a dead point that a closed form did not go through it; if any did."""
    # ``notes`` (G + 1, NOTES) have the squares of the sines.
    plan, near = life.plan, (WIDE if way.longest > COARSE else CLOSE) ** 2
    close_rows = [(k, row) for k, row in ((1, REACH), (2, GIMBAL)) if not notes[-1, k] >= near]
    if not (way.last and close_rows):
        return False
    even = way.last > 2 and way.longest <= min(COARSE, EVEN * way.least)
    suspects: dict[int, list[tuple[Part, int]]] = {}
    back = dict[int, Bools]()
    for k, row in close_rows:
        some = np.flatnonzero(~(notes[:-1, k] >= near))
        measures = np.sqrt(np.maximum(plan.quality(X)[some, row], 0.0))
        if even:
            most = np.abs(measures[:, 1:] - measures[:, :-1]).max(axis=1)
            doubtful = ~(measures.min(axis=1) > FAR * most)
            some, measures = some[doubtful], measures[doubtful]
        if not len(some):
            continue
        solved = np.isfinite(X[[plan.parts[g].records[0] for g in some.tolist()]]) & (status[some] == OK)
        least = np.minimum(measures[:, 1:], measures[:, :-1])
        closely = solved[:, 1:] & solved[:, :-1] & (least < np.where(way.steps > COARSE, WIDE, CLOSE))
        for i in np.flatnonzero(closely.any(axis=1)).tolist():
            part, steps = plan.parts[int(some[i])], np.flatnonzero(closely[i])
            if not (part.group.direct or part.group.struts):  # no sign that could hold
                continue
            close = steps[least[i, steps] < CLOSE]
            found = back.setdefault(part.index, np.zeros(len(way.time), dtype=np.bool_))
            found[close[_mirrored(measures[i], way.time, solved[i], close)] + 1] = True
            leaps, wide = _leaps(plan, part, X, close, way.time), way.steps[steps] > COARSE
            for step in np.union1d(close[leaps], steps[wide]).tolist():
                suspects.setdefault(step, []).append((part, row))
    for step, those in sorted(suspects.items()):
        for part in _inside(life, way, X, step, those):
            back[part.index][step + 1] = True
    if not any(found.any() for found in back.values()):
        return False
    lost = np.isin(status, (BRANCH_JUMP, PREDECESSOR_FAILED))
    for part in plan.parts:
        mine, gone = status[part.index], lost[list(part.known)].any(axis=0)
        mine[gone & (mine == OK)] = PREDECESSOR_FAILED
        mine[back.get(part.index, False) & (mine == OK)] = BRANCH_JUMP
        lost[part.index] |= gone | (mine == BRANCH_JUMP)
    return True


def _leaps(plan: Plan, part: Part, X: Floats, steps: Ints, time: Floats) -> Bools:
    """Of some steps, whether a body of a group goes elsewhere than its rates say, or these are broken."""
    if not len(steps):
        return np.zeros(0, dtype=np.bool_)
    rows, h = part.answer.reshape(-1, plan.record.stored, 1), time[steps + 1] - time[steps]
    before, after = X[rows, steps], X[rows, steps + 1]
    place, turn, velocity, acceleration = plan.record.outputs
    (v0, a0), (v1, a1) = ((of[:, velocity], of[:, acceleration]) for of in (before, after))
    n, ahead = len(plan.record.position), way(h, v0, v1, a0, a1)
    broken, off = h * (v1 - v0 - 0.5 * h * (a0 + a1)), after[:, place] - before[:, place] - ahead[:, :n]
    moved, turned = (
        h * np.maximum(_length(v0[:, of]), _length(v1[:, of])) for of in (slice(n), slice(n, None))
    )
    most, angle = LEAP * moved + BLUR * plan.size, LEAP * turned + BLUR
    found = (_length(broken[:, :n]) > most) | (_length(broken[:, n:]) > angle) | (_length(off) > most)
    if plan.record.planar:
        turns = after[:, turn] - before[:, turn] - ahead[:, n]
        found |= np.abs(np.mod(turns + np.pi, 2 * np.pi) - np.pi) > angle
    else:
        inner = np.abs((before[:, turn] * after[:, turn]).sum(axis=1))
        found |= 2.0 * np.arccos(np.minimum(inner, 1.0)) > turned + FLIP
    return np.asarray(found.any(axis=0))


def _length(x: Floats) -> Floats:
    """Lengths of vectors (bodies, components, steps)."""
    return np.asarray(np.sqrt(np.einsum("bkt,bkt->bt", x, x)))


def _inside(life: Life, way: Way, X: Floats, k: int, suspects: Sequence[tuple[Part, int]]) -> Iterator[Part]:
    """Groups that turned back inside a time step, which is solved in pieces for that."""
    plan, x = life.plan, k + np.append(np.arange(PIECES) / PIECES, 1.0)
    Y, time = between(life, way, X, x, plan.up_to(part for part, _ in suspects)), way.time_at(x)
    for part, row in suspects:
        measure, solved = np.sqrt(np.maximum(Y[part.quality + row], 0.0)), np.isfinite(Y[part.records[0]])
        if solved.all():  # else it comes back with the sign that it had
            near = np.flatnonzero(np.minimum(measure[1:], measure[:-1]) < CLOSE)
            if (_leaps(plan, part, Y, near, time) | _mirrored(measure, time, solved, near)).any():
                yield part


def _mirrored(measure: Floats, time: Floats, solved: Bools, near: Ints) -> Bools:
    """Whether the parabola through three measures is below zero at the next, which is its mirror image."""
    found = np.zeros(len(near), dtype=np.bool_)
    told = np.flatnonzero((near >= 2) & (measure[near] < TELLING))
    if not len(told):
        return found
    t = near[told] + 1
    pace = time[t] - time[t - 1]
    even = np.abs(time[t - 1] - time[t - 2] - pace) + np.abs(time[t - 2] - time[t - 3] - pace)
    ahead = 3.0 * (measure[t - 1] - measure[t - 2]) + measure[t - 3]
    mirrored = np.abs(measure[t] + ahead) < -0.5 * ahead
    falling = measure[t - 1] < measure[t - 2]
    found[told] = (even <= 1e-6 * pace) & mirrored & falling & solved[t - 2] & solved[t - 3]
    return found
