"""Starts of all instants: a coarse pass along the motion that checks its own steps, and interpolation.

The pass goes from the reference to the first instant and on, in strides that are divided where Newton fails
or where two states do not lie on one smooth path, down to pieces of a time step. A group that cannot be
followed is lost until Newton finds it again, in its mode, from where it was; the others go on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from groups.engine.arrays import FINITE, is_fine, quintic
from groups.engine.plan import CONDITION, FAR, GIMBAL, QUALITY, REACH, RESIDUAL

#: How far two states may be off one smooth path, and Newton from where it was expected; rad or sizes.
SMOOTH, LEAP = 0.002, 0.5
#: Way of an input in a stride, rad or sizes: on the average at first, and the least before a group is lost.
STRIDE, LEAST = 0.3, 2e-3
#: Divisions of a stride at a time, and steps of a batch at first and at most.
DIVIDED, FIRST_BATCH, BATCH = 4, 32, 64
#: Samples by which the length of a way is measured.
SAMPLES = 512
#: Samples by knot from which on there are so many times more of them.
FEW, DENSER = 64, 8


@dataclass(eq=False)
class Way:
    """Inputs between samples: the quintic through values and two rates; x counts the samples."""

    time: np.ndarray
    inputs: np.ndarray  # (3 D, T): value, rate and acceleration of each
    scale: np.ndarray  # (D,) rad or the size

    @staticmethod
    def of(plan, motion, X=None):
        """The way of a motion, which is put into an array."""
        count = len(motion.time)
        X = np.empty((plan.first_body, count)) if X is None else X
        for k, rows in enumerate((motion.value, motion.rate, motion.acceleration)):
            X[k : plan.first_body : 3, :count] = rows
        return Way(motion.time, X[: plan.first_body, :count], plan.scale_of_inputs)

    @staticmethod
    def between(way, start):
        """The straight way of the inputs from their values at the reference to the first sample."""
        rows = np.zeros((len(way.inputs), 2))
        rows[0::3, 0], rows[0::3, 1] = start, way.inputs[0::3, 0]
        rows[1::3] = (rows[0::3, 1] - start)[:, None]
        return Way(np.array([0.0, 1.0]), rows, way.scale)

    def until(self, count):
        """The first samples."""
        return self if count == len(self.time) else Way(self.time[:count], self.inputs[:, :count], self.scale)

    @property
    def last(self):
        return len(self.time) - 1

    def time_at(self, x):
        k = x.astype(np.intp)
        share = x - k
        if not share.any():
            return self.time[k]
        after = np.minimum(k + 1, self.last)
        return self.time[k] + share * (self.time[after] - self.time[k])

    def at(self, x):
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
    def travel(self):
        """(T - 1,) way of the input that goes farthest, by time step, rad or sizes."""
        return self._travel(1)

    @cached_property
    def length(self):
        """Of the whole way, roughly."""
        return self._travel(1 + self.last // SAMPLES).sum()

    @cached_property
    def longest(self):
        """Way of a time step at most."""
        rows = zip(self.inputs[0::3], self.scale.tolist(), strict=True)
        return max((np.maximum.reduce(np.abs(y[1:] - y[:-1]), initial=0.0) / s for y, s in rows), default=0.0)

    def _travel(self, every):
        y = self.inputs[0::3, ::every]
        return (np.abs(y[:, 1:] - y[:, :-1]) / self.scale[:, None]).max(axis=0, initial=0.0)


def _rates(c, s, h):
    """Value and two rates of quintics at shares s."""
    value = c[0] + s * (c[1] + s * (c[2] + s * (c[3] + s * (c[4] + s * c[5]))))
    rate = c[1] + s * (2 * c[2] + s * (3 * c[3] + s * (4 * c[4] + s * 5 * c[5])))
    second = 2 * c[2] + s * (6 * c[3] + s * (12 * c[4] + s * 20 * c[5]))
    return value, rate / h, second / h**2


@dataclass(eq=False)
class Knots:
    """States along a way: where (K,), states (3 n, K), which groups are alive there (G, K).

    ``lost`` are (group, x before, x of the way back) of groups that could not be followed.
    """

    x: list = field(default_factory=list)
    columns: list = field(default_factory=list)
    alive: list = field(default_factory=list)
    lost: list = field(default_factory=list)

    def add(self, x, columns, alive):
        self.x.append(x)
        self.columns.append(columns)
        self.alive.append(alive)

    def joined(self):
        if len(self.x) == 1:
            return self.x[0], self.columns[0], self.alive[0]
        alive = np.concatenate(self.alive, axis=1)
        return np.concatenate(self.x), np.concatenate(self.columns, axis=1), alive


class Follower:
    """The coarse pass of a plan by one of its lives."""

    def __init__(self, plan, life):
        self.plan, self.life = plan, life
        self.parts = plan.parts
        self.known = [list(part.known) for part in self.parts]

    def along(self, way, start, alive):
        """Knots of a way whose first sample is at the state ``start`` (rows of the array)."""
        knots = Knots()
        stride = top = self._first_stride(way)
        x, column, batch, enters = 0.0, start, FIRST_BATCH, True
        since = dict.fromkeys(np.flatnonzero(~alive).tolist(), 0.0)
        while x < way.last or enters:
            whole = bool(alive.all())
            at, h, (X, fine) = self._steps(way, x, column, stride, batch, enters, LEAP if whole else FINITE)
            fine, found = self._fine(X, alive, h, fine and whole)
            good = len(fine) if fine.all() else int(fine.argmin())
            if good:
                self._keep(knots, way, at[:good], X[:, 1 : good + 1], found[:, :good], since)
                x, column, alive = float(at[good - 1]), X[:, good].copy(), found[:, good - 1].copy()
                enters = False
            if good == len(at):
                batch = min(2 * batch, BATCH)
                wider = stride * DIVIDED if stride < 1 else min(2 * stride, 4 * top)
                stride = wider if stride >= 1 or x % wider == 0 else stride
                continue
            batch = FIRST_BATCH
            k = min(int(x), way.last - 1)
            if enters:  # the first sample itself has no answer
                since |= dict.fromkeys(np.flatnonzero(alive & ~found[:, 0]).tolist(), -1.0)
                alive = alive & found[:, 0]
            elif stride > 1:
                stride = max(1, int(stride) // DIVIDED)
            elif stride * way.travel[k] > LEAST:
                stride /= DIVIDED
            else:  # what cannot be followed is lost from here on
                alive = alive & found[:, good]
                for g in np.flatnonzero(~alive).tolist():
                    since.setdefault(g, x)
                stride = 1 if x % 1 == 0 else stride
        for g, first in since.items():
            knots.lost.append((g, first, float(way.last)))
        return knots

    def _first_stride(self, way):
        return max(1, int(way.last / max(8.0, way.length / STRIDE))) if way.last > 1 else 1

    def _steps(self, way, x, column, stride, batch, enters, limit):
        """Positions of a batch, its steps of time and the array of its solved columns, the first the state.

        It begins with x itself where the state is that before the first sample.
        """
        count = int(min(batch, -(-(way.last - x) // stride) + enters))
        at = np.minimum(x + stride * np.arange(not enters, count + (not enters)), way.last)
        time = way.time_at(np.concatenate([[x], at]))
        h = time[1:] - time[:-1]
        return at, h, self.life.steps_from(column, way.at(at), h, limit)

    def _fine(self, X, alive, h, known):
        """Whether all living groups go on, by step; and which groups are solved there (G, steps)."""
        plan, smooth = self.plan, self._gap(X, h)
        if known and smooth.max() <= SMOOTH:
            found = np.ones((len(self.parts), len(h)), dtype=bool)
            return found[0], found
        Q = X[plan.first_quality : plan.first_axes, 1:].reshape(len(self.parts), len(QUALITY), -1)
        found = is_fine(
            *(Q[:, k] for k in (CONDITION, RESIDUAL, REACH, GIMBAL)), 0.0, LEAP, plan.size, plan.flat
        )
        found &= np.isfinite(Q[:, FAR]) & (Q[:, FAR] <= np.where(alive, LEAP, np.inf)[:, None])
        for g, known in enumerate(self.known):
            found[g] &= found[known].all(axis=0)
        off = np.zeros_like(found)
        for g, part in enumerate(self.parts):
            if part.n and alive[g]:
                k = part.state - plan.first_state
                off[g] = smooth[k].max(axis=0) > SMOOTH
        found &= ~off
        return found[alive].all(axis=0), found

    def _gap(self, X, h):
        """(n, steps) distance of the states of neighbouring columns from one smooth path, rad or sizes."""
        q, v, a = X[self.plan.q], X[self.plan.dq], X[self.plan.ddq]
        way = 0.5 * h * (v[:, 1:] + v[:, :-1]) + h * h / 12.0 * (a[:, :-1] - a[:, 1:])
        return np.abs(q[:, 1:] - q[:, :-1] - way) / self.plan.scale[:, None]

    def _keep(self, knots, way, at, columns, found, since):
        knots.add(at, columns, found)
        for g in list(since):
            back = np.flatnonzero(found[g])
            if len(back):
                knots.lost.append((g, since.pop(g), float(at[back[0]])))


def guesses(plan, life, knots, way, X):
    """Unknowns at all samples: quintics between the knots; a lost group waits."""
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
            if part.n and not alive[g].all():
                _wait(X, part.state, columns[part.state], alive[g], k)


def _denser(plan, life, way, x, columns):
    """More knots, solved from the guesses of the first: one step of Newton's method is enough then."""
    between = np.ceil(np.linspace(x[:-1], x[1:], DENSER, endpoint=False))
    at = np.unique(np.append(between, x[-1])).astype(np.int64)
    count, time = len(at), way.time[at]
    X = life.storage(count, time)
    X[: plan.first_body, :count] = way.inputs[:, at]
    first = np.searchsorted(at, x)
    first[-1] = count
    life.guess(X, time, first, way.time_at(x), columns)
    life.apart(X, count, LEAP)
    if life.seen(X[:, :count], LEAP)[0]:
        x, columns = at.astype(float), X[:, :count]
    return x, columns, np.ones((len(plan.parts), len(x)), dtype=bool)


def _wait(found, rows, states, alive, k):
    """Where a group is lost its guess is the nearest state in which it is not."""
    dead, living = np.flatnonzero(~(alive[k] & alive[k + 1])), np.flatnonzero(alive)
    if len(living):
        nearest = living[np.abs(living[None] - (k[dead] + 0.5)[:, None]).argmin(axis=1)]
        found[rows[:, None], dead[None]] = states[:, nearest]
