"""Integer arrays that the search works on: module 2 of MBSSA3D (paper, section 3.2)."""

# The paper's N x N matrices become compressed rows; several joints between the same bodies stay several.

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mbssa.arrays import Ints, ranges
from mbssa.mechanism import Mechanism


@dataclass(frozen=True, eq=False)
class Incidence:
    """Incidence of joints and bodies in both directions, and the constraint units of each joint."""

    joint_start: Ints  # (J + 1,) first slot of each joint; a slot is one (joint, body) incidence
    slot_body: Ints  # (slots,)
    units: Ints  # (J,) B - k + w, equations of the joint and of its drives
    freedom_of_body: Ints  # (N,) units that each body takes, B; 0 for the frame
    freedom: int  # B

    @property
    def n_bodies(self) -> int:
        """Number of bodies with the frame."""
        return len(self.freedom_of_body)

    @cached_property
    def slot_joint(self) -> Ints:
        """Joint of each slot."""
        return np.repeat(np.arange(len(self.units), dtype=np.int64), np.diff(self.joint_start))

    @cached_property
    def body_start(self) -> Ints:
        """Beginnings (N + 1,) of the slots ``body_slot[body_start[b]:body_start[b + 1]]`` of each body."""
        return np.append(0, np.cumsum(np.bincount(self.slot_body, minlength=self.n_bodies)))

    @cached_property
    def body_slot(self) -> Ints:
        """Slots by their bodies, of each in the order of the joints."""
        return np.argsort(self.slot_body, kind="stable")

    @cached_property
    def joint_slots(self) -> Ints:
        """Slots (J, K) of each joint, the last one repeated."""
        start = self.joint_start
        width = int(np.diff(start).max(initial=1))
        return np.asarray(np.minimum(start[:-1, None] + np.arange(width), start[1:, None] - 1))

    @cached_property
    def arcs(self) -> Ints:
        """Arcs (A, 2) from slot to slot of a joint, ascending by the body of the first, which can move."""
        arcs = np.stack(self.slot_pairs(), axis=1)
        body = self.slot_body[arcs[:, 0]]
        order = np.argsort(body, kind="stable")
        return np.asarray(arcs[order[np.count_nonzero(body == 0) :]])

    def slot_pairs(self) -> tuple[Ints, Ints]:
        """Every ordered pair of different slots of one joint."""
        joint = self.slot_joint
        one, other = ranges(self.joint_start[joint], self.joint_start[joint + 1])
        different = one != other
        return one[different], other[different]


def initialise(mechanism: Mechanism) -> Incidence:
    """Arrays of a mechanism, from its catalogue rows (the paper's Algorithm 1)."""
    freedom = mechanism.freedom
    return Incidence(
        mechanism.joint_start,
        mechanism.joint_body,
        freedom - mechanism.grade + mechanism.n_driven_of_joint,
        np.where(np.arange(mechanism.n_bodies) > 0, freedom, 0),
        freedom,
    )
