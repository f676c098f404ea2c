"""The global approach for one group: all bodies and all equations of the group in one system per instant."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from groups.global_solver.elimination import Method
from groups.global_solver.part import GlobalPart
from groups.setting import Setting
from groups.solvers.solver import Solver
from groups.tree import GroupTree
from mbssa import Group
from mbssa.texts import counted


class GlobalApproach(Solver):
    """Solver of any group, dense or sparse, that is chosen by name."""

    form = "global"

    @classmethod
    def match(cls, tree: GroupTree, setting: Setting) -> None:
        """Return None: no group has it by default."""

    @classmethod
    def instead(
        cls, method: Method, group: Group, setting: Setting, default: Solver, why: str
    ) -> GlobalApproach:
        """Return the solver of a group whose default is another."""
        part = GlobalPart(group, setting, method)
        mechanism = group.structure.mechanism
        planar = mechanism.space == "planar"
        names = ("x", "y", "angle") if planar else ("x", "y", "z", "turn_x", "turn_y", "turn_z")
        return cls(
            group.number,
            f"global {method}, {counted(part.system.n, 'unknown')}",
            why,
            tuple(f"{mechanism.body_name(b)}.{name}" for b in group.body_indices.tolist() for name in names),
            default.closing,
            default.roots,
            default.n_struts,
            part.system.redundant,
            default=default,
            part=part,
        )

    @property
    def system(self) -> GlobalPart:
        """System of the group."""
        assert self.part is not None
        return self.part

    @property
    def choice(self) -> Literal["global dense", "global sparse"]:
        """Name by which it is chosen."""
        return "global dense" if self.system.method == "dense" else "global sparse"

    def at(self, setting: Setting) -> GlobalApproach:
        """The solver in another pose."""
        return replace(self, part=GlobalPart(self.system.group, setting, self.system.method))
