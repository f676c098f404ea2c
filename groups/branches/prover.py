"""Proofs of all groups over time steps in arrays, and over pieces of these."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from groups.branches.bounds import UnboundedError, along_cubic
from groups.branches.theorem import (
    OFF,
    PARTS,
    GroupProof,
    Wanted,
    at_instants,
    by_equations,
    coordinates_of,
    ends_of,
)
from groups.engine.arrays import Life, quintic
from groups.engine.plan import price_of, seconds_of
from groups.engine.solve import life_of, making
from mbssa.arrays import Bools, Floats, Ints
from mbssa.graph.nodes import polynomial
from mbssa.graph.source import functions
from mbssa.joints.axes import whole_turns

if TYPE_CHECKING:
    from groups.branches.machine import CompiledTests
    from groups.engine.kinematics import Group
    from groups.engine.path import Way
    from groups.engine.plan import Part, Plan
    from groups.engine.routine import Record, Routine

#: Margins (G, K), and radii e and R (n, K), of steps.
Tubes: TypeAlias = tuple[Floats, Floats, Floats]
#: Steps of a block: intermediate results stay in the cache.
BLOCK = 1024
#: Ends of the pieces into which a step is divided; divisions at most; numbers of the columns of the steps
#: that are divided at a time, and of their pieces at most.
SHARES = np.linspace(0.0, 1.0, 9)[:, None]
DEPTH, STEPS, PIECES = 10, 2**18, 2**24
#: Speed-up of machine code, roughly.
FASTER = 10.0
#: Divisions of which all pieces may fail that are divided once more.
SURE = 2


@dataclass(frozen=True, eq=False)
class Proven:
    """A group as it is proven: by its own routine, or by the equations of its closed form."""

    part: Part
    group: Group
    routine: Routine
    geometry: list[float]
    #: Places of its unknowns in radii, and numbers of own bodies that others read, with their rows.
    state: Ints
    rows: list[int]
    test: Test
    #: Rows that the function of instants reads, and row of each input (name, number) whose path is read.
    read: list[int]
    row_of: dict[tuple[str, Any], int]
    first_hard: int


class Test:
    """The test of a group type over instants and over steps, as nodes and as functions of arrays."""

    def __init__(self, routine: Routine, own: Sequence[Wanted], *, implicit: bool) -> None:
        self.routine, graph = routine, routine.graph

        def path(name: str, k: Any) -> list[Any]:
            off = 0.0 if name in ("u", "q", "hard") else graph.input("path", (OFF, name, k))
            return [*(graph.input("path", (part, name, k)) for part in PARTS[:OFF]), off]

        self.results = GroupProof(routine, own, path, graph.input("ends", 0)).results
        (_, self.function), self.used = functions("proof", [], self.results)
        self.coordinates = coordinates_of(routine) if implicit else []
        self.stages, self.instants = at_instants(routine, own, self.coordinates)
        self.n_hard = len(self.instants) // 2 - 1 - len(self.coordinates)
        (_, self.at_instants), self.read = functions("instants", self.stages, self.instants)
        staged = [x for _, nodes in self.stages for x in nodes]
        self.operations = sum(len(graph.needed(of)) for of in (self.results, [*staged, *self.instants]))
        found = dict.fromkeys(data[1:] for name, data in self.used if name == "path")
        #: Inputs (name, number) whose paths are read, but for those that the group has itself.
        self.paths = [x for x in found if x[0] not in ("hard", "q")]


@dataclass(frozen=True, eq=False)
class Pieces:
    """Pieces of steps in the order of time: where they begin, what is proven (G, K), radii e and R (n, K)."""

    x: Floats
    good: Bools
    radius: Floats
    box: Floats

    @staticmethod
    def joined(parts: Sequence[Pieces]) -> Pieces:
        x = np.concatenate([p.x for p in parts])
        order = np.argsort(x, kind="stable")
        good, radius, box = (
            np.concatenate([getattr(p, name) for p in parts], axis=1)[:, order]
            for name in ("good", "radius", "box")
        )
        return Pieces(x[order], good, radius, box)

    def picked(self, which: Any) -> Pieces:
        return Pieces(self.x[which], self.good[:, which], self.radius[:, which], self.box[:, which])


class Prover:
    """Proofs of the groups of a plan; ``refused`` are the indices of those without."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.refused, self.unknowns = plan, set[int](), plan.unknowns
        printed: dict[object, Test] = {}
        routines: dict[object, Routine] = {}
        read, found, n_hard = set[int](), list[Proven](), 0
        for part in reversed(plan.parts):
            own = tuple(
                (n, k)
                for n, b in enumerate(part.group.own)
                for k, row in enumerate(plan.rows_of_body(b).tolist())
                if row in read
            )
            try:
                group, routine, geometry = part.group, part.routine, part.geometry
                implicit = bool(own) and group.direct
                if implicit:
                    group, routine = by_equations(plan, part, routines)
                    geometry = routine.geometry(group)
                key = routine, own, implicit
                if key not in printed:
                    printed[key] = Test(routine, own, implicit=implicit)
            except UnboundedError:
                self.refused.add(part.index)
                continue
            text = printed[key]
            first = self.unknowns if implicit else int(part.state[0]) - plan.first_state if part.n else 0
            state = first + np.arange(routine.n)
            self.unknowns += routine.n if implicit else 0
            row_of = dict(zip(text.paths, plan.rows_of(group, text.paths), strict=True))
            read |= set(row_of.values())
            rows = [int(plan.rows_of_body(part.group.own[n])[k]) for n, k in own]
            now = plan.rows_of(group, text.read)
            found.append(Proven(part, group, routine, geometry, state, rows, text, now, row_of, n_hard))
            n_hard += text.n_hard
        self.groups = found[::-1]
        self.rows, self.n_hard = sorted(read), n_hard
        self._place = {row: k for k, row in enumerate(self.rows)}
        self._rates = [_rate_of(plan, row) for row in self.rows]
        #: The same tests as machine code, once they are made, and the seconds that NumPy has taken.
        self.compiled: CompiledTests | None = None
        self._spent, self._operations = 0.0, sum(of.test.operations for of in self.groups)
        self._price = price_of(sum(test.operations for test in printed.values()))
        #: (G,) groups that have a proof, and so has what they hang on.
        has_proof = np.array([part.index not in self.refused for part in plan.parts], dtype=np.bool_)
        self.sure = self.with_needs(has_proof[:, None])[:, 0]

    def seconds(self, columns: int, *, compiled: bool = False) -> float:
        """Seconds of the tests of so many columns, roughly."""
        plain = seconds_of(self._operations, columns)
        if not (compiled and self.plan.is_printable):
            return plain
        return min(plain, plain / FASTER + (0.0 if self.compiled else 2.0 * self._price))

    def tests(self, columns: int, *, compiled: bool) -> Callable[[Floats, int, Floats], Tubes]:
        """The tests of so many columns, by machine code where that may be and pays."""
        if not (compiled and self.plan.is_printable):
            return self._tubes
        if self.compiled is None:
            self._spent += self.seconds(columns)
            if self._spent > self._price:
                self.compile()
        return self._tubes if self.compiled is None else self.compiled.tubes

    def compile(self) -> None:
        """Make machine code of the tests, once."""
        with making:
            if self.compiled is None:
                from groups.branches.machine import CompiledTests

                self.compiled = CompiledTests(self)

    def _instants(self, X: Floats) -> tuple[Floats, Floats, Floats]:
        """Values and rates of what is read along cubics (rows, T); what is left of groups' rows (2, G, T)."""
        # Behind the rows that are read come hard numbers, then the unknowns of all groups.
        plan, count, n = self.plan, X.shape[1], len(self.rows)
        first = n + self.n_hard
        values, rates = np.zeros((2, first + self.unknowns, count))
        values[:n] = X[self.rows]
        for k, rate in enumerate(self._rates):
            rates[k] = X[rate] if isinstance(rate, int) else _of_body(plan.record, X, *rate)
        for array, rows in ((values, plan.q), (rates, plan.dq)):
            array[first : first + plan.unknowns] = X[rows]
        left = np.zeros((2, len(plan.parts), count))
        for of in self.groups:
            state = () if of.test.coordinates else [X[r] for r in of.part.state]
            speed = () if of.test.coordinates else [X[r + plan.unknowns] for r in of.part.state]
            given = [X[r] for r in of.read]
            left[0, of.part.index], left[1, of.part.index], *more = of.test.at_instants(
                given, of.geometry, state, speed
            )
            hard = n + of.first_hard + np.arange(of.test.n_hard)
            places = [*hard, *(first + of.state if of.test.coordinates else ())]
            for place, x, rate in zip(places, more, more[len(places) :], strict=False):
                values[place], rates[place] = x, rate
        return values, rates, left

    def tried(self, X: Floats, x: Floats, apart: int, h: Floats, usable: Bools, *, compiled: bool) -> Pieces:
        """Steps h (K,) between columns of an array and those so far to the right, each in one piece."""
        with np.errstate(all="ignore"):
            margin, radius, box = self.tests(len(h), compiled=compiled)(X, apart, h)
        return Pieces(x, self.with_needs((margin > 0.0) & usable), radius, box)

    def with_needs(self, good: Bools) -> Bools:
        """Groups (G, K) that are good and hang on good ones alone; in place."""
        for part in () if good.all() else self.plan.parts:
            good[part.index] &= good[list(part.known)].all(axis=0)
        return good

    def _tubes(self, X: Floats, apart: int, h: Floats) -> Tubes:
        """Margins (G, K), and radii e and R (n, K), of steps."""
        count = len(h)
        found = np.full((len(self.plan.parts), count), -1.0), *np.zeros((2, self.unknowns, count))
        values, rates, left = self._instants(with_axes(self.plan, X))
        residual, rest = ([of[:, :count], of[:, apart : apart + count]] for of in left)
        ends = ends_of(residual, rest, h)
        for first in range(0, count, BLOCK):
            k = slice(first, min(first + BLOCK, count))
            right = slice(k.start + apart, k.stop + apart)
            a, b = values[:, k], values[:, right].copy()
            before, after = rates[:, k] * h[k], rates[:, right] * h[k]
            self._wind(a, b, 0.5 * (before + after))
            self._block(along_cubic(a, b, before, after), ends[:, k], found, k)
        return found

    def regular(self, X: Floats) -> Bools:
        """(G, K) whether each column at rest is proven to be near one regular solution of a group."""
        count = X.shape[1]
        usable = np.ones((len(self.plan.parts), count), dtype=np.bool_)
        return self.tried(X, np.arange(float(count)), 0, np.zeros(count), usable, compiled=False).good

    def _wind(self, a: Floats, b: Floats, way: Floats) -> None:
        """Turn principal angles of implicit groups on by whole turns, as their rates say."""
        first = len(self.rows) + self.n_hard
        for of in (of for of in self.groups if of.test.coordinates):
            for row, turn in zip((first + of.state).tolist(), of.routine.group.turns, strict=True):
                if turn:
                    b[row] += whole_turns(a[row] + way[row] - b[row])

    def _block(self, path: Sequence[Floats], ends: Floats, found: Tubes, k: slice) -> None:
        (margins, radii, boxes), off = found, dict[int, Any]()
        hard, q = len(self.rows), len(self.rows) + self.n_hard
        for of in self.groups:
            rows, given = of.row_of, list[Any]()
            for name, data in of.test.used:
                part, kind, number = data if name == "path" else (-1, name, 0)
                if kind == "ends":
                    given.append(ends[of.part.index])
                elif part == OFF:
                    given.append(off.get(rows[kind, number], np.nan))
                elif kind == "hard":
                    given.append(path[part][hard + of.first_hard + number])
                elif kind == "q":
                    given.append(path[part][q + of.state[number]])
                else:
                    given.append(path[part][self._place[rows[kind, number]]])
            (margin, *rest), n = of.test.function(given, of.geometry), of.routine.n
            margins[of.part.index, k] = margin
            for i, row in enumerate(of.state.tolist()):
                radii[row, k], boxes[row, k] = rest[i], rest[n + i]
            if not of.test.coordinates:
                off |= dict(zip(of.part.state.tolist(), rest[:n], strict=True))
            off |= dict(zip(of.rows, rest[2 * n :], strict=True))

    def pieces(
        self, way: Way, begin: int, X: Floats, usable: Bools, depth: int = DEPTH, *, compiled: bool = False
    ) -> Pieces:
        """Steps from a sample on, whose columns these are, divided so often at most where that helps."""
        k = np.arange(X.shape[1] - 1)
        h = np.diff(way.time[begin : begin + X.shape[1]])
        whole = self.tried(X, begin + k.astype(float), 1, h, usable, compiled=compiled)
        again = self._worth(whole.good, usable) & (depth > 0)
        if not again.any():
            return whole
        found, failing = [whole.picked(~again)], np.flatnonzero(again)
        for k in np.array_split(failing, -(-len(failing) * len(X) // STEPS) or 1):
            found += self._divided(way, begin, X, k, usable, depth, life_of(self.plan, compiled))
        return Pieces.joined(found)

    def _divided(
        self, way: Way, begin: int, X: Floats, k: Ints, usable: Bools, depth: int, life: Life
    ) -> Iterator[Pieces]:
        """Pieces of some steps, divided until they are proven, or so often."""
        X = X[: life.height]  # without the axes that plans of routes keep
        x, left, right = begin + np.stack([k, k + 1.0]), X[:, k], X[:, k + 1]
        for level in range(depth if len(k) else 0):
            count = x.shape[1]
            at = (x[0] + SHARES * (x[1] - x[0])).ravel()
            inside = at[count:-count]
            columns = np.concatenate([left, self._between(life, way, x, inside, left, right), right], axis=1)
            time, here = way.time_at(at), usable[:, at[:-count].astype(np.intp) - begin]
            h = time[count:] - time[:-count]
            found = self.tried(columns, at[:-count], count, h, here, compiled=life is self.plan.machine)
            again = self._worth(found.good, here)
            if level >= SURE:  # near a singular position, or a break of a curve, most pieces are proven
                siblings = again.reshape(-1, count).sum(axis=0)
                again &= np.tile(2 * siblings <= len(again) // count, len(again) // count)
            again &= level < depth - 1 and again.sum() * len(X) <= PIECES
            yield found.picked(~again)
            if not again.any():
                return
            i = np.flatnonzero(again)
            x, left, right = np.stack([at[i], at[i + count]]), columns[:, i], columns[:, i + count]

    def _worth(self, good: Bools, usable: Bools) -> Bools:
        """(K,) where a group fails by itself that is solved at both ends."""
        found = np.zeros(good.shape[1], dtype=np.bool_)
        for part in () if good.all() else self.plan.parts:
            if part.index not in self.refused:
                found |= ~good[part.index] & usable[part.index] & good[list(part.known)].all(axis=0)
        return found

    def _between(self, life: Life, way: Way, x: Floats, at: Floats, left: Floats, right: Floats) -> Floats:
        """Solved columns inside of pieces, from the quintics between their ends."""
        plan, Y, shape = self.plan, life.storage(len(at)), (-1, len(SHARES) - 2, x.shape[1])
        before, after = ([X[rows] for rows in (plan.q, plan.dq, plan.ddq)] for X in (left, right))
        guess = quintic(before, after, way.time_at(x[1]) - way.time_at(x[0]))
        rows, s = plan.turning, SHARES[1:-1]
        Y[: plan.first_body] = way.at(at)
        Y[plan.q].reshape(shape)[:] = polynomial(s, [c[:, None] for c in guess])
        life.apart(Y, len(at), np.inf)
        turned = left[rows, None] + s * (right[rows, None] - left[rows, None])
        Y[rows] += whole_turns(turned.reshape(-1, len(at)) - Y[rows])
        return Y

    def meet(self, before: Pieces, after: Pieces) -> Bools:
        """(G, K) whether tubes, if proven, have the same solution as those before where they meet."""
        forth = before.radius <= after.box
        found = np.ones(before.good.shape, dtype=np.bool_)
        if forth.all():
            return found
        back = after.radius <= before.box
        for of in self.groups:
            found[of.part.index] = forth[of.state].all(axis=0) | back[of.state].all(axis=0)
        return found | ~before.good


def _rate_of(plan: Plan, row: int) -> int | tuple[Ints, int]:
    """Row of the rate of a number that is read; of a body's pose its rows and the place in the record."""
    if row < plan.first_body:
        return row + 1
    if plan.first_state <= row < plan.first_quality:
        return row + plan.unknowns
    stored, axes = plan.record.stored, plan.record.length - plan.record.stored
    if row < plan.first_state:
        b, k = divmod(row - plan.first_body, stored)
    else:
        b, k = divmod(row - plan.first_axes, axes)
        k += stored
    return plan.rows_of_body(b), k


def _of_body(record: Record, X: Floats, rows: Ints, k: int) -> Any:
    return record.rate(lambda i: X[rows[i]], k)


def with_axes(plan: Plan, X: Floats) -> Floats:
    """An array of full height: machine code keeps axes for a block only."""
    if len(X) == plan.height:
        return X
    return np.concatenate([X, plan.axes(plan.bodies(X)).reshape(-1, X.shape[1])])


def prover_of(plan: Plan) -> Prover:
    """The proofs of a plan, which are printed once."""
    with making:  # threads may prove motions of one model
        if plan.prover is None:
            plan.prover = Prover(plan)
        return plan.prover
