"""Groups whose bodies the inputs prescribe in every coordinate, in space."""

from __future__ import annotations

from groups.setting import Setting
from groups.solvers.relative import RelativeSolver, checked_rows, unknowns_of
from groups.solvers.solver import PRESCRIBED
from groups.tree import GroupTree


class Driven(RelativeSolver):
    """Solver of a group without unknowns."""

    form = "driven"

    @classmethod
    def match(cls, tree: GroupTree, setting: Setting) -> Driven | None:
        """Return the solver of a group without unknowns; None for other groups."""
        if unknowns_of(tree, setting):
            return None
        return cls.of(
            tree, setting, "driven", PRESCRIBED, roots=1, n_checked=len(checked_rows(tree, setting))
        )
