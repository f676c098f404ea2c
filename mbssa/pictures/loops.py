"""The kinematic graph: one circle a module of loops, arrows from predecessors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import networkx as nx

from mbssa.loops.structure import LoopStructure, Module
from mbssa.pictures import style
from mbssa.pictures.layers import PASSAGE, Node, Rows, rows
from mbssa.pictures.limits import refuse_beyond, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Modules up to which a kinematic graph can be read.
MOST_MODULES = 60

_R = style.CIRCLE_RADIUS
_STEP = 2 * _R + 12.0


def kinematic_graph(found: LoopStructure) -> Figure:
    """Kinematic graph of loops (Figs. 1b, 2 and 12c of the paper)."""
    # Circle 0 is the frame. A module's circle holds its number; its loops, and equations × unknowns, stand
    # beside it. Rows are levels; an arrow leads from what is solved before, and from the frame to the modules
    # that need no other. A dashed rim says that equations and unknowns are not as many.
    refuse_beyond(MOST_MODULES, len(found.modules), "modules", "a kinematic graph", "write the table")
    require_matplotlib()
    graph: nx.DiGraph[Node] = nx.DiGraph()
    graph.add_nodes_from([0, *(module.number for module in found.modules)])
    for module in found.modules:
        graph.add_edges_from((before, module.number) for before in module.depends_on or (0,))
    room: dict[Node, tuple[float, float]] = {0: (_R + PASSAGE, _R + PASSAGE)}
    for module in found.modules:
        wide = max(style.text_size(text, style.SMALL_TEXT, bold=True)[0] for text in _beside(module))
        room[module.number] = (_R + PASSAGE, _R + 1.2 + wide + PASSAGE)
    return _figure(found, rows(graph, room), {node: right for node, (_, right) in room.items()})


def _beside(module: Module) -> tuple[str, str]:
    names = [f"CL-{number}" for number in module.loops]
    loops = " + ".join(names) if len(names) <= 4 else f"{names[0]} … {names[-1]}"
    return loops, f"{module.equations} × {module.unknowns}"


def _figure(found: LoopStructure, placed: Rows, right: dict[Node, float]) -> Figure:
    spots = [x for way in placed.ways.values() for _, x in way]
    left = min([*placed.x.values(), *spots]) - _R - 1.0
    end = max([*spots, *(placed.x[node] + right[node] for node in placed.x)]) + 1.0
    wide = max(end - left, 85.0 - 2 * style.MARGIN)
    tall = max(placed.row.values()) * _STEP + 2 * _R + 1.0
    figure, axes = style.blank(wide + 2 * style.MARGIN, tall + 2 * style.MARGIN)
    shift = style.MARGIN + (wide - (end - left)) / 2 - left
    top = style.MARGIN + tall - _R - 0.5

    def spot(row: int, x: float) -> tuple[float, float]:
        return x + shift, top - row * _STEP

    at = {node: spot(placed.row[node], placed.x[node]) for node in placed.x}
    for (before, after), way in placed.ways.items():
        points = [at[before], *(spot(row, x) for row, x in way), at[after]]
        _draw_arrow(axes, points, f"arrow-{before}-{after}")
    _draw_circle(axes, *at[0], "0", "module-0", "frame")
    for module in found.modules:
        _draw_module(axes, *at[module.number], module)
    figure.set_gid("kinematic-graph")
    return figure


def _draw_module(axes: Axes, x: float, y: float, module: Module) -> None:
    key = f"module-{module.number}"
    _draw_circle(axes, x, y, str(module.number), key, module.state)
    line = 1.25 * style.SMALL_TEXT * style.MM_PER_POINT
    loops, size = _beside(module)
    style.write(axes, x + _R + 1.2, y + line / 2, loops, f"{key}-loops", bold=True, centred=False)
    style.write(axes, x + _R + 1.2, y - line / 2, size, f"{key}-size", centred=False)


def _draw_circle(axes: Axes, x: float, y: float, text: str, key: str, state: str) -> None:
    from matplotlib.patches import Circle

    face, edge, rim = style.LOOKS[state]
    circle = Circle((x, y), _R, facecolor=face, edgecolor=edge, linewidth=style.RIM, zorder=4, gid=key)
    circle.set_linestyle(rim if state in ("sound", "frame") else "dashed")
    axes.add_patch(circle)
    colour = "white" if state == "frame" else style.INK
    style.write(axes, x, y, text, f"{key}-number", points=style.TEXT, colour=colour, bold=state == "frame")


def _draw_arrow(axes: Axes, points: Sequence[tuple[float, float]], key: str) -> None:
    """Draw an arrow from circle to circle through its passages, upright at each of them."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    path = [points[0]]
    codes = [Path.MOVETO]
    for (x, y), (to_x, to_y) in pairwise(points):
        reach = 0.5 * (y - to_y)
        path += [(x, y - reach), (to_x, to_y + reach), (to_x, to_y)]
        codes += [Path.CURVE4] * 3
    line = FancyArrowPatch(path=Path(_trimmed(path), codes), arrowstyle="-|>,head_length=3.2,head_width=1.5")
    line.set(mutation_scale=1.6, linewidth=0.8, color=style.INK, zorder=2, gid=key, capstyle="butt")
    axes.add_patch(line)


def _trimmed(path: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Begun below the first circle and ended above the last one."""
    (x, y), (to_x, to_y) = path[0], path[-1]
    return [(x, y - _R), *path[1:-1], (to_x, to_y + _R + 0.4)]
