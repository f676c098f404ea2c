"""Motions that no equation stops, and passive rotations of single bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbssa.arrays import Floats
from mbssa.decomposition.treatment import PassiveRotation
from mbssa.disjoint_set import DisjointSet
from mbssa.joints.catalogue import CATALOGUE, type_of_joint
from mbssa.joints.poses import Poses
from mbssa.joints.system import Rows

if TYPE_CHECKING:
    from mbssa.joints.frames import Frames
    from mbssa.mechanism import Mechanism


def passive_rotations(
    mechanism: Mechanism, rows: Rows, frames: Frames | None, at: Poses | None, tolerance: float
) -> list[PassiveRotation]:
    """Passive rotations of bodies, or of bodies locked together; spatial mechanisms only."""
    # Their own rows leave them one motion, a rotation. They hang on two joints at least, one a ball or
    # a point on a surface and none a hinge: a last body on one R, or a shaft in bearings, turns on purpose.
    if mechanism.space == "planar":
        return []
    found = []
    slot_joint = np.repeat(np.arange(mechanism.n_joints), np.diff(mechanism.joint_start))
    for bodies in _locked_together(mechanism):
        joints = np.unique(slot_joint[np.isin(mechanism.joint_body, bodies)]).tolist()
        outer = [j for j in joints if not set(bodies) >= set(mechanism.joint_bodies(j))]
        spins = [type_of_joint(mechanism, j).spin for j in outer]
        if len(spins) < 2 or "any" not in spins or not all(spins):
            continue
        touching = np.flatnonzero(np.isin(rows.body, bodies).any(axis=1))
        free = free_motions(rows.select(touching).matrix(np.array(bodies)), tolerance)
        if free.shape[1] != 1 or not is_rotation(motion := free.reshape(-1, 6)):
            continue
        if frames is None or at is None:
            found.append(PassiveRotation(bodies))
            continue
        velocity, spin = motion[0, :3], motion[0, 3:]
        size = float(np.linalg.norm(spin))
        point = at.centres(frames.centre)[bodies[0]] + np.cross(spin, velocity) / size**2 * frames.size
        # The sign of a singular vector is arbitrary: the largest component is made positive.
        sense = np.sign(spin[np.argmax(np.abs(spin))])
        found.append(PassiveRotation(bodies, tuple(point.tolist()), tuple((sense * spin / size).tolist())))
    return found


def _locked_together(mechanism: Mechanism) -> list[tuple[int, ...]]:
    """Movable bodies, those that turn as one taken together; by lowest body."""
    # They are joined by a P, driven or not, or by a joint that is driven in every coordinate.
    clusters = DisjointSet(mechanism.n_bodies)
    slides = np.array([row.is_slider for row in CATALOGUE])[mechanism.joint_type]
    for j in np.flatnonzero((mechanism.n_driven_of_joint == mechanism.grade) | slides).tolist():
        first, *others = mechanism.joint_bodies(j)
        for other in others:
            clusters.merge(first, other)
    return [tuple(bodies) for bodies in clusters.subsets()[1:]]


def is_rotation(motion: Floats) -> bool:
    """Whether bodies (b, 6) rotate about one line: one angular velocity for all, and no advance along it."""
    velocity, spin = motion[0, :3], motion[0, 3:]
    size = float(np.linalg.norm(spin))
    together = np.abs(motion[:, 3:] - spin).max() < 1e-6
    return bool(together and size >= 1e-6 and abs(float(velocity @ spin)) <= 1e-6 * size)


def free_motions(matrix: Floats, tolerance: float) -> Floats:
    """Orthonormal basis (n, f) of the null space of a Jacobian."""
    if 0 in matrix.shape:
        return np.eye(matrix.shape[1])
    _, values, right = np.linalg.svd(matrix)
    rank = int((values > tolerance * values[0]).sum())
    return right[rank:].T
