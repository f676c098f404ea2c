"""One unknown, closed by a distance between two points: a circle or a line meets a sphere."""

from __future__ import annotations

from groups.setting import Setting
from groups.solvers.solver import Solver, is_elementary, unknowns_of
from groups.tree import GroupTree
from mbssa.joints.catalogue import type_of_joint


class PointAtDistance(Solver):
    """Solver of one turn or slide whose point keeps its distance from another; two roots."""

    form = "closed form"

    @classmethod
    def match(cls, tree: GroupTree, setting: Setting) -> PointAtDistance | None:
        mechanism = setting.mechanism
        if len(unknowns_of(tree, setting)) != 1 or len(tree.rods) + len(tree.cuts) != 1:
            return None
        for j in tree.cuts:
            if type_of_joint(mechanism, j).line != "rod" or mechanism.n_driven_of_joint[j]:
                return None
        if not is_elementary(tree, setting):
            return None
        why = "one unknown, and a rod closes it: a circle or a line meets a sphere"
        return cls.of(tree, setting, "point at constant distance", why, roots=2)
