"""Joint equations as jets: value, derivatives, and time derivatives of one scalar at one instant.

Every equation is built from two scalars of a pair of frames (Haug 1989, chapter 9): ``dot-2``, an axis
of A times the vector from A's origin to B's, and ``dot-1``, an axis of A times an axis of B. Each is a
*jet* of 15 numbers; angles, distances and screws are composed of jets by the chain rule, so one table
serves position, velocity and acceleration exactly.

==========  ==================================================================================
``[0]``     value, m or rad
``[1:13]``  derivative by the twists (v_A, w_A, v_B, w_B): velocity of the bodies' origins and angular
            velocity, world axes
``[13]``    second time derivative at zero accelerations
``[14]``    first time derivative
==========  ==================================================================================

The *stage* is one instant of m bodies: ``P`` (m, 3) positions of their origins, ``R`` (m, 3, 3) rotations,
``V`` (m, 6) velocities: linear of the origin, then angular, world axes.
"""

from __future__ import annotations

import math
from typing import Any

from groups.kernels.vectors import Vector, cross, dot, minus, plus

Array = Any
#: pair (J, 2) places on the stage; origin (J, 2, 3) and axes (J, 2, 3, 3), the joints' frames on their
#: bodies, axes as columns; and of each equation code (E,), joint (E,), number (E, 4), sign (E,),
#: parameter (E,), as :class:`mbssa.joints.equations.Elementary` has them.
Rows = tuple[Array, Array, Array, Array, Array, Array, Array, Array]

ALONG, COSINE, TURN, CARDAN, DISTANCE, AZIMUTH, ELEVATION, SCREW, OFFSET = range(9)

#: Numbers of a jet, and how many jets :func:`evaluate` needs to work in.
SIZE, WORK = 15, 5


def evaluate(
    first: int, stop: int, rows: Rows, P: Array, R: Array, V: Array, moving: bool, jets: Array, table: Array
) -> None:
    """The jets of equations ``first`` to ``stop`` - 1; many in one call cost less than one by one.

    Parameters
    ----------
    moving : False leaves ``[13]`` and ``[14]`` alone and reads no velocity: enough for a Newton step
    jets : (WORK, SIZE) to work in
    table : (E, SIZE) the answer, a row an equation
    """
    pair, origin, axes, code, joint, number, sign, parameter = rows
    used = 15 if moving else 13
    last = -1
    for r in range(first, stop):
        k, what = joint[r], code[r]
        i, j = number[r, 0], number[r, 1]
        if k != last:
            last = k
            a, b = pair[k, 0], pair[k, 1]
            A, B = frame_of(R, a, axes, k, 0), frame_of(R, b, axes, k, 1)
            arms = arm(R, a, origin, k, 0), arm(R, b, origin, k, 1)
            across = minus(plus(vector(P, b, 0), arms[1]), plus(vector(P, a, 0), arms[0]))
            spins = vector(V, a, 3), vector(V, b, 3)
            apart = minus(vector(V, b, 0), vector(V, a, 0))
        if what == COSINE:
            dot_1(A[i], B[j], spins, moving, table, r)
        elif what == ALONG:
            dot_2(A[i], across, arms, apart, spins, moving, table, r)
            table[r, 0] -= parameter[r]
        elif what == TURN:
            dot_1(A[i], B[j], spins, moving, jets, 0)
            dot_1(A[number[r, 2]], B[number[r, 3]], spins, moving, jets, 1)
            for m in range(used):
                jets[0, m] *= sign[r]
            angle(jets, 0, 1, moving, table, r)
        elif what == OFFSET:
            dot_2(A[i], across, arms, apart, spins, moving, table, r)
            if i < 2:
                # The common normal z_A × z_B has the components (-C[1, 2], C[0, 2], 0) in A.
                dot_1(A[1 - i], B[2], spins, moving, jets, 0)
                factor = parameter[r] if i == 0 else -parameter[r]
                for m in range(used):
                    table[r, m] += factor * jets[0, m]
        elif what == CARDAN:
            for axis in range(3):
                dot_1(A[0], B[axis], spins, moving, jets, axis)
            length(jets, 2, moving, jets, 3)
            angle(jets, 2, 3, moving, table, r)
        elif what == SCREW:
            dot_1(A[1], B[0], spins, moving, jets, 0)
            dot_1(A[0], B[0], spins, moving, jets, 1)
            angle(jets, 0, 1, moving, jets, 2)
            dot_2(A[2], across, arms, apart, spins, moving, table, r)
            jets[2, 0] += turns(table[r, 0] / parameter[r] - jets[2, 0])
            for m in range(used):
                table[r, m] -= parameter[r] * jets[2, m]
        else:
            for axis in range(3):
                dot_2(A[axis], across, arms, apart, spins, moving, jets, axis)
            if what == DISTANCE:
                length(jets, 3, moving, table, r)
                table[r, 0] -= parameter[r]
            elif what == AZIMUTH:
                angle(jets, 1, 0, moving, table, r)
            else:
                length(jets, 2, moving, jets, 3)
                angle(jets, 2, 3, moving, table, r)


def shortest(code: Any, miss: Any) -> Any:
    """What an equation of this code misses its input by: angles without whole turns."""
    if code in (TURN, CARDAN, AZIMUTH, ELEVATION):
        return miss - turns(miss)
    return miss


def turns(angle: Any) -> Any:
    """The whole turns nearest to an angle, rad."""
    return 2 * math.pi * math.floor(angle / (2 * math.pi) + 0.5)


def dot_2(
    n: Vector, across: Vector, arms: tuple[Vector, Vector], apart: Vector, spins: tuple[Vector, Vector],
    moving: bool, jets: Array, to: Any,
) -> None:  # fmt: skip
    """An axis of A times the vector from A's origin to B's, m."""
    jets[to, 0] = dot(n, across)
    jets[to, 1], jets[to, 2], jets[to, 3] = -n[0], -n[1], -n[2]
    jets[to, 4], jets[to, 5], jets[to, 6] = cross(n, plus(across, arms[0]))
    jets[to, 7], jets[to, 8], jets[to, 9] = n
    jets[to, 10], jets[to, 11], jets[to, 12] = cross(arms[1], n)
    if moving:
        # n·r̈ + 2 ṅ·ṙ + n̈·r at zero accelerations.
        turning = cross(spins[0], n)
        swing_a, swing_b = cross(spins[0], arms[0]), cross(spins[1], arms[1])
        rate = plus(apart, minus(swing_b, swing_a))
        inwards = minus(cross(spins[1], swing_b), cross(spins[0], swing_a))
        jets[to, 13] = dot(n, inwards) + 2 * dot(turning, rate) + dot(cross(spins[0], turning), across)
        jets[to, 14] = dot(turning, across) + dot(n, rate)


def dot_1(n: Vector, m: Vector, spins: tuple[Vector, Vector], moving: bool, jets: Array, to: Any) -> None:
    """An axis of A times an axis of B."""
    jets[to, 0] = dot(n, m)
    jets[to, 1], jets[to, 2], jets[to, 3] = 0.0, 0.0, 0.0
    jets[to, 4], jets[to, 5], jets[to, 6] = cross(n, m)
    jets[to, 7], jets[to, 8], jets[to, 9] = 0.0, 0.0, 0.0
    jets[to, 10], jets[to, 11], jets[to, 12] = cross(m, n)
    if moving:
        turning_n, turning_m = cross(spins[0], n), cross(spins[1], m)
        outer = dot(cross(spins[0], turning_n), m) + dot(n, cross(spins[1], turning_m))
        jets[to, 13] = outer + 2 * dot(turning_n, turning_m)
        jets[to, 14] = dot(turning_n, m) + dot(n, turning_m)


def angle(jets: Array, sine: Any, cosine: Any, moving: bool, out: Array, to: Any) -> None:
    """atan2 of two jets."""
    y, x = jets[sine, 0], jets[cosine, 0]
    square = x * x + y * y
    out[to, 0] = math.atan2(y, x)
    x, y = x / square, y / square
    for m in range(1, 13):
        out[to, m] = x * jets[sine, m] - y * jets[cosine, m]
    if moving:
        rate = x * jets[sine, 14] - y * jets[cosine, 14]
        lost = 2 * (x * jets[cosine, 14] + y * jets[sine, 14]) * rate
        out[to, 13] = x * jets[sine, 13] - y * jets[cosine, 13] - lost
        out[to, 14] = rate


def length(jets: Array, terms: Any, moving: bool, out: Array, to: Any) -> None:
    """Root of the sum of squares of the first ``terms`` jets."""
    square = 0.0
    for i in range(terms):
        square += jets[i, 0] * jets[i, 0]
    size = math.sqrt(square)
    for m in range(15 if moving else 13):
        total = 0.0
        for i in range(terms):
            total += jets[i, 0] * jets[i, m]
        out[to, m] = total / size
    if moving:
        speeds = 0.0
        for i in range(terms):
            speeds += jets[i, 14] * jets[i, 14]
        out[to, 13] += (speeds - out[to, 14] * out[to, 14]) / size


def frame_of(R: Array, body: Any, axes: Array, k: Any, side: Any) -> tuple[Vector, Vector, Vector]:
    """The axes of joint k's frame on a body, in world axes."""
    return (
        to_world(R, body, axes[k, side, 0, 0], axes[k, side, 1, 0], axes[k, side, 2, 0]),
        to_world(R, body, axes[k, side, 0, 1], axes[k, side, 1, 1], axes[k, side, 2, 1]),
        to_world(R, body, axes[k, side, 0, 2], axes[k, side, 1, 2], axes[k, side, 2, 2]),
    )


def vector(array: Array, body: Any, first: Any) -> Vector:
    """Three numbers of a body's row from place ``first`` on."""
    return array[body, first], array[body, first + 1], array[body, first + 2]


def arm(R: Array, body: Any, origin: Array, k: Any, side: Any) -> Vector:
    """From a body's origin to that of joint k's frame on it, in world axes."""
    return to_world(R, body, origin[k, side, 0], origin[k, side, 1], origin[k, side, 2])


def to_world(R: Array, body: Any, x: Any, y: Any, z: Any) -> Vector:
    """A vector of a body in world axes."""
    return (
        R[body, 0, 0] * x + R[body, 0, 1] * y + R[body, 0, 2] * z,
        R[body, 1, 0] * x + R[body, 1, 1] * y + R[body, 1, 2] * z,
        R[body, 2, 0] * x + R[body, 2, 1] * y + R[body, 2, 2] * z,
    )
