"""Solution of a model over a motion: group by group, or with proven branches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, get_args

import numpy as np

from groups.branches.insertion import Proof
from groups.branches.prover import prover_of
from groups.engine.path import Way, followed, guesses
from groups.engine.solve import TELLING, Solving, life_of, plan_of, solved
from groups.motion import Motion, default_motion
from groups.run import Run, finished, put
from groups.status import OK
from groups.trajectory import Branch, Level, Progress, Trajectory, body_index, level_number, unfilled
from mbssa import Mechanism
from mbssa.arrays import Ints

if TYPE_CHECKING:
    from groups.model import Model

BRANCHES: tuple[Branch, ...] = get_args(Branch)
#: Farthest way of an input in a time step, rad or m: what turns with it could not be followed.
FARTHEST = 1e4
#: Operations of a mechanism above which it is proven on request only: some hundred groups.
LARGE = 20_000
#: Seconds by NumPy, roughly, for which a motion is followed in pieces by default.
PATIENCE = 3.0
#: Fewest instants that the engine solves between two reports of progress.
SPAN = 256
#: Numbers of the array of a block, its fewest instants, and fewest blocks of a motion that is solved in them.
BLOCK, FEWEST, BLOCKS = 2**19, 256, 16
#: Instants of the block before with which a block begins: a dead point shows in the measures of so many.
BEFORE = 3


def solve(
    model: Model,
    motion: Motion | None = None,
    *,
    bodies: Sequence[str | int] | None = None,
    level: Level = "acceleration",
    modes: Mapping[int, int] | None = None,
    branch: Branch | None = None,
    compiled: bool | None = None,
    progress: Progress | None = None,
) -> Trajectory:
    """Position, velocity and acceleration of every body over a motion, group by group.

    The assembly mode of the reference is kept: closed forms hold a sign; else a coarse pass goes from the
    reference to the first instant and on, in strides that are divided until they lie on one smooth
    path, and Newton's method starts from it. Behind a gap an instant is ok where the straight way of
    the inputs from the reference leads to it, or where the sign of a determinant tells the mode. A
    KeyError for a body that there is not; a ValueError for a mode that there is not, or a motion of other
    coordinates than the model has, or none.

    Parameters
    ----------
    motion : inputs over time; the model's own by default
    bodies : names or numbers of the bodies to keep; all by default
    level : the last level of answer that is wanted
    modes : number of the assembly mode, as :func:`groups.modes` counts them, by number of the group
    branch : ``proven``, the default, certifies over every time step that a group stays on the branch of
        the reference, and solves instants in between where it has to. It does so for all groups but
        those with users' functions that cannot be traced, or with more than thirty unknowns;
        :attr:`Trajectory.proof` says where it did. ``smooth`` does, and goes straight on where two
        branches cross (a parallelogram that lies flat). ``checked`` is somewhat faster. By default
        motions are proven, but those of mechanisms of some hundred groups, and a motion that takes long
        to be followed is only checked from there on
    compiled : True solves by machine code, which is made once for a model in some tenths of a second,
        False by NumPy; by default what takes less time. The answers differ by rounding alone. Functions
        that cannot be traced are NumPy's always
    progress : called with the share that is done now and then; False from it stops the run, and what
        was not computed says so in its status

    Examples
    --------
    >>> import groups, mbssa
    >>> crank = mbssa.load("slider_crank_isostatic")
    >>> model = groups.build(mbssa.decompose(crank))
    >>> trajectory = model.solve(groups.constant_speed(crank, duration=1.0, steps=101))
    >>> trajectory.ok, float(trajectory.residual.max()) < 1e-12
    (True, True)
    """
    if not (compiled is None or isinstance(compiled, bool)):
        raise TypeError(f"compiled is {compiled!r}; write True, False or None")
    mechanism = model.mechanism
    motion = default_motion(mechanism) if motion is None else motion
    if not isinstance(motion, Motion):
        makers = "groups.sample makes one of laws, groups.read_motion of a file"
        raise TypeError(f"solve takes a Motion, not a {type(motion).__name__}; {makers}")
    if branch is not None and branch not in BRANCHES:
        raise ValueError(f"branch {branch!r}; write {', '.join(BRANCHES[:-1])} or {BRANCHES[-1]}")
    answers = level_number(level)
    kept = kept_bodies(mechanism, bodies)
    compiled = model.compiles(len(motion.time)) if compiled is None else compiled
    if modes:
        from groups.assembly_modes import in_modes

        model = in_modes(model, modes)
    patience, progress = patience_of(model, branch), _part(progress)
    found = _in_blocks(model, motion, kept, answers, compiled, progress, patience)
    if found is not None:
        return found
    solving, count, done, wanted = Solving(model, motion, compiled=compiled), len(motion.time), 0, True
    _check(solving.way, motion, solving.plan.size)
    solving.begin()
    half = 1.0 if patience is None else 0.5
    report, span = _part(progress, 0.0, half), SPAN * max(1, count // (50 * SPAN))
    while done < count and wanted:
        stop = count if report is None else min(done + span, count)
        solving.advance(done, stop)
        done, wanted = stop, report is None or report(stop / count) is not False
    if patience is None or not wanted:
        return finished(solving, model.held_bodies(kept), answers, done).trajectory(kept)
    if model.globally:  # the proof is of the engine's answer
        found = finished(solving, model.held_bodies(kept), answers).trajectory()
        solving = solved(model, motion, compiled=compiled)
    report, smooth = _part(progress, half, half), branch == "smooth"
    proof = Proof(solving, patience=patience, smooth=smooth, progress=report)
    return proof.trajectory(kept, answers) if found is None else proof.in_place_of(found, kept, answers)


def patience_of(model: Model, branch: Branch | None) -> float | None:
    """Seconds by NumPy, roughly, for which a motion is followed in pieces; None where it is not proven."""
    if branch is None:
        return PATIENCE if plan_of(model).operations <= LARGE else None
    return None if branch == "checked" else inf


def _part(progress: Progress | None, begin: float = 0.0, part: float = 1.0) -> Progress | None:
    """Report of a part of the work by shares of the whole that never become less."""
    if progress is None:
        return None
    told = [0.0]

    def report(share: float) -> object:
        told[0] = max(told[0], begin + part * share)
        return progress(told[0])

    return report


def _in_blocks(
    model: Model,
    motion: Motion,
    kept: Ints,
    level: int,
    compiled: bool,
    progress: Progress | None,
    patience: float | None,
) -> Trajectory | None:
    """The answer to a long motion, which goes through the array of a block: memory for what is kept alone."""
    # It is proven if there is ``patience``. None for a short one, and where a block does not tell enough:
    # where a group is lost, turned back, not solved or not proven at once, or where turns are counted in
    # pieces of steps. What is left is the answer of the whole array, bit by bit.
    plan, count = plan_of(model), len(motion.time)
    size = max(BLOCK // plan.first_axes, FEWEST)
    if model.globally or count <= BLOCKS * size:
        return None
    life = life_of(plan, compiled)
    way = Way(life, None, motion.time, motion.value, motion.rate, motion.acceleration)
    _check(way, motion, plan.size)
    knots = followed(life, way)
    if knots.lost or (plan.wound and way.longest > TELLING):
        return None
    least, longest, done, start = way.least, way.longest, 0, plan.start
    del way
    held, proof, looks = model.held_bodies(kept), None, True
    if patience is not None:
        looks = not prover_of(plan).sure.all()
    answer = unfilled(model.mechanism, motion.time, held, level, model.group_names)
    bounds = np.linspace(0, count, 2 + count // size, dtype=np.int64)  # no block of a few, which are floats
    X = life.storage(BEFORE + size)
    for first, stop in pairwise(bounds.tolist()):
        begin = max(first - BEFORE, 0)
        span = motion.within(slice(begin, stop))
        piece = Solving(model, span, X[:, : stop - begin], compiled=compiled)
        piece.start, piece.way.least, piece.way.longest = start, least, longest
        if plan.unknowns:
            guesses(life, knots, piece.X, begin)
        piece.advance(0, stop - begin)
        status = piece.settled(looks=looks)
        if not piece.fine or status.any() or any(piece.off_profiles(status)):
            return None
        if patience is not None:
            proof = proof or Proof(piece, patience, status=status)
            if not proof.follows(piece, status, first - begin):
                return None
        put(answer, slice(first, stop), piece.answer(held, level, status), first - begin)
        start, done = piece.column(-BEFORE), stop
        if progress is not None and progress(stop / count) is False:
            break
    run = Run(model, answer)
    run.check_contacts(done)
    run.stop_at(done)
    found = run.trajectory(kept)
    return found if proof is None else replace(found, proven=proof.said * (found.status == OK))


def _check(way: Way, motion: Motion, size: float) -> None:
    """Refuse numbers that are not finite, which an array may have got since, and steps that are too long."""
    total = way.sums[-1] if way.last else sum(sum(rows[:, 0].tolist()) for rows in way.inputs)
    if math.isfinite(total) and way.longest * max(size, 1.0) <= FARTHEST:
        return
    replace(motion)  # a motion checks its numbers when it is made
    steps = np.abs(np.diff(motion.value, axis=1))
    for k, t in np.argwhere(steps > FARTHEST)[:1].tolist():
        raise ValueError(
            f"{motion.names[k]} goes {steps[k, t]:,.6g} in the time step from t = {motion.time[t]:g} s; "
            f"give more instants, so that it goes {FARTHEST:,.0f} rad or m at most"
        )


def kept_bodies(mechanism: Mechanism, bodies: Sequence[str | int] | None) -> Ints:
    """Indices of the bodies of these names or numbers, ascending; of all if none are named."""
    if bodies is None:
        return np.arange(mechanism.n_bodies)
    return np.array(sorted({body_index(mechanism, name) for name in bodies}), dtype=np.int64)
