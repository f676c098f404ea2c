"""One unknown, closed by a distance between two points: a circle or a line meets a sphere."""

from __future__ import annotations

from groups.setting import Setting
from groups.solvers.relative import RelativeSolver, held_bodies, is_elementary, rods, unknowns_of
from groups.tree import GroupTree
from mbssa.joints.catalogue import type_of_joint


class PointAtDistance(RelativeSolver):
    """Solver of one turn or slide whose point keeps its distance from another; two roots."""

    form = "closed form"

    @classmethod
    def match(cls, tree: GroupTree, setting: Setting) -> PointAtDistance | None:
        mechanism = setting.mechanism
        if len(unknowns_of(tree, setting)) != 1 or len(rods(tree)) + len(tree.cuts) != 1:
            return None
        kinds = [(type_of_joint(mechanism, j).line, mechanism.n_driven_of_joint[j]) for j in tree.cuts]
        if any(line != "rod" or driven for line, driven in kinds):
            return None
        if held_bodies(tree, setting) or not is_elementary(tree, setting):
            return None
        why = "one unknown, and a rod closes it: a circle or a line meets a sphere"
        return cls.of(tree, setting, "point at constant distance", why, roots=2)
