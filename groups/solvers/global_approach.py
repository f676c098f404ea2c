"""The global approach for one group: all bodies and all equations of the group in one system per instant."""

from __future__ import annotations

from typing import Literal

import numpy as np

from groups.global_solver.elimination import Method
from groups.global_solver.part import GlobalPart
from groups.setting import Setting
from groups.solvers.newton import counted
from groups.solvers.solver import Data, Solver
from groups.tree import GroupTree
from mbssa import Group

#: µs of an equation at an instant.
_EQUATION = 10.0


class GlobalApproach(Solver):
    """Solver of any group, dense or sparse, that is chosen by name; it has no kernel of groups."""

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
            f"global {method}, {counted(part.system.n)}",
            why,
            tuple(f"{mechanism.body_name(b)}.{name}" for b in group.body_indices.tolist() for name in names),
            default.closing,
            Data(np.zeros(0, dtype=np.int64), np.zeros(0), part.memory),
            default.roots,
            default=default,
            part=part,
        )

    @property
    def system(self) -> GlobalPart:
        """System of the group."""
        assert self.part is not None
        return self.part

    @property
    def kernel(self) -> None:
        """None: the system solves itself."""

    @property
    def choice(self) -> Literal["global dense", "global sparse"]:
        """Name by which it is chosen."""
        return "global dense" if self.system.method == "dense" else "global sparse"

    @property
    def microseconds(self) -> float:
        """Time of one instant in plain Python, µs."""
        return _EQUATION * self.system.system.m

    @property
    def redundant(self) -> bool:
        """Whether more equations close the group than it has unknowns, so that some are only checked."""
        return self.system.system.redundant > 0

    @property
    def of_modes(self) -> Solver:
        """The solver that lists the assembly modes: the default."""
        assert self.default is not None
        return self.default
