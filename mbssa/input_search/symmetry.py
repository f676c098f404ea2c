"""Symmetry of a mechanism: interchangeable joints, and orbits of actuation schemes."""

# Vertices of the graph are bodies and joints, edges the ends of joints; the frame is of its own kind, and
# joints differ by type and by what the query distinguishes. The count does not change under an automorphism.
# Geometry may: legs of equal topology may differ, so validity is decided for each scheme of an orbit.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mbssa.arrays import Bools, Ints
from mbssa.automorphisms import MOST_STEPS, automorphisms
from mbssa.input_search.evaluate import Evaluated
from mbssa.joints.catalogue import type_of_joint
from mbssa.mechanism import ByteArray, Mechanism

if TYPE_CHECKING:
    from mbssa.input_search.undriven import Undriven

Keys = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Symmetry:
    """Automorphisms of a mechanism by generators."""

    bodies: Ints  # (G, N) body b goes to bodies[g, b]; the frame stays
    # joints: (G, J) joint j goes to joints[g, j]; a multiple joint kept as one: its first pair, others -1
    joints: Ints
    order: int = 1  # of the group that these generate, with the identity
    complete: bool = True  # False where the search stopped at its bound: there may be more


def symmetry(
    mechanism: Mechanism,
    joint_label: Sequence[int] | Ints | None = None,
    body_label: Sequence[int] | Ints | None = None,
    *,
    as_one: bool = True,
    most: int = MOST_STEPS,
) -> Symmetry:
    """Automorphisms of a mechanism regardless of inputs and geometry; they keep the mobility count."""
    # ``joint_label`` (J,) and ``body_label`` (N,) distinguish besides types; ``as_one``: a multiple joint is
    # one vertex, with all labels of its pairs. After ``most`` steps the search stops with the automorphisms
    # found so far.
    extra = [0] * mechanism.n_joints if joint_label is None else [int(x) for x in joint_label]
    own = [0] * mechanism.n_bodies if body_label is None else [int(x) for x in body_label]
    neighbours, label, vertex_joint = _graph(mechanism, extra, own, as_one)
    found = automorphisms(neighbours, label, most)
    n = mechanism.n_bodies
    images = np.array(found.images, dtype=np.int64).reshape(-1, len(label))
    joints = np.full((len(images), mechanism.n_joints), -1, dtype=np.int64)
    joints[:, vertex_joint] = vertex_joint[images[:, n:] - n]
    return Symmetry(images[:, :n], joints, found.order, found.complete)


def across_variants(found: Symmetry, variants: Sequence[Mechanism]) -> Ints:
    """Images (G, V J) of the pairs of all variants: pair ``v J + j`` goes to ``v' J + j'``."""
    # A variant is a choice of pairs; an automorphism of the mechanism with its multiple joints kept as one
    # takes variant v to v', and pair j to j'. Those that lead out of the given variants are left out.
    n_joints = variants[0].n_joints
    several = variants[0].multiple_joints
    place: dict[int, int] = {first.joints[0]: m for m, first in enumerate(several)}
    number = {_trees(variant): v for v, variant in enumerate(variants)}
    answer = []
    for body, joint in zip(found.bodies.tolist(), found.joints, strict=True):
        image = np.empty((len(variants), n_joints), dtype=np.int64)
        for v, variant in enumerate(variants):
            turned = [
                frozenset(frozenset(body[b] for b in pair) for pair in tree) for tree in _trees(variant)
            ]
            goal = [place[int(joint[one.joints[0]])] for one in several]
            onto = list(turned)
            for m, to in enumerate(goal):
                onto[to] = turned[m]
            other = number.get(tuple(onto))
            if other is None:
                break
            image[v] = joint
            for one, to in zip(several, goal, strict=True):
                pairs = {_ends(variants[other], j): j for j in several[to].joints}
                for j in one.joints:
                    image[v, j] = pairs[frozenset(body[b] for b in variant.joint_bodies(j))]
            image[v] += other * n_joints
        else:
            answer.append(image.ravel())
    return np.array(answer, dtype=np.int64).reshape(-1, len(variants) * n_joints)


def same_pairs(mechanism: Mechanism, variant: Mechanism) -> Ints | None:
    """Joint (J,) of a variant that is each joint of the mechanism; None if it has other pairs."""
    # The pairs of a multiple joint may come in another order.
    if _trees(mechanism) != _trees(variant):
        return None
    image = np.arange(mechanism.n_joints)
    for several in mechanism.multiple_joints:
        pairs = {_ends(variant, j): j for j in several.joints}
        image[list(several.joints)] = [pairs[_ends(mechanism, j)] for j in several.joints]
    return image


def present_inputs(mechanism: Mechanism, base: Undriven) -> ByteArray | None:
    """Masks (J,) of the driven coordinates by joint of a variant; None where that has other pairs."""
    here = same_pairs(mechanism, base.bare)
    if here is None:
        return None
    driven = np.zeros_like(base.allowed)
    driven[here] = mechanism.driven
    return driven


def keeping(images: Ints, label: Sequence[int] | Ints) -> Ints:
    """The generators that take every joint to one with the same label."""
    values = np.asarray(label)
    kept: Ints = images[(values[images] == values).all(axis=1)]
    return kept


def orbits(places: npt.NDArray[np.integer], images: Ints) -> Ints:
    """First row (D,) of the orbit of each actuation scheme ``places`` (D, n) under ``images`` (G, J)."""
    # Joints ascend in a row; no row is a duplicate. Images that are not among the rows are passed over.
    import scipy.sparse
    from scipy.sparse.csgraph import connected_components

    n_rows = len(places)
    if not n_rows or not len(images) or not places.shape[1]:
        return np.arange(n_rows)
    weight, key, order = _keys(places, images.shape[1])
    ordered = key[order]
    rows = np.arange(n_rows)
    tails, heads = [], []
    for image in images:
        # A sum does not ask for the order of its terms: images need not be sorted.
        goal = weight[image][places].sum(axis=1, dtype=np.uint64)
        at = np.searchsorted(ordered, goal)
        there = order[np.minimum(at, n_rows - 1)]
        known = (key[there] == goal) & (there != rows)
        tails.append(rows[known])
        heads.append(there[known])
    tail, head = np.concatenate(tails), np.concatenate(heads)
    arcs = scipy.sparse.coo_array((np.ones(len(tail), dtype=bool), (tail, head)), shape=(n_rows, n_rows))
    count, label = connected_components(arcs, directed=False)
    first = np.full(count, n_rows)
    np.minimum.at(first, label, rows)
    answer: Ints = first[label]
    return answer


def shown(orbit_of: Ints, preferred: Ints | Bools) -> tuple[Ints, Ints]:
    """Most preferred row (O,) of each orbit, the first of equals, ascending; and numbers of members (O,)."""
    order = np.lexsort((np.arange(len(orbit_of)), -preferred.astype(np.int64), orbit_of))
    _, begin, members = np.unique(orbit_of[order], return_index=True, return_counts=True)
    rows = order[begin]
    ascending = np.argsort(rows)
    return rows[ascending], members[ascending].astype(np.int64)


def interchangeable(bases: Sequence[Undriven], most: int = MOST_STEPS) -> tuple[Ints, bool]:
    """Images (G, V J) of interchangeable joints ``v J + j`` of the variants; False: there may be more."""
    # Joints are alike where they have the same type, keep the same units after a treatment, and may and must
    # have as many inputs by the query.
    first = bases[0]
    labels = [label for base in bases for label in _labels(base)]
    number = {label: k for k, label in enumerate(sorted(set(labels)))}
    label = np.array([number[each] for each in labels], dtype=np.int64)
    freedom = first.incidence.freedom_of_body
    as_one = len(bases) > 1
    found = symmetry(first.mechanism, label[: first.mechanism.n_joints], freedom, as_one=as_one, most=most)
    images = found.joints
    if as_one:
        images = across_variants(found, [base.mechanism for base in bases])
        if any((base.incidence.freedom_of_body != freedom).any() for base in bases):
            images = images[:0]
    return keeping(images, label), found.complete


def _labels(base: Undriven) -> list[tuple[int, ...]]:
    """Labels of the joints, besides their types."""
    n_joints = base.mechanism.n_joints
    fictitious = np.zeros(n_joints, dtype=np.int64)
    fictitious[base.fictitious] = 1
    allowed, required = np.bitwise_count(base.allowed), np.bitwise_count(base.required)
    columns = (base.incidence.units, allowed, required, base.least, base.most, base.locked, fictitious)
    return [tuple(row) for row in np.stack([each.astype(np.int64) for each in columns], axis=1).tolist()]


def counted_once(evaluated: Evaluated, images: Ints, n_joints: int) -> Evaluated:
    """Rows with ``alike`` and ``alike_valid``: of the orbit on its representative, 0 on other rows."""
    # The member with the most valid sets represents its orbit, the first of those.
    places = evaluated.places.astype(np.int64) + n_joints * evaluated.variant[:, None].astype(np.int64)
    orbit_of = orbits(places, images)
    rows, members = shown(orbit_of, evaluated.valid)
    alike, valid = np.zeros((2, len(evaluated)), dtype=evaluated.alike.dtype)
    alike[rows] = members
    valid[rows] = np.bincount(orbit_of, weights=evaluated.valid > 0)[orbit_of[rows]]
    return replace(evaluated, alike=alike, alike_valid=valid)


def _keys(places: npt.NDArray[np.integer], n_joints: int) -> tuple[Keys, Keys, Ints]:
    """A number for each joint, such that their sums identify rows; the sums; and the order of these."""
    for seed in range(8):
        weight = np.random.default_rng(seed).integers(0, 2**64, n_joints, dtype=np.uint64)
        key = weight[places].sum(axis=1, dtype=np.uint64)
        order = np.argsort(key)
        if (np.diff(key[order]) > 0).all():
            return weight, key, order
    raise ValueError("schemes are repeated; each is a row of its own")


def _trees(mechanism: Mechanism) -> tuple[frozenset[frozenset[int]], ...]:
    return tuple(
        frozenset(_ends(mechanism, j) for j in several.joints) for several in mechanism.multiple_joints
    )


def _ends(mechanism: Mechanism, joint: int) -> frozenset[int]:
    return frozenset(mechanism.joint_bodies(joint))


def _graph(
    mechanism: Mechanism, extra: list[int], own: list[int], as_one: bool
) -> tuple[list[list[tuple[int, int]]], list[tuple[int, ...]], Ints]:
    """Edges and labels of the vertices, which are bodies and then joints; and the joints of the latter."""
    # The role of an edge is the side of the joint, where sides differ.
    n = mechanism.n_bodies
    first = {several.joints[0]: several for several in mechanism.multiple_joints if as_one}
    passed_over = {j for several in first.values() for j in several.joints[1:]}
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    labels: list[tuple[int, ...]] = [(0, int(b == 0), own[b]) for b in range(n)]
    joints = [j for j in range(mechanism.n_joints) if j not in passed_over]
    for j in joints:
        row = type_of_joint(mechanism, j)
        if j in first:
            labels.append((1, row.index, *sorted(extra[k] for k in first[j].joints)))
            ends = [(body, 0) for body in first[j].bodies]
        else:
            labels.append((2, row.index, extra[j]))
            ends = [
                (body, side if row.sided or side == 2 else 0)
                for side, body in enumerate(mechanism.joint_bodies(j))
            ]
        for body, role in ends:
            neighbours[body].append((len(neighbours), role))
        neighbours.append(ends)
    return neighbours, labels, np.array(joints, dtype=np.int64)
