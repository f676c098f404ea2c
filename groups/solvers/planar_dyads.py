"""Planar dyads: two unknown motions that close at one point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from groups.setting import Setting
from groups.solvers.relative import motions, undriven
from groups.solvers.solver import Solver
from groups.tree import GroupTree, Link, free_coordinates
from mbssa import Mechanism
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.equations import Step


class Motion(NamedTuple):
    """An unknown motion of a joint."""

    joint: int
    coordinate: int
    is_turn: bool


@dataclass(frozen=True, eq=False)
class PlanarDyad(Solver):
    """Solver of two unknown motions that a hinge, a slot or a rod closes; one or two roots."""

    form = "closed form"
    #: Place of the joint that closes among those of the tree.
    last: int = -1

    @classmethod
    def match(cls, tree: GroupTree, setting: Setting) -> PlanarDyad | None:
        """Return the solver of two unknown motions that one joint closes; None for other groups."""
        mechanism = setting.mechanism
        if mechanism.space != "planar" or tree.struts or min(tree.joints, default=-1) < 0:
            return None
        cuts = [j for j in tree.cuts if free_coordinates(mechanism, j) < mechanism.freedom]
        if len(cuts) != 1 or any(type_of_joint(mechanism, j).pair is None for j in tree.joints):
            return None
        (cut,) = cuts
        ways = _ways(tree, cut, setting)
        if ways is None:
            return None
        slides = not any(motion.is_turn for way in ways for motion in way)
        last = tree.joints.index(cut if ways[1] else ways[0][1].joint)
        return cls(
            tree.number,
            _name(tree, cut, ways, setting.mechanism),
            "two unknowns at most, and one hinge, slot or rod closes them",
            *_unknowns_and_closing(tree, setting, last),
            roots=1 if slides else 2,
            last=last,
        )

    def of_twin(self, tree: GroupTree, setting: Setting) -> PlanarDyad | None:
        """Return the solver of a group of the same labelled topology; None where its name may differ."""
        if any(setting.mechanism.n_driven_of_joint[j] for j in tree.joints):
            return None
        unknowns, closing = _unknowns_and_closing(tree, setting, self.last)
        return replace(self, number=tree.number, unknowns=unknowns, closing=closing)

    @property
    def n_unknowns(self) -> int:
        """Number of unknown motions, that of a rod or a slot included."""
        return 2


def _unknowns_and_closing(
    tree: GroupTree, setting: Setting, last: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Undriven coordinates of the joints that carry the group's bodies, and the joint that closes."""
    joint_ids = setting.mechanism.joint_ids
    unknowns = tuple(f"{joint_ids[j]}.{name}" for j, name in undriven(tree, setting))
    return unknowns, (joint_ids[tree.joints[last]],)


def _ways(tree: GroupTree, cut: int, setting: Setting) -> list[list[Motion]] | None:
    """Unknown motions of both sides to the closing point, the side with one first; None of other groups."""
    mechanism = setting.mechanism
    sides = [_path(tree, body) for body in mechanism.joint_bodies(cut)[:2]]
    own = [link.body for side in sides for link in side]
    if len(own) != len(tree.links) or len(set(own)) != len(own):
        return None
    ways = [
        [
            motion
            for link in side
            for motion in _motions(link.joint, motions(setting, link.joint)[:: 1 if link.forward else -1])
        ]
        for side in sides
    ]
    every = [(motion.joint, motion.coordinate) for way in ways for motion in way]
    if len(set(every)) != len(every):
        return None  # the unknown azimuth of a rod turns there and back
    kind = type_of_joint(mechanism, cut)
    if "angle" not in kind.coordinates or "angle" in mechanism.joints[cut].driven:
        if len(every) == 2 and not any(motion.is_turn for way in ways for motion in way):
            raise ValueError(_only_slides(tree, mechanism))
        return None
    near = 0
    if kind.line == "rod" and not mechanism.n_driven_of_joint[cut]:
        # A rod looks the same from its other end: there it is a circle about a known point.
        near = 1 if ways[0] else 0
    ways[near] += _motions(cut, _to_the_point(setting, cut))
    if sum(map(len, ways)) != 2:
        return None
    if not ways[0]:
        ways.reverse()
    if not ways[1] and ways[0][1].is_turn:
        return None  # the tree opens at an inner hinge, so this does not come up
    return ways


def _motions(joint: int, steps: Sequence[Step]) -> list[Motion]:
    return [Motion(joint, step.coordinate or 0, step.kind == "turn") for step in steps]


def _to_the_point(setting: Setting, cut: int) -> list[Step]:
    """Undriven steps of the closing joint; a turn about the closing point at the end does not move it."""
    pair = type_of_joint(setting.mechanism, cut).pair
    assert pair is not None
    steps = list(pair.steps)
    while steps and steps[-1].kind == "turn":
        steps.pop()
    return [step for step in motions(setting, cut) if step in steps]


def _path(tree: GroupTree, body: int) -> list[Link]:
    """Links from a known body to this one."""
    by_body = {link.body: link for link in tree.links}
    path: list[Link] = []
    while body in by_body:
        path.append(by_body[body])
        body = by_body[body].parent
    return path[::-1]


def _only_slides(tree: GroupTree, mechanism: Mechanism) -> str:
    joints = sorted({link.joint for link in tree.links} | set(tree.cuts))
    names = ", ".join(mechanism.joint_ids[j] for j in joints)
    bodies = ", ".join(str(mechanism.bodies[link.body]) for link in tree.links)
    return (
        f"group {tree.number} (bodies {bodies}) has only slides on the way around, at {names}: they turn "
        "nothing, so it is singular in every position; make one of them a hinge (R) or a pin in a slot (SLOT)"
    )


def _name(tree: GroupTree, cut: int, ways: list[list[Motion]], mechanism: Mechanism) -> str:
    letters = [[(motion.joint, "R" if motion.is_turn else "P") for motion in way] for way in ways]
    around = [*letters[0], (cut, "R"), *reversed(letters[1])]
    if sum(joint == cut for joint, _ in around) == 1:
        text = "".join(letter for _, letter in around)
        name = f"{max(text, text[::-1])} dyad"
    else:
        (letter,) = [letter for joint, letter in around if joint != cut]
        name = f"{letter} and {type_of_joint(mechanism, cut).code}"
    joints = sorted({link.joint for link in tree.links} | {cut})
    driven = [type_of_joint(mechanism, j).code for j in joints if mechanism.n_driven_of_joint[j]]
    return f"{name} with driven {', '.join(driven)}" if driven else name
