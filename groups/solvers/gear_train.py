"""Groups that gears, rolling and couplings alone close, by equations that are linear in their coordinates."""

from __future__ import annotations

import numpy as np

from groups.engine.kinematics import Group, Reference
from groups.setting import Setting
from groups.solvers.solver import Solver
from groups.tree import GroupTree
from mbssa.arrays import Floats
from mbssa.joints.catalogue import type_of_joint

#: Steps that are compared with derivatives, their size, how alike they must be, and a sound condition.
POSES, STEP, ALIKE, SOUND = 3, 0.1, 1e-9, 1e7


class GearTrain(Solver):
    """Solver of a group whose coordinates follow from linear equations."""

    form = "closed form"

    @classmethod
    def match(cls, tree: GroupTree, setting: Setting) -> GearTrain | None:
        kinds = [type_of_joint(setting.mechanism, j) for j in tree.cuts]
        if not kinds or not all(kind.is_gear or kind.rolls or kind.is_coupling for kind in kinds):
            return None
        if tree.struts or any(link.joint < 0 for link in tree.links) or not _is_linear(tree, setting):
            return None
        why = "gears lead it: its equations are linear in its coordinates"
        return cls.of(tree, setting, "gears", why, roots=1)


def _is_linear(tree: GroupTree, setting: Setting) -> bool:
    """Whether the engine's equations are linear in the unknowns, and determine them."""
    group = Group(setting, tree)
    group.by_poses = True
    group.find_reference(closed_forms=False)
    scale, start = np.where(group.turns, 1.0, group.frames.size), np.array(group.start)
    n = len(scale)

    def rows_at(x: Floats) -> Floats:
        group.start = list(start + scale * x)
        return np.array(group.evaluate(Reference(group))[1], dtype=np.float64)

    away = np.random.default_rng(7).normal(size=(POSES, n))
    rows, steps = rows_at(np.zeros(n)), STEP * np.vstack([np.eye(n), away])
    change = np.array([rows_at(x) - rows for x in steps])
    if not n or len(rows) != n:
        return False
    J = change[:n] / STEP
    size = np.abs(J).max(axis=0)
    if not size.all() or (np.abs(change - steps @ J) > ALIKE * STEP * size).any():
        return False
    return bool(np.linalg.cond(J / size) <= SOUND)
