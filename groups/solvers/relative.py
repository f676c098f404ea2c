"""Base of the solvers in relative coordinates: joint coordinates along a spanning tree, and struts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np

from groups.setting import Setting
from groups.solvers.solver import Solver
from groups.tree import GroupTree, Link, Strut, ball_of
from mbssa.arrays import Floats
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.equations import Step
from mbssa.joints.system import Rows

#: An unknown motion: its joint and its step.
Motion: TypeAlias = tuple[int, Step]
#: Singular values below this share of the largest, and rows below this share of the longest, are zero.
DEPENDENT = 1e-7


@dataclass(frozen=True, eq=False)
class RelativeSolver(Solver):
    """Solver whose unknowns are the undriven coordinates of the joints of a spanning tree."""

    @classmethod
    def of(
        cls,
        tree: GroupTree,
        setting: Setting,
        name: str,
        why: str,
        roots: int | None = None,
        n_checked: int = 0,
    ) -> Self:
        """Return the solver of an opened group, which joints and struts of a given length close."""
        mechanism, unknowns = setting.mechanism, unknowns_of(tree, setting)
        struts = ("-".join(mechanism.body_name(b) for b in strut.bodies) for strut in rods(tree))
        closing = *(mechanism.joint_ids[j] for j in tree.cuts), *struts
        return cls(tree.number, name, why, unknowns, closing, roots, len(tree.struts), n_checked)


def undriven(link: Link, setting: Setting) -> list[str]:
    """Names of the undriven coordinates of the joint that carries a body, or of a free body."""
    if link.joint < 0:
        turns = ["angle"] if setting.mechanism.space == "planar" else ["z", "turn_x", "turn_y", "turn_z"]
        return ["x", "y", *turns]
    names = type_of_joint(setting.mechanism, link.joint).coordinates
    return [name for name in names if (link.joint, name) not in setting.drives]


def unknowns_of(tree: GroupTree, setting: Setting) -> tuple[str, ...]:
    """Names of the undriven coordinates, and of those of bodies that no joint carries."""
    mechanism = setting.mechanism
    return tuple(
        f"{mechanism.body_name(link.body) if link.joint < 0 else mechanism.joint_ids[link.joint]}.{name}"
        for link in tree.links
        for name in undriven(link, setting)
    )


def rods(tree: GroupTree) -> list[Strut]:
    """Struts whose length is given."""
    return [strut for strut in tree.struts if strut.slide < 0 or strut.slide_driven]


def held_bodies(tree: GroupTree, setting: Setting) -> list[int]:
    """Bodies of the tree whose passive rotations are held by an equation each."""
    own = {link.body for link in tree.links}
    return [spin.body for spin in setting.spins if spin.body in own]


def is_elementary(tree: GroupTree, setting: Setting) -> bool:
    """Whether every unknown is one turn or slide, and no ball carries a body."""
    for j in (link.joint for link in tree.links):
        pair = type_of_joint(setting.mechanism, j).pair if j >= 0 else None
        names = type_of_joint(setting.mechanism, j).coordinates
        if pair is None or ball_of(pair.steps, [(j, name) in setting.drives for name in names]):
            return False
    steps = [(link.joint, step) for link in tree.links for step in motions(setting, link.joint)]
    moved = Counter((j, step.coordinate) for j, step in steps)
    is_plain = all(step.factor in (1.0, -1.0) for _, step in steps)
    return is_plain and len(moved) == len(unknowns_of(tree, setting)) and set(moved.values()) <= {1}


def motions(setting: Setting, j: int) -> list[Step]:
    """Steps of the undriven coordinates of a joint."""
    kind = type_of_joint(setting.mechanism, j)
    return [
        step
        for step in (kind.pair.steps if kind.pair is not None else ())
        if step.coordinate is not None and (j, kind.coordinates[step.coordinate]) not in setting.drives
    ]


def sides_of(tree: GroupTree, cut: int, setting: Setting) -> tuple[list[int], list[list[Motion]]]:
    """Bodies on the ways from both ends of a joint to known bodies, and the unknown motions of each way."""
    link_of, bodies, sides = {link.body: link for link in tree.links}, list[int](), list[list[Motion]]()
    for body in setting.mechanism.joint_bodies(cut)[:2]:
        sides.append([])
        while body in link_of:
            bodies.append(body)
            link = link_of[body]
            steps = motions(setting, link.joint)[:: -1 if link.forward else 1]
            sides[-1] += [(link.joint, step) for step in steps]
            body = link.parent
    return bodies, sides


def checked_rows(tree: GroupTree, setting: Setting) -> tuple[str, ...]:
    """Names of the equations that are only checked as others imply them; ValueError if too few are left."""
    n, fixed = len(unknowns_of(tree, setting)), len(rods(tree))
    if sum(_n_rows(setting, j) for j in tree.cuts) + fixed + len(held_bodies(tree, setting)) <= n:
        return ()
    names, chosen = _independent_rows(tree, setting)
    if len(chosen) + fixed != n:
        raise ValueError(
            f"SG-{tree.number}: {len(chosen) + fixed} independent closing equations for {n} unknowns "
            "at the reference"
        )
    return tuple(name for k, name in enumerate(names) if k not in chosen)


def _n_rows(setting: Setting, j: int) -> int:
    """Number of equations of a joint, driving constraints included."""
    mechanism, relations = setting.mechanism, setting.frames.relations
    if j in relations:
        count = len(relations[j].constraints)
    else:
        pair = type_of_joint(mechanism, j).pair
        count = 0 if pair is None else len(pair.constraints)
    return count + int(mechanism.n_driven_of_joint[j])


def _independent_rows(tree: GroupTree, setting: Setting) -> tuple[list[str], set[int]]:
    """Names of the equations of the joints that close a group, and a largest independent set of them."""
    # By the twists of the bodies that the other joints allow; driving constraints are chosen first.
    mechanism = setting.mechanism
    own = [*(link.body for link in tree.links), *(b for strut in tree.struts for b in strut.bodies)]
    bodies = np.array(sorted(own), dtype=np.int64)
    carrying = [link.joint for link in tree.links]
    carrying += [j for strut in tree.struts for j in (strut.pin, strut.ball, strut.slide)]
    free = _null_space(_rows_of(setting, carrying).matrix(bodies))
    rows = _rows_of(setting, tree.cuts)
    ids = [mechanism.joint_ids[j] for j in rows.joint.tolist()]
    names = [f"{joint} {name}" for joint, name in zip(ids, rows.name, strict=True)]
    matrix, must = rows.matrix(bodies), rows.drive.tolist()
    for spin in (spin for spin in setting.spins if spin.body in held_bodies(tree, setting)):
        names.append(f"{mechanism.body_name(spin.body)} passive rotation")
        must.append(False)
        in_body = setting.reference.rotation[spin.body] @ spin.in_body
        row = np.zeros((len(bodies), 6))
        row[np.searchsorted(bodies, spin.body), 3:] = np.cross(
            in_body, setting.reference.rotation[0] @ spin.in_frame
        )
        matrix = np.vstack([matrix, row.ravel()])
    return names, _pivots(matrix @ free, must)


def _rows_of(setting: Setting, joints: Sequence[int]) -> Rows:
    """Equations of some joints at the reference; an index below zero is none."""
    rows, bounds = setting.rows, [(j, j + 1) for j in joints if j >= 0]
    which = [np.arange(*np.searchsorted(rows.joint, each)) for each in bounds]
    return rows.select(np.concatenate([np.zeros(0, dtype=np.int64), *which]))


def _null_space(matrix: Floats) -> Floats:
    """(n, k) orthonormal directions that a matrix takes to zero."""
    if not len(matrix):
        return np.eye(matrix.shape[1])
    _, sizes, right = np.linalg.svd(matrix)
    rank = int((sizes > DEPENDENT * sizes.max(initial=0.0)).sum())
    return right[rank:].T


def _pivots(matrix: Floats, must: list[bool]) -> set[int]:
    """Rows that are independent of each other: those that must be chosen, then the others, longest first."""
    left, chosen = matrix.copy(), set[int]()
    least = DEPENDENT * float(np.linalg.norm(left, axis=1).max(initial=0.0))
    for first in (True, False):
        while True:
            sizes = np.linalg.norm(left, axis=1)
            sizes[[k for k, of in enumerate(must) if of != first or k in chosen]] = 0.0
            best = int(sizes.argmax()) if len(sizes) else 0
            if not len(sizes) or sizes[best] <= least:
                break
            chosen.add(best)
            row = left[best] / sizes[best]
            left = left - np.outer(left @ row, row)
    return chosen
