"""A motion of a model by the engine: path, all instants, rescue, and the answer as views of one array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from groups.engine.arrays import DOUBT, Life, way
from groups.engine.path import STRIDE, Knots, Way, between, followed, goes_on, guesses
from groups.engine.plan import CONDITION, RESIDUAL, STEPS, Plan
from groups.engine.rescue import NEAR, Statuses, statuses
from groups.engine.turning import mark_turned_back
from groups.motion.sampled import check_drives
from groups.rotations import continue_signs
from groups.status import BRANCH_JUMP, NOT_COMPUTED, OK, OUTPUTS, PASSED_SINGULAR, PREDECESSOR_FAILED
from groups.trajectory import Trajectory
from mbssa.arrays import Bools, Floats, Ints
from mbssa.joints.axes import whole_turns
from mbssa.joints.catalogue import type_of_joint

if TYPE_CHECKING:
    from groups.engine.plan import Part
    from groups.model import Model
    from groups.motion import Motion

#: Instants of a motion up to which numbers are faster than arrays.
FEW = 8
#: Longest way of an input in a step over which turns are counted, rad or sizes.
TELLING = 0.3
#: Numbers of the pieces of a motion at most: where steps of thousands of turns would make more, the
#: turns of closed forms that hang on such an input are not counted.
COUNTED = 5_000_000
#: Pieces of a step over which the rates do not tell enough.
FINER = 32
#: Numbers of the lines that are solved together.
NUMBERS = 4_000_000
#: How far beyond the end of a profile, over its length, a place of contact is on it.
END = 1e-9

_plans: WeakKeyDictionary[Model, Plan] = WeakKeyDictionary()
making = Lock()  # threads may solve motions of one model


def plan_of(model: Model) -> Plan:
    """The plan of a model, made once."""
    plan = _plans.get(model)
    if plan is None:
        with making:
            plan = _plans.get(model) or _plans.setdefault(model, Plan(model))
    return plan


def life_of(plan: Plan, compiled: bool) -> Life:
    """Machine code, which is made once, or NumPy, also where a function cannot be traced."""
    if not (compiled and plan.is_printable):
        return Life(plan)
    with making:
        if plan.machine is None:
            from groups.engine.machine import Host, Machine

            host = Host.here()
            plan.machine = Machine(plan, plan.code.get(host))
            plan.code[host] = plan.machine.code
        return plan.machine


class Solving:
    """One motion being solved: an array (height, T) that is filled by spans of time, and by groups."""

    # Where each instant begins is settled for all of them first, so that no split changes a bit. An array
    # that is given has room for a vector beyond its last column, as that of a life has.

    def __init__(
        self, model: Model, motion: Motion, X: Floats | None = None, *, compiled: bool = False
    ) -> None:
        check_drives(model.mechanism, motion)
        self.model, self.motion, self.plan = model, motion, plan_of(model)
        self.life = life_of(self.plan, compiled)
        if self.life is not self.plan.machine:
            self.plan.spent += self.plan.seconds(len(motion.time))
        self._notes: Floats | None = None
        self._noted, self._lock = 0, Lock()
        #: Whether all is solved at once, without rescue.
        self.fine = False
        self.X, self._shared = (self.life.storage(len(motion.time)), False) if X is None else (X, True)
        self.knots, self.start = Knots(), self.plan.start

    @cached_property
    def way(self) -> Way:
        """The motion's inputs, which stand in the array from now on, between its samples."""
        motion = self.motion
        return Way(self.life, self.X, motion.time, motion.value, motion.rate, motion.acceleration)

    def begin(self, start: Floats | None = None, *, anew: bool = True) -> None:
        """Follow the motion in a coarse pass from the reference, or from another column (height,)."""
        # ``anew`` fills in the guesses at all instants.
        self.start = self.plan.start if start is None else start
        plan, X = self.plan, self.X
        self.knots = followed(self.life, self.way, start)
        if not anew:
            return
        if self._shared:
            self.life.prepare(X)
        if plan.unknowns:
            guesses(self.life, self.knots, X)

    def advance(self, first: int, stop: int, groups: Sequence[int] | None = None) -> None:
        """Solve the instants ``first`` … ``stop`` - 1, of all groups or of some that read no later ones."""
        parts = self.plan.parts if groups is None else [self.plan.parts[g] for g in groups]
        if len(self.motion.time) <= FEW and self.life.lanes == 1:
            self.life.one_by_one(self.X, range(first, stop), parts)
            return
        notes = self.life.apart(self.X, stop, NEAR, first, parts)
        if notes is not None:
            with self._lock:  # threads may solve parts of a motion
                self._noted += (stop - first) * len(parts)
                self._notes = notes if self._notes is None else np.minimum(self._notes, notes)

    def rows_of(self, groups: Sequence[int]) -> tuple[Ints, Ints]:
        """Rows of the array that some groups write, and those that they read of others, and as guesses."""
        plan, none = self.plan, np.zeros(0, dtype=np.int64)
        parts = [plan.parts[g] for g in groups]
        known = sorted({k for part in parts for k in part.known} - set(groups))
        mine = np.concatenate([none, *(plan.rows_of_part(part) for part in parts)])
        others = [np.arange(plan.first_body), *(part.state for part in parts)]
        others += [plan.rows_of_part(plan.parts[k]) for k in known]
        read = np.concatenate(others)
        return mine[mine < len(self.X)], read[read < len(self.X)]

    def settled(
        self, done: int | None = None, missing: Bools | None = None, *, looks: bool = True
    ) -> Statuses:  # fmt: skip
        """Statuses (G, T), with what the rescue finds and turns in the array."""
        # Instants from ``done`` on are not computed, nor are those of ``missing`` (G, T). A motion that is
        # solved all over may have passed dead points unless it ``looks`` for them.
        plan, life, count = self.plan, self.life, len(self.motion.time)
        done = count if done is None else done
        X, way, status = self.X[:, :done], self.way, np.zeros((len(plan.parts), count), np.int8)
        if done < count:
            way = Way(life, X, way.time[:done], *(rows[:, :done] for rows in way.inputs))
        mine = status[:, :done]
        if missing is not None:
            status[missing] = NOT_COMPUTED
        notes = self._notes if self._noted == count * len(plan.parts) else None  # else some were by others
        notes = life.notes_of(X, NEAR) if notes is None else notes
        self.fine = whole = notes[-1, 0] == 0.0
        if not whole or self.knots.lost:
            mine[:] = statuses(life, X, way.time, self.knots, mine)
            notes, whole = life.notes_of(X, NEAR), not np.count_nonzero(mine)
        if looks or not whole:
            whole &= not mark_turned_back(life, way, X, mine, notes)
        if not whole:
            take_back(plan, X, mine)
        telling = not plan.wound or way.longest <= TELLING
        if done == count and telling and whole and life.turns(X, self.start):
            return status
        if plan.wound:
            _count_turns(life, way, X, self.start)
        if not plan.record.planar:
            q = np.concatenate([plan.bodies(self.start[:, None])[:, 3:7], plan.bodies(X)[:, 3:7]], axis=2)
            continue_signs(q.transpose(0, 2, 1))
            plan.bodies(X)[:, 3:7] = q[:, :, 1:]
        return status

    def look(self, status: Statuses) -> None:
        """Mark in statuses (G, T) where closed forms have turned back at dead points."""
        notes = self.life.notes_of(self.X, NEAR)
        mark_turned_back(self.life, self.way, self.X, status, notes)

    def off_profiles(self, status: Statuses) -> Iterator[tuple[int, Ints, Floats, str]]:
        """Groups with a contact that has left an open profile: instants, how far, and what is said."""
        for part in self.plan.parts:
            for end in part.group.ends:
                s, (low, high) = self.X[part.state[end.unknown]], end.range
                off = np.maximum(low - s, s - high)
                there = np.isin(status[part.index], (OK, BRANCH_JUMP))
                gone = np.flatnonzero((off > END * (high - low)) & there)
                if len(gone):
                    mechanism = self.plan.mechanism
                    name = f"{type_of_joint(mechanism, end.joint).code} {mechanism.joint_ids[end.joint]}"
                    said = f"{name}: its place of contact has left the profile"
                    yield part.index, gone, off[gone], said

    @property
    def is_compiled(self) -> bool:
        """Whether machine code solves it."""
        return self.life is self.plan.machine

    def column(self, at: int = -1) -> Floats:
        """A column, from which another motion may go on; angles and lost groups are where they were last."""
        plan, column, before = self.plan, self.X[:, at].copy(), self.X[:, : at % self.X.shape[1] + 1]
        for place, rows in [(row, row) for row in plan.turning.tolist()] + [
            (part.answer[0], part.state) for part in plan.parts if part.n
        ]:
            if not np.isfinite(column[place]):
                known = np.flatnonzero(np.isfinite(before[place]))
                column[rows] = before[rows, known[-1]] if len(known) else self.start[rows]
        return column

    def answer(self, held: Ints, level: int, status: Statuses) -> Trajectory:
        """The bodies that are held, and quality by statuses (G, T); views of the array if that is all."""
        plan, X = self.plan, self.X
        every, whole = plan.bodies(X), len(held) == plan.mechanism.n_bodies and level == 2
        outputs: dict[str, Any] = dict.fromkeys(OUTPUTS)
        for name, k in list(zip(OUTPUTS, plan.record.outputs, strict=True))[: level + 2]:
            outputs[name] = (every[:, k] if whole else every[held, k]).swapaxes(1, -1).swapaxes(0, 1)
        Q = plan.quality(X)
        Q = Q if whole else Q.copy()
        residual, condition = Q[:, RESIDUAL], Q[:, CONDITION] if self.fine else np.abs(Q[:, CONDITION])
        steps = Q[:, STEPS].astype(np.int64) if plan.unknowns else np.zeros(status.shape, dtype=np.int64)
        return Trajectory(
            plan.mechanism,
            self.motion.time,
            **outputs,
            status=status.T,
            residual=residual.T,
            iterations=steps.T,
            condition=condition.T,
            kept=held,
            group_names=self.model.group_names,
        )


def solved(model: Model, motion: Motion, start: Floats | None = None, *, compiled: bool) -> Solving:
    """A motion that is solved from the reference, or another column, on; it is not settled yet."""
    solving = Solving(model, motion, compiled=compiled)
    solving.begin(start)
    solving.advance(0, len(motion.time))
    return solving


def take_back(plan: Plan, X: Floats, status: Statuses) -> None:
    """Clear answers that are numbers, and yet none."""
    gone: Bools = np.isin(status, (BRANCH_JUMP, PREDECESSOR_FAILED, PASSED_SINGULAR))
    gone &= np.isfinite(X[[part.answer[0] for part in plan.parts]])  # else all are cleared
    for g in np.flatnonzero(gone.any(axis=1)).tolist():
        X[plan.parts[g].answer[:, None], np.flatnonzero(gone[g])] = np.nan


def _count_turns(life: Life, way: Way, X: Floats, before: Floats) -> None:
    """Turns of the angles of closed forms, counted on from a column by their rates."""
    plan = life.plan
    rows = plan.turning[np.isfinite(X[plan.turning]).any(axis=1)]
    parts = plan.placing(rows)
    pieces = 1 + int(min(way.longest / TELLING, max(64, COUNTED / max(way.last * len(X), 1))))
    Y, time = _in_pieces(life, way, X, 0, way.last, pieces, parts)
    turns, doubtful = _turns(plan, rows, Y, time, before[rows])
    for k in np.unique(np.flatnonzero(doubtful.any(axis=0)) // pieces).tolist():  # rates do not tell enough
        first, last = k * pieces, (k + 1) * pieces
        which = np.flatnonzero(doubtful[:, first:last].any(axis=1))
        Z, finer = _in_pieces(life, way, X, k, k + 1, FINER * pieces, plan.placing(rows[which]))
        inside = _turns(plan, rows[which], Z, finer, Z[rows[which], 0])[0]
        turns[which, last] = np.nansum(inside, axis=1) - np.nansum(turns[which, first + 1 : last], axis=1)
    X[rows] = _counted(Y[rows], turns, before[rows])[:, ::pieces]


def _in_pieces(
    life: Life, way: Way, X: Floats, first: int, last: int, pieces: int, parts: Sequence[Part]
) -> tuple[Floats, Floats]:
    """Time steps between samples with so many pieces of each solved, of some groups, and the times."""
    if pieces == 1 or first == last:
        return X, way.time
    plan, x = life.plan, first + np.linspace(0.0, last - first, pieces * (last - first) + 1)
    Y = between(life, way, X, x, parts)
    rows = np.concatenate([np.arange(plan.first_body), *(plan.rows_of_part(part) for part in parts)])
    rows = rows[rows < plan.first_axes]
    Y[rows, ::pieces] = X[rows, first : last + 1]
    return Y, way.time_at(x)


def _turns(plan: Plan, rows: Ints, Y: Floats, time: Floats, start: Floats) -> tuple[Floats, Bools]:
    """(bodies, instants) turns that an angle lacks beside the one before; (bodies, steps) doubts."""
    record, angle, h = plan.record, Y[rows], np.diff(time)
    w, a = (Y[rows - record.turn + of[2]] for of in (record.velocity, record.acceleration))
    turns = np.zeros_like(angle)
    turns[:, 0] = np.round((start - angle[:, 0]) / (2 * np.pi))
    off = (way(h, w[:, :-1], w[:, 1:], a[:, :-1], a[:, 1:]) - np.diff(angle, axis=1)) / (2 * np.pi)
    turns[:, 1:] = np.round(off)
    return turns, np.abs(off - turns[:, 1:]) > DOUBT


def _counted(angle: Floats, turns: Floats, start: Floats) -> Floats:
    """Angles (bodies, instants) with the turns that they lack; behind a gap near the last one before it."""
    finite, t = np.isfinite(angle), np.arange(angle.shape[1])
    if not finite.all():
        last = np.maximum.accumulate(np.where(finite, t, -1), axis=1)
        previous = np.concatenate([np.full((len(angle), 1), -1), last[:, :-1]], axis=1)
        known = np.take_along_axis(angle, np.maximum(previous, 0), axis=1)
        before = np.where(previous < 0, start[:, None], known)
        over = np.where(t - previous > 1, np.round((before - angle) / (2 * np.pi)), np.nan_to_num(turns))
        turns = np.where(finite, over, 0.0)
    return angle + 2 * np.pi * np.cumsum(turns, axis=1)


# --- many lines of instants that begin at the reference each, such as those to the poses of a sweep ----


def batches(model: Model, first: Ints, stop: Ints) -> Iterator[slice]:
    """Lines whose numbers fit into some memory together."""
    most, begin = max(1, NUMBERS // plan_of(model).height), 0
    while begin < len(first):
        end = max(begin + 1, int(np.searchsorted(stop, first[begin] + most, side="right")))
        yield slice(begin, end)
        begin = end


def solve_lines(
    model: Model, motion: Motion, first: Ints, stop: Ints, compiled: bool
) -> tuple[Solving, Statuses]:
    """Solve lines from instants ``first`` to ``stop`` - 1; what is solved, and its statuses (G, T)."""
    # They go side by side; a line that is not followed so is solved by itself, which says why.
    solving = Solving(model, motion, compiled=compiled)
    plan, found = solving.plan, np.zeros((len(solving.plan.parts), len(motion.time)), dtype=np.int8)
    with np.errstate(all="ignore"):
        sound = _side_by_side(solving, first, stop)
    if not plan.unknowns:  # closed forms tell of each instant by itself
        return solving, statuses(solving.life, solving.X, motion.time, solving.knots, found)
    for line in np.flatnonzero(~sound).tolist():
        span = slice(int(first[line]), int(stop[line]))
        one = solved(model, motion.within(span), compiled=compiled)
        found[:, span] = statuses(one.life, one.X, one.way.time, one.knots, found[:, span])
        solving.X[:, span] = one.X
    return solving, found


def _side_by_side(solving: Solving, first: Ints, stop: Ints) -> Bools:
    """Solve lines in strides of all of them at once; which were followed to their ends."""
    plan, life, X, scale = solving.plan, solving.life, solving.X, solving.way.scale[:, None]
    inputs = X[: plan.first_body]
    behind = slice(plan.first_body, len(X))
    X[behind, first] = plan.start[behind, None]
    life.prepare(X)
    Y = X[:, first].copy()
    life.apart(Y, len(first), np.inf)
    X[:, first] = Y
    sound = np.array(goes_on(plan, X[:, first], X[:, first], plan.alive, 0.0)[0]) | (not plan.unknowns)
    for j in range(1, int((stop - first).max(initial=0))):
        lines = np.flatnonzero(sound & (first + j < stop))
        before, at = first[lines] + j - 1, first[lines] + j
        rise, Y = inputs[:, at] - inputs[:, before], X[:, before]
        count = 1 + int((np.abs(rise[0::3]) / scale).max(initial=0.0) / STRIDE)
        for k in range(1, count + 1):
            h = 1.0 / count
            Z = onward(life, Y, inputs[:, before] + k * h * rise, h)
            sound[lines] &= goes_on(plan, Y, Z, plan.alive, h)[0] | (not plan.unknowns)
            Y = Z
        X[behind, at] = Y[behind]
    return sound


def onward(life: Life, X: Floats, inputs: Floats, h: Any) -> Floats:
    """Columns at other inputs (3 D, n), a step h behind some (height, n), from where rates lead."""
    plan, Y = life.plan, X.copy()
    Y[: plan.first_body] = inputs
    Y[plan.q] += h * (X[plan.dq] + 0.5 * h * X[plan.ddq])
    life.apart(Y, Y.shape[1], np.inf)
    if plan.wound:  # turns of angles of closed forms are counted on by their rates
        angles = plan.turning
        spins = angles - plan.record.turn + plan.record.velocity[2]
        off = X[angles] + 0.5 * h * (X[spins] + Y[spins]) - Y[angles]
        Y[angles] += np.nan_to_num(whole_turns(off))
    return Y
