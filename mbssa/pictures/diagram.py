"""Structural diagram: a circle for each group in rows by level, with arrows; and others of its kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import atan2, cos, sin
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TypeAlias

import networkx as nx

from mbssa.decomposition.partition import Part
from mbssa.pictures import style
from mbssa.pictures.hues import HATCHES, Hue, group_hues, tinted
from mbssa.pictures.layers import PASSAGE, Node, Rows, rows
from mbssa.pictures.legend import Draw, Entry, legend
from mbssa.pictures.limits import refuse_beyond, require_matplotlib
from mbssa.pictures.network import State
from mbssa.structure import Structure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: From one circle to another, by their keys in the graph: ``0``, ``3``, ``part-1``.
Arc: TypeAlias = tuple[str, str]

#: Groups and parts up to which a structural diagram can be read.
MOST_GROUPS = 60

#: Bodies that are listed beside a circle before they are only counted.
MOST_LISTED = 24

_R = style.CIRCLE_RADIUS
_BETWEEN = 12.0
_WIDEST_FAN = 0.75


@dataclass(frozen=True, slots=True)
class Circle:
    """A circle with the texts inside and beside it."""

    key: str
    inside: str
    title: str
    bodies: str
    state: State = "sound"
    hue: Hue | None = None

    @property
    def beside(self) -> str:
        return f"{self.title}\n{self.bodies}" if self.bodies else self.title


def structural_diagram(structure: Structure) -> Figure:
    """The structural diagram of a structure (the paper's Figs. 8(g) and 13b).

    Circle 0 is the frame. A group's circle holds (N_m, n_c), its bodies and its driven coordinates;
    number and body numbers stand beside it. Rows are levels, named at the left. An arrow
    leads from what is solved before, and from the frame to every group that has a pair with it. Parts that
    are not determined are circles too, with their surplus or shortage of constraint units.

    Raises
    ------
    ValueError
        More than 60 groups.
    ModuleNotFoundError
        Matplotlib is not installed.

    Examples
    --------
    >>> import mbssa
    >>> from mbssa.pictures import structural_diagram
    >>> figure = structural_diagram(mbssa.decompose(mbssa.load("spatial_four_bar")))
    >>> [text.get_text() for text in figure.axes[0].texts if text.get_gid().endswith("-size")]
    ['0', '(1, 1)', '(2, 0)']
    """
    there = structure.n_groups + len(structure.parts)
    instead = "write the table or a graph file"
    refuse_beyond(MOST_GROUPS, there, "structural groups", "a structural diagram", instead)
    require_matplotlib()
    circles = dict(_circles(structure))
    arcs = _arrows(structure, circles)
    levels = len(structure.levels) if structure.determined else 0
    figure = layered(circles, arcs, "(bodies, driven coordinates) of a structural group", levels)
    figure.set_gid("structural-diagram")
    return figure


def layered(circles: Mapping[str, Circle], arrows: Iterable[Arc], meaning: str, levels: int = 0) -> Figure:
    """Circles by key in rows below circle ``0``; ``meaning`` of what stands in them, and named levels."""
    graph: nx.DiGraph[Node] = nx.DiGraph()
    graph.add_nodes_from(circles)
    arcs = sorted(set(arrows))
    graph.add_edges_from(arcs)
    for node in circles:
        if node != "0" and not graph.in_degree(node):
            graph.add_edge("0", node)  # a part without a pair with the frame is below it too
    room: dict[Node, tuple[float, float]] = {
        node: (_R + PASSAGE, _R + 1.2 + _width(circle) + PASSAGE) for node, circle in circles.items()
    }
    found = rows(graph, room)
    entries = list(_entries(circles.values(), meaning))
    spots = [*found.x.values(), *(x for way in found.ways.values() for _, x in way)]
    titles = [f"level {level}" for level in range(1, levels + 1)]
    margin = max((style.text_size(title, style.SMALL_TEXT)[0] + 4.0 for title in titles), default=1.0)
    left = min(spots) - _R - margin
    right = max(max(spots) + PASSAGE, *(found.x[k] + _R + 1.5 + _width(c) for k, c in circles.items()))
    wide = max(right - left, 85.0 - 2 * style.MARGIN)
    key = legend(entries, wide)
    between = min(max(_BETWEEN, 0.1 * (right - left)), 26.0)
    step = 2 * _R + between
    tall = max(found.row.values()) * step + 2 * _R + 1.0
    figure, axes = style.blank(wide + 2 * style.MARGIN, tall + key.height + 4.0 + 2 * style.MARGIN)
    shift = style.MARGIN + (wide - (right - left)) / 2 - left
    top = style.MARGIN + key.height + 4.0 + tall - _R - 0.5
    at = {node: (found.x[node] + shift, top - found.row[node] * step) for node in circles}
    _draw_arrows(axes, at, found, arcs, shift, top, step)
    for node, circle in circles.items():
        _draw_circle(axes, circle, *at[node])
    for level, title in enumerate(titles, start=1):
        style.write(axes, left + shift, top - level * step, title, f"level-{level}", centred=False)
    key.draw(axes, style.MARGIN + wide / 2 - (key.columns * key.step - 5.0) / 2, style.MARGIN + key.height)
    return figure


def _circles(structure: Structure) -> Iterator[tuple[str, Circle]]:
    yield "0", Circle("group-0", "0", "frame", "", "frame")
    hues = group_hues(structure)
    strained = {int(structure.group_of_body[b]) for part in structure.parts for b in part.bodies}
    for group in structure.groups:
        number = str(group.number)
        state: State = "over" if group.number in strained else "sound"
        size = f"({len(group.bodies)}, {group.n_driven})"
        bodies = _listed(group.bodies)
        yield number, Circle(f"group-{number}", size, f"SG-{number}", bodies, state, hues[group.number])
    for count, part in _parts(structure):
        key, sign = f"part-{count}", "+" if part.kind == "over" else "−"
        bodies = _listed(tuple(body + 1 for body in part.bodies))
        yield key, Circle(key, f"{sign}{part.units}", f"{part.kind} by {part.units}", bodies, part.kind)


def _parts(structure: Structure) -> Iterator[tuple[int, Part]]:
    """Numbered parts whose bodies are in no group."""
    for number, part in enumerate(structure.parts, start=1):
        if not structure.group_of_body[list(part.bodies)].any():
            yield number, part


def _arrows(structure: Structure, circles: dict[str, Circle]) -> Iterator[tuple[str, str]]:
    """Arrows from the frame to all that have a pair with it; over-constrained, groups, under-constrained."""
    for group in structure.groups:
        yield from ((str(before), str(group.number)) for before in group.depends_on)
    home = {body: str(g) for body, g in enumerate(structure.group_of_body.tolist()) if g or not body}
    for number, part in _parts(structure):
        home.update(dict.fromkeys(part.bodies, f"part-{number}"))
    turn = {node: _turn(circle, node) for node, circle in circles.items()}
    for joint in range(structure.mechanism.n_joints):
        met = sorted(
            {home[b] for b in structure.mechanism.joint_bodies(joint) if b in home}, key=turn.__getitem__
        )
        for k, before in enumerate(met):
            for after in met[k + 1 :]:
                if turn[before] < turn[after]:
                    yield before, after


def _turn(circle: Circle, node: str) -> int:
    if node == "0":
        return 0
    return {"over": 1, "under": 3}.get(circle.state, 2) if node.startswith("part") else 2


def _listed(bodies: tuple[int, ...]) -> str:
    """Body numbers on at most two lines."""
    if len(bodies) > MOST_LISTED:
        return f"{len(bodies)} bodies"
    text = ", ".join(map(str, bodies))
    if len(text) <= 14:
        return text
    width = len(text) // 2
    while len(wrap(text, width)) > 2:
        width += 1
    return "\n".join(wrap(text, width))


def _width(circle: Circle) -> float:
    title = style.text_size(circle.title, style.SMALL_TEXT, bold=True)[0]
    return max(title, style.text_size(circle.bodies, style.SMALL_TEXT)[0] if circle.bodies else 0.0)


def _draw_circle(axes: Axes, circle: Circle, x: float, y: float) -> None:
    look: dict[str, Any] = {}
    if circle.hue is not None:
        look["hatch"] = HATCHES[circle.hue.pattern]
        if circle.state == "sound":
            look |= {"facecolor": tinted(circle.hue.colour, 0.6), "edgecolor": circle.hue.colour}
            look["linewidth"] = 2 * style.RIM
    style.disc(axes, x, y, _R, circle.state, circle.key, **look)
    frame = circle.state == "frame"
    colour = "white" if frame else style.INK
    size = f"{circle.key}-size"
    style.write(axes, x, y, circle.inside, size, points=style.TEXT, colour=colour, bold=frame)
    line = 1.25 * style.SMALL_TEXT * style.MM_PER_POINT
    texts = circle.beside.split("\n")
    for number, text in enumerate(texts):
        height = y + line * ((len(texts) - 1) / 2 - number)
        key = f"{circle.key}-bodies-{number}" if number else f"{circle.key}-label"
        style.write(axes, x + _R + 1.2, height, text, key, bold=not number, centred=False)


def _draw_arrows(
    axes: Axes,
    at: dict[str, tuple[float, float]],
    found: Rows,
    arcs: Sequence[Arc],
    shift: float,
    top: float,
    step: float,
) -> None:
    ways = {arc: [(x + shift, top - row * step) for row, x in found.ways[arc]] for arc in arcs}
    leaving, entering = _fans(at, ways)
    for arc in arcs:
        start, end = at[arc[0]], at[arc[1]]
        _draw_arrow(axes, start, leaving[arc], ways[arc], end, entering[arc], f"arrow-{arc[0]}-{arc[1]}")


def _fans(
    at: Mapping[str, tuple[float, float]], ways: Mapping[Arc, Sequence[tuple[float, float]]]
) -> tuple[dict[Arc, float], dict[Arc, float]]:
    """The angle from the vertical at which each arrow leaves its first circle and enters its last."""
    leaving: dict[Arc, float] = {}
    entering: dict[Arc, float] = {}
    for angles, end, side in ((leaving, 0, 1), (entering, 1, -1)):
        fans: dict[str, list[tuple[float, float, Arc]]] = {}
        for arc, way in ways.items():
            x, y = at[arc[end]]
            to = ([*way, at[arc[1]]] if end == 0 else [at[arc[0]], *way][::-1])[0]
            fans.setdefault(arc[end], []).append((atan2(to[0] - x, abs(to[1] - y)), to[0] * side, arc))
        for fan in fans.values():
            fan.sort(key=lambda row: row[0])
            wished = [min(max(0.75 * row[0], -_WIDEST_FAN), _WIDEST_FAN) for row in fan]
            angles.update(zip((row[2] for row in fan), _spread(wished), strict=True))
    return leaving, entering


def _spread(angles: list[float], least: float = 0.24) -> list[float]:
    """Ascending angles moved apart to ``least``, within the widest fan."""
    count = len(angles)
    least = min(least, 2 * _WIDEST_FAN / max(count - 1, 1))
    for _ in range(50):
        for k in range(count - 1):
            lack = least - (angles[k + 1] - angles[k])
            if lack > 1e-9:
                angles[k] -= lack / 2
                angles[k + 1] += lack / 2
        over, under = max(angles) - _WIDEST_FAN, -_WIDEST_FAN - min(angles)
        if over > 0:
            angles = [angle - over for angle in angles]
        elif under > 0:
            angles = [angle + under for angle in angles]
    return angles


def _draw_arrow(
    axes: Axes,
    start: tuple[float, float],
    out: float,
    way: Sequence[tuple[float, float]],
    end: tuple[float, float],
    into: float,
    key: str,
) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    points = [(start[0] + _R * sin(out), start[1] - _R * cos(out))]
    codes = [Path.MOVETO]
    slope = (sin(out), -cos(out))

    def bend(to: tuple[float, float], after: tuple[float, float]) -> None:
        x, y = points[-1]
        reach = 0.45 * abs(to[1] - y)
        points.extend(
            [
                (x + slope[0] * reach, y + slope[1] * reach),
                (to[0] - after[0] * reach, to[1] - after[1] * reach),
                to,
            ]
        )
        codes.extend([Path.CURVE4] * 3)

    for x, y in way:
        bend((x, y + 0.8 * _R), (0.0, -1.0))
        points.append((x, y - 0.8 * _R))
        codes.append(Path.LINETO)
        slope = (0.0, -1.0)
    bend((end[0] + (_R + 0.4) * sin(into), end[1] + (_R + 0.4) * cos(into)), (-sin(into), -cos(into)))
    arrow = FancyArrowPatch(path=Path(points, codes), arrowstyle="-|>,head_length=3.2,head_width=1.5")
    arrow.set(mutation_scale=1.6, linewidth=0.8, color=style.INK, zorder=2, gid=key, capstyle="butt")
    arrow.set_clip_on(False)
    axes.add_patch(arrow)


def _entries(circles: Iterable[Circle], meaning: str) -> Iterator[Entry]:
    states = {circle.state for circle in circles}
    yield Entry(meaning, _circle_key("sound"))
    if "over" in states:
        yield Entry("over-constrained, surplus of units", _circle_key("over"))
    if "under" in states:
        yield Entry("under-constrained, shortage of units", _circle_key("under"))


def _circle_key(state: State) -> Draw:
    return lambda axes, x, y: style.disc(axes, x, y, 1.7, state, f"legend-{state}")
