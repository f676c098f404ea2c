"""Planar dyads: two unknown motions that close at one point."""

from __future__ import annotations

from dataclasses import dataclass, replace

from groups.setting import Setting
from groups.solvers.solver import Solver, sides_of, unknowns_of
from groups.tree import GroupTree, free_coordinates
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
        own, (one, other) = sides_of(tree, cut, setting)
        around, kind = [*one[::-1], *other], type_of_joint(mechanism, cut)
        moved = {(j, step.coordinate) for j, step in around}
        if sorted(own) != sorted(link.body for link in tree.links) or len(moved) != len(around):
            return None  # the unknown azimuth of a rod turns there and back
        turns = [step.kind == "turn" for _, step in around]
        if "angle" not in kind.coordinates or (cut, "angle") in setting.drives:
            if len(around) == 2 and not any(turns):
                joints = ", ".join(mechanism.joint_ids[j] for j in sorted(tree.joints))
                bodies = ", ".join(str(mechanism.bodies[link.body]) for link in tree.links)
                raise ValueError(
                    f"group {tree.number} (bodies {bodies}) has only slides on the way around, at {joints}: "
                    "they turn nothing, so it is singular in every position; make one of them a hinge (R) or "
                    "a pin in a slot (SLOT)"
                )
            return None
        if len(around) + free_coordinates(mechanism, cut) != 3:
            return None
        closing, letters = cut, ["R" if turn else "P" for turn in turns]
        if len(around) == 1:  # a rod is a circle about the point, a slot a line
            name, turns = f"{letters[0]} and {kind.code}", [*turns, kind.line == "rod"]
        else:
            letters.insert(len(one), "R")
            name = max("".join(letters), "".join(letters[::-1])) + " dyad"
            if not one or not other:  # a chain, which its second joint closes
                closing, step = (one or other)[0]
                if step.kind == "turn":
                    return None  # the tree opens at an inner hinge, so this does not come up
        driven = [j for j in sorted({*tree.joints}) if mechanism.n_driven_of_joint[j]]
        if driven:
            name += " with driven " + ", ".join(type_of_joint(mechanism, j).code for j in driven)
        return cls.of(
            tree,
            setting,
            name,
            "two unknowns at most, and one hinge, slot or rod closes them",
            closing=(mechanism.joint_ids[closing],),
            roots=2 if any(turns) else 1,
            last=tree.joints.index(closing),
        )

    def of_twin(self, tree: GroupTree, setting: Setting) -> PlanarDyad | None:
        """Return the solver of a group of the same labelled topology; None where its name may differ."""
        if any(setting.mechanism.n_driven_of_joint[j] for j in tree.joints):
            return None
        closing = (setting.mechanism.joint_ids[tree.joints[self.last]],)
        return replace(self, number=tree.number, unknowns=unknowns_of(tree, setting), closing=closing)
