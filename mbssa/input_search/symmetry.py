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
from mbssa.decomposition.flow import connected_pieces
from mbssa.input_search.evaluate import Evaluated
from mbssa.joints.catalogue import type_of_joint
from mbssa.mechanism import Mechanism

if TYPE_CHECKING:
    from mbssa.input_search.undriven import Undriven


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
    several = variants[0].multiple_joints
    place: dict[int, int] = {first.joints[0]: m for m, first in enumerate(several)}
    number = {_trees(variant): v for v, variant in enumerate(variants)}
    answer = []
    for body, joint in zip(found.bodies.tolist(), found.joints, strict=True):
        goal = [place[int(joint[one.joints[0]])] for one in several]
        image = np.tile(joint, (len(variants), 1))
        for v, variant in enumerate(variants):
            trees = _trees(variant, body)
            other = number.get(tuple(trees[goal.index(m)] for m in range(len(goal))))
            if other is None:
                break
            for m, one in enumerate(several):
                pairs = {_ends(variants[other], j): j for j in several[goal[m]].joints}
                for j in one.joints:
                    image[v, j] = pairs[_ends(variant, j, body)]
            image[v] += other * len(joint)
        else:
            answer.append(image.ravel())
    return np.array(answer, dtype=np.int64).reshape(-1, len(variants) * variants[0].n_joints)


def present_inputs(mechanism: Mechanism, base: Undriven) -> Bools | None:
    """Driven coordinates (C,) of a variant; None where that has other pairs."""
    if _trees(mechanism) != _trees(base.bare):
        return None
    driven = np.zeros(base.mechanism.n_joints, dtype=np.uint8)
    driven[: mechanism.n_joints] = mechanism.driven
    # The pairs of a multiple joint may come in another order.
    for several in mechanism.multiple_joints:
        masks = {_ends(mechanism, j): mechanism.driven[j] for j in several.joints}
        driven[list(several.joints)] = [masks[_ends(base.bare, j)] for j in several.joints]
    return (driven[base.joint] >> np.arange(len(base.joint)) - base.start[base.joint] & 1) > 0


def orbits(places: npt.NDArray[np.integer], images: Ints) -> Ints:
    """First row (D,) of the orbit of each actuation scheme ``places`` (D, n) under ``images`` (G, J)."""
    # Joints ascend in a row; no row is a duplicate. Images that are not among the rows are passed over.
    rows = np.arange(len(places))
    if not places.size or not len(images):
        return rows
    # A sum of random numbers, one for each joint, tells rows apart in whatever order its terms are.
    weight = np.random.default_rng(0).integers(0, 2**64, images.shape[1:], dtype=np.uint64)
    key = weight[places].sum(axis=1, dtype=np.uint64)
    order = np.argsort(key)
    ordered = key[order]
    if not (np.diff(ordered) > 0).all():
        raise ValueError("schemes are repeated; each is a row of its own")
    tails, heads = [], []
    for image in images:
        goal = weight[image][places].sum(axis=1, dtype=np.uint64)
        near = order[np.minimum(np.searchsorted(ordered, goal), len(rows) - 1)]
        tails.append(rows[key[near] == goal])
        heads.append(near[tails[-1]])
    piece = connected_pieces(len(rows), np.concatenate(tails), np.concatenate(heads))
    first = np.full(len(rows), len(rows))
    np.minimum.at(first, piece, rows)
    return np.asarray(first[piece])


def interchangeable(bases: Sequence[Undriven], most: int = MOST_STEPS) -> tuple[Ints, bool]:
    """Images (G, V J) of interchangeable joints ``v J + j`` of the variants; False: there may be more."""
    # Joints are alike where they have the same type, keep the same units after a treatment, and may and must
    # have as many inputs by the query.
    first = bases[0]
    columns = []
    for base in bases:
        allowed, required = base.by_joint(base.allowed), base.by_joint(base.required)
        fictitious = np.isin(np.arange(len(allowed)), base.fictitious)
        columns.append(
            (base.incidence.units, allowed, required, base.least, base.most, base.locked, fictitious)
        )
    label = np.unique(np.hstack(columns), axis=1, return_inverse=True)[1].ravel()
    freedom = first.incidence.freedom_of_body
    as_one = len(bases) > 1
    found = symmetry(first.mechanism, label[: first.mechanism.n_joints], freedom, as_one=as_one, most=most)
    images = found.joints
    if as_one:
        images = across_variants(found, [base.mechanism for base in bases])
        if any((base.incidence.freedom_of_body != freedom).any() for base in bases):
            images = images[:0]
    return images[(label[images] == label).all(axis=1)], found.complete


def counted_once(evaluated: Evaluated, images: Ints, n_joints: int) -> Evaluated:
    """Rows with ``alike`` and ``alike_valid``: of the orbit on its representative, 0 on other rows."""
    # The member with the most valid sets represents its orbit, the first of those.
    places = evaluated.places.astype(np.int64) + n_joints * evaluated.variant[:, None].astype(np.int64)
    orbit_of = orbits(places, images)
    order = np.lexsort((-evaluated.valid, orbit_of))
    orbit, begin, members = np.unique(orbit_of[order], return_index=True, return_counts=True)
    alike, valid = np.zeros((2, len(evaluated)), dtype=evaluated.alike.dtype)
    alike[order[begin]] = members
    valid[order[begin]] = np.bincount(orbit_of, weights=evaluated.valid > 0)[orbit]
    return replace(evaluated, alike=alike, alike_valid=valid)


def _trees(mechanism: Mechanism, image: Sequence[int] | None = None) -> tuple[frozenset[frozenset[int]], ...]:
    """Pairs of each multiple joint, or the images of these."""
    return tuple(
        frozenset(_ends(mechanism, j, image) for j in several.joints) for several in mechanism.multiple_joints
    )


def _ends(mechanism: Mechanism, joint: int, image: Sequence[int] | None = None) -> frozenset[int]:
    return frozenset(body if image is None else image[body] for body in mechanism.joint_bodies(joint))


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
