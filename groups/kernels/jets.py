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
    for r in range(first, stop):
        k, what = joint[r], code[r]
        a, b = pair[k, 0], pair[k, 1]
        if what == COSINE:
            dot_1(a, b, k, number[r, 0], number[r, 1], axes, R, V, moving, table, r)
        elif what == ALONG:
            dot_2(a, b, k, number[r, 0], origin, axes, P, R, V, moving, table, r)
            table[r, 0] -= parameter[r]
        elif what == TURN:
            dot_1(a, b, k, number[r, 0], number[r, 1], axes, R, V, moving, jets, 0)
            dot_1(a, b, k, number[r, 2], number[r, 3], axes, R, V, moving, jets, 1)
            for m in range(used):
                jets[0, m] *= sign[r]
            angle(jets, 0, 1, moving, table, r)
        elif what == OFFSET:
            dot_2(a, b, k, number[r, 0], origin, axes, P, R, V, moving, table, r)
            if number[r, 0] < 2:
                # The common normal z_A × z_B has the components (-C[1, 2], C[0, 2], 0) in A.
                dot_1(a, b, k, 1 - number[r, 0], 2, axes, R, V, moving, jets, 0)
                factor = parameter[r] if number[r, 0] == 0 else -parameter[r]
                for m in range(used):
                    table[r, m] += factor * jets[0, m]
        elif what == CARDAN:
            for axis in range(3):
                dot_1(a, b, k, 0, axis, axes, R, V, moving, jets, axis)
            length(jets, 2, moving, jets, 3)
            angle(jets, 2, 3, moving, table, r)
        elif what == SCREW:
            dot_1(a, b, k, 1, 0, axes, R, V, moving, jets, 0)
            dot_1(a, b, k, 0, 0, axes, R, V, moving, jets, 1)
            angle(jets, 0, 1, moving, jets, 2)
            dot_2(a, b, k, 2, origin, axes, P, R, V, moving, table, r)
            jets[2, 0] += turns(table[r, 0] / parameter[r] - jets[2, 0])
            for m in range(used):
                table[r, m] -= parameter[r] * jets[2, m]
        else:
            for axis in range(3):
                dot_2(a, b, k, axis, origin, axes, P, R, V, moving, jets, axis)
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
    a: Any, b: Any, k: Any, axis: Any, origin: Array, axes: Array, P: Array, R: Array, V: Array, moving: bool,
    jets: Array, to: Any,
) -> None:  # fmt: skip
    """Axis of A times the vector from A's origin to B's, m."""
    n = axis_of(R, a, axes, k, 0, axis)
    arm_a = arm(R, a, origin, k, 0)
    arm_b = arm(R, b, origin, k, 1)
    across = (
        P[b, 0] + arm_b[0] - P[a, 0] - arm_a[0],
        P[b, 1] + arm_b[1] - P[a, 1] - arm_a[1],
        P[b, 2] + arm_b[2] - P[a, 2] - arm_a[2],
    )
    jets[to, 0] = dot(n, across)
    jets[to, 1], jets[to, 2], jets[to, 3] = -n[0], -n[1], -n[2]
    jets[to, 4], jets[to, 5], jets[to, 6] = cross(n, plus(across, arm_a))
    jets[to, 7], jets[to, 8], jets[to, 9] = n
    jets[to, 10], jets[to, 11], jets[to, 12] = cross(arm_b, n)
    if not moving:
        return
    # n·r̈ + 2 ṅ·ṙ + n̈·r at zero accelerations.
    spin_a, spin_b = (V[a, 3], V[a, 4], V[a, 5]), (V[b, 3], V[b, 4], V[b, 5])
    turning = cross(spin_a, n)
    swing_a, swing_b = cross(spin_a, arm_a), cross(spin_b, arm_b)
    apart = (
        V[b, 0] + swing_b[0] - V[a, 0] - swing_a[0],
        V[b, 1] + swing_b[1] - V[a, 1] - swing_a[1],
        V[b, 2] + swing_b[2] - V[a, 2] - swing_a[2],
    )
    inwards = minus(cross(spin_b, swing_b), cross(spin_a, swing_a))
    jets[to, 13] = dot(n, inwards) + 2 * dot(turning, apart) + dot(cross(spin_a, turning), across)
    jets[to, 14] = dot(turning, across) + dot(n, apart)


def dot_1(
    a: Any, b: Any, k: Any, first: Any, second: Any, axes: Array, R: Array, V: Array, moving: bool,
    jets: Array, to: Any,
) -> None:  # fmt: skip
    """Axis ``first`` of A times axis ``second`` of B."""
    n = axis_of(R, a, axes, k, 0, first)
    m = axis_of(R, b, axes, k, 1, second)
    jets[to, 0] = dot(n, m)
    jets[to, 1], jets[to, 2], jets[to, 3] = 0.0, 0.0, 0.0
    jets[to, 4], jets[to, 5], jets[to, 6] = cross(n, m)
    jets[to, 7], jets[to, 8], jets[to, 9] = 0.0, 0.0, 0.0
    jets[to, 10], jets[to, 11], jets[to, 12] = cross(m, n)
    if not moving:
        return
    spin_a, spin_b = (V[a, 3], V[a, 4], V[a, 5]), (V[b, 3], V[b, 4], V[b, 5])
    turning_n, turning_m = cross(spin_a, n), cross(spin_b, m)
    jets[to, 13] = dot(cross(spin_a, turning_n), m) + 2 * dot(turning_n, turning_m)
    jets[to, 13] += dot(n, cross(spin_b, turning_m))
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


def axis_of(R: Array, body: Any, axes: Array, k: Any, side: Any, axis: Any) -> Vector:
    """An axis of joint k's frame on a body, in world axes."""
    return to_world(R, body, axes[k, side, 0, axis], axes[k, side, 1, axis], axes[k, side, 2, axis])


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
