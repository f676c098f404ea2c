"""Proofs of all groups over time steps in arrays, and over pieces of these."""

# Rows of instants are those of the engine's array X but for the axes; then those of V: axes of bodies and
# their rates, what is left of groups' equations, hard numbers, unknowns of closed forms, and the rates of
# these. W is of steps: margins, radii e and R of the unknowns, what bodies are off, the lengths of
# the steps, and not a number. Places are (array, row), of X and V for either end of a step.

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from groups.branches.bounds import UnboundedError, along_cubic
from groups.branches.theorem import Test, by_equations
from groups.engine.arrays import Life, quintic
from groups.engine.plan import price_of, seconds_of
from groups.engine.solve import life_of, making
from mbssa.arrays import Bools, Floats, Ints
from mbssa.graph.nodes import polynomial
from mbssa.joints.axes import whole_turns

if TYPE_CHECKING:
    from groups.branches.machine import CompiledTests
    from groups.engine.path import Way
    from groups.engine.plan import Part, Plan
    from groups.engine.routine import Routine

#: Margins (G, K) of steps, and radii e and R (2, n, K).
Tubes: TypeAlias = tuple[Floats, Floats]
Place: TypeAlias = tuple[int, int]
#: Arrays: X and V, each at the left and at the right end of a step; W; then the parts of paths.
X_ROWS, V_ROWS, W_ROWS, PATHS = 0, 2, 4, 5
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
    test: Test
    #: Places of its unknowns in radii; rows of these, of what is left of its equations and of hard numbers,
    #: by name; and of own numbers that others read.
    state: Ints
    numbers: dict[str, list[int]]
    own: list[int]


@dataclass(frozen=True, eq=False)
class Pieces:
    """Pieces of steps by time: where they begin, what is proven (G, K), radii e and R (2, n, K)."""

    x: Floats
    good: Bools
    radii: Floats

    def picked(self, which: Any) -> Pieces:
        return Pieces(self.x[which], self.good[:, which], self.radii[..., which])


class Prover:
    """Proofs of the groups of a plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.unknowns = plan, plan.unknowns
        printed: dict[object, Test] = {}
        routines: dict[object, Routine] = {}
        read, groups = set[int](), list[Proven]()
        first = row = 2 * plan.height - plan.first_axes  # of numbers, behind axes and their rates
        for part in reversed(plan.parts):
            own = {
                (n, k): r
                for n, b in enumerate(part.group.own)
                for k, r in enumerate(plan.rows_of_body(b).tolist())
                if r in read
            }
            implicit = bool(own) and part.group.direct
            try:
                one = by_equations(plan, part, routines) if implicit else part
                key = one.routine, tuple(own), implicit
                if key not in printed:
                    printed[key] = Test(one.routine, tuple(own), implicit=implicit)
            except UnboundedError:
                continue
            test, state, q = printed[key], part.state - plan.first_state, part.state.tolist()
            left, *numbers = range(row, row + len(test.instants) // 2)
            row += 1 + len(numbers)
            if implicit:
                q, state = numbers[len(test.hard) :], self.unknowns + np.arange(one.routine.n)
                self.unknowns += one.routine.n
            rows = {"left": [left], "hard": numbers[: len(test.hard)], "q": q}
            groups.append(Proven(one, test, state, rows, list(own.values())))
            read |= {self.row(groups[-1], *data) for name, data in test.used if name == "off"}
        self.groups, self._numbers = groups[::-1], row - first
        #: Rows of W: of what rows of own numbers are off, of the lengths of steps, and of not a number.
        self._off, self.step = dict[int, int](), len(plan.parts) + 2 * self.unknowns
        for of in self.groups:
            self._off |= zip(of.numbers["q"], (len(plan.parts) + of.state).tolist(), strict=True)
            self._off |= zip(of.own, range(self.step, self.step + len(of.own)), strict=True)
            self.step += len(of.own)
        self.never, self.height = self.step + 1, row + self._numbers - plan.first_axes
        paths = {self.row(of, *key): of.test.winds(*key) for of in self.groups for key in of.test.paths}
        self._path = number = {row: k for k, row in enumerate(sorted(paths))}
        #: Rows of paths and of their rates in X and V, and numbers of those that go on by their rates.
        self._rows = [
            (rows[rows < plan.first_axes], rows[rows >= plan.first_axes] - plan.first_axes)
            for rows in (np.array([*of], dtype=np.intp) for of in (number, map(self.rate, number)))
        ]
        self._winding = [k for row, k in number.items() if paths[row]]
        #: By group, what its functions of instants and of steps read, and where they write.
        self._calls = [
            (
                of,
                [self.place(of, *key) for key in of.test.read],
                [self.place(of, *key) for key in of.test.used],
                *self.writes(of),
            )
            for of in self.groups
        ]
        #: Bodies whose axes are read.
        axes, width = range(plan.first_axes, plan.height), plan.record.length - plan.record.stored
        turned = [row for row in paths if row in axes]
        turned += [plan.first_axes + row for call in self._calls for array, row in call[1] if array == V_ROWS]
        self.bodies = sorted({(row - plan.first_axes) // width for row in turned})
        #: The same tests as machine code, once they are made, and the seconds that NumPy has taken.
        self.compiled: CompiledTests | None = None
        self._spent, self._operations = 0.0, sum(of.test.operations for of in self.groups)
        self._price = price_of(sum(test.operations for test in printed.values()))
        #: (G,) groups that have a proof, and so has what they hang on.
        has_proof = np.zeros((len(plan.parts), 1), dtype=np.bool_)
        has_proof[[of.part.index for of in self.groups]] = True
        self.sure = self.with_needs(has_proof)[:, 0]

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

    # --- places ----------------------------------------------------------------------------------------

    def row(self, of: Proven, kind: str, k: Any) -> int:
        """Row of a number of instants that a group's functions read."""
        if kind == "dq":
            return self.rate(of.numbers["q"][k])
        return of.numbers[kind][k] if kind in of.numbers else self.plan.rows_of(of.part.group, [(kind, k)])[0]

    def rate(self, row: int) -> int:
        """Row of the rate of a number."""
        plan = self.plan
        if row < plan.first_body:
            return row + 1
        if row < plan.first_state:  # a place, or the angle behind it
            k = (row - plan.first_body) % plan.record.stored
            return row - k + plan.record.velocity[k]
        if row < plan.first_quality:
            return row + plan.unknowns
        return row + (plan.height - plan.first_axes if row < plan.height else self._numbers)

    def of_row(self, row: int, side: int = 0) -> Place:
        """Place of a row of instants at an end of a step."""
        first = self.plan.first_axes
        return (X_ROWS + side, row) if row < first else (V_ROWS + side, row - first)

    def place(self, of: Proven, name: str, k: Any) -> Place:
        """Place of an input of a group's functions."""
        if name == "path":
            return PATHS + k[0], self._path[self.row(of, *k[1:])]
        if name == "step":
            return W_ROWS, self.step
        if name == "off":
            return W_ROWS, self._off.get(self.row(of, *k), self.never)
        if name in ("value", "rate"):
            row = self.row(of, *k[:2])
            return self.of_row(row if name == "value" else self.rate(row), k[2])
        return self.of_row(self.row(of, name, k))

    def writes(self, of: Proven) -> tuple[list[Place], list[Place]]:
        """Places that a group's functions of instants and of steps write."""
        groups, test = len(self.plan.parts), of.test
        rows = [
            row for name in ("left", "hard", "q")[: 2 + bool(test.coordinates)] for row in of.numbers[name]
        ]
        steps = [of.part.index, *(groups + of.state), *(groups + self.unknowns + of.state)]
        steps += [self._off[row] for row in of.own]
        rows += map(self.rate, rows.copy())
        return [self.of_row(row) for row in rows], [(W_ROWS, int(row)) for row in steps]

    # --- tests by NumPy --------------------------------------------------------------------------------

    def _instants(self, X: Floats) -> Floats:
        """V for the columns of X."""
        plan, record, at = self.plan, self.plan.record, self.bodies
        V, bodies = np.zeros((self.height, X.shape[1])), plan.bodies(X)
        axes, rates = V[: 2 * (plan.height - plan.first_axes)].reshape(2, len(bodies), -1, X.shape[1])
        axes[at] = (
            X[plan.first_axes :].reshape(axes.shape)[at] if len(X) == plan.height else plan.axes(bodies[at])
        )

        def number(i: int) -> Floats:
            return bodies[at, i] if i < record.stored else axes[at, i - record.stored]

        for k, i in enumerate(record.axes):
            rates[at, k] = record.rate(number, i)
        arrays = X, X, V
        for of, reads, _, writes, _ in self._calls:
            rows = () if of.test.coordinates else of.numbers["q"]
            state, speed = [X[r] for r in rows], [X[r + plan.unknowns] for r in rows]
            given = [arrays[array][row] for array, row in reads]
            for (_, row), x in zip(
                writes, of.test.at_instants(given, of.part.geometry, state, speed), strict=True
            ):
                V[row] = x
        return V

    def _tubes(self, X: Floats, apart: int, h: Floats) -> Tubes:
        """Margins and radii of steps h (K,) between columns and those so far to the right."""
        V, W, w = self._instants(X), np.zeros((self.never + 1, len(h))), self._winding
        W[: len(self.plan.parts)], W[self.step], W[self.never] = -1.0, h, np.nan
        for begin in range(0, len(h), BLOCK):
            k = slice(begin, min(begin + BLOCK, len(h)))
            right = slice(k.start + apart, k.stop + apart)
            (a, b), (before, after) = (
                [np.concatenate([X[rows, side], V[more, side]]) for side in (k, right)]
                for rows, more in self._rows
            )
            before, after = before * h[k], after * h[k]
            b[w] += whole_turns((a + 0.5 * (before + after) - b)[w])
            path = along_cubic(a, b, before, after)
            arrays = X[:, k], X[:, right], V[:, k], V[:, right], W[:, k], *path
            for of, _, reads, _, writes in self._calls:
                given = [arrays[array][row] for array, row in reads]
                for (_, row), x in zip(writes, of.test.over_steps(given, of.part.geometry), strict=True):
                    arrays[W_ROWS][row] = x
        return self.tubes_of(W)

    def tubes_of(self, W: Floats) -> Tubes:
        """Margins and radii in W."""
        groups, behind = len(self.plan.parts), len(self.plan.parts) + 2 * self.unknowns
        return W[:groups], W[groups:behind].reshape(2, self.unknowns, W.shape[1])

    def tried(self, X: Floats, x: Floats, apart: int, h: Floats, usable: Bools, *, compiled: bool) -> Pieces:
        """Steps h (K,) between columns of an array and those so far to the right, each in one piece."""
        with np.errstate(all="ignore"):
            margin, radii = self.tests(len(h), compiled=compiled)(X, apart, h)
        return Pieces(x, self.with_needs((margin > 0.0) & usable), radii)

    def with_needs(self, good: Bools) -> Bools:
        """Groups (G, K) that are good and hang on good ones alone; in place."""
        for part in () if good.all() else self.plan.parts:
            good[part.index] &= good[list(part.known)].all(axis=0)
        return good

    # --- pieces ----------------------------------------------------------------------------------------

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
        each = zip(*((of.x, of.good, of.radii) for of in found), strict=True)
        joined = Pieces(*(np.concatenate(arrays, axis=-1) for arrays in each))
        return joined.picked(np.argsort(joined.x, kind="stable"))

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
        forth = before.radii[0] <= after.radii[1]
        found = np.ones(before.good.shape, dtype=np.bool_)
        if forth.all():
            return found
        back = after.radii[0] <= before.radii[1]
        for of in self.groups:
            found[of.part.index] = forth[of.state].all(axis=0) | back[of.state].all(axis=0)
        return found | ~before.good


def prover_of(plan: Plan) -> Prover:
    """The proofs of a plan, which are printed once."""
    with making:  # threads may prove motions of one model
        if plan.prover is None:
            plan.prover = Prover(plan)
        return plan.prover
