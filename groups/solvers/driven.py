"""Groups whose bodies the inputs prescribe in every coordinate, in relative coordinates."""

from __future__ import annotations

from typing import ClassVar

from groups.kernels import layout
from groups.kernels.driven import solve_driven
from groups.kernels.relative import solve_geared
from groups.setting import Setting
from groups.solvers.relative import RelativeSolver
from groups.solvers.solver import PRESCRIBED, Form, Kernel
from groups.tree import GroupTree

#: µs of one link in an instant of plain Python.
LINK = 80.0


class Driven(RelativeSolver):
    """Solver of a group without unknowns."""

    form: ClassVar[Form] = "driven"

    @classmethod
    def match(cls, tree: GroupTree, setting: Setting) -> Driven | None:
        """Return the solver of a group without unknowns; None for other groups."""
        group = setting.relative(tree)
        return None if group.unknowns else cls.of(tree, group, "driven", PRESCRIBED, roots=1)

    @property
    def kernel(self) -> Kernel:
        """Kernel that places the links one after another, and of redundant equations that are checked."""
        if self.ints[layout.N_ROWS] > 0:
            return super().kernel
        microseconds = LINK * int(self.ints[layout.N_LINKS])
        if self.ints[layout.PLANAR]:
            return Kernel(solve_geared, 14.0, microseconds)
        return Kernel(solve_driven, 5.0, microseconds)
