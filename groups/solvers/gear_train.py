"""Groups that gears, rolling and couplings alone close, by equations that are linear in their coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groups.engine.kinematics import Group
from groups.engine.routine import Inputs, Record, jacobian_of, reads_unknowns
from groups.setting import Setting
from groups.solvers.relative import RelativeSolver
from groups.tree import GroupTree
from mbssa.graph.evaluation import evaluated
from mbssa.graph.nodes import Graph, Number
from mbssa.joints.catalogue import type_of_joint

#: Condition number of equations that determine the coordinates.
SOUND = 1e7


@dataclass(frozen=True, eq=False)
class GearTrain(RelativeSolver):
    """Solver of a group whose coordinates follow from linear equations."""

    form = "closed form"

    @classmethod
    def match(cls, tree: GroupTree, setting: Setting) -> GearTrain | None:
        """Return the solver of a group that gears alone close; None for other groups."""
        kinds = [type_of_joint(setting.mechanism, j) for j in tree.cuts]
        if not kinds or not all(kind.is_gear or kind.rolls or kind.is_coupling for kind in kinds):
            return None
        if tree.struts or any(link.joint < 0 for link in tree.links) or not _is_linear(tree, setting):
            return None
        why = "gears lead it: its equations are linear in its coordinates"
        return cls.of(tree, setting, "gears", why, roots=1)


def _is_linear(tree: GroupTree, setting: Setting) -> bool:
    """Whether the engine's equations are linear in the unknowns, and determine them."""
    group, graph = Group(setting, tree, None, setting.carriers, tree.number - 1), Graph()
    group.find_reference(closed_forms=False)
    record, n = Record(group.planar), len(group.names)
    constant = np.ones(len(group.geometry), dtype=np.bool_)
    _, rows = group.evaluate(Inputs(graph, group, record, constant))
    J = jacobian_of(graph, rows, n)
    entries = [x for row in J for x in row]
    if not n or len(rows) != n or reads_unknowns(graph, entries):
        return False
    poses, uses = setting.reference, group.uses
    bodies, drives, solved = list(uses.bodies), list(uses.drives), list(uses.solved)

    def at_reference(name: str, k: int | tuple[int, int]) -> Number:
        if isinstance(k, tuple):
            b = bodies[k[0]]
            return record.values(poses.position[b], poses.rotation[b], poses.angle[b])[k[1]]
        return setting.inputs[drives[k // 3]] if name == "u" else group.at_reference(*solved[k // 3])

    matrix = np.array(evaluated(entries, at_reference), dtype=float).reshape(n, n)
    over = np.abs(matrix).max(axis=0, initial=0.0)
    return bool((over > 0.0).all() and np.linalg.cond(matrix / over) <= SOUND)
