"""Proof of a motion: time steps that are not certified are solved in pieces, until each piece is."""

# All groups solve the instants that are inserted, in order, by the engine; they are not in the answer.

from __future__ import annotations

from dataclasses import replace
from itertools import count
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from groups.branches.crossing import Crossed, Step, singular_position
from groups.branches.prover import DEPTH, Pieces, prover_of
from groups.engine.path import Way
from groups.engine.plan import CONDITION, RESIDUAL
from groups.engine.solve import plan_of, solved, take_back
from groups.run import Run
from groups.status import (
    BRANCH_JUMP,
    CONTACT_LOST,
    NOT_CONVERGED,
    OK,
    OUTPUTS,
    PASSED_SINGULAR,
    PREDECESSOR_FAILED,
)
from groups.trajectory import configuration_at
from mbssa.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from groups.engine.plan import Plan
    from groups.engine.rescue import Statuses
    from groups.engine.solve import Solving
    from groups.model import Model
    from groups.motion import Motion
    from groups.results.faults import SingularPosition
    from groups.trajectory import Progress, Trajectory


#: Largest difference of poses that are the same, over the size, or of entries of rotations.
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


class Proof:
    """One motion that the engine has solved, being proven, and solved again where it is on other branches."""

    # Patience is seconds by NumPy, roughly, of pieces of steps, after which all that is left stays as it was
    # found; ``smooth`` goes straight on where branches cross.

    def __init__(
        self,
        solving: Solving,
        patience: float = inf,
        *,
        smooth: bool = False,
        progress: Progress | None = None,
        status: Statuses | None = None,
    ) -> None:
        self.solving, self.motion, self.X, self._given = solving, solving.motion, solving.X, solving.X
        self.status = solving.settled(looks=False) if status is None else status
        #: The model that goes on: behind a crossing the reference's signs do not hold.
        self.model, self.plan = solving.model, solving.plan
        self.patience, self.smooth, self.progress = patience, smooth, progress
        groups = len(self.plan.parts)
        #: Groups whose branch is proven so far: they have a proof, and so has what they hang on.
        self.sure = prover_of(self.plan).sure.copy()
        #: Groups that went on through a place where two branches cross, or hang on such.
        self.continued = np.zeros(groups, dtype=np.bool_)
        self.proven = np.zeros((groups, len(self.motion.time)), dtype=np.int8)
        self.singular: list[SingularPosition] = []
        #: Seconds that solutions of pieces have taken, roughly.
        self.spent = 0.0
        #: From where the next time step begins, if a crossing ended beyond the last one.
        self.beyond: Crossed | None = None
        #: Whether what follows in the array goes on from another pose than the last one.
        self.stale = False
        #: Groups with a contact that leaves an open profile, and the last time step before that.
        gone = solving.off_profiles(0 * self.status)
        self.ends = [(g, int(instants[0]) - 1) for g, instants, *_ in gone]
        #: The pieces that were tried last, and the last one that was accepted: what follows goes on from it.
        self.pieces: Pieces | None = None
        self.tail: Pieces | None = None
        #: Groups that came to be in doubt since an instant was last solved.
        self.doubted: list[int] = []

    def trajectory(self, kept: Ints, level: int) -> Trajectory:
        """The motion, proven as far as it goes."""
        done, solving = self.follow(), self.solving
        unproven = self.proven == 0
        if unproven[:, : done + 1].any():  # which is checked, and may have passed dead points
            checked = self.status.copy()
            solving.look(checked)
            self.status[unproven] = checked[unproven]
            take_back(self.plan, self.X, self.status)
        run = Run(solving.model, solving.answer(np.arange(self.model.mechanism.n_bodies), level, self.status))
        run.leave_profiles(solving, 0, self.status)
        run.check_contacts(done + 1)
        run.stop_at(done + 1)
        found = run.trajectory(kept)
        proven = self.proven.T * (found.status == OK)
        return replace(found, proven=proven, singular=tuple(self.singular))

    def in_place_of(self, found: Trajectory, kept: Ints, level: int) -> Trajectory:
        """The solution of all bodies by others, as groups or as one, proven; replaced where it is another."""
        mine, model = self.trajectory(found.kept, level), self.model
        assert mine.proven is not None
        status, proven = found.status.copy(), np.zeros_like(found.status)
        of_body = model.structure.group_of_body - 1
        group = np.minimum(np.arange(model.structure.n_groups), status.shape[1] - 1)
        one, other = ((of.position, of.orientation) for of in (mine, found))
        same = ~differing(one, other, model.frames.size)
        for g in range(status.shape[1]):
            theirs = np.flatnonzero(group == g)
            bodies = np.isin(of_body, theirs)
            proven[:, g] = mine.proven[:, theirs].min(axis=1)
            first = (mine.status[:, theirs] != OK).argmax(axis=1)
            status[:, g] = mine.status[np.arange(len(first)), theirs[first]]
            # What was missing and has not been found either is so for its own reason, as a contact's end.
            why = (status[:, g] == NOT_CONVERGED) & (found.status[:, g] != OK)
            status[why, g] = found.status[why, g]
            same[:, bodies] &= (same[:, bodies].all(axis=1) & (found.status[:, g] == OK))[:, None]
        outputs: dict[str, Any] = dict.fromkeys(OUTPUTS)
        for name in list(OUTPUTS)[: level + 2]:
            one, other = getattr(found, name), getattr(mine, name)
            outputs[name] = np.where(same.reshape(*same.shape, *[1] * (one.ndim - 2)), one, other)[:, kept]
        return replace(
            found,
            **outputs,
            kept=kept,
            status=status,
            causes=mine.causes if status.shape[1] == len(group) else found.causes,
            residual=np.where(status == found.status, found.residual, np.where(status == OK, 0.0, np.nan)),
            proven=proven,
            singular=tuple(replace(one, group=int(group[one.group - 1]) + 1) for one in mine.singular),
        )

    def follow(self) -> int:
        """Prove the motion; the last instant up to which it is solved."""
        last, done = len(self.motion.time) - 1, 0
        window = WIDEST if self.progress is None else WINDOW
        self._to_first_instant()
        while done < last and self.spent < self.patience:
            if gone := [g for g, end in self.ends if end <= done]:  # off its profile nothing is proven
                self.sure[gone] = False
                prover_of(self.plan).with_needs(self.sure[:, None])
            stop = min(done + window, last, *(end for _, end in self.ends if end > done))
            good = 0
            if self.beyond is None:
                if self.stale:
                    self._solve(done, stop)
                passed = self.passed(self.solving, self.status, slice(done, stop + 1))
                good = int(np.append(passed[:, self.sure].all(axis=1), False).argmin())
                self._accept(good)
                self.proven[:, done + 1 : done + good + 1] = self.said[:, None]
            done += good
            if done == stop:
                window, going = min(2 * window, WIDEST), self._goes_on(done)
            elif going := self._step(done):
                done, window = done + 1, max(window // 4, 1)
                going = self._goes_on(done)
            if not going:
                return done if self.stale else last
        if self.stale:
            self._solve(done, last)
        return last

    def follows(self, piece: Solving, status: Statuses, first: int) -> bool:
        """Go on along a piece of the motion that is new from an instant on, if it is proven at once."""
        sure = self.sure.copy()
        if not first:
            self._to_first_instant()
        passed = self.passed(piece, status, slice(max(first - 1, 0), len(piece.motion.time)))
        self._accept(len(passed))
        return not self.stale and bool((self.sure == sure).all() and passed[:, sure].all())

    def _goes_on(self, done: int) -> bool:
        """Report that the motion is proven up to an instant; whether the proof goes on."""
        return self.progress is None or self.progress((done + 1) / len(self.motion.time)) is not False

    @property
    def said(self) -> npt.NDArray[np.int8]:
        """Proof (G,) of the groups now: 1 proven, 2 continued through a crossing."""
        return (self.sure * (1 + self.continued)).astype(np.int8)

    def piece(
        self, motion: Motion, start: Floats | None, model: Model | None = None
    ) -> tuple[Solving, Statuses]:
        """A motion from a column on, or from the reference, and its statuses (G, n)."""
        model = self.model if model is None else model
        piece = solved(model, motion, start, compiled=self.solving.is_compiled)
        status = piece.settled()
        for g, gone, *_ in piece.off_profiles(status):
            status[g, gone] = CONTACT_LOST
        return piece, status

    def _solve(self, first: int, stop: int) -> None:
        """Solve the instants behind one, up to another, from there on."""
        if stop > first:
            start = self.solving.column(first) if self.beyond is None else self.beyond.column
            piece, status = self.piece(self.motion.within(slice(first, stop + 1)), start)
            self.X[:, first + 1 : stop + 1] = piece.X[:, 1:]
            self.status[:, first + 1 : stop + 1] = status[:, 1:]

    def passed(self, of: Solving, status: Statuses, span: slice, deep: int = DEPTH) -> Bools:
        """Time steps (K, G) between the instants of a span over which groups are proven."""
        solved = status[:, span] == OK
        usable = solved[:, 1:] & solved[:, :-1] & self.sure[:, None]
        if not usable.shape[1]:
            return np.zeros(usable.T.shape, dtype=np.bool_)
        prover, deep = prover_of(plan_of(self.model)), deep if self.spent < self.patience else 0
        pieces = prover.pieces(
            of.way, span.start, of.X[:, span], usable, deep, compiled=self.solving.is_compiled
        )
        pieces.good[:, 1:] &= prover.meet(pieces.picked(slice(-1)), pieces.picked(slice(1, None)))
        if not pieces.good[self.sure].all():  # what passes at once is no matter of patience
            self.spent += prover.seconds(len(pieces.x))
        if self.tail is not None:
            pieces.good[:, :1] &= prover.meet(self.tail, pieces.picked([0]))
        self.pieces = pieces
        if pieces.good.all():
            return np.ones(usable.T.shape, dtype=np.bool_)
        starts = np.searchsorted(pieces.x, np.arange(span.start, span.stop - 1))
        return prover.with_needs(np.logical_and.reduceat(pieces.good, starts, axis=1)).T

    def _accept(self, steps: int) -> None:
        """Remember the last piece of some steps that have passed."""
        if steps and self.pieces is not None:
            x = self.pieces.x
            self.tail = self.pieces.picked([int(np.searchsorted(x, x[0] + steps)) - 1])

    def _to_first_instant(self) -> None:
        """Go straight from the reference to the first instant; angles the nearest way."""
        goal, start = self.motion.value[:, 0], self.plan.inputs_near(self.motion.value[:, 0])
        if np.abs(goal - start).max(initial=0.0) < AT_REFERENCE or not self.sure.any():
            self.sure &= self.status[:, 0] == OK
            self.proven[:, 0] = self.said
            return
        way, begins = Way.straight(start, goal, self.solving.life), float(self.motion.time[0])
        step = Step(self.plan, way, self.motion.names, begins, 0.0)
        begin, status = self.piece(step.at(np.zeros(1)), None)
        self._anew(step, begin.column(), status[:, 0], 0)
        # Once more, with the rates of the motion.
        piece, again = self.piece(self.motion.within(slice(0, 1)), self.solving.column(0))
        self.X[:, 0] = piece.X[:, 0]
        self.status[:, 0] = np.where(self.status[:, 0] == OK, again[:, 0], self.status[:, 0])

    def _step(self, first: int) -> bool:
        """Solve the time step from an instant on in pieces; False where that was stopped."""
        life, time = self.solving.life, self.motion.time[first : first + 2].copy()
        inputs = self.solving.way.at(np.array([first, first + 1.0]))
        column, status = self.solving.column(first), self.status[:, first]
        if self.beyond is not None:  # its inputs are those of the last time step, a little farther
            inputs[:, 0], time[0] = self.beyond.inputs, self.beyond.time
            column, status, self.beyond = self.beyond.column, self.beyond.status, None
        way = Way(life, life.storage(2), time - time[0], *(inputs[order::3] for order in range(3)))
        step = Step(self.plan, way, self.motion.names, float(time[0]), float(time[1] - time[0]))
        return self._anew(step, column, status, first + 1)

    def _anew(self, step: Step, column: Floats, status: Statuses, at: int) -> bool:
        """Solve the time step to an instant in pieces; what follows is stale if that is in another pose."""
        if self.X is self._given:  # which stays as it is
            self.X = self.solving.X = self.solving.life.storage(len(self.motion.time))
            self.X[:] = self._given
        before, lost = plan_poses(self.plan, self.X[:, [at]]), self.status[:, at] != OK
        if not self._in_pieces(step, column, status, at):
            return False
        of_body, now = self.model.structure.group_of_body[1:] - 1, plan_poses(self.plan, self.X[:, [at]])
        other = differing(before, now, self.plan.size)[0, 1:] | lost[of_body]
        self.stale |= bool((other & (self.status[of_body, at] == OK)).any())
        return True

    def _in_pieces(self, step: Step, column: Floats, status: Statuses, at: int) -> bool:
        """Solve the time step to an instant in pieces until all sure groups' are certified, or least."""
        # Groups with a least piece that is not certified are sure no longer.
        shares, unsolved, longest = np.array([0.0, 1.0]), 1.0, step.way.longest
        most = ROUNDS if longest <= FARTHEST and self.spent < self.patience else 0
        whole = column, status, self.tail
        for rounds in count():
            if at > 0 and not self._goes_on(at - 1):
                return False
            # No farther than to the first instant that was not solved: what comes after takes long to fail.
            solved = shares[: 1 + min(AT_ONCE, int(np.searchsorted(shares, unsolved)))]
            piece, codes = self.piece(step.at(solved), column)
            codes[:, 0] = status
            lost = bool((codes[self.sure, 1:] != OK).any())
            self.spent += (RESCUED if lost else 1.0) * self.plan.seconds(len(solved))
            passed = self.passed(piece, codes, slice(0, len(solved)), deep=0)
            failing = np.flatnonzero(~passed[:, self.sure].all(axis=1))
            first = int(failing[0]) if len(failing) else len(solved) - 1
            self._accept(first)
            if first == len(shares) - 1:
                break
            if len(failing):
                least = (shares[first + 1] - shares[first]) * longest <= LEAST
                if least or rounds >= most or self.spent >= self.patience:
                    ends, here = shares[first : first + 2], piece.X[:, first]
                    crossed = self._stopped(step, here, passed[first], ends)
                    if crossed is None:
                        # Near a singular position solvers fail: without a proof from here on.
                        (column, status, self.tail), shares = whole, np.array([0.0, 1.0])
                    else:
                        self.model, self.tail, whole = crossed.model, None, (*whole[:2], None)
                        if crossed.share >= 1.0:
                            self._write_crossing(step, crossed, at)
                            return True
                        column, status = crossed.column, crossed.status
                        shares = np.array([crossed.share, 1.0])
                    unsolved = 1.0
                    continue
            bad = np.flatnonzero((codes[self.sure, first + 1 : len(solved)] != OK).any(axis=0))
            unsolved = float(shares[first + 1 + bad[0]]) if len(bad) else 1.0
            if self.smooth:
                step.shares.extend(shares[: first + 1].tolist())
                step.records.extend(np.moveaxis(self.plan.bodies(piece.X)[..., : first + 1], -1, 0).copy())
            column, status = piece.column(first), codes[:, first]
            halved = failing[shares[failing + 1] <= max(unsolved, shares[first + 1])]
            middle = 0.5 * (shares[halved] + shares[halved + 1])
            shares = np.sort(np.concatenate([shares[first:], middle]))
        self.X[:, at], self.status[:, at] = piece.X[:, len(shares) - 1], codes[:, len(shares) - 1]
        self._take_back(at)
        return True

    def _stopped(self, step: Step, column: Floats, passed: Bools, shares: Floats) -> Crossed | None:
        """Go on through a place where branches cross, if it is one; else leave groups unproven from there."""
        plan, times = plan_of(self.model), step.time_at(shares).tolist()
        lost, needs = np.flatnonzero(self.sure & ~passed).tolist(), list(map(list, self.model.needs))
        places = {g: singular_position(plan, g, column, times) for g in lost if passed[needs[g]].all()}
        crossed = None
        if self.smooth and all(place.kind == "branches cross" for place in places.values()):
            crossed = step.crossed(self, float(shares[1]))
        if crossed is None:
            # On curves a proof ends at breaks too: nothing is singular there, and the branch is checked.
            places = {g: place for g, place in places.items() if not plan.parts[g].group.curved}
            self.sure[lost] = False
            self.doubted += places
        else:
            self.continued[[*places]] = True
            self.continued = ~prover_of(plan).with_needs(~self.continued[:, None])[:, 0]
        self.singular += places.values()
        return crossed

    def _write_crossing(self, step: Step, crossed: Crossed, at: int) -> None:
        """Write an instant that is near a crossing by what is around it."""
        self.beyond, self.status[:, at] = crossed, OK
        self.plan.bodies(self.X)[:, :, at] = step.between(crossed)
        quality = self.plan.quality(self.X)[:, :, at]
        quality[:], quality[:, CONDITION], quality[:, RESIDUAL] = 0.0, 1.0, 0.0
        self._take_back(at)

    def _take_back(self, at: int) -> None:
        """Take back the answers of an instant that lie beyond a singular position of their group."""
        gone = np.zeros(len(self.sure), dtype=np.bool_)
        for g, needs in enumerate(self.model.needs):
            missing = bool(gone[list(needs)].any())
            gone[g] = missing or g in self.doubted
            status = self.status[g, at]
            if gone[g] and (status == OK or (g in self.doubted and status == BRANCH_JUMP)):
                self.status[g, at] = PREDECESSOR_FAILED if missing else PASSED_SINGULAR
        self.doubted.clear()
        self.proven[:, at] = self.said


def plan_poses(plan: Plan, X: Floats) -> tuple[Floats, Floats]:
    """Positions and orientations (n, N, …) of columns, as a trajectory has them."""
    place, turn = (plan.bodies(X)[:, of] for of in plan.record.outputs[:2])
    return np.moveaxis(place, -1, 0), np.moveaxis(turn, -1, 0)


def differing(one: tuple[Floats, Floats], other: tuple[Floats, Floats], size: float) -> Bools:
    """(T, N) whether poses differ by more than whole turns and signs of quaternions, or one is missing."""
    a, b = (configuration_at(*poses) for poses in (one, other))
    off, turned = np.abs(a.position - b.position) / size, np.abs(a.rotation - b.rotation)
    return np.asarray(~(np.maximum(off.max(axis=-1), turned.max(axis=(-2, -1))) <= SAME))
