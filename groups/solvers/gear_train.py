"""Groups that gears, rolling and couplings alone close, by equations that are linear in their coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from groups.engine.kinematics import Group
from groups.engine.routine import Inputs, Record, jacobian_of
from groups.setting import Setting
from groups.solvers.solver import Solver
from groups.tree import GroupTree
from mbssa.graph.evaluation import evaluated
from mbssa.graph.nodes import Graph, Number
from mbssa.joints.catalogue import type_of_joint

#: Positions in which derivatives are compared, how alike they must be, and the condition of a sound system.
POSES, ALIKE, SOUND = 4, 1e-9, 1e7


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
    group, graph = Group(setting, tree), Graph()
    group.by_poses = True
    group.find_reference(closed_forms=False)
    record, n = Record(group.planar), len(group.names)
    constant = np.ones(len(group.geometry), dtype=np.bool_)
    _, rows = group.evaluate(Inputs(graph, group, record, constant))
    J = jacobian_of(graph, rows, n)
    if not n or len(rows) != n:
        return False
    poses, uses, scale = setting.reference, group.uses, np.where(group.turns, 1.0, group.frames.size)
    bodies, drives, solved = list(uses.bodies), list(uses.drives), list(uses.solved)
    away = np.random.default_rng(7).normal(size=(n, POSES)) * scale[:, None]
    away[:, 0] = 0.0

    def somewhere(name: str, k: Any) -> Number:
        if name == "q":
            return group.start[k] + away[k]
        if name == "b":
            b = bodies[k[0]]
            return record.values(poses.position[b], poses.rotation[b], poses.angle[b])[k[1]]
        return setting.inputs[drives[k // 3]] if name == "u" else group.at_reference(*solved[k // 3])

    entries = evaluated([x for row in J for x in row], somewhere)
    matrices = np.array([np.broadcast_to(x, POSES) for x in entries]).reshape(n, n, POSES) * scale[:, None]
    size = np.abs(matrices[..., 0]).max(axis=1, initial=0.0)[:, None]
    if not size.all() or (np.abs(matrices - matrices[..., :1]) > ALIKE * size[..., None]).any():
        return False
    return bool(np.linalg.cond(matrices[..., 0] / size) <= SOUND)
