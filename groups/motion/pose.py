"""Laws of a body whose whole pose is driven, from a path of position and orientation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from groups.motion.arrays import FEWEST
from groups.motion.inputs import reference_values
from groups.motion.laws import Law, OutsideError, reached, through
from groups.motion.sampled import time_faults
from groups.rotations import plane_rotation, quaternion_of, rotation_of
from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.joints.axes import in_space, whole_turns
from mbssa.joints.equations import elementary_motion
from mbssa.joints.frames import joint_frames
from mbssa.mechanism import Joint

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
    view, planar = _free_joint(mechanism, joint), mechanism.space == "planar"
    instants = np.array(time, dtype=float)
    place, turns, faults = _checked(instants, positions, orientations, planar)
    if faults:
        raise ValueError("; ".join(faults))
    frames, rows = joint_frames(mechanism), view.type.pair
    assert rows is not None
    ends = frames.origin[view.index], frames.axes[view.index]
    place_at, turn_at = through(instants, place), through(instants, turns)

    def columns(t: Floats) -> list[Floats]:
        """Coordinates of the joint, rates and accelerations, (k, T) each; angles are principal ones."""
        reached(t, float(instants[0]), float(instants[-1]), "the path")
        rotation, spin, bent = (_turn_in_plane if planar else _turn)(*(turn_at(t, k) for k in range(3)))
        still = np.zeros((len(t), 6))
        velocity, acceleration = np.hstack([place_at(t, 1), spin]), np.hstack([place_at(t, 2), bent])
        bodies = [
            (still[:, :3], np.broadcast_to(np.eye(3), rotation.shape), still, still),
            (place_at(t), rotation, velocity, acceleration),
        ]
        if view.bodies[0] != 1:  # the moving body is the joint's first
            bodies.reverse()
        levels = elementary_motion(rows.coordinates, bodies, ends, {})
        if not planar and (locked := np.abs(np.cos(levels[0][:, 4])) < LOCK).any():
            raise OutsideError(
                f"the path runs into the gimbal lock at t = {t[locked][0]:.9g} s, where angle_y is 90 "
                "degrees; give the joint frames that lie a quarter turn further about y"
            )
        return [level.T for level in levels]

    names = [f"{view.id}.{name}" for name in view.type.coordinates]
    first = 2 if planar else 3  # angle
    places = np.arange((len(instants) - 1) * _BETWEEN + 1) / _BETWEEN
    fine = np.interp(places, np.arange(len(instants)), instants)
    start = reference_values(mechanism)
    followed = np.unwrap(columns(fine)[0][first:], axis=1)
    followed += whole_turns(np.array([[start[name]] for name in names[first:]]) - followed[:, :1])

    def law_of(row: int) -> Law:
        def law(t: Floats) -> tuple[Floats, Floats, Floats]:
            value, rate, acceleration = (part[row] for part in columns(t))
            if row >= first:
                value = value + whole_turns(np.interp(t, fine, followed[row - first]) - value)
            return value, rate, acceleration

        return law

    return {name: law_of(row) for row, name in enumerate(names)}


def _free_joint(mechanism: Mechanism, name: str) -> Joint:
    try:
        view = mechanism.joint(name)
    except KeyError as error:
        raise ValueError(error.args[0]) from None
    if not view.type.is_free:
        raise ValueError(f"joint {view} is no free joint; a pose drives an F, or an FP in the plane")
    if view.driven != view.type.coordinates:
        missing = ", ".join(name for name in view.type.coordinates if name not in view.driven)
        raise ValueError(f"joint {view} does not drive {missing}; a pose drives all its coordinates")
    return view


# --- the path --------------------------------------------------------------------------------------


def _checked(
    time: Floats, positions: npt.ArrayLike, orientations: npt.ArrayLike | Rotation, planar: bool
) -> tuple[Floats, Floats, list[str]]:
    """Positions (T, 3), orientations as angles (T,) or quaternions (T, 4), and what is wrong."""
    faults = time_faults(time)
    if not faults and len(time) < FEWEST:
        faults.append(f"{len(time)} instants are too few for a spline, which needs {FEWEST}")
    n, width = time.size, 2 if planar else 3
    place = np.array(positions, dtype=float)
    if place.shape != (n, width):
        faults.append(f"positions have the shape {place.shape}; they need {(n, width)}")
    elif not (sound := np.isfinite(place).all(axis=1)).all():
        faults.append(f"positions are not finite at t = {time[~sound][0]:.9g} s")
    else:
        place = in_space(place)
    given: Any = orientations
    turned = np.array(given.as_matrix() if hasattr(given, "as_matrix") else given, dtype=float)
    shapes = [(n,)] if planar else [(n, 4), (n, 3, 3)]
    if turned.shape not in shapes:
        wanted = " or ".join(map(str, shapes))
        faults.append(f"orientations have the shape {turned.shape}; they need {wanted}")
    elif not (sound := np.isfinite(turned).reshape(n, -1).all(axis=1)).all():
        faults.append(f"orientations are not finite at t = {time[~sound][0]:.9g} s")
    elif planar:
        turned = np.unwrap(turned)
    elif ((off := _far_from_rotations(turned)) > 1e-6).any():
        at = int(np.flatnonzero(off > 1e-6)[0])
        what = "unit quaternion" if turned.ndim == 2 else "rotation matrix"
        faults.append(f"orientations at t = {time[at]:.9g} s are no {what}: off by {off[at]:.2g}")
    else:
        turned = quaternion_of(turned if turned.ndim == 3 else rotation_of(_unit(turned)))
        cosine = (turned[1:] * turned[:-1]).sum(axis=1)
        for at in np.flatnonzero(cosine < np.cos(LONGEST / 2))[:1].tolist():
            degrees = np.rad2deg(2 * np.arccos(cosine[at]))
            faults.append(
                f"the body turns by {degrees:.0f} degrees from t = {time[at]:.9g} s to the next instant; "
                "write instants closer together, so that the sense of the turn is clear"
            )
    return place, turned, faults


def _unit(quaternions: Floats) -> Floats:
    return np.asarray(quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True))


def _far_from_rotations(turned: Floats) -> Floats:
    """Deviation (T,) of quaternions from unit length, or of matrices from right-handed rotations."""
    if turned.ndim == 2:
        return np.asarray(np.abs(np.linalg.norm(turned, axis=1) - 1.0))
    skew = np.abs(turned @ turned.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2))
    return np.asarray(np.maximum(skew, np.abs(np.linalg.det(turned) - 1.0)))


def _turn_in_plane(turn: Floats, first: Floats, second: Floats) -> tuple[Floats, Floats, Floats]:
    """Rotation (T, 3, 3), angular velocity and acceleration (T, 3), of an angle and its derivatives."""
    upright = np.array([0.0, 0.0, 1.0])
    return plane_rotation(turn), np.outer(first, upright), np.outer(second, upright)


def _turn(turn: Floats, first: Floats, second: Floats) -> tuple[Floats, Floats, Floats]:
    """The same of a quaternion (T, 4), whose direction counts: between its points it has another length."""
    square = (turn * turn).sum(axis=1, keepdims=True)
    w = 2 * _vector_part(first, turn) / square
    stretch = 2 * (turn * first).sum(axis=1, keepdims=True) / square
    a = 2 * _vector_part(second, turn) / square - stretch * w
    return rotation_of(_unit(turn)), w, a


def _vector_part(p: Floats, q: Floats) -> Floats:
    """Vector part (T, 3) of p times the conjugate of q."""
    v, u = p[:, 1:], q[:, 1:]
    return q[:, :1] * v - p[:, :1] * u - np.cross(v, u)
