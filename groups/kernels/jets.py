"""Joint equations as jets: value, derivatives, and time derivatives of one scalar at one instant."""

from __future__ import annotations

import math
from typing import Any

from groups.kernels.contact import contact
from groups.kernels.foreign import BODY_IN as IN
from groups.kernels.foreign import call_foreign
from groups.kernels.vectors import Vector, cross, dot, minus, plus
from mbssa.compiled import separate

Array = Any
#: pair (J, 2) places on the stage; origin (J, 2, 3) and axes (J, 2, 3, 3), frames on their bodies, axes as
#: columns; and of each term code (E,), joint (E,) the row of pair, number (E, 4), sign (E,), parameter (E,),
#: as :class:`mbssa.joints.equations.Elementary` has them, and factor (E,); near (E,) angles to count
#: turns from; data of curves (flat); room for the calls of users' functions (flat); places of contacts
#: (E, 2), or (0, 2) to search for them.
Rows = tuple[Array, Array, Array, Array, Array, Array, Array, Array, Array, Array, Array, Array, Array]

ALONG, COSINE, TURN, CARDAN, DISTANCE, AZIMUTH, ELEVATION, SCREW, OFFSET = range(9)
TURNED, COUNTED, LINE, CONTACT, USER, MORE = range(9, 15)

#: Numbers of a jet, and how many jets :func:`evaluate` needs to work in.
SIZE, WORK = 15, 5


@separate
def evaluate(
    first: int, stop: int, rows: Rows, P: Array, R: Array, V: Array, T: Array, moving: bool, jets: Array,
    table: Array,
) -> None:  # fmt: skip
    """The jets of terms ``first`` to ``stop`` - 1; many in one call cost less than one by one."""
    pair, origin, axes, code, joint, number, sign, parameter, weight, near, data, room, place = rows
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
        elif what in (TURN, COUNTED):
            dot_1(A[i], B[j], spins, moving, jets, 0)
            dot_1(A[number[r, 2]], B[number[r, 3]], spins, moving, jets, 1)
            for m in range(used):
                jets[0, m] *= sign[r]
            angle(jets, 0, 1, moving, table, r)
            if what == COUNTED:
                table[r, 0] += turns(near[r] - table[r, 0])
        elif what == TURNED:
            for m in range(used):
                table[r, m] = 0.0
            table[r, 0], table[r, 12] = T[b], 1.0
            if moving:
                table[r, 14] = spins[1][2]
        elif what == CONTACT:
            contact(
                A, B, across, arms, apart, spins, data, i, j, number[r, 2], sign[r], moving, place, table, r
            )  # fmt: skip
            table[r, 0] -= parameter[r]
        elif what == USER:
            user(rows, r, P, R, V, T, moving)
            more(room, 1 + IN * number[r, 0], 0, used, table, r)
            table[r, 0] = room[1 + IN * number[r, 0]]
            if moving:
                table[r, 13], table[r, 14] = room[3 + IN * number[r, 0]], room[2 + IN * number[r, 0]]
        elif what == MORE:
            more(room, 1 + IN * number[r, 0], number[r, 1], used, table, r)
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
            elif what in (AZIMUTH, LINE):
                angle(jets, 1, 0, moving, table, r)
                if what == LINE:
                    # In A's axes the line turns by what A does not.
                    table[r, 0] += math.atan2(A[0][1], A[0][0])
                    table[r, 0] += turns(near[r] - table[r, 0])
                    table[r, 6] += 1.0
                    if moving:
                        table[r, 14] += spins[0][2]
            else:
                length(jets, 2, moving, jets, 3)
                angle(jets, 2, 3, moving, table, r)
        if weight[r] != 1.0:
            for m in range(used):
                table[r, m] *= weight[r]


def user(rows: Rows, r: Any, P: Array, R: Array, V: Array, T: Array, moving: bool) -> None:
    """Call the user's function of term r, whose answer is in the room behind what it is given."""
    pair, joint, number, scale, address, room = rows[0], rows[4], rows[5], rows[6][r], rows[7][r], rows[11]
    room[0] = 1.0 if moving else 0.0
    for k in range(number[r, 0]):
        b, at = pair[joint[r] + k // 2, k % 2], 1 + IN * k
        for m in range(3):
            room[at + m] = scale * P[b, m]
            for n in range(3):
                room[at + 3 + 3 * m + n] = R[b, m, n]
            room[at + 13 + m], room[at + 16 + m] = scale * V[b, m], V[b, 3 + m]
        room[at + 12] = T[b]
    answer = 1 + IN * number[r, 0]
    call_foreign(address, room[:answer], room[answer:])
    # From derivatives by metres to those by the unit of the positions.
    for k in range(number[r, 0]):
        for m in range(3):
            room[answer + 3 + 6 * k + m] *= scale
    # An odd number of bodies leaves half a pair, which counts for nothing.
    for m in range(6):
        room[answer + 3 + 6 * number[r, 0] + m] = 0.0


def more(room: Array, at: Any, k: Any, used: Any, table: Array, r: Any) -> None:
    """The derivatives by the bodies k and k + 1 of a user's function, whose answer begins at ``at``."""
    for m in range(used):
        table[r, m] = 0.0
    for m in range(12):
        table[r, 1 + m] = room[at + 3 + 6 * k + m]


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
