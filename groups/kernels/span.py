"""A span of instants: groups one after another over blocks of time."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from groups.kernels.invoke import invoke
from groups.kernels.lanes import LANES, after, lanes, room, select
from groups.kernels.vectors import ACCELERATION, POSITION, ROTATION, VELOCITY, put_rotation, rotation_of
from groups.status import BRANCH_JUMP, OK
from mbssa.arrays import Floats, Ints
from mbssa.compiled import inlined

Array = Any
Inputs = tuple[Floats, Floats, Floats]


class Data(NamedTuple):
    """The data of all groups, one after another, and the kernels that solve them."""

    #: Constants of the groups, and where those of each begin, (G + 1,).
    ints: Ints
    int_start: Ints
    floats: Floats
    float_start: Ints
    #: What the groups keep from one time step to the next, and room for one call, likewise.
    memory: Floats
    memory_start: Ints
    work: Floats
    work_start: Ints
    #: (G,) the kernel that solves each group, and the one that places its struts after that, or 0: as
    #: :func:`groups.kernels.invoke.invoke` takes them.
    kernel: Any
    legs: Any


#: Condition below which a dead point may lie between two instants.
CLOSE = 0.3
#: Condition below which three conditions are near enough to a dead point, where rates count too.
FINE = 0.1
#: Largest deviation of a body's displacement from that of its rates, over that at full speed.
LEAP = 0.3
#: Largest change that is no jump, relative to the size or rad.
BLUR = 1e-6


def solve_planar(
    groups: Ints, data: Data, S: Floats, span: tuple[int, int, int], inputs: Inputs, time: Floats,
    quality: Any, kept: Any, outputs: Any,
) -> None:  # fmt: skip
    """Solve planar groups over a span of time steps; arguments as :func:`solve_spatial` has them."""
    first, stop, level = span
    block = S.shape[2]
    at = first
    while at < stop:
        count = min(block - at % block, stop - at)
        load_planar(kept[1], kept[0], outputs, S, at, count)
        solve_groups(groups, data, data.memory, S, at, count, level, inputs, time, quality)
        store_planar(kept, outputs, S, at, count, level)
        at += count


def solve_spatial(
    groups: Ints, data: Data, S: Floats, span: tuple[int, int, int], inputs: Inputs, time: Floats,
    quality: Any, kept: Any, outputs: Any,
) -> None:  # fmt: skip
    """Solve groups over a span of time steps, in place."""
    first, stop, level = span
    block = S.shape[2]
    at = first
    while at < stop:
        count = min(block - at % block, stop - at)
        load_spatial(kept[1], kept[0], outputs, S, at, count)
        solve_groups(groups, data, data.memory, S, at, count, level, inputs, time, quality)
        store_spatial(kept, outputs, S, at, count, level)
        at += count


def solve_groups(
    groups: Ints, data: Data, memory: Floats, S: Floats, at: int, count: int, level: int, inputs: Inputs,
    time: Floats, quality: Any,
) -> None:  # fmt: skip
    """Solve groups over one block: ``count`` time steps from ``at`` on, each by its own kernel."""
    for g in groups:
        ints = data.ints[data.int_start[g] : data.int_start[g + 1]]
        floats = data.floats[data.float_start[g] : data.float_start[g + 1]]
        own = memory[data.memory_start[g] : data.memory_start[g + 1]]
        work = data.work[data.work_start[g] : data.work_start[g + 1]]
        invoke(data.kernel[g], g, ints, floats, S, at, count, inputs, time, own, work, quality, level)
        if data.legs[g] != 0:
            invoke(data.legs[g], g, ints, floats, S, at, count, inputs, time, own, work, quality, level)


def store_planar(kept: Any, outputs: Any, S: Array, at: Any, count: Any, level: Any) -> None:
    """Bring a block's results to the outputs."""
    row_of, _, written, _ = kept
    position, angle, velocity, acceleration = outputs
    for body in written:
        row = row_of[body]
        for k in lanes(count):
            t = after(at, k)
            position[row, t, 0], position[row, t, 1] = S[body, 0, k], S[body, 1, k]
        for k in lanes(count):
            angle[row, after(at, k)] = S[body, 4, k]
        if level > 0:
            put_three(velocity[row], 0, at, count, S[body, 5], S[body, 6], S[body, 7])
        if level > 1:
            put_three(acceleration[row], 0, at, count, S[body, 8], S[body, 9], S[body, 10])


def put_three(out: Array, column: int, at: Any, count: Any, x: Array, y: Array, z: Array) -> None:
    """Three rows of a block, side by side from a column and an instant on."""
    for k in lanes(count):
        t = after(at, k)
        out[t, column], out[t, column + 1], out[t, column + 2] = x[k], y[k], z[k]


def load_planar(bodies: Array, row_of: Array, outputs: Any, S: Array, at: Any, count: Any) -> None:
    """Read bodies of earlier groups."""
    position, angle, velocity, acceleration = outputs
    for body in bodies:
        row = row_of[body]
        for t in range(count):
            S[body, 0, t], S[body, 1, t] = position[row, at + t, 0], position[row, at + t, 1]
            turned = angle[row, at + t]
            S[body, 2, t], S[body, 3, t], S[body, 4, t] = math.cos(turned), math.sin(turned), turned
            if velocity.shape[1] > 0:
                for m in range(3):
                    S[body, 5 + m, t] = velocity[row, at + t, m]
            if acceleration.shape[1] > 0:
                for m in range(3):
                    S[body, 8 + m, t] = acceleration[row, at + t, m]


def store_spatial(kept: Any, outputs: Any, S: Array, at: Any, count: Any, level: Any) -> None:
    """Bring a block's results to the outputs; quaternions go on in the sign of the last."""
    row_of, _, written, last = kept
    position, orientation, velocity, acceleration = outputs
    Q = room(4, LANES)
    for body in written:
        row = row_of[body]
        w0, x0, y0, z0 = last[row, 0], last[row, 1], last[row, 2], last[row, 3]
        for begin in range(0, count, LANES):
            n, first = min(LANES, count - begin), at + begin
            turns = S[body, ROTATION : ROTATION + 9]
            for k in lanes(n):
                t = after(begin, k)
                Q[0, k], Q[1, k], Q[2, k], Q[3, k] = quaternion_of(
                    turns[0, t], turns[1, t], turns[2, t], turns[3, t], turns[4, t], turns[5, t], turns[6, t],
                    turns[7, t], turns[8, t],
                )  # fmt: skip
            for k in range(n):
                w, x, y, z = Q[0, k], Q[1, k], Q[2, k], Q[3, k]
                if w * w0 + x * x0 + y * y0 + z * z0 < 0.0:
                    w, x, y, z = -w, -x, -y, -z
                if w == w:
                    w0, x0, y0, z0 = w, x, y, z
                out = orientation[row, first + k]
                out[0], out[1], out[2], out[3] = w, x, y, z
        last[row, 0], last[row, 1], last[row, 2], last[row, 3] = w0, x0, y0, z0
        put_three(position[row], 0, at, count, S[body, POSITION], S[body, 1], S[body, 2])
        if level > 0:
            put_three(velocity[row], 0, at, count, S[body, VELOCITY], S[body, 13], S[body, 14])
            put_three(velocity[row], 3, at, count, S[body, 15], S[body, 16], S[body, 17])
        if level > 1:
            put_three(acceleration[row], 0, at, count, S[body, ACCELERATION], S[body, 19], S[body, 20])
            put_three(acceleration[row], 3, at, count, S[body, 21], S[body, 22], S[body, 23])


def load_spatial(bodies: Array, row_of: Array, outputs: Any, S: Array, at: Any, count: Any) -> None:
    """Read bodies of earlier groups."""
    position, orientation, velocity, acceleration = outputs
    for body in bodies:
        row = row_of[body]
        for t in range(count):
            for m in range(3):
                S[body, POSITION + m, t] = position[row, at + t, m]
            q = orientation[row, at + t]
            put_rotation(S, body, t, rotation_of(q[0], q[1], q[2], q[3]))
            if velocity.shape[1] > 0:
                for m in range(6):
                    S[body, VELOCITY + m, t] = velocity[row, at + t, m]
            if acceleration.shape[1] > 0:
                for m in range(6):
                    S[body, ACCELERATION + m, t] = acceleration[row, at + t, m]


def quaternion(state: Array) -> tuple[float, float, float, float]:
    """Unit quaternion w, x, y, z of a state's rotation."""
    r = state[ROTATION : ROTATION + 9]
    w, x, y, z = quaternion_of(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8])
    return w, x, y, z


@inlined
def quaternion_of(
    xx: Any, xy: Any, xz: Any, yx: Any, yy: Any, yz: Any, zx: Any, zy: Any, zz: Any
) -> tuple[Any, Any, Any, Any]:
    """Unit quaternion w, x, y, z of a rotation, row by row, without a branch: for loops over lanes."""
    by_w, by_x, by_y = xx + yy + zz > 0.0, (xx >= yy) & (xx >= zz), yy >= zz
    square = select(by_y, 1.0 + yy - xx - zz, 1.0 + zz - xx - yy)
    square = select(by_x, 1.0 + xx - yy - zz, square)
    square = select(by_w, 1.0 + (xx + yy + zz), square)
    root = np.sqrt(square)
    half, over = 0.5 * root, 0.5 / root
    a, b, c = (zy - yz) * over, (xz - zx) * over, (yx - xy) * over
    d, e, f = (xy + yx) * over, (xz + zx) * over, (yz + zy) * over
    w = select(by_w, half, select(by_x, a, select(by_y, b, c)))
    x = select(by_w, a, select(by_x, half, select(by_y, d, e)))
    y = select(by_w, b, select(by_x, d, select(by_y, half, f)))
    z = select(by_w, c, select(by_x, e, select(by_y, f, half)))
    return w, x, y, z


def turned_back(
    groups: Array,
    rows: Any,
    first: int,
    stop: int,
    time: Array,
    status: Array,
    condition: Array,
    paths: Any,
    size: float,
) -> int:
    """Mark instants at which a group has turned back at a dead point; returns how many."""
    found = 0
    for g in groups:
        lowest = 1.0
        for t in range(first, stop):
            lowest = min(lowest, condition[g, t])
        if lowest > CLOSE:
            continue
        for t in range(first + 1, stop):
            if status[g, t] != OK or min(condition[g, t - 1], condition[g, t]) > CLOSE:
                continue
            if status[g, t - 1] != OK:
                continue
            mine = rows[1][rows[0][g] : rows[0][g + 1]]
            back = leaps(mine, t, time[t] - time[t - 1], paths, size)
            fine = paths[3].shape[1] == 0 or condition[g, t - 1] < FINE
            if fine and t >= first + 3 and status[g, t - 2] == OK and status[g, t - 3] == OK:
                pace = time[t] - time[t - 1]
                even = abs(time[t - 1] - time[t - 2] - pace) + abs(time[t - 2] - time[t - 3] - pace)
                ahead = 3.0 * (condition[g, t - 1] - condition[g, t - 2]) + condition[g, t - 3]
                mirrored = abs(condition[g, t] + ahead) < -0.5 * ahead
                if even <= 1e-6 * pace and mirrored and condition[g, t - 1] < condition[g, t - 2]:
                    back = True
            if back:
                status[g, t] = BRANCH_JUMP
                found += 1
    return found


def leaps(rows: Array, t: int, pace: float, paths: Any, size: float) -> bool:
    """Whether a body's displacement is far from that of its rates at both ends (Hermite's rule)."""
    position, angle, velocity, acceleration = paths
    if acceleration.shape[1] == 0:
        return False
    wide = position.shape[2]
    for row in rows:
        off, fast = 0.0, 0.0
        for m in range(wide):
            v, w = velocity[row, t - 1, m], velocity[row, t, m]
            way = 0.5 * pace * (v + w) + pace * pace / 12.0 * (
                acceleration[row, t - 1, m] - acceleration[row, t, m]
            )
            off += (position[row, t, m] - position[row, t - 1, m] - way) ** 2
            fast += max(v * v, w * w)
        if math.sqrt(off) > LEAP * pace * math.sqrt(fast) + BLUR * size:
            return True
        if angle.shape[1] > 0:
            v, w = velocity[row, t - 1, wide], velocity[row, t, wide]
            bend = acceleration[row, t - 1, wide] - acceleration[row, t, wide]
            way = 0.5 * pace * (v + w) + pace * pace / 12.0 * bend
            if abs(angle[row, t] - angle[row, t - 1] - way) > LEAP * pace * max(abs(v), abs(w)) + BLUR:
                return True
    return False


def states(frame: Floats, n_bodies: int, block: int) -> Floats:
    """Workspace of a block's states in the layout of :mod:`groups.kernels`, with the frame's own in place."""
    S = np.zeros((n_bodies, len(frame), block))
    S[0] = frame[:, None]
    return S
