"""Equations of the kinematic pairs: residuals, Jacobians, coordinates and free motions, row by row.

Every pair is written once, as a table of elementary equations on the *relative pose* of its two local
frames: A on the first body, B on the second, ``d`` (n, 3) the origin of B seen from A in A's axes, and
``C`` (n, 3, 3) whose columns are B's axes in A's. n joints of one type are evaluated together. World
poses enter only through d and C, so every equation is invariant when the world is moved.

Relative twist of B against A: ``v`` (velocity of B's origin) then ``w``, in A's axes, so that
``δd = v`` and ``δC = [w]× C``.

Frames and zeros, spatial. z of A and of B is the joint's axis (PL, SP, PC: the plane's normal on A;
PC: the cylinder's axis on B; U and ER: the pin of each body; CR: the pin, with x of A the slot). Angles
are positive by the right-hand rule about that axis, from x of A to x of B; slides are along it. All are
zero where the frames coincide, but:

- U, ER, PC: zero where z of B is x of A and x of B is z of A. ``angle_1`` turns about z of A,
  ``angle_2`` about z of B (PC: ``angle_z`` and ``angle_x``).
- S, F, SC, SP, SPSP, DIST: Cardan angles, C = Rx(angle_x) Ry(angle_y) Rz(angle_z).
- SPSP, ROD, DIST: zero where the line from A to B points along x of A; ``azimuth`` turns it about z,
  ``elevation`` lifts it towards z. The ``distance`` of DIST is the length of that line, positive.

Planar rows are the same with d_z = 0 and rotations about z; P, SLOT and RD slide along x of A, and the wheel
of an RD is on the side of +y.

References: Haug 1989, *Computer-aided kinematics and dynamics of mechanical systems*, chapters 3 and 9
(dot-1 and dot-2 conditions); the tables here are our own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from mbssa.joints.catalogue import JointType

Array = npt.NDArray[Any]

#: Parameters of one type's joints by name, (n,) each: length, pitch, radius, offset.
Parameters = Mapping[str, Array]

_UNIT = np.eye(3)


@dataclass(frozen=True, slots=True)
class Step:
    """One elementary motion from A to B: a rotation or translation along an axis of the moving frame.

    ``coordinate`` is the index of the free coordinate that it follows, None for a constant; ``factor``
    multiplies it and may name a parameter.
    """

    kind: str
    axis: int = 2
    coordinate: int | None = None
    factor: float | str = 1.0


@dataclass(frozen=True, slots=True)
class Equations:
    """One row of the catalogue in equations.

    ``constraints`` and ``coordinates`` are named elementary functions; ``steps`` build the pose from
    the coordinates; ``sense`` are entries of C that must be positive, or an axis is turned round.
    """

    constraints: tuple[tuple[str, Elementary], ...]
    coordinates: tuple[Elementary, ...]
    steps: tuple[Step, ...]
    sense: tuple[tuple[int, int], ...] = ()
    unknown: tuple[int, ...] = field(default=(0, 1, 2, 3, 4, 5))


# --- elementary equations --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Elementary:
    """One scalar function of the relative pose, as data: other packages evaluate it in their own way.

    ==============  =========================================================================
    ``along``       d along axis i of A, less ``parameter``
    ``cosine``      C[i, j]: axis i of A times axis j of B (a dot-1 condition)
    ``turn``        the angle atan2(sign C[i, j], C[k, l])
    ``cardan``      angle_y of C = Rx Ry Rz: atan2(C[0, 2], |C[0, :2]|)
    ``distance``    |d|, less ``parameter`` if there is one
    ``azimuth``     atan2(d_y, d_x)
    ``elevation``   atan2(d_z, |d_x, d_y|)
    ``screw``       d_z - pitch x angle about z, turns completed to the nearest
    ``offset``      d along axis i of A, less the offset along the common normal z_A x z_B
    ==============  =========================================================================
    """

    kind: str
    numbers: tuple[int, ...] = ()
    sign: float = 1.0
    parameter: str | None = None

    def __call__(self, d: Array, C: Array, parameters: Parameters) -> tuple[Array, Array]:
        """Value (n,) and derivative by the relative twist (n, 6)."""
        return _FUNCTIONS[self.kind](self, d, C, parameters)


def _along(e: Elementary, d: Array, C: Array, p: Parameters) -> tuple[Array, Array]:
    (axis,) = e.numbers
    value = d[:, axis] if e.parameter is None else d[:, axis] - p[e.parameter]
    derivative = np.zeros((len(d), 6), dtype=C.dtype)
    derivative[:, axis] = 1.0
    return value, derivative


def _cosine(e: Elementary, _: Array, C: Array, __: Parameters) -> tuple[Array, Array]:
    a, b = e.numbers
    return C[:, a, b], _with_rotation(np.cross(C[:, :, b], _UNIT[a]))


def _turn(e: Elementary, _: Array, C: Array, __: Parameters) -> tuple[Array, Array]:
    i, j, k, m = e.numbers
    sine, cosine = e.sign * C[:, i, j], C[:, k, m]
    d_sine = e.sign * np.cross(C[:, :, j], _UNIT[i])
    d_cosine = np.cross(C[:, :, m], _UNIT[k])
    square = (sine * sine + cosine * cosine)[:, None]
    rate = (cosine[:, None] * d_sine - sine[:, None] * d_cosine) / square
    return angle_of(sine, cosine), _with_rotation(rate)


def _middle_cardan(_: Elementary, __: Array, C: Array, ___: Parameters) -> tuple[Array, Array]:
    sine = C[:, 0, 2]
    cosine = np.sqrt(C[:, 0, 0] ** 2 + C[:, 0, 1] ** 2)
    rate = np.cross(C[:, :, 2], _UNIT[0]) / cosine[:, None]
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
    flat = np.sqrt(d[:, 0] ** 2 + d[:, 1] ** 2)
    square = flat * flat + d[:, 2] ** 2
    rate = np.stack(
        [-d[:, 2] * d[:, 0] / (flat * square), -d[:, 2] * d[:, 1] / (flat * square), flat / square],
        axis=1,
    )
    return angle_of(d[:, 2], flat), _with_translation(rate)


def _screw(_: Elementary, d: Array, C: Array, p: Parameters) -> tuple[Array, Array]:
    angle, rate = _ANGLE(d, C, p)
    along, derivative = _Z(d, C, p)
    turns = np.round((along.real / p["pitch"] - angle.real) / (2 * np.pi))
    value = along - p["pitch"] * (angle + 2 * np.pi * turns)
    return value, derivative - p["pitch"][:, None] * rate


def _offset(e: Elementary, d: Array, C: Array, p: Parameters) -> tuple[Array, Array]:
    (axis,) = e.numbers
    z = C[:, :, 2]
    normal = np.cross(_UNIT[2], z)[:, axis]
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
    """atan2, also for the complex arguments of a complex-step derivative."""
    angle: Array = np.arctan2(sine.real, cosine.real)
    if np.iscomplexobj(sine) or np.iscomplexobj(cosine):
        square = sine.real**2 + cosine.real**2
        angle = angle + 1j * (cosine.real * sine.imag - sine.real * cosine.imag) / square
    return angle


def _with_rotation(rate: Array) -> Array:
    return np.concatenate([np.zeros_like(rate), rate], axis=1)


def _with_translation(rate: Array) -> Array:
    return np.concatenate([rate, np.zeros_like(rate)], axis=1)


# --- the table -------------------------------------------------------------------------------------

_ANGLE = Elementary("turn", (1, 0, 0, 0))
_X, _Y, _Z = (Elementary("along", (axis,)) for axis in range(3))
_HEIGHT = Elementary("along", (2,), parameter="radius")
_LENGTH = Elementary("distance", parameter="length")
_AZIMUTH = Elementary("azimuth")
_POSITION = (("position x", _X), ("position y", _Y), ("position z", _Z))
_ACROSS = (("position x", _X), ("position y", _Y))
_ALIGNED = (("tilt x", Elementary("cosine", (0, 2))), ("tilt y", Elementary("cosine", (1, 2))))
_TURN = (("turn", Elementary("cosine", (0, 1))),)
_UPRIGHT = (("angle between the axes", Elementary("cosine", (2, 2))),)
_CARDAN = (
    Elementary("turn", (1, 2, 2, 2), -1.0),
    Elementary("cardan"),
    Elementary("turn", (0, 1, 0, 0), -1.0),
)
_CROSS = (Elementary("turn", (1, 2, 0, 2)), Elementary("turn", (2, 1, 2, 0), -1.0))
_SAME_SENSE = ((2, 2),)


def _steps(*motions: str) -> tuple[Step, ...]:
    """``"Tz0"``: translate along z by coordinate 0; ``"Rz:swap"``…; see :func:`pose`."""
    steps = []
    for motion in motions:
        if motion == "swap":
            steps.append(Step("swap"))
            continue
        kind, axis, rest = motion[0], "xyz".index(motion[1]), motion[2:]
        if rest[0] in "-0123456789":
            sign = -1.0 if rest[0] == "-" else 1.0
            number, _, factor = rest.lstrip("-").partition("*")
            steps.append(Step(kind, axis, int(number), factor or sign))
        else:
            steps.append(Step(kind, axis, None, rest))
    return tuple(steps)


def _cardan_steps(first: int) -> tuple[str, str, str]:
    return f"Rx{first}", f"Ry{first + 1}", f"Rz{first + 2}"


_OFFSET = tuple(
    (name, Elementary("offset", (axis,), parameter="offset")) for axis, (name, _) in enumerate(_POSITION)
)
_U = Equations((*_OFFSET, *_UPRIGHT), _CROSS, _steps("Rz0", "swap", "Tynormal", "Rz1"))

SPATIAL: dict[str, Equations] = {
    "R": Equations(_POSITION + _ALIGNED, (_ANGLE,), _steps("Rz0"), _SAME_SENSE),
    "P": Equations(_ACROSS + _ALIGNED + _TURN, (_Z,), _steps("Tz0"), (*_SAME_SENSE, (0, 0))),
    "H": Equations(
        (*_ACROSS, *_ALIGNED, ("advance", Elementary("screw", parameter="pitch"))),
        (_ANGLE,),
        _steps("Rz0", "Tz0*pitch"),
        _SAME_SENSE,
    ),
    "C": Equations(_ACROSS + _ALIGNED, (_Z, _ANGLE), _steps("Tz0", "Rz1"), _SAME_SENSE),
    "U": _U,
    "ER": _U,
    "S": Equations(_POSITION, _CARDAN, _steps(*_cardan_steps(0))),
    "PL": Equations(
        (("position z", _Z), *_ALIGNED), (_X, _Y, _ANGLE), _steps("Tx0", "Ty1", "Rz2"), _SAME_SENSE
    ),
    "CR": Equations(
        (("position y", _Y), *_ALIGNED), (_X, _Z, _ANGLE), _steps("Tx0", "Tz1", "Rz2"), _SAME_SENSE
    ),
    "SC": Equations(_ACROSS, (_Z, *_CARDAN), _steps("Tz0", *_cardan_steps(1))),
    "PC": Equations(
        (("height", _HEIGHT), *_UPRIGHT),
        (_X, _Y, _CROSS[1], _CROSS[0]),
        _steps("Tx0", "Ty1", "Tzradius", "Rz3", "swap", "Rz2"),
    ),
    "SP": Equations(
        (("height", _HEIGHT),),
        (_X, _Y, *_CARDAN),
        _steps("Tx0", "Ty1", "Tzradius", *_cardan_steps(2)),
    ),
    "SPSP": Equations(
        (("length", _LENGTH),),
        (_AZIMUTH, Elementary("elevation"), *_CARDAN),
        _steps("Rz0", "Ry-1", "Txlength", "Ry1", "Rz-0", *_cardan_steps(2)),
    ),
    "F": Equations((), (_X, _Y, _Z, *_CARDAN), _steps("Tx0", "Ty1", "Tz2", *_cardan_steps(3))),
    "DIST": Equations(
        (),
        (Elementary("distance"), _AZIMUTH, Elementary("elevation"), *_CARDAN),
        _steps("Rz1", "Ry-2", "Tx0", "Ry2", "Rz-1", *_cardan_steps(3)),
    ),
}

#: A planar body moves with v_x, v_y, w_z.
_PLANE = (0, 1, 5)

PLANAR: dict[str, Equations] = {
    "R": Equations(_ACROSS, (_ANGLE,), _steps("Rz0"), (), _PLANE),
    "P": Equations((("position y", _Y), *_TURN), (_X,), _steps("Tx0"), ((0, 0),), _PLANE),
    "SLOT": Equations((("position y", _Y),), (_X, _ANGLE), _steps("Tx0", "Rz1"), (), _PLANE),
    "ROD": Equations(
        (("length", _LENGTH),),
        (_AZIMUTH, _ANGLE),
        _steps("Rz0", "Txlength", "Rz-0", "Rz1"),
        (),
        _PLANE,
    ),
    "FP": Equations((), (_X, _Y, _ANGLE), _steps("Tx0", "Ty1", "Rz2"), (), _PLANE),
    "RD": Equations(
        (("height", Elementary("along", (1,), parameter="radius")),),
        (_ANGLE, _X),
        _steps("Tx1", "Tyradius", "Rz0"),
        (),
        _PLANE,
    ),
    "DIST": Equations(
        (),
        (Elementary("distance"), _AZIMUTH, _ANGLE),
        _steps("Rz1", "Tx0", "Rz-1", "Rz2"),
        (),
        _PLANE,
    ),
}


def equations_of(row: JointType) -> Equations | None:
    """Equations of a catalogue row; None for the relations of :mod:`mbssa.joints.related`.

    >>> from mbssa.joints import joint_type
    >>> [name for name, _ in equations_of(joint_type("C", "spatial")).constraints]
    ['position x', 'position y', 'tilt x', 'tilt y']
    """
    return (SPATIAL if row.space == "spatial" else PLANAR).get(row.code)


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
    """Relative pose and free twists at given coordinates.

    Parameters
    ----------
    q : (n, k)

    Returns
    -------
    d (n, 3), C (n, 3, 3), and (n, 6, k): the relative twist of B for a unit rate of each coordinate.
    """
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
        if step.kind == "T":
            d = d + amount[:, None] * axis
        else:
            C = C @ _rotation(step.axis, amount)
    twists = np.zeros((n, 6, k))
    for step, factor, axis, origin in axes:
        if step.coordinate is None:
            continue
        rate = factor[:, None] * axis
        if step.kind == "T":
            twists[:, :3, step.coordinate] += rate
        else:
            twists[:, :3, step.coordinate] += np.cross(rate, d - origin)
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
