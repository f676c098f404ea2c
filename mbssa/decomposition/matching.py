"""Polynomial search: a maximum assignment of constraint units to bodies, and the groups that follow."""

# A movable body takes B units; a joint of grade k with w driven coordinates has B - k + w. If all are
# assigned, the strong components of "takes a unit from a joint with" are the groups: the fine Dulmage-
# Mendelsohn decomposition, the same for every maximum assignment (Shai, Sljoka and Whiteley 2013).

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from mbssa.arrays import Bools, Ints
from mbssa.decomposition.flow import assigned, connected_pieces, reached, rows, strong_components
from mbssa.decomposition.incidence import Incidence
from mbssa.decomposition.partition import Part, Partition, PartKind
from mbssa.decomposition.sparsity import rigid_subchains


def match(incidence: Incidence, ties: Sequence[tuple[int, int]] = ()) -> Partition:
    """Groups and parts of a mechanism, in time that grows almost linearly with its size."""
    # By ``ties`` a body needs another one beside those that give it units.
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
    if ties:
        body, needed = np.concatenate([[body, needed], np.array(ties).T], axis=1)
    arcs = kept[body] & kept[needed]
    label = np.full(n, -1, dtype=np.int64)
    label[kept], count = strong_components(int(kept.sum()), number[body[arcs]], number[needed[arcs]])
    bad, surplus = rigid_subchains(incidence, taken, label, count)
    parts = [
        *_coarse_parts(incidence, over, "over", rest, need),
        *_coarse_parts(incidence, under, "under", rest, need),
        *_rigid_parts(incidence, label, bad, surplus),
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
    members, joints = np.flatnonzero(member), np.flatnonzero(piece_of_joint >= 0)
    bodies_of = rows(incidence.n_bodies, piece[members], members)
    joints_of = rows(incidence.n_bodies, piece_of_joint[joints], joints)
    return [
        Part(kind, int(rest[js].sum() if kind == "over" else need[bs].sum()), tuple(bs), tuple(js))
        for bs, js in zip(bodies_of, joints_of, strict=True)
        if bs
    ]


def _rigid_parts(incidence: Incidence, label: Ints, bad: Ints, surplus: list[int]) -> list[Part]:
    """Over-constrained sub-chains, each with its group as an under-constrained part."""
    # A sub-chain with too many units among its own bodies leaves the rest of its group too few.
    if not surplus:
        return []
    first, slot_bad = incidence.joint_start[:-1], bad[incidence.slot_body]
    chain_of_joint = np.maximum.reduceat(slot_bad, first)
    within = (chain_of_joint >= 0) & (np.minimum.reduceat(slot_bad, first) == chain_of_joint)
    joints, chained = np.flatnonzero(within), np.flatnonzero(bad >= 0)
    joints_of = rows(len(surplus), chain_of_joint[joints], joints)
    parts, shortage = [], Counter[int]()
    for units, chain, its in zip(surplus, rows(len(surplus), bad[chained], chained), joints_of, strict=True):
        shortage[int(label[chain[0]])] += units
        parts.append(Part("over", units, tuple(chain), tuple(its), tuple(chain)))
    labelled, slots = np.flatnonzero(label >= 0), np.flatnonzero(label[incidence.slot_body] >= 0)
    n_groups, slot_label = int(label.max()) + 1, label[incidence.slot_body[slots]]
    bodies_of = rows(n_groups, label[labelled], labelled)
    joints_of = rows(n_groups, slot_label, incidence.slot_joint[slots])
    rigid_of = rows(n_groups, label[chained], chained)
    for group, units in shortage.items():
        its = sorted(set(joints_of[group]))
        parts.append(Part("under", units, tuple(bodies_of[group]), tuple(its), tuple(rigid_of[group])))
    return parts
