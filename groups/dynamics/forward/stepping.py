"""Explicit Runge-Kutta steps with SciPy's tableaus and step control, written once for both lives."""

from __future__ import annotations

from itertools import chain
from math import nan
from typing import Any

import numpy as np

from groups.dynamics.forward.evaluation import KEPT, LEAP, LOWER, NEAR, SHARE, STRAIGHT, How, Room
from mbssa.arrays import Floats
from mbssa.graph.nodes import Graph, exp, log
from mbssa.graph.script import Script, Value

#: The step after an evaluation that was refused: not a half, so that poses are not met again.
AFTER_REFUSAL = 0.57
#: Limits of the change of a step, and its safety, as in SciPy.
SLOWEST, FASTEST, SAFETY = 0.2, 10.0, 0.9
#: How a call of ``advance`` ends: at the end of the time, with a full record, with too small a step.
REACHED, FULL, STUCK = range(3)
#: A step is too small below this share of the time.
LEAST = 1e-15


def write_advance(c: Script, room: Room) -> None:
    """``advance``: steps until the end, or until the record is full."""
    # Where a stage is beyond a singular pose, ``straighten`` judges the step.
    kind, K, N, stages = room.kind, room.K, room.state, room.stages
    estimates, graph = [kind.E3, kind.E5] if room.extra else [kind.E], Graph()
    x = graph.input("error", 0)
    change = exp((-1.0 / (kind.error_estimator_order + 1)) * log(x))

    def evaluate(t: Value, k: int, how: How) -> None:
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
