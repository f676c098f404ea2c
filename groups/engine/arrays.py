"""The life of Python and NumPy: one instant on floats, many on arrays."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.engine.plan import CONDITION, GIMBAL, QUALITY, REACH, STEPS, TIME
from groups.engine.users import OpaqueError
from mbssa.arrays import Bools, Floats, Ints
from mbssa.graph.nodes import polynomial
from mbssa.joints.axes import whole_turns

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
#: Notes of a group: the least over instants of 0 or, not fine, -1, and of reach and gimbal where signs hold.
NOTES = 3


_NOTHING = ctypes.c_char * 0


def pitch_of(count: int) -> int:
    """Numbers of a row of memory for so many instants, with room for a vector beyond the last."""
    # Rows have an odd number of lines of the cache, so that they do not share its sets.
    lines = 1 - (-count // LINE)
    return LINE * (lines + 1 - lines % 2)


def address_of(array: Any) -> int:
    """Address of numbers that may be written; rows may have a pitch."""
    # It takes a third of the time of NumPy's own attributes.
    return ctypes.addressof(_NOTHING.from_buffer(array[0] if array.ndim > 1 else array))


def aligned(
    rows: int, pitch: int, memory: Callable[[int], Floats] = np.empty, count: int | None = None
) -> Floats:
    """Memory (rows, count) that begins with a line of the cache; all of the pitch if no number is given."""
    raw = memory(rows * pitch + LINE)
    start = -address_of(raw) % (8 * LINE)
    shape = rows, pitch if count is None else count
    return np.ndarray(shape, buffer=raw, offset=start, strides=(8 * pitch, 8))


def is_fine(quality: Sequence[Any] | Floats, limit: Any, closed: float, flat: Any) -> Any:
    """Whether a group is solved, in the mode of the reference, and not far from where it was expected."""
    condition, residual, reach, gimbal, far = quality[:STEPS]
    return (condition > flat) & (residual <= closed) & (reach > EDGE) & (gimbal > EDGE) & (far <= limit)


def all_fine(plan: Plan, X: Floats, limit: Any) -> Bools:
    """(G, T) whether each group is solved at each instant."""
    return np.asarray(is_fine(plan.quality(X).swapaxes(0, 1), limit, plan.setting.closed, plan.flat))


def by_form(plan: Plan, part: Part, numbers: Any, *, many: bool) -> list[Any]:
    """The unknowns by a closed form, if there is one, turned to near where they stand."""
    q = [numbers[r] for r in part.state]
    if part.group.form is None or not part.n:
        return q
    functions, used = part.routine.start
    found = functions[many]([numbers[r] for r in plan.rows(part, used)], part.geometry)
    near = zip(found, q, part.group.turns, strict=True)
    # Floats stay floats of Python's, which raise where they are divided by zero.
    turned = whole_turns if many else lambda angle: float(whole_turns(angle))
    return [x + turned(old - x) if turn else x for x, old, turn in near]


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
        #: Rows of an array whose columns all groups solve together.
        self.height = plan.height

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
        for rows in self.plan.frame[: 1 + (len(X) == self.plan.height)]:
            X[rows] = self.plan.start[rows, None]

    def columns(self, X: Floats, which: Ints, part: Part) -> Floats:
        """Some columns, of the full height, of which the rows are filled that a group reads and writes."""
        plan, rows = self.plan, self.plan.rows_around(part)
        rows = rows[rows < len(X)]
        Y = np.empty((plan.height, len(which)))
        Y[rows] = X[rows[:, None], which]
        if len(X) < plan.height:  # axes were kept for a block only
            mine = [b for k in (*part.known, part.index) for b in plan.parts[k].group.own]
            axes = plan.axes(plan.bodies(Y)[mine])
            Y[plan.first_axes :].reshape(plan.mechanism.n_bodies, -1, len(which))[mine] = axes
        return Y

    def notes_of(self, X: Floats, limit: float) -> Floats:
        """(G + 1, NOTES) the least over the instants of a column of all groups, then of all of these."""
        # 0 or, not fine, -1; the reach, and the distance to a gimbal.
        notes = np.empty((len(self.plan.parts) + 1, NOTES))
        notes[:-1, 0] = all_fine(self.plan, X, limit).all(axis=1) - 1.0
        notes[:-1, 1:] = self.plan.quality(X)[:, [REACH, GIMBAL]].min(axis=2)
        notes[-1] = notes[:-1].min(axis=0, initial=np.inf)
        return notes

    def measure(self, way: Way) -> None:
        """Find by time step the way of the input that goes farthest, then the longest; and the sums."""
        (y, v, a), h = way.inputs, np.diff(way.time)
        with np.errstate(all="ignore"):  # there and back counts
            ends = (np.s_[:, 1:], np.s_[:, :-1])
            rates = (np.maximum(np.abs(v[k]), 0.5 * h * np.abs(a[k])) for k in ends)
            farthest = np.maximum(np.abs(np.diff(y)), np.maximum(*rates) * h)
        way.ways[:-1] = (farthest / way.scale[:, None]).max(axis=0, initial=0.0)
        way.ways[-1], way.sums[0] = way.ways[:-1].max(initial=0.0), 0.0
        np.cumsum(way.ways[:-1], out=way.sums[1:])

    def ahead(self, way: Way, knots: Knots, course: Course, most: float) -> Course:
        """Go on along the samples of a way in strides of so much at most, as far as machine code can."""
        return course

    def apart(
        self, X: Floats, count: int, limit: float, first: int = 0, parts: Sequence[Part] | None = None
    ) -> Floats | None:
        """Solve the columns first … count - 1 each from its guess, which is where the unknowns stand."""
        # It returns notes as those of :meth:`notes_of`, if it takes any.
        with np.errstate(all="ignore"):
            for start in range(first, count, BLOCK):
                for part in self.plan.parts if parts is None else parts:
                    self._group(part, X[:, start : min(start + BLOCK, count)], limit)
        return None

    def turns(self, X: Floats, start: Floats) -> bool:
        """Count turns of angles on from a column, or keep quaternions in sign, where that is done here."""
        return False

    def one_by_one(self, X: Floats, which: Iterable[int], parts: Sequence[Part]) -> None:
        """Solve some columns as :meth:`apart` does, on floats."""
        for t in which:
            column = X[:, t].tolist()
            for part in parts:
                self._one(part, column, lost=False)
            X[:, t] = column

    def guess(self, X: Floats, first: Ints, knots: Floats, columns: Floats) -> None:
        """Unknowns by quintics between columns at some times, from the samples ``first`` on each."""
        plan, counts, h = self.plan, np.diff(first), np.diff(knots)
        states = [columns[rows] for rows in (plan.q, plan.dq, plan.ddq)]
        left, right = ([a[:, side] for a in states] for side in (np.s_[:-1], np.s_[1:]))
        c, time = quintic(left, right, h), X[plan.first_clock + TIME]
        share = (time - np.repeat(knots[:-1], counts)) / np.repeat(h, counts)
        for k, (a, b) in enumerate(pairwise(first.tolist())):  # a product of matrices may round by its place
            X[plan.q, a:b] = polynomial(share[a:b], [of[:, k, None] for of in c])

    def steps_from(self, column: Floats, inputs: Floats, time: Floats, alive: Bools) -> Floats:
        """The array of a chain: a state, and columns expected each from the one before, at K + 1 times."""
        # It ends with the first column in which one of the groups that are alive is not solved.
        steps = np.diff(time)
        plan, X = self.plan, np.zeros((self.plan.height, len(steps) + 1))
        self.prepare(X)
        column = np.concatenate([column, plan.start[len(column) :]])
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
                X = X[:, : k + 1]
                break
        return X[: self.height]

    def _group(self, part: Part, X: Floats, limit: float) -> None:
        unknowns, guess = self.plan.unknowns, [X[r].copy() for r in part.state]
        q, records, rates, quality = self._solved(part, X, guess, many=True)
        condition, residual, reach, _, far, _ = quality
        along = condition if part.n else 1.0, residual, reach, 1.0, far
        finite = np.isfinite(sum(rates, 0.0 * far))
        placed, fine = (
            finite & is_fine(of, limit, self.plan.setting.closed, part.flat) for of in (along, quality)
        )
        legs = len(part.group.links) * self.plan.record.length
        for k, (r, x) in enumerate(zip(part.records, records, strict=True)):
            X[r] = np.where(fine if k >= legs else placed, x, np.nan)  # legs along their pins have no place
        for k, r in enumerate(part.state):
            X[r] = np.where(fine, q[k], guess[k])
            X[r + unknowns] = np.where(fine, rates[k], 0.0)
            X[r + 2 * unknowns] = np.where(fine, rates[part.n + k], 0.0)
        for k, x in enumerate(quality):
            X[part.quality + k] = x

    def _one(self, part: Part, column: list[float], *, lost: bool) -> bool:
        """Solve the group on floats; bodies of NaN where a root or a quotient does not exist."""
        state, unknowns = part.state.tolist(), self.plan.unknowns
        q = guess = [column[r] for r in state]
        records, rates, fine = [math.nan] * len(part.records), [0.0] * (2 * part.n), False
        try:
            found = self._solved(
                part, column, by_form(self.plan, part, column, many=False) if lost else guess, many=False
            )
            column[part.quality : part.quality + len(QUALITY)] = found[3]
            fine = is_fine(found[3], FINITE, self.plan.setting.closed, part.flat) and math.isfinite(
                sum(found[2])
            )
        except OpaqueError:
            raise
        except (ZeroDivisionError, ValueError, OverflowError, TypeError):
            column[part.quality + CONDITION] = 0.0
        if fine:  # else the unknowns stay where they were expected, at rest
            q, records, rates = found[:3]
        for r, x in zip(part.records.tolist(), records, strict=True):
            column[r] = x
        for k, r in enumerate(state):
            column[r], column[r + unknowns], column[r + 2 * unknowns] = q[k], rates[k], rates[part.n + k]
        return bool(fine)

    def _solved(
        self, part: Part, numbers: Any, guess: Sequence[Any], *, many: bool
    ) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
        """Unknowns from a guess, records, rates and quality, on floats or on arrays of instants."""
        routine, geometry, choose = part.routine, part.geometry, np.where if many else _chosen
        q, going = list(guess), True
        steps: Any = 0
        left: Any = 0.0
        far: Any = 0.0
        if part.n:
            functions, used = routine.newton
            i = [numbers[r] for r in self.plan.rows(part, used)]
            for _ in range(MOST):  # what is there stays: no instant depends on those beside it
                *dx, size = functions[many](i, geometry, q)
                q = [choose(going, a - b, a) for a, b in zip(q, dx, strict=True)]
                left = choose(going, size, left)
                going = left > TOLERANCE
                steps = steps + going
                if not (np.any(going) if many else going):
                    break
        if not routine.linear:  # else it is found wherever it is
            for a, b, turn in zip(q, guess, part.group.turns, strict=True):
                off = abs(a - b) * (1.0 if turn else 1.0 / self.plan.size)
                far = choose(off > far, off, far)
        functions, used = routine.finish
        found = functions[many]([numbers[r] for r in self.plan.rows(part, used)], geometry, q)
        count = len(part.records)
        *rates, condition, residual, reach, gimbal = found[count:]
        far = choose(left <= TOLERANCE, far, math.inf)
        return q, list(found[:count]), rates, [condition, residual, reach, gimbal, far, steps]


def _chosen(condition: bool, a: float, b: float) -> float:
    """As NumPy's ``where``, of floats."""
    return a if condition else b
