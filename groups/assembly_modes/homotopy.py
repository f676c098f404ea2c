"""All complex positions of a group that pins and rods close."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from groups.engine.rescue import System
from groups.engine.routine import Routine, jacobian_of
from mbssa.arrays import Floats
from mbssa.graph.nodes import Number, is_node
from mbssa.graph.source import Printed, functions
from mbssa.joints.catalogue import type_of_joint

if TYPE_CHECKING:
    from groups.assembly_modes.search import Assembly

Complex = npt.NDArray[np.complex128]

#: Random right sides, arcs between two of them, positions drawn at random that must bring nothing new, and
#: most positions at one right side before the search is given up.
CORNERS, ARCS, DRAWN, MOST = 4, 3, 24, 400
#: Corrections, rad or of the size, after a prediction and after one Newton step that a step may have.
FIRST, SECOND = 1e-4, 1e-7
#: Shares of a line: the first step, the one below which a path is given up, and the one from which it then
#: ends in a singular position or at infinity.
BEGIN, LEAST, NEARLY = 0.02, 1e-7, 0.99
#: Poses whose largest entries differ by less, as a share, are one; imaginary parts that are none.
SAME, REAL = 1e-6, 1e-6
#: Places, over the size, and entries of rotations that are at infinity.
INFINITE = 1e4
#: Share of the size by which the places of joints of the mechanism in general are off those of the group.
SPREAD = 0.3


@dataclass(frozen=True, eq=False)
class Positions:
    """The complex positions of a group."""

    count: int
    ended: int
    sound: bool
    real: list[Floats]  # unknowns (n,) each

    def text(self, degree: int | None) -> str:
        """The search in words, with how it ended."""
        others = self.count - self.ended
        rest = f", {others} end in singular positions or at infinity" if others else ""
        loops, drawn = ARCS * CORNERS * (CORNERS - 1) // 2 - CORNERS + 1, DRAWN
        end = (
            "as many as the degree of such a group"
            if self.count == degree
            else f"{loops} loops of each and {drawn} positions drawn at random led to no other"
        )
        return (
            f"{self.count} complex positions were followed, {end}: {len(self.real)} are real, "
            f"{self.ended - len(self.real)} are not{rest}"
        )


def applies(assembly: Assembly) -> bool:
    """Whether a group is closed by as many pins and rods as it has unknowns, and no gear ratio is in it."""
    group = assembly.part.group
    mechanism = group.mechanism
    kinds = [type_of_joint(mechanism, j) for j in group.cuts]
    if group.spins or assembly.part.routine.redundant or not all(len(name) == 2 for name in group.names):
        return False
    if any(mechanism.n_driven_of_joint[j] for j in group.cuts):
        return False
    if not all(kind.is_ball or kind.line == "rod" for kind in kinds):
        return False
    carrying = [type_of_joint(mechanism, link.joint).pair for link in group.links if link.joint >= 0]
    turns = [step for pair in carrying if pair for step in pair.steps if step.kind == "turn"]
    return all(step.factor in (1.0, -1.0) for step in turns if step.coordinate is not None)


def positions(assembly: Assembly, known: list[Floats], degree: int | None) -> Positions | None:
    """All positions beside the bodies that the group hangs on; None where none, or too many, are found."""
    told = assembly.told
    for general in (False, True)[: 1 if degree is None else 2]:
        rng = np.random.default_rng(0)
        system = Closure(assembly, rng, general)
        web = Web(system, rng)
        if known:
            web.lead(np.column_stack([np.array(known, dtype=complex), np.zeros(len(known))]))
        while max(web.counts) != degree and (web.open_arcs() or web.lead(system.random(rng, DRAWN))):
            while max(web.counts) != degree and (arcs := web.open_arcs()):
                if max(web.counts) > MOST:
                    return None
                web.carry(arcs)
                told("following complex positions", min(0.8, max(web.counts) / (degree or MOST)))
        if max(web.counts) == degree:
            break
    found, side = web.fullest()
    if not len(found):
        return None
    told("following complex positions", 0.9)
    answer = closed(system, found, side)
    told("following complex positions", 1.0)
    return replace(answer, sound=answer.sound and (len(found) == degree or len(set(web.counts)) == 1))


def closed(system: Closure, states: Complex, side: Complex) -> Positions:
    """Positions (M, n) at a right side (n,), followed to where the group is closed."""
    begin = np.tile(side, (len(states), 1))
    ends, t = follow(system, states, begin, np.zeros_like(begin), 1.0)
    gone = ~(np.abs(system.poses(ends)).max(axis=1) < INFINITE)
    arrived, unlike = (t == 1.0) & ~gone, _List(system)
    for x in ends[arrived]:
        unlike.place(x)
    arrived_at = len(unlike.states)
    # The closure of the group itself is real: the conjugate of a position is one, found or lost on its way.
    for x in unlike.states[:arrived_at]:
        unlike.place(x.conj())
    real = [
        x[:-1].real
        for x, key in zip(unlike.states, unlike.keys, strict=True)
        if np.abs(key.imag).max() <= REAL
    ]
    sound = bool((gone | (t > NEARLY)).all())
    sound = sound and len(unlike.states) == arrived_at == np.count_nonzero(arrived)
    return Positions(len(states), len(unlike.states), sound, real)


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
        for k in range(len(right)):
            if np.isfinite(matrix[k]).all() and np.linalg.matrix_rank(matrix[k]) == len(right[k]):
                solved[k] = np.linalg.solve(matrix[k], right[k])
    return solved


class _List:
    """Positions that differ by their poses."""

    def __init__(self, system: Closure) -> None:
        self.system, self.states = system, list[Complex]()
        self.keys = list[Complex]()

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
            (a, b, k, np.exp(rng.uniform(-1.0, 1.0) + 1j * (rng.uniform(-0.7, 0.7) + 1.6 * (k - 1))))
            for a, b in itertools.combinations(range(CORNERS), 2)
            for k in range(ARCS)
        ]
        self.arcs = [*arcs, *((b, a, k, 1.0 / bend) for a, b, k, bend in arcs)]
        self.carried = set[tuple[int, int, int, int]]()

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

    def open_arcs(self) -> list[tuple[int, int]]:
        """Arcs, by number, with positions, by theirs, that were not carried along them."""
        return [
            (n, k)
            for n, (a, b, arc, _) in enumerate(self.arcs)
            for k in range(len(self.lists[a].states))
            if (a, b, arc, k) not in self.carried
        ]

    def carry(self, steps: list[tuple[int, int]]) -> None:
        """Carry positions along arcs, each in both senses."""
        arcs = [self.arcs[n] for n, _ in steps]
        states = np.array([self.lists[arc[0]].states[k] for arc, (_, k) in zip(arcs, steps, strict=True)])
        begin, end = (self.corners[[arc[side] for arc in arcs]] for side in (0, 1))
        ends, t = follow(self.system, states, begin, end, np.array([arc[3] for arc in arcs]))
        for (a, b, arc, _), (_, k), x, done in zip(arcs, steps, ends, t, strict=True):
            self.carried.add((a, b, arc, k))
            if done == 1.0:
                self.carried.add((b, a, arc, self.lists[b].place(x)))
