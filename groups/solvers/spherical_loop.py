"""Three unknowns, closed by a spherical joint: a curve of one end meets a surface of the other."""

from __future__ import annotations

import numpy as np

from groups.kernels import layout, meeting
from groups.kernels.relative import solve_closed_form
from groups.placing.placing import CLOSED_FORM, Search, Task
from groups.placing.relative import Places, Room
from groups.setting import Setting
from groups.solvers.relative import RelativeSolver
from groups.solvers.solver import Kernel
from groups.tree import GroupTree
from mbssa import Group

#: Loci of a point on one joint, and on two in a row, by whether they are slides.
CURVES = {0: "a circle", 1: "a line"}
SURFACES = {(0, 0): "a torus", (0, 1): "a hyperboloid", (1, 0): "a cylinder", (1, 1): "a plane"}
#: Number of intersections of the curve and the surface, by whether their joints are slides.
MEETINGS = {
    (0, 0, 0): 4, (0, 0, 1): 4, (0, 1, 0): 4, (0, 1, 1): 2,
    (1, 0, 0): 4, (1, 0, 1): 2, (1, 1, 0): 2, (1, 1, 1): 1,
}  # fmt: skip


class SphericalLoop(RelativeSolver):
    """Solver of three turns or slides that a spherical joint closes; up to four roots."""

    form = "closed form"

    @classmethod
    def match(cls, tree: GroupTree, setting: Setting) -> SphericalLoop | None:
        """Return the solver of three unknowns closed by a spherical joint; None for other groups."""
        group = setting.relative(tree)
        if group.method != layout.MEET:
            return None
        why = "three unknowns, and a ball closes them: a quartic at most"
        return cls.of(tree, group, "spherical-loop closure", why)

    @property
    def kernel(self) -> Kernel:
        """Kernel of the intersection of the two loci."""
        return Kernel(solve_closed_form, 48.0, 420.0)

    def degree(self, group: Group) -> tuple[int | None, str]:
        """Number of intersections of the two loci."""
        one, two, three = layout.meeting_of(self.ints, np.zeros(self.room)).slides.tolist()
        loci = f"{CURVES[one]} meets {SURFACES[two, three]}"
        return MEETINGS[one, two, three], f"{self.why.partition(':')[0]}: {loci}"

    def search(self, task: Task, room: Room, places: Places) -> Search:
        """Add the position of each intersection."""
        count, _ = meeting.points_of(room.g, room.meeting)
        for k in range(count):
            meeting.go_to(room.g, room.meeting, room.meeting.found, k)
            places.add_polished()
        return CLOSED_FORM
