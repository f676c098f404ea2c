"""Proof as a graph that neighbouring solutions of a group are on one branch: Krawczyk's test on a tube."""

# Theorem (Krawczyk 1969; Neumaier 1990, Interval Methods for Systems of Equations, chapter 5). Over a step
# let q(s) be the Hermite cubic of a group's unknowns through both solutions and their rates; inputs and
# bodies of earlier groups follow their own cubics, up to what these are known to be off. F are the rows
# that close the group, A any matrix near the inverse of the Jacobian J in the middle, and
#
#     Y >= |A F(q(s), s)|,    Z >= |1 - A J(x, s)|  for all x within R of q(s).
#
# If Z w <= θ w and Y <= η w for some w > 0, θ < 1 and e = η w / (1 - θ) < R, then for every s there is just
# one solution within R of q(s); it is within e, and J is regular there: one differentiable branch from end
# to end. F is charged with what is left of it at both ends, 4/27 of what is left of its rates, 1/384 of its
# fourth derivative (Hermite's interpolation), what earlier groups are off, and rounding. Neighbouring steps
# have the same solution where they meet if e of one is at most R of the other. Square roots of closed forms
# are of something positive all over the step, so that their signs hold. With more rows than unknowns A is
# near the pseudo-inverse: proven is the branch of the solutions, if there are any (whether dropped rows can
# hold together in between no finite number of digits tells).

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias

from groups.branches.bounds import (
    OF_RATE,
    ORDERS,
    ROUNDING,
    Enclosure,
    Enclosures,
    Majorant,
    Majorants,
    UnboundedError,
    magnitude,
    off_cubic,
)
from groups.engine.kinematics import Group, Name
from groups.engine.routine import Routine, constants_of
from mbssa.graph.derivative import derivative
from mbssa.graph.frames import relative, total, transposed
from mbssa.graph.linear import factorised, least_squares
from mbssa.graph.nodes import Node, Number, above, largest, least
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.equations import measured

if TYPE_CHECKING:
    from groups.engine.plan import Part, Plan

#: The tube R: a share of the longest way in the step and a least one, rad or sizes, and a multiple of Y.
SHARE, LEAST, TIMES = 1e-3, 1e-12, 4.0
#: Largest step of Newton's method, rad or sizes, that an end may be away from the branch.
CLOSED = 1e-6
#: Steps towards the eigenvector w of Z, each of Z + SHIFT.
PERRON, SHIFT = 2, 0.1
#: What :func:`along_cubic` gives of a number's path, and what the true number is off.
PARTS = CENTRE, SLOPE, RADIUS, SIZE, FIRST, SECOND, THIRD, OFF = range(8)
_LARGE = 1e100

#: A number of an own body: which of them, and its place in the record.
Wanted: TypeAlias = tuple[int, int]
#: Paths of inputs by name and number: what :data:`PARTS` names.
Path: TypeAlias = Callable[[str, Any], Sequence[Number]]


def inner(a: Iterable[Number], b: Iterable[Number]) -> Number:
    return total([x * y for x, y in zip(a, b, strict=True)])


def ends_of(residual: Sequence[Number], rest: Sequence[Number], h: Number) -> Number:
    """Bound by what is left of rows and of their rates at both ends of a step h."""
    return largest(*residual) + OF_RATE * h * total([magnitude(x) for x in rest])


class GroupProof:
    """The proof of a group type; ``wanted`` are the numbers of its bodies that other groups read."""

    # ``results``: the margin, positive where it is proven; radii e and R of the unknowns; what each wanted
    # number is off. ``ends`` bounds what is left of the rows and of their rates at both ends.

    def __init__(self, routine: Routine, wanted: Sequence[Wanted], path: Path, ends: Number) -> None:
        if routine.dense:
            raise UnboundedError("a group of many unknowns")
        self.routine, self.graph, self.path, self.ends = routine, routine.graph, path, ends
        plain, self.cubics = self._enclosures([0.0] * routine.n), self._cubics(wanted)
        margins, radii, boxes = list[Number](), list[Number](), list[Number]()
        if routine.n:
            radii, boxes, margins = self._tube(plain)
        margins += [x.low for x in self._enclosures(boxes).of(routine.squares)]
        self.results = [_least_finite(margins), *radii, *boxes, *self._off(wanted, radii)]

    def _enclosures(self, radii: Sequence[Number]) -> Enclosures:
        """Enclosures where the unknowns are within radii of their cubics."""

        def known(name: str, k: Any) -> Enclosure | None:
            if name == "g":
                return None
            path = self.path(name, k)
            more = radii[k] if name == "q" else path[OFF]
            return Enclosure(path[CENTRE], path[SLOPE], path[RADIUS] + more)

        return Enclosures(self.graph, known)

    def _majorants(self, boxes: Enclosures, radii: Sequence[Number]) -> Majorants:
        """Majorants where the unknowns are within radii of their cubics."""

        def known(name: str, k: Any) -> Majorant | None:
            if name == "g":
                return None
            path = self.path(name, k)
            return [*path[SIZE:OFF], 0.0, radii[k] if name == "q" else path[OFF]]

        return Majorants(self.graph, known, boxes, self.cubics)

    def _cubics(self, wanted: Sequence[Wanted]) -> dict[int, tuple[Majorant, Number]]:
        """Majorants, and lower bounds of the sizes, of the cubics of hard numbers, by node."""
        found = {}
        for k, node in enumerate(hard_numbers(self.routine, wanted)):
            path = self.path("hard", k)
            low = magnitude(path[CENTRE]) - magnitude(path[SLOPE]) - path[RADIUS]
            found[node.i] = [*path[SIZE:OFF], 0.0, 0.0], low
        return found

    def _tube(self, plain: Enclosures) -> tuple[list[Number], list[Number], list[Number]]:
        """Radii e and R of the unknowns, and margins that are positive if the theorem holds."""
        jacobian = self.routine.jacobian
        A = self._inverse([[x.c for x in plain.of(row)] for row in jacobian])
        sizes = [[magnitude(x) for x in row] for row in A]
        rows = self._majorants(plain, [0.0] * self.routine.n).of(self.routine.rows)
        residuals = [self._off_cubic(f) + self.ends for f in rows]
        Y = [inner(row, residuals) for row in sizes]
        boxes = self._boxes(Y)
        inside = self._enclosures(boxes)
        Z = self._contraction(A, sizes, [inside.of(row) for row in jacobian])
        w: list[Number] = list(boxes)
        for _ in range(PERRON):
            w = [inner(row, w) + SHIFT * x for row, x in zip(Z, w, strict=True)]
        theta, eta = 0.0, 0.0
        for row, y, x in zip(Z, Y, w, strict=True):
            theta, eta = largest(theta, inner(row, w) / x), largest(eta, y / x)
        share = eta / above(1.0 - theta, 1.0 - theta, 0.0)
        # Rounding of these sums; not a number if one of them is not.
        guard = 1.0 + 1e-9 + ROUNDING * total([*Y, *w, *(x for row in Z for x in row)])
        e = [share * x * guard for x in w]
        margins = [box - x for box, x in zip(boxes, e, strict=True)]
        closed = max(CLOSED, 10.0 * self.routine.group.setting.closed / self.routine.size)
        for row, scale in zip(sizes, self.routine.scales, strict=True):
            margins.append(closed - total(row) * self.ends * (1.0 / scale))
        e = [(y + inner(row, e)) * guard for row, y in zip(Z, Y, strict=True)]  # what Y and Z say of e itself
        return e, boxes, margins

    def _inverse(self, J: list[list[Number]]) -> list[list[Number]]:
        """(n, rows) near the inverse of a matrix, or its pseudo-inverse."""
        matrix, projected = least_squares(J) if self.routine.redundant else (J, list)
        solve, m = factorised(matrix, self.routine.order)[0], len(J)
        return transposed([solve(projected([1.0 if i == k else 0.0 for i in range(m)])) for k in range(m)])

    def _off_cubic(self, f: Majorant) -> Number:
        """Distance of a number from the cubic through what is computed at both ends, at most."""
        return off_cubic(f) + f[ORDERS] + ROUNDING * (f[0] + f[1])

    def _boxes(self, Y: Sequence[Number]) -> list[Number]:
        """R, in the sizes of the unknowns."""
        way: Number = 0.0
        for k, scale in enumerate(self.routine.scales):
            way = largest(way, magnitude(self.path("q", k)[SLOPE]) * (2.0 / scale))
        share = SHARE * way + LEAST
        return [scale * share + TIMES * y for scale, y in zip(self.routine.scales, Y, strict=True)]

    @staticmethod
    def _contraction(
        A: list[list[Number]], sizes: list[list[Number]], J: list[list[Enclosure]]
    ) -> list[list[Number]]:
        """Z, in which the slopes of J are kept together over the rows."""
        columns = [list(column) for column in zip(*J, strict=True)]
        found: list[list[Number]] = []
        for i, (row, size) in enumerate(zip(A, sizes, strict=True)):
            found.append([])
            for j, column in enumerate(columns):
                off = inner(row, [x.c for x in column]) - (1.0 if i == j else 0.0)
                turned = inner(row, [x.d for x in column])
                wide = inner(size, [x.charged for x in column])
                found[-1].append(magnitude(off) + magnitude(turned) + wide)
        return found

    def _off(self, wanted: Sequence[Wanted], radii: Sequence[Number]) -> list[Number]:
        """By how much wanted numbers of own bodies are off their cubics."""
        found = self._majorants(self._enclosures(radii), radii).of(wanted_numbers(self.routine, wanted))
        # Axes in space may be those of a quaternion: off by roundings of one, not of themselves.
        axes = [ROUNDING if k in self.routine.record.axes else 0.0 for _, k in wanted]
        return [self._off_cubic(f) + more for f, more in zip(found, axes, strict=True)]


def _least_finite(margins: Sequence[Number]) -> Number:
    """The least of some numbers, negative where one of them is not finite; 1 if there are none."""
    if not margins:
        return 1.0
    return above(_LARGE - total([magnitude(x) for x in margins]), reduce(least, margins), -1.0)


def wanted_numbers(routine: Routine, wanted: Sequence[Wanted]) -> list[Number]:
    """Nodes of numbers of a group's bodies."""
    rest = [0.0] * 3, [0.0] * 3
    records = [routine.record.written(routine.bodies[b], rest, rest) for b in routine.group.own]
    return [records[own][k] for own, k in wanted]


def hard_numbers(routine: Routine, wanted: Sequence[Wanted]) -> list[Node]:
    """Square roots, quotients and squared sums that rows and wanted numbers need."""
    graph, numbers = routine.graph, wanted_numbers(routine, wanted)
    found = set()
    for i in graph.needed(numbers + (routine.rows if routine.n else [])):
        op, operands, _ = graph.nodes[i]
        if op in ("sqrt", "/"):
            found.add(i)
        elif op == "*" and operands[0] == operands[1] and graph.nodes[operands[0]][0] in ("+", "-"):
            found.add(operands[0])
    return [Node(graph, i) for i in sorted(found)]


def at_instants(
    routine: Routine, wanted: Sequence[Wanted], coordinates: Sequence[Number]
) -> tuple[list[tuple[str, Sequence[Number]]], list[Number]]:
    """Numbers of single instants that a proof needs: inputs that are found first, and results."""
    # Results are the largest of the rows and of what is left of their rates; hard numbers and
    # ``coordinates``, the unknowns of a closed form; the rates of both.
    time, hard = routine.inputs.time(), hard_numbers(routine, wanted)
    rates = derivative(coordinates, time)
    both = (routine.rows, derivative(routine.rows, time)) if routine.n else ([0.0], [0.0])
    residual = [routine.largest_of(of) for of in both]
    stages: list[tuple[str, Sequence[Number]]] = [("q", coordinates), ("dq", rates)] if coordinates else []
    return stages, [*residual, *hard, *coordinates, *derivative(hard, time), *rates]


def by_equations(plan: Plan, part: Part, routines: dict[object, Routine]) -> tuple[Group, Routine]:
    """A closed form's group by its equations: bounds of its formulas would be far too wide."""
    closed = part.group
    tree = plan.setting.forest.trees[closed.index]
    group = Group(plan.setting, tree, closed.label)
    group.find_reference(closed_forms=False)
    for b in group.own:
        group.uses.bodies.setdefault(b, len(group.uses.bodies))
    constant = constants_of([group])
    key = group.shape, constant.tobytes(), group.geometry[constant].tobytes()
    if group.shape is None or key not in routines:
        routines[key] = Routine(group, plan.record, constant, plan.at_reference([group], constant))
    return group, routines[key]


def coordinates_of(routine: Routine) -> list[Number]:
    """Unknowns of an implicit group as nodes of the numbers of its bodies; angles are principal."""
    group, inputs = routine.group, routine.inputs
    bodies = {0: group.ground} | {b: inputs.body(b) for b in group.uses.bodies if b}
    found: dict[Name, Number] = {}
    for j in (link.joint for link in group.links):
        kind, ends = type_of_joint(group.mechanism, j), group.mechanism.joint_bodies(j)[:2]
        assert kind.pair is not None
        d, C = relative(*(bodies[b].end(*group.side(inputs, j, k)) for k, b in enumerate(ends)))
        for name, elementary in zip(kind.coordinates, kind.pair.coordinates, strict=True):
            if (j, name) in group.names:
                found[j, name] = measured(elementary, d, C)
    return [found[name] for name in group.names]
