"""Linear springs, dampers and constant forces at one instant: between points, and along joint coordinates."""

from __future__ import annotations

import math
from typing import Any

from groups.kernels.jets import Rows, evaluate
from groups.kernels.vectors import rotation_of

Array = Any
#: P (N, 3), R (N, 3, 3), V (N, 6), T (N,), as :mod:`groups.kernels.jets` has them
Stage = tuple[Array, Array, Array, Array]
#: body (s, 2); point (s, 2, 3) in the bodies' axes; law (s, 4): stiffness, damping, rest, constant
Springs = tuple[Array, Array, Array]
#: rows of the coordinates, first and stop of the terms of each (c, 2), law (c, 4), constant (c,), whether an
#: angle (c,), its last value and rate (c, 2), jets to work in, and their table
Coordinates = tuple[Rows, Array, Array, Array, Array, Array, Array, Array]


def stage_planar(position: Array, angle: Array, velocity: Array, stage: Stage) -> None:
    """Bodies in the plane, (N, 2), (N,), (N, 3), as bodies in space."""
    P, R, V, T = stage
    for b in range(len(P)):
        c, s = math.cos(angle[b]), math.sin(angle[b])
        P[b, 0], P[b, 1] = position[b, 0], position[b, 1]
        R[b, 0, 0], R[b, 0, 1], R[b, 1, 0], R[b, 1, 1], R[b, 2, 2] = c, -s, s, c, 1.0
        V[b, 0], V[b, 1], V[b, 5] = velocity[b, 0], velocity[b, 1], velocity[b, 2]
        T[b] = angle[b]


def stage_spatial(position: Array, quaternion: Array, velocity: Array, stage: Stage) -> None:
    """Bodies in space, (N, 3), (N, 4), (N, 6), with rotation matrices."""
    P, R, V, _ = stage
    for b in range(len(P)):
        q = quaternion[b]
        turn = rotation_of(q[0], q[1], q[2], q[3])
        for i in range(3):
            for j in range(3):
                R[b, i, j] = turn[3 * i + j]
            P[b, i] = position[b, i]
        for i in range(6):
            V[b, i] = velocity[b, i]


def pull(stage: Stage, springs: Springs, loads: Array) -> None:
    """Add the forces of springs to ``loads`` (N, 6): force, and moment about the body's origin."""
    P, R, V, _ = stage
    body, point, law = springs
    for k in range(len(body)):
        a, b = body[k, 0], body[k, 1]
        ax, ay, az = turned(R, a, point, k, 0)
        bx, by, bz = turned(R, b, point, k, 1)
        x, y, z = P[b, 0] + bx - P[a, 0] - ax, P[b, 1] + by - P[a, 1] - ay, P[b, 2] + bz - P[a, 2] - az
        length = math.sqrt(x * x + y * y + z * z)
        if length == 0.0:
            push, length = math.nan, 1.0
        else:
            u = V[b, 0] + V[b, 4] * bz - V[b, 5] * by - V[a, 0] - V[a, 4] * az + V[a, 5] * ay
            v = V[b, 1] + V[b, 5] * bx - V[b, 3] * bz - V[a, 1] - V[a, 5] * ax + V[a, 3] * az
            w = V[b, 2] + V[b, 3] * by - V[b, 4] * bx - V[a, 2] - V[a, 3] * ay + V[a, 4] * ax
            rate = (x * u + y * v + z * w) / length
            push = law[k, 3] - law[k, 0] * (length - law[k, 2]) - law[k, 1] * rate
        x, y, z = push * x / length, push * y / length, push * z / length
        add(loads, b, x, y, z, bx, by, bz)
        add(loads, a, -x, -y, -z, ax, ay, az)


def turned(R: Array, b: int, point: Array, k: int, side: int) -> tuple[float, float, float]:
    """A point of a body from its origin, in world axes."""
    x, y, z = point[k, side, 0], point[k, side, 1], point[k, side, 2]
    return (
        R[b, 0, 0] * x + R[b, 0, 1] * y + R[b, 0, 2] * z,
        R[b, 1, 0] * x + R[b, 1, 1] * y + R[b, 1, 2] * z,
        R[b, 2, 0] * x + R[b, 2, 1] * y + R[b, 2, 2] * z,
    )


def add(
    loads: Array, b: int, x: float, y: float, z: float, rx: float, ry: float, rz: float
) -> None:  # fmt: skip
    """Add a force at a point of a body."""
    loads[b, 0] += x
    loads[b, 1] += y
    loads[b, 2] += z
    loads[b, 3] += ry * z - rz * y
    loads[b, 4] += rz * x - rx * z
    loads[b, 5] += rx * y - ry * x


def push(stage: Stage, coordinates: Coordinates, loads: Array) -> None:
    """Add forces along joint coordinates: constant - stiffness (value - rest) - damping x rate."""
    P, R, V, T = stage
    rows, terms, law, constant, angular, last, jets, table = coordinates
    evaluate(0, len(table), rows, P, R, V, T, True, jets, table)
    pair, joint = rows[0], rows[4]
    for c in range(len(terms)):
        value, rate = -constant[c], 0.0
        for r in range(terms[c, 0], terms[c, 1]):
            value += table[r, 0]
            rate += table[r, 14]
        if angular[c]:
            value += 2 * math.pi * math.floor((last[c, 0] - value) / (2 * math.pi) + 0.5)
            last[c, 0], last[c, 1] = value, rate
        effort = law[c, 3] - law[c, 0] * (value - law[c, 2]) - law[c, 1] * rate
        for r in range(terms[c, 0], terms[c, 1]):
            for side in range(2):
                b = pair[joint[r], side]
                for m in range(6):
                    loads[b, m] += effort * table[r, 1 + 6 * side + m]
