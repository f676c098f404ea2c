"""Integer arrays that the search works on: module 2 of MBSSA3D (paper, section 3.2)."""

# The paper's N x N matrices become compressed rows; several joints between the same bodies stay several.

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbssa.arrays import Ints, ranges
from mbssa.mechanism import Mechanism


@dataclass(frozen=True, slots=True)
class Incidence:
    """Incidence of joints and bodies in both directions, and the constraint units of each joint."""

    joint_start: Ints  # (J + 1,) first slot of each joint; a slot is one (joint, body) incidence
    slot_body: Ints  # (slots,)
    slot_joint: Ints  # (slots,)
    body_start: Ints  # (N + 1,); body b has the slots body_slot[body_start[b]:body_start[b + 1]]
    body_slot: Ints  # (slots,) in the order of the joints
    units: Ints  # (J,) B - k + w, equations of the joint and of its drives
    freedom_of_body: Ints  # (N,) units that each body takes, B; 0 for the frame
    freedom: int  # B
    n_bodies: int  # N

    def slot_pairs(self) -> tuple[Ints, Ints]:
        """Every ordered pair of different slots of one joint."""
        joint = self.slot_joint
        one, other = ranges(self.joint_start[joint], self.joint_start[joint + 1])
        different = one != other
        return one[different], other[different]


def initialise(mechanism: Mechanism) -> Incidence:
    """Arrays of a mechanism, from its catalogue rows (the paper's Algorithm 1)."""
    n_bodies = mechanism.n_bodies
    slot_body = mechanism.joint_body
    sizes = np.diff(mechanism.joint_start)
    slot_joint = np.repeat(np.arange(mechanism.n_joints, dtype=np.int64), sizes)
    body_start = np.zeros(n_bodies + 1, dtype=np.int64)
    np.cumsum(np.bincount(slot_body, minlength=n_bodies), out=body_start[1:])
    return Incidence(
        joint_start=mechanism.joint_start,
        slot_body=slot_body,
        slot_joint=slot_joint,
        body_start=body_start,
        body_slot=np.argsort(slot_body, kind="stable"),
        units=mechanism.freedom - mechanism.grade + mechanism.n_driven_of_joint,
        freedom_of_body=np.where(np.arange(n_bodies) > 0, mechanism.freedom, 0),
        freedom=mechanism.freedom,
        n_bodies=n_bodies,
    )
