"""All complex positions of a group: until there are as many as its degree, or a trace test is passed."""

# Of groups that pins and rods close positions are followed from right side to right side. Trace test: the
# positions at the right sides on a line are a curve, which is irreducible: equations map an irreducible
# variety to all right sides. A hyperplane meets it in some points, and the sum of a coordinate over them is
# linear along parallel hyperplanes if and only if no point is left out (A. Leykin, J. I. Rodriguez, F.
# Sottile 2018, *Trace test*, Arnold Mathematical Journal 4). All of them, followed while the hyperplane turns
# to one right side, reach all positions there that are isolated.

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from groups.engine.rescue import System
from groups.engine.routine import Routine, jacobian_of
from mbssa.arrays import Floats
from mbssa.graph.nodes import Number, is_node
from mbssa.graph.source import Printed, functions
from mbssa.joints.catalogue import type_of_joint
from mbssa.progress import Progress

if TYPE_CHECKING:
    from groups.assembly_modes.search import Assembly

Complex = npt.NDArray[np.complex128]
#: Numbers of positions that were followed, and that have arrived; unknowns (M, n) of those that are real.
Positions: TypeAlias = tuple[int, int, Floats]

#: Random right sides, arcs between two of them, positions drawn at random that must bring nothing new, and
#: most positions at one right side before the search is given up.
CORNERS, ARCS, DRAWN, MOST = 4, 3, 24, 400
#: Independent loops of the arcs.
LOOPS = ARCS * CORNERS * (CORNERS - 1) // 2 - CORNERS + 1
#: Corrections, rad or of the size, after a prediction and after one Newton step that a step may have.
FIRST, SECOND = 1e-4, 1e-7
#: Shares of a line: the first step, the one below which a path is given up, and the one from which it then
#: ends in a singular position or at infinity.
BEGIN, LEAST, NEARLY = 0.02, 1e-7, 0.99
#: Poses whose largest entries differ by less, as a share, are one; imaginary parts that are none.
SAME, REAL = 1e-6, 1e-6
#: Places, over the size, and entries of rotations that are at infinity.
INFINITE = 1e4
#: Most unknowns of a group by a trace test, points on a hyperplane, and webs until the test is passed.
UNKNOWNS, POINTS, WEBS = 5, 80, 4
#: Share of what the least point adds to the test from which on one is missing.
MISSING = 1e-3
#: Operations of equations that are polynomials in the unknowns, and in the sines and cosines of angles.
_ALGEBRAIC = frozenset(("in", "const", "moved", "+", "-", "*", "neg", "sin", "cos"))
#: Share of the size by which the places of joints of the mechanism in general are off those of the group.
SPREAD = 0.3


def has_degree(assembly: Assembly) -> bool:
    """Whether a group is closed by as many pins and rods as it has unknowns, and no gear ratio is in it."""
    group, mechanism = assembly.part.group, assembly.part.group.mechanism
    kinds = [type_of_joint(mechanism, j) for j in group.cuts]
    carrying = [type_of_joint(mechanism, link.joint).pair for link in group.links if link.joint >= 0]
    turns = [step for pair in carrying if pair for step in pair.steps if step.kind == "turn"]
    return (
        not (group.spins or assembly.part.routine.redundant)
        and all(len(name) == 2 for name in group.names)
        and not any(mechanism.n_driven_of_joint[j] for j in group.cuts)
        and all(kind.is_ball or kind.line == "rod" for kind in kinds)
        and all(step.factor in (1.0, -1.0) for step in turns if step.coordinate is not None)
    )


def is_algebraic(assembly: Assembly) -> bool:
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


def positions(assembly: Assembly, known: list[Floats], degree: int | None) -> Positions | None:
    """All positions beside the bodies that the group hangs on; None where none, or too many, are found."""
    told = assembly.told
    for general in (False, True)[: 1 if degree is None else 2]:
        rng = np.random.default_rng(0)
        system = Closure(assembly, rng, general)
        web = Web(system, rng)
        if known:
            web.lead(np.column_stack([np.array(known, dtype=complex), np.zeros(len(known))]))
        while max(web.counts) != degree:
            if not web.spin(MOST, told, degree):
                return None
            if max(web.counts) == degree or not web.lead(system.random(rng, DRAWN)):
                break
        if max(web.counts) == degree:
            break
    found, side = web.fullest()
    if not len(found) or (len(found) != degree and len(set(web.counts)) > 1):
        return None
    told("following complex positions", 0.9)
    answer = closed(system, found, side)
    told("following complex positions", 1.0)
    return answer


def closed(system: Closure, states: Complex, side: Complex) -> Positions | None:
    """Positions (M, n) at a right side (n,), followed to where the group is closed; None if some are lost."""
    begin = np.tile(side, (len(states), 1))
    ends, t = follow(system, states, begin, np.zeros_like(begin), 1.0)
    gone = ~(np.abs(system.poses(ends)).max(axis=1) < INFINITE)
    arrived = ends[(t == 1.0) & ~gone]
    unlike = _List(system, arrived)
    ended = len(unlike.states)
    # The closure of the group itself is real: the conjugate of a position is one, found or lost on its way.
    for x in unlike.states[:ended]:
        unlike.place(x.conj())
    if not (gone | (t > NEARLY)).all() or not len(unlike.states) == ended == len(arrived):
        return None
    real = [k for k, key in enumerate(unlike.keys) if np.abs(key.imag).max() <= REAL]
    states = np.array(unlike.states).reshape(-1, len(side))
    return len(begin), ended, states[real, :-1].real


def drawn(rng: np.random.Generator, *shape: int) -> Complex:
    return 0.7 * np.asarray(rng.normal(size=shape) + 1j * rng.normal(size=shape), dtype=np.complex128)


class Closure:
    """Closure of a group over its size: residuals and Jacobian of many positions at once."""

    # The last unknown is a share by which the places of joints are off those of the group: with a degree that
    # holds for any places the search is among mechanisms in general, of which this one may be a special case.

    def __init__(self, assembly: Assembly, rng: np.random.Generator, general: bool) -> None:
        self.plan, self.column, self.size = assembly.plan, assembly.column, assembly.size
        self.scale = np.append(assembly.scale, 1.0)
        self.near = np.append(assembly.start[:, 0], 0.0).astype(complex)
        part, group = assembly.part, assembly.part.group
        routine, self.geometry = part.routine, part.geometry
        self.spread: list[complex] = [0.0] * len(self.geometry)
        if general:
            constant = np.zeros(len(group.geometry), dtype=np.bool_)
            routine = Routine(group, self.plan.record, constant, self.plan.at_reference([group], constant))
            self.geometry = group.geometry.tolist()
            places = [
                key[0] == "origin" and group.mechanism.joint_bodies(key[1])[key[2]] not in group.held
                for key in group.uses.given
            ]  # of joints on other bodies than legs
            movable = np.repeat(
                np.array(places, dtype=np.bool_), list(map(np.size, group.uses.given.values()))
            )
            self.spread = (SPREAD * self.size * drawn(rng, len(constant)) * movable).tolist()
        self.part = replace(part, routine=routine, rows_of={})
        #: Combinations of redundant rows, as many as unknowns.
        self.mix = rng.normal(size=(part.n, len(routine.rows))) if routine.redundant else np.eye(part.n)
        frames = [routine.bodies[link.body] for link in routine.group.links]
        self.numbers = [x * (1.0 / self.size) for frame in frames for x in frame.place]
        self.numbers += [x for frame in frames for axis in frame.axes for x in axis]
        rows = [_polynomial(x, self.size) for x in routine.rows]
        slopes = [x for row in jacobian_of(routine.graph, rows, part.n) for x in row]
        self._poses, self._rows, self._closure = (
            functions("closure", [], of) for of in (self.numbers, rows, [*rows, *slopes])
        )

    def random(self, rng: np.random.Generator, count: int) -> Complex:
        """Positions (M, n) somewhere, each of which closes for some right side."""
        far = np.exp(rng.uniform(-1.0, 1.0, (count, 1)))
        return np.asarray(self.near + far * drawn(rng, count, len(self.scale)) * self.scale)

    def evaluate(self, functions: Printed, x: Complex, share: float = 0.0) -> Complex:
        """Numbers (k, M) of the group where the last unknown is larger by a share."""
        off = x[:, -1] + share
        pairs = zip(self.geometry, self.spread, strict=True)
        geometry: Any = [number + spread * off if spread else number for number, spread in pairs]
        Y = np.broadcast_to(self.column[:, None], (len(self.column), len(x)))
        system = System(self.plan, replace(self.part, geometry=geometry), Y)
        return np.asarray(system.evaluate(functions, np.arange(len(x)), x[:, :-1].T))

    def linearised(self, x: Complex) -> tuple[Complex, Complex]:
        """Residuals (M, n), over the size and its square, and the Jacobian (M, n, n) by scaled unknowns."""
        found, (n, m) = self.evaluate(self._closure, x), self.mix.shape
        J = np.zeros((len(x), n + 1, n + 1), dtype=np.complex128)
        J[:, :n, :n] = self.mix @ found[m:].reshape(m, n, len(x)).transpose(2, 0, 1) * self.scale[:-1]
        J[:, n, n] = 1.0
        if any(self.spread):  # squares in the share, so that this is no approximation
            J[:, :n, n] = 0.5 * np.subtract(*(self.evaluate(self._rows, x, by).T for by in (1.0, -1.0)))
        return np.column_stack([found[:m].T @ self.mix.T, x[:, -1]]), J

    def poses(self, x: Complex) -> Complex:
        """(M, k) points, over the size, and rotations of the bodies of the tree."""
        return self.evaluate(self._poses, x).T


def _polynomial(row: Number, size: float) -> Number:
    """A row over the size; of the distance of two points less a length, the difference of their squares."""
    if is_node(row) and row.op == "-" and row.operand(0).op == "sqrt":
        length = row.operand(1)
        return (row.operand(0).operand(0) - length * length) * (1.0 / size**2)
    return row * (1.0 / size)


def follow(
    system: Closure, states: Complex, begin: Complex, end: Complex, bend: Complex | complex
) -> tuple[Complex, Floats]:
    """Follow positions (M, n) from right sides ``begin`` to ``end``; where they are, and the share done."""
    count, here, scale = len(states), states.copy(), system.scale
    t, h, on, bends = np.zeros(count), np.full(count, BEGIN), np.arange(count), np.broadcast_to(bend, count)
    with np.errstate(all="ignore"):
        while len(on):
            now, way, gamma, at = here[on], (end - begin)[on], bends[on], t[on]
            step = np.minimum(h[on], 1.0 - at)
            half, full, wide = at + 0.5 * step, at + step, step[:, None]

            def rate(x: Complex, t: Floats, way: Complex = way, gamma: Complex = gamma) -> Complex:
                share = gamma / ((1.0 - t) * gamma + t) ** 2
                return np.asarray(_solved(system.linearised(x)[1], share[:, None] * way) * scale)

            k1 = rate(now, at)
            k2 = rate(now + 0.5 * wide * k1, half)
            k3 = rate(now + 0.5 * wide * k2, half)
            k4 = rate(now + wide * k3, full)
            then = now + wide / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
            wanted, corrections = begin[on] + (full / ((1.0 - full) * gamma + full))[:, None] * way, []
            for _ in range(2):
                right, matrix = system.linearised(then)
                change = _solved(matrix, wanted - right)
                corrections.append((np.abs(change) / np.maximum(1.0, np.abs(then / scale))).max(axis=1))
                then = then + change * scale
            one, two = corrections
            good = (one <= FIRST) & (two <= SECOND)
            here[on[good]], t[on[good]] = then[good], np.where(h[on] >= 1.0 - at, 1.0, full)[good]
            factor = np.clip(0.8 * (FIRST / np.maximum(one, 1e-30)) ** 0.2, 0.3, 3.0)
            h[on] = step * np.where(np.isfinite(factor), np.where(good, factor, 0.5), 0.5)
            on = on[(t[on] < 1.0) & (h[on] > LEAST)]
    return here, t


def _solved(matrix: Complex, right: Complex) -> Complex:
    """Solutions (M, n); NaN where there is none."""
    solved: Complex = np.full(right.shape, np.nan, dtype=np.complex128)
    try:
        solved[:] = np.linalg.solve(matrix, right[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:
        regular = np.isfinite(matrix).all(axis=(1, 2)) & (np.linalg.slogdet(matrix)[0] != 0.0)
        solved[regular] = np.linalg.solve(matrix[regular], right[regular, :, None])[:, :, 0]
    return solved


class _List:
    """Positions that differ by their poses."""

    def __init__(self, system: Closure, states: Iterable[Complex] = ()) -> None:
        self.system, self.states, self.keys = system, list[Complex](), list[Complex]()
        for x in states:
            self.place(x)

    def place(self, x: Complex) -> int:
        """Number of a position (n,), which is added if it is new."""
        key = self.system.poses(x[None])[0]
        if self.keys:
            apart = np.abs(np.array(self.keys) - key).max(axis=1)
            nearest = int(apart.argmin())
            if apart[nearest] <= SAME * max(1.0, float(np.abs(key).max())):
                return nearest
        self.keys.append(key)
        self.states.append(x)
        return len(self.states) - 1


class Web:
    """Positions at some right sides, and along which arcs between them they have been carried."""

    def __init__(self, system: Closure, rng: np.random.Generator) -> None:
        self.system = system
        far = 2.0 ** np.arange(-1, CORNERS - 1)[:, None]
        self.corners = far * drawn(rng, CORNERS, len(system.scale))
        self.lists = [_List(system) for _ in self.corners]
        arcs = [
            (a, b, np.exp(rng.uniform(-1.0, 1.0) + 1j * (rng.uniform(-0.7, 0.7) + 1.6 * (k - 1))))
            for a, b in itertools.combinations(range(CORNERS), 2)
            for k in range(ARCS)
        ]
        #: Right sides at both ends, and the bend, of each arc; then those of the other sense.
        self.arcs = [*arcs, *((b, a, 1.0 / bend) for a, b, bend in arcs)]
        self.carried = set[tuple[int, int]]()

    @property
    def counts(self) -> list[int]:
        """Numbers of positions at the right sides."""
        return [len(each.states) for each in self.lists]

    def fullest(self) -> tuple[Complex, Complex]:
        """The most positions (M, n) at one right side, and that."""
        most = int(np.argmax(self.counts))
        return np.array(self.lists[most].states), self.corners[most]

    def lead(self, states: Complex) -> bool:
        """Whether positions that close for some right sides, followed to the first one, are new there."""
        before, begin = len(self.lists[0].states), self.system.linearised(states)[0]
        ends, t = follow(self.system, states, begin, np.tile(self.corners[0], (len(states), 1)), 1.0)
        for x in ends[t == 1.0]:
            self.lists[0].place(x)
        return len(self.lists[0].states) > before

    def spin(self, most: int, told: Progress, degree: int | None = None) -> bool:
        """Carry positions along all arcs, until there are as many as a degree; False beyond so many."""
        while (count := max(self.counts)) != degree:
            # Arcs, by number, with positions, by theirs, that were not carried along them.
            pairs = ((n, k) for n, (a, *_) in enumerate(self.arcs) for k in range(len(self.lists[a].states)))
            steps = [pair for pair in pairs if pair not in self.carried]
            if not steps or count > most:
                return not steps
            a, b, bend = zip(*(self.arcs[n] for n, _ in steps), strict=True)
            states = np.array([self.lists[side].states[k] for side, (_, k) in zip(a, steps, strict=True)])
            ends, t = follow(self.system, states, self.corners[[*a]], self.corners[[*b]], np.array(bend))
            self.carried.update(steps)
            for (n, _), side, x, done in zip(steps, b, ends, t, strict=True):
                if done == 1.0:
                    back = (n + len(self.arcs) // 2) % len(self.arcs)
                    self.carried.add((back, self.lists[side].place(x)))
            told("following complex positions", min(0.8, max(self.counts) / (degree or most)))
        return True


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
    """All positions where redundant equations are combined; None where the trace test is not passed."""
    rng = np.random.default_rng(0)
    system = Sections(assembly, rng)
    states = system.random(rng, DRAWN)
    for _ in range(WEBS):
        web = Web(system, rng)
        web.lead(states)
        if not web.spin(POINTS, assembly.told):
            return None
        states, side = web.fullest()
        if len(states) and system.has_all(states, side):
            system.turning = side[-1]
            return closed(system, states, np.append(side[:-1], 1.0 / system.by))
    return None
