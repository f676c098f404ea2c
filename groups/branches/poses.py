"""Proof of many poses, each on the straight line of the inputs from the reference to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from groups.branches.insertion import Proof
from groups.branches.prover import prover_of
from groups.engine.solve import Solving, plan_of, solved
from groups.motion import Motion
from groups.results.arrays import Arrays
from groups.results.schema import QUALITY
from groups.run import Run
from mbssa.arrays import Bools, Floats, Ints
from mbssa.joints.catalogue import is_length

if TYPE_CHECKING:
    from groups.model import Model


#: Least piece of a line: nearer to a singular position than that, rad or over the size, none is looked for.
LEAST = 1e-3
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


def lines(model: Model, inputs: Floats) -> list[Floats]:
    """Straight lines (pieces + 1, D) from the reference to each row of inputs, over whole turns."""
    start = np.array(list(model.reference_inputs.values()))
    counts = pieces(model, inputs).tolist()
    return [np.linspace(start, goal, n + 1) for goal, n in zip(inputs, counts, strict=True)]


def along(model: Model, ways: list[Floats]) -> tuple[Motion, Ints, Ints]:
    """Lines as instants one after another, with their rates; where each begins, and where it has ended."""
    stop = np.cumsum([len(way) for way in ways])
    value = np.concatenate(ways).T.copy()
    rate = np.concatenate([np.broadcast_to(way[1] - way[0], way.shape) for way in ways]).T.copy()
    time, names = np.arange(float(stop[-1])), tuple(model.reference_inputs)
    return Motion(time, names, value, rate, np.zeros_like(value)), stop - [len(way) for way in ways], stop


def solve_proven_poses(
    model: Model, inputs: Floats, compiled: bool
) -> tuple[Arrays, npt.NDArray[np.int8], Bools]:
    """Poses and status of all bodies and groups for rows of inputs (n, D), as a run has n instants."""
    # Then for groups and rows (G, n) what is proven, and where the line is broken: it failed before its end.
    # All lines are tried at once; those that are not certified are followed in smaller pieces.
    everything = np.arange(model.mechanism.n_bodies)
    motion, first, stops = along(model, lines(model, inputs))
    spans = [slice(begin, end) for begin, end in zip(first.tolist(), stops.tolist(), strict=True)]
    run, passed = Run(model, motion, everything, 1), np.zeros(len(motion.time), dtype=np.bool_)
    status, sure = run.arrays.quality[0], prover_of(plan_of(model)).sure

    def told(span: slice, solving: Solving) -> None:
        proof, gaps = Proof(solving, status=status[:, span]), stops[:-1] - 1 - span.start
        steps = proof.passed(solving, proof.status, slice(0, span.stop - span.start), gaps=gaps)
        passed[span.start : span.stop - 1] = steps[:, sure].all(axis=1)

    run.advance_lines(first, stops, compiled, told)
    none = np.zeros((len(everything), 0, run.arrays.outputs[2].shape[2]))
    found = {name: array[:, stops - 1] for name, array in run.arrays.by_name().items() if array.shape[1]}
    found |= dict.fromkeys(("velocity", "acceleration"), none)
    proven = np.repeat(sure[:, None], len(inputs), axis=1).astype(np.int8)
    broken = np.array([status[:, span][:, :-1].any(axis=1) for span in spans]).T
    for case, span in enumerate(spans):
        if passed[span.start : span.stop - 1].all():
            continue
        one = Proof(solved(model, motion.within(span), compiled=compiled), least=LEAST)
        one.progress = lambda _, one=one: one.sure[sure].all() or False
        poses, doubted = one.trajectory(everything, 0), sure & ~one.sure
        if doubted.any():  # the pose at the end is the one that was tried, if any
            broken[:, case] |= doubted
            continue
        for name in ("position", "orientation", *QUALITY):
            found[name][:, case] = getattr(poses, name)[-1]
        broken[:, case] = poses.status[:-1].any(axis=0)
    return Arrays.named(found), proven, broken
