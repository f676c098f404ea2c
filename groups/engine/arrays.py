"""The life of Python and NumPy: one instant on floats, many on arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from groups.engine.plan import CONDITION, GIMBAL, QUALITY, REACH, STEPS
from groups.engine.users import OpaqueError
from mbssa.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from groups.engine.path import Course, Knots, Way
    from groups.engine.plan import Part, Plan
    from mbssa.graph.nodes import Number

#: Largest last step of Newton's method, rad or sizes; the step is taken, so that its square is left.
TOLERANCE = 1e-7
#: Steps at most.
MOST = 12
#: Least square of the sine of a dyad's angle, or of that between a leg's pins.
EDGE = 1e-14
FINITE = 1e300
#: Share of a turn by which an angle may be off what the rates say.
DOUBT = 0.05
#: Instants of a block: intermediate results stay in the cache.
BLOCK = 1024
#: Numbers in a line of the cache, at most as many as a vector has.
LINE = 8


class Quality(NamedTuple):
    """Quality of a group, at an instant or at many, in the order of its rows; ``far`` from the guess."""

    condition: Any
    residual: Any
    reach: Any
    gimbal: Any
    far: Any


class Travel(NamedTuple):
    """Ways of inputs: by time step that of the farthest, rad or sizes; its sums (T,); the longest."""

    steps: Floats
    sums: Floats
    longest: float
    #: Of machine code: inputs, time, steps and sums, which it reads, and their addresses.
    kept: tuple[Floats, ...] = ()
    at: tuple[int, ...] = ()


def pitch_of(count: int) -> int:
    """Numbers of a row of memory for so many instants, with room for a vector beyond the last."""
    # Rows have an odd number of lines of the cache, so that they do not share its sets.
    lines = 1 - (-count // LINE)
    return LINE * (lines + 1 - lines % 2)


def aligned(rows: int, pitch: int, memory: Callable[[int], Floats] = np.empty) -> Floats:
    """Memory (rows, pitch) that begins with a line of the cache."""
    raw = memory(rows * pitch + LINE)
    start = -raw.__array_interface__["data"][0] // 8 % LINE
    return raw[start : start + rows * pitch].reshape(rows, pitch)


def is_fine(of: Quality, limit: Any, closed: float, flat: Any) -> Any:
    """Whether a group is solved, in the mode of the reference, and not far from where it was expected."""
    solved = (of.condition > flat) & (of.residual <= closed) & (of.far <= limit)
    return solved & (of.reach > EDGE) & (of.gimbal > EDGE)


def all_fine(plan: Plan, X: Floats, limit: Any) -> Bools:
    """(G, T) whether each group is solved at each instant."""
    Q = plan.quality(X)
    found: Bools = is_fine(Quality(*(Q[:, k] for k in range(STEPS))), limit, plan.setting.closed, plan.flat)
    return found


def quintic(left: Sequence[Number], right: Sequence[Number], h: Number) -> list[Any]:
    """Coefficients of the polynomials through values and two rates at both ends of steps h, in shares."""
    (y, v, a), (y1, v1, a1) = left, right
    v, a, v1, a1 = v * h, a * h * h, v1 * h, a1 * h * h
    D, V, A = y1 - y - v - 0.5 * a, v1 - v - a, a1 - a
    return [y, v, 0.5 * a, 10 * D - 4 * V + 0.5 * A, -15 * D + 7 * V - A, 6 * D - 3 * V + 0.5 * A]


def way(h: Number, v: Number, v1: Number, a: Number, a1: Number) -> Any:
    """Displacement in a step h by first and second rates at both ends (Hermite's rule)."""
    return 0.5 * h * (v + v1) + h * h * (1 / 12) * (a - a1)


class Life:
    """All groups of a plan by the arrays' and the floats' functions."""

    #: Instants side by side.
    lanes = 1

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    @property
    def height(self) -> int:
        """Rows of an array whose columns all groups solve together."""
        return self.plan.height

    def memory(self, size: int) -> Floats:
        """Memory for so many numbers, which may hold any."""
        return np.empty(size)

    def storage(self, count: int) -> Floats:
        """An array of so many instants."""
        X = np.zeros((self.plan.height, count))
        self.prepare(X)
        return X

    def prepare(self, X: Floats) -> None:
        """Write the frame's rows, which no group writes."""
        frame = self.plan.rows_of_body(0)
        X[frame] = self.plan.start[frame, None]

    def columns(self, X: Floats, which: Ints, part: Part) -> Floats:
        """Some columns, of the full height, of which the rows are filled that a group reads and writes."""
        rows = self.plan.rows_around(part)
        rows = rows[rows < len(X)]
        Y = np.empty((self.plan.height, len(which)))
        Y[rows] = X[rows[:, None], which]
        return Y

    def _whole(self, X: Floats) -> Floats:
        """A column of the full height."""
        return np.concatenate([X, self.plan.start[len(X) :]])

    def seen(self, X: Floats, limit: float, notes: Floats | None = None) -> tuple[bool, Floats]:
        """Whether all instants are fine; the least reach and distance to a gimbal by group (G, 2)."""
        # ``notes`` are those of :meth:`apart` on all of it.
        Q = self.plan.quality(X)
        return bool(all_fine(self.plan, X, limit).all()), Q[:, [REACH, GIMBAL]].min(axis=2)

    def travelled(self, time: Floats, inputs: Floats) -> Travel:
        """Ways of inputs (3 D, T); there and back counts."""
        (y, v, a), h = (inputs[order::3] for order in range(3)), np.diff(time)
        with np.errstate(all="ignore"):
            ahead = np.maximum(np.abs(v[:, 1:]), 0.5 * h * np.abs(a[:, 1:]))
            behind = np.maximum(np.abs(v[:, :-1]), 0.5 * h * np.abs(a[:, :-1]))
            fast = np.maximum(ahead, behind) * h
            way = np.maximum(np.abs(y[:, 1:] - y[:, :-1]), fast) / self.plan.scale_of_inputs[:, None]
        steps: Floats = way.max(axis=0, initial=0.0)
        return Travel(steps, np.append(0.0, np.cumsum(steps)), float(steps.max(initial=0.0)))

    def ahead(self, way: Way, knots: Knots, course: Course, most: float) -> Course:
        """Go on along the samples of a way in strides of so much at most, as far as machine code can."""
        return course

    def apart(
        self, X: Floats, count: int, limit: float, first: int = 0, parts: Sequence[Part] | None = None
    ) -> Floats | None:
        """Solve the columns first … count - 1 each from its guess, which is where the unknowns stand."""
        # It returns notes, if it takes any, by which :meth:`seen` is quick.
        with np.errstate(all="ignore"):
            for start in range(first, count, BLOCK):
                for part in self.plan.parts if parts is None else parts:
                    self._group(part, X[:, start : min(start + BLOCK, count)], limit)
        return None

    def turns(self, X: Floats, way: Way, start: Floats) -> bool:
        """Count turns of angles on from a column, or keep quaternions in sign, where that is done here."""
        return False

    def some(self, X: Floats, which: Ints) -> None:
        """Solve some columns as :meth:`apart` does, wherever the guess is."""
        Y = X[:, which]
        self.apart(Y, len(which), np.inf)
        X[:, which] = Y

    def one_by_one(self, X: Floats, which: Iterable[int], parts: Sequence[Part]) -> None:
        """Solve some columns as :meth:`apart` does, on floats."""
        for t in which:
            column = X[:, t].tolist()
            for part in parts:
                self._one(part, column, lost=False)
            X[:, t] = column

    def guess(self, X: Floats, time: Floats, first: Ints, knots: Floats, columns: Floats) -> None:
        """Unknowns by quintics between columns at some times, from the samples ``first`` on each."""
        plan, counts, h = self.plan, np.diff(first), np.diff(knots)
        states = [columns[rows] for rows in (plan.q, plan.dq, plan.ddq)]
        left, right = ([a[:, side] for a in states] for side in (np.s_[:-1], np.s_[1:]))
        c = np.array(quintic(left, right, h)).transpose(2, 1, 0)  # by interval: unknowns, powers
        share = (time - np.repeat(knots[:-1], counts)) / np.repeat(h, counts)
        powers = share ** np.arange(6)[:, None]
        for k, (a, b) in enumerate(pairwise(first.tolist())):
            np.matmul(c[k], powers[:, a:b], out=X[plan.q, a:b])

    def again(self, part: Part, X: Floats, limit: float) -> None:
        """One group alone at some instants."""
        with np.errstate(all="ignore"):
            self._group(part, X, limit)

    def steps_from(self, column: Floats, inputs: Floats, time: Floats, alive: Bools) -> tuple[Floats, bool]:
        """The array of a chain: a state, and columns expected each from the one before, at K + 1 times."""
        # It ends with the first column in which one of the groups that are alive is not solved. Then whether
        # all are known to lie on one smooth path.
        steps = np.diff(time)
        plan, X = self.plan, np.zeros((self.plan.height, len(steps) + 1))
        self.prepare(X)
        column = self._whole(column)
        X[:, 0], X[: plan.first_body, 1:] = column, inputs
        now, unknowns, needed = column.tolist(), plan.unknowns, alive.tolist()
        for k, (h, given) in enumerate(zip(steps.tolist(), inputs.T.tolist(), strict=True), 1):
            now[: plan.first_body] = given
            for i in range(plan.q.start, plan.q.stop):
                now[i] += h * (now[i + unknowns] + 0.5 * h * now[i + 2 * unknowns])
            sound = [
                self._one(part, now, lost=not living) for part, living in zip(plan.parts, needed, strict=True)
            ]
            X[:, k] = now
            if any(living and not fine for living, fine in zip(needed, sound, strict=True)):
                return X[:, : k + 1], False
        return X, False

    def _group(self, part: Part, X: Floats, limit: float) -> None:
        routine, geometry, unknowns = part.routine, part.geometry, self.plan.unknowns
        guess = [X[r].copy() for r in part.state]
        q, steps, left = guess, np.zeros(X.shape[1]), np.zeros(X.shape[1])
        if part.n:
            (_, newton), used = routine.newton
            i = [X[r] for r in self.plan.rows(part, used)]
            going = np.ones(X.shape[1], dtype=np.bool_)
            for _ in range(MOST):  # what is there stays: no instant depends on those beside it
                *dx, size_now = newton(i, geometry, q)
                q = [np.where(going, a - b, a) for a, b in zip(q, dx, strict=True)]
                left = np.where(going, size_now, left)
                going = left > TOLERANCE
                steps += going
                if not going.any():
                    break
        far = np.where(left <= TOLERANCE, self._far(part, q, guess), np.inf)
        (_, finish), used = routine.finish
        found = finish([X[r] for r in self.plan.rows(part, used)], geometry, q)
        count = len(part.records)
        *rates, condition, residual, reach, gimbal = found[count:]
        quality = Quality(condition, residual, reach, gimbal, far)
        along = quality._replace(gimbal=1.0, condition=condition if part.n else 1.0)
        placed = self._fine(part, along, limit) & np.isfinite(sum(rates, 0.0 * far))
        fine, legs = (
            placed & self._fine(part, quality, limit),
            len(part.group.links) * self.plan.record.length,
        )
        for k, (r, x) in enumerate(
            zip(part.records, found, strict=False)
        ):  # legs along their pins have no place
            X[r] = np.where(fine if k >= legs else placed, x, np.nan)
        for k, r in enumerate(part.state):
            X[r] = np.where(fine, q[k], guess[k])
            X[r + unknowns] = np.where(fine, rates[k], 0.0)
            X[r + 2 * unknowns] = np.where(fine, rates[part.n + k], 0.0)
        for k, x in enumerate(quality):
            X[part.quality + k] = x
        X[part.quality + STEPS] = steps

    def _fine(self, part: Part, quality: Quality, limit: float) -> Any:
        return is_fine(quality, limit, self.plan.setting.closed, part.flat)

    def _far(self, part: Part, q: Sequence[Any], guess: Sequence[Any]) -> Any:
        if part.routine.linear:  # wherever it is
            return 0.0
        far: Any = 0.0
        for a, b, turn in zip(q, guess, part.group.turns, strict=True):
            far = np.maximum(far, np.abs(a - b) * (1.0 if turn else 1.0 / self.plan.size))
        return far

    def _one(self, part: Part, column: list[float], *, lost: bool) -> bool:
        """Solve the group on floats; bodies of NaN where a root or a quotient does not exist."""
        guess = [column[r] for r in part.state]
        try:
            fine = self._one_sound(part, column, self._by_form(part, column) if lost else guess)
        except OpaqueError:
            raise
        except (ZeroDivisionError, ValueError, OverflowError, TypeError):
            column[part.quality + CONDITION], fine = 0.0, False
        if not fine:  # the unknowns stay where they were expected, at rest
            unknowns = self.plan.unknowns
            for r in part.records.tolist():
                column[r] = math.nan
            for x, r in zip(guess, part.state.tolist(), strict=True):
                column[r], column[r + unknowns], column[r + 2 * unknowns] = x, 0.0, 0.0
        return fine

    def _by_form(self, part: Part, column: list[float]) -> list[float]:
        """The unknowns by a closed form, if there is one, turned to near where they stand."""
        q = [column[r] for r in part.state]
        if part.group.form is None or not part.n:
            return q
        (start, _), used = part.routine.start
        found = start([column[r] for r in self.plan.rows(part, used)], part.geometry)
        whole = 2 * math.pi
        near = zip(found, q, part.group.turns, strict=True)
        return [x + whole * round((old - x) / whole) if turn else x for x, old, turn in near]

    def _one_sound(self, part: Part, column: list[float], guess: list[float]) -> bool:
        routine, geometry, q = part.routine, part.geometry, guess
        steps, left = 0, 0.0
        if part.n:
            (newton, _), used = routine.newton
            i = [column[r] for r in self.plan.rows(part, used)]
            while steps < MOST:
                *dx, left = newton(i, geometry, q)
                q, steps = [a - b for a, b in zip(q, dx, strict=True)], steps + 1
                if not left > TOLERANCE:
                    break
        far = float(self._far(part, q, guess)) if left <= TOLERANCE else math.inf
        (finish, _), used = routine.finish
        found = finish([column[r] for r in self.plan.rows(part, used)], geometry, q)
        count, n, unknowns = len(part.records), part.n, self.plan.unknowns
        *rates, condition, residual, reach, gimbal = found[count:]
        quality = Quality(condition, residual, reach, gimbal, far)
        column[part.quality : part.quality + len(QUALITY)] = [*quality, steps]
        if not (self._fine(part, quality, FINITE) and math.isfinite(sum(rates))):
            return False
        for r, x in zip(part.records.tolist(), found, strict=False):
            column[r] = x
        for k, r in enumerate(part.state.tolist()):
            column[r], column[r + unknowns], column[r + 2 * unknowns] = q[k], rates[k], rates[n + k]
        return True
