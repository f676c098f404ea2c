"""One motion of a model while it is being solved: the arrays of the answer, filled span by span."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from groups.contacts import left_limits, outside, sentences_of
from groups.motion import Motion
from groups.results.arrays import Arrays
from groups.status import (
    BRANCH_JUMP,
    CONTACT_LOST,
    DROPPED,
    NOT_COMPUTED,
    NOT_CONVERGED,
    OK,
    OUT_OF_REACH,
    PREDECESSOR_FAILED,
    SINGULAR,
)
from groups.trajectory import Trajectory
from mbssa.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from groups.engine.solve import Solving
    from groups.model import Model

_NO_BODIES = np.zeros(0, dtype=np.int64)


def finished(
    solving: Solving, held: Ints, level: int, done: int | None = None, missing: Bools | None = None
) -> Run:
    """The run of what the engine has solved, up to ``done``."""
    count = len(solving.motion.time)
    done = count if done is None else done
    arrays = solving.arrays(held, level, solving.settled(done, missing))
    run = Run(solving.model, solving.motion, held, level, arrays)
    if solving.model.globally:
        run.solve_by_global_approach(done)
    run.leave_profiles(solving, 0, arrays.quality[0])
    run.check_contacts(0, done)
    if missing is not None:
        for g, gone in enumerate(missing):
            run.mark(g, np.flatnonzero(gone), NOT_COMPUTED)
    run.stop_at(done)
    return run


class Run:
    """One motion being solved. Spans of time may be solved apart."""

    def __init__(
        self, model: Model, motion: Motion, kept: Ints, level: int, arrays: Arrays | None = None
    ) -> None:
        self.model, self.motion, self.kept, self.level = model, motion, kept, level
        self.arrays = Arrays.empty(model, len(motion.time), len(kept), level) if arrays is None else arrays
        #: By group, the first instant at which a contact was outside of its limits, and what is said of it.
        self.ended: dict[int, tuple[int, str]] = {}

    @cached_property
    def _row_of(self) -> Ints:
        """(N,) row of each body in the arrays, -1 of one that is not kept."""
        row_of = np.full(self.model.mechanism.n_bodies, -1, dtype=np.int64)
        row_of[self.kept] = np.arange(len(self.kept))
        return row_of

    def advance_lines(self, first: Ints, stop: Ints, compiled: bool) -> None:
        """Solve lines of instants ``first`` … ``stop`` - 1, each from the reference on."""
        from groups.engine.solve import batches, solve_lines

        for lines in batches(self.model, first, stop):
            span = slice(int(first[lines][0]), int(stop[lines][-1]))
            ends = first[lines] - span.start, stop[lines] - span.start
            solving, status = solve_lines(self.model, self.motion.within(span), *ends, compiled)
            self.arrays.put(span, solving.arrays(self.kept, self.level, status))
            for g, of in enumerate(status):
                self.mark(g, span.start + np.flatnonzero(of == BRANCH_JUMP), BRANCH_JUMP)
            self.leave_profiles(solving, span.start, status)

    def solve_by_global_approach(self, stop: int) -> None:
        """Solve the groups for which it was chosen, up to an instant, from where the others stand."""
        from groups.solvers.global_approach import GlobalApproach

        motion, status = self.motion.within(slice(stop)), self.arrays.quality[0]
        for g, solver in enumerate(self.model.solvers):
            lost = (status[list(self.model.needs[g]), :stop] != OK).any(axis=0) & (status[g, :stop] == OK)
            self.mark(g, np.flatnonzero(lost), PREDECESSOR_FAILED)
            if isinstance(solver, GlobalApproach):
                solver.solve(motion, self.arrays, self.level, self._row_of)
                self.mark(g, np.flatnonzero(status[g, :stop] == DROPPED), DROPPED)

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
        status = self.arrays.quality[0][:, first:stop]
        ends = self.trajectory().instants(slice(first, stop))
        found = [(w, *outside(ends, w, model.frames.size)) for w in watched]
        gone = np.zeros(status.shape, dtype=np.bool_)
        for g, needs in enumerate(model.needs):
            gone[g] = gone[list(needs)].any(axis=0) & (status[g] != NOT_COMPUTED)
            self.mark(g, first + np.flatnonzero(gone[g]), PREDECESSOR_FAILED)
            for w, value, off in found:
                lost = np.flatnonzero((off > 0.0) & (status[g] == OK)) if w.group == g else _NO_BODIES
                if len(lost):
                    self.mark(g, first + lost, CONTACT_LOST, off[lost])
                    at = first + int(lost[0])
                    if at <= self.ended.get(g, (at, ""))[0]:
                        self.ended[g] = at, left_limits(w, float(value[lost[0]]), self.model.mechanism.units)
                    gone[g, lost] = True

    def mark(self, group: int, instants: Ints | slice, status: int, residual: Floats | None = None) -> None:
        """Take back a group's answer at some instants, for the reason that the status gives."""
        # A group that was not computed, or whose predecessor failed, has no residual.
        statuses, residuals, iterations, condition = self.arrays.quality
        statuses[group, instants] = status
        if status in (NOT_COMPUTED, PREDECESSOR_FAILED):
            residuals[group, instants], iterations[group, instants] = np.nan, 0
            condition[group, instants] = np.nan if status == NOT_COMPUTED else 0.0
        elif residual is not None:
            residuals[group, instants] = residual
        starts, members = self.model.structure.members
        rows = self._row_of[members[starts[group] : starts[group + 1]]]
        for array in self.arrays.outputs:
            if array.shape[1]:
                for row in rows[rows >= 0].tolist():
                    array[row, instants] = np.nan

    def stop_at(self, done: int) -> None:
        """Mark all later instants as not computed."""
        for group in range(self.model.structure.n_groups if done < len(self.motion.time) else 0):
            self.mark(group, slice(done, None), NOT_COMPUTED)

    def trajectory(self, kept: Ints | None = None) -> Trajectory:
        """Solution found; of some of the bodies, if they are named."""
        model = self.model
        some = kept is not None and len(kept) < len(self.kept)
        rows = self._row_of[kept] if some else _NO_BODIES
        outputs = [array[rows] for array in self.arrays.outputs] if some else self.arrays.outputs
        position, orientation, velocity, acceleration = outputs
        status, residual, iterations, condition = self.arrays.quality
        causes = contacts = None
        if np.count_nonzero(status):
            # Joints that close each group's loop where it came to a dead point or out of reach.
            ends = (NOT_CONVERGED, SINGULAR, OUT_OF_REACH, BRANCH_JUMP)
            stopped: Bools = np.asarray(np.isin(status, ends).any(axis=1))
            closing = zip(model.solvers, stopped.tolist(), strict=True)
            causes = tuple(" or ".join(solver.closing) if here else "" for solver, here in closing)
            joints = [group.joint_indices.tolist() for group in model.structure.groups]
            contacts = sentences_of(model.mechanism, joints, status, residual, self.ended)
        return Trajectory(
            model.mechanism,
            self.motion.time,
            position.swapaxes(0, 1),
            orientation.swapaxes(0, 1),
            velocity.swapaxes(0, 1) if self.level > 0 else None,
            acceleration.swapaxes(0, 1) if self.level > 1 else None,
            status.T,
            residual.T,
            iterations.T,
            condition=condition.T,
            kept=self.kept if kept is None else kept,
            causes=causes,
            group_names=model.group_names,
            contacts=contacts,
        )
