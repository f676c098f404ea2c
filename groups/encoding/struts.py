"""Data of a strut for its kernel, the signs of its mode, and all its modes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from groups.kernels import strut as kernel
from groups.kernels.status import OK
from mbssa.arrays import Floats, Ints

#: Position of a body's origin (3,) and rotation (3, 3), columns the body's axes.
Pose = tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class StrutMode:
    """One way to place a strut between its two bodies.

    ``signs`` (2,) is what the kernel keeps in its memory; ``slide`` (m) is 0 without one; ``position`` (n, 3)
    and ``rotation`` (n, 3, 3) are those of the strut's one or two bodies seen from body A.
    """

    signs: Floats
    slide: float
    position: Floats
    rotation: Floats


def pack(
    bodies: tuple[int, int, int, int],
    *,
    centre_a: npt.ArrayLike,
    pin_a: npt.ArrayLike,
    centre_b: npt.ArrayLike,
    centre: npt.ArrayLike,
    pin: npt.ArrayLike,
    arm: npt.ArrayLike,
    along: npt.ArrayLike | None = None,
    turn: npt.ArrayLike | None = None,
    origin: npt.ArrayLike | None = None,
    drive: int = -1,
    pin_body: int | None = None,
) -> tuple[Ints, Floats]:
    """``ints`` and ``floats`` of one strut, as :mod:`groups.kernels.strut` lays them out.

    Parameters
    ----------
    bodies : indices of A (universal), B (ball), the strut's first and last body; last -1 if there is one only
    centre_a, pin_a : (3,) the universal's centre and its axis in A, in A's axes from A's origin
    centre_b : (3,) the ball's centre in B
    centre, pin : (3,) the universal's centre and its other axis in the first body
    arm : (3,) from the universal's centre to the ball's at slide zero, in the first body's axes
    along : (3,) direction of the slide in the first body's axes
    turn, origin : (3, 3) and (3,) rotation and origin of the last body in the first at slide zero; unturned
        and at the first body's origin by default
    drive : row of the inputs that gives the slide; -1 for an unknown slide
    pin_body : body in whose axes ``pin_a`` is; A by default

    Raises
    ------
    ValueError
        A direction of no length, or a last body without ``along``.

    >>> ints, floats = pack((0, 1, 2, 3), centre_a=[0, 0, 0], pin_a=[1, 0, 0], centre_b=[0, 0, 0],
    ...                     centre=[0, 0, 0], pin=[0, 1, 0], arm=[0, 0, 1], along=[0, 0, 2])
    >>> ints.tolist(), floats.shape
    ([0, 1, 2, 3, -1, 0], (42,))
    """
    sliding = bodies[3] >= 0
    if sliding and along is None:
        raise ValueError("a strut of two bodies slides: give `along`, the direction of its slide")
    pin_1 = _unit("pin", pin)
    # Pin axes: the pin first, then whichever body axis is farthest from it, made perpendicular.
    second = np.eye(3)[np.argmin(np.abs(pin_1))]
    second = _unit("pin", second - (second @ pin_1) * pin_1)
    to_pin = np.array([pin_1, second, np.cross(pin_1, second)])
    u = np.asarray(centre, dtype=float)
    reach = np.asarray(arm, dtype=float)
    turn_2 = np.eye(3) if turn is None else np.asarray(turn, dtype=float)
    origin_2 = np.zeros(3) if origin is None else np.asarray(origin, dtype=float)
    floats = np.zeros(kernel.FLOATS)
    floats[kernel.CENTRE_A : kernel.CENTRE_A + 3] = centre_a
    floats[kernel.PIN_A : kernel.PIN_A + 3] = _unit("pin_a", pin_a)
    floats[kernel.CENTRE_B : kernel.CENTRE_B + 3] = centre_b
    floats[kernel.ARM : kernel.ARM + 3] = to_pin @ reach
    floats[kernel.ORIGIN_1 : kernel.ORIGIN_1 + 3] = -to_pin @ u
    floats[kernel.TURN_1 : kernel.TURN_1 + 9] = to_pin.ravel()
    if sliding:
        floats[kernel.ALONG : kernel.ALONG + 3] = to_pin @ _unit("along", along)
        floats[kernel.ORIGIN_2 : kernel.ORIGIN_2 + 3] = to_pin @ (origin_2 - u)
        floats[kernel.TURN_2 : kernel.TURN_2 + 9] = (to_pin @ turn_2).ravel()
        floats[kernel.BALL : kernel.BALL + 3] = turn_2.T @ (u + reach - origin_2)
    else:
        floats[kernel.BALL : kernel.BALL + 3] = u + reach
    holder = bodies[0] if pin_body is None else pin_body
    return np.array([*bodies, drive if sliding else -1, holder], dtype=np.int64), floats


def signs(floats: Floats, a: Pose, b: Pose, first: Pose, *, pin_rotation: Floats | None = None) -> Floats:
    """The signs (2,) of the mode in which these poses of A, B and the strut's first body stand.

    ``pin_rotation`` (3, 3) is that of the body which holds ``pin_a``, A's by default. A sign that is open, as
    at a dead point or without a slide, is +1.

    >>> _, floats = pack((0, 1, 2, -1), centre_a=[0, 0, 0], pin_a=[1, 0, 0], centre_b=[0, 0, 0],
    ...                  centre=[0, 0, 0], pin=[0, 1, 0], arm=[0, 0, 1])
    >>> here, there = (np.zeros(3), np.eye(3)), (np.array([0, 0, 1.0]), np.eye(3))
    >>> signs(floats, here, there, here).tolist()
    [1.0, -1.0]
    """
    pin_a = (a[1] if pin_rotation is None else pin_rotation) @ floats[kernel.PIN_A : kernel.PIN_A + 3]
    centre = a[0] + a[1] @ floats[kernel.CENTRE_A : kernel.CENTRE_A + 3]
    D = b[0] + b[1] @ floats[kernel.CENTRE_B : kernel.CENTRE_B + 3] - centre
    axes = first[1] @ floats[kernel.TURN_1 : kernel.TURN_1 + 9].reshape(3, 3).T
    slide = D @ axes @ floats[kernel.ALONG : kernel.ALONG + 3]
    lean = D @ np.cross(axes[:, 0], pin_a)
    return np.where(np.array([slide, lean]) < 0.0, -1.0, 1.0)


def modes(
    ints: Ints, floats: Floats, a: Pose, b: Pose, *, slide: float = 0.0, pin_rotation: Floats | None = None
) -> list[StrutMode]:
    """All real modes of a strut between these poses of A and B: four, two if the slide is given, or none.

    ``slide`` (m) is that of a driven strut, else without meaning; ``pin_rotation`` as in :func:`signs`. Order
    of the signs: ++, +-, -+, --.

    >>> ints, floats = pack((0, 1, 2, 3), centre_a=[0, 0, 0], pin_a=[1, 0, 0], centre_b=[0, 0, 0],
    ...                     centre=[0, 0, 0], pin=[0, 1, 0], arm=[0, 0, 1], along=[0, 0, 1])
    >>> here, there = (np.zeros(3), np.eye(3)), (np.array([0, 0, 3.0]), np.eye(3))
    >>> [(mode.signs.tolist(), mode.slide) for mode in modes(ints, floats, here, there)]
    [([1.0, 1.0], 2.0), ([1.0, -1.0], 2.0), ([-1.0, 1.0], -4.0), ([-1.0, -1.0], -4.0)]
    """
    sliding = bool(ints[kernel.LAST] >= 0)
    free = sliding and bool(ints[kernel.DRIVE] < 0)
    S = np.zeros((5, 24, 1))
    holder = (np.zeros(3), a[1] if pin_rotation is None else pin_rotation)
    for body, (position, rotation) in zip((0, 1, 4), (a, b, holder), strict=True):
        S[body, 0:3, 0], S[body, 3:12, 0] = position, np.ravel(rotation)
    local = np.array([0, 1, 2, 3 if sliding else -1, -1 if free else 0, 4], dtype=np.int64)
    inputs = (np.full((1, 1), slide), np.zeros((1, 1)), np.zeros((1, 1)))
    strut, W = kernel.strut_in(local, 0, floats, 0), np.empty((kernel.ROWS, kernel.LANES))
    found = []
    for pair in ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0))[: 4 if free else 2]:
        memory = np.array(pair)
        with np.errstate(divide="ignore", invalid="ignore"):  # NaN is how the kernel says no
            kernel.place(strut, memory, 0, S, 0, 1, inputs, 0, 0, W)
        if W[kernel.STATUS, 0] != OK:
            continue
        bodies = S[2 : 4 if sliding else 3, :, 0]
        position = (bodies[:, 0:3] - a[0]) @ a[1]
        rotation = a[1].T @ bodies[:, 3:12].reshape(-1, 3, 3)
        found.append(StrutMode(memory, float(W[kernel.SLIDE, 0]), position, rotation))
    return found


def _unit(name: str, direction: npt.ArrayLike | None) -> Floats:
    """A direction at length one."""
    vector = np.asarray(direction, dtype=float)
    size = float(np.linalg.norm(vector))
    if not size > 0.0:
        raise ValueError(f"`{name}` has no direction: {vector.tolist()}")
    return vector / size
