"""Planar groups whose bodies the inputs prescribe in every coordinate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from groups.encoding.planar_chains import Move, Record, joined, link_records, packed, with_turns
from groups.kernels import chains, planar
from groups.setting import Setting
from groups.solvers.planar import PlanarSolver, closing_joints
from groups.solvers.solver import PRESCRIBED, Data, Kernel
from groups.tree import GroupTree
from mbssa.arrays import Floats, Ints
from mbssa.joints.catalogue import type_of_joint

#: Records of one body on one driven hinge.
CRANK = [chains.START, chains.MOVE, chains.TURN, chains.MOVE, chains.BODY]


class PlanarDriven(PlanarSolver):
    """Solver of a planar group without unknowns."""

    form = "driven"

    @classmethod
    def match(cls, tree: GroupTree, setting: Setting) -> PlanarDriven | None:
        """Return the solver of a planar group without unknowns; None for other groups."""
        if closing_joints(tree, setting) != []:
            return None
        records: list[Record] = []
        for link in tree.links:
            chain = [Record(chains.START, body=link.parent), *link_records(setting, link)]
            records += with_turns(joined(chain), setting.reference)[0]
        if any(record.unknown is not None for record in records):
            return None
        if [record.kind for record in records] == CRANK:
            ints, floats = _crank(records)
        else:
            ends = (len(records), len(records), 0, 0)
            ints, floats = packed(planar.DRIVEN, records, [link.body for link in tree.links], ends)
        codes = ", ".join(type_of_joint(setting.mechanism, link.joint).code for link in tree.links)
        data = Data(ints, floats, np.array([1.0, 0.0, 0.0]))
        return cls(tree.number, f"driven {codes}", PRESCRIBED, (), (), data, roots=1)

    @property
    def kernel(self) -> Kernel:
        """Kernel of one driven hinge, or of any chains."""
        if self.ints[planar.FORM] == planar.CRANK:
            return Kernel(planar.solve_crank, 2.0, 11.0)
        return Kernel(chains.solve_planar_driven, 3.0, 31.0)


def _crank(records: list[Record]) -> tuple[Ints, Floats]:
    """One body on one driven hinge; both constant turns become one."""
    start, to_hinge, turn, to_body, body = records
    front, rest = Move(*to_hinge.numbers), Move(*to_body.numbers)
    turned = replace(front, x=0.0, y=0.0).then(replace(rest, x=0.0, y=0.0))
    x, y = replace(rest, x=0.0, y=0.0).back().point(rest.x, rest.y)
    ints = np.array([planar.CRANK, start.body, body.body, turn.source, -1], dtype=np.int64)
    numbers = [front.x, front.y, 0.0, 0.0, turn.numbers[0], x, y, turned.c, turned.s, turned.angle]
    return ints, np.array(numbers)
