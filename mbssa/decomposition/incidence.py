"""Module 2 of MBSSA3D: the integer arrays that the search works on (paper, section 3.2).

The paper's N x N matrices become compressed rows: joint to bodies, body to joints, and the number of
constraint units of each joint. Several joints between the same bodies stay several.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbssa.arrays import Ints
from mbssa.mechanism import Mechanism


@dataclass(frozen=True, slots=True)
class Incidence:
    """Incidence of joints and bodies in both directions, and the constraint units of each joint.

    Attributes
    ----------
    joint_start : (J + 1,) first slot of each joint; a slot is one (joint, body) incidence
    slot_body, slot_joint : (slots,) body index and joint of each slot
    body_start : (N + 1,); body b has the slots ``body_slot[body_start[b]:body_start[b + 1]]``
    body_slot : (slots,) in the order of the joints
    units : (J,) B - k + w, the equations of the joint and of its drives
    freedom_of_body : (N,) units that each body takes, B; 0 for the frame
    freedom : B
    n_bodies : N
    """

    joint_start: Ints
    slot_body: Ints
    slot_joint: Ints
    body_start: Ints
    body_slot: Ints
    units: Ints
    freedom_of_body: Ints
    freedom: int
    n_bodies: int

    @property
    def work(self) -> int:
        """Bodies and joints: what decides whether a kernel is worth compiling."""
        return self.n_bodies + len(self.units)


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
