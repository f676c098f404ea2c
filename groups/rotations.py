"""Rotations as matrices and as quaternions, and what is planar as what is spatial."""

from __future__ import annotations

import numpy as np

from mbssa.arrays import Floats
from mbssa.graph.frames import quaternion
from mbssa.graph.nodes import above
from mbssa.joints.axes import plane_rotation as plane_rotation
from mbssa.joints.axes import rotation_of as rotation_of


def quaternion_of(rotation: Floats) -> Floats:
    """Unit quaternions (..., T, 4) of rotation matrices (..., T, 3, 3), continuous in sign along T."""
    # An instant that is not finite is left out: the sign goes on from the last one before it.
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = quaternion([*np.moveaxis(rotation, (-1, -2), (0, 1))], above, np.sqrt)
    q = np.stack(parts, axis=-1)
    continue_signs(q)
    return q


def continue_signs(q: Floats) -> None:
    """Turn the signs of quaternions (..., T, 4) so that each continues the last finite one before it."""
    with np.errstate(invalid="ignore"):
        inner = np.einsum("...tk,...tk->...t", q[..., 1:, :], q[..., :-1, :])
    finite = np.isfinite(q[..., 0])
    if not finite.all():
        last = np.maximum.accumulate(np.where(finite, np.arange(q.shape[-2]), -1), axis=-1)[..., :-1]
        before = np.take_along_axis(q, np.maximum(last, 0)[..., None], axis=-2)
        onward = np.einsum("...tk,...tk->...t", q[..., 1:, :], before)
        inner = np.where(finite[..., 1:] & (last >= 0), onward, 0.0)
    if (inner < 0).any():
        q[..., 1:, :] *= np.cumprod(np.where(inner < 0, -1.0, 1.0), axis=-1)[..., None]


def plane_quaternion(angle: Floats) -> Floats:
    """Unit quaternions (..., 4) of rotations about z; as continuous as the angles (...), rad."""
    quaternion = np.zeros((*angle.shape, 4))
    quaternion[..., 0], quaternion[..., 3] = np.cos(angle / 2), np.sin(angle / 2)
    return quaternion


def twist_in_space(twist: Floats) -> Floats:
    """Twists (..., 6) of planar rates v_x, v_y, w_z (..., 3); spatial ones stay as they are."""
    if twist.shape[-1] == 6:
        return twist
    lifted = np.zeros((*twist.shape[:-1], 6))
    lifted[..., [0, 1, 5]] = twist
    return lifted


def turned(quaternion: Floats, vectors: Floats) -> Floats:
    """Vectors (..., 3) turned by unit quaternions (..., 4): w, x, y, z."""
    w, axis = quaternion[..., :1], quaternion[..., 1:]
    twice = 2.0 * np.cross(axis, vectors)
    return vectors + w * twice + np.cross(axis, twice)
