"""Equations of the kinematic pairs: residuals, Jacobians, coordinates and free motions."""

# d (n, 3): B's origin in A's axes; C (n, 3, 3): columns are B's axes in A's; twist v of B's origin, w, in A's
# axes: δd = v, δC = [w]× C. Angles are about z from x of A to x of B unless a type's file says otherwise, and
# zero where the frames coincide; in the plane d_z = 0 and slides are along x of A.

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from mbssa.joints.axes import cross

Array = npt.NDArray[Any]

#: Parameters of one type's joints by name, (n,) each: length, pitch, radius, offset.
Parameters = Mapping[str, Array]

_UNIT = np.eye(3)


@dataclass(frozen=True, slots=True)
class Step:
    """Elementary motion from A to B: a turn about or a shift along an axis of the moving frame."""

    kind: Literal["turn", "shift", "swap"]
    axis: int = 2
    coordinate: int | None = None  # index of the free coordinate; None: constant
    factor: float | str = 1.0  # of the coordinate; may name a parameter


@dataclass(frozen=True, slots=True)
class Equations:
    """Equations of a joint type on the relative pose of its two frames."""

    constraints: tuple[tuple[str, Elementary], ...]
    coordinates: tuple[Elementary, ...]
    steps: tuple[Step, ...]  # build the pose from the coordinates
    sense: tuple[tuple[int, int], ...] = ()  # entries of C that must be positive, or an axis is reversed


# --- elementary equations --------------------------------------------------------------------------

# Haug 1989, Computer-aided kinematics and dynamics of mechanical systems, chapters 3 and 9 (dot-1 and dot-2).


@dataclass(frozen=True, slots=True)
class Elementary:
    """Scalar function of the relative pose, as data: other packages evaluate it in their own way."""

    kind: str
    numbers: tuple[int, ...] = ()
    sign: float = 1.0
    parameter: str | None = None

    @property
    def is_length(self) -> bool:
        """Whether its value is in m; else it is an angle or its cosine."""
        return self.kind in ("along", "distance", "screw", "offset")

    def __call__(self, d: Array, C: Array, parameters: Parameters) -> tuple[Array, Array]:
        """Value (n,) and derivative by the relative twist (n, 6)."""
        return _FUNCTIONS[self.kind](self, d, C, parameters)


def _along(e: Elementary, d: Array, C: Array, p: Parameters) -> tuple[Array, Array]:
    # d along axis i of A, less the parameter.
    (axis,) = e.numbers
    value = d[:, axis] if e.parameter is None else d[:, axis] - p[e.parameter]
    derivative = np.zeros((len(d), 6), dtype=C.dtype)
    derivative[:, axis] = 1.0
    return value, derivative


def _cosine(e: Elementary, _: Array, C: Array, __: Parameters) -> tuple[Array, Array]:
    # C[i, j]: axis i of A times axis j of B (a dot-1 condition).
    a, b = e.numbers
    return C[:, a, b], _with_rotation(cross(C[:, :, b], _UNIT[a]))


def _turn(e: Elementary, _: Array, C: Array, __: Parameters) -> tuple[Array, Array]:
    # The angle atan2(sign C[i, j], C[k, l]).
    i, j, k, m = e.numbers
    sine, cosine = e.sign * C[:, i, j], C[:, k, m]
    d_sine = e.sign * cross(C[:, :, j], _UNIT[i])
    d_cosine = cross(C[:, :, m], _UNIT[k])
    square = (sine * sine + cosine * cosine)[:, None]
    rate = (cosine[:, None] * d_sine - sine[:, None] * d_cosine) / square
    return angle_of(sine, cosine), _with_rotation(rate)


def _middle_cardan(_: Elementary, __: Array, C: Array, ___: Parameters) -> tuple[Array, Array]:
    # angle_y of C = Rx Ry Rz: atan2(C[0, 2], |C[0, :2]|).
    sine = C[:, 0, 2]
    cosine = np.sqrt(C[:, 0, 0] ** 2 + C[:, 0, 1] ** 2)
    rate = cross(C[:, :, 2], _UNIT[0]) / cosine[:, None]
    return angle_of(sine, cosine), _with_rotation(rate)


def _distance(e: Elementary, d: Array, __: Array, p: Parameters) -> tuple[Array, Array]:
    size = np.sqrt((d * d).sum(axis=1))
    value = size if e.parameter is None else size - p[e.parameter]
    return value, _with_translation(d / size[:, None])


def _azimuth(_: Elementary, d: Array, __: Array, ___: Parameters) -> tuple[Array, Array]:
    x, y = d[:, 0], d[:, 1]
    square = x * x + y * y
    rate = np.stack([-y / square, x / square, np.zeros_like(x)], axis=1)
    return angle_of(y, x), _with_translation(rate)


def _elevation(_: Elementary, d: Array, __: Array, ___: Parameters) -> tuple[Array, Array]:
    # atan2(d_z, |d_x, d_y|).
    flat = np.sqrt(d[:, 0] ** 2 + d[:, 1] ** 2)
    square = flat * flat + d[:, 2] ** 2
    rate = np.stack(
        [-d[:, 2] * d[:, 0] / (flat * square), -d[:, 2] * d[:, 1] / (flat * square), flat / square],
        axis=1,
    )
    return angle_of(d[:, 2], flat), _with_translation(rate)


_ANGLE, _Z = Elementary("turn", (1, 0, 0, 0)), Elementary("along", (2,))


def _screw(_: Elementary, d: Array, C: Array, p: Parameters) -> tuple[Array, Array]:
    # d_z - pitch x angle about z, turns completed to the nearest.
    angle, rate = _turn(_ANGLE, d, C, p)
    along, derivative = _along(_Z, d, C, p)
    turns = np.round((along.real / p["pitch"] - angle.real) / (2 * np.pi))
    value = along - p["pitch"] * (angle + 2 * np.pi * turns)
    return value, derivative - p["pitch"][:, None] * rate


def _offset(e: Elementary, d: Array, C: Array, p: Parameters) -> tuple[Array, Array]:
    # d along axis i of A, less the offset along the common normal z_A × z_B.
    (axis,) = e.numbers
    z = C[:, :, 2]
    normal = cross(_UNIT[2], z)[:, axis]
    derivative = np.zeros((len(d), 6), dtype=C.dtype)
    derivative[:, axis] = 1.0
    # δ(z_A × z_B) = w (z_A · z_B) - z_B (z_A · w)
    derivative[:, 3 + axis] -= p["offset"] * z[:, 2]
    derivative[:, 5] += p["offset"] * z[:, axis]
    return d[:, axis] - p["offset"] * normal, derivative


_FUNCTIONS: dict[str, Callable[[Elementary, Array, Array, Parameters], tuple[Array, Array]]] = {
    "along": _along,
    "cosine": _cosine,
    "turn": _turn,
    "cardan": _middle_cardan,
    "distance": _distance,
    "azimuth": _azimuth,
    "elevation": _elevation,
    "screw": _screw,
    "offset": _offset,
}


def angle_of(sine: Array, cosine: Array) -> Array:
    """Angle by atan2, also of the complex arguments of a complex-step derivative."""
    angle: Array = np.arctan2(sine.real, cosine.real)
    if np.iscomplexobj(sine) or np.iscomplexobj(cosine):
        square = sine.real**2 + cosine.real**2
        angle = angle + 1j * (cosine.real * sine.imag - sine.real * cosine.imag) / square
    return angle


def _with_rotation(rate: Array) -> Array:
    return np.concatenate([np.zeros_like(rate), rate], axis=1)


def _with_translation(rate: Array) -> Array:
    return np.concatenate([rate, np.zeros_like(rate)], axis=1)


# --- evaluation ------------------------------------------------------------------------------------


def residuals(rows: Equations, d: Array, C: Array, parameters: Parameters) -> tuple[Array, Array]:
    """Constraint residuals (n, e), metres or rad, and their derivative (n, e, 6) by the relative twist."""
    return _stack([function(d, C, parameters) for _, function in rows.constraints], d, C)


def coordinates(rows: Equations, d: Array, C: Array, parameters: Parameters) -> tuple[Array, Array]:
    """Free coordinates (n, k), principal angles, and their derivative (n, k, 6) by the relative twist."""
    return _stack([function(d, C, parameters) for function in rows.coordinates], d, C)


def _stack(parts: list[tuple[Array, Array]], d: Array, C: Array) -> tuple[Array, Array]:
    if not parts:
        return np.zeros((len(d), 0), C.dtype), np.zeros((len(d), 0, 6), C.dtype)
    return np.stack([value for value, _ in parts], axis=1), np.stack([rate for _, rate in parts], axis=1)


def pose(rows: Equations, q: Array, parameters: Parameters) -> tuple[Array, Array, Array]:
    """Relative pose d (n, 3), C (n, 3, 3) at coordinates q (n, k); twists (n, 6, k) of B at unit rates."""
    n, k = q.shape
    d, C = np.zeros((n, 3)), np.tile(np.eye(3), (n, 1, 1))
    axes = []
    for step in rows.steps:
        if step.kind == "swap":
            C = C @ _SWAP
            continue
        factor = _factor(step.factor, n, parameters)
        amount = factor if step.coordinate is None else factor * q[:, step.coordinate]
        axis = C[:, :, step.axis]
        axes.append((step, factor, axis, d))
        if step.kind == "shift":
            d = d + amount[:, None] * axis
        else:
            C = C @ _rotation(step.axis, amount)
    twists = np.zeros((n, 6, k))
    for step, factor, axis, origin in axes:
        if step.coordinate is None:
            continue
        rate = factor[:, None] * axis
        if step.kind == "shift":
            twists[:, :3, step.coordinate] += rate
        else:
            twists[:, :3, step.coordinate] += cross(rate, d - origin)
            twists[:, 3:, step.coordinate] += rate
    return d, C, twists


#: z of B to x of A, x of B to z of A: the cross of a universal joint at its zero.
_SWAP = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])


def _factor(factor: float | str, n: int, parameters: Parameters) -> Array:
    if factor == "normal":
        # After the swap y is -(z_A × z_B), the direction of a U's offset reversed.
        return -parameters["offset"]
    return parameters[factor] if isinstance(factor, str) else np.full(n, factor)


def _rotation(axis: int, angle: Array) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    matrix = np.zeros((len(angle), 3, 3))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix[:, axis, axis] = 1.0
    matrix[:, i, i], matrix[:, j, j] = c, c
    matrix[:, i, j], matrix[:, j, i] = -s, s
    return matrix
