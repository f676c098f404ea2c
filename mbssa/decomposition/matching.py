"""Polynomial search: a maximum assignment of constraint units to bodies, and the groups that follow."""

# A movable body takes B units; a joint of grade k with w driven coordinates has B - k + w. If all are
# assigned, the strong components of "takes a unit from a joint with" are the groups: the fine Dulmage-
# Mendelsohn decomposition, the same for every maximum assignment (Shai, Sljoka and Whiteley 2013).

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mbssa.arrays import Bools, Ints
from mbssa.compiled import WORTH_COMPILING, kernel
from mbssa.decomposition import assignment_kernels, component_kernels, sparsity_kernels
from mbssa.decomposition.incidence import Incidence
from mbssa.decomposition.partition import Part, Partition, PartKind


def match(incidence: Incidence) -> Partition:
    """Groups and parts of a mechanism, in time that grows almost linearly with its size."""
    work = incidence.work
    graph: assignment_kernels.Graph = (
        incidence.joint_start,
        incidence.slot_body,
        incidence.slot_joint,
        incidence.body_start,
        incidence.body_slot,
    )
    bodies = joints = None
    # Only for speed: groups and parts are the same in any numbering.
    if work >= WORTH_COMPILING:
        bodies, joints, graph = kernel(assignment_kernels.renumbered, work)(graph)
    given = np.zeros(len(incidence.slot_body), dtype=np.int64)
    rest = incidence.units.copy() if joints is None else incidence.units[joints]
    freedom = incidence.freedom_of_body if bodies is None else incidence.freedom_of_body[bodies]
    need = freedom.copy()
    kernel(assignment_kernels.assign, work)(graph, given, rest, need)
    # A complete assignment has no coarse parts.
    none = np.zeros(incidence.n_bodies, dtype=np.uint8)
    over = kernel(assignment_kernels.without_place, work)(graph, given, rest) if rest.any() else none
    under = kernel(assignment_kernels.short_of_units, work)(graph, given, need) if need.any() else none
    label, count = kernel(component_kernels.components, work)(graph, given, over | under)
    bad, surplus = kernel(sparsity_kernels.rigid_subchains, work)(graph, given, label, freedom)
    if bodies is not None and joints is not None:
        over, under, label, bad, need = _back(bodies, over, under, label, bad, need)
        (rest,) = _back(joints, rest)
    parts = [
        *_coarse_parts(incidence, over.astype(bool), "over", rest, need),
        *_coarse_parts(incidence, under.astype(bool), "under", rest, need),
        *_rigid_parts(incidence, label, bad, surplus),
    ]
    parts.sort(key=lambda part: (part.kind == "under", part.bodies))
    return Partition(label, count, tuple(parts))


def _back(old: Ints, *columns: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    """Columns in the old numbering; ``old`` is the old index of each new one."""
    result = []
    for column in columns:
        result.append(np.empty_like(column))
        result[-1][old] = column
    return result


def _coarse_parts(incidence: Incidence, member: Bools, kind: PartKind, rest: Ints, need: Ints) -> list[Part]:
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


def _pieces(incidence: Incidence, inside: Bools, ends: Ints) -> Ints:
    """A representative per body of the connected pieces that joints among members make."""
    kept = np.repeat(ends > 1, np.diff(incidence.joint_start)) & inside
    start = np.zeros(int((ends > 1).sum()) + 1, dtype=np.int64)
    np.cumsum(ends[ends > 1], out=start[1:])
    pieces: Ints = kernel(component_kernels.connected, incidence.work)(
        start, incidence.slot_body[kept], incidence.n_bodies
    )
    return pieces


def _by_key(key: Ints, items: Ints) -> dict[int, Ints]:
    """Split ``items`` by ``key[item]``, each piece ascending."""
    if not len(items):
        return {}
    ordered = items[np.argsort(key[items], kind="stable")]
    names, begins = np.unique(key[ordered], return_index=True)
    return dict(zip(names.tolist(), np.split(ordered, begins[1:]), strict=True))


def _rigid_parts(incidence: Incidence, label: Ints, bad: Ints, surplus: Ints) -> list[Part]:
    """Over-constrained sub-chains, each with its group as an under-constrained part."""
    # A sub-chain with too many units among its own bodies leaves the rest of its group too few.
    first = incidence.joint_start[:-1]
    if len(surplus) == 0:
        return []
    slot_bad = bad[incidence.slot_body]
    chain_of_joint = np.maximum.reduceat(slot_bad, first)
    within = np.flatnonzero((chain_of_joint >= 0) & (np.minimum.reduceat(slot_bad, first) == chain_of_joint))
    chains = _by_key(bad, np.flatnonzero(bad >= 0))
    joints_of = _by_key(chain_of_joint, within)
    parts = []
    for number, chain in chains.items():
        bodies = tuple(chain.tolist())
        joints = tuple(joints_of[number].tolist())
        parts.append(Part("over", int(surplus[number]), bodies, joints, bodies))

    faulty = np.zeros(int(label.max()) + 1, dtype=bool)
    faulty[label[bad >= 0]] = True
    member = (label >= 0) & faulty[label]
    shortage = np.zeros(len(faulty), dtype=np.int64)
    np.add.at(shortage, [label[chain[0]] for chain in chains.values()], surplus[list(chains)])
    rigid_of = _by_key(label, np.flatnonzero(bad >= 0))
    touching = _touching(incidence, member, label)
    for group, bodies_of_group in _by_key(label, np.flatnonzero(member)).items():
        parts.append(
            Part(
                "under",
                int(shortage[group]),
                tuple(bodies_of_group.tolist()),
                tuple(touching[group].tolist()),
                tuple(rigid_of[group].tolist()),
            )
        )
    return parts


def _touching(incidence: Incidence, member: Bools, label: Ints) -> dict[int, Ints]:
    """Joints that touch each group among the members, ascending."""
    slots = np.flatnonzero(member[incidence.slot_body])
    n_joints = len(incidence.units)
    cells = np.unique(label[incidence.slot_body[slots]] * n_joints + incidence.slot_joint[slots])
    names, begins = np.unique(cells // n_joints, return_index=True)
    return dict(zip(names.tolist(), np.split(cells % n_joints, begins[1:]), strict=True))
