"""Groups whose bodies the inputs prescribe in every coordinate."""

from __future__ import annotations

from groups.setting import Setting
from groups.solvers.solver import Solver, checked_rows, unknowns_of
from groups.tree import GroupTree
from mbssa.joints.catalogue import type_of_joint


class Driven(Solver):
    """Solver of a group without unknowns."""

    form = "driven"

    @classmethod
    def match(cls, tree: GroupTree, setting: Setting) -> Driven | None:
        if unknowns_of(tree, setting):
            return None
        joints = [] if tree.cuts or not setting.planar else tree.joints
        name = "driven " + ", ".join(type_of_joint(setting.mechanism, j).code for j in joints)
        checked = len(checked_rows(tree, setting))
        why = "fully prescribed by the inputs"
        return cls.of(tree, setting, name.strip(), why, roots=1, n_checked=checked)
