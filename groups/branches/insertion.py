"""Proof of a motion: time steps that are not certified are solved in pieces, until each piece is."""

# Inserted instants are on the cubics of the inputs through values and rates. All groups solve them in order,
# by the model's own solvers; they are not in the answer.

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from math import inf
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from groups.branches.crossing import Crossed, Trail, at_shares, from_pose
from groups.branches.prover import DEPTH, Pieces, Prover, prover_of
from groups.branches.singular import singular_position
from groups.engine.solve import Solving, plan_of
from groups.motion import Motion
from groups.results.arrays import Arrays
from groups.results.schema import OUTPUTS, QUALITY
from groups.results.singular import SingularPosition
from groups.run import Run, RunState
from groups.status import BRANCH_JUMP, NOT_CONVERGED, OK, PASSED_SINGULAR, PREDECESSOR_FAILED
from mbssa.arrays import Bools, Floats, Ints
from mbssa.joints.catalogue import is_length

if TYPE_CHECKING:
    from groups.engine.rescue import Statuses
    from groups.model import Model
    from groups.trajectory import Trajectory


NONE = np.zeros(0, dtype=np.int64)
#: Largest difference of poses that are the same, over the size, or of entries of a quaternion, or rad.
SAME = 1e-7
#: A motion begins at the reference, rad or m.
AT_REFERENCE = 1e-12
#: Least piece of a time step: the way of an input in it, rad or of the size.
LEAST = 1e-7
#: Pieces that are halved at once, and rounds of a time step until its groups are given up.
AT_ONCE, ROUNDS = 32, 1000
#: A solution in which a group is lost takes so many times as long.
RESCUED = 10.0
#: Longest way of an input in one time step that is followed at all, rad or of the size.
FARTHEST = 1000.0
#: Time steps that are solved and certified at once, at first and at most.
WINDOW, WIDEST = 256, 4096


def proven_at_once(
    solving: Solving, status: Statuses, compiled: bool, progress: Callable[[float], object] | None = None
) -> npt.NDArray[np.int8] | None:
    """(T, G) 1 where the branch is proven up to that instant, of a motion that the engine has solved."""
    # None where a group has to be followed in pieces. ``progress`` is called with the share that is done; the
    # proof ends there if it says False.
    if solving.model.globally or status.any() or any(solving.off_profiles(status)):
        return None
    plan, way, last = solving.plan, solving.way, len(solving.motion.time) - 1
    prover, goal = prover_of(plan), solving.motion.value[:, 0]
    if np.abs(goal - plan.inputs_near(goal)).max(initial=0.0) >= AT_REFERENCE:
        return None
    sure, tail = prover.sure, list[Pieces]()
    proven = np.tile(sure.astype(np.int8), (last + 1, 1))
    span = WIDEST if progress is None else WINDOW
    for first in range(0, last, span) if sure.any() else ():
        stop = min(first + span, last)
        usable = np.broadcast_to(sure[:, None], (len(sure), stop - first))
        pieces = prover.pieces(way, first, solving.X[:, first : stop + 1], usable, compiled=compiled)
        whole = Pieces.joined([*tail, pieces]) if tail else pieces
        if not (whole.good[sure].all() and prover.meet(whole)[sure].all()):
            return None
        tail = [pieces.picked([-1])]
        if progress is not None and progress((stop + 1) / (last + 1)) is False:
            proven[stop + 1 :] = 0
            break
    return proven


def prove(
    model: Model,
    motion: Motion,
    found: Trajectory,
    kept: Ints,
    level: int,
    compiled: bool = False,
    smooth: bool = False,
    progress: Callable[[float], object] | None = None,
    whole: Solving | None = None,
    patience: float = inf,
) -> Trajectory:
    """Prove the branches of a solution of all bodies with velocities; its arrays are written to."""
    # After so many seconds by NumPy, roughly, of pieces of steps all that is left stays as it was found.
    # ``whole``: the engine's solution, if that is it. From another pose than was found the model goes on.
    velocity, acceleration = found.velocity, found.acceleration
    assert velocity is not None
    if acceleration is None:
        acceleration = np.zeros((0, *velocity.shape[1:]))
    outputs = (found.position, found.orientation, velocity, acceleration)
    arrays = {name: np.asarray(array).swapaxes(0, 1) for name, array in zip(OUTPUTS, outputs, strict=True)}
    if found.status.shape[1] == model.structure.n_groups:
        quality = (found.status.T, found.residual.T, found.iterations.T, found.condition.T)
    else:  # by groups of other inputs
        quality = Arrays.empty(model, len(found.time), 0, 0).quality
        quality[1][:], quality[2][:], quality[3][:] = 0.0, 0, 1.0
        missing = np.asarray(np.isnan(found.position).any(axis=2))
        for g, group in enumerate(model.structure.groups):
            quality[0][g, missing[:, group.body_indices].any(axis=1)] = NOT_CONVERGED
    arrays |= zip(QUALITY, quality, strict=True)
    if not all(array.flags.writeable for array in arrays.values()):
        arrays = {name: array.copy() for name, array in arrays.items()}
    proof = Proof(
        model, motion, level, compiled, Arrays.named(arrays), smooth, progress=progress, patience=patience
    )
    return proof.trajectory(kept, whole)


def prove_of_groups(
    model: Model,
    own: Sequence[Ints],
    motion: Motion,
    found: Trajectory,
    kept: Ints,
    level: int,
    compiled: bool,
) -> Trajectory:
    """Prove a solution by other groups of the same mechanism, and map the proof to its own by ``own``."""
    proven = prove(model, motion, found, kept, level, compiled)
    assert proven.proven is not None
    status, proof = found.status.copy(), np.zeros_like(found.status)
    of_body = model.structure.group_of_body - 1
    number = np.zeros(model.structure.n_groups, dtype=np.int64)
    for g, mine in enumerate(own):
        theirs = np.unique(of_body[mine])
        number[theirs] = g + 1
        proof[:, g] = proven.proven[:, theirs].min(axis=1)
        first = (proven.status[:, theirs] != OK).argmax(axis=1)
        status[:, g] = proven.status[np.arange(len(first)), theirs[first]]
        # What was missing and has not been found either is so for its own reason, such as a contact's end.
        why = (status[:, g] == NOT_CONVERGED) & (found.status[:, g] != OK)
        status[why, g] = found.status[why, g]
    return replace(
        proven,
        status=status,
        residual=np.where(status == OK, np.nan_to_num(found.residual), np.nan),
        iterations=found.iterations,
        condition=found.condition,
        group_names=found.group_names,
        causes=found.causes,
        contacts=found.contacts,
        proven=proof,
        singular=tuple(replace(one, group=int(number[one.group - 1])) for one in proven.singular),
    )


class _StopWantedError(Exception):
    """The run was stopped within a time step."""


@dataclass(eq=False)
class Proof:
    """One motion being solved and proven; ``sure`` (G,) groups are proven so far."""

    model: Model
    motion: Motion
    level: int
    compiled: bool
    #: What was solved by others, until it is found to be another branch.
    solved: Arrays | None = None
    smooth: bool = False
    least: float = LEAST
    singular: list[SingularPosition] = field(default_factory=list)
    #: The engine's solution of the whole motion; None before the first piece that needs it.
    whole: Solving | None = None
    #: As :meth:`groups.Model.solve` has it; called after each piece, too.
    progress: Callable[[float], object] | None = None
    #: Seconds by NumPy, roughly, after which no more steps are tested or solved in pieces.
    patience: float = inf
    #: The largest share that was told.
    told: float = 0.0

    def __post_init__(self) -> None:
        count = self.model.structure.n_groups
        self.everything = np.arange(self.model.mechanism.n_bodies)
        #: Groups that went on through a place where two branches cross, or hang on such.
        self.continued = np.zeros(count, dtype=np.bool_)
        self.proven = np.zeros((count, len(self.motion.time)), dtype=np.int8)
        #: Seconds that solutions of pieces have taken, roughly.
        self.spent = 0.0
        #: From where the next time step begins, if a crossing ended beyond the last one.
        self.beyond: Crossed | None = None
        #: Groups with a contact that leaves an open profile, and the last time step before that.
        self.ends: list[tuple[int, int]] = []
        #: The pieces that were tried last, and the last one that was accepted, with their proofs.
        self.pieces: tuple[Prover, Pieces] | None = None
        self.tail: tuple[Prover, Pieces] | None = None
        #: Groups that came to be in doubt since an instant was last solved.
        self.doubted: list[int] = []

    @cached_property
    def sure(self) -> Bools:
        """Groups whose branch is proven so far: they have a proof, and so has what they hang on."""
        return prover_of(plan_of(self.model)).sure.copy()

    def trajectory(self, kept: Ints, whole: Solving | None = None) -> Trajectory:
        """The answer; ``whole`` is the engine's solution, which holds the arrays of what was solved."""
        motion, instants = self.motion, len(self.motion.time)
        run = self._run(motion, self.solved)
        if self.solved is not None:
            self.whole = self._by_engine() if whole is None else whole
            if _differ(self.model, self._outputs(self.whole), self.solved.outputs[:2]).any():
                self.solved = None
            gone = self.whole.off_profiles(0 * self.proven)
            self.ends = [(g, int(instants[0]) - 1) for g, instants, *_ in gone]
        state = RunState()
        before = self._pose(run, 0)
        state = self._to_first_instant(run, state)
        self._same(run, 0, before)
        done, window = 0, WINDOW
        while done < instants - 1 and self.spent < self.patience:
            self.sure[[g for g, end in self.ends if end <= done]] = False  # off its profile nothing is proven
            for g, needs in enumerate(self.model.needs):
                self.sure[g] &= self.sure[list(needs)].all()
            stop = min(done + window, instants - 1, *(end for _, end in self.ends if end > done))
            begun = state
            if self.solved is None:
                state = _advance(run, done + 1, stop + 1, state)
            passed = self.passed(run, done, stop + 1, None if self.solved is None else self.whole)
            failing = np.flatnonzero(~passed[:, self.sure].all(axis=1))
            self._accept(int(failing[0]) if len(failing) else stop - done)
            if not len(failing):
                self.proven[:, done + 1 : stop + 1] = self._said[:, None]
                done, window = stop, min(2 * window, WIDEST)
            else:
                first = done + int(failing[0])
                self.proven[:, done + 1 : first + 1] = self._said[:, None]
                if self.solved is None:
                    begun = _advance(run, done + 1, first + 1, begun)
                else:
                    run, begun = self._taken_up(run, first)
                before = self._pose(run, first + 1)
                try:
                    state = self._step(run, first, begun)
                except _StopWantedError:
                    done = first
                    break
                self._same(run, first + 1, before)
                done, window = first + 1, max(window // 4, 1)
            if not self._goes_on(done):
                break
        else:
            if self.solved is None:
                _advance(run, done + 1, instants, state)
            done = instants - 1
        return self._answer(run, done, kept)

    def _answer(self, run: Run, done: int, kept: Ints) -> Trajectory:
        if self.solved is not None and self.whole is not None:
            run.leave_profiles(self.whole, 0, run.arrays.quality[0])
        run.check_contacts(0, done + 1)
        run.stop_at(done + 1)
        found = run.trajectory(kept)
        return replace(
            found,
            velocity=found.velocity if self.level > 0 else None,
            proven=self.proven.T * (found.status == OK),
            singular=tuple(self.singular),
        )

    def _by_engine(self) -> Solving:
        """The engine's solution of the whole motion."""
        if self.whole is None:
            self.whole = Solving(self.model, self.motion, compiled=self.compiled)
            self.whole.begin()
            self.whole.advance(0, len(self.motion.time))
            self.whole.finished(self.everything, 0)
        return self.whole

    def _goes_on(self, done: int) -> bool:
        self.told = max(self.told, (done + 1) / len(self.motion.time))
        return self.progress is None or self.progress(self.told) is not False

    def _pose(self, run: Run, at: int) -> list[Floats]:
        return [array[:, at].copy() for array in run.arrays.outputs[:2]]

    def _same(self, run: Run, at: int, pose: list[Floats]) -> None:
        """Leave what others found if they found another pose at an instant."""
        mine, found = self._pose(run, at), self.solved is not None
        if found and (_differ(self.model, mine, pose).any() or (np.isnan(pose[0]) > np.isnan(mine[0])).any()):
            self.solved = None

    def _taken_up(self, run: Run, at: int) -> tuple[Run, RunState]:
        """Go on by the model from a pose that others have found."""
        column = self._column(run, at)
        if column is None:
            found = from_pose(self.model, self._pose(run, at), self.motion.value[:, at])
            self.model = self.model if found is None else found  # else it is singular there
        return self._run(self.motion, run.arrays), RunState(column)

    def _column(self, run: Run, at: int) -> Floats | None:
        """The engine's own column at an instant, with turns that a pose lacks; None if that is elsewhere."""
        whole = self._by_engine()
        mine = [array[:, at] for array in self._outputs(whole)]
        differs = _differ(self.model, self._pose(run, at), mine).any()
        return None if differs else whole.X[:, at].copy()

    def _outputs(self, whole: Solving) -> tuple[Floats, ...]:
        """Positions and orientations (N, T, …) of a solution by the engine."""
        none = np.zeros(self.proven.shape, dtype=np.int8)
        return whole.arrays(self.everything, 2, none).outputs[:2]

    @property
    def _said(self) -> npt.NDArray[np.int8]:
        """Proof (G,) of the groups now: 1 proven, 2 continued through a crossing."""
        found: npt.NDArray[np.int8] = (self.sure * (1 + self.continued)).astype(np.int8)
        return found

    def _run(self, motion: Motion, arrays: Arrays | None = None) -> Run:
        level = max(self.level, 1 + self.smooth)
        return Run(self.model, motion, self.everything, level, arrays, self.compiled)

    def passed(
        self, run: Run, first: int, stop: int, by: Solving | None = None, deep: int = DEPTH, gaps: Ints = NONE
    ) -> Bools:
        """Time steps (K, G) from ``first`` to ``stop`` - 1 over which groups are proven."""
        # Steps that begin at the instants ``gaps`` are none: they lie between lines.
        solved = run.arrays.quality[0][:, first:stop] == OK
        usable = solved[:, 1:] & solved[:, :-1] & self.sure[:, None]
        usable[:, gaps[(gaps >= first) & (gaps < stop - 1)] - first] = False
        if not usable.shape[1] or (run.last is None and by is None):
            return np.zeros(usable.T.shape, dtype=np.bool_)
        begun, solving = (0, by) if by is not None else cast("tuple[int, Solving]", run.last)
        prover, span = prover_of(solving.plan), slice(first - begun, stop - begun)
        deep = deep if self.spent < self.patience else 0
        pieces = prover.pieces(
            solving.way, span.start, solving.X[:, span], usable, deep, compiled=self.compiled
        )
        self.spent += prover.seconds(len(pieces.x))
        pieces.good[:, 1:] &= prover.meet(pieces)
        if self.tail is not None and self.tail[0] is prover:
            both = Pieces.joined([self.tail[1], pieces.picked([0])])
            pieces.good[:, :1] &= prover.meet(both)
        self.pieces = prover, pieces
        starts = np.searchsorted(pieces.x, np.arange(span.start, span.stop - 1))
        found: Bools = np.logical_and.reduceat(pieces.good, starts, axis=1)
        for g, needs in enumerate(self.model.needs):
            found[g] &= found[list(needs)].all(axis=0)
        return found.T

    def _accept(self, steps: int) -> None:
        """Remember the last piece of some steps that have passed: what follows has to go on from it."""
        if steps and self.pieces is not None:
            prover, pieces = self.pieces
            last = int(np.searchsorted(pieces.x, pieces.x[0] + steps)) - 1
            self.tail = prover, replace(pieces.picked([last]), x=np.array([-1.0]))

    def _to_first_instant(self, run: Run, state: RunState) -> RunState:
        """Go straight from the reference to the first instant of a run; angles the nearest way."""
        model, motion = self.model, self.motion
        goal = motion.value[:, 0]
        start = plan_of(model).inputs_near(goal)
        gap = goal - start
        if np.abs(gap).max(initial=0.0) < AT_REFERENCE or not self.sure.any():
            if self.solved is None or self.sure.any():  # else what others found is as good
                state = _advance(run, 0, 1, state)
            self.sure &= run.arrays.quality[0][:, 0] == OK
            self._take_back(run, 0)
            return state
        zero = np.zeros((len(gap), 2))
        way = Motion(np.array([0.0, 1.0]), motion.names, np.array([start, goal]).T, zero + gap[:, None], zero)
        reference = self._run(way)
        state = reference.advance(0, 1, state)
        state = self._in_pieces(way, reference, 0, state, 0, run)
        status = run.arrays.quality[0][:, 0].copy()
        state = _advance(run, 0, 1, state)  # with the rates of the motion
        for g in np.flatnonzero((status != OK) & (run.arrays.quality[0][:, 0] == OK)).tolist():
            run.mark(g, slice(0, 1), int(status[g]))
        return state

    def _step(self, run: Run, first: int, state: RunState) -> RunState:
        """Solve the time step from an instant on in pieces; return the state at its end."""
        of, two = self.motion, slice(first, first + 2)
        ends = [np.ascontiguousarray(array[:, two]) for array in (of.value, of.rate, of.acceleration)]
        time, start, column = of.time[two].copy(), run, first
        if self.beyond is not None:  # its inputs are those of the last time step, a little farther
            start, column, state = self.beyond.run, 0, self.beyond.state
            for array, at in zip(
                ends, (start.motion.value, start.motion.rate, start.motion.acceleration), strict=True
            ):
                array[:, :1] = at
            time[0] = self.beyond.time
            self.beyond = None
        return self._in_pieces(Motion(time, of.names, *ends), start, column, state, first + 1, run)

    def _in_pieces(
        self, step: Motion, start: Run, column: int, state: RunState, at: int, into: Run | None = None
    ) -> RunState:
        """Solve one time step in pieces until all sure groups' are certified, or least; the last state."""
        # Groups with a least piece that is not certified are sure no longer. `start` holds the first pose of
        # the step at the instant `column`, and `into` takes the last one at the instant `at`.
        shares, way = np.array([0.0, 1.0]), _longest_way(step, self.model.frames.size)
        into, unsolved = start if into is None else into, 1.0
        most = ROUNDS if way <= FARTHEST and self.spent < self.patience else 0
        trail, whole = Trail(step, way), (start, column, state, self.tail)
        for rounds in count():
            if at > 0 and not self._goes_on(at - 1):
                raise _StopWantedError
            # No farther than to the first instant that was not solved: what comes after takes long to fail.
            solved = shares[: 1 + min(AT_ONCE, int(np.searchsorted(shares, unsolved)))]
            begun = state
            run = self._run(at_shares(step, solved))
            _copy(start, column, run, 0)
            state = run.advance(1, len(solved), state)
            lost = bool((run.arrays.quality[0][self.sure, 1:] != OK).any())
            self.spent += (RESCUED if lost else 1.0) * plan_of(self.model).seconds(len(solved))
            passed = self.passed(run, 0, len(solved), deep=0)
            failing = np.flatnonzero(~passed[:, self.sure].all(axis=1))
            first = int(failing[0]) if len(failing) else len(solved) - 1
            self._accept(first)
            if first == len(shares) - 1:
                break
            if len(failing):
                least = (shares[first + 1] - shares[first]) * way <= self.least
                if least or rounds >= most or self.spent >= self.patience:
                    crossed = self._crossed(trail, run, first, passed[first], shares) if self.smooth else None
                    if crossed is None:
                        self._doubt(run, first, passed[first], at, shares)
                        # Near a singular position solvers fail: without a proof from here on.
                        start, column, state, self.tail = whole
                        shares, unsolved = np.array([0.0, 1.0]), 1.0
                    elif crossed.share < 1.0:
                        self.tail = None
                        start, column, state, unsolved = crossed.run, 0, crossed.state, 1.0
                        shares = np.array([crossed.share, 1.0])
                    else:
                        trail.between(crossed, into, at)
                        self.beyond, self.tail = crossed, None
                        self._take_back(into, at)
                        return crossed.state
                    continue
                state = _advance(run, 1, first + 1, begun)
            bad = np.flatnonzero(
                (run.arrays.quality[0][self.sure, first + 1 : len(solved)] != OK).any(axis=0)
            )
            unsolved = float(shares[first + 1 + bad[0]]) if len(bad) else 1.0
            start, column = run, first
            if self.smooth:
                trail.add(run, shares[: first + 1])
            halved = failing[shares[failing + 1] <= max(unsolved, shares[first + 1])]
            middle = 0.5 * (shares[halved] + shares[halved + 1])
            shares = np.sort(np.concatenate([shares[first:], middle]))
        _copy(run, len(shares) - 1, into, at)
        self._take_back(into, at)
        return state

    def _crossed(self, trail: Trail, run: Run, piece: int, passed: Bools, shares: Floats) -> Crossed | None:
        """Go on through a place where two branches of one or more groups cross; None where it is not that."""
        time = trail.step.time[0] + shares[piece : piece + 2] * np.diff(trail.step.time)
        hanging = (passed[list(self.model.needs[g])].all() for g in range(len(passed)))
        lost = np.flatnonzero(self.sure & ~passed & np.array(list(hanging)))
        places = {g: self._singular(run, piece, g, time) for g in lost.tolist()}
        if any(place.kind != "branches cross" for place in places.values()):
            return None
        crossed = trail.crossed(self.model, float(shares[piece + 1]), self._run)
        if crossed is not None:
            self.continued[list(places)] = True
            self.singular += places.values()
            for g, needs in enumerate(self.model.needs):
                self.continued[g] |= bool(self.continued[list(needs)].any())
        return crossed

    def _doubt(self, run: Run, piece: int, passed: Bools, at: int, shares: Floats) -> None:
        """Leave groups unproven from a piece of the time step before the instant ``at`` on."""
        time = self.motion.time
        before = time[max(at - 1, 0)]
        times = before + shares[piece : piece + 2] * (time[at] - before)
        parts = cast("tuple[int, Solving]", run.last)[1].plan.parts
        for g in np.flatnonzero(self.sure & ~passed).tolist():
            self.sure[g] = False
            # On curves a proof ends at breaks too: nothing is singular there, and the branch is checked.
            if passed[list(self.model.needs[g])].all() and not parts[g].group.curved:
                self.doubted.append(g)
                self.singular.append(self._singular(run, piece, g, times))

    def _singular(self, run: Run, piece: int, group: int, times: Floats) -> SingularPosition:
        """Singular position of a group in a piece, from the pose in which it begins."""
        begun, solving = cast("tuple[int, Solving]", run.last)
        return singular_position(solving.plan, group, solving.X[:, piece - begun], times.tolist())

    def _take_back(self, run: Run, at: int) -> None:
        """Take back the answers of an instant that lie beyond a singular position of their group."""
        status = run.arrays.quality[0]
        gone = np.zeros(len(self.sure), dtype=np.bool_)
        for g, needs in enumerate(self.model.needs):
            missing = bool(gone[list(needs)].any())
            gone[g] = missing or g in self.doubted
            if gone[g] and (status[g, at] == OK or (g in self.doubted and status[g, at] == BRANCH_JUMP)):
                run.mark(g, slice(at, at + 1), PREDECESSOR_FAILED if missing else PASSED_SINGULAR)
        self.doubted.clear()
        self.proven[:, at] = self._said


def _differ(model: Model, one: Sequence[Floats], other: Sequence[Floats]) -> Bools:
    """Whether poses (N, …) differ by more than whole turns and signs of quaternions."""
    (p, q), (r, s) = one, other
    if q.ndim == p.ndim:
        turned = np.minimum(np.abs(q - s).max(axis=-1), np.abs(q + s).max(axis=-1))
    else:
        turned = np.abs(np.mod(q - s + np.pi, 2 * np.pi) - np.pi)
    found: Bools = np.fmax(np.abs(p - r).max(axis=-1) / model.frames.size, turned) > SAME
    return found


def _copy(run: Run, instant: int, into: Run, at: int) -> None:
    """Copy all that a run holds of an instant into another run."""
    all_of_it = [(*of.arrays.outputs, *of.arrays.quality) for of in (run, into)]
    for theirs, mine in zip(*all_of_it, strict=True):
        if mine.shape[1]:
            mine[:, at] = theirs[:, instant]


def _advance(run: Run, first: int, stop: int, state: RunState) -> RunState:
    if stop <= first:
        return state
    run.begin_anew(first, stop)
    return run.advance(first, stop, state)


def _longest_way(step: Motion, size: float) -> float:
    """Largest way of an input in a time step, rad or over the size."""
    over = np.array([size if is_length(name) else 1.0 for name in step.names])
    parts = [np.abs(np.diff(step.value)[:, 0]), *(np.abs(step.rate) * (step.time[1] - step.time[0])).T]
    return float((np.max(parts, axis=0) / over).max(initial=0.0))
