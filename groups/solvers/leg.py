"""A leg alone: a group of two bodies with a slide between two points that are known already."""

from __future__ import annotations

from groups.encoding.struts import pack_strut, strut_signs
from groups.kernels import strut
from groups.placing.placing import CLOSED_FORM, Placing, Search, Task, states_at, struts_placed
from groups.setting import Setting
from groups.solvers.relative import STRUT
from groups.solvers.solver import Data, Kernel, Solver
from groups.tree import GroupTree
from mbssa.arrays import Floats, Ints


class Leg(Solver):
    """Solver of one strut with nothing else in its group."""

    form = "closed form"
    turns = 2

    @classmethod
    def match(cls, tree: GroupTree, setting: Setting) -> Leg | None:
        """Return the solver of a group that is one strut; None for other groups."""
        if tree.links:
            return None
        (leg,) = tree.struts
        ints, floats, _, _ = pack_strut(leg, setting)
        signs = strut_signs(leg, floats, setting.reference)
        why = "its length follows from its ends"
        return cls(tree.number, "a leg between two points", why, (), (), Data(ints, floats, signs), roots=2)

    @property
    def kernel(self) -> Kernel:
        """Kernel of one strut."""
        return Kernel(strut.solve_struts, 7.0, STRUT)

    @property
    def n_unknowns(self) -> int:
        """Number of unknowns: its length."""
        return 1

    def strut_data(self, memory: Floats) -> tuple[Ints, Floats, Floats]:
        """Constants of the strut, and its signs in a memory."""
        return self.ints, self.floats, memory[: strut.SIGNS]

    def placings(self, task: Task) -> tuple[list[Placing], Search]:
        """The assembly modes of the strut: by the sign of its slide and of the turn about its line."""
        return list(struts_placed(task, states_at(task.at), self.memory.copy())), CLOSED_FORM
