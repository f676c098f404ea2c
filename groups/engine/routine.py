"""A group type as graphs: Newton's step, and rates, bodies and quality at the solution.

Groups of one type share a routine: zeros and ones that all of them have are constants, other numbers of their
geometry are inputs.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from mbssa.graph.frames import Frame, Motion, cross, minus, quaternion
from mbssa.graph.derivative import Direction, derivative
from mbssa.graph.nodes import (
    Graph,
    above,
    absolute,
    atan2,
    largest,
    least,
    neg,
    sqrt,
)
from mbssa.graph.linear import factorised, least_squares, pivot_order
from mbssa.graph.source import functions

#: Longest step of Newton's method, rad or sizes of the mechanism.
LONGEST = 1.0
#: Newton's last step is so many times shorter where there are curves.
FINER = 1e3
#: A twin's pivots may be so much smaller, beside its own best, than those of the group that is traced.
TWIN = 0.02


class Record:
    """Places of a body's numbers in its record; the first ``stored`` are part of the answer."""

    def __init__(self, planar):
        self.planar = planar
        if planar:
            self.position, self.turn = (0, 1), 2
            self.velocity, self.acceleration = (3, 4, 5), (6, 7, 8)
            self.axes, self.stored, self.length = (9, 10), 9, 11
        else:
            self.position, self.turn = (0, 1, 2), 3
            self.velocity, self.acceleration = tuple(range(7, 13)), tuple(range(13, 19))
            self.axes, self.stored, self.length = tuple(range(19, 28)), 19, 28
        n, m = len(self.position), len(self.velocity)
        first = self.velocity[0], self.acceleration[0]
        turn = self.turn if planar else slice(3, 7)
        #: Where position, orientation, velocity and acceleration are.
        self.outputs = (slice(0, n), turn, *(slice(k, k + m) for k in first))

    def values(self, position, rotation, angle):
        """The record of a body at rest."""
        found = np.zeros(self.length)
        found[list(self.position)] = position[: len(self.position)]
        if self.planar:
            found[list(self.axes)], found[self.turn] = rotation[:2, 0], angle
        else:
            found[list(self.axes)] = rotation.ravel()
            found[3:7] = quaternion(rotation.T.tolist(), above, sqrt)
        return found

    def written(self, frame, velocity, acceleration):
        """The record of a frame and its rates (linear, angular)."""
        (v, w), (a, b) = velocity, acceleration
        if self.planar:
            return [*frame.place[:2], frame.angle, *v[:2], w[2], *a[:2], b[2], *frame.axes[0][:2]]
        rotation = [frame.axes[c][r] for r in range(3) for c in range(3)]
        return [*frame.place, *quaternion(frame.axes, above, sqrt), *v, *w, *a, *b, *rotation]


class Inputs:
    """Numbers of a group as inputs of a graph, named in the order in which it uses them."""

    def __init__(self, graph, group, record, constant):
        self.graph, self.uses, self.record = graph, group.uses, record
        self._geometry, self._at = {}, 0
        numbers, k = np.flatnonzero(~constant), 0
        place = dict(zip(numbers.tolist(), range(len(numbers)), strict=True))
        for key, nested in group.uses.given.items():
            flat = np.ravel(np.array(nested, dtype=float))
            made = [
                graph.input("g", place[k + i]) if k + i in place else float(x) for i, x in enumerate(flat)
            ]
            k += len(flat)
            self._geometry[key] = np.array(made, dtype=object).reshape(np.shape(nested)).tolist()

    def unknown(self, k):
        return self.graph.input("q", k)

    def drive(self, row):
        return self.graph.input("u", 3 * self.uses.drives[row])

    def solved(self, j, name):
        return self.graph.input("c", 3 * self.uses.solved[j, name])

    def given(self, key, _):
        return self._geometry[key]

    def body(self, b):
        n, get = self.uses.bodies[b], self._of_body(b)
        place = [get(k) for k in self.record.position]
        if not self.record.planar:
            R = [get(k) for k in self.record.axes]
            return Frame(place, [R[0::3], R[1::3], R[2::3]], 0.0, Motion(None, body=n))
        c, s = (get(k) for k in self.record.axes)
        axes = [[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]
        return Frame([*place, 0.0], axes, get(self.record.turn), Motion(None, body=n))

    def _of_body(self, b):
        n = self.uses.bodies[b]
        return lambda k: self.graph.input("b", (n, k))

    def _rates(self, n, which):
        """Linear and angular rates of a body, of the origin."""
        x = [self.graph.input("b", (n, k)) for k in which]
        return (x[:3], x[3:]) if len(x) == 6 else ([x[0], x[1], 0.0], [0.0, 0.0, x[2]])

    def _twist(self, n):
        v, w = self._rates(n, self.record.velocity)
        return minus(v, cross(w, self._place(n))), w

    def _place(self, n):
        x = [self.graph.input("b", (n, k)) for k in self.record.position]
        return x if len(x) == 3 else [*x, 0.0]

    def time(self, frozen=""):
        """The direction of time; the rate of the inputs ``frozen`` is left out."""

        def of(name, k):
            if name == frozen or name == "g":
                return 0.0
            if name in ("q", "dq"):
                return self.graph.input("d" + name, k)
            if name in ("u", "c"):
                return self.graph.input(name, k + 1)
            return self._rate_of_body(*k)

        return Direction(of, self._twist)

    def _rate_of_body(self, n, k):
        record = self.record
        if k in record.velocity:
            return self.graph.input("b", (n, record.acceleration[record.velocity.index(k)]))
        v, w = self._rates(n, record.velocity)
        if k in record.position:
            return v[record.position.index(k)]
        if record.planar:
            c, s = (self.graph.input("b", (n, i)) for i in record.axes)
            return {record.axes[0]: -s * w[2], record.axes[1]: c * w[2], record.turn: w[2]}[k]
        row, column = divmod(record.axes.index(k), 3)
        axis = [self.graph.input("b", (n, record.axes[3 * r + column])) for r in range(3)]
        return cross(w, axis)[row]


class Routine:
    """What all groups of one type do; ``group`` is the one that was traced."""

    def __init__(self, group, record, constant, column):
        self.group, self.record, self.constant = group, record, constant
        self.n, self.size = len(group.names), float(group.frames.size)
        self.graph = Graph()
        inputs = self.inputs = Inputs(self.graph, group, record, constant)
        self.bodies, self.rows = group.evaluate(inputs)
        self.jacobian = self._jacobian()
        self.redundant = len(self.rows) > self.n
        self.order = self.pivots = None
        self.order = self.order_of(*self.numbers(group, column))
        self._solve()

    def _jacobian(self):
        """Derivatives of the rows (rows, n)."""
        columns = []
        for j in range(self.n):
            by = Direction(lambda name, k, j=j: 1.0 if (name, k) == ("q", j) else 0.0)
            columns.append(derivative(self.rows, by))
        return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in self.rows]

    # --- of one group --------------------------------------------------------------------------------

    def geometry(self, group):
        """Numbers of the geometry of a group that shares the routine."""
        return flat_geometry(group)[~self.constant].tolist()

    def numbers(self, group, column):
        """Jacobian of a group at its reference, by numbers, and the names of its unknowns."""
        shape = (len(self.rows), self.n)
        if not self.n:
            return np.zeros(shape), group
        (floats, _), used = functions("jacobian", [], [x for row in self.jacobian for x in row])
        given = [column(name, k) for name, k in used]
        return np.array(floats(given, self.geometry(group), group.start)).reshape(shape), group

    def order_of(self, J, group):
        """Order of pivots for a group.

        Raises
        ------
        ValueError
            Fewer rows than unknowns.
        """
        if not self.n:
            return []
        if len(J) < self.n:
            raise ValueError(f"{len(J)} equations do not determine {group.names}")
        with np.errstate(all="ignore"):
            return pivot_order(J.T @ J if self.redundant else J)

    def pivots_at(self, J):
        """Pivots of a Jacobian by numbers, and its condition."""
        if not self.n:
            return [], 1.0
        matrix = J.T @ J if self.redundant else J
        with np.errstate(all="ignore"):
            _, pivots = factorised(matrix.tolist(), self.order)
        sizes = np.linalg.svd(J * [1.0 if turn else self.size for turn in self.group.turns], compute_uv=False)
        return pivots, float(sizes[-1] / sizes[0])

    def suits(self, J, group):
        """Whether a twin's pivots are large enough in this routine's order."""
        mine = np.abs(self.pivots_at(J)[0])
        _, best = factorised((J.T @ J if self.redundant else J).tolist(), self.order_of(J, group))
        return not self.n or mine.min() > TWIN * np.min(np.abs(best))

    # --- graphs --------------------------------------------------------------------------------------

    def _solve(self):
        J, projected = least_squares(self.jacobian) if self.redundant and self.n else (self.jacobian, list)
        if not self.n:
            back, pivots = (lambda _: []), []
        else:
            back, pivots = factorised(J, self.order)
        self._projected = projected
        # ---- Newton's step, of limited length, and its size
        dx, scales = back(projected(self.rows)), [1.0 if t else self.size for t in self.group.turns]
        self.step = [largest(least(x, LONGEST * s), -LONGEST * s) for x, s in zip(dx, scales, strict=True)]
        by = FINER if self.group.curved else 1.0  # curves have pieces: no quadratic end across a break
        self.length = self._largest([x * (by / s) for x, s in zip(dx, scales, strict=True)])
        # ---- rates
        time = self.inputs.time()
        self.first_side = derivative(self.rows, self.inputs.time("q"))
        self.second_side = derivative(derivative(self.rows, time), self.inputs.time("dq"))
        self.first = [neg(x) for x in back(projected(self.first_side))]
        self.second = [neg(x) for x in back(projected(self.second_side))]
        self.records = [x for b in self.group.own for x in self._record(self.bodies[b], time)]
        # ---- quality
        shared = len(self.geometry(self.group))
        shares = [p * self.graph.input("g", shared + k) for k, p in enumerate(pivots)]
        self.n_pivots = len(pivots)
        condition = self._signed_least(shares)
        if self.redundant and shares:
            condition = sqrt(largest(condition, 0.0))
        self.quality = [
            least(condition, 1.0) if shares else 1.0,
            self._largest(self.rows),
            self._least(self.group.reach),
            self._least(self.group.gimbal),
        ]

    def _record(self, frame, time):
        velocity = derivative(frame.place, time), frame.motion.twist(time)[1]
        acceleration = tuple(derivative(x, time) for x in velocity)
        found = self.record.written(frame, velocity, acceleration)
        if self.group.form is not None:  # its turns are counted afterwards, over all instants
            found[self.record.turn] = atan2(*frame.axes[0][1::-1])
        return found

    @staticmethod
    def _largest(numbers):
        found = 0.0
        for k, x in enumerate(numbers):
            found = largest(found, absolute(x)) if k else absolute(x)
        return found

    def _least(self, numbers):
        """The least of some squares over the mechanism's, 1 if there are none."""
        found = 1.0
        for k, x in enumerate(numbers):
            share = x * (1.0 / self.size**2)
            found = least(found, share) if k else share
        return found

    @staticmethod
    def _signed_least(shares):
        """Size of the least, with the sign of the product; 1 if there are none."""
        if not shares:
            return 1.0
        product, small = shares[0], absolute(shares[0])
        for x in shares[1:]:
            product, small = product * x, least(small, absolute(x))
        return above(product, small, -small)

    # --- the same as Python --------------------------------------------------------------------------

    @cached_property
    def newton(self):
        """(steps, size) by the unknowns: functions of floats and of arrays, and the inputs that they take."""
        return functions("newton", [], [*self.step, self.length])

    @cached_property
    def finish(self):
        """Records, first and second rates, quality."""
        stages = [("dq", self.first), ("ddq", self.second)]
        results = [*self.records, *self._inputs("dq"), *self._inputs("ddq"), *self.quality]
        return functions("finish", stages, results)

    @cached_property
    def system(self):
        """Rows and Jacobian, for solves with free pivots."""
        return functions("system", [], [*self.rows, *(x for row in self.jacobian for x in row)])

    @cached_property
    def sides(self):
        """Right sides of the first and second rates; the second takes the first."""
        return functions("first", [], self.first_side), functions("second", [], self.second_side)

    @cached_property
    def given_rates(self):
        """Records by given rates of the unknowns, and the quality."""
        return functions("given_rates", [], [*self.records, *self.quality])

    def _inputs(self, name):
        return [self.graph.input(name, k) for k in range(self.n)]

    @cached_property
    def operations(self):
        """Numbers of operations of Newton's step and of the rest."""
        parts = [*self.step, self.length], [*self.first, *self.second, *self.records, *self.quality]
        return tuple(
            sum(self.graph.nodes[i][0] not in ("in", "const", "moved") for i in self.graph.needed(p))
            for p in parts
        )


def flat_geometry(group):
    """All numbers of the geometry that a group uses, in order of use."""
    parts = [np.ravel(np.array(x, dtype=float)) for x in group.uses.given.values()]
    return np.concatenate([np.zeros(0), *parts])


def constants_of(twins):
    """(numbers,) bool: which are 0, 1 or -1 in all twins."""
    every = np.array([flat_geometry(group) for group in twins])
    return (every == every[0]).all(axis=0) & np.isin(every[0], (0.0, 1.0, -1.0))
