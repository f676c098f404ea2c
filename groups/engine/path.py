"""Starts of all instants: a coarse pass along the motion that checks its own steps, and interpolation.

The pass goes from the reference to the first instant and on, in strides that are divided where Newton fails
or where two states do not lie on one smooth path, down to pieces of a time step. A group that cannot be
followed is lost until Newton finds it again; the others go on. What is found again is in the mode of the
reference only where the straight way of the inputs from there leads to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from groups.engine.arrays import FINITE, Quality, is_fine, quintic
from groups.engine.plan import FAR, QUALITY, STEPS
from mbssa.arrays import Bools, Floats

if TYPE_CHECKING:
    from groups.engine.arrays import Life
    from groups.engine.plan import Plan
    from groups.motion import Motion

#: How far two states may be off one smooth path, and Newton from where it was expected; rad or sizes.
SMOOTH, LEAP = 0.002, 0.5
#: Way of the inputs in a stride at first, and in the smallest piece of a step before a group is lost; rad or
#: sizes. Pieces are smaller, down to the last, where a group's unknowns still move by more than ``STILL``.
STRIDE, LEAST, LAST, STILL = 0.3, 2e-3, 1e-6, 0.02
#: Fewest strides of a motion, times the first that one may be, divisions at a time, and steps of a batch.
FEWEST, WIDEST, DIVIDED, FIRST_BATCH, BATCH = 8, 4, 4, 8, 64
#: Samples by knot from which on there are so many times more of them.
FEW, DENSER = 64, 8
#: Difference of unknowns that are the same, rad or sizes.
SAME = 1e-6


@dataclass(eq=False)
class Way:
    """Inputs between samples: the quintic through values and two rates; x counts the samples."""

    time: Floats
    inputs: Floats  # (3 D, T): value, rate and acceleration of each
    scale: Floats  # (D,) rad or the size

    @staticmethod
    def of(plan: Plan, motion: Motion, X: Floats | None = None) -> Way:
        """The way of a motion, which is put into an array."""
        count = len(motion.time)
        X = np.empty((plan.first_body, count)) if X is None else X
        for k, rows in enumerate((motion.value, motion.rate, motion.acceleration)):
            X[k : plan.first_body : 3, :count] = rows
        return Way(motion.time, X[: plan.first_body, :count], plan.scale_of_inputs)

    @staticmethod
    def straight(start: Floats, goal: Floats, scale: Floats) -> Way:
        """The straight way between two sets of inputs (D,)."""
        rows = np.zeros((3 * len(start), 2))
        rows[0::3, 0], rows[0::3, 1] = start, goal
        rows[1::3] = (goal - start)[:, None]
        return Way(np.array([0.0, 1.0]), rows, scale)

    def until(self, count: int) -> Way:
        """The first samples."""
        return self if count == len(self.time) else Way(self.time[:count], self.inputs[:, :count], self.scale)

    @property
    def last(self) -> int:
        return len(self.time) - 1

    def time_at(self, x: Floats) -> Floats:
        k = x.astype(np.intp)
        share = x - k
        after = np.minimum(k + 1, self.last)
        found: Floats = self.time[k] + share * (self.time[after] - self.time[k])
        return found

    def at(self, x: Floats) -> Floats:
        """(3 D, len(x)) inputs; samples where x is whole."""
        k = np.minimum(x.astype(np.intp), self.last)
        found, s = self.inputs[:, k], x - k
        inside = np.flatnonzero(s)
        if len(inside):
            k, s = k[inside], s[inside]
            h = self.time[k + 1] - self.time[k]
            left, right = ([self.inputs[o::3, i] for o in range(3)] for i in (k, k + 1))
            for o, value in enumerate(_rates(quintic(left, right, h), s, h)):
                found[o::3, inside] = value
        return found

    @cached_property
    def travel(self) -> Floats:
        """(T - 1,) way of the input that goes farthest, by time step, rad or sizes; there and back counts."""
        y, speed, h = self.inputs[0::3], np.abs(self.inputs[1::3]), np.diff(self.time)
        fast = np.maximum(speed[:, 1:], speed[:, :-1]) * h
        way = np.maximum(np.abs(y[:, 1:] - y[:, :-1]), fast) / self.scale[:, None]
        found: Floats = way.max(axis=0, initial=0.0)
        return found

    @cached_property
    def gone(self) -> Floats:
        """(T,) travel from the first sample on."""
        return np.concatenate([[0.0], np.cumsum(self.travel)])

    @cached_property
    def turns(self) -> list[int]:
        """Samples at which all inputs come to rest, or begin to move, and the last one."""
        moves = self.travel > 0.0
        return [*(np.flatnonzero(moves[1:] != moves[:-1]) + 1).tolist(), self.last]

    @cached_property
    def longest(self) -> float:
        """Way of a time step at most."""
        return float(self.travel.max(initial=0.0))

    def next(self, k: int, wide: float) -> int:
        """The sample up to which the inputs go at most so far from one on; at least the next."""
        far = int(np.searchsorted(self.gone, self.gone[k] + wide, side="right")) - 1
        turn = self.turns[int(np.searchsorted(self.turns, k, side="right"))]
        return min(max(far, k + 1), turn)


def _rates(c: list[Floats], s: Floats, h: Floats) -> tuple[Floats, Floats, Floats]:
    """Value and two rates of quintics at shares s."""
    value = c[0] + s * (c[1] + s * (c[2] + s * (c[3] + s * (c[4] + s * c[5]))))
    rate = c[1] + s * (2 * c[2] + s * (3 * c[3] + s * (4 * c[4] + s * 5 * c[5])))
    second = 2 * c[2] + s * (6 * c[3] + s * (12 * c[4] + s * 20 * c[5]))
    return value, rate / h, second / h**2


@dataclass(frozen=True)
class Loss:
    """A group that could not be followed from a place of the way on, until it was found again.

    ``sure`` says that it is in the mode of the reference then.
    """

    group: int
    before: float
    back: float
    sure: bool


@dataclass(eq=False)
class Knots:
    """States along a way: where (K,), columns of the array (height, K), groups that are alive (G, K)."""

    x: list[Floats] = field(default_factory=list)
    columns: list[Floats] = field(default_factory=list)
    alive: list[Bools] = field(default_factory=list)
    lost: list[Loss] = field(default_factory=list)

    def add(self, x: Floats, columns: Floats, alive: Bools) -> None:
        self.x.append(x)
        self.columns.append(columns)
        self.alive.append(alive)

    def joined(self) -> tuple[Floats, Floats, Bools]:
        alive = np.concatenate(self.alive, axis=1)
        return np.concatenate(self.x), np.concatenate(self.columns, axis=1), alive


class Follower:
    """The coarse pass of a plan by one of its lives."""

    def __init__(self, plan: Plan, life: Life) -> None:
        self.plan, self.life, self.parts = plan, life, plan.parts
        self.known = [list(part.known) for part in self.parts]

    def along(self, way: Way, start: Floats, alive: Bools, *, checks: bool = True) -> Knots:
        """Knots of a way whose first sample is at a state (height,); ``checks`` what is found again."""
        knots, x, column = Knots(), 0.0, start
        wide = top = max(min(STRIDE, float(way.gone[-1]) / FEWEST), 1e-300)
        share, batch, enters = 1.0, FIRST_BATCH, True
        since: dict[int, float] = dict.fromkeys(np.flatnonzero(~alive).tolist(), 0.0)
        beyond: set[int] = set()  # groups that were lost at an end of their reach, not where two modes cross
        while x < way.last or enters:
            if since:
                batch = FIRST_BATCH
                self._start_lost(since, knots, way, x, column)
            at = self._ahead(way, x, wide, share, batch, enters)
            time = way.time_at(np.concatenate([[x], at]))
            X = self.life.steps_from(column, way.at(at), np.diff(time), alive)
            at = at[: X.shape[1] - 1]
            fine, found = self._fine(X, alive, np.diff(time)[: len(at)])
            good = len(at) if fine.all() else int(fine.argmin())
            beyond |= {g for g in since if np.isinf(X[self.parts[g].quality + FAR, 1 : good + 1]).any()}
            back = [g for g in since if found[g, :good].any()]
            if back:  # each is looked at where it is found first
                good = 1 + min(int(found[g, :good].argmax()) for g in back)
            if good:
                x, column, alive = float(at[good - 1]), X[:, good].copy(), found[:, good - 1].copy()
                for g in [g for g in back if alive[g]]:
                    told = self.parts[g].has_one_mode and g in beyond
                    sure = told or not checks or self._leads_to(g, way, x, column)
                    knots.lost.append(Loss(g, since.pop(g), x, sure))
                    beyond.discard(g)
                X[:, good] = column
                knots.add(at[:good], X[:, 1 : good + 1], found[:, :good])
                enters = False
            if good == len(at) or back:
                batch = min(2 * batch, BATCH)
                share, wide = (
                    (min(1.0, DIVIDED * share), wide) if share < 1 else (1.0, min(2 * wide, WIDEST * top))
                )
                continue
            batch, failed = FIRST_BATCH, float(at[good])
            k = min(int(x), way.last - 1)
            if enters:  # the first sample itself has no answer
                since |= dict.fromkeys(np.flatnonzero(alive & ~found[:, 0]).tolist(), -1.0)
                alive = alive & found[:, 0]
            elif failed - x > 1:
                wide = float(way.gone[int(failed)] - way.gone[k]) / DIVIDED
            elif self._divides(way, k, share, column, alive & ~found[:, good]):
                share /= DIVIDED
            else:  # what cannot be followed is lost from here on
                alive = alive & found[:, good]
                for g in np.flatnonzero(~alive).tolist():
                    since.setdefault(g, x)
                    rates = self.parts[g].state + self.plan.unknowns
                    column[rates] = column[rates + self.plan.unknowns] = 0.0
        knots.lost += [Loss(g, first, np.inf, False) for g, first in since.items()]
        return knots

    def _start_lost(self, lost: Iterable[int], knots: Knots, way: Way, x: float, column: Floats) -> None:
        """Let groups that are lost begin where they were at the most similar inputs."""
        if not knots.x:
            return
        _, columns, alive = knots.joined()
        near = _nearest_inputs(columns[: self.plan.first_body : 3], way.at(np.array([x]))[0::3], way.scale)
        for g in lost:
            if alive[g].any():
                state = self.parts[g].state
                column[state] = columns[state, np.where(alive[g], near[0], np.inf).argmin()]

    def _ahead(self, way: Way, x: float, wide: float, share: float, batch: int, enters: bool) -> Floats:
        """Places of the next steps, within a time step where it is divided or was begun."""
        if enters:
            return np.array([x])
        k = int(x)
        if share < 1 or x > k:
            pieces = np.arange(x + share, k + 1, share)
            return np.append(pieces, k + 1.0)[:batch]
        found: list[float] = []
        while len(found) < batch and k < way.last:
            k = way.next(k, wide)
            found.append(float(k))
        return np.array(found)

    def _divides(self, way: Way, k: int, share: float, column: Floats, failing: Bools) -> bool:
        """Whether pieces of a time step are to be made smaller still."""
        far = share * float(way.travel[k])
        if far > LEAST or not far > LAST:
            return far > LEAST
        h, plan = share * float(way.time[k + 1] - way.time[k]), self.plan
        moved = np.abs(h * column[plan.dq]) / plan.scale
        groups = [self.parts[g].state - plan.first_state for g in np.flatnonzero(failing).tolist()]
        return any(float(moved[rows].max(initial=0.0)) > STILL for rows in groups)

    def _leads_to(self, g: int, way: Way, x: float, column: Floats) -> bool:
        """Whether the straight way from the reference leads to a group's state, which it is made to be."""
        plan, part = self.plan, self.parts[g]
        goal = way.at(np.array([x]))
        lead = self.to(goal[0::3, 0])
        if not lead.alive[-1][g, -1] or any(loss.group == g for loss in lead.lost):
            return False
        if not part.n:
            return True
        there, scale = lead.columns[-1][part.state, -1], plan.scale[part.state - plan.first_state]
        there = there + np.where(
            part.turns, 2 * np.pi * np.round((column[part.state] - there) / (2 * np.pi)), 0.0
        )
        if np.abs((there - column[part.state]) / scale).max() > SAME:
            column[part.state] = there
            column[part.state + plan.unknowns] = 0.0
            column[:] = self.life.steps_from(column, goal, np.zeros(1), plan.alive)[:, -1]
        return True

    def to(self, goal: Floats) -> Knots:
        """Knots of the straight way from the reference to inputs (D,), angles the nearest way."""
        start = self._start_near(goal)
        way = Way.straight(start[0 : self.plan.first_body : 3], goal, self.plan.scale_of_inputs)
        return self.along(way, start, self.plan.alive.copy(), checks=False)

    def on(self, column: Floats, goal: Floats) -> Knots:
        """Knots of the straight way from a column (height,) to inputs (D,)."""
        plan = self.plan
        alive = np.array([bool(np.isfinite(column[part.answer]).all()) for part in self.parts])
        way = Way.straight(column[0 : plan.first_body : 3], goal, plan.scale_of_inputs)
        return self.along(way, column, alive)

    def _start_near(self, goal: Floats) -> Floats:
        """The reference, with angles of the inputs half a turn at most from those of a goal (D,)."""
        plan = self.plan
        inputs, turns = slice(0, plan.first_body, 3), plan.turning_inputs
        whole = 2 * np.pi * np.round((goal - plan.start[inputs]) / (2 * np.pi)) * turns
        if not whole.any():
            return plan.start
        column = plan.start.copy()
        column[inputs] += whole
        found = self.life.steps_from(column, column[: plan.first_body, None], np.zeros(1), plan.alive)[:, -1]
        same = np.abs(found[plan.q] - plan.start[plan.q]).max(initial=0.0) <= SAME  # else turns are counted
        return found if same and np.isfinite(found[: plan.first_state]).all() else plan.start

    def _fine(self, X: Floats, alive: Bools, h: Floats) -> tuple[Bools, Bools]:
        """Whether all living groups go on, by step; and which groups are solved there (G, steps)."""
        plan = self.plan
        Q = X[plan.first_quality : plan.first_axes, 1:].reshape(len(self.parts), len(QUALITY), -1)
        far = np.where(alive, LEAP, FINITE)[:, None]
        found: Bools = is_fine(Quality(*(Q[:, k] for k in range(STEPS))), far, plan.size, plan.flat)
        off = self._gap(X, h) > SMOOTH
        for g, part in enumerate(self.parts):
            found[g] &= found[self.known[g]].all(axis=0)
            if alive[g] and not part.routine.linear:
                found[g] &= ~off[part.state - plan.first_state].any(axis=0)
        whole: Bools = np.asarray(found[alive].all(axis=0))
        return whole, found

    def _gap(self, X: Floats, h: Floats) -> Floats:
        """(n, steps) distance of the states of neighbouring columns from one smooth path, rad or sizes."""
        q, v, a = X[self.plan.q], X[self.plan.dq], X[self.plan.ddq]
        way = 0.5 * h * (v[:, 1:] + v[:, :-1]) + h * h / 12.0 * (a[:, :-1] - a[:, 1:])
        gap: Floats = np.abs(q[:, 1:] - q[:, :-1] - way) / self.plan.scale[:, None]
        return gap


def followed(plan: Plan, life: Life, way: Way, start: Floats | None = None) -> Knots:
    """Knots from the first sample of a way on, to which the reference leads, or a column (height,)."""
    if not plan.unknowns:  # closed forms need no starts
        return Knots()
    follower, goal = Follower(plan, life), way.inputs[0::3, 0]
    lead = follower.to(goal) if start is None else follower.on(start, goal)
    column, alive = lead.columns[-1][:, -1], lead.alive[-1][:, -1]
    # What was lost on the way there and found again may be on another branch at the first instant.
    doubts = [loss.group for loss in lead.lost if start is None or not loss.sure]
    lost = [Loss(g, -1.0, 0.0, False) for g in doubts if alive[g]]
    knots = follower.along(way, column, alive)
    knots.lost += lost
    return knots


def guesses(plan: Plan, life: Life, knots: Knots, way: Way, X: Floats) -> None:
    """Unknowns at all samples: quintics between the knots, of a lost group those at similar inputs."""
    (x, columns, alive), count = knots.joined(), len(way.time)
    if len(x) == 1:
        X[plan.q, :count] = columns[plan.q]
        return
    if count > FEW * len(x) and alive.all() and not (x % 1).any():
        x, columns, alive = _denser(plan, life, way, x, columns)
    first = np.ceil(x).astype(np.int64)
    first[-1] = count
    life.guess(X, way.time, first, way.time_at(x), columns)
    if not alive.all():
        k = np.repeat(np.arange(len(x) - 1), np.diff(first))
        for g, part in enumerate(plan.parts):
            if part.n and not alive[g].all() and alive[g].any():
                dead = np.flatnonzero(~(alive[g, k] & alive[g, k + 1]))
                near = _nearest_inputs(columns[: plan.first_body : 3], way.inputs[0::3, dead], way.scale)
                best = np.where(alive[g], near, np.inf).argmin(axis=1)
                X[part.state[:, None], dead] = columns[part.state][:, best]


def _denser(plan: Plan, life: Life, way: Way, x: Floats, columns: Floats) -> tuple[Floats, Floats, Bools]:
    """More knots, solved from the guesses of the first: one step of Newton's method is enough then."""
    between = np.ceil(np.linspace(x[:-1], x[1:], DENSER, endpoint=False))
    at = np.unique(np.append(between, x[-1])).astype(np.int64)
    count, time = len(at), way.time[at]
    X = life.storage(count)
    X[: plan.first_body, :count] = way.inputs[:, at]
    first = np.searchsorted(at, x)
    first[-1] = count
    life.guess(X, time, first, way.time_at(x), columns)
    life.apart(X, count, LEAP)
    if life.seen(X[:, :count], LEAP)[0]:
        x, columns = at.astype(float), X[:, :count]
    return x, columns, np.ones((len(plan.parts), len(x)), dtype=np.bool_)


def _nearest_inputs(of: Floats, to: Floats, scale: Floats) -> Floats:
    """(K', K) distances of inputs (D, K) from others (D, K'), of the one that is farthest."""
    found: Floats = (np.abs(of[:, None] - to[:, :, None]) / scale[:, None, None]).max(axis=0, initial=0.0)
    return found
