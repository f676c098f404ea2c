"""A leg alone: a group of two bodies with a slide between two points that are known already."""

from __future__ import annotations

from groups.setting import Setting
from groups.solvers.solver import Solver
from groups.tree import GroupTree


class Leg(Solver):
    """Solver of one strut with nothing else in its group."""

    form = "closed form"
    turns = 2
    n_unknowns = 1  # its length

    @classmethod
    def match(cls, tree: GroupTree, setting: Setting) -> Leg | None:
        if tree.links:
            return None
        return cls.of(tree, setting, "a leg between two points", "its length follows from its ends", roots=2)
