"""Base of the solvers in relative coordinates: joint coordinates along a spanning tree, and struts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Self, TypeAlias

from groups.setting import Setting
from groups.solvers.solver import Solver
from groups.tree import GroupTree, Strut, ball_of
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.equations import Step

#: An unknown motion: its joint and its step.
Motion: TypeAlias = tuple[int, Step]


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


def unknowns_of(tree: GroupTree, setting: Setting) -> tuple[str, ...]:
    """Names of the undriven coordinates, and of those of bodies that no joint carries."""
    mechanism, found = setting.mechanism, list[str]()
    for link in tree.links:
        if link.joint < 0:
            turns = ["angle"] if setting.planar else ["z", "turn_x", "turn_y", "turn_z"]
            found += [f"{mechanism.body_name(link.body)}.{name}" for name in ("x", "y", *turns)]
        else:
            names = type_of_joint(mechanism, link.joint).coordinates
            of = mechanism.joint_ids[link.joint]
            found += [f"{of}.{name}" for name in names if (link.joint, name) not in setting.drives]
    return tuple(found)


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
    """Names of the equations of a group that others imply, and that are only checked."""
    joints = setting.structure.groups[tree.number - 1].joint_indices
    treatment, ids = setting.structure.treatment, setting.mechanism.joint_ids
    dropped = () if treatment is None else treatment.dropped
    return tuple(f"{ids[of.joint]} {of.equation}" for of in dropped if of.joint in joints)
