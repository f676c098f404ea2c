"""A group type as graphs: Newton's step, and rates, bodies and quality at the solution."""

# Zeros and ones that all groups of a type have are constants, other numbers of their geometry are inputs.

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, reduce
from operator import mul
from typing import Any, TypeAlias

import numpy as np

from groups.engine.dense import MANY, Dense, inverse_of
from groups.engine.kinematics import Group, Name
from mbssa.arrays import Bools, Floats
from mbssa.graph.derivative import Direction, Twist, derivative
from mbssa.graph.evaluation import evaluated
from mbssa.graph.frames import Frame, Motion, cross, minus, quaternion
from mbssa.graph.linear import factorised, least_squares, pivot_order
from mbssa.graph.nodes import Graph, Node, Number, above, absolute, atan2, is_node, largest, least, neg, sqrt
from mbssa.graph.source import Printed, functions

#: Unknowns of a right side.
Solve: TypeAlias = Callable[[Sequence[Number]], list[Number]]
#: Longest step of Newton's method, rad or sizes of the mechanism.
LONGEST = 1.0
#: Newton's last step is so many times shorter where there are curves.
FINER = 1e3
#: A twin's pivots may be so much smaller, beside its own best, than those of the group that is traced.
TWIN = 0.02


class Record:
    """Places of a body's numbers in its record; the first ``stored`` are part of the answer."""

    def __init__(self, planar: bool) -> None:
        self.planar, n, m = planar, 2 if planar else 3, 3 if planar else 6
        self.turn, first = n, 3 if planar else 7  # of orientation, and of velocity
        self.stored = first + 2 * m
        self.length = self.stored + (2 if planar else 9)
        self.position, self.axes = tuple(range(n)), tuple(range(self.stored, self.length))
        self.velocity, self.acceleration = (tuple(range(k, k + m)) for k in (first, first + m))
        turn = self.turn if planar else slice(n, first)
        #: Where position, orientation, velocity and acceleration are.
        self.outputs: tuple[Any, ...] = (
            slice(0, n),
            turn,
            slice(first, first + m),
            slice(first + m, self.stored),
        )

    def values(self, position: Floats, rotation: Floats, angle: float) -> Floats:
        """The record of a body at rest."""
        found = np.zeros(self.length)
        found[list(self.position)] = position[: len(self.position)]
        if self.planar:
            found[list(self.axes)], found[self.turn] = rotation[:2, 0], angle
        else:
            found[list(self.axes)] = rotation.ravel()
            found[3:7] = quaternion(rotation.T.tolist(), above, sqrt)
        return found

    def written(self, frame: Frame, velocity: Twist, acceleration: Twist) -> list[Number]:
        """The record of a frame and its rates (linear, angular)."""
        (v, w), (a, b) = velocity, acceleration
        if self.planar:
            return [*frame.place[:2], frame.angle, *v[:2], w[2], *a[:2], b[2], *frame.axes[0][:2]]
        rotation = [frame.axes[c][r] for r in range(3) for c in range(3)]
        return [*frame.place, *quaternion(frame.axes, above, sqrt), *v, *w, *a, *b, *rotation]

    def rate(self, number: Callable[[int], Number], k: int) -> Number:
        """Rate of a number of a pose; ``number`` gives those of the record by their place."""
        if k in self.position:
            return number(self.velocity[self.position.index(k)])
        if self.planar:
            w, (c, s) = number(self.velocity[2]), map(number, self.axes)
            return {self.axes[0]: -s * w, self.axes[1]: c * w, self.turn: w}[k]
        row, column = divmod(self.axes.index(k), 3)
        axis = [number(self.axes[3 * r + column]) for r in range(3)]
        return cross([number(i) for i in self.velocity[3:]], axis)[row]


class Inputs:
    """Numbers of a group as inputs of a graph, named in the order in which it uses them."""

    def __init__(self, graph: Graph, group: Group, record: Record, constant: Bools) -> None:
        self.graph, self.uses, self.record = graph, group.uses, record
        self._geometry: dict[Name, Any] = {}
        numbers, k = np.flatnonzero(~constant), 0
        place = dict(zip(numbers.tolist(), range(len(numbers)), strict=True))
        for key, nested in group.uses.given.items():
            flat = np.ravel(np.array(nested, dtype=float))
            made: list[Number] = [
                graph.input("g", place[k + i]) if k + i in place else float(x) for i, x in enumerate(flat)
            ]
            k += len(flat)
            self._geometry[key] = np.array(made, dtype=object).reshape(np.shape(nested)).tolist()

    def unknown(self, k: int) -> Node:
        return self.graph.input("q", k)

    def drive(self, row: int) -> Node:
        return self.graph.input("u", 3 * self.uses.drives[row])

    def solved(self, j: int, name: str) -> Node:
        return self.graph.input("c", 3 * self.uses.solved[j, name])

    def given(self, key: Name, _: Any) -> Any:
        return self._geometry[key]

    def body(self, b: int) -> Frame:
        n, record = self.uses.bodies[b], self.record
        place, R = self._numbers(n, record.position), self._numbers(n, record.axes)
        motion = Motion(None, body=n)
        if not record.planar:
            return Frame(place, [R[0::3], R[1::3], R[2::3]], 0.0, motion)
        c, s = R
        axes = [[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]
        return Frame([*place, 0.0], axes, self._numbers(n, [record.turn])[0], motion)

    def _numbers(self, n: int, places: Iterable[int]) -> list[Number]:
        return [self.graph.input("b", (n, k)) for k in places]

    def _twist(self, n: int) -> Twist:
        x, place = (self._numbers(n, places) for places in (self.record.velocity, self.record.position))
        v, w = x[:3], x[3:]
        if self.record.planar:
            v, w, place = [*x[:2], 0.0], [0.0, 0.0, x[2]], [*place, 0.0]
        return minus(v, cross(w, place)), w

    def time(self, frozen: str = "") -> Direction:
        """The direction of time; the rate of the inputs ``frozen`` is left out."""

        def of(name: str, k: Any) -> Number:
            if name == frozen or name == "g":
                return 0.0
            if name in ("q", "dq"):
                return self.graph.input("d" + name, k)
            if name in ("u", "c"):
                return self.graph.input(name, k + 1)
            record, (n, place) = self.record, k
            if place in record.velocity:
                return self.graph.input("b", (n, record.acceleration[record.velocity.index(place)]))
            return record.rate(lambda k: self._numbers(n, [k])[0], place)

        return Direction(of, self._twist)


class Routine:
    """Steps, rates and quality of all groups of one type; ``group`` is the one that was traced."""

    # ``reference(name, k)`` are its numbers at its reference, from which the order of pivots follows.
    def __init__(
        self, group: Group, record: Record, constant: Bools, reference: Callable[[str, Any], Number]
    ) -> None:
        group.prepare()
        self.group, self.record, self.constant = group, record, constant
        self.n, self.size = len(group.names), float(group.frames.size)
        self.scales = [1.0 if turn else self.size for turn in group.turns]
        self.graph = Graph()
        inputs = self.inputs = Inputs(self.graph, group, record, constant)
        self.bodies, self.rows = group.evaluate(inputs)
        #: What is positive where the signs of closed forms and of legs hold.
        self.squares = [*group.reach, *group.gimbal]
        self.jacobian = jacobian_of(self.graph, self.rows, self.n)
        self.redundant = len(self.rows) > self.n
        #: Whether the unknowns are found by a linear system, so that there is one mode.
        needed = self.graph.needed([x for row in self.jacobian for x in row])
        of_unknowns = (self.graph.nodes[i] for i in needed)
        self.linear = not any(op == "in" and data[0] == "q" for op, _, data in of_unknowns)
        if len(self.rows) < self.n:
            raise ValueError(f"{len(self.rows)} equations do not determine {group.names}")
        self.dense = self.n >= MANY
        self.order = [] if self.dense else self._order_of(self.jacobians_at(1, reference)[0])
        self._solve()

    def geometry(self, group: Group) -> list[float]:
        """Numbers of the geometry of a group that shares the routine."""
        return list(group.geometry[~self.constant].tolist())

    def signs_of(self, group: Group) -> dict[Name, list[int]]:
        """Places of signs of roots in the geometry of a group that shares the routine, by name."""
        place = np.cumsum(~self.constant) - 1
        return {name: place[places].tolist() for name, places in _signs(group).items()}

    def jacobians_at(self, count: int, reference: Callable[[str, Any], Number]) -> Floats:
        """(count, rows, n) Jacobians of groups whose numbers are these."""
        with np.errstate(all="ignore"):
            entries = evaluated([x for row in self.jacobian for x in row], reference)
        J = np.array([np.broadcast_to(x, count) for x in entries]).reshape(len(self.rows), self.n, count)
        return np.asarray(np.nan_to_num(J.transpose(2, 0, 1)))

    @np.errstate(all="ignore")
    def _order_of(self, J: Floats) -> list[tuple[int, int]]:
        return pivot_order(J.T @ J if self.redundant else J) if self.n else []

    @np.errstate(all="ignore")
    def pivots_at(self, J: Floats, order: list[tuple[int, int]] | None = None) -> Floats:
        """(pivots, groups) of the Jacobians of some groups, in the routine's order or another."""
        if not self.n:
            return np.zeros((0, len(J)))
        if self.dense:
            return np.array([inverse_of(J, np.array(self.scales)).pivot])
        watched = np.swapaxes(J, -1, -2) @ J if self.redundant else J
        return np.array(factorised(list(map(list, watched.transpose(1, 2, 0))), order or self.order)[1])

    def conditions_at(self, J: Floats) -> Floats:
        """(groups,) least singular value of scaled Jacobians over the largest, 0 where all are zero."""
        if not self.n:
            return np.ones(len(J))
        sizes = np.linalg.svd(J * self.scales, compute_uv=False)
        ratio = np.divide(sizes[:, -1], sizes[:, 0], out=np.zeros(len(J)), where=sizes[:, 0] > 0)
        return np.asarray(ratio)

    def suits(self, J: Floats) -> Bools:
        """Whether twins' pivots are large enough in this routine's order, beside those in their own."""
        if not self.n or self.dense:
            return np.ones(len(J), dtype=np.bool_)
        pivots = np.abs(self.pivots_at(J))
        least = pivots.min(axis=0)
        with np.errstate(all="ignore"):  # their product is the same in any order
            found: Bools = least > TWIN * np.exp(np.log(pivots).mean(axis=0))
        for k in np.flatnonzero(~found).tolist():
            best = np.abs(self.pivots_at(J[k : k + 1], self._order_of(J[k])))
            found[k] = least[k] > TWIN * best.min()
        return found

    def _solve(self) -> None:
        step, back, pivots = self._inverse()
        # ---- Newton's step, of limited length, and its size
        dx = step(self.rows)
        longest = [np.inf if self.linear else LONGEST * s for s in self.scales]
        self.step = [largest(least(x, s), -s) for x, s in zip(dx, longest, strict=True)]
        by = FINER if self.group.curved else 1.0  # curves have pieces: no quadratic end across a break
        self.length = self.largest_of([x * (by / s) for x, s in zip(dx, self.scales, strict=True)])
        # ---- rates
        time = self.inputs.time()
        rows = self.rows if self.n else []
        self.first_side = derivative(rows, self.inputs.time("q"))
        self.second_side = derivative(derivative(rows, time), self.inputs.time("dq"))
        self.first = [neg(x) for x in back(self.first_side)]
        self.second = [neg(x) for x in back(self.second_side)]
        self.records = [x for b in self.group.own for x in self._record(self.bodies[b], time)]
        # ---- quality
        shared, self.n_pivots = int((~self.constant).sum()), len(pivots)
        shares = [p * self.graph.input("g", shared + k) for k, p in enumerate(pivots)]
        reach, gimbal = (reduce(least, of) if of else 1.0 for of in (self.group.reach, self.group.gimbal))
        if shares:  # size of the least, with the sign of the product
            small = reduce(least, map(absolute, shares))
            condition = small if self.linear else above(reduce(mul, shares), small, -small)
            if self.redundant:
                condition = sqrt(largest(condition, 0.0))
        else:  # the sine of a dyad's or of a leg's angle; 0 where there is none
            share = least(reach, gimbal)
            condition = sqrt(above(share, share, 0.0))
        self.quality = [least(condition, 1.0), self.largest_of(self.rows), reach, gimbal]

    def _inverse(self) -> tuple[Solve, Solve, list[Number]]:
        """Unknowns of one right side, and of several; pivots, small where the Jacobian is singular."""
        if not self.n:
            return (lambda _: []), (lambda _: []), []
        if not self.dense:
            J, projected = least_squares(self.jacobian) if self.redundant else (self.jacobian, list)
            solve, pivots = factorised(J, self.order)
            if all(is_node(p) or 0.0 < abs(p) < np.inf for p in pivots):

                def eliminate(b: Sequence[Number]) -> list[Number]:
                    return solve(projected(b))

                return eliminate, eliminate, pivots
            self.dense = True  # singular everywhere: nothing to eliminate
        dense = Dense(self.graph, self.jacobian, self.scales)
        return dense.solve, dense.apply_inverse, dense.pivots

    def _record(self, frame: Frame, time: Direction) -> list[Number]:
        velocity = derivative(frame.place, time), frame.motion.twist(time)[1]
        acceleration = derivative(velocity[0], time), derivative(velocity[1], time)
        found = self.record.written(frame, velocity, acceleration)
        if self.group.direct and self.record.planar:  # its turns are counted afterwards, over all instants
            found[self.record.turn] = atan2(*frame.axes[0][1::-1])
        return found

    @staticmethod
    def largest_of(numbers: Sequence[Number]) -> Number:
        """Largest size of some numbers."""
        return reduce(largest, map(absolute, numbers)) if numbers else 0.0

    @cached_property
    def newton(self) -> Printed:
        """(steps, size) by the unknowns: functions of floats and of arrays, and the inputs that they take."""
        return functions("newton", [], [*self.step, self.length])

    @cached_property
    def finish(self) -> Printed:
        """Records, first and second rates, quality."""
        rates = [self.graph.input(name, k) for name in ("dq", "ddq") for k in range(self.n)]
        stages = [("dq", self.first), ("ddq", self.second)]
        return functions("finish", stages, [*self.records, *rates, *self.quality])

    @cached_property
    def system(self) -> Printed:
        """Rows and Jacobian, for solves with free pivots."""
        return functions("system", [], [*self.rows, *(x for row in self.jacobian for x in row)])

    @cached_property
    def start(self) -> Printed:
        """Unknowns by the closed form, if there is one, in the mode of the reference."""
        values = [self.group.closed[name] for name in self.group.names]
        return functions("start", [], [atan2(*x[::-1]) if isinstance(x, tuple) else x for x in values])

    @cached_property
    def sides(self) -> tuple[Printed, Printed]:
        """Right sides of the first and second rates; the second takes the first."""
        return functions("first", [], self.first_side), functions("second", [], self.second_side)

    @cached_property
    def given_rates(self) -> Printed:
        """Records by given rates of the unknowns, and the quality."""
        return functions("given_rates", [], [*self.records, *self.quality])

    @cached_property
    def operations(self) -> tuple[int, ...]:
        """Numbers of operations of Newton's step and of the rest."""
        parts = [*self.step, self.length], [*self.first, *self.second, *self.records, *self.quality]
        return tuple(
            sum(self.graph.nodes[i][0] not in ("in", "const", "moved") for i in self.graph.needed(p))
            for p in parts
        )


def jacobian_of(graph: Graph, rows: Sequence[Number], n: int) -> list[list[Number]]:
    """Derivatives of rows (rows, n): only what depends on an unknown is differentiated by it."""
    J: list[list[Number]] = [[0.0] * n for _ in rows]
    for r, j, x in slopes(graph, rows, "q", units("q", n)):
        J[r][j] = x
    return J


def units(name: str, n: int) -> Iterator[tuple[Direction, int]]:
    """Directions of n inputs of a name, and which of these change along each, as bits."""
    for j in range(n):
        yield Direction(lambda *key, one=(name, j): float(key == one)), 1 << j


def slopes(
    graph: Graph, rows: Sequence[Number], name: str, along: Iterable[tuple[Direction, int]]
) -> Iterator[tuple[int, int, Number]]:
    """Derivatives by row and direction of what depends on inputs of a name, given with each as bits."""
    masks: list[int] = []
    for op, operands, data in graph.nodes:
        mask = 1 << data[1] if op == "in" and data[0] == name else 0
        for i in operands:
            mask |= masks[i]
        masks.append(mask)
    for j, (of, mask) in enumerate(along):
        by = Direction(of.of, of.body)
        by.memo.update((i, 0.0) for i, other in enumerate(masks) if not mask & other)
        which = [r for r, x in enumerate(rows) if is_node(x) and masks[x.i] & mask]
        for r, x in zip(which, derivative([rows[r] for r in which], by), strict=True):
            yield r, j, x


def constants_of(twins: Sequence[Group]) -> Bools:
    """(numbers,) which are 0, 1 or -1 in all twins; signs of roots are none."""
    twins[0].prepare()
    every = np.array([group.geometry for group in twins])
    found: Bools = (every == every[0]).all(axis=0) & np.isin(every[0], (0.0, 1.0, -1.0))
    found[[k for places in _signs(twins[0]).values() for k in places]] = False
    return found


def _signs(group: Group) -> dict[Name, list[int]]:
    """Places of signs of roots among the numbers of the geometry, by name."""
    found, k = {}, 0
    for key, nested in group.uses.given.items():
        size = np.size(nested)
        if key[0] == "mode":
            found[key] = list(range(k, k + size))
        k += size
    return found
