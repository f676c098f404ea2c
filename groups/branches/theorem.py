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

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from groups.branches.bounds import (
    OF_RATE,
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
from mbssa.graph.frames import relative, total
from mbssa.graph.linear import factorised, least_squares
from mbssa.graph.nodes import Node, Number, above, largest, least
from mbssa.graph.source import functions
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
#: What :func:`along_cubic` gives of a number's path.
PARTS = CENTRE, SLOPE, RADIUS, SIZE, FIRST, SECOND, THIRD = range(7)
_LARGE = 1e100
_PARTS_OF_J = "c", "d", "charged"

#: A number of an own body: which of them, and its place in the record.
Wanted: TypeAlias = tuple[int, int]


_magnitudes = np.vectorize(magnitude, otypes=[object])


class Test:
    """The test of a group type as functions over instants, and over the steps between them."""

    # ``wanted`` are the numbers of its bodies that other groups read. Of instants: the largest of the rows;
    # hard numbers, and the unknowns of a closed form that is proven by its equations (``implicit``); the
    # rates of these, the largest of the rows'. Of steps: the margin, positive where it is proven; radii e and
    # R of the unknowns; what each wanted number is off. Steps read ``path``, (part, name, number), and
    # ``off``, (name, number); ``value`` and ``rate`` of what is ``left`` of the rows at both ends; ``step``.

    def __init__(self, routine: Routine, wanted: Sequence[Wanted], *, implicit: bool) -> None:
        if routine.dense:
            raise UnboundedError("a group of many unknowns")
        self.routine, self.wanted, graph = routine, wanted, routine.graph
        rest = [0.0] * 3, [0.0] * 3
        records = [routine.record.written(routine.bodies[b], rest, rest) for b in routine.group.own]
        self._numbers = [records[own][k] for own, k in wanted]
        self.hard = self._hard()
        self.coordinates = coordinates_of(routine) if implicit else []
        time = routine.inputs.time()
        rates, rows = derivative(self.coordinates, time), routine.rows if routine.n else []
        self.stages = [("q", self.coordinates), ("dq", rates)] if implicit else []
        self.instants = [routine.largest_of(rows), *self.hard, *self.coordinates]
        self.instants += [routine.largest_of(derivative(rows, time)), *derivative(self.hard, time), *rates]
        ends, slow = ([graph.input(of, ("left", 0, side)) for side in (0, 1)] for of in ("value", "rate"))
        #: Bound by what is left of rows and of their rates at both ends of a step.
        self._ends = largest(*ends) + OF_RATE * graph.input("step", 0) * total(slow)
        #: Of the cubics of hard numbers, by node: the majorant, and a lower bound of the size.
        self._cubics = dict[int, tuple[Majorant, Number]]()
        for k, node in enumerate(self.hard):
            path = self._path("hard", k)
            low = magnitude(path[CENTRE]) - magnitude(path[SLOPE]) - path[RADIUS]
            self._cubics[node.i] = [*path[SIZE:], 0.0, 0.0], low
        margins, radii, boxes = self._tube() if routine.n else ([], [], [])
        margins += [x.low for x in self._enclosures(boxes).of(routine.squares)]
        # Negative where one of them is not finite.
        finite = _LARGE - total([magnitude(x) for x in margins])
        margin = above(finite, reduce(least, margins), -1.0) if margins else 1.0
        found = self._majorants(self._enclosures(radii), radii).of(self._numbers)
        # Axes in space may be those of a quaternion: off by roundings of one, not of themselves.
        axes = [ROUNDING if k in routine.record.axes else 0.0 for _, k in self.wanted]
        off = [off_cubic(f) + more for f, more in zip(found, axes, strict=True)]
        self.steps = [margin, *radii, *boxes, *off]
        (_, self.at_instants), self.read = functions("instants", self.stages, self.instants)
        (_, self.over_steps), self.used = functions("steps", [], self.steps)
        #: Inputs (name, number) whose paths are read.
        self.paths = dict.fromkeys(data[1:] for name, data in self.used if name == "path")
        staged = [x for _, nodes in self.stages for x in nodes]
        self.operations = sum(len(graph.needed(of)) for of in (self.steps, [*staged, *self.instants]))

    def winds(self, kind: str, k: Any) -> bool:
        """Whether a path is that of a principal angle, which goes on by its rates."""
        return bool(kind == "q" and self.coordinates and self.routine.group.turns[k])

    def _hard(self) -> list[Number]:
        """Square roots, quotients and squared sums that rows and wanted numbers need."""
        graph, found = self.routine.graph, set[int]()
        for i in graph.needed(self._numbers + (self.routine.rows if self.routine.n else [])):
            op, operands, _ = graph.nodes[i]
            if op in ("sqrt", "/"):
                found.add(i)
            elif op == "*" and operands[0] == operands[1] and graph.nodes[operands[0]][0] in ("+", "-"):
                found.add(operands[0])
        return [Node(graph, i) for i in sorted(found)]

    def _path(self, name: str, k: Any) -> list[Number]:
        return [self.routine.graph.input("path", (part, name, k)) for part in PARTS]

    def _more(self, name: str, k: Any, radii: Sequence[Number]) -> Number:
        """By how much an input may be off its cubic."""
        if name == "q":
            return radii[k]
        return 0.0 if name == "u" else self.routine.graph.input("off", (name, k))

    def _enclosures(self, radii: Sequence[Number]) -> Enclosures:
        """Enclosures where the unknowns are within radii of their cubics."""

        def known(name: str, k: Any) -> Enclosure:
            path = self._path(name, k)
            return Enclosure(path[CENTRE], path[SLOPE], path[RADIUS] + self._more(name, k, radii))

        return Enclosures(self.routine.graph, known)

    def _majorants(self, boxes: Enclosures, radii: Sequence[Number]) -> Majorants:
        """Majorants where the unknowns are within radii of their cubics."""

        def known(name: str, k: Any) -> Majorant:
            return [*self._path(name, k)[SIZE:], 0.0, self._more(name, k, radii)]

        return Majorants(self.routine.graph, known, boxes, self._cubics)

    def _tube(self) -> tuple[list[Number], list[Number], list[Number]]:
        """Margins that are positive if the theorem holds, and radii e and R of the unknowns."""
        routine, scales, zero = self.routine, np.array(self.routine.scales), [0.0] * self.routine.n
        plain = self._enclosures(zero)
        J = [[x.c for x in plain.of(row)] for row in routine.jacobian]
        matrix, projected = least_squares(J) if routine.redundant else (J, list)
        solve = factorised(matrix, routine.order)[0]
        A = np.array([solve(projected(row)) for row in np.eye(len(J)).tolist()], object).T
        sizes, rows = _magnitudes(A), self._majorants(plain, zero).of(routine.rows)
        Y = sizes @ [off_cubic(f) + self._ends for f in rows]
        ways = [magnitude(self._path("q", k)[SLOPE]) * (2.0 / x) for k, x in enumerate(routine.scales)]
        boxes = scales * (SHARE * reduce(largest, ways) + LEAST) + TIMES * Y
        within = list(map(self._enclosures(boxes).of, routine.jacobian))
        parts = (np.array([[getattr(x, of) for x in row] for row in within], object) for of in _PARTS_OF_J)
        c, d, wide = parts
        # The slopes of J are kept together over the rows.
        Z = _magnitudes(A @ c - np.eye(routine.n)) + _magnitudes(A @ d) + sizes @ wide
        w = boxes
        for _ in range(PERRON):
            w = Z @ w + SHIFT * w
        theta, eta = (reduce(largest, of / w) for of in (Z @ w, Y))
        share = eta / above(1.0 - theta, 1.0 - theta, 0.0)
        # Rounding of these sums; not a number if one of them is not.
        guard = 1.0 + 1e-9 + ROUNDING * total([*Y, *w, *Z.ravel()])
        e = share * w * guard
        closed = max(CLOSED, 10.0 * routine.group.setting.closed / routine.size)
        margins = [*(boxes - e), *(closed - sizes.sum(axis=1) * self._ends * (1.0 / scales))]
        return margins, [*((Y + Z @ e) * guard)], [*boxes]  # e by what Y and Z say of it


def by_equations(plan: Plan, part: Part, routines: dict[object, Routine]) -> Part:
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
    routine = routines[key]
    return replace(part, group=group, routine=routine, geometry=routine.geometry(group), rows_of={})


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
