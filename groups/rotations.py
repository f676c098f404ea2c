"""Rotations as matrices and as quaternions, and what is planar as what is spatial."""

from __future__ import annotations

import numpy as np

from mbssa.arrays import Bools, Floats


def rotation_of(quaternion: Floats) -> Floats:
    """Rotation matrices (..., 3, 3) of unit quaternions w, x, y, z."""
    w, x, y, z = np.moveaxis(quaternion, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def quaternion_of(rotation: Floats) -> Floats:
    """Unit quaternions (..., T, 4) of rotation matrices (..., T, 3, 3), continuous in sign along T."""
    # The largest of the four squares is taken first, so no digit is lost (Shepperd 1978). An instant that is
    # not finite is left out: the sign goes on from the last one before it.
    r = rotation
    trace = r[..., 0, 0] + r[..., 1, 1] + r[..., 2, 2]
    squares = np.stack([trace, r[..., 0, 0], r[..., 1, 1], r[..., 2, 2]], axis=-1)
    q = np.full((*r.shape[:-2], 4), np.nan)
    sound = np.isfinite(trace)
    best = np.where(sound, np.argmax(np.nan_to_num(squares, nan=-9.0), axis=-1), -1)
    for k in range(4):
        here = best == k
        m = r[here]
        if not len(m):
            continue
        total = m[:, 0, 0] + m[:, 1, 1] + m[:, 2, 2]
        if k == 0:
            root = np.sqrt(1 + total)
            parts = [root, *((m[:, b, a] - m[:, a, b]) / root for a, b in ((1, 2), (2, 0), (0, 1)))]
        else:
            i, j, n = k - 1, k % 3, (k + 1) % 3
            root = np.sqrt(1 + 2 * m[:, i, i] - total)
            parts = [(m[:, n, j] - m[:, j, n]) / root, root, root, root]
            parts[1 + i] = root
            parts[1 + j] = (m[:, j, i] + m[:, i, j]) / root
            parts[1 + n] = (m[:, n, i] + m[:, i, n]) / root
        q[here] = 0.5 * np.stack(parts, axis=-1)
    return _continuous(q, sound)


def _continuous(q: Floats, sound: Bools) -> Floats:
    """Signs turned so that each sound quaternion is near the last sound one before it."""
    if q.shape[-2] < 2:
        return q
    last = np.maximum.accumulate(np.where(sound, np.arange(q.shape[-2]), -1), axis=-1)[..., :-1]
    before = np.take_along_axis(q, np.maximum(last, 0)[..., None], axis=-2)
    inner = np.where(sound[..., 1:] & (last >= 0), np.sum(q[..., 1:, :] * before, axis=-1), 0.0)
    q[..., 1:, :] *= np.cumprod(np.where(inner < 0, -1.0, 1.0), axis=-1)[..., None]
    return q


def plane_rotation(angle: Floats) -> Floats:
    """Rotation matrices (..., 3, 3) about z by angles (...), rad."""
    c, s = np.cos(angle), np.sin(angle)
    rotation = np.zeros((*angle.shape, 3, 3))
    rotation[..., 0, 0], rotation[..., 0, 1] = c, -s
    rotation[..., 1, 0], rotation[..., 1, 1] = s, c
    rotation[..., 2, 2] = 1.0
    return rotation


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
