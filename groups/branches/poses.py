"""Proof of many poses, each on the straight line of the inputs from the reference to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from groups.branches.insertion import plan_poses
from groups.branches.prover import Pieces, prover_of
from groups.engine.plan import CONDITION, RESIDUAL, STEPS
from groups.engine.solve import NUMBERS, life_of, onward, plan_of
from groups.motion import Motion
from groups.run import Run, along_lines
from groups.status import OK, OUTPUTS, QUALITY
from groups.trajectory import unfilled
from mbssa.arrays import Bools, Floats, Ints
from mbssa.joints.catalogue import is_length

if TYPE_CHECKING:
    from groups.engine.arrays import Life
    from groups.engine.plan import Plan
    from groups.model import Model


#: Least piece of a line: nearer to a singular position than that, rad or over the size, none is looked for.
LEAST = 1e-5
#: Longest way of an angle, rad, in a piece of a line that is tried first: no turn is missed.
PIECE = np.pi / 2
#: Most pieces of a line: 25,000 turns.
LONGEST = 100_000


def pieces(model: Model, inputs: Floats) -> Ints:
    """Numbers (n,) of pieces of the lines from the reference to rows of inputs (n, D)."""
    start = np.array(list(model.reference_inputs.values()))
    angles = np.array([not is_length(name) for name in model.reference_inputs], dtype=np.bool_)
    farthest = np.abs(inputs - start)[:, angles].max(axis=1, initial=0.0)
    count: Ints = np.maximum(1, np.ceil(farthest / PIECE)).astype(np.int64)
    if count.max(initial=0) > LONGEST:
        raise ValueError(
            f"an angle is {farthest.max():,.6g} rad from the reference, from where poses of this model are "
            f"followed over whole turns; write {LONGEST * PIECE:,.0f} rad at most, or leave turns out"
        )
    return count


def lines(model: Model, inputs: Floats, count: Ints) -> tuple[Motion, Ints, Ints]:
    """Straight lines from the reference to rows of inputs (n, D), in so many pieces each, over turns."""
    # As instants one after another, with their rates; where each begins, and where it has ended.
    start = np.array(list(model.reference_inputs.values()))
    stops = np.cumsum(count + 1)
    starts, line = stops - count - 1, np.repeat(np.arange(len(count)), count + 1)
    rate = ((inputs - start) / count[:, None])[line].T.copy()
    value = start[:, None] + (np.arange(float(len(line))) - starts[line]) * rate
    value[:, stops - 1] = inputs.T
    time, names = np.arange(float(len(line))), tuple(model.reference_inputs)
    return Motion(time, names, value, rate, np.zeros_like(value)), starts, stops


def solve_proven_poses(
    model: Model, inputs: Floats, compiled: bool
) -> tuple[Run, npt.NDArray[np.int8], Bools]:
    """Poses and status of all bodies and groups for rows of inputs (n, D), as n instants."""
    # Then for groups and rows (G, n) what is proven, and where the line is broken: it failed before its end.
    plan, count = plan_of(model), len(inputs)
    everything = np.arange(model.mechanism.n_bodies)
    answer = unfilled(model.mechanism, np.arange(float(count)), everything, 0, model.group_names)
    sure = np.zeros((len(plan.parts), count), dtype=np.bool_)
    most = max(1, NUMBERS // (4 * plan.height))
    for first in range(0, count, most):
        span = slice(first, first + most)
        with np.errstate(all="ignore"):
            X, sure[:, span] = _followed(plan, life_of(plan, compiled), inputs[span].T)
        answer.position[span], answer.orientation[span] = plan_poses(plan, X)
        quality = plan.quality(X).T
        answer.residual[span], answer.condition[span] = quality[:, RESIDUAL], np.abs(quality[:, CONDITION])
        answer.iterations[span] = quality[:, STEPS] if plan.unknowns else 0
    broken = np.zeros_like(sure)
    lost = np.flatnonzero(~sure.all(axis=0))
    if len(lost):  # what becomes of these, the engine says by itself
        motion, begins, stops = lines(model, inputs[lost], pieces(model, inputs[lost]))
        found = along_lines(model, motion, begins, stops, everything, 0, compiled).answer
        failed = np.add.reduceat(found.status != OK, begins, axis=0) > 0
        broken[:, lost] = ~sure[:, lost] & (failed.T | prover_of(plan).sure[:, None])
        of_body = np.maximum(model.structure.group_of_body - 1, 0)
        rows = {"body": of_body, "group": np.arange(len(sure))}
        for name, kind in (OUTPUTS | QUALITY).items():
            array, other = getattr(answer, name), getattr(found, name)
            for row, g in enumerate(rows[kind.by] if array is not None else ()):
                theirs = ~sure[g, lost]
                array[lost[theirs], row] = other[stops[theirs] - 1, row]
    return Run(model, answer), sure.astype(np.int8), broken


def _followed(plan: Plan, life: Life, goals: Floats) -> tuple[Floats, Bools]:
    """Columns at inputs (D, n) on lines that are followed side by side; groups (G, n) proven there."""
    # A piece that is not proven is halved, up to the least one: what is not proven there is left.
    prover, count = prover_of(plan), goals.shape[1]
    start = plan.start[: plan.first_body : 3, None]
    way = goals - start
    length = np.abs(way / plan.scale_of_inputs[:, None]).max(axis=0, initial=0.0)
    X = life.storage(count)
    X[:] = plan.start[: len(X), None]
    X[1 : plan.first_body : 3] = way
    life.apart(X, count, np.inf)
    share, step = np.zeros(count), 1.0 / np.maximum(1.0, np.ceil(length / PIECE))
    sure = np.repeat(prover.sure[:, None], count, axis=1)
    last = Pieces(share, np.zeros_like(sure), np.zeros((2, prover.unknowns, count)))
    now = np.arange(count)
    while len(now):
        h = np.minimum(step[now], 1.0 - share[now])
        after = np.where(step[now] < 1.0 - share[now], share[now] + h, 1.0)
        Y, inputs = X[:, now], X[: plan.first_body, now]
        inputs[::3] = np.where(after < 1.0, start + after * way[:, now], goals[:, now])
        Z = onward(life, Y, inputs, h)
        columns, compiled = np.concatenate([Y, Z], axis=1), life is plan.machine
        pieces = prover.tried(columns, after, len(now), h, sure[:, now], compiled=compiled)
        good = pieces.good & prover.meet(last.picked(now), pieces)
        for part in plan.parts:
            for end in part.group.ends:  # off its profile nothing is proven
                s = Z[part.state[end.unknown]]
                good[part.index] &= (s >= end.range[0]) & (s <= end.range[1])
        prover.with_needs(good)
        fine = (good | ~sure[:, now]).all(axis=0)
        on, off = now[fine], now[~fine]
        X[:, on], share[on], step[on] = Z[:, fine], after[fine], 2.0 * h[fine]
        last.good[:, on], last.radii[..., on] = good[:, fine], pieces.radii[..., fine]
        least = h[~fine] * length[off] <= LEAST
        sure[:, off[least]] &= good[:, ~fine][:, least]
        step[off[~least]] = 0.5 * h[~fine][~least]
        now = now[(share[now] < 1.0) & sure[:, now].any(axis=0)]
    return X, sure
