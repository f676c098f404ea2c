"""Polynomial search: a maximum assignment of constraint units to bodies, and the groups that follow."""

# A movable body takes B units; a joint of grade k with w driven coordinates has B - k + w. If all are
# assigned, the strong components of "takes a unit from a joint with" are the groups: the fine Dulmage-
# Mendelsohn decomposition, the same for every maximum assignment (Shai, Sljoka and Whiteley 2013).

from __future__ import annotations

import numpy as np

from mbssa.arrays import Bools, Ints
from mbssa.decomposition.flow import assigned, connected_pieces, reached, strong_components
from mbssa.decomposition.incidence import Incidence
from mbssa.decomposition.partition import Part, Partition, PartKind
from mbssa.decomposition.sparsity import rigid_subchains


def match(incidence: Incidence) -> Partition:
    """Groups and parts of a mechanism, in time that grows almost linearly with its size."""
    n, first = incidence.n_bodies, incidence.joint_start[:-1]
    taken = assigned(incidence)
    rest = incidence.units - np.add.reduceat(taken, first)
    need = incidence.freedom_of_body - np.bincount(incidence.slot_body, taken, n).astype(np.int64)
    # A body needs the other bodies of the joints that give it units.
    one, other = incidence.slot_pairs()
    body, needed = incidence.slot_body[one], incidence.slot_body[other]
    arcs = (taken[one] > 0) & (body > 0) & (needed > 0)
    body, needed = body[arcs], needed[arcs]
    without_place = np.zeros(n, dtype=bool)
    without_place[incidence.slot_body[rest[incidence.slot_joint] > 0]] = True
    without_place[0] = False
    over, under = reached(n, without_place, body, needed), reached(n, need > 0, needed, body)
    kept = ~(over | under)
    kept[0] = False
    number = np.cumsum(kept) - 1
    arcs = kept[body] & kept[needed]
    label = np.full(n, -1, dtype=np.int64)
    label[kept], count = strong_components(int(kept.sum()), number[body[arcs]], number[needed[arcs]])
    bad, surplus = rigid_subchains(incidence, taken, label, count)
    parts = [
        *_coarse_parts(incidence, over, "over", rest, need),
        *_coarse_parts(incidence, under, "under", rest, need),
        *_rigid_parts(incidence, label, bad, np.array(surplus, dtype=np.int64)),
    ]
    parts.sort(key=lambda part: (part.kind == "under", part.bodies))
    return Partition(label, count, tuple(parts))


def _coarse_parts(incidence: Incidence, member: Bools, kind: PartKind, rest: Ints, need: Ints) -> list[Part]:
    """Connected pieces of one coarse part, each with its surplus or shortage."""
    if not member.any():
        return []
    first = incidence.joint_start[:-1]
    inside = member[incidence.slot_body]
    one, other = incidence.slot_pairs()
    joined = inside[one] & inside[other]
    piece = connected_pieces(
        incidence.n_bodies, incidence.slot_body[one[joined]], incidence.slot_body[other[joined]]
    )
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
