"""Proofs of the groups of a motion in arrays: its steps, their halves, and the way to the first instant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.branches.bounds import UnboundedError, along_cubic
from groups.branches.theorem import (
    OFF,
    PARTS,
    GroupProof,
    Implicit,
    Wanted,
    at_instants,
    coordinates_of,
    hard_numbers,
)
from groups.engine.arrays import Life
from groups.engine.path import Follower, Way
from groups.engine.solve import counted, turns_between
from mbssa.arrays import Bools, Floats, Ints
from mbssa.graph.frames import cross
from mbssa.graph.source import functions

if TYPE_CHECKING:
    from groups.engine.plan import Part, Plan
    from groups.engine.routine import Record, Routine

#: Largest of a Hermite cubic's basis function of a rate.
OF_RATE = 4.0 / 27.0
#: Steps of a block: intermediate results stay in the cache.
BLOCK = 1024
#: Halvings of a step at most, and pieces at a time.
DEPTH, PIECES = 20, 4096
#: Time steps of a window, at first and at most.
WINDOW, WIDEST = 256, 4096
#: Way of an input in a step from the reference to the first instant, rad or sizes.
LEAD = 0.1
#: How far two equal states may be apart, rad or sizes.
SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Proven:
    """A group as it is proven: by its own routine, or by the equations of its closed form."""

    part: Part
    routine: Routine
    geometry: list[float]
    #: Places of its unknowns in radii, and numbers of own bodies that others read, with their rows.
    state: Ints
    own: tuple[Wanted, ...]
    rows: list[int]
    printed: _Printed
    inputs: tuple[list[int], list[int]]
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
        self.n_hard = len(hard_numbers(routine, own))
        stages, results = at_instants(routine, own, self.coordinates)
        (_, self.at_instants), self.read = functions("instants", stages, results)

    @property
    def paths(self) -> list[tuple[str, Any]]:
        """Inputs (name, number) whose paths are read, but for those that the group has itself."""
        found = dict.fromkeys(data[1:] for name, data in self.used if name == "path")
        return [x for x in found if x[0] not in ("hard", "q")]


class Prover:
    """Proofs of the groups of a plan; ``refused`` are the indices of those without."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.refused, self.unknowns = plan, dict[int, str](), plan.unknowns
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
            inputs = plan.rows_of(group, text.read), plan.rows_of(group, text.paths)
            read |= set(inputs[1])
            rows = [int(plan.rows_of_body(part.group.own[n])[k]) for n, k in own]
            found.append(Proven(part, routine, geometry, state, own, rows, text, inputs, n_hard))
            n_hard += text.n_hard
        self.groups = found[::-1]
        #: Groups that are proven by their equations, whose unknowns stand in no row of the array.
        self.implicit = [of for of in self.groups if of.printed.coordinates]
        self._rows, self._n_hard = sorted(read), n_hard
        self._place = {row: k for k, row in enumerate(self._rows)}
        self._rates = [_rate_of(plan, row) for row in self._rows]

    # --- single instants -------------------------------------------------------------------------------

    def _instants(self, X: Floats) -> tuple[Floats, Floats, Floats]:
        """Values and rates of what is read along cubics (rows, T); what is left of groups' rows (2, G, T)."""
        # Behind the rows that are read come hard numbers, then the unknowns of all groups.
        plan, count = self.plan, X.shape[1]
        n = len(self._rows)
        values, rates = np.zeros((2, n + self._n_hard + self.unknowns, count))
        values[:n] = X[self._rows]
        for k, rate in enumerate(self._rates):
            rates[k] = X[rate] if isinstance(rate, int) else _of_body(plan.record, X, *rate)
        first = n + self._n_hard
        values[first : first + plan.unknowns], rates[first : first + plan.unknowns] = X[plan.q], X[plan.dq]
        left = np.zeros((2, len(plan.parts), count))
        for of in self.groups:
            state = () if of.printed.coordinates else [X[r] for r in of.part.state]
            speed = () if of.printed.coordinates else [X[r + plan.unknowns] for r in of.part.state]
            given = [X[r] for r in of.inputs[0]]
            left[0, of.part.index], left[1, of.part.index], *more = of.printed.at_instants(
                given, of.geometry, state, speed
            )
            hard = n + of.first_hard + np.arange(of.printed.n_hard)
            places = [*hard, *(first + of.state if of.printed.coordinates else ())]
            for place, x, rate in zip(places, more, more[len(places) :], strict=False):
                values[place], rates[place] = x, rate
        return values, rates, left

    def verdict(self, X: Floats, left: Ints, right: Ints, h: Floats) -> Verdict:
        """The verdict of steps h (K,) between columns ``left`` and ``right`` of an array of full height."""
        with np.errstate(all="ignore"):
            values, rates, (residual, rest) = self._instants(X)
            ends = np.fmax(residual[:, left], residual[:, right])
            ends = ends + OF_RATE * h * (rest[:, left] + rest[:, right])
            found = Verdict.empty(self, len(h))
            for first in range(0, len(h), BLOCK):
                k = slice(first, first + BLOCK)
                a, b = values[:, left[k]], values[:, right[k]]
                before, after = rates[:, left[k]] * h[k], rates[:, right[k]] * h[k]
                self._wind(a, b, 0.5 * (before + after))
                self._block(along_cubic(a, b, before, after), ends[:, k], found, k)
        return found

    def _wind(self, a: Floats, b: Floats, way: Floats) -> None:
        """Turn principal angles of implicit groups on by whole turns, as their rates say."""
        first = len(self._rows) + self._n_hard
        for of in self.implicit:
            for row, turn in zip((first + of.state).tolist(), of.routine.group.turns, strict=True):
                if turn:
                    b[row] += 2 * np.pi * np.round((a[row] + way[row] - b[row]) / (2 * np.pi))

    def _block(self, path: Sequence[Floats], ends: Floats, found: Verdict, k: slice) -> None:
        off: dict[int, Any] = {}
        hard, q = len(self._rows), len(self._rows) + self._n_hard
        for of in self.groups:
            rows, given = dict(zip(of.printed.paths, of.inputs[1], strict=True)), list[Any]()
            for name, data in of.printed.used:
                if name == "ends":
                    given.append(ends[of.part.index])
                    continue
                part, kind, number = data
                if part == OFF:
                    given.append(off.get(rows[kind, number], np.nan))
                elif kind == "hard":
                    given.append(path[part][hard + of.first_hard + number])
                elif kind == "q":
                    given.append(path[part][q + of.state[number]])
                else:
                    given.append(path[part][self._place[rows[kind, number]]])
            margin, *rest = of.printed.function(given, of.geometry)
            n = of.routine.n
            found.margin[of.part.index, k] = margin
            for i, row in enumerate(of.state.tolist()):
                found.radius[row, k], found.box[row, k] = rest[i], rest[n + i]
            if not of.printed.coordinates:
                off |= dict(zip(of.part.state.tolist(), rest[:n], strict=True))
            off |= dict(zip(of.rows, rest[2 * n :], strict=True))


@dataclass(frozen=True, eq=False)
class Verdict:
    """Of groups over steps: margins (G, K), positive where proven; radii e and R of all unknowns (n, K)."""

    margin: Floats
    radius: Floats
    box: Floats

    @staticmethod
    def empty(prover: Prover, steps: int) -> Verdict:
        """Nothing is proven."""
        n = prover.unknowns
        return Verdict(np.full((len(prover.plan.parts), steps), -1.0), *np.zeros((2, n, steps)))

    def good(self, plan: Plan) -> Bools:
        """(G, K) proven, with all groups that they hang on."""
        found: Bools = self.margin > 0.0
        return _with_known(plan, found)


def _with_known(plan: Plan, found: Bools) -> Bools:
    for part in plan.parts:
        found[part.index] &= found[list(part.known)].all(axis=0)
    return found


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
    if k in record.position:
        return X[rows[record.velocity[record.position.index(k)]]]
    if record.planar:
        (c, s), w = X[rows[list(record.axes)]], X[rows[record.velocity[2]]]
        return {record.axes[0]: -s * w, record.axes[1]: c * w, record.turn: w}[k]
    row, column = divmod(record.axes.index(k), 3)
    axis = [X[rows[record.axes[3 * r + column]]] for r in range(3)]
    return cross([X[rows[i]] for i in record.velocity[3:]], axis)[row]


# --- along a motion ------------------------------------------------------------------------------------


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


class MotionProof:
    """Which groups are proven to be on the branch of the reference, up to which instants of a motion."""

    def __init__(self, plan: Plan, prover: Prover) -> None:
        self.plan, self.life, self.prover = plan, Life(plan), prover
        self._refused = np.array([part.index in prover.refused for part in plan.parts], dtype=np.bool_)

    def up_to(self, way: Way, X: Floats, solved: Bools, goes_on: Callable[[Bools], bool]) -> Bools:
        """(G, n) whether groups are proven up to an instant; ``solved`` (G, T) where they are solved."""
        # ``goes_on`` is told what is known after each window of time steps, and ends it by False.
        instants = X.shape[1]
        found, last, done, window = np.zeros_like(solved), None, 0, WINDOW
        while done < instants - 1 or not done:
            stop = min(done + window, instants - 1)
            columns, usable = _with_axes(self.plan, X[:, done : stop + 1]), solved[:, done : stop + 1]
            pieces = self._pieces(way, done, columns, usable[:, 1:] & usable[:, :-1])
            if not done:
                first = pieces.picked([0]) if stop else None
                found[:, 0] = solved[:, 0] & self._from_reference(way, columns[:, 0], first)
            if stop:
                pieces.good[:, 1:] &= self._joined(pieces)
                if last is not None:
                    pieces.good[:, :1] &= self._joined(Pieces.joined([last, pieces.picked([0])]))
                starts = np.searchsorted(pieces.x, np.arange(done, stop))
                steps = np.logical_and.reduceat(pieces.good, starts, axis=1)
                steps[:, 0] &= found[:, done]
                found[:, done + 1 : stop + 1] = np.logical_and.accumulate(steps, axis=1)
                last = pieces.picked([-1])
            found[:, : stop + 1] &= ~self._refused[:, None]
            known = _with_known(self.plan, found[:, : stop + 1])
            if not goes_on(known) or stop == instants - 1:
                break
            done, window = stop, min(2 * window, WIDEST)
        return known

    # --- pieces --------------------------------------------------------------------------------------

    def _pieces(self, way: Way, begin: int, X: Floats, usable: Bools) -> Pieces:
        """Steps from a sample on, whose columns these are, halved where that helps."""
        k = np.arange(X.shape[1] - 1)
        h = np.diff(way.time[begin : begin + X.shape[1]])
        whole = self._tried(X, begin + k.astype(float), k, k + 1, h, usable)
        again = self._worth(whole.good, usable)
        found, k = [whole.picked(~again)], np.flatnonzero(again)
        x, left, right = begin + np.stack([k, k + 1.0]), X[:, k], X[:, k + 1]
        for depth in range(DEPTH):
            if not x.shape[1]:
                break
            middle, count = x.mean(axis=0), x.shape[1]
            columns = np.concatenate([left, self._middle(way, x, left, right), right], axis=1)
            at = np.concatenate([x[0], middle, x[1]])
            i, j = np.arange(2 * count), np.arange(count, 3 * count)
            here = usable[:, at[i].astype(np.intp) - begin]
            halves = self._tried(columns, at[i], i, j, way.time_at(at[j]) - way.time_at(at[i]), here)
            again = self._worth(halves.good, here)
            again &= depth < DEPTH - 1 and again.sum() <= PIECES
            found.append(halves.picked(~again))
            i, j = i[again], j[again]
            x, left, right = np.stack([at[i], at[j]]), columns[:, i], columns[:, j]
        return Pieces.joined(found)

    def _tried(self, X: Floats, x: Floats, left: Ints, right: Ints, h: Floats, usable: Bools) -> Pieces:
        verdict = self.prover.verdict(X, left, right, h)
        return Pieces(x, verdict.good(self.plan) & usable, verdict.radius, verdict.box)

    def _worth(self, good: Bools, usable: Bools) -> Bools:
        """(K,) where a group fails by itself that is solved at both ends."""
        found = np.zeros(good.shape[1], dtype=np.bool_)
        for part in () if good.all() else self.plan.parts:
            if not self._refused[part.index]:
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

    # --- from piece to piece -------------------------------------------------------------------------

    def _joined(self, pieces: Pieces, apart: Floats | float = 0.0) -> Bools:
        """(G, K - 1) whether neighbouring tubes have the same solution where they meet."""
        e, R = pieces.radius, pieces.box
        forth, back = e[:, :-1] + apart <= R[:, 1:], e[:, 1:] + apart <= R[:, :-1]
        found = np.ones((len(self.plan.parts), len(pieces.x) - 1), dtype=np.bool_)
        for of in self.prover.groups:
            found[of.part.index] = forth[of.state].all(axis=0) | back[of.state].all(axis=0)
        return found

    def _from_reference(self, way: Way, column: Floats, first: Pieces | None) -> Bools:
        """(G,) whether the first column is on the branch of the reference."""
        plan = self.plan
        start = Follower(plan, self.life).start_near(way.inputs[0::3, 0])
        away = np.abs(way.inputs[0::3, 0] - start[: plan.first_body : 3])
        if not (away > SAME).any():
            return self._near(column, start, first)
        columns, lead = self._lead(way, start)
        if lead is None:
            return np.zeros(len(plan.parts), dtype=np.bool_)
        lead.good[:, 1:] &= self._joined(lead)
        good: Bools = lead.good.all(axis=1) & self._near(columns[:, 0], start, lead.picked([0]))
        reached = columns[:, -1]
        if first is None:
            return good & self._near(column, reached, first)
        both = Pieces.joined([replace(lead.picked([-1]), x=first.x - 1.0), first])
        apart = np.zeros((self.prover.unknowns, 1))
        apart[: plan.unknowns, 0] = np.abs(reached[plan.q] - column[plan.q])
        return good & self._joined(both, apart)[:, 0]

    def _near(self, column: Floats, other: Floats, piece: Pieces | None) -> Bools:
        """(G,) whether unknowns are the same within a tube, and within Newton's error without one."""
        plan = self.plan
        box = 1e-7 * plan.scale if piece is None else (piece.box - piece.radius)[: plan.unknowns, 0]
        near = np.abs(column[plan.q] - other[plan.q]) <= np.fmax(box, SAME * plan.scale)
        return np.array([near[part.state - plan.first_state].all() for part in plan.parts], dtype=np.bool_)

    def _lead(self, way: Way, start: Floats) -> tuple[Floats, Pieces | None]:
        """Columns, and pieces, of the straight way from a column to the first instant."""
        plan = self.plan
        straight = Way.straight(start[: plan.first_body : 3], way.inputs[0::3, 0], way.scale)
        x = np.linspace(0.0, 1.0, int(np.ceil(straight.travel[0] / LEAD)) + 1)
        divided = Way(x, straight.at(x), way.scale)
        steps = np.diff(x, prepend=0.0)  # the first is none: for the rates at the reference
        columns = self.life.steps_from(start, divided.inputs, steps, plan.alive)[0][:, 1:]
        if columns.shape[1] < len(x) or not plan.alive.all():
            return columns, None
        rows = plan.turning
        columns[rows] = counted(
            columns[rows], turns_between(plan, rows, columns, x, start[rows])[0], start[rows]
        )
        return columns, self._pieces(
            divided, 0, columns, np.ones((len(plan.parts), len(x) - 1), dtype=np.bool_)
        )


def _with_axes(plan: Plan, X: Floats) -> Floats:
    """An array of full height: machine code keeps axes for a block only."""
    if len(X) == plan.height:
        return X
    return np.concatenate([X, plan.axes(plan.bodies(X)).reshape(-1, X.shape[1])])
