"""One motion of a model while it is being solved: its answer, of which instants are taken back."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from groups.contacts import left_limits, outside, sentences_of
from groups.results.schema import OUTPUTS, QUALITY
from groups.status import (
    BRANCH_JUMP,
    CONTACT_LOST,
    NOT_COMPUTED,
    NOT_CONVERGED,
    OK,
    OUT_OF_REACH,
    PREDECESSOR_FAILED,
    SINGULAR,
)
from groups.trajectory import Trajectory, changed, unfilled
from mbssa.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from groups.engine.solve import Solving
    from groups.model import Model
    from groups.motion import Motion

_NO_BODIES = np.zeros(0, dtype=np.int64)


def finished(
    solving: Solving, held: Ints, level: int, done: int | None = None, missing: Bools | None = None
) -> Run:
    """The run of what the engine has solved, up to ``done``."""
    done = len(solving.motion.time) if done is None else done
    run = Run(solving.model, solving.answer(held, level, solving.settled(done, missing)))
    if run.model.globally:
        run.solve_by_global_approach(solving.motion.within(slice(done)))
    run.leave_profiles(solving, 0, run.answer.status.T)
    run.check_contacts(0, done)
    if missing is not None:
        for g, gone in enumerate(missing):
            run.mark(g, np.flatnonzero(gone), NOT_COMPUTED)
    run.stop_at(done)
    return run


def along_lines(
    model: Model, motion: Motion, first: Ints, stop: Ints, held: Ints, level: int, compiled: bool
) -> Run:
    """The run of lines of instants ``first`` … ``stop`` - 1, each solved from the reference on."""
    from groups.engine.lines import batches, solve_lines

    run = Run(model, unfilled(model.mechanism, motion.time, held, level, len(model.solvers)))
    for lines in batches(model, first, stop):
        span = slice(int(first[lines][0]), int(stop[lines][-1]))
        ends = first[lines] - span.start, stop[lines] - span.start
        solving, status = solve_lines(model, motion.within(span), *ends, compiled)
        put(run.answer, span, solving.answer(held, level, status))
        for g, of in enumerate(status):
            run.mark(g, span.start + np.flatnonzero(of == BRANCH_JUMP), BRANCH_JUMP)
        run.leave_profiles(solving, span.start, status)
    return run


def put(answer: Trajectory, span: slice, part: Trajectory, first: int = 0) -> None:
    """Take the instants of a span from another answer, there from one on."""
    for name in (*OUTPUTS, *QUALITY):
        if (array := getattr(answer, name)) is not None:
            array[span] = getattr(part, name)[first:]


class Run:
    """An answer, whose arrays are changed in place, and the contacts that have ended in it."""

    def __init__(self, model: Model, answer: Trajectory) -> None:
        self.model, self.answer = model, answer
        #: By group, the first instant at which a contact was outside of its limits, and what is said of it.
        self.ended: dict[int, tuple[int, str]] = {}

    @cached_property
    def _row_of(self) -> Ints:
        """(N,) row of each body in the arrays, -1 of one that is not kept."""
        row_of = np.full(self.model.mechanism.n_bodies, -1, dtype=np.int64)
        row_of[self.answer.kept] = np.arange(len(self.answer.kept))
        return row_of

    def solve_by_global_approach(self, motion: Motion) -> None:
        """Solve the groups for which it was chosen over the first instants, from where the others stand."""
        from groups.solvers.global_approach import GlobalApproach

        status = self.answer.status[: len(motion.time)]
        for g, solver in enumerate(self.model.solvers):
            lost = (status[:, list(self.model.needs[g])] != OK).any(axis=1) & (status[:, g] == OK)
            self.mark(g, np.flatnonzero(lost), PREDECESSOR_FAILED)
            if isinstance(solver, GlobalApproach):
                solver.solve(motion, self.answer, self._row_of)

    def leave_profiles(self, solving: Solving, begun: int, status: npt.NDArray[np.int8]) -> None:
        """Take back instants at which a contact's place has left an open profile."""
        for g, gone, off, said in solving.off_profiles(status):
            self.mark(g, begun + gone, CONTACT_LOST, off)
            self.ended[g] = begun + int(gone[0]), said

    def check_contacts(self, first: int, stop: int, *, angles: bool = True) -> None:
        """Take back instants at which a contact's place is outside of its limits."""
        # Without `angles` those that are lengths alone: between poses in any order no angle counts turns.
        model = self.model
        watched = [w for w in model.watches if angles or w.unit == "m"]
        if not watched or stop <= first:
            return
        ends = self.answer.instants(slice(first, stop))
        found = [(w, *outside(ends, w, model.frames.size)) for w in watched]
        gone = np.zeros(ends.status.shape, dtype=np.bool_)
        for g, needs in enumerate(model.needs):
            gone[:, g] = gone[:, list(needs)].any(axis=1) & (ends.status[:, g] != NOT_COMPUTED)
            self.mark(g, first + np.flatnonzero(gone[:, g]), PREDECESSOR_FAILED)
            for w, value, off in found:
                lost = np.flatnonzero((off > 0.0) & (ends.status[:, g] == OK)) if w.group == g else _NO_BODIES
                if len(lost):
                    self.mark(g, first + lost, CONTACT_LOST, off[lost])
                    at = first + int(lost[0])
                    if at <= self.ended.get(g, (at, ""))[0]:
                        self.ended[g] = at, left_limits(w, float(value[lost[0]]), model.mechanism.units)
                    gone[lost, g] = True

    def mark(self, group: int, instants: Ints | slice, status: int, residual: Floats | None = None) -> None:
        """Take back a group's answer at some instants, for the reason that the status gives."""
        # A group that was not computed, or whose predecessor failed, has no residual.
        answer, at = self.answer, (instants, group)
        answer.status[at] = status
        if status in (NOT_COMPUTED, PREDECESSOR_FAILED):
            answer.residual[at], answer.iterations[at] = np.nan, 0
            answer.condition[at] = np.nan if status == NOT_COMPUTED else 0.0
        elif residual is not None:
            answer.residual[at] = residual
        starts, members = self.model.structure.members
        rows = self._row_of[members[starts[group] : starts[group + 1]]]
        for name in OUTPUTS:
            if (array := getattr(answer, name)) is not None:
                for row in rows[rows >= 0].tolist():
                    array[instants, row] = np.nan

    def stop_at(self, done: int) -> None:
        """Mark all later instants as not computed."""
        for group in range(len(self.model.solvers) if done < len(self.answer.time) else 0):
            self.mark(group, slice(done, None), NOT_COMPUTED)

    def trajectory(self, kept: Ints | None = None) -> Trajectory:
        """Solution found; of some of the bodies, if they are named."""
        model, found = self.model, replace(self.answer, group_names=self.model.group_names)
        if np.count_nonzero(found.status):
            # Joints that close each group's loop where it came to a dead point or out of reach.
            ends = (NOT_CONVERGED, SINGULAR, OUT_OF_REACH, BRANCH_JUMP)
            stopped: Bools = np.asarray(np.isin(found.status, ends).any(axis=0))
            closing = zip(model.solvers, stopped.tolist(), strict=True)
            joints = [group.joint_indices.tolist() for group in model.structure.groups]
            found = replace(
                found,
                causes=tuple(" or ".join(solver.closing) if here else "" for solver, here in closing),
                contacts=sentences_of(found, joints, self.ended),
            )
        if kept is None or len(kept) == len(found.kept):
            return found
        rows = self._row_of[kept]  # contiguous per body in memory
        some = changed(found, OUTPUTS, lambda array: array.swapaxes(0, 1)[rows].swapaxes(0, 1))
        return replace(some, kept=kept)
