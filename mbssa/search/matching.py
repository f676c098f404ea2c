"""The polynomial search: give every constraint unit to a body, then read the groups off.

A joint of grade k with w driven coordinates carries B - k + w units and a movable body has B units of
freedom. An assignment of units to the bodies of their joint, at most B to a body, is a flow; all units
and all freedoms assigned means that the count is determined. The strong components of "takes a unit
from a joint with" are then the structural groups: the fine Dulmage-Mendelsohn decomposition, which is
the same for every maximum assignment (Shai, Sljoka and Whiteley 2013, *Directed graphs, decompositions
and spatial linkages*). A short assignment gives the coarse parts instead.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mbssa.compiled import kernel
from mbssa.initialisation import Incidence
from mbssa.mechanism import IntArray
from mbssa.search import kernels
from mbssa.search.partition import Part, PartKind, Partition

Mask = npt.NDArray[np.bool_]


def match(incidence: Incidence) -> Partition:
    """Groups and parts of a mechanism, in time that grows almost linearly with its size."""
    graph = (
        incidence.joint_start,
        incidence.slot_body,
        incidence.slot_joint,
        incidence.body_start,
        incidence.body_slot,
    )
    work = incidence.work
    given = np.zeros(len(incidence.slot_body), dtype=np.int64)
    rest = incidence.units.copy()
    need = np.full(incidence.n_bodies, incidence.freedom, dtype=np.int64)
    need[0] = 0
    kernel(kernels.greedy, work)(*graph, given, rest, need)
    over = kernel(kernels.augment, work)(*graph, given, rest, need)
    under = kernel(kernels.short_of_units, work)(*graph, given, need)

    label, count = kernel(kernels.components, work)(*graph, given, over | under)
    bad, surplus = kernel(kernels.rigid_subchains, work)(*graph, given, label, incidence.freedom)
    parts = [
        *_coarse_parts(incidence, over.astype(bool), "over", rest, need),
        *_coarse_parts(incidence, under.astype(bool), "under", rest, need),
        *_rigid_parts(incidence, label, bad, surplus),
    ]
    parts.sort(key=lambda part: (part.kind == "under", part.bodies))
    return Partition(label, count, tuple(parts))


def _coarse_parts(
    incidence: Incidence, member: Mask, kind: PartKind, rest: IntArray, need: IntArray
) -> list[Part]:
    """Connected pieces of one coarse part, each with its surplus or shortage."""
    if not member.any():
        return []
    first = incidence.joint_start[:-1]
    inside = member[incidence.slot_body]
    ends = np.add.reduceat(inside.astype(np.int64), first)
    piece = _pieces(incidence, inside, ends)
    # Members of one joint are in one piece, so any of them names the joint's piece.
    piece_of_joint = np.maximum.reduceat(np.where(inside, piece[incidence.slot_body], -1), first)
    if kind == "over":
        # A joint binds the part when each of its bodies is in it or is the frame.
        closed = np.logical_and.reduceat(inside | (incidence.slot_body == 0), first)
        piece_of_joint[~closed] = -1
    bodies_of = _by_key(piece, np.flatnonzero(member))
    joints_of = _by_key(piece_of_joint, np.flatnonzero(piece_of_joint >= 0))
    parts = []
    for key, bodies in bodies_of.items():
        joints = joints_of.get(key, np.zeros(0, dtype=np.int64))
        units = rest[joints].sum() if kind == "over" else need[bodies].sum()
        parts.append(Part(kind, int(units), tuple(bodies.tolist()), tuple(joints.tolist())))
    return parts


def _pieces(incidence: Incidence, inside: Mask, ends: IntArray) -> IntArray:
    """A representative per body of the connected pieces that joints among members make."""
    kept = np.repeat(ends > 1, np.diff(incidence.joint_start)) & inside
    start = np.zeros(int((ends > 1).sum()) + 1, dtype=np.int64)
    np.cumsum(ends[ends > 1], out=start[1:])
    pieces: IntArray = kernel(kernels.connected, incidence.work)(
        start, incidence.slot_body[kept], incidence.n_bodies
    )
    return pieces


def _by_key(key: IntArray, items: IntArray) -> dict[int, IntArray]:
    """``items`` split by ``key[item]``, each piece ascending."""
    ordered = items[np.argsort(key[items], kind="stable")]
    names, begins = np.unique(key[ordered], return_index=True)
    return dict(zip(names.tolist(), np.split(ordered, begins[1:]), strict=True))


def _rigid_parts(
    incidence: Incidence, label: IntArray, bad: IntArray, surplus: IntArray
) -> list[Part]:
    """A sub-chain with too many units among its own bodies leaves the rest of its group too few.

    So each sub-chain is an over-constrained part, and its group an under-constrained one.
    """
    first = incidence.joint_start[:-1]
    parts = []
    shortage: dict[int, list[int]] = {}
    for number, units in enumerate(surplus.tolist()):
        chain = np.flatnonzero(bad == number)
        within = np.logical_and.reduceat(bad[incidence.slot_body] == number, first)
        bodies = tuple(chain.tolist())
        joints = tuple(np.flatnonzero(within).tolist())
        parts.append(Part("over", units, bodies, joints, bodies))
        shortage.setdefault(int(label[chain[0]]), []).append(number)
    for group, numbers in shortage.items():
        touching = np.logical_or.reduceat(label[incidence.slot_body] == group, first)
        parts.append(
            Part(
                "under",
                int(surplus[numbers].sum()),
                tuple(np.flatnonzero(label == group).tolist()),
                tuple(np.flatnonzero(touching).tolist()),
                tuple(np.flatnonzero(np.isin(bad, numbers)).tolist()),
            )
        )
    return parts
