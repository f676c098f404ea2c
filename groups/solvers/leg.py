"""A leg alone: a group of two bodies with a slide between two points that are known already."""

from __future__ import annotations

from groups.setting import Setting
from groups.solvers.solver import Solver
from groups.tree import GroupTree


class Leg(Solver):
    """Solver of one strut with nothing else in its group."""

    form = "closed form"
    turns = 2

    @classmethod
    def match(cls, tree: GroupTree, setting: Setting) -> Leg | None:
        if tree.links:
            return None
        why = "its length follows from its ends"
        return cls(tree.number, "a leg between two points", why, (), (), roots=2, n_struts=1)

    @property
    def n_unknowns(self) -> int:
        """Number of unknowns: its length."""
        return 1
