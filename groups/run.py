"""One motion of a model while it is being solved: the arrays of the answer, filled span by span."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from groups.contacts import left_limits, outside, sentences_of
from groups.kernels import span
from groups.motion import Motion, reference_inputs
from groups.reference import check_drives
from groups.results.arrays import Arrays
from groups.solvers.solver import Solver
from groups.status import (
    BRANCH_JUMP,
    CONTACT_LOST,
    INTERPENETRATION,
    NOT_COMPUTED,
    NOT_CONVERGED,
    OK,
    OUT_OF_REACH,
    PREDECESSOR_FAILED,
    SINGULAR,
)
from groups.trajectory import Trajectory
from mbssa.arrays import Bools, Floats, Ints
from mbssa.compiled import chosen, note_loaded
from mbssa.joints.catalogue import is_length
from mbssa.joints.system import Configuration

if TYPE_CHECKING:
    from groups.engine.solve import Solving
    from groups.model import Model


#: Bytes of the states of one block: they stay in a core's own cache.
BLOCK = 192 * 1024


#: Largest step of an input between two instants of a coarse pass, rad or relative to the mechanism's size.
COARSE_STEP = 0.2

#: Largest distance of a chunk's end from the seed of the next one, relative to the size or rad.
SEED_TOLERANCE = 1e-6


_NO_BODIES, _QUIET = np.zeros(0, dtype=np.int64), nullcontext()


#: Instants between two reports of progress.
REPORTED = 78 * 256

#: Steps from the reference to the first instant, where turns are counted from instant to instant.
START_STEPS = (51, 501, 5001)


@dataclass(eq=False)
class RunState:
    """State of a run between two instants: the memory of the groups, and the last orientations."""

    memory: Floats
    orientation: Floats  # (rows, 4), zero before the first instant: quaternions continue in its sign
    # (rows, 3 or 7) at the last instant of a coarse pass: position, angle or quaternion
    pose: Floats | None = None
    #: The engine's column at the last instant; it begins at the reference without one.
    column: Floats | None = None
    #: The model in whose modes it goes on, if that is not the run's.
    model: Model | None = None

    @staticmethod
    def start(memory: Floats, rows: int) -> RunState:
        """Before the first instant."""
        return RunState(memory.copy(), np.zeros((rows, 4)))

    def of(self, kept: Ints) -> RunState:
        """A copy for a run that keeps these bodies; one of all bodies is reduced to them."""
        if len(self.orientation) == len(kept):
            return replace(self, memory=self.memory.copy(), orientation=self.orientation.copy())
        pose = None if self.pose is None else self.pose[kept]
        return replace(self, memory=self.memory.copy(), orientation=self.orientation[kept], pose=pose)


@dataclass(frozen=True, eq=False)
class Part:
    """Groups that one call solves."""

    groups: Ints  # indices, each after those that it needs
    loaded: Ints  # bodies that others have solved and these groups need
    written: Ints  # bodies of these groups


def finished(
    solving: Solving,
    held: Ints,
    level: int,
    done: int | None = None,
    missing: Bools | None = None,
    *,
    watches: bool = True,
) -> Run:
    """The run of what the engine has solved, up to ``done``; without ``watches`` contacts know no limits."""
    count = len(solving.motion.time)
    done = count if done is None else done
    arrays = solving.finished(held, level, done, missing)
    run = Run(solving.model, solving.motion, held, level, arrays, compiled=False)
    if watches:
        for g, gone, off, said in solving.off_profiles(arrays.quality[0]):
            run.mark(g, gone, CONTACT_LOST, off)
            run.ended[g] = int(gone[0]), said
        run.check_contacts(0, done)
    for g, status in enumerate(arrays.quality[0][:, :done]):
        run.mark(g, np.flatnonzero(status == NOT_COMPUTED), NOT_COMPUTED)
    run.stop_at(done)
    return run


def rows_of(model: Model, bodies: Ints) -> tuple[Ints, tuple[Ints, Ints]]:
    """Row of each body (N,) in a run's arrays, or -1; starts (G + 1,) of the groups' rows, and these rows."""
    row_of = np.full(model.mechanism.n_bodies, -1, dtype=np.int64)
    row_of[bodies] = np.arange(len(bodies))
    start, members = model.structure.members
    rows = row_of[members]
    held = rows >= 0
    return row_of, (np.concatenate([[0], np.cumsum(held)])[start], rows[held])


class Run:
    """One motion being solved. Spans of time may be solved apart, and so may parts of the groups."""

    def __init__(
        self,
        model: Model,
        motion: Motion,
        kept: Ints,
        level: int,
        arrays: Arrays | None = None,
        compiled: bool | None = None,
        *,
        stepwise: bool = True,
    ) -> None:
        # Without ``stepwise`` the engine solves it where kernels are not compiled.
        if model.tearing is not None:
            raise ValueError(
                "a model with tearing inputs is solved by model.solve alone, without workers or a plan"
            )
        mechanism = model.mechanism
        check_drives(mechanism, motion)
        everything = len(kept) == mechanism.n_bodies
        self._row_of, self._rows = model.all_rows if everything else rows_of(model, kept)
        self._whole = Part(np.arange(model.structure.n_groups), _NO_BODIES, kept)
        self.model, self.motion, self.kept, self.level = model, motion, kept, level
        self.planar = mechanism.space == "planar"
        instants, rows = len(motion.time), len(kept)
        self.arrays = Arrays.empty(model, instants, rows, level) if arrays is None else arrays
        self._frame = model.frame_state
        # Struts are solved 32 instants at a time.
        widest = max(1, min(8, BLOCK // (mechanism.n_bodies * len(self._frame) * 256)))
        self._block = min(max(16, instants), 32 * widest)
        self._time = _plain(motion.time)
        self._inputs = _plain(motion.value), _plain(motion.rate), _plain(motion.acceleration)
        self._asks = model.asks_users
        #: Whether the kernels are compiled.
        self.compiled = model.compiles(instants, stepwise=stepwise) if compiled is None else compiled
        if self.compiled:
            note_loaded(model.kernels)
        self.by_engine = not (stepwise or self.compiled or model.globally)
        self._solve = chosen(entry(model), ask=self.compiled)
        self._of_thread = threading.local()
        #: By group, the first instant at which a contact was outside of its limits, and what is said of it.
        self.ended: dict[int, tuple[int, str]] = {}

    def advance(self, first: int, stop: int, state: RunState, part: Part | None = None) -> None:
        """Solve the instants ``first`` … ``stop`` - 1 of a part or of all groups; advances ``state``."""
        # Threads may do so at once, each with a state of its own.
        if self.by_engine:
            self._advance_by_engine(first, stop, state)
            return
        part = self._whole if part is None else part
        self._solve_part(part, first, stop, state)
        if self._asks:
            from groups.encoding.user_functions import of_joints, take_faults

            faults = take_faults()
            if faults:
                mechanism = self.model.structure.mechanism
                raise ValueError("; ".join(str(of_joints(fault, mechanism)) for fault in faults))

    def _advance_by_engine(self, first: int, stop: int, state: RunState) -> None:
        from groups.engine.solve import Solving

        span, column = slice(first, stop), state.column
        ahead = int(column is not None and first > 0)  # from the last instant on
        solving = Solving(state.model or self.model, self.motion.within(slice(first - ahead, stop)))
        solving.begin(column)
        solving.advance(0, stop - first + ahead)
        theirs = solving.finished(self.kept, self.level).by_name()
        for name, mine in self.arrays.by_name().items():
            if mine.shape[1]:
                mine[:, span] = theirs[name][:, ahead:]
        state.column = solving.last_column()

    def advance_lines(self, first: Ints, stop: Ints, memory: Floats) -> None:
        """Solve lines of instants ``first`` … ``stop`` - 1, each from the reference, or from a memory, on."""
        if not self.by_engine:
            state = RunState.start(memory, len(self.kept))
            for begin, end in zip(first.tolist(), stop.tolist(), strict=True):
                state.memory[:], state.orientation[:] = memory, 0.0
                self.advance(begin, end, state)
            return
        from groups.engine.lines import batches, solve_lines

        for lines in batches(self.model, first, stop):
            span = slice(int(first[lines][0]), int(stop[lines][-1]))
            ends = first[lines] - span.start, stop[lines] - span.start
            solving, status = solve_lines(self.model, self.motion.within(span), *ends)
            theirs = solving.arrays(self.kept, self.level, status).by_name()
            for name, mine in self.arrays.by_name().items():
                if mine.shape[1]:
                    mine[:, span] = theirs[name]
            for g, of in enumerate(status):
                self.mark(g, span.start + np.flatnonzero(of == BRANCH_JUMP), BRANCH_JUMP)

    def _solve_part(self, part: Part, first: int, stop: int, state: RunState) -> None:
        if not self.model.globally:
            self._by_kernel(part, first, stop, state)
            return
        if 0 in part.written:
            self.place_frame(first, stop)
        start = self.model.packed.memory_start
        for piece in self._pieces(part):
            g = int(piece.groups[0])
            by = self.model.solvers[g].part
            if by is None:
                self._by_kernel(piece, first, stop, state)
                continue
            by.advance(
                first, stop, state.memory[start[g] : start[g + 1]], state.orientation,
                self.arrays.outputs, self.arrays.quality, self._inputs, self._time, self.level, self._row_of,
            )  # fmt: skip

    def _pieces(self, part: Part) -> list[Part]:
        """A part cut where a group is solved by the global approach, which takes one group at a time."""
        solvers, neighbours = self.model.solvers, self.model.neighbours
        of_body = self.model.structure.group_of_body
        pieces: list[list[int]] = []
        for g in part.groups.tolist():
            if pieces and solvers[g].part is None and solvers[pieces[-1][0]].part is None:
                pieces[-1].append(g)
            else:
                pieces.append([g])
        found = []
        for piece in pieces:
            own = np.isin(of_body - 1, piece)
            loaded = sorted({body for g in piece for body in neighbours[g] if not own[body]})
            written = part.written[own[part.written]]
            found.append(Part(np.array(piece), np.array(loaded, dtype=np.int64), written))
        return found

    def _by_kernel(self, part: Part, first: int, stop: int, state: RunState) -> None:
        with _QUIET if self.compiled else np.errstate(all="ignore"):
            self._solve(*self._arguments(part, first, stop, state))

    def _arguments(self, part: Part, first: int, stop: int, state: RunState) -> tuple[Any, ...]:
        states, work = self._room()
        return (
            part.groups,
            self.model.packed.data(state.memory, work, self.compiled),
            states,
            (first, stop, self.level),
            self._inputs,
            self._time,
            self.arrays.quality,
            (self._row_of, part.loaded, part.written, state.orientation),
            self.arrays.outputs,
        )

    def _room(self) -> tuple[Floats, Floats]:
        """Room for a block's states and for the kernels to work in, one for each thread."""
        room: tuple[Floats, Floats] | None = getattr(self._of_thread, "room", None)
        if room is None:
            states = span.states(self._frame, len(self._row_of), self._block)
            self._of_thread.room = room = states, self.model.packed.room
        return room

    def look_back(self, first: int, stop: int, proven: Bools | None = None) -> None:
        """Take back instants that no solver takes back: dead points that were missed, contacts that ended."""
        # Those of `proven` (G, T) are on their branch, whatever their paths look like.
        self._turned_back(first, stop, proven)
        self.check_contacts(first, stop)

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

    def _turned_back(self, first: int, stop: int, proven: Bools | None) -> None:
        held = self.model.held
        if stop - first < 4 or not len(held):
            return
        status, _, _, condition = self.arrays.quality
        mark = chosen(span.turned_back, ask=self.compiled)
        position, orientation, velocity, acceleration = self.arrays.outputs
        angle = orientation if self.planar else np.zeros((0, 0))
        paths = (position, angle, velocity, acceleration)
        mark(held, self._rows, first, stop, self._time, status, condition, paths, self.model.frames.size)
        if proven is not None:
            status[proven & (status == BRANCH_JUMP)] = OK
        for g in held.tolist():
            self.mark(g, first + np.flatnonzero(status[g, first:stop] == BRANCH_JUMP), BRANCH_JUMP)

    def comes_to(self, first: int, stop: int, pose: Floats) -> bool:
        """Whether a chunk ends at the ``pose`` that seeds the next one, so that this one may begin there."""
        # After a gap, or a dead point between two instants of the coarse pass, a seed can be on another
        # branch, or have counted other turns.
        if self.arrays.quality[0][:, first:stop].any():
            return False
        position, orientation = (
            array[:, stop - 1].reshape(len(pose), -1) for array in self.arrays.outputs[:2]
        )
        wide = position.shape[1]
        off = np.abs(position - pose[:, :wide]).max(initial=0.0) / self.model.frames.size
        turned = np.abs(orientation - pose[:, wide:]).max(axis=1)
        if not self.planar:  # a quaternion and its opposite are the same turn
            turned = np.minimum(turned, np.abs(orientation + pose[:, wide:]).max(axis=1))
        return bool(off <= SEED_TOLERANCE and turned.max(initial=0.0) <= SEED_TOLERANCE)

    def begin_anew(self, first: int, stop: int) -> None:
        """Forget how well these instants were solved, before they are solved once more."""
        status, residual, iterations, condition = (array[:, first:stop] for array in self.arrays.quality)
        status[:], residual[:], iterations[:], condition[:] = 0, 0.0, 0, 1.0

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
        rows = self._rows[1][self._rows[0][group] : self._rows[0][group + 1]].tolist()
        for array in self.arrays.outputs:
            if array.shape[1]:
                for row in rows:
                    array[row, instants] = np.nan

    def stop_at(self, done: int) -> None:
        """Mark all later instants as not computed."""
        later = slice(done, len(self.motion.time))
        if done < later.stop:
            self.place_frame(done, later.stop)
            for group in range(self.model.structure.n_groups):
                self.mark(group, later, NOT_COMPUTED)

    def place_frame(self, first: int, stop: int) -> None:
        """Write the frame's own rows, where no call does that solves all groups."""
        row = self._row_of[0]
        if row < 0:
            return
        position, orientation, velocity, acceleration = self.arrays.outputs
        position[row, first:stop] = self._frame[: position.shape[2]]
        orientation[row, first:stop] = self._frame[4] if self.planar else span.quaternion(self._frame)
        velocity[row, first:stop] = 0.0
        acceleration[row, first:stop] = 0.0

    def trajectory(self, kept: Ints | None = None) -> Trajectory:
        """Solution found; of some of the bodies, if they are named."""
        model = self.model
        some = kept is not None and len(kept) < len(self.kept)
        rows = self._row_of[kept] if some else _NO_BODIES
        outputs = [array[rows] for array in self.arrays.outputs] if some else self.arrays.outputs
        position, orientation, velocity, acceleration = outputs
        status, residual, iterations, condition = self.arrays.quality
        failed = np.count_nonzero(status) > 0
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
            causes=_causes(model.solvers, status) if failed else None,
            group_names=model.group_names,
            contacts=self._contacts() if failed else None,
        )

    def _contacts(self) -> tuple[str, ...] | None:
        status, residual, _, _ = self.arrays.quality
        if not ((status == CONTACT_LOST) | (status == INTERPENETRATION)).any():
            return None
        structure = self.model.structure
        joints = [group.joint_indices.tolist() for group in structure.groups]
        return sentences_of(structure.mechanism, joints, status, residual, self.ended)


def _plain(array: Floats) -> Floats:
    """The array itself or a copy of the one kind that kernels are compiled for: contiguous, and writable."""
    flags = array.flags
    return array if flags.c_contiguous and flags.writeable else np.array(array, order="C")


def entry(model: Model) -> Callable[..., None]:
    """The kernel that solves all groups of a model, by kernels of their own."""
    return span.solve_planar if model.mechanism.space == "planar" else span.solve_spatial


def run_in(model: Model, motion: Motion, memory: Floats | None = None) -> Floats:
    """Memory of the groups after the way from the reference, or from ``memory``, to the start of a motion."""
    # In a straight line of the inputs, in as many steps as all groups can be followed by; where none of
    # START_STEPS are enough, the memory of the reference.
    mechanism = model.mechanism
    memory = model.packed.memory if memory is None else memory
    start = reference_inputs(mechanism, model.frames, model.reference)
    gap = motion.value[:, 0] - start
    if np.abs(gap).max(initial=0.0) < 1e-9:
        return memory
    for count in START_STEPS:
        share = np.linspace(0.0, 1.0, count)
        value = start[:, None] + np.outer(gap, share)
        way = Motion(share, motion.names, value, np.repeat(gap[:, None], count, axis=1), np.zeros_like(value))
        run = Run(model, way, np.arange(mechanism.n_bodies), 2)
        state = RunState.start(memory, mechanism.n_bodies)
        run.advance(0, count, state)
        if not run.arrays.quality[0].any():
            return state.memory
    return memory


def seed(model: Model, motion: Motion, starts: Ints, memory: Floats) -> list[RunState]:
    """States at the beginnings of chunks of a motion, by a coarse pass; instants ascend, the first is 0."""
    n = model.mechanism.n_bodies
    instants = coarse_instants(model, motion, starts)
    thin = Motion(
        motion.time[instants],
        motion.names,
        np.ascontiguousarray(motion.value[:, instants]),
        np.ascontiguousarray(motion.rate[:, instants]),
        np.ascontiguousarray(motion.acceleration[:, instants]),
    )
    run = Run(model, thin, np.arange(n), 0)
    state = RunState.start(memory, n)
    seeds = [RunState.start(memory, n)]
    done = 0
    for before in np.searchsorted(instants, starts[1:] - 1).tolist():
        run.advance(done, before + 1, state)
        done = before + 1
        position, orientation = (array[:, before].reshape(n, -1) for array in run.arrays.outputs[:2])
        pose = np.concatenate([position, orientation], axis=1)
        seeds.append(RunState(state.memory.copy(), state.orientation.copy(), pose))
    return seeds


def coarse_instants(model: Model, motion: Motion, starts: Ints) -> Ints:
    """Instants that seed chunks which begin at ``starts``, the first at 0."""
    # So few that no input goes farther than COARSE_STEP between two of them, and the instant before each
    # start.
    scale = _scale(model, motion)
    way = np.abs(np.diff(motion.value, axis=1)) / scale[:, None]
    gone = np.concatenate([[0.0], np.cumsum(way.max(axis=0, initial=0.0))])
    coarse = np.flatnonzero(np.diff(np.floor(gone / COARSE_STEP), prepend=-1.0) > 0)
    last = starts[-1] - 1 if len(starts) > 1 else -1
    found: Ints = np.unique(np.concatenate([coarse[coarse <= last], starts[1:] - 1]))
    return found


def _scale(model: Model, motion: Motion) -> Floats:
    """Scales (D,) of the inputs: the mechanism's size in m, or 1 rad."""
    return np.array([model.frames.size if is_length(name) else 1.0 for name in motion.names])


def _causes(solvers: Sequence[Solver], status: npt.NDArray[np.int8]) -> tuple[str, ...]:
    """Joints that close each group's loop where it came to a dead point or out of reach."""
    ends = (NOT_CONVERGED, SINGULAR, OUT_OF_REACH, BRANCH_JUMP)
    return tuple(
        " or ".join(solver.closing) if np.isin(status[g], ends).any() else ""
        for g, solver in enumerate(solvers)
    )


def frame_state(reference: Configuration, planar: bool) -> Floats:
    """The frame's state: it stands where the reference has it."""
    position, rotation = reference.position[0], reference.rotation[0]
    if planar:
        c, s = rotation[0, 0], rotation[1, 0]
        return np.array([position[0], position[1], c, s, np.arctan2(s, c), 0, 0, 0, 0, 0, 0])
    return np.concatenate([position, rotation.ravel(), np.zeros(12)])
