"""Planar groups whose bodies the inputs prescribe in every coordinate."""

from __future__ import annotations

from groups.setting import Setting
from groups.solvers.relative import undriven
from groups.solvers.solver import PRESCRIBED, Solver
from groups.tree import GroupTree, free_coordinates
from mbssa.joints.catalogue import type_of_joint


class PlanarDriven(Solver):
    """Solver of a planar group without unknowns."""

    form = "driven"

    @classmethod
    def match(cls, tree: GroupTree, setting: Setting) -> PlanarDriven | None:
        """Return the solver of a planar group without unknowns; None for other groups."""
        if closing_joints(tree, setting) != [] or undriven(tree, setting):
            return None
        codes = ", ".join(type_of_joint(setting.mechanism, link.joint).code for link in tree.links)
        return cls(tree.number, f"driven {codes}", PRESCRIBED, (), (), roots=1)


def closing_joints(tree: GroupTree, setting: Setting) -> list[int] | None:
    """Joints that close a planar group whose joints are pairs; None for other groups."""
    mechanism = setting.mechanism
    if mechanism.space != "planar" or tree.struts or min(tree.joints, default=-1) < 0:
        return None
    if any(type_of_joint(mechanism, j).pair is None for j in tree.joints):
        return None
    return [j for j in tree.cuts if free_coordinates(mechanism, j) < mechanism.freedom]
