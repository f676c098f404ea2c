"""Spanning tree of a mechanism with all its coordinates driven, and the joints that close the loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mbssa import Mechanism
from mbssa.disjoint_set import spanning_forest
from mbssa.input_search.query import with_terminals


def cut_tree(mechanism: Mechanism) -> tuple[Mechanism, tuple[int, ...]]:
    """Mechanism as a tree whose coordinates are all driven, and the indices of the joints cut."""
    # Driven joints stay, then those with the fewest freedoms. A body that no joint of the tree connects is
    # free: a joint of six freedoms (three in the plane) connects it with the frame.
    joints = mechanism.joints
    whole = [
        j
        for j, joint in enumerate(joints)
        if joint.type.pair is not None
        and joint.type.drivable == joint.type.coordinates
        and (joint.driven or not joint.type.is_free)
    ]
    order = sorted(whole, key=lambda j: (not joints[j].driven, len(joints[j].type.coordinates)))
    ends = (mechanism.joint_bodies(j)[:2] for j in range(mechanism.n_joints))
    pairs = [(first, second) for first, second in ends]
    kept = sorted(spanning_forest(mechanism.n_bodies, pairs, order))
    lost = [joint.id for j, joint in enumerate(joints) if joint.driven and j not in kept]
    if lost:
        raise ValueError(f"partitioning: {', '.join(lost)} is driven and cannot stay in the tree")
    tree = replace(
        mechanism,
        joint_start=2 * np.arange(len(kept) + 1, dtype=np.int64),
        joint_body=np.array([pairs[j] for j in kept], dtype=np.int64).ravel(),
        joint_type=mechanism.joint_type[kept],
        driven=np.zeros(len(kept), dtype=np.uint8),
        joint_names={k: mechanism.joint_ids[j] for k, j in enumerate(kept)},
        joint_geometry={
            k: mechanism.joint_geometry[j] for k, j in enumerate(kept) if j in mechanism.joint_geometry
        },
        multiple_joints=(),
        motion=None,
        forces=(),
    )
    tree = with_terminals(tree, [body + 1 for body in _loose(tree)])
    bits = [(1 << len(joint.type.coordinates)) - 1 for joint in tree.joints]
    cut = tuple(j for j in range(mechanism.n_joints) if j not in kept)
    return replace(tree, driven=np.array(bits, dtype=np.uint8)), cut


def _loose(tree: Mechanism) -> list[int]:
    """The first body of each part of the tree that is not joined with the frame."""
    ends: list[Sequence[int]] = [tree.joint_bodies(j) for j in range(tree.n_joints)]
    ends += [(0, body) for body in range(1, tree.n_bodies)]
    added = spanning_forest(tree.n_bodies, [(a, b) for a, b in ends], range(len(ends)))
    return [ends[edge][1] for edge in added if edge >= tree.n_joints]
