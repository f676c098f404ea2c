"""A motion of a model by the engine: path, all instants, rescue, and the answer in today's arrays."""

from __future__ import annotations

from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from groups.engine.arrays import Life
from groups.engine.path import Way, followed, guesses
from groups.engine.plan import CONDITION, QUALITY, RESIDUAL, STEPS, Plan
from groups.engine.rescue import NEAR, statuses
from groups.engine.turning import mark_turned_back
from groups.engine.users import OpaqueError
from groups.reference import check_drives
from groups.results.arrays import Arrays
from groups.run import Run
from groups.status import BRANCH_JUMP, NOT_COMPUTED, PASSED_SINGULAR, PREDECESSOR_FAILED
from groups.trajectory import Trajectory

_plans: WeakKeyDictionary = WeakKeyDictionary()


def plan_of(model):
    """The plan of a model, made once."""
    if model not in _plans:
        _plans[model] = Plan(model)
    return _plans[model]


#: Fewest instants between two reports of progress.
SPAN = 256


def solve(model, motion, kept, level, progress=None, modes=None):
    """Trajectory of a motion, as :meth:`groups.Model.solve` gives it."""
    plan = plan_of(_in_modes(model, modes))
    held = model.held_bodies(kept)
    count = len(motion.time)
    life = plan.lives.setdefault("arrays", Life(plan))
    check_drives(model.mechanism, motion)
    try:
        X, status, done = solved(plan, life, motion, progress)
    except OpaqueError as error:
        raise ValueError(str(error)) from error
    found, quality = outputs(plan, X[:, :count], held, level), _quality(plan, X[:, :count], status)
    if done == count and len(held) == len(kept) and not (model.watches or np.count_nonzero(status)):
        names, of_groups = model.group_names, [a.T for a in quality]
        return Trajectory(model.mechanism, motion.time, *found, *of_groups, kept=kept, group_names=names)
    none = np.zeros((len(held), 0, 6))
    arrays = Arrays(tuple(none if a is None else a.swapaxes(0, 1) for a in found), quality)
    run = Run(model, motion, held, level, arrays=arrays, compiled=False)
    run.check_contacts(0, done)
    run.stop_at(done)
    return run.trajectory(kept)


def _in_modes(model, modes):
    """The model with its reference in other assembly modes: the pose is all that the engine needs."""
    if not modes:
        return model
    from groups.assembly_modes.start import starting_pose

    return replace(model, reference=starting_pose(model, modes))


def solved(plan, life, motion, progress=None):
    """The array of a motion (height, ≥ T), statuses (G, T), and how many instants were done."""
    count = len(motion.time)
    X = life.storage(count)
    way = Way.of(plan, motion, X)
    knots = followed(plan, life, way)
    if plan.unknowns:
        guesses(plan, life, knots, way, X)
    done = _in_spans(life, X, count, progress)
    Y, status = X[:, :done], np.zeros((len(plan.parts), count), dtype=np.int8)
    way, done_status = way.until(done), status[:, :done]
    fine, ranges = life.seen(Y, NEAR)
    if not fine or knots.lost:
        done_status[:] = statuses(plan, life, Y, knots)
        ranges = life.seen(Y, NEAR)[1]
    mark_turned_back(plan, life, way, Y, done_status, ranges)
    if done_status.any():
        _take_back(plan, Y, done_status)
    if plan.wound:
        count_turns(plan, Y, way.time)
    if not plan.record.planar:
        continue_signs(plan.bodies(Y)[:, 3:7].transpose(0, 2, 1))
    return X, status, done


def _take_back(plan, X, status):
    """Clear answers that are numbers, and yet none."""
    for part in plan.parts:
        gone = np.isin(status[part.index], (BRANCH_JUMP, PREDECESSOR_FAILED, PASSED_SINGULAR))
        X[part.answer[:, None], np.flatnonzero(gone)] = np.nan


def _in_spans(life, X, count, progress):
    """Solve all instants, or spans of them until ``progress`` says that it is enough; how many were done."""
    if progress is None:
        life.apart(X, count, NEAR)
        return count
    done, wanted, span = 0, True, SPAN * max(1, count // (50 * SPAN))
    while done < count and wanted:
        stop = min(done + span, count)
        life.apart(X, stop, NEAR, done)
        done, wanted = stop, progress(stop / count) is not False
    return done


def count_turns(plan, X, time):
    """Turns of the angles of closed forms, counted on from the reference by their rates."""
    record = plan.record
    first = np.array([plan.body(b) for b in plan.wound])
    w, a = X[first + record.velocity[2]], X[first + record.acceleration[2]]
    angle, h = X[first + record.turn], np.diff(time)
    step = np.diff(angle, axis=1)
    turns = np.zeros_like(angle)
    start = plan.start[first + record.turn]
    turns[:, 0] = np.round((start - angle[:, 0]) / (2 * np.pi))
    ahead = 0.5 * h * (w[:, 1:] + w[:, :-1]) + h * h / 12.0 * (a[:, :-1] - a[:, 1:])
    turns[:, 1:] = np.round((ahead - step) / (2 * np.pi))
    if np.isfinite(angle).all():
        X[first + record.turn] = angle + 2 * np.pi * np.cumsum(turns, axis=1)
        return
    for row, mine, counted, at_start in zip(first + record.turn, angle, turns, start, strict=True):
        X[row] = _over_gaps(mine, counted, at_start)


def _over_gaps(angle, turns, start):
    """Counted angles; behind a gap an angle is near the last one before it."""
    finite = np.flatnonzero(np.isfinite(angle))
    found = np.full_like(angle, np.nan)
    if len(finite):
        known = np.nan_to_num(turns[finite])
        gap = np.diff(finite, prepend=-1) > 1
        before = np.r_[start, angle[finite[:-1]]]
        known[gap] = np.round((before - angle[finite]) / (2 * np.pi))[gap]
        found[finite] = angle[finite] + 2 * np.pi * np.cumsum(known)
    return found


def outputs(plan, X, held, level):
    """Position, orientation, velocity and acceleration (T, bodies, …), views; None beyond the level."""
    bodies = plan.bodies(X)
    bodies = (bodies if len(held) == len(bodies) else bodies[held]).transpose(2, 0, 1)
    return [bodies[:, :, k] if n < level + 2 else None for n, k in enumerate(plan.record.outputs)]


def continue_signs(q):
    """Turn the signs of quaternions (N, T, 4) so that each continues the last finite one before it."""
    with np.errstate(invalid="ignore"):
        inner = np.einsum("ntk,ntk->nt", q[:, 1:], q[:, :-1])
    finite = np.isfinite(q[..., 0])
    if not finite.all():
        last = np.maximum.accumulate(np.where(finite, np.arange(q.shape[1]), -1), axis=1)[:, :-1]
        before = np.take_along_axis(q, np.maximum(last, 0)[..., None], axis=1)
        inner = np.where(finite[:, 1:] & (last >= 0), np.einsum("ntk,ntk->nt", q[:, 1:], before), 0.0)
    if (inner < 0).any():
        q[:, 1:] *= np.cumprod(np.where(inner < 0, -1.0, 1.0), axis=1)[..., None]


def _quality(plan, X, status):
    Q = X[plan.first_quality : plan.first_axes].reshape(len(plan.parts), len(QUALITY), -1)
    residual, steps, condition = Q[:, RESIDUAL], Q[:, STEPS].view(np.int64), Q[:, CONDITION]
    if np.count_nonzero(status):
        waits = status == PREDECESSOR_FAILED
        residual = np.where(waits | (status == NOT_COMPUTED), np.nan, residual)
        steps, condition = np.where(waits, 0, steps), np.where(waits, 0.0, np.abs(condition))
    return status, residual, steps, condition
