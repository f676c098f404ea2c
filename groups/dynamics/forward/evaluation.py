"""Accelerations in a state, written once for both lives: Newton's method, rates, balance of forces."""

# A state is (x, v, work): all coordinates of the trees, their rates, and the work of all loads but weight. An
# evaluation brings x and v onto the constraints by the coordinates that are dependent, and finds the
# accelerations of the independent ones. No coordinate is independent for good: at the end of every step those
# are taken by which the others move least.

from __future__ import annotations

from enum import IntEnum
from math import nan
from typing import Any

import numpy as np

from groups.dynamics.forward.traced import Traced
from groups.engine.arrays import quintic
from mbssa.graph.nodes import Number, is_node, polynomial
from mbssa.graph.script import Script, Value

#: Newton's method ends: with a step below TOLERANCE, or below the run's own times the square of the least
#: pivot; after one below SMALL times the least pivot; after one below DONE, if the next is no smaller.
TOLERANCE, SMALL, DONE, MOST = 1e-13, 1e-7, 1e-9, 12
#: Least pivot of a pose that is evaluated: steps go over poses nearer to a singular one. The limit falls by
#: LOWER with each step that meets one; where a step begins it is at most this SHARE of the pivot there.
NEAR, LOWER, SHARE = 1e-2, 0.4, 0.5
#: Over the square and the cube of the least pivot: errors of rates and accelerations that no step is without.
ROUNDING = 1e-15
#: A step past a singular pose closes the groups so well, in units of coordinates, at places BETWEEN its ends.
STRAIGHT, BETWEEN = 1e-9, 8
#: A first correction may be this share of the least pivot, which is the way to another branch; and a
#: correction of rates this share of the largest rate.
LEAP, TURN = 0.25, 0.1
#: Least pivot of the mass matrix over its diagonal.
MASSLESS = 1e-13
#: An independent coordinate stays so unless its pivot is larger than that of any other by more than this.
STAYS = 0.3
#: Steps that are taken at once.
CAPACITY = 16
#: Numbers of an evaluation that each step keeps: energies, the least pivot, the first correction, the largest
#: residual of rows without a pivot, and whether a stage is beyond a singular pose.
KEPT = "kinetic", "potential", "pivot", "first", "rest", "crossed"


class How(IntEnum):
    """Choices of pivots."""

    # As they were; among all coordinates; and what is not judged: among a group's own, then for poses near to
    # a singular one, too, a look among all, and a trial with those that were.
    GIVEN, ALL, OWN, LOOK, TRIAL = range(5)


class Room:
    """Places in the memory: of numbers and of whole numbers by name, one or so many of each."""

    def __init__(self, traced: Traced, applied: int, integrator: str) -> None:
        import scipy.integrate

        n, m, F, P, N = traced.n, traced.m, traced.free, len(traced.blocks), 2 * traced.n + 1
        self.n, self.m, self.free, self.pivots, self.state = n, m, F, P, N
        kind = self.kind = getattr(scipy.integrate, integrator)
        self.stages, self.extra = len(kind.B), len(getattr(kind, "A_EXTRA", ()))
        #: Columns of the interpolant: powers of the way.
        self.powers = 7 if self.extra else kind.P.shape[1]
        slots, one = self.stages + 1 + self.extra, ()
        #: Numbers of a step, with its interpolant, and their places in it.
        kept, columns = dict.fromkeys(KEPT, one), (self.powers, N)
        self.steps = _laid(np.float64, t=one, h=one, **kept, free=F, state=N, columns=columns)
        self.width, self.of_step = self.steps.itemsize // 8, _places(self.steps)
        self.numbers = _laid(
            np.float64, time=one, x=n, v=n, work=one, rate=N, **kept, given=N,
            # Largest rate so far and now; error by rounding; least pivot; tolerance; rest of redundant rows.
            speed=one, trial=one, noise=one, near=one, close=one, allowed=one,
            # How far the step past a singular pose is from straight; rank of the masses; whether Newton's
            # method has ended.
            off=one, rank=one, found=one,
            signs=P, trials=P, unit=n, weight=m, A=(m, n), b=m, R=(n, F), a=n, mass=(F, F), force=F,
            # The mass matrix (its lower triangle) and the forces, before they are solved.
            matrix=(F, F), forces=F, law=3 * len(traced.law_rows), applied=applied,
            # By coordinate, how willingly it becomes dependent; rates at the beginning and in stages.
            between=n, prefer=n, stage=(slots, N), y=N,
            t=one, end=one, step=one, longest=one, relative=one, absolute=one, error=one, h=one, again=one,
            record=(CAPACITY, self.width), second=n,
        )  # fmt: skip
        # Pivots, which a step that is refused restores, and such as stood before; blocks; columns of a
        # pivot's row that are not zero.
        restored = {"row": P, "column": P, "open": n, "used": m, "shut": n}
        self.restored = sum(restored.values())
        self.wholes = _laid(
            np.int64, **restored, top=P, bottom=P, left=P, right=P, how=one, there=n,
            before=self.restored, after=self.restored,
            # Steps that were taken and that may be, reason of the end, evaluations, whether interpolants are
            # wanted, next sample.
            taken=one, most=one, why=one, evaluations=one, dense=one, sample=one, answers=one,
        )  # fmt: skip
        vars(self).update(_places(self.numbers) | _places(self.wholes))
        #: Places of the stages' rates.
        self.K = [self.stage + k * N for k in range(slots)]
        #: Times of the samples, the last one infinite. At the place ``answers``, for each: coordinates, rates
        #: and second rates, work, power, and the least pivot; where the state is not closed, those of the
        #: interpolant, and the power is NaN.
        self.samples, self.answer = self.numbers.itemsize // 8, 3 * n + 3

    def __getattr__(self, name: str) -> int:
        raise AttributeError(name)  # of places, which are whole numbers

    def input(self, name: str, k: Any) -> int:
        """Place of an input of the traced equations."""
        return int(getattr(self, "time" if name == "t" else name)) + int(k)


def _laid(kind: type, **counts: int | tuple[int, ...]) -> np.dtype[Any]:
    """Numbers of one kind by name, one after another."""
    return np.dtype([(name, kind, count) for name, count in counts.items()])


def _places(layout: np.dtype[Any]) -> dict[str, int]:
    return {name: at // 8 for name, (_, at, *_) in (layout.fields or {}).items()}


def write_evaluation(c: Script, traced: Traced, room: Room, ask: bool) -> None:
    """``evaluate`` and the functions that it calls, and ``straighten``; it may ask for what time gives."""
    _eliminate(c, room)
    _solve(c, room)
    _weigh(c, room)
    _evaluate(c, traced, room, ask)
    _straighten(c, traced, room)


def _eliminate(c: Script, room: Room) -> None:
    """``eliminate``: Gauss-Jordan with pivots that are given or sought; the factors stay in A."""
    # After it an open column j has the solution of A x = column j. The least pivot, columns by units and rows
    # by weights, vanishes where the rows depend on one another.
    m, n = room.m, room.n
    with c.function("eliminate"):
        how = c.whole(room.how)
        sought = (how > How.GIVEN) & (how < How.TRIAL)
        with c.when(sought):
            c.fill(room.prefer, n, 1.0)
            with c.loop(room.free) as q:
                c.put(c.whole(q + room.open) + room.prefer, STAYS)
        with c.loop(n) as j:
            c.put_whole(j + room.open, j)
            c.put_whole(j + room.shut, 0)
        with c.loop(m) as i:
            c.put_whole(i + room.used, 0)
        left, least = c.variable(c.value(n, "whole")), c.variable(c.value(1e300, "number"))

        def size_of(i: Value, j: Value) -> Value:
            x = c.size(c.number(i * n + j + room.A)) * c.number(j + room.unit)
            return x * c.number(i + room.weight)

        with c.loop(room.pivots) as k:
            with c.when(sought):
                best = c.variable(c.value(-1.0, "number"))
                own = how.is_(How.OWN)
                first = c.chosen(own, c.whole(k + room.left), c.value(0, "whole"))
                end = c.chosen(own, c.whole(k + room.right), c.value(n, "whole"))
                bottom, top = c.whole(k + room.bottom), c.whole(k + room.top)
                with c.loop(bottom, top) as i, c.when(c.whole(i + room.used).is_(0)), c.loop(end, first) as j:
                    size = size_of(i, j) * c.number(j + room.prefer)
                    with c.when(c.whole(j + room.shut).is_(0) & (size > best.get())):
                        best.set(size)
                        c.put_whole(k + room.row, i)
                        c.put_whole(k + room.column, j)
            r, p = c.whole(k + room.row), c.whole(k + room.column)
            c.put_whole(r + room.used, 1)
            c.put_whole(p + room.shut, 1)
            least.set(c.smaller(size_of(r, p), least.get()))
            still = left.get() - 1
            left.set(still)
            last = c.whole(still + room.open)
            with c.loop(still) as q, c.when(c.whole(q + room.open).is_(p)):
                c.put_whole(q + room.open, last)  # the last of the open columns takes the place of this one
            at = r * n + room.A
            inverse = 1.0 / c.number(at + p)
            c.put(at + p, inverse)
            found = c.variable(c.value(0, "whole"))
            with c.loop(still) as q:
                j = c.whole(q + room.open)
                x = c.number(at + j)
                with c.when(x.is_not(0.0)):
                    c.put(at + j, x * inverse)
                    c.put_whole(found.get() + room.there, j)
                    found.set(found.get() + 1)
            count = found.get()
            with c.loop(m) as i:
                line = i * n + room.A
                factor = c.number(line + p)
                with c.when(factor.is_not(0.0) & i.is_not(r)), c.loop(count) as q:
                    j = c.whole(q + room.there)
                    c.put(line + j, c.number(line + j) - factor * c.number(at + j))
        c.put(room.pivot, least.get())


def _solve(c: Script, room: Room) -> None:
    """``solve``: the same for the right side b; a is the solution, turned round, by coordinate."""
    n = room.n
    with c.function("solve"):
        c.fill(room.a, n)
        with c.loop(room.pivots) as k:
            r, p = c.whole(k + room.row), c.whole(k + room.column)
            x = c.number(r + room.b) * c.number(r * n + p + room.A)
            c.put(r + room.b, x)
            with c.when(x.is_not(0.0)), c.loop(room.m) as i:
                factor = c.number(i * n + p + room.A)
                with c.when(factor.is_not(0.0) & i.is_not(r)):
                    c.put(i + room.b, c.number(i + room.b) - factor * x)
        with c.loop(room.pivots) as k:
            c.put(c.whole(k + room.column) + room.a, -1.0 * c.number(c.whole(k + room.row) + room.b))


def _weigh(c: Script, room: Room) -> None:
    """``weigh``: second rates of the independent coordinates by the mass matrix, in place of the forces."""
    F = room.free
    with c.function("weigh"):
        rank = c.variable(c.value(1.0, "number"))
        with c.loop(F) as k:
            pivot = c.number(k * F + k + room.mass)
            rank.set(c.smaller(pivot / c.number(k * F + k + room.matrix), rank.get()))
            with c.loop(F, k + 1) as i:
                factor = c.number(i * F + k + room.mass) / pivot
                c.put(i + room.force, c.number(i + room.force) - factor * c.number(k + room.force))
                with c.loop(i + 1, k + 1) as j:
                    at = i * F + j + room.mass
                    c.put(at, c.number(at) - factor * c.number(j * F + k + room.mass))
        c.put(room.rank, rank.get())
        with c.loop(F) as q:
            k = c.value(F - 1, "whole") - q
            x = c.variable(c.number(k + room.force))
            with c.loop(F, k + 1) as i:
                x.set(x.get() - c.number(i * F + k + room.mass) * c.number(i + room.force))
            c.put(k + room.force, x.get() / c.number(k * F + k + room.mass))


def _evaluate(c: Script, traced: Traced, room: Room, ask: bool) -> None:
    """``evaluate``: the rate of the given state; that of its work is NaN where it is refused."""
    n, F, refusal, zero = room.n, room.free, room.rate + 2 * room.n, c.value(0.0, "number")
    with c.function("evaluate", refusal):
        if ask:
            c.ask()
        how = c.whole(room.how)
        c.copy(room.x, room.given, room.state)
        write = c.formulas(room.input, traced.results)

        # ---- Newton's method on all groups at once
        steps, last = c.variable(c.value(0, "whole")), c.variable(zero + 1.0)
        c.put(room.found, 0.0)
        with c.repeat():
            rows, slopes = write(traced.rows), write(list(traced.jacobian.values()))
            c.fill(room.A, room.m * n)
            for (row, column), x in zip(traced.jacobian, slopes, strict=True):
                c.put(room.A + row * n + column, x)
            _put(c, room.b, rows)
            c.call("eliminate")
            c.call("solve")
            least, size = c.number(room.pivot), c.variable(zero)
            with c.loop(n) as k:
                step = c.number(k + room.a)
                c.put(k + room.x, c.number(k + room.x) + step)
                size.set(c.larger(c.size(step) / c.number(k + room.unit), size.get()))
            big, before, taken = size.get(), last.get(), steps.get()
            with c.when(taken.is_(0)):
                c.put(room.first, big)
            close = c.number(room.close) * least * c.smaller(least, 1.0)
            stuck = (before < DONE) & (big >= before)
            with c.when((big <= c.larger(close, TOLERANCE)) | (before < SMALL * least) | stuck):
                c.put(room.found, 1.0)
            last.set(big)
            steps.set(taken + 1)
            c.leave((c.number(room.found) > 0.0) | (taken >= MOST - 1))
        rest = c.variable(zero)  # the largest residual of the rows without a pivot
        with c.loop(room.m) as i, c.when(c.whole(i + room.used).is_(0)):
            rest.set(c.larger(c.size(c.number(i + room.b)) * c.number(i + room.weight), rest.get()))
        c.put(room.rest, rest.get())

        # ---- all rates by those of the independent coordinates
        c.fill(room.R, n * F)
        free = [c.whole(room.open + q) for q in range(F)]
        for q, u in enumerate(free):
            c.put(u * F + room.R + q, 1.0)
        with c.loop(room.pivots) as k:
            r, p = c.whole(k + room.row), c.whole(k + room.column)
            for q, u in enumerate(free):
                c.put(p * F + room.R + q, -1.0 * c.number(r * n + u + room.A))
        c.fill(room.a, n)
        if traced.law_rows:
            _put(c, room.b, write(traced.moved))
            c.call("solve")
        given = [c.number(u + room.given + n) for u in free]
        speed, leap = c.variable(zero), c.variable(zero)
        with c.loop(n) as i:
            parts = [c.number(i * F + room.R + q) * x for q, x in enumerate(given)]
            v, unit = c.sum([c.number(i + room.a), *parts]), c.number(i + room.unit)
            speed.set(c.larger(c.size(v) / unit, speed.get()))
            leap.set(c.larger(c.size(v - c.number(i + room.v)) / unit, leap.get()))
            c.put(i + room.v, v)
            c.put(i + room.rate, v)

        # ---- balance of forces
        _put(c, room.b, write(traced.bias))
        c.call("solve")
        lower, forces = [write(row) for row in traced.mass], write(traced.force)
        power, kinetic, potential = write([traced.power, traced.kinetic, traced.potential])
        for q in range(F):
            _put(c, room.matrix + q * F, lower[q])
        _put(c, room.forces, forces[:F])
        c.copy(room.mass, room.matrix, F * F)
        c.copy(room.force, room.forces, F)
        c.call("weigh")
        second = [c.number(room.force + q) for q in range(F)]
        if traced.law_rows:  # what drives the laws
            parts = [x * y for x, y in zip(lower[-1], second, strict=False)]
            power = power + c.sum(parts) - forces[-1]
        with c.loop(n) as i:
            parts = [c.number(i * F + room.R + q) * y for q, y in enumerate(second)]
            c.put(i + room.rate + n, c.sum([c.number(i + room.a), *parts]))
        c.put(room.kinetic, kinetic)
        c.put(room.potential, potential)

        # ---- whether the state is solved, on the branch of the step's beginning
        least, first = c.number(room.pivot), c.number(room.first)
        fastest = c.larger(speed.get(), c.number(room.speed))
        c.put(room.trial, fastest)
        over = 1.0 / least
        noise = ROUNDING * over * over * fastest * (1.0 + fastest * over)
        c.put(room.noise, c.larger(noise, c.number(room.noise)))
        same = ((first <= LEAP * least) & (leap.get() <= TURN * fastest)) | (how > How.ALL)
        with c.loop(room.pivots) as k:
            r, p = c.whole(k + room.row), c.whole(k + room.column)
            inverse = c.number(r * n + p + room.A)
            c.put(k + room.trials, inverse)
            with c.when((inverse * c.number(k + room.signs) < 0.0) & how.is_(How.GIVEN)):
                c.put(room.crossed, 1.0)
        near, sound = c.chosen(how > How.OWN, zero, c.number(room.near)), c.sum([power, *second])
        fine = (c.number(room.found) > 0.0) & same & (least > near) & (c.number(room.rank) > MASSLESS)
        fine = fine & sound.is_(sound) & (c.number(room.rest) <= c.number(room.allowed))
        c.put(refusal, c.chosen(fine, power, c.value(nan, "number")))


def _put(c: Script, at: int, values: list[Value]) -> None:
    for k, x in enumerate(values):
        c.put(at + k, x)


def _straighten(c: Script, traced: Traced, room: Room) -> None:
    """``straighten``: how far the groups are open along the curve through the ends of a step."""
    # Two branches that meet are both smooth there, so that the curve closes the groups. Where they only come
    # near each other it does not, and the step has leapt from one to the other.
    n, y, f, y1, f1 = room.n, room.y, room.K[0], room.x, room.K[room.stages]
    rows = traced.rows[len(traced.law_rows) :]
    every: list[Number] = [x for x in rows if is_node(x)]
    with c.function("straighten", room.off):
        most, h = c.variable(c.value(0.0, "number")), c.number(room.h)
        c.put(room.off, 0.0)
        write = c.formulas(lambda name, k: room.between + k if name == "x" else room.input(name, k), every)
        with c.loop(BETWEEN, 1) as k:
            share = c.as_number(k) * (1.0 / BETWEEN)
            with c.loop(n) as i:
                left, right = ([c.number(i + at) for at in (x, v, v + n)] for x, v in ((y, f), (y1, f1)))
                c.put(i + room.between, polynomial(share, quintic(left, right, h)))
            for at, (row, x) in enumerate(zip(rows, write(rows), strict=True), len(traced.law_rows)):
                if is_node(row):
                    most.set(c.larger(c.size(x) * c.number(room.weight + at), most.get()))
        c.put(room.off, most.get())
