"""One unknown, closed by a distance between two points: a circle or a line meets a sphere."""

from __future__ import annotations

from groups.kernels import layout, one_rod, reach
from groups.kernels.relative import solve_closed_form
from groups.placing.placing import CLOSED_FORM, Search, Task
from groups.placing.relative import Places, Room
from groups.setting import Setting
from groups.solvers.relative import RelativeSolver
from groups.solvers.solver import Kernel
from groups.status import OK
from groups.tree import GroupTree


class PointAtDistance(RelativeSolver):
    """Solver of one turn or slide whose point keeps its distance from another; two roots."""

    form = "closed form"

    @classmethod
    def match(cls, tree: GroupTree, setting: Setting) -> PointAtDistance | None:
        """Return the solver of one unknown closed by a rod; None for other groups."""
        group = setting.relative(tree)
        if group.method != layout.REACH:
            return None
        why = "one unknown, and a rod closes it: a circle or a line meets a sphere"
        return cls.of(tree, group, "point at constant distance", why, roots=2)

    @property
    def kernel(self) -> Kernel:
        """Kernel of one joint and one rod, or that of any chain between them."""
        if reach.is_simple(self.ints, self.floats):
            return Kernel(reach.solve_reach, 8.0, 10.0)
        return Kernel(solve_closed_form, 48.0, 420.0)

    def search(self, task: Task, room: Room, places: Places) -> Search:
        """Add the position of each sign."""
        start = room.taken()
        for sign in (1.0, -1.0):
            room.put(*start)
            if one_rod.reach(room.g, sign) == OK:
                places.add_polished()
        return CLOSED_FORM
