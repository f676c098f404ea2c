"""Laws of a body whose whole pose is driven, from a path of position and orientation."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from groups.motion.laws import Law, OutsideError, reached, through
from groups.motion.sampled import finite, time_faults
from groups.results.joints import JointMotion, joint_motion
from groups.rotations import quaternion_of, rotation_of
from groups.status import OUTPUTS
from groups.trajectory import unfilled
from mbssa import Mechanism
from mbssa.arrays import Floats

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


#: |cos angle_y| below which Cardan angles say no more how a body turns.
LOCK = 1e-3

#: Turn from one instant to the next, rad, up to which its sense is clear.
LONGEST = 2.8

#: Instants between two of the path at which its angles are followed.
_BETWEEN = 8


def pose_path(
    mechanism: Mechanism,
    joint: str,
    time: npt.ArrayLike,
    positions: npt.ArrayLike,
    orientations: npt.ArrayLike | Rotation,
) -> dict[str, Law]:
    """Laws of all coordinates of a free joint F or FP, from a path of the body that it drives.

    The path is that of the body's own frame, as :class:`groups.Trajectory` has it: in world axes where
    the joint hangs on the frame, else the pose of the joint's second body in the axes of its first.
    Splines lead through it, quintic (cubic through four or five instants), of the position and of the
    angle or the unit quaternion. The laws are those of the Cardan angles of the
    joint's frames, C = Rx(angle_x) Ry(angle_y) Rz(angle_z), unwrapped from the reference on.

    A ValueError for a joint of another type or not fully driven, shapes, numbers that are not finite, time
    that does not increase, orientations that are none or so far apart that the sense of a turn is open; for
    the gimbal lock, cos(angle_y) = 0, with its instant; and from a law, for an instant outside the path.

    Parameters
    ----------
    joint : id of an F or FP whose coordinates are all driven
    time : (T,) s, increasing
    positions : (T, 3) or, planar, (T, 2), m
    orientations : quaternions w, x, y, z (T, 4), rotation matrices (T, 3, 3) or a scipy ``Rotation``;
        planar: angles (T,), rad

    Examples
    --------
    >>> import groups, mbssa
    >>> stewart = mbssa.load("stewart_inverse")
    >>> t = np.linspace(0.0, 1.0, 11)
    >>> position = np.stack([0.05 * np.sin(t), 0 * t, 1 + 0.1 * t], axis=1)
    >>> turn = np.stack([np.cos(0.1 * t), 0 * t, 0 * t, np.sin(0.1 * t)], axis=1)
    >>> motion = groups.sample(stewart, pose_path(stewart, "1-14", t, position, turn), t)
    >>> motion.value[[2, 5], -1].round(6)
    array([1.1, 0.2])
    """
    try:
        view = mechanism.joint(joint)
    except KeyError as error:
        raise ValueError(error.args[0]) from None
    if not view.type.is_free:
        raise ValueError(f"joint {view} is no free joint; a pose drives an F, or an FP in the plane")
    if view.driven != view.type.coordinates:
        missing = ", ".join(name for name in view.type.coordinates if name not in view.driven)
        raise ValueError(f"joint {view} does not drive {missing}; a pose drives all its coordinates")
    instants, planar = np.array(time, dtype=float), mechanism.space == "planar"
    place, turns = _checked(instants, positions, orientations, planar)
    place_at, turn_at = through(instants, place), through(instants, turns)
    ends = np.array(mechanism.joint_bodies(view.index))
    moving = np.sort(ends) == (ends[1] or ends[0])  # the second body, but where it is the frame

    def moved(t: Floats, near: Floats | None = None) -> JointMotion:
        """The joint at instants, with angles next to those of ``near`` (T, k)."""
        reached(t, float(instants[0]), float(instants[-1]), "the path")
        turn, spin, bent = (turn_at(t, k) for k in range(3))
        if not planar:  # angular velocity and acceleration of a quaternion of any length
            square = (turn * turn).sum(axis=1, keepdims=True)
            stretch = 2 * (turn * spin).sum(axis=1, keepdims=True) / square
            # vector parts of the rates times the conjugate of the quaternion
            (w, u), *rates = ((q[:, :1], q[:, 1:]) for q in (turn, spin, bent))
            spin, bent = (2 * (w * v - part * u - np.cross(v, u)) / square for part, v in rates)
            turn, bent = turn / np.sqrt(square), bent - stretch * spin
        levels = place_at(t), turn, np.c_[place_at(t, 1), spin], np.c_[place_at(t, 2), bent]
        path = unfilled(mechanism, t, np.sort(ends), 2, ())
        if not planar:
            path.orientation[..., 0] = 1.0
        for name, level in zip(OUTPUTS, levels, strict=True):
            getattr(path, name)[:, moving] = level[:, None]
        found = joint_motion(path, view, near=near)
        if not planar and (locked := np.abs(np.cos(found.value[:, 4])) < LOCK).any():
            raise OutsideError(
                f"the path runs into the gimbal lock at t = {t[locked][0]:.9g} s, where angle_y is 90 "
                "degrees; give the joint frames that lie a quarter turn further about y"
            )
        return found

    places = np.arange((len(instants) - 1) * _BETWEEN + 1) / _BETWEEN
    fine = np.interp(places, np.arange(len(instants)), instants)
    followed = moved(fine).value.T

    def law(row: int, t: Floats) -> tuple[Floats, Floats, Floats]:
        found = moved(t, np.stack([np.interp(t, fine, column) for column in followed], axis=1))
        return found.value[:, row], found.rate[:, row], found.acceleration[:, row]

    return {f"{view.id}.{name}": partial(law, row) for row, name in enumerate(view.type.coordinates)}


def _checked(
    time: Floats, positions: npt.ArrayLike, orientations: Any, planar: bool
) -> tuple[Floats, Floats]:
    """Positions, and orientations as angles (T,) or quaternions (T, 4)."""
    faults, wrong, n = time_faults(time), list[str](), time.size
    place = finite(positions, time, "positions", faults, (n, 2 if planar else 3))
    given = orientations.as_matrix() if hasattr(orientations, "as_matrix") else orientations
    turned = finite(given, time, "orientations", wrong, *([(n,)] if planar else [(n, 4), (n, 3, 3)]))
    if not planar and not wrong:
        length = np.linalg.norm(turned, axis=1, keepdims=True)
        what, off = "unit quaternion", np.abs(length[:, 0] - 1.0)
        if turned.ndim == 3:
            skew = np.abs(turned @ turned.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2))
            what, off = "rotation matrix", np.maximum(skew, np.abs(np.linalg.det(turned) - 1.0))
        for at in np.flatnonzero(off > 1e-6)[:1].tolist():
            wrong.append(f"orientations at t = {time[at]:.9g} s are no {what}: off by {off[at]:.2g}")
    if not planar and not wrong:
        turned = quaternion_of(turned if turned.ndim == 3 else rotation_of(turned / length))
        cosine = (turned[1:] * turned[:-1]).sum(axis=1)
        for at in np.flatnonzero(cosine < np.cos(LONGEST / 2))[:1].tolist():
            wrong.append(
                f"the body turns by {np.rad2deg(2 * np.arccos(cosine[at])):.0f} degrees from "
                f"t = {time[at]:.9g} s to the next instant; write instants closer together, so that the "
                "sense of the turn is clear"
            )
    if faults + wrong:
        raise ValueError("; ".join(faults + wrong))
    return place, np.unwrap(turned) if planar else turned
