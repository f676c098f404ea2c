"""Planar dyads: two unknown motions that close at one point."""

from __future__ import annotations

from dataclasses import dataclass, replace

from groups.setting import Setting
from groups.solvers.solver import Motion, Solver, motions, sides_of, unknowns_of
from groups.tree import GroupTree, free_coordinates
from mbssa import Mechanism
from mbssa.joints.catalogue import type_of_joint


@dataclass(frozen=True, eq=False)
class PlanarDyad(Solver):
    """Solver of two unknown motions that a hinge, a slot or a rod closes; one or two roots."""

    form = "closed form"
    n_unknowns = 2  # motions, that of a rod or a slot included
    #: Place of the joint that closes among those of the tree.
    last: int = -1

    @classmethod
    def match(cls, tree: GroupTree, setting: Setting) -> PlanarDyad | None:
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
        slides = not any(map(_is_turn, (*ways[0], *ways[1])))
        last = tree.joints.index(cut if ways[1] else ways[0][1][0])
        name, closing = _name(tree, cut, ways, mechanism), (mechanism.joint_ids[tree.joints[last]],)
        why = "two unknowns at most, and one hinge, slot or rod closes them"
        return cls.of(tree, setting, name, why, closing=closing, roots=1 if slides else 2, last=last)

    def of_twin(self, tree: GroupTree, setting: Setting) -> PlanarDyad | None:
        """Return the solver of a group of the same labelled topology; None where its name may differ."""
        if any(setting.mechanism.n_driven_of_joint[j] for j in tree.joints):
            return None
        closing = (setting.mechanism.joint_ids[tree.joints[self.last]],)
        return replace(self, number=tree.number, unknowns=unknowns_of(tree, setting), closing=closing)


def _is_turn(motion: Motion) -> bool:
    return motion[1].kind == "turn"


def _ways(tree: GroupTree, cut: int, setting: Setting) -> list[list[Motion]] | None:
    """Unknown motions of both sides to the closing point, the side with one first; None of other groups."""
    mechanism, (own, ways) = setting.mechanism, sides_of(tree, cut, setting)
    ways = [way[::-1] for way in ways]
    every = [(j, step.coordinate) for way in ways for j, step in way]
    if sorted(own) != sorted(link.body for link in tree.links) or len(set(every)) != len(every):
        return None  # the unknown azimuth of a rod turns there and back
    kind = type_of_joint(mechanism, cut)
    assert kind.pair is not None
    if "angle" not in kind.coordinates or "angle" in mechanism.joints[cut].driven:
        if len(every) == 2 and not any(map(_is_turn, (*ways[0], *ways[1]))):
            joints = ", ".join(mechanism.joint_ids[j] for j in sorted(tree.joints))
            bodies = ", ".join(str(mechanism.bodies[link.body]) for link in tree.links)
            raise ValueError(
                f"group {tree.number} (bodies {bodies}) has only slides on the way around, at {joints}: they "
                "turn nothing, so it is singular in every position; make one of them a hinge (R) or a pin in "
                "a slot (SLOT)"
            )
        return None
    # A rod looks the same from its other end: there it is a circle about a known point.
    near = 1 if ways[0] and kind.line == "rod" and not mechanism.n_driven_of_joint[cut] else 0
    steps = list(kind.pair.steps)
    while steps and steps[-1].kind == "turn":  # about the closing point, which it does not move
        steps.pop()
    ways[near] += [(cut, step) for step in motions(setting, cut) if step in steps]
    if sum(map(len, ways)) != 2:
        return None
    if not ways[0]:
        ways.reverse()
    if not ways[1] and _is_turn(ways[0][1]):
        return None  # the tree opens at an inner hinge, so this does not come up
    return ways


def _name(tree: GroupTree, cut: int, ways: list[list[Motion]], mechanism: Mechanism) -> str:
    letters = [[(motion[0], "R" if _is_turn(motion) else "P") for motion in way] for way in ways]
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
