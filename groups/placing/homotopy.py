"""All complex positions of a group that pins and rods close."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from groups.kernels import layout
from mbssa.arrays import Bools, Floats, Ints
from mbssa.progress import Progress

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


@dataclass(frozen=True, eq=False)
class Positions:
    """The complex positions of a group."""

    count: int
    ended: int
    sound: bool
    real: list[tuple[Floats, Floats]]

    def text(self, degree: int | None) -> str:
        """The search in words, with how it ended."""
        others = self.count - self.ended
        rest = f", {others} end in singular positions or at infinity" if others else ""
        loops, drawn = ARCS * CORNERS * (CORNERS - 1) // 2 - CORNERS + 1, DRAWN
        end = (
            "as many as there can be"
            if self.count == degree
            else f"{loops} loops of each and {drawn} positions drawn at random led to no other"
        )
        return (
            f"{self.count} complex positions were followed, {end}: {len(self.real)} are real, "
            f"{self.ended - len(self.real)} are not{rest}"
        )


def applies(ints: Ints, floats: Floats) -> bool:
    """Whether a group is closed by as many pins and rods as it has unknowns, and no gear ratio is in it."""
    tree = layout.tree_of(ints, floats)
    turning = (tree.unknown >= 0) & (tree.kind == layout.TURN)
    return (
        not ints[layout.N_ROWS]
        and not layout.is_redundant(ints)
        and bool((np.abs(tree.factor[turning]) == 1.0).all())
    )


def positions(
    g: layout.Group, known: list[tuple[Floats, Floats]], degree: int | None, told: Progress, seed: int = 0
) -> Positions | None:
    """All positions with known bodies and inputs as on the stage; None where none, or too many, are found."""
    system = _System(g)
    rng = np.random.default_rng(seed)
    web = _Web(system, rng)
    web.lead([_State(x[None].astype(complex), balls[None].astype(complex)) for x, balls in known])
    while not web.has(degree) and (web.open_arcs() or web.draw(rng)):
        while not web.has(degree) and (arcs := web.open_arcs()):
            if max(map(len, web.at)) > MOST:
                return None
            web.carry(arcs)
            told("following complex positions", min(0.8, max(map(len, web.at)) / (degree or MOST)))
    found = max(web.at, key=len)
    if not found:
        return None
    side = web.corners[web.at.index(found)]
    told("following complex positions", 0.9)
    states = _State.joined(found)
    ends, t = follow(
        system, states, np.tile(side, (len(found), 1)), np.zeros((len(found), len(side)), dtype=complex), 1.0
    )
    arrived, unlike = t == 1.0, _List(system)
    for k in np.flatnonzero(arrived).tolist():
        unlike.place(ends.taken([k]))
    arrived_at = len(unlike.states)
    # The closure of the group itself is real: the conjugate of a position is one, found or lost on its way.
    for state in unlike.states[:arrived_at]:
        unlike.place(_State(state.x.conj(), state.balls.conj()))
    told("following complex positions", 1.0)
    real = [
        (state.x[0].real.copy(), state.balls[0].real.copy())
        for state in unlike.states
        if np.abs(system.poses(state).imag).max() <= REAL
    ]
    sound = len(unlike.states) == arrived_at == np.count_nonzero(arrived) and bool((t > NEARLY).all())
    if len(found) != degree:
        sound = sound and len(set(map(len, web.at))) == 1
    return Positions(len(found), len(unlike.states), sound, real)


def _complex(rng: np.random.Generator, *shape: int) -> Complex:
    return 0.7 * np.asarray(rng.normal(size=shape) + 1j * rng.normal(size=shape), dtype=np.complex128)


@dataclass(frozen=True, eq=False)
class _State:
    """Unknowns (M, n) and balls (M, b, 3, 3) of M positions."""

    x: Complex
    balls: Complex

    @staticmethod
    def joined(states: list[_State]) -> _State:
        return _State(np.concatenate([s.x for s in states]), np.concatenate([s.balls for s in states]))

    def taken(self, rows: Bools | list[int]) -> _State:
        return _State(self.x[rows], self.balls[rows])

    def put(self, rows: Bools, other: _State) -> None:
        self.x[rows], self.balls[rows] = other.x, other.balls


class _System:
    """Closure of a group over its size: residuals and Jacobian of many positions at once."""

    def __init__(self, g: layout.Group) -> None:
        self.tree, self.cuts, self.u = g.tree, g.cuts, g.pose.u
        self.stage = g.pose.stage[: len(g.tree.known), :12].copy()
        self.near = _State(g.pose.x[None].astype(complex), g.pose.ball.reshape(1, -1, 3, 3).astype(complex))
        self.triples = [[k, k + 1, k + 2] for k in g.tree.unknown[g.tree.kind == layout.BALL_X].tolist()]

    def random(self, rng: np.random.Generator, count: int) -> _State:
        """Positions somewhere, each of which closes for some right side."""
        near = _State(np.repeat(self.near.x, count, 0), np.repeat(self.near.balls, count, 0))
        far = np.exp(rng.uniform(-1.0, 1.0, (count, 1)))
        return self.moved(near, far * _complex(rng, count, len(self.tree.scale)) * self.tree.scale)

    def moved(self, state: _State, step: Complex) -> _State:
        """Positions after steps (M, n); balls turn by small complex rotation vectors."""
        balls = state.balls.copy()
        for k, triple in enumerate(self.triples):
            balls[:, k] = _exponential(step[:, triple]) @ balls[:, k]
        return _State(state.x + step, balls)

    def curved(self, step: Complex, rate: Complex) -> Complex:
        """Rates of the rotation vectors after ``step``, for rates of the balls' own turns."""
        curved = rate.copy()
        for triple in self.triples:
            u, k = step[:, triple], rate[:, triple]
            twice = np.cross(u, k)
            curved[:, triple] += -0.5 * twice + np.cross(u, twice) / 12.0
        return curved

    def placed(self, state: _State) -> tuple[list[Complex], list[Complex], Complex, Complex]:
        """Points and rotations of all bodies on the stage, axis and point of the step of each unknown."""
        tree, count = self.tree, len(state.x)
        at = [np.broadcast_to(row[:3].astype(complex), (count, 3)) for row in self.stage]
        turned = [np.broadcast_to(row[3:].reshape(3, 3).astype(complex), (count, 3, 3)) for row in self.stage]
        along = np.zeros((len(tree.kind), count, 3), dtype=complex)
        point = np.zeros_like(along)
        ball = 0
        for link in range(len(tree.own)):
            p, R = at[tree.parent[link]], turned[tree.parent[link]]
            for s in range(tree.first_step[link], tree.first_step[link + 1]):
                kind, k = tree.kind[s], tree.axis[s]
                if kind == layout.STILL:
                    transform = tree.transform[tree.constant[s]]
                    p, R = p + R @ transform[:3], R @ transform[3:].reshape(3, 3)
                    continue
                axis = R[:, :, k]
                along[s], point[s] = tree.factor[s] * axis, p
                if kind >= layout.BALL_X:
                    if kind == layout.BALL_Z:
                        R = R @ state.balls[:, ball]
                        ball += 1
                    continue
                free = tree.unknown[s] >= 0
                amount = tree.factor[s] * (state.x[:, tree.unknown[s]] if free else self.u[tree.drive[s]])
                if kind == layout.SLIDE:
                    p = p + np.asarray(amount)[..., None] * axis
                    continue
                c, s_ = np.broadcast_to(np.cos(amount), count), np.broadcast_to(np.sin(amount), count)
                i, j = (k + 1) % 3, (k + 2) % 3
                R = R.copy()
                one, two = R[:, :, i].copy(), R[:, :, j].copy()
                R[:, :, i] = c[:, None] * one + s_[:, None] * two
                R[:, :, j] = c[:, None] * two - s_[:, None] * one
            at.append(p)
            turned.append(R)
        return at, turned, along, point

    def linearised(self, state: _State) -> tuple[Complex, Complex]:
        """Residuals (M, n), over the size and its square, and the Jacobian (M, n, n) by scaled unknowns."""
        tree, cuts = self.tree, self.cuts
        at, turned, along, point = self.placed(state)
        count, n, size = len(state.x), len(tree.scale), cuts.limit[0]
        right, matrix = np.empty((count, n), dtype=complex), np.empty((count, n, n), dtype=complex)
        free = np.flatnonzero((tree.kind != layout.STILL) & (tree.unknown >= 0))
        slides = (tree.kind[free] == layout.SLIDE)[:, None, None]
        ends = [(pair, points) for pair, points in zip(cuts.pin, cuts.pin_point, strict=True)]
        ends += [(pair, points) for pair, points in zip(cuts.rod, cuts.rod_point, strict=True)]
        row, width = 0, 3 - tree.planar
        for k, (pair, points) in enumerate(ends):
            gap = np.zeros((count, 3), dtype=complex)
            slope = np.zeros((n, count, 3), dtype=complex)
            for sign, body, local in ((-1.0, pair[0], points[:3]), (1.0, pair[1], points[3:6])):
                p = at[body] + turned[body] @ local
                gap += sign * p
                moving = tree.influence[body][tree.unknown[free]] == 1
                steps = free[moving]
                speed = np.where(slides[moving], along[steps], np.cross(along[steps], p - point[steps]))
                np.add.at(slope, tree.unknown[steps], sign * speed)
            slope *= tree.scale[:, None, None]
            if k < len(cuts.pin):
                right[:, row : row + width] = gap[:, :width] / size
                matrix[:, row : row + width] = slope[:, :, :width].transpose(1, 2, 0) / size
                row += width
            else:
                u = self.u[pair[2]] if pair[2] >= 0 else 0.0
                square = points[6] + u * (points[7] + u * points[8])
                right[:, row] = ((gap * gap).sum(axis=1) - square) / size**2
                matrix[:, row] = 2.0 * np.einsum("mk,nmk->mn", gap, slope) / size**2
                row += 1
        return right, matrix

    def poses(self, state: _State) -> Complex:
        """(M, k) points, over the size, and rotations of the own bodies."""
        at, turned, _, _ = self.placed(state)
        known, count = len(self.tree.known), len(state.x)
        rows = [p / self.cuts.limit[0] for p in at[known:]] + [R.reshape(count, 9) for R in turned[known:]]
        return np.concatenate(rows, axis=1)


def _exponential(turn: Complex) -> Complex:
    """Rotations (M, 3, 3) of complex rotation vectors (M, 3)."""
    square = (turn * turn).sum(axis=1)[:, None, None]
    angle = np.sqrt(square)
    small = np.abs(angle) < 1e-4
    safe = np.where(small, 1.0, angle)
    sine = np.where(small, 1.0 - square / 6.0, np.sin(safe) / safe)
    half = np.where(small, 0.5 - square / 24.0, (1.0 - np.cos(safe)) / safe**2)
    skew = np.cross(turn[:, None, :], np.eye(3)).transpose(0, 2, 1)
    turned: Complex = np.eye(3) + sine * skew + half * (skew @ skew)
    return turned


def follow(
    system: _System, states: _State, begin: Complex, end: Complex, bend: Complex | complex
) -> tuple[_State, Floats]:
    """Follow M positions from right sides ``begin`` (M, n) to ``end``; where they are, and the share done."""
    count = len(states.x)
    here = _State(states.x.copy(), states.balls.copy())
    t, h = np.zeros(count), np.full(count, BEGIN)
    on, scale = np.ones(count, dtype=bool), system.tree.scale
    tangent, fresh = np.empty_like(here.x), on.copy()
    bend = np.broadcast_to(bend, count)
    with np.errstate(all="ignore"):
        while on.any():
            if fresh.any():
                way, gamma = (end - begin)[fresh], bend[fresh]
                tangent[fresh] = _rate(system, here.taken(fresh), way, gamma, t[fresh])
                fresh[:] = False
            way, gamma, now = (end - begin)[on], bend[on], here.taken(on)
            at, step = t[on], np.minimum(h[on], 1.0 - t[on])[:, None]
            half, full = at + 0.5 * step[:, 0], at + step[:, 0]
            k1 = tangent[on]
            k2 = system.curved(
                0.5 * step * k1, _rate(system, system.moved(now, 0.5 * step * k1), way, gamma, half)
            )
            k3 = system.curved(
                0.5 * step * k2, _rate(system, system.moved(now, 0.5 * step * k2), way, gamma, half)
            )
            k4 = system.curved(step * k3, _rate(system, system.moved(now, step * k3), way, gamma, full))
            then = system.moved(now, step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4))
            wanted = begin[on] + (full / ((1.0 - full) * gamma + full))[:, None] * way
            corrections = []
            for _ in range(2):
                right, matrix = system.linearised(then)
                change = _solved(matrix, wanted - right)
                corrections.append(np.abs(change).max(axis=1))
                then = system.moved(then, change * scale)
            one, two = corrections
            good = (one <= FIRST) & (two <= SECOND)
            rows = np.flatnonzero(on)
            taken = np.zeros(count, dtype=bool)
            taken[rows[good]] = True
            here.put(taken, then.taken(good))
            t[taken] = np.where(h[taken] >= 1.0 - t[taken], 1.0, t[taken] + step[good, 0])
            fresh = taken & (t < 1.0)
            factor = np.clip(0.8 * (FIRST / np.maximum(one, 1e-30)) ** 0.2, 0.3, 3.0)
            h[on] = step[:, 0] * np.where(np.isfinite(factor), np.where(good, factor, 0.5), 0.5)
            on &= (t < 1.0) & (h > LEAST)
    return here, t


def _rate(system: _System, state: _State, way: Complex, bend: Complex, t: Floats) -> Complex:
    """Rates (M, n) of the unknowns by the share of the arc that is done."""
    share = bend / ((1.0 - t) * bend + t) ** 2
    rate: Complex = _solved(system.linearised(state)[1], share[:, None] * way) * system.tree.scale
    return rate


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

    def __init__(self, system: _System) -> None:
        self.system, self.states = system, list[_State]()
        self.keys = list[Complex]()

    def place(self, state: _State) -> int:
        """Number of a position, which is added if it is new."""
        key = self.system.poses(state)[0]
        if self.keys:
            apart = np.abs(np.array(self.keys) - key).max(axis=1)
            nearest = int(apart.argmin())
            if apart[nearest] <= SAME * max(1.0, float(np.abs(key).max())):
                return nearest
        self.keys.append(key)
        self.states.append(state)
        return len(self.states) - 1


class _Web:
    """Positions at some right sides, and along which arcs between them they have been carried."""

    def __init__(self, system: _System, rng: np.random.Generator) -> None:
        self.system = system
        far = 2.0 ** np.arange(-1, CORNERS - 1)[:, None]
        self.corners = far * _complex(rng, CORNERS, len(system.tree.scale))
        self.lists = [_List(system) for _ in self.corners]
        self.at = [each.states for each in self.lists]
        arcs = [
            (a, b, k, np.exp(rng.uniform(-1.0, 1.0) + 1j * (rng.uniform(-0.7, 0.7) + 1.6 * (k - 1))))
            for a, b in itertools.combinations(range(CORNERS), 2)
            for k in range(ARCS)
        ]
        self.arcs = [*arcs, *((b, a, k, 1.0 / bend) for a, b, k, bend in arcs)]
        self.carried = set[tuple[int, int, int, int]]()

    def has(self, degree: int | None) -> bool:
        """Whether all positions are there."""
        return max(map(len, self.at)) == degree

    def lead(self, found: list[_State]) -> bool:
        """Whether positions that close for some right sides, followed to the first one, are new there."""
        if not found:
            return False
        states, before = _State.joined(found), len(self.at[0])
        begin = self.system.linearised(states)[0]
        ends, t = follow(self.system, states, begin, np.tile(self.corners[0], (len(found), 1)), 1.0)
        for k in np.flatnonzero(t == 1.0).tolist():
            self.lists[0].place(ends.taken([k]))
        return len(self.at[0]) > before

    def draw(self, rng: np.random.Generator) -> bool:
        """Whether positions drawn at random, followed to the first right side, are new there."""
        drawn = self.system.random(rng, DRAWN)
        return self.lead([drawn.taken([k]) for k in range(DRAWN)])

    def open_arcs(self) -> list[tuple[int, int, int]]:
        """Number of the position and of the arc along which it was not carried yet, and number of the end."""
        return [
            (n, k, b)
            for n, (a, b, arc, _) in enumerate(self.arcs)
            for k in range(len(self.at[a]))
            if (a, b, arc, k) not in self.carried
        ]

    def carry(self, steps: list[tuple[int, int, int]]) -> None:
        """Carry positions along arcs, each in both senses."""
        arcs = [self.arcs[n] for n, _, _ in steps]
        states = _State.joined([self.at[arc[0]][k] for arc, (_, k, _) in zip(arcs, steps, strict=True)])
        begin, end = (self.corners[[arc[side] for arc in arcs]] for side in (0, 1))
        ends, t = follow(self.system, states, begin, end, np.array([arc[3] for arc in arcs]))
        for row, ((a, b, arc, _), (_, k, _)) in enumerate(zip(arcs, steps, strict=True)):
            self.carried.add((a, b, arc, k))
            if t[row] == 1.0:
                self.carried.add((b, a, arc, self.lists[b].place(ends.taken([row]))))
