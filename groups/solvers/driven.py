"""Groups whose bodies the inputs prescribe in every coordinate."""

from __future__ import annotations

from groups.setting import Setting
from groups.solvers.relative import RelativeSolver, checked_rows, unknowns_of
from groups.tree import GroupTree
from mbssa.joints.catalogue import type_of_joint


class Driven(RelativeSolver):
    """Solver of a group without unknowns."""

    form = "driven"

    @classmethod
    def match(cls, tree: GroupTree, setting: Setting) -> Driven | None:
        if unknowns_of(tree, setting):
            return None
        joints = [] if tree.cuts or setting.mechanism.space == "spatial" else tree.joints
        codes = ", ".join(type_of_joint(setting.mechanism, j).code for j in joints)
        name = f"driven {codes}".strip()
        checked = len(checked_rows(tree, setting))
        return cls.of(tree, setting, name, "fully prescribed by the inputs", roots=1, n_checked=checked)
