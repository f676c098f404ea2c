"""Structural diagram: a circle for each group in rows by level, with arrows; and others of its kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise
from math import atan2, cos, sin
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from mbssa.arrays import Floats
from mbssa.decomposition.partition import Part
from mbssa.pictures import style
from mbssa.pictures.hues import HATCHES, Hue, group_hues, tinted
from mbssa.pictures.layers import PASSAGE, Arc, Node, rows, spaced
from mbssa.pictures.limits import refuse_beyond, require_matplotlib
from mbssa.pictures.style import State
from mbssa.structure import Structure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Groups and parts up to which a structural diagram can be read.
MOST_GROUPS = 60

#: Bodies that are listed beside a circle before they are only counted.
MOST_LISTED = 24

_R = style.CIRCLE_RADIUS
_WIDEST_FAN = 0.75

_STRAINED = {"over": "over-constrained, surplus of units", "under": "under-constrained, shortage of units"}


@dataclass(frozen=True, slots=True)
class Circle:
    """A circle with the texts inside and beside it."""

    key: str
    inside: str
    title: str
    bodies: str
    state: State = "sound"
    hue: Hue | None = None


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
    meaning = "(bodies, driven coordinates) of a structural group"
    levels = len(structure.levels) if structure.determined else 0
    figure = layered(circles, _arrows(structure, circles), meaning, levels)
    figure.set_gid("structural-diagram")
    return figure


def layered(circles: Mapping[str, Circle], arrows: Iterable[Arc], meaning: str, levels: int = 0) -> Figure:
    """Circles by key in rows below circle ``0``; ``meaning`` of what stands in them, and named levels."""
    graph: nx.DiGraph[Node] = nx.DiGraph()
    graph.add_nodes_from(circles)
    graph.add_edges_from(sorted(set(arrows)))
    unseen = [("0", node) for node in circles if node != "0" and not graph.in_degree(node)]
    graph.add_edges_from(unseen)  # a part without a pair with the frame is below it too
    wide: dict[Node, float] = {node: _R + 1.2 + _width(circle) for node, circle in circles.items()}
    room = {node: (_R + PASSAGE, width + PASSAGE) for node, width in wide.items()}
    places, ways = rows(graph, room)
    titles = [f"level {level}" for level in range(1, levels + 1)]
    margin = max((style.text_size(title, style.SMALL_TEXT)[0] + 4.0 for title in titles), default=1.0)
    left = min(x for x, _ in places.values()) - _R - margin
    right = max(x + wide.get(node, PASSAGE) + 0.3 for node, (x, _) in places.items())
    step = 2 * _R + min(max(12.0, 0.1 * (right - left)), 26.0)
    low = left, -step * max(row for _, row in places.values()) - _R - 0.5
    states = {circle.state for circle in circles.values()}
    entries = [
        (words, partial(style.disc, r=1.7, state=state, key=f"legend-{state}"))
        for state, words in {"sound": meaning, **_STRAINED}.items()
        if state == "sound" or state in states
    ]
    figure, axes, shift = style.page(low, (right, _R + 0.5), entries)
    at = {node: shift + np.array([x, -step * row]) for node, (x, row) in places.items()}
    _draw_arrows(axes, {arc: [at[node] for node in way] for arc, way in ways.items() if arc not in unseen})
    for node, circle in circles.items():
        _draw_circle(axes, circle, *at[node])
    for level, title in enumerate(titles, start=1):
        style.write(axes, shift[0] + left, shift[1] - step * level, title, f"level-{level}", centred=False)
    return figure


def _circles(structure: Structure) -> Iterator[tuple[str, Circle]]:
    """The frame, groups, and parts, by their keys in the graph: ``0``, ``3``, ``part-1``."""
    yield "0", Circle("group-0", "0", "frame", "", "frame")
    hues = group_hues(structure)
    strained = {int(structure.group_of_body[b]) for part in structure.parts for b in part.bodies}
    for group in structure.groups:
        number, bodies = str(group.number), _listed(group.bodies)
        state: State = "over" if group.number in strained else "sound"
        size = f"({len(group.bodies)}, {group.n_driven})"
        yield number, Circle(f"group-{number}", size, f"SG-{number}", bodies, state, hues[group.number])
    for key, part in _parts(structure):
        bodies = _listed([body + 1 for body in part.bodies])
        size = f"{'+' if part.kind == 'over' else '−'}{part.units}"
        yield key, Circle(key, size, f"{part.kind} by {part.units}", bodies, part.kind)


def _parts(structure: Structure) -> Iterator[tuple[str, Part]]:
    """Parts whose bodies are in no group, by their keys."""
    for number, part in enumerate(structure.parts, start=1):
        if not structure.group_of_body[list(part.bodies)].any():
            yield f"part-{number}", part


def _arrows(structure: Structure, circles: Mapping[str, Circle]) -> Iterator[Arc]:
    """Arrows from the frame to all that have a pair with it; over-constrained, groups, under-constrained."""
    for group in structure.groups:
        yield from ((str(before), str(group.number)) for before in group.depends_on)
    home = {body: str(g) for body, g in enumerate(structure.group_of_body.tolist()) if g or not body}
    turn = dict.fromkeys(circles, 2) | {"0": 0}
    for key, part in _parts(structure):
        home |= dict.fromkeys(part.bodies, key)
        turn[key] = 1 if part.kind == "over" else 3
    for joint in range(structure.mechanism.n_joints):
        met = {home[body] for body in structure.mechanism.joint_bodies(joint) if body in home}
        for before, after in combinations(sorted(met, key=turn.__getitem__), 2):
            if turn[before] < turn[after]:
                yield before, after


def _listed(bodies: Sequence[int]) -> str:
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
    return max(title, style.text_size(circle.bodies, style.SMALL_TEXT)[0])


def _draw_circle(axes: Axes, circle: Circle, x: float, y: float) -> None:
    look: dict[str, Any] = {}
    if circle.hue is not None:
        look["hatch"] = HATCHES[circle.hue.pattern]
        if circle.state == "sound":
            look |= {"facecolor": tinted(circle.hue.colour, 0.6), "edgecolor": circle.hue.colour}
            look["linewidth"] = 2 * style.RIM
    style.disc(axes, x, y, _R, circle.state, circle.key, **look)
    frame = circle.state == "frame"
    colour, size = "white" if frame else style.INK, f"{circle.key}-size"
    style.write(axes, x, y, circle.inside, size, points=style.TEXT, colour=colour, bold=frame)
    texts = [circle.title, *circle.bodies.splitlines()]
    for number, text in enumerate(texts):
        height = y + 1.25 * style.SMALL_TEXT * style.MM_PER_POINT * ((len(texts) - 1) / 2 - number)
        key = f"{circle.key}-bodies-{number}" if number else f"{circle.key}-label"
        style.write(axes, x + _R + 1.2, height, text, key, bold=not number, centred=False)


def _draw_arrows(axes: Axes, ways: Mapping[Arc, Sequence[Floats]]) -> None:
    """An arrow along the places of each way: curves between rows, straight down through a row."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    angles = _fans(ways)
    for arc, way in ways.items():
        first, last = (np.array([sin(angles[arc, end]), cos(angles[arc, end])]) for end in (0, 1))
        down, half = np.array([0.0, -1.0]), np.array([0.0, 0.8 * _R])
        stations = [(way[0] + _R * first * (1, -1), first * (1, -1))]
        for at in way[1:-1]:
            stations += [(at + half, down), (at - half, down)]
        stations.append((way[-1] + (_R + 0.4) * last, -last))
        points = [stations[0][0]]
        for (start, leaving), (end, entering) in pairwise(stations):
            reach = 0.45 * abs(end[1] - start[1])
            points += [start + reach * leaving, end - reach * entering, end]
        path = Path(points, [Path.MOVETO] + [Path.CURVE4] * (len(points) - 1))
        arrow = FancyArrowPatch(path=path, arrowstyle="-|>,head_length=3.2,head_width=1.5")
        arrow.set(mutation_scale=1.6, linewidth=0.8, color=style.INK, zorder=2, capstyle="butt")
        arrow.set(gid=f"arrow-{arc[0]}-{arc[1]}", clip_on=False)
        axes.add_patch(arrow)


def _fans(ways: Mapping[Arc, Sequence[Floats]]) -> dict[tuple[Arc, int], float]:
    """Angle from the vertical at which each arrow leaves its first circle (0) and enters its last (1)."""
    fans: dict[tuple[Node, int], list[tuple[float, Arc]]] = {}
    for arc, way in ways.items():
        for end, (at, to) in enumerate(((way[0], way[1]), (way[-1], way[-2]))):
            fans.setdefault((arc[end], end), []).append((atan2(to[0] - at[0], abs(to[1] - at[1])), arc))
    angles: dict[tuple[Arc, int], float] = {}
    for (_, end), fan in fans.items():
        fan.sort(key=lambda one: one[0])
        least = min(0.24, 2 * _WIDEST_FAN / max(len(fan) - 1, 1))
        apart = spaced([0.75 * angle for angle, _ in fan], [least] * (len(fan) - 1), most=_WIDEST_FAN)
        angles |= {(arc, end): float(angle) for (_, arc), angle in zip(fan, apart, strict=True)}
    return angles
