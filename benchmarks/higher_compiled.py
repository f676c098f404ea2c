"""The rival of :mod:`benchmarks.higher_rival` compiled: the same unknowns, equations and start, by Numba.

What is left between it and our own dense solver is the two unknowns of every cam, not the language. Linear
systems are LAPACK's. Nothing is shared with our kernels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from benchmarks.higher_rival import CLOSED, STEPS, Answer, Rival, Side

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tables:
    """A rival's numbers, flat.

    ``joints`` (k, 3): kind 0 hinge, 1 slider, 2 cam, and the two bodies. ``ends`` (k, 2, 6): origin and the
    two axes on both. ``apart`` (k,): reference angle of sliders. ``curves`` (k, 2): where a cam's begin in
    ``breaks`` and ``table``, ``pieces`` and ``period`` of each.
    """

    joints: npt.NDArray[np.int64]
    ends: Floats
    apart: Floats
    curves: npt.NDArray[np.int64]
    pieces: npt.NDArray[np.int64]
    period: Floats
    breaks: Floats
    table: Floats


def tables(it: Rival) -> Tables:
    """The same numbers in the order that the loops want."""
    joints, ends = [], []
    for kind, (a, b) in enumerate((it.hinges, it.sliders, it.cams)):
        joints += [(kind, *bodies) for bodies in zip(a.body.tolist(), b.body.tolist(), strict=True)]
        ends += list(np.stack([_flat(a), _flat(b)], axis=1))
    apart = np.zeros(len(joints))
    first = len(it.hinges[0].body)
    apart[first : first + len(it.apart)] = it.apart
    curves = np.full((len(joints), 2), -1)
    pieces, period, breaks, table = [], [], [], []
    for end, profiles in enumerate(it.profiles):
        for k, users in enumerate(profiles.users):
            curves[first + len(it.apart) + users, end] = len(pieces)
            pieces.append(len(profiles.table[k]))
            period.append(profiles.period[k])
            breaks.append(profiles.breaks[k])
            table.append(profiles.table[k])
    starts = np.concatenate([[0], np.cumsum([len(one) for one in breaks])])[:-1]
    return Tables(
        np.array(joints),
        np.array(ends),
        apart,
        curves,
        np.stack([starts, np.concatenate([[0], np.cumsum(pieces)])[:-1], pieces], axis=1),
        np.array(period),
        np.concatenate(breaks),
        np.concatenate(table),
    )


def _flat(side: Side) -> Floats:
    return np.concatenate([side.origin, side.axes.transpose(0, 2, 1).reshape(-1, 4)], axis=1)


def solve(it: Rival, time: Floats, value: Floats, rate: Floats, acceleration: Floats) -> Answer:
    """As :func:`benchmarks.higher_rival.solve`, with LAPACK."""
    t = tables(it)
    answers = np.empty((3, len(time), 3 * it.bodies))
    iterations = np.zeros(len(time), dtype=np.int64)
    inputs = np.stack([value, rate, acceleration])
    reached = _solve(
        it.start, it.bodies, it.driven, it.zero, t.joints, t.ends, t.apart, t.curves, t.pieces, t.period,
        t.breaks, t.table, time, inputs, answers, iterations,
    )  # fmt: skip
    if reached < len(time):
        raise ArithmeticError(f"no answer at instant {reached}")
    position, velocity, bent = answers.reshape(3, len(time), it.bodies, 3)
    return Answer(position, velocity, bent, iterations)


@njit(cache=True, error_model="numpy")  # type: ignore[misc]
def _curve(s, which, pieces, period, breaks, table, out):
    """(4, 2) point and derivatives of one curve."""
    start, first, count = pieces[which]
    if period[which]:
        s -= period[which] * np.floor((s - breaks[start]) / period[which])
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        if breaks[start + middle] <= s:
            low = middle
        else:
            high = middle
    u = (s - breaks[start + low]) / (breaks[start + low + 1] - breaks[start + low])
    for level in range(4):
        for axis in range(2):
            value = 0.0
            for power in range(7, -1, -1):
                value = value * u + table[first + low, level, axis, power]
            out[level, axis] = value


@njit(cache=True, error_model="numpy")  # type: ignore[misc]
def _equations(q, v, second, bodies, driven, zero, inputs, joints, ends, apart, curves, pieces, period,
               breaks, table, side, J, local):  # fmt: skip
    """Fill ``side`` and ``J``; ``second``: the side of the accelerations instead of the residual."""
    J[:] = 0.0
    row, contact = 0, 3 * bodies
    arm, point, inward, moving = np.empty((2, 2)), np.empty((2, 2)), np.empty((2, 2)), np.empty((2, 2))
    cs, spin, first = np.empty((2, 2)), np.zeros(2), np.empty(2, np.int64)
    bent, way, world = np.empty((2, 2)), np.empty((2, 2)), np.empty((2, 4, 2))
    for j in range(len(joints)):
        kind = joints[j, 0]
        for e in range(2):
            body = joints[j, 1 + e]
            at = 3 * (body - 1)
            first[e] = at
            x, y, angle, vx, vy, w = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            if body:
                x, y, angle, vx, vy, w = q[at], q[at + 1], q[at + 2], v[at], v[at + 1], v[at + 2]
            c, s = np.cos(angle), np.sin(angle)
            cs[e, 0], cs[e, 1], spin[e] = c, s, w
            px, py = ends[j, e, 0], ends[j, e, 1]
            if kind == 2:
                _curve(q[contact + e], curves[j, e], pieces, period, breaks, table, local)
                xx, yx, xy, yy = ends[j, e, 2], ends[j, e, 3], ends[j, e, 4], ends[j, e, 5]
                for level in range(4):
                    lx = xx * local[level, 0] + xy * local[level, 1]
                    ly = yx * local[level, 0] + yy * local[level, 1]
                    if level == 0:
                        px, py = px + lx, py + ly
                    world[e, level, 0], world[e, level, 1] = c * lx - s * ly, s * lx + c * ly
            ax, ay = c * px - s * py, s * px + c * py
            arm[e, 0], arm[e, 1], point[e, 0], point[e, 1] = ax, ay, x + ax, y + ay
            inward[e, 0], inward[e, 1] = w * w * ax, w * w * ay
            moving[e, 0], moving[e, 1] = vx - w * ay, vy + w * ax
        dx, dy = point[1, 0] - point[0, 0], point[1, 1] - point[0, 1]
        if kind == 1:
            # The stored second axis of the first body, its normal.
            lx, ly = ends[j, 0, 4], ends[j, 0, 5]
            nx, ny = cs[0, 0] * lx - cs[0, 1] * ly, cs[0, 1] * lx + cs[0, 0] * ly
            for e, sign in ((0, -1.0), (1, 1.0)):
                at = first[e]
                if at >= 0:
                    J[row, at], J[row, at + 1] = sign * nx, sign * ny
                    J[row, at + 2] = sign * (ny * arm[e, 0] - nx * arm[e, 1])
                    if e == 0:
                        J[row, at + 2] += nx * dy - ny * dx
                    J[row + 1, at + 2] = sign
            if second:
                w = spin[0]
                ix, iy = inward[1, 0] - inward[0, 0], inward[1, 1] - inward[0, 1]
                mx, my = moving[1, 0] - moving[0, 0], moving[1, 1] - moving[0, 1]
                side[row] = nx * ix + ny * iy + w * w * (nx * dx + ny * dy) - 2.0 * w * (nx * my - ny * mx)
                side[row + 1] = 0.0
            else:
                side[row] = nx * dx + ny * dy
                turned = -apart[j]
                for e, sign in ((0, -1.0), (1, 1.0)):
                    if first[e] >= 0:
                        turned += sign * q[first[e] + 2]
                side[row + 1] = turned
            row += 2
            continue
        for e, sign in ((0, -1.0), (1, 1.0)):
            at = first[e]
            if at >= 0:
                J[row, at], J[row + 1, at + 1] = sign, sign
                J[row, at + 2], J[row + 1, at + 2] = -sign * arm[e, 1], sign * arm[e, 0]
        if kind == 0:
            side[row] = inward[1, 0] - inward[0, 0] if second else dx
            side[row + 1] = inward[1, 1] - inward[0, 1] if second else dy
            row += 2
            continue
        ta, tb, ca, cb = world[0, 1], world[1, 1], world[0, 2], world[1, 2]
        for e, sign in ((0, -1.0), (1, 1.0)):
            J[row, contact + e], J[row + 1, contact + e] = sign * world[e, 1, 0], sign * world[e, 1, 1]
            if first[e] >= 0:
                J[row + 2, first[e] + 2] = sign * (ta[0] * tb[0] + ta[1] * tb[1])
        J[row + 2, contact] = ca[0] * tb[1] - ca[1] * tb[0]
        J[row + 2, contact + 1] = ta[0] * cb[1] - ta[1] * cb[0]
        if second:
            for e in range(2):
                w, u = spin[e], v[contact + e]
                t, c, d = world[e, 1], world[e, 2], world[e, 3]
                inward[e, 0] += 2.0 * w * u * t[1] - c[0] * u * u
                inward[e, 1] += -2.0 * w * u * t[0] - c[1] * u * u
                way[e, 0], way[e, 1] = -w * t[1] + c[0] * u, w * t[0] + c[1] * u
                bent[e, 0] = -2.0 * w * u * c[1] - w * w * t[0] + d[0] * u * u
                bent[e, 1] = 2.0 * w * u * c[0] - w * w * t[1] + d[1] * u * u
            side[row], side[row + 1] = inward[1, 0] - inward[0, 0], inward[1, 1] - inward[0, 1]
            side[row + 2] = -(
                bent[0, 0] * tb[1] - bent[0, 1] * tb[0] + ta[0] * bent[1, 1] - ta[1] * bent[1, 0]
            ) - 2.0 * (way[0, 0] * way[1, 1] - way[0, 1] * way[1, 0])
        else:
            side[row], side[row + 1], side[row + 2] = dx, dy, ta[0] * tb[1] - ta[1] * tb[0]
        row, contact = row + 3, contact + 2
    for k in range(len(driven)):
        at = 3 * (driven[k] - 1) + 2
        J[row, at] = 1.0
        side[row] = 0.0 if second else q[at] - zero[k] - inputs[k]
        row += 1


@njit(cache=True, error_model="numpy")  # type: ignore[misc]
def _solve(start, bodies, driven, zero, joints, ends, apart, curves, pieces, period, breaks, table, time,
           inputs, answers, iterations):  # fmt: skip
    """Instants solved before the first that is not."""
    n = len(start)
    q, v, a = start.copy(), np.zeros(n), np.zeros(n)
    side, J, local = np.empty(n), np.empty((n, n)), np.empty((4, 2))
    drives = n - len(driven)
    for t in range(len(time)):
        step = time[t] - time[t - 1] if t else 0.0
        q += step * (v + 0.5 * step * a)
        value = inputs[0, :, t]
        met = False
        for _ in range(STEPS):
            _equations(q, v, False, bodies, driven, zero, value, joints, ends, apart, curves, pieces, period,
                       breaks, table, side, J, local)  # fmt: skip
            if np.abs(side).max() < CLOSED:
                met = True
                break
            q -= np.linalg.solve(J, side)
            iterations[t] += 1
        if not met:
            return t
        side[:] = 0.0
        side[drives:] = inputs[1, :, t]
        v = np.linalg.solve(J, side)
        _equations(q, v, True, bodies, driven, zero, value, joints, ends, apart, curves, pieces, period,
                   breaks, table, side, J, local)  # fmt: skip
        side[drives:] = inputs[2, :, t]
        a = np.linalg.solve(J, side)
        answers[0, t], answers[1, t], answers[2, t] = q[: 3 * bodies], v[: 3 * bodies], a[: 3 * bodies]
    return len(time)
