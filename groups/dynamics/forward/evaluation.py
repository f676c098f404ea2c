"""Accelerations in a state and steps of an integrator, written once for both lives."""

# A state is (x, v, work): all coordinates of the trees, their rates, and the work of all loads but weight. An
# evaluation brings x and v onto the constraints by the coordinates that are dependent, and finds the
# accelerations of the independent ones. No coordinate is independent for good: at the end of every step those
# are taken by which the others move least.

from __future__ import annotations

from itertools import chain
from math import nan
from typing import Any

import numpy as np

from groups.dynamics.forward.traced import Traced
from groups.engine.arrays import quintic
from mbssa.arrays import Floats
from mbssa.graph.nodes import Graph, Number, exp, is_node, log, polynomial
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
#: The step after an evaluation that was refused: not a half, so that poses are not met again.
AFTER_REFUSAL = 0.57
#: Limits of the change of a step, and its safety, as in SciPy.
SLOWEST, FASTEST, SAFETY = 0.2, 10.0, 0.9
#: How a call of ``advance`` ends: at the end of the time, with a full record, with too small a step.
REACHED, FULL, STUCK = range(3)
#: A step is too small below this share of the time.
LEAST = 1e-15
#: Numbers of an evaluation that each step keeps: energies, the least pivot, the first correction, the largest
#: residual of rows without a pivot, and whether a stage is beyond a singular pose.
KEPT = "kinetic", "potential", "pivot", "first", "rest", "crossed"


class How:
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


# --- steps: explicit Runge-Kutta with SciPy's tableaus and step control ----------------------------------


def write_advance(c: Script, room: Room) -> None:
    """``advance``: steps until the end, or until the record is full."""
    # Where a stage is beyond a singular pose, ``straighten`` judges the step.
    kind, K, N, stages = room.kind, room.K, room.state, room.stages
    estimates, graph = [kind.E3, kind.E5] if room.extra else [kind.E], Graph()
    x = graph.input("error", 0)
    change = exp((-1.0 / (kind.error_estimator_order + 1)) * log(x))

    def evaluate(t: Value, k: int, how: int) -> None:
        c.put(room.time, t)
        c.put_whole(room.how, how)
        c.call("evaluate")
        c.copy(K[k], room.rate, N)
        c.put_whole(room.evaluations, c.whole(room.evaluations) + 1)

    def combined(row: Any, h: Value) -> None:
        with c.loop(N) as i:
            total = c.sum([float(a) * c.number(i + K[j]) for j, a in enumerate(row) if a])
            c.put(i + room.given, c.number(i + room.y) + h * total)

    with c.function("advance"):
        one = c.value(1.0, "number")
        c.put_whole(room.taken, 0)
        with c.repeat():
            c.copy_wholes(room.before, 0, room.restored)
            c.put(room.noise, 0.0)
            c.put(room.crossed, 0.0)
            t, end = c.number(room.t), c.number(room.end)
            h = c.smaller(c.number(room.step), c.number(room.longest))
            last = h >= end - t
            h = c.chosen(last, end - t, h)
            c.put(room.h, h)
            following = c.chosen(last, end, t + h)
            c.put(room.error, nan)
            with c.repeat():  # until a stage is refused
                for s in range(1, stages):
                    combined(kind.A[s], h)
                    evaluate(t + float(kind.C[s]) * h, s, How.GIVEN)
                    c.leave(c.number(K[s] + N - 1).is_not(c.number(K[s] + N - 1)))
                combined(kind.B, h)
                evaluate(following, stages, How.ALL)
                # ---- the error, as SciPy estimates it, by the state before it was closed
                sums = [c.variable(c.value(0.0, "number")) for _ in estimates]
                noise = h * c.number(room.noise) + c.number(room.absolute)
                with c.loop(N) as i:
                    size = c.larger(c.size(c.number(i + room.y)), c.size(c.number(i + room.given)))
                    weight = 1.0 / (noise + c.number(room.relative) * size)
                    for E, total in zip(estimates, sums, strict=True):
                        off = c.sum([float(e) * c.number(i + K[j]) for j, e in enumerate(E) if e]) * weight
                        total.set(total.get() + off * off)
                third, fifth = sums[0].get(), sums[-1].get()
                if room.extra:
                    c.put(room.error, h * fifth / c.root(float(N) * (fifth + 0.01 * third) + 1e-300))
                else:
                    c.put(room.error, h * c.root(fifth * (1.0 / N)))
                with c.when((c.number(room.crossed) > 0.0) & (c.number(room.error) < 1.0)):
                    c.call("straighten")
                    error, straight = c.number(room.error), c.number(room.off) <= STRAIGHT
                    c.put(room.error, c.chosen(straight, error, c.value(nan, "number")))
                c.leave(t.is_(t))
            error = c.number(room.error)
            accepted, refused = error < 1.0, error.is_not(error)
            factor = c.variable(c.value(AFTER_REFUSAL, "number"))
            with c.when(error.is_(error)):
                write = c.formulas(lambda *_: room.error, [change])
                c.put(room.error, c.larger(error, 1e-30))
                factor.set(c.larger(SAFETY * write([change])[0], SLOWEST))
            c.put_whole(room.why, FULL)
            with c.when(accepted):
                most = c.chosen(c.number(room.again) > 0.0, one, c.value(FASTEST, "number"))
                c.put(room.step, h * c.smaller(factor.get(), most))
                c.put(room.again, 0.0)
                _accept(c, room, following, evaluate, combined)
                with c.when(last):
                    c.put_whole(room.why, REACHED)
            with c.when(refused | (error >= 1.0)):
                c.copy_wholes(0, room.before, room.restored)
                c.put(room.again, c.chosen(refused, c.value(0.0, "number"), one))
                c.put(room.near, c.number(room.near) * c.chosen(refused, c.value(LOWER, "number"), one))
                h = h * c.smaller(factor.get(), 1.0)
                c.put(room.step, h)
                with c.when(h < c.larger(c.size(t), 1e-3) * LEAST):
                    c.put_whole(room.why, STUCK)
            full = (c.whole(room.taken) >= c.whole(room.most)) & accepted
            c.leave(full | c.whole(room.why).is_not(FULL))


def _accept(c: Script, room: Room, t: Value, evaluate: Any, combined: Any) -> None:
    """Record the step, with its interpolant where that is wanted, and go on from its end."""
    kind, N, K, stages, at = room.kind, room.state, room.K, room.stages, room.of_step
    row = c.whole(room.taken) * room.width + room.record
    state = row + at["state"]
    c.put(row + at["t"], t)
    c.put(row + at["h"], c.number(room.h))
    c.copy(row + at[KEPT[0]], room.kinetic, len(KEPT))
    with c.loop(room.free) as q:
        c.put(q + row + at["free"], c.as_number(c.whole(q + room.open)))
    c.copy(state, room.x, N)
    # ---- what the next step begins with
    c.put(room.speed, c.number(room.trial))
    c.copy(room.signs, room.trials, room.pivots)
    c.put(room.near, c.smaller(c.number(room.pivot) * SHARE, NEAR))
    wanted = c.whole(room.dense).is_(1) | (c.number(c.whole(room.sample) + room.samples) <= t)
    with c.when(wanted):
        c.copy_wholes(room.after, 0, room.restored)
        # Columns of the interpolant, as SciPy has them.
        columns, h, begin = row + at["columns"], c.number(room.h), c.number(room.t)
        for k in range(room.extra):
            combined(kind.A_EXTRA[k], h)
            evaluate(begin + float(kind.C_EXTRA[k]) * h, stages + 1 + k, How.LOOK)
        rows = kind.D if room.extra else np.asarray(kind.P).T
        with c.loop(N) as i:
            numbers, own = [c.number(i + k) for k in K], list[Value]()
            if room.extra:
                change = c.number(i + state) - c.number(i + room.y)
                first, last = h * numbers[0], h * numbers[stages]
                own = [change, first - change, 2.0 * change - last - first]
            parts = ([float(e) * x for e, x in zip(factors, numbers, strict=False) if e] for factors in rows)
            for k, x in enumerate(chain(own, (h * c.sum(part) for part in parts))):
                c.put(i + columns + k * N, x)
        with c.repeat():
            c.leave(c.number(c.whole(room.sample) + room.samples) > t)
            _sample(c, room, columns)
            c.put_whole(room.sample, c.whole(room.sample) + 1)
        c.copy_wholes(0, room.after, room.restored)
    c.put(room.t, t)
    c.copy(room.y, state, N)
    c.copy(K[0], K[stages], N)
    c.put_whole(room.taken, c.whole(room.taken) + 1)


def _sample(c: Script, room: Room, at: Value) -> None:
    """The next sample, by the interpolant of a step, brought onto the constraints."""
    n, N, index = room.n, room.state, c.whole(room.sample)
    time = c.number(index + room.samples)
    h = c.number(room.h)
    s = (time - c.number(room.t)) / h
    factors = (s, 1.0), (1.0 - s, -1.0) if room.extra else (s, 1.0)
    with c.loop(N) as i:
        total = slope = c.value(0.0, "number")
        for k in range(room.powers):
            factor, change = factors[k % 2]
            total = total + c.number(i + at + (room.powers - 1 - k) * N)
            total, slope = total * factor, slope * factor + change * total
        c.put(i + room.given, c.number(i + room.y) + total)
        c.put(i + room.rate, slope / h)
    c.copy(room.second, room.rate + n, n)
    c.put(room.time, time)
    c.put_whole(room.how, How.LOOK)
    c.call("evaluate")
    to = index * room.answer + c.whole(room.answers)
    pivot, power = c.number(room.pivot), c.number(room.rate + 2 * n)
    near = power.is_(power) & (c.number(room.first) <= LEAP * pivot)
    c.copy(to, room.given, 2 * n)
    c.copy(to + 2 * n, room.second, n)
    with c.when(near):
        c.copy(to, room.x, 2 * n)
        c.copy(to + 2 * n, room.rate + n, n)
    c.put(to + 3 * n, c.number(room.work))
    c.put(to + 3 * n + 1, c.chosen(near, power, c.value(nan, "number")))
    c.put(to + 3 * n + 2, pivot)


def interpolated(room: Room, y: Floats, columns: Floats, share: float) -> Floats:
    """State (N,) at a part of a step, from its first state and its interpolant (powers, N)."""
    found = np.zeros_like(y)
    for k, column in enumerate(columns[::-1]):
        found = (found + column) * (1 - share if room.extra and k % 2 else share)
    return y + found
