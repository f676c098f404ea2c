"""Senses of parallel axes of joints, which the constraints alone leave open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mbssa.joints.axes import cross
from mbssa.joints.catalogue import CATALOGUE
from mbssa.joints.system import Configuration, Rows, first_two_bodies, relative_pose, unknowns

if TYPE_CHECKING:
    from mbssa.joints.frames import Frames
    from mbssa.mechanism import Mechanism

Array = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def cosines(mechanism: Mechanism, frames: Frames, at: Configuration) -> tuple[Array, IntArray]:
    """Cosines (n,) between axes, positive where the sense is right, and their joints (n,)."""
    found = list(_parts(mechanism, frames, at))
    joints = [each for _, each, _, _ in found]
    return (
        np.concatenate([np.zeros(0), *(cosine for cosine, _, _, _ in found)]),
        np.concatenate([np.zeros(0, dtype=np.int64), *joints]),
    )


def with_senses(
    rows: Rows, mechanism: Mechanism, frames: Frames, at: Configuration, chosen: npt.NDArray[np.bool_]
) -> Rows:
    """The rows, and for each chosen cosine the equation 1 - a·b = 0 of its axes a and b.

    Its derivative by the angular velocities of the two bodies is -a × b and a × b.
    """
    parts = list(_parts(mechanism, frames, at))
    cosine, joint = cosines(mechanism, frames, at)
    normal = np.concatenate([normal for _, _, normal, _ in parts])[chosen]
    body = np.concatenate([body for _, _, _, body in parts])[chosen]
    count = int(chosen.sum())
    jacobian = np.zeros((count, 2, rows.jacobian.shape[2]))
    turning = [k for k, column in enumerate(unknowns(mechanism.space)) if column >= 3]
    for side, sign in enumerate((-1.0, 1.0)):
        jacobian[:, side, turning] = sign * normal[:, : len(turning)] * (body[:, side] > 0)[:, None]
    senses = Rows(
        1.0 - cosine[chosen], jacobian, body, joint[chosen], np.zeros(count, bool), ("sense",) * count
    )
    return Rows.joined([rows, senses], rows.missing)


def _parts(
    mechanism: Mechanism, frames: Frames, at: Configuration
) -> Iterator[tuple[Array, IntArray, Array, IntArray]]:
    """Of each type whose axes have a sense: cosines a·b, joints, a × b in world axes, and bodies (n, 2)."""
    for index in np.unique(mechanism.joint_type[frames.known]).tolist():
        pair = CATALOGUE[index].pair
        if pair is None or not pair.sense:
            continue
        joints = np.flatnonzero((mechanism.joint_type == index) & frames.known)
        body = first_two_bodies(mechanism, joints)
        _, C, axes, _ = relative_pose(frames, at, joints, body)
        for i, j in pair.sense:
            yield C[:, i, j], joints, cross(axes[:, :, i], np.einsum("nab,nb->na", axes, C[:, :, j])), body
