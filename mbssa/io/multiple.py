"""Joints of three or more bodies: the pairs that may stand for one, and the structures that follow."""

# n bodies on one pin are n - 1 pairs: a spanning tree of the complete graph, n^(n-2) of them (Cayley), or
# those that contain the driven pairs. The motion is the same for all; the groups can differ.

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import comb, prod

import numpy as np

from mbssa.disjoint_set import DisjointSet, spanning_forest
from mbssa.mechanism import JointFrame, Mechanism, MultipleJoint

Tree = tuple[tuple[int, int], ...]


def spanning_tree(
    bodies: Sequence[int], wanted: Sequence[tuple[int, int]], then: Sequence[tuple[int, int]] = ()
) -> Tree | None:
    """Tree of all wanted pairs, else of those of ``then``, else a star on the first body; None for a ring."""
    place = {body: k for k, body in enumerate(bodies)}
    pairs = [*wanted, *then, *((bodies[0], body) for body in bodies[1:])]
    tree = spanning_forest(len(bodies), [(place[a], place[b]) for a, b in pairs], range(len(pairs)))
    is_whole = tree[: len(wanted)] == list(range(len(wanted)))
    return tuple(pairs[k] for k in tree) if is_whole else None


def count_choices(n: int, driven: Sequence[tuple[int, int]] = ()) -> int:
    """Number of spanning trees of n bodies with these pairs: n^(c-2) times the sizes of the c parts."""
    parts = DisjointSet(n)
    for a, b in driven:
        parts.merge(a, b)
    sizes = [len(part) for part in parts.subsets()]
    return 1 if len(sizes) == 1 else n ** (len(sizes) - 2) * prod(sizes)


def paper_choices(n: int) -> int:
    """Choices of n - 1 of the n(n-1)/2 pairs, trees or not: N_an of the paper, section 3.3."""
    return comb(n * (n - 1) // 2, n - 1)


def spanning_choices(mechanism: Mechanism) -> Iterator[Mechanism]:
    """Mechanism with every choice of pairs for its multiple joints, the driven pairs always among them."""
    # The number of choices is the product over the joints, see :func:`count_choices`.
    for choice in _choices(mechanism, mechanism.multiple_joints):
        yield with_pairs(mechanism, choice)


def _choices(mechanism: Mechanism, joints: Sequence[MultipleJoint]) -> Iterator[tuple[Tree, ...]]:
    """A tree for each joint, the last joint's changing fastest; nothing is listed in advance."""
    if not joints:
        yield ()
    for tree in _trees(mechanism, joints[0]) if joints else ():
        for rest in _choices(mechanism, joints[1:]):
            yield (tree, *rest)


def driven_pairs(mechanism: Mechanism, joint: MultipleJoint) -> list[tuple[int, int]]:
    """The driven pairs of a multiple joint, as places in its list of bodies."""
    place = {body: k for k, body in enumerate(joint.bodies)}
    ends = [mechanism.joint_bodies(j) for j in joint.joints if mechanism.driven[j]]
    return [(place[a], place[b]) for a, b in ends]


def _trees(mechanism: Mechanism, joint: MultipleJoint) -> Iterator[Tree]:
    """Spanning trees that contain the driven pairs, in the order of their Prüfer sequences."""
    n = len(joint.bodies)
    wanted = {frozenset(pair) for pair in driven_pairs(mechanism, joint)}
    for sequence in product(range(n), repeat=n - 2):
        tree = _from_pruefer(sequence, n)
        if wanted <= {frozenset(pair) for pair in tree}:
            yield tuple((joint.bodies[a], joint.bodies[b]) for a, b in tree)


def _from_pruefer(sequence: Sequence[int], n: int) -> Tree:
    degree = [1 + sequence.count(node) for node in range(n)]
    pairs = []
    for node in sequence:
        leaf = degree.index(1)
        pairs.append((min(leaf, node), max(leaf, node)))
        degree[leaf] -= 1
        degree[node] -= 1
    a, b = (node for node in range(n) if degree[node] == 1)
    return (*pairs, (a, b))


def with_pairs(mechanism: Mechanism, choice: Sequence[Tree]) -> Mechanism:
    """The mechanism with these trees, as pairs of body indices, for its multiple joints, in their order."""
    body = mechanism.joint_body.copy()
    driven = mechanism.driven.copy()
    geometry = dict(mechanism.joint_geometry)
    for joint, tree in zip(mechanism.multiple_joints, choice, strict=True):
        drives = {frozenset(mechanism.joint_bodies(j)) for j in joint.joints if mechanism.driven[j]}
        frames = _frames_of_bodies(mechanism, joint)
        for j, (a, b) in zip(joint.joints, tree, strict=True):
            start = mechanism.joint_start[j]
            body[start], body[start + 1] = a, b
            driven[j] = np.uint8(frozenset((a, b)) in drives)
            if j in geometry and geometry[j].frames is not None:
                geometry[j] = replace(geometry[j], frames=(frames[a], frames[b]))
    return replace(mechanism, joint_body=body, driven=driven, joint_geometry=geometry)


def _frames_of_bodies(mechanism: Mechanism, joint: MultipleJoint) -> dict[int, JointFrame]:
    frames: dict[int, JointFrame] = {}
    for j in joint.joints:
        geometry = mechanism.joint_geometry.get(j)
        if geometry is not None and geometry.frames is not None:
            frames.update(zip(mechanism.joint_bodies(j), geometry.frames, strict=True))
    return frames
