"""Starts of all instants: a coarse pass along the motion that checks its own steps, and interpolation."""

# The pass goes from the reference to the first instant and on, in strides that are divided where Newton fails
# or where two states do not lie on one smooth path, down to pieces of a time step. A group that cannot be
# followed is lost until Newton finds it again; the others go on. What is found again is in the mode of the
# reference only where the straight way of the inputs from there leads to it.

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from groups.engine.arrays import FINITE, aligned, all_fine, pitch_of, quintic, way
from groups.engine.plan import CLOCK, FAR, TIME
from mbssa.arrays import Bools, Floats, Ints
from mbssa.graph.nodes import polynomial
from mbssa.joints.axes import whole_turns

if TYPE_CHECKING:
    from groups.engine.arrays import Life
    from groups.engine.plan import Part, Plan

#: How far two states may be off one smooth path, and Newton from where it was expected; rad or sizes.
SMOOTH, LEAP = 0.002, 0.5
#: Way of the inputs in a stride at first, and in the smallest piece of a step before a group is lost; rad or
#: sizes. Pieces are smaller, down to the last, where a group's unknowns still move by more than ``STILL``.
STRIDE, LEAST, LAST, STILL = 0.3, 2e-3, 1e-6, 0.02
#: Fewest strides of a motion, times the first that one may be, divisions at a time; steps of a batch, behind
#: which strides are widened.
FEWEST, WIDEST, DIVIDED, BATCH = 8, 4, 4, 16
#: Samples by knot from which on there are so many times more of them.
FEW, DENSER = 64, 8
#: Difference of unknowns that are the same, rad or sizes.
SAME = 1e-6
#: Share of whole turns in the distance of inputs.
TURNED = 1e-3
#: Distances of inputs that are compared at a time.
CELLS = 2**16

#: A coarse pass: the place on its way, the state (height,), the way of a stride, and whether the first sample
#: is entered.
Course: TypeAlias = tuple[float, Floats, float, bool]


class Way:
    """Inputs between samples: the quintic through values and two rates; x counts the samples."""

    # They are written to the rows of an array, as a plan has it, or to an array of these rows alone.
    def __init__(self, life: Life, X: Floats | None, time: Floats, *inputs: Floats) -> None:
        plan, count = life.plan, len(time)
        if X is None:
            X = aligned(plan.first_body + len(CLOCK), pitch_of(count), count=count)
        self.X, self.scale, self.last = X, plan.scale_of_inputs, count - 1
        self.inputs = [X[order : plan.first_body : 3] for order in range(3)]
        first = min(plan.first_clock, len(X) - len(CLOCK))
        self.clock = X[first : first + len(CLOCK)]
        self.time: Floats
        self.time, self.ways, self.sums = self.clock
        for rows, given in zip((*self.inputs, self.time), (*inputs, time), strict=True):
            rows[:] = given
        life.measure(self)
        #: By time step the way of the input that goes farthest, rad or sizes; its sums are up to samples.
        self.steps, self.longest = self.ways[:-1], float(self.ways[-1])

    @cached_property
    def least(self) -> float:
        """The way in the time step in which it is the shortest."""
        return float(self.steps.min())

    @staticmethod
    def straight(start: Floats, goal: Floats, life: Life) -> Way:
        """The straight way between two sets of inputs (D,)."""
        values, rates = np.array([start, goal]).T, (goal - start)[:, None]
        return Way(life, None, np.array([0.0, 1.0]), values, rates, 0.0 * rates)

    def time_at(self, x: Floats) -> Floats:
        k = x.astype(np.intp)
        share = x - k
        after = np.minimum(k + 1, self.last)
        return self.time[k] + share * (self.time[after] - self.time[k])

    def at(self, x: Floats) -> Floats:
        """(3 D, len(x)) inputs; samples where x is whole."""
        k = np.minimum(x.astype(np.intp), self.last)
        found, s = np.empty((3 * len(self.scale), len(x))), x - k
        for order, rows in enumerate(self.inputs):
            found[order::3] = rows[:, k]
        inside = np.flatnonzero(s)
        if len(inside):
            k = np.minimum(k[inside], self.last - 1)  # goes on behind the last one
            s = x[inside] - k
            h = self.time[k + 1] - self.time[k]
            left, right = ([rows[:, i] for rows in self.inputs] for i in (k, k + 1))
            c = quintic(left, right, h)
            first = [k * x for k, x in enumerate(c)][1:]
            second = [k * x for k, x in enumerate(first)][1:]
            found[0::3, inside] = polynomial(s, c)
            found[1::3, inside] = polynomial(s, first) / h
            found[2::3, inside] = polynomial(s, second) / h**2
        return found

    @cached_property
    def turns(self) -> list[int]:
        """Samples at which all inputs come to rest, or begin to move, and the last one."""
        moves = self.steps > 0.0
        return [*(np.flatnonzero(moves[1:] != moves[:-1]) + 1).tolist(), self.last]

    def next(self, k: int, wide: float) -> int:
        """The sample up to which the inputs go at most so far from one on; at least the next."""
        far = bisect_right(self.sums, self.sums[k] + wide) - 1
        turn = self.turns[bisect_right(self.turns, k)]
        return min(max(far, k + 1), turn)


@dataclass(eq=False)
class Knots:
    """States along a way: where (K,), columns of the array (height, K), groups that are alive (G, K)."""

    x: list[Floats] = field(default_factory=list)
    columns: list[Floats] = field(default_factory=list)
    alive: list[Bools] = field(default_factory=list)
    lost: list[Loss] = field(default_factory=list)
    #: Groups that have come to an end of their reach.
    beyond: set[int] = field(default_factory=set)
    #: (K,) times, once all of several are found.
    time: Floats = field(init=False)

    def add(self, x: Floats, columns: Floats, alive: Bools) -> None:
        self.x.append(x)
        self.columns.append(columns)
        self.alive.append(alive)

    def joined(self) -> tuple[Floats, Floats, Bools]:
        if len(self.x) > 1:
            self.x, self.columns = [np.concatenate(self.x)], [np.concatenate(self.columns, axis=1)]
            self.alive = [np.concatenate(self.alive, axis=1)]
        return self.x[0], self.columns[0], self.alive[0]


class Loss:
    """A group that could not be followed from a place of the way on, until it was found in its mode again."""

    # It has the states where it was solved before. ``beyond``: it came to an end of its reach, not to where
    # two modes cross. The more often it was refused, the longer it waits: it may be in another mode for long.
    back, beyond, refused, waits = np.inf, False, 0, 0

    def __init__(self, plan: Plan, part: Part, knots: Knots, before: float, column: Floats) -> None:
        self.plan, self.group, self.before = plan, part.index, before
        self.turns, self.last = part.turns, column[part.state]
        rows, each = slice(0, plan.first_body, 3), zip(knots.columns, knots.alive, strict=True)
        solved = [plan.start[:, None], *(columns[:, alive[part.index]] for columns, alive in each)]
        #: States (n, K) at inputs (D, K).
        self.inputs, self.states = (np.hstack([X[k] for X in solved]) for k in (rows, part.state))

    def state_near(self, inputs: Floats) -> Floats:
        """(n,) the state at the most similar inputs (D,)."""
        return self.states[:, _nearest(self.plan, self.inputs, inputs[:, None])[0]]

    def turned(self, state: Floats, near: Floats) -> Floats:
        """A state (n,) whose angles have gone the shorter way from another."""
        return np.where(self.turns, state + whole_turns(near - state), state)


class Follower:
    """A coarse pass of a life along a way; ``checks`` whether what is found again is in its mode."""

    def __init__(self, life: Life, way: Way, beyond: Iterable[int] = (), *, checks: bool = True) -> None:
        self.life, self.plan, self.parts = life, life.plan, life.plan.parts
        self.way, self.checks = way, checks
        self.knots, self.since = Knots(beyond=set(beyond)), dict[int, Loss]()
        self._led: tuple[float, Knots] | None = None  # the straight way to a place

    def along(self, start: Floats, alive: Bools) -> Knots:
        """Knots of the way, whose first sample is at a state (height,)."""
        way, knots, since, x, column = self.way, self.knots, self.since, 0.0, start.copy()
        top = max(min(STRIDE, float(way.sums[-1]) / FEWEST), 1e-300)
        share, wide, enters = 1.0, 2.0 * top, True
        self._lose(alive, -1.0, column)
        while x < way.last or enters:
            if not since and share == 1.0 and x == int(x):
                count, course = len(knots.x), (x, column, wide, enters)
                x, column, wide, enters = self.life.ahead(way, knots, course, WIDEST * top)
                if len(knots.x) > count:
                    continue
            at = self._ahead(x, wide, share, enters)
            time, inputs = way.time_at(np.concatenate([[x], at])), way.at(at)
            for g, loss in since.items():  # at rest
                self._set(g, column, loss.state_near(inputs[0::3, 0]))
            X = self.life.steps_from(column, inputs, time, alive)
            at = at[: X.shape[1] - 1]
            fine, found = goes_on(self.plan, X[:, :-1], X[:, 1:], alive, np.diff(time)[: len(at)])
            good = len(at) if fine.all() else int(fine.argmin())
            if good and since:
                back = self._found_again(found[:, 0], float(at[0]), X[:, 1])
                if back and at[0] - x > 1:  # where it is found first
                    wide = float(way.sums[int(at[0])] - way.sums[int(x)]) / DIVIDED
                    continue
                for g in back:  # one that waited for another was where that one was
                    if knots.beyond.intersection(back, list(self.parts[g].known)):
                        knots.beyond.add(g)
                    loss = since.pop(g)
                    loss.back, loss.beyond = float(at[0]), g in knots.beyond
                knots.beyond -= set(back)
                found[list(since), 0] = False
            if good:
                x, column, alive = float(at[good - 1]), X[:, good].copy(), found[:, good - 1].copy()
                knots.add(at[:good], X[:, 1 : good + 1], found[:, :good])
                enters = False
            if good == len(at):
                if share < 1:
                    share = min(1.0, DIVIDED * share)
                else:
                    wide = min(2 * wide, top if since else WIDEST * top)
                continue
            failed, k = float(at[good]), min(int(x), way.last - 1)
            if failed - x > 1:
                wide = float(way.sums[int(failed)] - way.sums[k]) / DIVIDED
            elif not enters and self._divides(k, share, column, alive & ~found[:, good]):
                share /= DIVIDED
            else:  # what cannot be followed, or has no answer at the first sample, is lost from here on
                alive = alive & found[:, good]
                self._lose(alive, -1.0 if enters else x, column)
        for g, loss in since.items():
            loss.beyond = g in knots.beyond
        return knots

    def _lose(self, alive: Bools, before: float, column: Floats) -> None:
        """Note the groups that are not alive from a place of the way on."""
        for g in np.flatnonzero(~alive).tolist():
            if g not in self.since:
                self.since[g] = Loss(self.plan, self.parts[g], self.knots, before, column)
                self.knots.lost.append(self.since[g])

    def _found_again(self, found: Bools, x: float, column: Floats) -> list[int]:
        """Those of the lost groups that are in the mode of the reference at a place of the way."""
        back, beyond, since = list[int](), self.knots.beyond, self.since
        for g in sorted(since):
            part, loss = self.parts[g], since[g]
            if np.isinf(column[part.quality + FAR]):
                beyond.add(g)
            if not found[g] or not all(k in back for k in part.known if k in since):
                continue
            sure = not self.checks or not part.n or part.routine.linear
            if not sure and not (part.has_one_mode and g in beyond):
                if loss.waits and x < self.way.last:
                    loss.waits -= 1
                    continue
                if not self._leads_to(g, x, column, loss):
                    loss.waits = loss.refused
                    loss.refused += 1
                    continue
            self._put(g, x, column, loss.turned(column[part.state], loss.last))
            back.append(g)
        return back

    def _ahead(self, x: float, wide: float, share: float, enters: bool) -> Floats:
        """Places of the next steps, within a time step where it is divided or was begun."""
        k, way, batch = int(x), self.way, 1 if self.since else BATCH
        if share < 1 or x > k:
            pieces = np.arange(x + share, k + 1, share)
            return np.append(pieces, k + 1.0)[:batch]
        found = [x] if enters else list[float]()
        while len(found) < batch and k < way.last:
            k = way.next(k, wide)
            found.append(float(k))
        return np.array(found)

    def _divides(self, k: int, share: float, column: Floats, failing: Bools) -> bool:
        """Whether pieces of a time step are to be made smaller still."""
        way, plan, far = self.way, self.plan, share * float(self.way.steps[k])
        if far > LEAST or not far > LAST:
            return far > LEAST
        moved = np.abs(share * float(way.time[k + 1] - way.time[k]) * column[plan.dq]) / plan.scale
        groups = [self.parts[g].state - plan.first_state for g in np.flatnonzero(failing).tolist()]
        return any(float(moved[rows].max(initial=0.0)) > STILL for rows in groups)

    def _leads_to(self, g: int, x: float, column: Floats, loss: Loss) -> bool:
        """Whether the straight way from the reference leads to a group's state, which it is made to be."""
        plan, rows, goal = self.plan, self.parts[g].state, self.way.at(np.array([x]))[0::3, 0]
        if self._led is None or self._led[0] != x:
            self._led = x, way_to(self.life, goal)
        lead = self._led[1]
        if not lead.alive[-1][g, -1] or any(other.group == g for other in lead.lost):
            return False
        there = loss.turned(lead.columns[-1][rows, -1], loss.state_near(goal))
        if np.abs((there - column[rows]) / plan.scale[rows - plan.first_state]).max() > SAME:
            self._put(g, x, column, there)
        return True

    def _set(self, g: int, column: Floats, state: Floats) -> None:
        """Give a group a state, at rest."""
        rows, unknowns = self.parts[g].state, self.plan.unknowns
        column[rows] = state
        column[rows + unknowns] = column[rows + 2 * unknowns] = 0.0

    def _put(self, g: int, x: float, column: Floats, state: Floats) -> None:
        """Give a group another state at a place of the way, unless it is the one that it has."""
        if (column[self.parts[g].state] != state).any():
            self._set(g, column, state)
            goal = self.way.at(np.array([x]))
            column[:] = self.life.steps_from(column, goal, np.zeros(2), self.plan.alive)[:, -1]


def way_to(life: Life, goal: Floats) -> Knots:
    """Knots of the straight way from the reference to inputs (D,), angles the nearest way."""
    plan, start, rows = life.plan, life.plan.start, slice(0, life.plan.first_body, 3)
    reference = start[rows].tolist()
    if goal.tolist() != reference and (near := plan.inputs_near(goal)).tolist() != reference:
        given = start[: plan.first_body, None].copy()
        given[rows, 0] = near
        found = life.steps_from(start, given, np.zeros(2), plan.alive)[:, -1]
        same = np.abs(found[plan.q] - start[plan.q]).max(initial=0.0) <= SAME  # else turns are counted
        if same and np.isfinite(found[: plan.first_state]).all():
            start = found
    if (start[rows] == goal).all():
        knots = Knots()
        knots.add(np.zeros(1), start[:, None], plan.alive[:, None])
        return knots
    way = Way.straight(start[rows], goal, life)
    return Follower(life, way, checks=False).along(start, plan.alive.copy())


def goes_on(
    plan: Plan, before: Floats, after: Floats, alive: Bools, h: Floats | float
) -> tuple[Bools, Bools]:
    """Whether all living groups go on, by step; and which groups are solved behind it (G, steps)."""
    found = all_fine(plan, after, np.where(alive, LEAP, FINITE)[:, None])
    smooth = on_one_path(plan, before, after, h)
    for g, part in enumerate(plan.parts):
        found[g] &= found[list(part.known)].all(axis=0)
        if alive[g] and not part.routine.linear:
            found[g] &= smooth[part.state - plan.first_state].all(axis=0)
    return np.asarray(found[alive].all(axis=0)), found


def on_one_path(plan: Plan, before: Floats, after: Floats, h: Floats | float) -> Bools:
    """(n, steps) whether the states of columns before and after steps lie on one smooth path, by unknown."""
    (q, v, a), (q1, v1, a1) = ([X[rows] for rows in (plan.q, plan.dq, plan.ddq)] for X in (before, after))
    return np.asarray(np.abs(q1 - q - way(h, v, v1, a, a1)) <= SMOOTH * plan.scale[:, None])


def followed(life: Life, way: Way, start: Floats | None = None) -> Knots:
    """Knots from the first sample of a way on, to which the reference leads, or a column (height,)."""
    plan, goal = life.plan, way.inputs[0][:, 0]
    if not plan.unknowns:  # closed forms need no starts
        return Knots()
    if start is None:
        lead = way_to(life, goal)
    else:
        alive = np.array([bool(np.isfinite(start[part.answer]).all()) for part in plan.parts])
        straight = Way.straight(start[0 : plan.first_body : 3], goal, life)
        lead = Follower(life, straight).along(start, alive)
    column, alive = lead.columns[-1][:, -1], lead.alive[-1][:, -1].copy()
    # What was lost on the way there and found again may be on another branch at the first instant.
    for loss in lead.lost if start is None else ():
        alive[loss.group] = False
    for part in plan.parts:  # angles of a lost group go on from there
        if start is not None and not alive[part.index]:
            column[part.state] = start[part.state]
    knots = Follower(life, way, lead.beyond).along(column, alive)
    x, _, alive = knots.joined()
    if len(x) > 1:
        if len(x) < way.last / FEW and alive.all() and not (x % 1).any():
            _divide(life, way, knots)
        knots.time = way.time_at(knots.x[0])
    return knots


def guesses(life: Life, knots: Knots, X: Floats, begin: int = 0) -> None:
    """Unknowns at samples: quintics between the knots, of a lost group those at similar inputs."""
    plan, (x, columns, alive), count = life.plan, knots.joined(), X.shape[1]
    if len(x) == 1:
        X[plan.q] = columns[plan.q]
        return
    first = np.ceil(x).astype(np.int64) - begin
    first[-1] += 1
    some = slice(max(int(np.searchsorted(first, 0, "right")) - 1, 0), int(np.searchsorted(first, count)) + 1)
    first = np.minimum(np.maximum(first[some], 0), count)
    life.guess(X, first, knots.time[some], columns[:, some])
    if not alive.all():
        k = np.repeat(np.arange(len(first) - 1), np.diff(first))
        for g, part in enumerate(plan.parts):
            if part.n and not alive[g].all() and alive[g].any():
                living, lives = columns[:, alive[g]], alive[g, some]
                dead = np.flatnonzero(~(lives[k] & lives[k + 1]))
                best = _nearest(plan, living[: plan.first_body : 3], X[: plan.first_body : 3, dead])
                X[part.state[:, None], dead] = living[part.state][:, best]


def between(life: Life, way: Way, X: Floats, x: Floats, parts: Sequence[Part]) -> Floats:
    """An array of places between samples that are solved, of some groups."""
    plan, Y, k = life.plan, life.storage(len(x)), np.minimum(x.astype(np.intp), way.last - 1)
    Y[: plan.first_body] = way.at(x)
    Y[plan.q] = X[plan.q, k] + (x - k) * (X[plan.q, k + 1] - X[plan.q, k])
    life.apart(Y, len(x), np.inf, parts=parts)
    return Y


def _divide(life: Life, way: Way, knots: Knots) -> None:
    """Add knots, solved from the guesses of the first: one step of Newton's method is enough then."""
    plan, (x, columns, alive) = life.plan, knots.joined()
    between = np.ceil(np.linspace(x[:-1], x[1:], DENSER, endpoint=False))
    at = np.unique(np.append(between, x[-1]))
    first, X = np.searchsorted(at, x), life.storage(len(at))
    X[: plan.first_body], X[plan.first_clock + TIME] = way.at(at), way.time_at(at)
    first[-1] = len(at)
    life.guess(X, first, way.time_at(x), columns)
    notes = life.apart(X, len(at), LEAP)
    if not np.count_nonzero((life.notes_of(X, LEAP) if notes is None else notes)[-1, 0]):
        knots.x, knots.columns, knots.alive = [at], [X], [np.ones((len(alive), len(at)), dtype=np.bool_)]


def _nearest(plan: Plan, of: Floats, to: Floats) -> Ints:
    """(K,) which of some inputs (D, K') is the nearest to each of others (D, K); whole turns are short."""
    turning, scale = plan.turning_inputs.tolist(), plan.scale_of_inputs.tolist()
    found, block = np.zeros(to.shape[1], dtype=np.int64), 1 + CELLS // max(of.shape[1], 1)
    for first in range(0, len(found), block):
        most = np.zeros((min(block, len(found) - first), of.shape[1]))
        for x, y, turns, size in zip(of, to[:, first : first + block, None], turning, scale, strict=True):
            off = x - y
            if turns:
                whole = 2 * np.pi * np.round(off * (0.5 / np.pi))
                off = np.abs(off - whole) + TURNED * np.abs(whole)
            np.maximum(most, np.abs(off) / size, out=most)
        found[first : first + block] = most.argmin(axis=1)
    return found
