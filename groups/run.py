"""One motion of a model while it is being solved: its answer, of which instants are taken back."""

# A contact is an equation, so that it holds beyond the end of its slot or plate too; there its group has no
# answer. The solver itself goes on, so that a contact begins again where it ended. Limits of joints that are
# no contacts are limits of the design, and are not checked here.

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from groups import status as codes
from groups.engine.solve import Solving, batches, solve_lines
from groups.results.joints import joint_motion
from groups.solvers.global_approach import GlobalApproach
from groups.status import OUTPUTS, QUALITY
from groups.trajectory import Trajectory, changed, unfilled
from mbssa.arrays import Bools, Floats, Ints
from mbssa.joints.catalogue import coordinate_unit, is_length, type_of_joint
from mbssa.units import given_in, quantity_text

if TYPE_CHECKING:
    from groups.model import Model
    from groups.motion import Motion

#: Least excess over a limit, rad or sizes of the mechanism: more than rounding.
OUTSIDE = 1e-9


def finished(
    solving: Solving, held: Ints, level: int, done: int | None = None, missing: Bools | None = None
) -> Run:
    """The run of what the engine has solved, up to ``done``."""
    done = len(solving.motion.time) if done is None else done
    run = Run(solving.model, solving.answer(held, level, solving.settled(done, missing)))
    if run.model.globally:
        run.solve_by_global_approach(solving.motion.within(slice(done)))
    run.leave_profiles(solving, 0, run.answer.status.T)
    run.check_contacts(done)
    if missing is not None:
        for g, gone in enumerate(missing):
            run.mark(g, np.flatnonzero(gone), codes.NOT_COMPUTED)
    run.stop_at(done)
    return run


def along_lines(
    model: Model, motion: Motion, first: Ints, stop: Ints, held: Ints, level: int, compiled: bool
) -> Run:
    """The run of lines of instants ``first`` … ``stop`` - 1, each solved from the reference on."""
    run = Run(model, unfilled(model.mechanism, motion.time, held, level, model.group_names))
    for lines in batches(model, first, stop):
        span = slice(int(first[lines][0]), int(stop[lines][-1]))
        ends = first[lines] - span.start, stop[lines] - span.start
        solving, status = solve_lines(model, motion.within(span), *ends, compiled)
        put(run.answer, span, solving.answer(held, level, status))
        for g, of in enumerate(status):
            run.mark(g, span.start + np.flatnonzero(of == codes.BRANCH_JUMP), codes.BRANCH_JUMP)
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
        status = self.answer.status[: len(motion.time)]
        for g, solver in enumerate(self.model.solvers):
            lost = (status[:, list(self.model.needs[g])] != codes.OK).any(axis=1) & (status[:, g] == codes.OK)
            self.mark(g, np.flatnonzero(lost), codes.PREDECESSOR_FAILED)
            if isinstance(solver, GlobalApproach):
                solver.solve(motion, self.answer, self._row_of)
                self.mark(g, np.flatnonzero(status[:, g] == codes.DROPPED), codes.DROPPED)

    def leave_profiles(self, solving: Solving, begun: int, status: npt.NDArray[np.int8]) -> None:
        """Take back instants at which a contact's place has left an open profile."""
        for g, gone, off, said in solving.off_profiles(status):
            self.mark(g, begun + gone, codes.CONTACT_LOST, off)
            self.ended[g] = begun + int(gone[0]), said

    def check_contacts(self, stop: int, *, angles: bool = True) -> None:
        """Take back instants, up to one, at which a contact's place is outside of its limits."""
        # Without `angles` those that are lengths alone: between poses in any order no angle counts turns.
        model, mechanism = self.model, self.model.mechanism
        watched = [watch for watch in model.watches if angles or is_length(watch[2])]
        if not watched or not stop:
            return
        ends = self.answer.instants(slice(stop))
        values = [joint_motion(ends, j)[coordinate].value for _, j, coordinate, *_ in watched]
        gone = np.zeros(ends.status.shape, dtype=np.bool_)
        for g, needs in enumerate(model.needs):
            gone[:, g] = gone[:, list(needs)].any(axis=1) & (ends.status[:, g] != codes.NOT_COMPUTED)
            self.mark(g, np.flatnonzero(gone[:, g]), codes.PREDECESSOR_FAILED)
            for (group, j, coordinate, *limits), value in zip(watched, values, strict=True):
                off = np.maximum(limits[0] - value, value - limits[1])
                rounding = OUTSIDE * (model.frames.size if is_length(coordinate) else 1.0)
                lost = np.flatnonzero((off > rounding) & (ends.status[:, g] == codes.OK) & (group == g))
                if not len(lost):
                    continue
                self.mark(g, lost, codes.CONTACT_LOST, off[lost])
                gone[lost, g], at = True, int(lost[0])
                if at <= self.ended.get(g, (at, ""))[0]:
                    name = f"{type_of_joint(mechanism, j).code} {mechanism.joint_ids[j]}.{coordinate}"
                    unit, scale = given_in(coordinate_unit(coordinate), mechanism.units)
                    here, low, high = (f"{each / scale:.6g}" for each in (float(value[at]), *limits))
                    self.ended[g] = at, f"{name} is {here} {unit}, outside {low} … {high} {unit}"

    def mark(self, group: int, instants: Ints | slice, status: int, residual: Floats | None = None) -> None:
        """Take back a group's answer at some instants, for the reason that the status gives."""
        answer = self.answer
        answer.status[instants, group] = status
        if residual is not None:
            answer.residual[instants, group] = residual
        starts, members = self.model.structure.members
        rows = self._row_of[members[starts[group] : starts[group + 1]]]
        for name in OUTPUTS:
            if (array := getattr(answer, name)) is not None:
                for row in rows[rows >= 0].tolist():
                    array[instants, row] = np.nan

    def stop_at(self, done: int) -> None:
        """Mark all later instants as not computed."""
        for group in range(len(self.model.solvers) if done < len(self.answer.time) else 0):
            self.mark(group, slice(done, None), codes.NOT_COMPUTED)

    def trajectory(self, kept: Ints | None = None) -> Trajectory:
        """Solution found; of some of the bodies, if they are named."""
        model, found = self.model, self.answer
        if np.count_nonzero(found.status):
            for code, condition in ((codes.PREDECESSOR_FAILED, 0.0), (codes.NOT_COMPUTED, np.nan)):
                at = found.status == code
                found.residual[at], found.iterations[at], found.condition[at] = np.nan, 0, condition
            causes, contacts, mechanism = list[str](), list[str](), model.mechanism
            for g, (group, status) in enumerate(zip(model.structure.groups, found.status.T, strict=True)):
                # Joints that close the group's loop where it came to a dead point or out of reach.
                closing = model.solvers[g].closing if np.isin(status, codes.OPEN).any() else ()
                causes.append(" or ".join(closing))
                at = np.flatnonzero(np.isin(status, codes.CONTACT_ENDED))
                step, said = self.ended.get(g, (-1, ""))
                if len(at) and step != at[0]:
                    types = {j: type_of_joint(mechanism, j) for j in group.joint_indices.tolist()}
                    names = [f"{one.code} {mechanism.joint_ids[j]}" for j, one in types.items() if one.gap]
                    sign = 1.0 if status[at[0]] == codes.CONTACT_LOST else -1.0
                    gap = quantity_text(sign * found.residual[at[0], g], "m", mechanism.units, ".3g")
                    said = f"{' or '.join(names)}: gap {gap}"
                contacts.append(said if len(at) else "")
            ended = tuple(contacts) if any(contacts) else None
            found = replace(found, causes=tuple(causes), contacts=ended)
        if kept is None or len(kept) == len(found.kept):
            return found
        rows = self._row_of[kept]  # contiguous per body in memory
        some = changed(found, OUTPUTS, lambda array: array.swapaxes(0, 1)[rows].swapaxes(0, 1))
        return replace(some, kept=kept)
