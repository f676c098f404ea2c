"""Jets of users' functions: value, derivatives by the twists of the bodies, time derivatives."""

# function(q, R) takes q (m, 3), rows x, y, z or x, y, angle, and R (m, 3, 3), not to be read in the plane;
# ``values`` (1 + 19 m) and ``out`` (3 + 6 m) are laid out as: time, then of each body place,
# rotation, angle and twist; value, rate, second derivative, then slopes. First derivatives are by
# complex step, exact to rounding (Squire & Trapp 1998).

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = Any
#: A callable ``function(q, R)``.
Function = Any

#: Numbers of a body in ``values``; where in them rotation, angle and velocity start.
BODY, ROTATION, ANGLE, VELOCITY = 19, 3, 12, 13

#: Step of the complex step: so small that its square is nothing beside 1.
STEP = 1e-30

#: Radius of the circle, and step of the central differences, in rad and in sizes of the mechanism.
RADIUS, DIFFERENCE = 3e-3, 1e-3

#: Share of the fourth Taylor coefficient's term above which the circle is too large, how often it may be
#: made smaller, and by which factor.
TOO_MUCH, TIMES, SMALLER = 1e-3, 3, 0.1


def analytic_jet(function: Function, planar: bool, size: float, values: Array, out: Array) -> None:
    """Write the jet of a function that takes complex numbers; ``size`` (m) is that of the mechanism."""
    m = (len(values) - 1) // BODY
    q, R = np.empty((m, 3), dtype=np.complex128), np.empty((m, 3, 3), dtype=np.complex128)
    found = np.empty(1, dtype=np.complex128)
    turning = np.empty((m, 2, 3, 3))
    place(values, planar, turning, 0.0, q, R)
    # Not the real part of a step aside, which is finite where the value is not.
    ask(function, q, R, found)
    out[0] = found[0].real
    for k in range(m):
        for i in range(6):
            out[3 + 6 * k + i] = 0.0
        for i in range(3):
            kept = q[k, i]
            q[k, i] = complex(kept.real, STEP)
            ask(function, q, R, found)
            q[k, i] = kept
            out[3 + 6 * k + (5 if planar and i == 2 else i)] = found[0].imag / STEP
        if planar:
            continue
        for i in range(3):
            a, b = (i + 1) % 3, (i + 2) % 3
            for c in range(3):
                x, y = R[k, a, c].real, R[k, b, c].real
                R[k, a, c], R[k, b, c] = complex(x, -STEP * y), complex(y, STEP * x)
            ask(function, q, R, found)
            for c in range(3):
                R[k, a, c], R[k, b, c] = complex(R[k, a, c].real, 0.0), complex(R[k, b, c].real, 0.0)
            out[3 + 6 * k + 3 + i] = found[0].imag / STEP
    if values[0] == 0.0:
        return
    out[1] = 0.0
    for k in range(m):
        for i in range(6):
            out[1] += out[3 + 6 * k + i] * values[1 + BODY * k + VELOCITY + i]
    out[2] = 0.0
    speed = fastest(values, size)
    if speed > 0.0:
        spin(values, planar, turning)
        out[2] = bend(function, planar, values, turning, RADIUS / speed, abs(out[1]), q, R)


def bend(
    function: Function, planar: bool, values: Array, turning: Array, radius: float, rate: float,
    q: Array, R: Array,
) -> float:  # fmt: skip
    """Second derivative by time at constant twists."""
    # A Taylor coefficient along the motion, from a circle in complex time (Lyness & Moler 1967; Fornberg
    # 1981). Imaginary parts alone are as small as the circle, and so is their rounding: the radius has three
    # decades of room.
    part, found = np.empty(4), np.empty(1, dtype=np.complex128)
    second = 0.0
    for _ in range(TIMES):
        for j in range(4):
            # 30°, 60°, 120°, 150°
            angle = math.pi / 6 * (j + 1 if j < 2 else j + 2)
            place(values, planar, turning, radius * complex(math.cos(angle), math.sin(angle)), q, R)
            ask(function, q, R, found)
            part[j] = found[0].imag
        # Differences across the imaginary axis leave the even terms c_n sin(n angle); there c_6 has none.
        low, high = 0.5 * (part[0] - part[3]), 0.5 * (part[1] - part[2])
        c_2, c_4 = (low + high) / math.sqrt(3.0), (low - high) / math.sqrt(3.0)
        second = 2 * c_2 / (radius * radius)
        if not abs(c_4) > TOO_MUCH * max(abs(c_2), RADIUS * rate * radius):
            break
        radius *= SMALLER
    return second


def given_jet(
    function: Function, derivative: Function, planar: bool, size: float, values: Array, out: Array
) -> None:
    """The jet of a function with its ``derivative(q, R)``: (m, 3) in the plane, (m, 6) in space."""
    m = (len(values) - 1) // BODY
    q, R, turning = np.empty((m, 3)), np.empty((m, 3, 3)), np.empty((m, 2, 3, 3))
    place(values, planar, turning, 0.0, q, R)
    value, slope = np.empty(1), np.empty((m, 3 if planar else 6))
    ask(function, q, R, value)
    ask(derivative, q, R, slope)
    out[0] = value[0]
    for k in range(m):
        for i in range(6):
            out[3 + 6 * k + i] = 0.0
        for i in range(3 if planar else 6):
            out[3 + 6 * k + (5 if planar and i == 2 else i)] = slope[k, i]
    if values[0] == 0.0:
        return
    out[1] = speed_of(slope, planar, values)
    out[2] = 0.0
    speed = fastest(values, size)
    if speed > 0.0:
        spin(values, planar, turning)
        step = DIFFERENCE / speed
        for j in range(4):
            # Central differences of the fourth order.
            ahead, factor = (-2, -1, 1, 2)[j], (1.0, -8.0, 8.0, -1.0)[j]
            place(values, planar, turning, ahead * step, q, R)
            ask(derivative, q, R, slope)
            out[2] += factor * speed_of(slope, planar, values)
        out[2] /= 12 * step


def ask(function: Function, q: Array, R: Array, answer: Array) -> None:
    """Value of a function at a pose."""
    answer[...] = function(q, R)


def speed_of(slope: Array, planar: bool, values: Array) -> float:
    """First time derivative: the derivative times the velocities."""
    total = 0.0
    for k in range(len(slope)):
        for i in range(3 if planar else 6):
            total += slope[k, i] * values[1 + BODY * k + VELOCITY + (5 if planar and i == 2 else i)]
    return total


def fastest(values: Array, size: float) -> float:
    """Largest speed of a body: rad/s, or sizes of the mechanism a second."""
    speed = 0.0
    for k in range((len(values) - 1) // BODY):
        at = 1 + BODY * k + VELOCITY
        for i in range(3):
            speed = max(speed, abs(values[at + i]) / size, abs(values[at + 3 + i]))
    return speed


def spin(values: Array, planar: bool, turning: Array) -> None:
    """Derivatives of rotations by the angle: u × R and u × (u × R), u along the angular velocity."""
    if planar:
        return
    for k in range(len(turning)):
        at = 1 + BODY * k
        x, y, z = values[at + VELOCITY + 3], values[at + VELOCITY + 4], values[at + VELOCITY + 5]
        size = math.sqrt(x * x + y * y + z * z)
        if size > 0.0:
            x, y, z = x / size, y / size, z / size
        for c in range(3):
            a, b, d = values[at + 3 + c], values[at + 6 + c], values[at + 9 + c]
            for n in range(2):
                a, b, d = y * d - z * b, z * a - x * d, x * b - y * a
                turning[k, n, 0, c], turning[k, n, 1, c], turning[k, n, 2, c] = a, b, d


def place(values: Array, planar: bool, turning: Array, time: Any, q: Array, R: Array) -> None:
    """The poses after a real or complex time at constant twists; ``turning`` is not read at time 0."""
    for k in range(len(q)):
        at = 1 + BODY * k
        for i in range(3):
            q[k, i] = values[at + i] + time * values[at + VELOCITY + i]
        if planar:
            q[k, 2] = values[at + ANGLE] + time * values[at + VELOCITY + 5]
        for i in range(3):
            for c in range(3):
                R[k, i, c] = values[at + ROTATION + 3 * i + c]
        if planar or time == 0.0:
            continue
        x, y, z = values[at + VELOCITY + 3], values[at + VELOCITY + 4], values[at + VELOCITY + 5]
        angle = time * math.sqrt(x * x + y * y + z * z)
        half = np.sin(0.5 * angle)
        sine, versed = np.sin(angle), 2 * half * half
        for i in range(3):
            for c in range(3):
                R[k, i, c] += sine * turning[k, 0, i, c] + versed * turning[k, 1, i, c]
