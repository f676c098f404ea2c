"""Data of a strut for its kernel, and the signs of its assembly mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from groups.kernels import strut as kernel
from groups.passive_rotations import LockedRotation
from groups.tree import Strut
from mbssa.arrays import Floats, Ints
from mbssa.joints.frames import Frames
from mbssa.joints.system import Configuration
from mbssa.mechanism import Mechanism

if TYPE_CHECKING:
    from groups.setting import Setting

#: Position of a body's origin (3,) and rotation (3, 3), columns the body's axes.
Pose = tuple[Floats, Floats]


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
    """``ints`` and ``floats`` of one strut, in the layout of :mod:`groups.kernels.strut`."""
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
    """The signs (2,) of the mode in which these poses of A, B and the strut's first body stand."""
    pin_a = (a[1] if pin_rotation is None else pin_rotation) @ floats[kernel.PIN_A : kernel.PIN_A + 3]
    centre = a[0] + a[1] @ floats[kernel.CENTRE_A : kernel.CENTRE_A + 3]
    D = b[0] + b[1] @ floats[kernel.CENTRE_B : kernel.CENTRE_B + 3] - centre
    axes = first[1] @ floats[kernel.TURN_1 : kernel.TURN_1 + 9].reshape(3, 3).T
    slide = D @ axes @ floats[kernel.ALONG : kernel.ALONG + 3]
    lean = D @ np.cross(axes[:, 0], pin_a)
    return np.where(np.array([slide, lean]) < 0.0, -1.0, 1.0)


def pack_strut(strut: Strut, setting: Setting) -> tuple[Ints, Floats, Floats, Floats]:
    """``ints`` and ``floats`` of a strut's kernel, and its arm and direction in the first body's axes."""
    mechanism, frames = setting.mechanism, setting.frames
    first, last = strut.bodies[0], strut.bodies[-1]
    centre = origin_on(mechanism, frames, strut.pin, first)
    turn, origin, along = np.eye(3), np.zeros(3), np.zeros(3)
    if strut.slide >= 0:
        side = _side(mechanism, strut.slide, first)
        near, far = frames.axes[strut.slide, side], frames.axes[strut.slide, 1 - side]
        turn = near @ far.T
        origin = frames.origin[strut.slide, side] - turn @ frames.origin[strut.slide, 1 - side]
        along = near[:, 2] if side == 0 else -near[:, 2]
    ball = origin + turn @ origin_on(mechanism, frames, strut.ball, last)
    pin_body, pin_a, pin = _pins(strut, mechanism, frames, turn, setting.spins)
    ints, floats = pack(
        (strut.base, strut.tip, first, last if strut.slide >= 0 else -1),
        pin_body=pin_body,
        centre_a=origin_on(mechanism, frames, strut.pin, strut.base),
        pin_a=pin_a,
        centre_b=origin_on(mechanism, frames, strut.ball, strut.tip),
        centre=centre,
        pin=pin,
        arm=ball - centre,
        along=along if strut.slide >= 0 else None,
        turn=turn,
        origin=origin,
        drive=setting.drives[strut.slide, "slide"] if strut.slide_driven else -1,
    )
    return ints, floats, ball - centre, along


def _pins(
    strut: Strut, mechanism: Mechanism, frames: Frames, turn: Floats, spins: Sequence[LockedRotation]
) -> tuple[int, Floats, Floats]:
    """Body of the fixed pin axis, that axis in it, and the other pin axis in the strut's first body."""
    if not strut.held:
        side = _side(mechanism, strut.pin, strut.base)
        return strut.base, frames.axes[strut.pin, side][:, 2], frames.axes[strut.pin, 1 - side][:, 2]
    (spin,) = (spin for spin in spins if spin.body in strut.bodies)
    in_first = spin.in_body if spin.body == strut.bodies[0] else turn @ spin.in_body
    return 0, spin.in_frame, in_first


def strut_signs(strut: Strut, floats: Floats, reference: Configuration) -> Floats:
    """Signs of the mode in which the reference stands."""
    pose = [(reference.position[b], reference.rotation[b]) for b in (strut.base, strut.tip, strut.bodies[0])]
    pin_body = 0 if strut.held else strut.base
    return signs(floats, *pose, pin_rotation=reference.rotation[pin_body])


def _side(mechanism: Mechanism, joint: int, body: int) -> int:
    return mechanism.joint_bodies(joint)[:2].index(body)


def origin_on(mechanism: Mechanism, frames: Frames, joint: int, body: int) -> Floats:
    """(3,) origin of a joint's frame on one of its bodies, in the body's axes."""
    origin: Floats = frames.origin[joint, _side(mechanism, joint, body)]
    return origin


def _unit(name: str, direction: npt.ArrayLike | None) -> Floats:
    """A direction at length one."""
    vector = np.asarray(direction, dtype=float)
    size = float(np.linalg.norm(vector))
    if not size > 0.0:
        raise ValueError(f"`{name}` has no direction: {vector.tolist()}")
    return vector / size
