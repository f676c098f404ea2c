"""A motion of a model by the engine: path, all instants, rescue, and the answer as views of one array."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from groups.engine.arrays import Life
from groups.engine.path import Way, followed, guesses
from groups.engine.plan import CONDITION, QUALITY, RESIDUAL, STEPS, Plan
from groups.engine.rescue import NEAR, Statuses, statuses
from groups.engine.turning import mark_turned_back
from groups.engine.users import OpaqueError
from groups.reference import check_drives
from groups.results.arrays import Arrays
from groups.run import Run
from groups.status import BRANCH_JUMP, CONTACT_LOST, NOT_COMPUTED, OK, PASSED_SINGULAR, PREDECESSOR_FAILED
from groups.trajectory import Trajectory
from mbssa.arrays import Floats, Ints
from mbssa.joints.catalogue import type_of_joint

if TYPE_CHECKING:
    from groups.model import Model
    from groups.motion import Motion

#: Fewest instants between two reports of progress.
SPAN = 256
#: Longest way of an input in a step over which turns are counted, rad or sizes.
TELLING = 0.3
#: How far beyond the end of a profile, over its length, a place of contact is on it.
END = 1e-9

Progress = Callable[[float], object]

_plans: WeakKeyDictionary[Model, Plan] = WeakKeyDictionary()


def plan_of(model: Model) -> Plan:
    """The plan of a model, made once."""
    if model not in _plans:
        _plans[model] = Plan(model)
    return _plans[model]


def solve(
    model: Model,
    motion: Motion,
    kept: Ints,
    level: int,
    progress: Progress | None = None,
    modes: Mapping[int, int] | None = None,
) -> Trajectory:
    """Trajectory of a motion whose branches are checked, as :meth:`groups.Model.solve` gives it."""
    plan = plan_of(_in_modes(model, modes))
    held = model.held_bodies(kept)
    check_drives(model.mechanism, motion)
    try:
        X, status, done = _solved(plan, motion, progress)
    except OpaqueError as error:
        raise ValueError(str(error)) from error
    run = Run(model, motion, held, level, _arrays(plan, X, status, held, level), compiled=False)
    _mark_ends(plan, X, status, run)
    run.check_contacts(0, done)
    run.stop_at(done)
    return run.trajectory(kept)


def _in_modes(model: Model, modes: Mapping[int, int] | None) -> Model:
    """The model with its reference in other assembly modes."""
    if not modes:
        return model
    from groups.assembly_modes.start import starting_pose

    return replace(model, reference=starting_pose(model, modes))


def _solved(plan: Plan, motion: Motion, progress: Progress | None) -> tuple[Floats, Statuses, int]:
    """The array of a motion (height, T), statuses (G, T), and how many instants were done."""
    life, count = Life(plan), len(motion.time)
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
        done_status[:] = statuses(plan, life, Y, way.time, knots)
        ranges = life.seen(Y, NEAR)[1]
    mark_turned_back(plan, life, way, Y, done_status, ranges)
    if done_status.any():
        _take_back(plan, Y, done_status)
    if plan.wound:
        _count_turns(plan, life, way, Y)
    if not plan.record.planar:
        _continue_signs(plan.bodies(Y)[:, 3:7].transpose(0, 2, 1))
    return X, status, done


def _in_spans(life: Life, X: Floats, count: int, progress: Progress | None) -> int:
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


def _take_back(plan: Plan, X: Floats, status: Statuses) -> None:
    """Clear answers that are numbers, and yet none."""
    for part in plan.parts:
        gone = np.isin(status[part.index], (BRANCH_JUMP, PREDECESSOR_FAILED, PASSED_SINGULAR))
        X[part.answer[:, None], np.flatnonzero(gone)] = np.nan


def _mark_ends(plan: Plan, X: Floats, status: Statuses, run: Run) -> None:
    """Take back instants at which the place of a contact has left an open profile."""
    for part in plan.parts:
        for end in part.group.ends:
            s, (low, high) = X[part.state[end.unknown]], end.range
            off = np.maximum(low - s, s - high)
            gone = np.flatnonzero((off > END * (high - low)) & (status[part.index] == OK))
            if len(gone):
                run.mark(part.index, gone, CONTACT_LOST, off[gone])
                name = (
                    f"{type_of_joint(plan.mechanism, end.joint).code} {plan.mechanism.joint_ids[end.joint]}"
                )
                run.ended[part.index] = int(gone[0]), f"{name}: its place of contact has left the profile"


def _count_turns(plan: Plan, life: Life, way: Way, X: Floats) -> None:
    """Turns of the angles of closed forms, counted on from the reference by their rates."""
    record, pieces = plan.record, 1 + int(way.longest / TELLING)
    first, Y, time = np.array([plan.body(b) for b in plan.wound]), X, way.time
    if pieces > 1:  # counted over pieces of the time steps
        x = np.linspace(0.0, way.last, pieces * way.last + 1)
        Y, time = life.storage(len(x)), way.time_at(x)
        Y[: plan.first_body], Y[:, ::pieces] = way.at(x), X
        between = np.flatnonzero(np.arange(len(x)) % pieces)
        Y[plan.q, between] = X[plan.q, between // pieces]
        Z = Y[:, between]
        life.apart(Z, len(between), np.inf)
        Y[:, between] = Z
    w, a = Y[first + record.velocity[2]], Y[first + record.acceleration[2]]
    angle, h = Y[first + record.turn], np.diff(time)
    turns = np.zeros_like(angle)
    start = plan.start[first + record.turn]
    turns[:, 0] = np.round((start - angle[:, 0]) / (2 * np.pi))
    ahead = 0.5 * h * (w[:, 1:] + w[:, :-1]) + h * h / 12.0 * (a[:, :-1] - a[:, 1:])
    turns[:, 1:] = np.round((ahead - np.diff(angle, axis=1)) / (2 * np.pi))
    if np.isfinite(angle).all():
        angle += 2 * np.pi * np.cumsum(turns, axis=1)
    else:
        for k, (counted, at_start) in enumerate(zip(turns, start, strict=True)):
            angle[k] = _over_gaps(angle[k], counted, at_start)
    X[first + record.turn] = angle[:, ::pieces]


def _over_gaps(angle: Floats, turns: Floats, start: float) -> Floats:
    """Counted angles; behind a gap an angle is near the last one before it."""
    finite = np.flatnonzero(np.isfinite(angle))
    found = np.full_like(angle, np.nan)
    if len(finite):
        known = np.nan_to_num(turns[finite])
        gap = np.diff(finite, prepend=-1) > 1
        before = np.concatenate([[start], angle[finite[:-1]]])
        known[gap] = np.round((before - angle[finite]) / (2 * np.pi))[gap]
        found[finite] = angle[finite] + 2 * np.pi * np.cumsum(known)
    return found


def _continue_signs(q: Floats) -> None:
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


def _arrays(plan: Plan, X: Floats, status: Statuses, held: Ints, level: int) -> Arrays:
    """Outputs of the bodies that are held (bodies, T, …), and quality (G, T); views where nothing failed."""
    bodies = plan.bodies(X)
    bodies = (bodies if len(held) == len(bodies) else bodies[held]).transpose(0, 2, 1)
    none = np.zeros((len(held), 0, 3 if plan.record.planar else 6))
    position, orientation, velocity, acceleration = (
        bodies[:, :, k] if n < level + 2 else none for n, k in enumerate(plan.record.outputs)
    )
    Q = X[plan.first_quality : plan.first_axes].reshape(len(plan.parts), len(QUALITY), -1)
    residual, steps, condition = Q[:, RESIDUAL], Q[:, STEPS].view(np.int64), np.abs(Q[:, CONDITION])
    if np.count_nonzero(status):
        waits = status == PREDECESSOR_FAILED
        residual = np.where(waits | (status == NOT_COMPUTED), np.nan, residual)
        steps, condition = np.where(waits, 0, steps), np.where(waits, 0.0, condition)
    return Arrays((position, orientation, velocity, acceleration), (status, residual, steps, condition))
