"""All complex positions of a group whose degree is not known: a trace test shows that none is missing."""

# The positions at the right sides on a line are a curve, which is irreducible: equations map an irreducible
# variety to all right sides. A hyperplane meets it in some points, and the sum of a coordinate over them is
# linear along parallel hyperplanes if and only if no point is left out (A. Leykin, J. I. Rodriguez, F.
# Sottile 2018, *Trace test*, Arnold Mathematical Journal 4). All of them, followed while the hyperplane turns
# to one right side, reach all positions there that are isolated.

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.assembly_modes.homotopy import DRAWN, Closure, Complex, Positions, Web, closed, drawn, follow
from groups.engine.routine import jacobian_of
from mbssa.graph.nodes import is_node
from mbssa.graph.source import functions

if TYPE_CHECKING:
    from groups.assembly_modes.search import Assembly

#: Most unknowns of a group, and points on a hyperplane, and webs that are spun until the test is passed.
UNKNOWNS, POINTS, WEBS = 5, 80, 4
#: Share of what the least point adds to the test from which on one is missing.
MISSING = 1e-3
#: Operations of equations that are polynomials in the unknowns, and in the sines and cosines of angles.
_ALGEBRAIC = frozenset(("in", "const", "moved", "+", "-", "*", "neg", "sin", "cos"))


def applies(assembly: Assembly) -> bool:
    """Whether the equations of a group are polynomials in sines and cosines of angles and in lengths."""
    routine = assembly.part.routine
    nodes, depends, lengths, angles = routine.graph.nodes, set[int](), set[int](), set[int]()
    for i in routine.graph.needed(routine.rows):
        op, operands, data = nodes[i]
        if (op == "in" and data[0] == "q") or not depends.isdisjoint(operands):
            depends.add(i)
            if op not in _ALGEBRAIC:
                return False
        if op != "neg":  # of what is negative, the number itself
            unsigned = {nodes[k][1][0] if nodes[k][0] == "neg" else k for k in depends.intersection(operands)}
            (angles if op in ("sin", "cos") else lengths).update(unsigned)
    are_unknowns = all(nodes[i][0] == "in" for i in angles)
    return routine.n <= UNKNOWNS and are_unknowns and angles.isdisjoint(lengths)


class Sections(Closure):
    """The same on a line of right sides, the last unknown, which a hyperplane meets."""

    def __init__(self, assembly: Assembly, rng: np.random.Generator) -> None:
        super().__init__(assembly, rng, general=False)
        routine, numbers = self.part.routine, [x for x in self.numbers if is_node(x)]
        slopes = [x for row in jacobian_of(routine.graph, numbers, routine.n) for x in row]
        self._numbers, self._count = functions("numbers", [], [*numbers, *slopes]), len(numbers)
        self.line, self.normal, (self.by,) = (drawn(rng, k) for k in (routine.n, len(numbers), 1))
        #: Place of the hyperplane from which it turns; None while it is moved in parallel.
        self.turning: complex | None = None

    def poses(self, x: Complex) -> Complex:
        return np.column_stack([super().poses(x), x[:, -1]])

    def linearised(self, x: Complex) -> tuple[Complex, Complex]:
        rows, J = super().linearised(x)
        t, n = x[:, -1], len(self.line)
        found = self.evaluate(self._numbers, x)
        height = self.normal @ found[: self._count]
        slope = np.einsum("k,knm->mn", self.normal, found[self._count :].reshape(self._count, n, -1))
        slope = np.column_stack([slope * self.scale[:-1], np.full(len(x), self.by)])
        rows[:, :-1] -= t[:, None] * self.line
        J[:, :-1, -1] -= self.line
        rows[:, -1], J[:, -1] = height + self.by * t, slope
        if self.turning is not None:  # the share of t in what the hyperplane is off
            off = self.turning - height
            slope[:, -1] = 0.0
            rows[:, -1], J[:, -1] = t / off, (t / off**2)[:, None] * slope
            J[:, -1, -1] = 1.0 / off
        return rows, J

    def has_all(self, states: Complex, side: Complex) -> bool:
        """Whether positions (M, n + 1) on a hyperplane are all that there are, by a trace test."""
        step, begin = np.append(np.zeros(len(side) - 1), 1.0), np.tile(side, (len(states), 1))
        ends, t = zip(*(follow(self, states, begin, begin + off, 1.0) for off in (step, -step)), strict=True)
        bend = ends[0][:, -1] - 2.0 * states[:, -1] + ends[1][:, -1]
        return bool((np.array(t) == 1.0).all() and abs(bend.sum()) < MISSING * np.abs(bend).min())


def traced(assembly: Assembly) -> Positions | None:
    """All positions where redundant equations are combined; None where the test is not passed."""
    rng = np.random.default_rng(0)
    system = Sections(assembly, rng)
    states = system.random(rng, DRAWN)
    for _ in range(WEBS):
        web = Web(system, rng)
        web.lead(states)
        while arcs := web.open_arcs():
            if max(web.counts) > POINTS:
                return None
            web.carry(arcs)
            assembly.told("following complex positions", 0.9 * max(web.counts) / POINTS)
        states, side = web.fullest()
        if len(states) and system.has_all(states, side):
            system.turning = side[-1]
            return closed(system, states, np.append(side[:-1], 1.0 / system.by))
    return None
