"""The kinematic graph: one circle a module of loops, arrows from predecessors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbssa.loops.structure import LoopStructure
from mbssa.pictures.diagram import Circle, layered
from mbssa.pictures.limits import refuse_beyond, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Modules up to which a kinematic graph can be read.
MOST_MODULES = 60


def kinematic_graph(found: LoopStructure) -> Figure:
    """Kinematic graph of loops (Figs. 1b, 2 and 12c of the paper)."""
    # Circle 0 is the frame. A module's circle holds its number; its loops, and equations × unknowns, stand
    # beside it. Rows are levels; an arrow leads from what is solved before, and from the frame to the modules
    # that need no other. The look of a circle says whether equations and unknowns are as many.
    refuse_beyond(MOST_MODULES, len(found.modules), "modules", "a kinematic graph", "write the table")
    require_matplotlib()
    circles = {"0": Circle("module-0", "0", "frame", "", "frame")}
    for module in found.modules:
        names = [f"CL-{number}" for number in module.loops]
        loops = " + ".join(names) if len(names) <= 4 else f"{names[0]} … {names[-1]}"
        number, size = str(module.number), f"{module.equations} × {module.unknowns}"
        circles[number] = Circle(f"module-{number}", number, loops, size, module.state)
    arrows = [
        (str(before), str(module.number)) for module in found.modules for before in module.depends_on or (0,)
    ]
    figure = layered(circles, arrows, "module of loops, with its equations × unknowns")
    figure.set_gid("kinematic-graph")
    return figure
