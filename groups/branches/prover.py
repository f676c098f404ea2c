"""Proofs of all groups over time steps in arrays, and over their halves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.branches.bounds import UnboundedError, along_cubic
from groups.branches.theorem import OFF, PARTS, GroupProof, Implicit, Wanted, at_instants, coordinates_of
from groups.engine.arrays import Life
from groups.engine.solve import making
from mbssa.arrays import Bools, Floats, Ints
from mbssa.graph.source import functions

if TYPE_CHECKING:
    from groups.engine.path import Way
    from groups.engine.plan import Part, Plan
    from groups.engine.routine import Record, Routine

#: Largest of a Hermite cubic's basis function of a rate.
OF_RATE = 4.0 / 27.0
#: Steps of a block: intermediate results stay in the cache.
BLOCK = 1024
#: Halvings of a step at most; steps that are halved at a time, and pieces of these at most.
DEPTH, STEPS, PIECES = 20, 256, 8192


@dataclass(frozen=True, eq=False)
class Proven:
    """A group as it is proven: by its own routine, or by the equations of its closed form."""

    part: Part
    routine: Routine
    geometry: list[float]
    #: Places of its unknowns in radii, and numbers of own bodies that others read, with their rows.
    state: Ints
    rows: list[int]
    printed: _Printed
    #: Rows that the function of instants reads, and row of each input (name, number) whose path is read.
    read: list[int]
    row_of: dict[tuple[str, Any], int]
    first_hard: int


class _Printed:
    """The proof of a group type as functions of arrays."""

    def __init__(self, routine: Routine, own: Sequence[Wanted], *, implicit: bool) -> None:
        graph = routine.graph

        def path(name: str, k: Any) -> list[Any]:
            off = 0.0 if name in ("u", "q", "hard") else graph.input("path", (OFF, name, k))
            return [*(graph.input("path", (part, name, k)) for part in PARTS[:OFF]), off]

        proof = GroupProof(routine, own, path, graph.input("ends", 0))
        (_, self.function), self.used = functions("proof", [], proof.results)
        self.coordinates = coordinates_of(routine) if implicit else []
        stages, results = at_instants(routine, own, self.coordinates)
        self.n_hard = len(results) // 2 - 1 - len(self.coordinates)
        (_, self.at_instants), self.read = functions("instants", stages, results)
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
        """Pieces in order."""
        x = np.concatenate([p.x for p in parts])
        order = np.argsort(x, kind="stable")
        good, radius, box = (
            np.concatenate([getattr(p, name) for p in parts], axis=1)[:, order]
            for name in ("good", "radius", "box")
        )
        return Pieces(x[order], good, radius, box)

    def picked(self, which: Any) -> Pieces:
        """Some of them."""
        return Pieces(self.x[which], self.good[:, which], self.radius[:, which], self.box[:, which])


class Prover:
    """Proofs of the groups of a plan; ``refused`` are the indices of those without."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.refused, self.unknowns = plan, dict[int, str](), plan.unknowns
        self.life = Life(plan)
        printed: dict[object, _Printed] = {}
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
                    by_equations = Implicit(plan, part, routines)
                    group, routine = by_equations.group, by_equations.routine
                    geometry = routine.geometry(group)
                key = routine, own, implicit
                if key not in printed:
                    printed[key] = _Printed(routine, own, implicit=implicit)
            except UnboundedError as refused:
                self.refused[part.index] = str(refused)
                continue
            text = printed[key]
            first = self.unknowns if implicit else int(part.state[0]) - plan.first_state if part.n else 0
            state = first + np.arange(routine.n)
            self.unknowns += routine.n if implicit else 0
            row_of = dict(zip(text.paths, plan.rows_of(group, text.paths), strict=True))
            read |= set(row_of.values())
            rows = [int(plan.rows_of_body(part.group.own[n])[k]) for n, k in own]
            now = plan.rows_of(group, text.read)
            found.append(Proven(part, routine, geometry, state, rows, text, now, row_of, n_hard))
            n_hard += text.n_hard
        self.groups = found[::-1]
        self._rows, self._n_hard = sorted(read), n_hard
        self._place = {row: k for k, row in enumerate(self._rows)}
        self._rates = [_rate_of(plan, row) for row in self._rows]

    # --- single instants -------------------------------------------------------------------------------

    def _instants(self, X: Floats) -> tuple[Floats, Floats, Floats]:
        """Values and rates of what is read along cubics (rows, T); what is left of groups' rows (2, G, T)."""
        # Behind the rows that are read come hard numbers, then the unknowns of all groups.
        plan, count, n = self.plan, X.shape[1], len(self._rows)
        first = n + self._n_hard
        values, rates = np.zeros((2, first + self.unknowns, count))
        values[:n] = X[self._rows]
        for k, rate in enumerate(self._rates):
            rates[k] = X[rate] if isinstance(rate, int) else _of_body(plan.record, X, *rate)
        for array, rows in ((values, plan.q), (rates, plan.dq)):
            array[first : first + plan.unknowns] = X[rows]
        left = np.zeros((2, len(plan.parts), count))
        for of in self.groups:
            state = () if of.printed.coordinates else [X[r] for r in of.part.state]
            speed = () if of.printed.coordinates else [X[r + plan.unknowns] for r in of.part.state]
            given = [X[r] for r in of.read]
            left[0, of.part.index], left[1, of.part.index], *more = of.printed.at_instants(
                given, of.geometry, state, speed
            )
            hard = n + of.first_hard + np.arange(of.printed.n_hard)
            places = [*hard, *(first + of.state if of.printed.coordinates else ())]
            for place, x, rate in zip(places, more, more[len(places) :], strict=False):
                values[place], rates[place] = x, rate
        return values, rates, left

    def _tried(self, X: Floats, x: Floats, left: Ints, right: Ints, h: Floats, usable: Bools) -> Pieces:
        """Steps h (K,) between columns of an array of full height, each in one piece."""
        plan, (radius, box) = self.plan, np.zeros((2, self.unknowns, len(h)))
        good = np.zeros((len(plan.parts), len(h)), dtype=np.bool_)
        found = Pieces(x, good, radius, box)
        with np.errstate(all="ignore"):
            values, rates, (residual, rest) = self._instants(X)
            ends = np.fmax(residual[:, left], residual[:, right])
            ends = ends + OF_RATE * h * (rest[:, left] + rest[:, right])
            for first in range(0, len(h), BLOCK):
                k = slice(first, first + BLOCK)
                a, b = values[:, left[k]], values[:, right[k]]
                before, after = rates[:, left[k]] * h[k], rates[:, right[k]] * h[k]
                self._wind(a, b, 0.5 * (before + after))
                self._block(along_cubic(a, b, before, after), ends[:, k], found, k)
        good &= usable
        for part in plan.parts:
            good[part.index] &= good[list(part.known)].all(axis=0)
        return found

    def regular(self, X: Floats) -> Bools:
        """(G, K) whether each column at rest is proven to be near one regular solution of a group."""
        X, k = with_axes(self.plan, X), np.arange(X.shape[1])
        usable = np.ones((len(self.plan.parts), len(k)), dtype=np.bool_)
        return self._tried(X, k.astype(float), k, k, np.zeros(len(k)), usable).good

    def _wind(self, a: Floats, b: Floats, way: Floats) -> None:
        """Turn principal angles of implicit groups on by whole turns, as their rates say."""
        first = len(self._rows) + self._n_hard
        for of in (of for of in self.groups if of.printed.coordinates):
            for row, turn in zip((first + of.state).tolist(), of.routine.group.turns, strict=True):
                if turn:
                    b[row] += 2 * np.pi * np.round((a[row] + way[row] - b[row]) / (2 * np.pi))

    def _block(self, path: Sequence[Floats], ends: Floats, found: Pieces, k: slice) -> None:
        off: dict[int, Any] = {}
        hard, q = len(self._rows), len(self._rows) + self._n_hard
        for of in self.groups:
            rows, given = of.row_of, list[Any]()
            for name, data in of.printed.used:
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
            (margin, *rest), n = of.printed.function(given, of.geometry), of.routine.n
            found.good[of.part.index, k] = margin > 0.0
            for i, row in enumerate(of.state.tolist()):
                found.radius[row, k], found.box[row, k] = rest[i], rest[n + i]
            if not of.printed.coordinates:
                off |= dict(zip(of.part.state.tolist(), rest[:n], strict=True))
            off |= dict(zip(of.rows, rest[2 * n :], strict=True))

    # --- pieces of steps -----------------------------------------------------------------------------

    def pieces(self, way: Way, begin: int, X: Floats, usable: Bools, depth: int = DEPTH) -> Pieces:
        """Steps from a sample on, whose columns these are, halved so often at most where that helps."""
        X, k = with_axes(self.plan, X), np.arange(X.shape[1] - 1)
        h = np.diff(way.time[begin : begin + X.shape[1]])
        whole = self._tried(X, begin + k.astype(float), k, k + 1, h, usable)
        again = self._worth(whole.good, usable) & (depth > 0)
        found, failing = [whole.picked(~again)], np.flatnonzero(again)
        for k in np.array_split(failing, -(-len(failing) // STEPS) or 1):
            found += self._halves(way, begin, X, k, usable, depth)
        return Pieces.joined(found)

    def _halves(
        self, way: Way, begin: int, X: Floats, k: Ints, usable: Bools, depth: int
    ) -> Iterator[Pieces]:
        """Pieces of some steps, halved until they are proven, or so often."""
        x, left, right = begin + np.stack([k, k + 1.0]), X[:, k], X[:, k + 1]
        for level in range(depth if len(k) else 0):
            middle, count = x.mean(axis=0), x.shape[1]
            columns = np.concatenate([left, self._middle(way, x, left, right), right], axis=1)
            at = np.concatenate([x[0], middle, x[1]])
            i, j = np.arange(2 * count), np.arange(count, 3 * count)
            here = usable[:, at[i].astype(np.intp) - begin]
            halves = self._tried(columns, at[i], i, j, way.time_at(at[j]) - way.time_at(at[i]), here)
            again = self._worth(halves.good, here)
            again &= level < depth - 1 and again.sum() <= PIECES
            yield halves.picked(~again)
            if not again.any():
                return
            i, j = i[again], j[again]
            x, left, right = np.stack([at[i], at[j]]), columns[:, i], columns[:, j]

    def _worth(self, good: Bools, usable: Bools) -> Bools:
        """(K,) where a group fails by itself that is solved at both ends."""
        found = np.zeros(good.shape[1], dtype=np.bool_)
        for part in () if good.all() else self.plan.parts:
            if part.index not in self.refused:
                found |= ~good[part.index] & usable[part.index] & good[list(part.known)].all(axis=0)
        return found

    def _middle(self, way: Way, x: Floats, left: Floats, right: Floats) -> Floats:
        """Solved columns in the middle of pieces."""
        plan, h = self.plan, way.time_at(x[1]) - way.time_at(x[0])
        Y = self.life.storage(x.shape[1])
        Y[: plan.first_body] = way.at(x.mean(axis=0))
        Y[plan.q] = 0.5 * (left[plan.q] + right[plan.q]) + h / 8.0 * (left[plan.dq] - right[plan.dq])
        self.life.apart(Y, x.shape[1], np.inf)
        rows = plan.turning
        Y[rows] += 2 * np.pi * np.round((0.5 * (left[rows] + right[rows]) - Y[rows]) / (2 * np.pi))
        return Y

    def meet(self, pieces: Pieces) -> Bools:
        """(G, K - 1) whether tubes have the same solution where they meet, if both are proven."""
        e, R = pieces.radius, pieces.box
        forth, back = e[:, :-1] <= R[:, 1:], e[:, 1:] <= R[:, :-1]
        found = np.ones((len(self.plan.parts), len(pieces.x) - 1), dtype=np.bool_)
        for of in self.groups:
            found[of.part.index] = forth[of.state].all(axis=0) | back[of.state].all(axis=0)
        return found | ~pieces.good[:, :-1]


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
    """Rate of a number of a body's pose."""
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
