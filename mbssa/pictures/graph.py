"""The structural graph: bodies as vertices, one line a free coordinate, bold where it is driven."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from mbssa.arrays import Floats
from mbssa.pictures import style
from mbssa.pictures.geometry import cross, directions, outline
from mbssa.pictures.hues import HATCHES, HUES, Hue, darker, tinted
from mbssa.pictures.labels import Label, Obstacle, place_labels
from mbssa.pictures.limits import refuse_beyond, require_matplotlib
from mbssa.pictures.network import Bundle, Cluster, Network, Vertex, network
from mbssa.pictures.placement import place
from mbssa.structure import Structure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Bodies up to which a structural graph can be read.
MOST_BODIES = 60

#: Share of white in the area of a group.
_PALE = 0.88

#: Enlargement of a drawing with names.
_ROOM_FOR_NAMES = 1.45

#: Colour and dashes of the outlines of parts, and dashes of those of groups, which have the group's hue.
_OUTLINES: dict[str, tuple[str, tuple[float, ...]]] = {
    "over": (style.OVER_EDGE, (6.0, 2.0, 1.2, 2.0)),
    "under": (style.UNDER_EDGE, (1.2, 1.8)),
}
_DASHES = (4.0, 2.5)

#: Places of a group's name at its outline: share of half its size, and gap (mm), outwards; and their dislike.
_RINGS = (1.0, 0.5, 0.0), (0.0, 0.0, 0.6), (1.0, 1.6, 2.5), (1.0, 4.0, 5.0)

_STATES: dict[style.State, str] = {
    "frame": "frame",
    "sound": "body",
    "over": "over-constrained",
    "under": "under-constrained",
    "open": "not reached by the search",
    "joint": "joint of three bodies",
}


def structural_graph(structure: Structure, *, names: bool = False) -> Figure:
    """The structural graph of a structure (the paper's Figs. 8 and 13a).

    Vertices are bodies, the frame is dark. Two bodies of a joint are connected by as many lines as its
    grade, bold where the coordinate is driven; its type stands on them. Groups have a dashed outline, and
    their level in brackets where there are several. Bodies over-constrained by the count have a double
    ring, under-constrained ones a dotted one. A joint of three bodies is a small square. The same
    structure gives the same picture.

    Parameters
    ----------
    structure : what :func:`mbssa.decompose` answers
    names : write the names of the bodies beside them

    Raises
    ------
    ValueError
        More than 60 bodies; the structural diagram can still be drawn.
    ModuleNotFoundError
        Matplotlib is not installed.

    Examples
    --------
    >>> import mbssa
    >>> from mbssa.pictures import structural_graph
    >>> figure = structural_graph(mbssa.decompose(mbssa.load("spatial_four_bar")))
    >>> sorted(artist.get_gid() for artist in figure.axes[0].patches if "body" in artist.get_gid())
    ['body-1', 'body-2', 'body-3', 'body-4']
    """
    there, instead = structure.mechanism.n_bodies, "write a graph file (--format dot or graphml)"
    refuse_beyond(MOST_BODIES, there, "bodies", "a structural graph", instead)
    require_matplotlib()
    graph = network(structure)
    names = names and structure.mechanism.body_names is not None
    points = place(graph) * (_ROOM_FOR_NAMES if names else 1.0)
    gap = style.BODY_RADIUS + style.OUTLINE_GAP
    outlines = [outline(points[list(cluster.members)], gap) for cluster in graph.clusters]
    lines = [_curve(points, bundle, bend, 81) for bundle, bend in _bends(graph)]
    labels = dict(_labels(graph, points, lines, outlines, names))
    places = place_labels([*labels.values()], [*_obstacles(graph, points, lines, outlines)])
    half = np.array([(label.width / 2, label.height / 2) for label in labels.values()]).reshape(-1, 2)
    around = style.BODY_RADIUS + 1
    every = np.concatenate([points - around, points + around, *outlines, places - half, places + half])
    figure, axes, shift = style.page(every.min(axis=0), every.max(axis=0), [*_entries(graph)])
    for cluster, edge in zip(graph.clusters, outlines, strict=True):
        _draw_outline(axes, cluster, edge + shift)
    for bundle, bend in _bends(graph):
        aside = ((np.arange(bundle.grade) - (bundle.grade - 1) / 2) * style.LINE_GAP).tolist()
        lanes = [_curve(points + shift, bundle, bend, 25 if bend else 2, lane) for lane in aside]
        _draw_lines(axes, lanes, bundle.driven, bundle.key)
    for vertex, (x, y) in zip(graph.vertices, (points + shift).tolist(), strict=True):
        _draw_vertex(axes, x, y, vertex)
    hues = [(edge, c.hue) for c, edge in zip(graph.clusters, outlines, strict=True) if c.hue is not None]
    inks = {c.key: darker(c.hue.colour) if c.hue else _OUTLINES[c.state][0] for c in graph.clusters}
    for (key, label), point in zip(labels.items(), places, strict=True):
        x, y = point + shift
        behind = next((tinted(hue.colour, _PALE) for edge, hue in hues if _holds(edge, point)), "white")
        ink, bold = inks.get(label.owner, style.INK), key.endswith("-label")
        style.write(axes, x, y, label.text, key, colour=ink, bold=bold, behind=behind)
    figure.set_gid("structural-graph")
    return figure


def _labels(
    graph: Network, points: Floats, lines: Sequence[Floats], outlines: Sequence[Floats], names: bool
) -> Iterator[tuple[str, Label]]:
    """All texts but the numbers in the circles, by their keys."""
    for bundle, line in zip(graph.bundles, lines, strict=True):
        if graph.vertices[bundle.ends[0]].state != "joint":
            # On the line, from its middle outwards.
            k = np.arange(len(line))
            order = k[np.argsort(np.abs(2 * k - k[-1]), kind="stable")]
            near = line[order[(order >= 0.22 * k[-1]) & (order <= 0.78 * k[-1])]]
            yield f"{bundle.key}-type", _label(bundle.code, near, bundle.key)
    for vertex, point in zip(graph.vertices, points, strict=True):
        if vertex.state == "joint":
            yield f"{vertex.key}-type", _beside(vertex.name, point, style.SQUARE_SIDE / 2)
        elif names and vertex.name != str(vertex.number):
            yield f"{vertex.key}-name", _beside(vertex.name, point, style.BODY_RADIUS + 0.6)
    for cluster, edge in zip(graph.clusters, outlines, strict=True):
        yield f"{cluster.key}-label", _tag(cluster, edge)


def _label(
    text: str, places: Floats, owner: str = "", dislike: Floats | None = None, bold: bool = False
) -> Label:
    width, height = style.text_size(text, style.SMALL_TEXT, bold=bold)
    return Label(text, width + 0.6, height + 0.4, places, owner, dislike)


def _beside(text: str, point: Floats, radius: float) -> Label:
    """A text beside a vertex, below it if it can be."""
    normal = directions(24)
    normal = normal[np.argsort(normal[:, 1].round(6), kind="stable")]
    reach = np.array(style.text_size(text, style.SMALL_TEXT)) / 2 + np.array([0.6, 0.5])
    away = np.sign(normal.round(6)) * reach * np.abs(normal) ** 0.5
    return _label(text, np.concatenate([point + normal * radius * far + away for far in (1.1, 1.5)]))


def _tag(cluster: Cluster, edge: Floats) -> Label:
    """The name of a cluster: outside its outline, the upper left first, else on it."""
    way = np.roll(edge, -1, axis=0) - edge
    steps = np.maximum(np.linalg.norm(way, axis=-1) // 1.5, 1).astype(int).tolist()
    at = np.concatenate([np.arange(count) / count for count in steps])[:, None]
    near = np.repeat(edge, steps, axis=0) + np.repeat(way, steps, axis=0) * at
    outward = np.repeat(directions(len(edge)), steps, axis=0)
    order = np.argsort((-(near @ (-0.3, 1.0))).round(6), kind="stable")
    near, outward = near[order], outward[order]
    half = np.array(style.text_size(cluster.label, style.SMALL_TEXT, bold=True)) / 2
    out = outward * (np.abs(outward) @ (half + np.array([0.3, 0.2])))[:, None]
    # Touching from outside, on the outline, a little away from it, further away.
    rings = np.concatenate([near + share * out + gap * outward for share, gap, _ in _RINGS])
    dislike = np.repeat([dislike for _, _, dislike in _RINGS], len(near))
    return _label(cluster.label, rings, cluster.key, dislike, bold=True)


def _bends(graph: Network) -> Iterator[tuple[Bundle, float]]:
    """Every bundle and how far it bows out: several joints of the same two bodies bow apart."""
    widths: dict[tuple[int, ...], list[float]] = {}
    for bundle in graph.bundles:
        pair = tuple(sorted(bundle.ends))
        widths.setdefault(pair, []).append(max(5.5, bundle.grade * style.LINE_GAP + 3.0))
    bends = {
        pair: iter(np.cumsum(width) - np.array(width) / 2 - sum(width) / 2) for pair, width in widths.items()
    }
    for bundle in graph.bundles:
        pair = tuple(sorted(bundle.ends))
        bend = float(next(bends[pair]))
        yield bundle, bend if bundle.ends == pair else -bend


def _curve(points: Floats, bundle: Bundle, bend: float, count: int, aside: float = 0.0) -> Floats:
    """Curve (count, 2) between the ends of a bundle, shifted aside, bowed out in the middle."""
    start, end = points[list(bundle.ends)]
    way = end - start
    normal = np.array([-way[1], way[0]]) / max(float(np.hypot(way[0], way[1])), 1e-9)
    at = np.linspace(0.0, 1.0, count)[:, None]
    return np.asarray(start + way * at + normal * (aside + 4 * bend * at * (1 - at)))


def _obstacles(
    graph: Network, points: Floats, lines: Sequence[Floats], outlines: Sequence[Floats]
) -> Iterator[Obstacle]:
    for vertex, point in zip(graph.vertices, points, strict=True):
        radius = style.SQUARE_SIDE * 0.7 if vertex.state == "joint" else style.BODY_RADIUS + 0.9
        yield Obstacle(point[None], radius, "", 8.0)
    for bundle, line in zip(graph.bundles, lines, strict=True):
        yield Obstacle(line, (bundle.grade - 1) / 2 * style.LINE_GAP + 0.35, bundle.key, 3.0)
    for cluster, edge in zip(graph.clusters, outlines, strict=True):
        closed = np.concatenate([edge, edge[:1]])
        fine = [np.linspace(a, b, 2 + int(np.hypot(*(b - a)))) for a, b in pairwise(closed)]
        yield Obstacle(np.concatenate(fine), 0.1, cluster.key, 0.8)
        yield Obstacle(np.concatenate(fine), 1.8, cluster.key, 0.15)


def _holds(edge: Floats, point: Floats) -> bool:
    """Return whether a convex outline, anticlockwise, holds a point by more than a text's half height."""
    way = np.roll(edge, -1, axis=0) - edge
    length = np.maximum(np.hypot(way[:, 0], way[:, 1]), 1e-9)
    return bool((cross(way.T, (point - edge).T) / length > 1.0)[length > 1e-6].all())


def _draw_outline(axes: Axes, cluster: Cluster, edge: Floats) -> None:
    from matplotlib.patches import Polygon

    hue = cluster.hue
    colour, dashes = _OUTLINES[cluster.state] if hue is None else (hue.colour, _DASHES)
    if hue is not None:
        area = Polygon(edge, facecolor=tinted(hue.colour, _PALE), zorder=0, clip_on=False)
        area.set(edgecolor=tinted(hue.colour, 0.6), linewidth=0.0, hatch=HATCHES[hue.pattern])
        area.set_gid(f"{cluster.key}-area")
        axes.add_patch(area)
    rim = Polygon(edge, fill=False, edgecolor=colour, linewidth=0.9, zorder=1, clip_on=False)
    rim.set(gid=cluster.key, linestyle=(0, dashes))
    axes.add_patch(rim)


def _draw_lines(axes: Axes, lanes: Sequence[Floats], driven: int, key: str) -> None:
    from matplotlib.collections import LineCollection

    widths = [style.BOLD if lane < driven else style.THIN for lane in range(len(lanes))]
    lines = LineCollection(list(lanes), linewidths=widths, colors=style.INK, zorder=2, clip_on=False)
    lines.set_gid(key)
    axes.add_collection(lines, autolim=False)


def _draw_vertex(axes: Axes, x: float, y: float, vertex: Vertex, r: float = style.BODY_RADIUS) -> None:
    """Draw a body with its number, if it has one, or the square of a joint."""
    from matplotlib.patches import FancyBboxPatch, Rectangle

    frame = vertex.state == "frame"
    look: dict[str, Any] = {"zorder": 4, "gid": vertex.key}
    if vertex.state == "joint":
        side = style.SQUARE_SIDE
        axes.add_patch(Rectangle((x - side / 2, y - side / 2), side, side, facecolor=style.INK, **look))
    elif frame:
        half, pad, width = 0.7 * r, 0.3 * r, style.RIM * min(1.0, r / 2.4)
        shape = f"round,pad={pad},rounding_size={pad}"
        box = FancyBboxPatch((x - half, y - half), 2 * half, 2 * half, shape)
        box.set(facecolor=style.FRAME_FILL, edgecolor=style.INK, linewidth=width, **look)
        axes.add_patch(box)
    else:
        own = {"facecolor": vertex.fill} if vertex.fill is not None and vertex.state == "sound" else {}
        style.disc(axes, x, y, r, vertex.state, vertex.key, **own)
    if vertex.number:
        text, colour = str(vertex.number), "white" if frame else style.INK
        points = style.TEXT if vertex.number < 100 else style.SMALL_TEXT
        style.write(axes, x, y, text, f"{vertex.key}-number", points=points, colour=colour, bold=frame)


def _entries(graph: Network) -> Iterator[style.Entry]:
    """Entries of the legend for symbols in the picture."""
    states = {vertex.state for vertex in graph.vertices}
    for state, word in _STATES.items():
        if state in states:
            yield word, partial(_draw_vertex, vertex=Vertex(state, f"legend-{state}", ""), r=1.6)
    if any(bundle.grade > bundle.driven for bundle in graph.bundles):
        yield "free coordinate", _line_key(0, "legend-free")
    if any(bundle.driven for bundle in graph.bundles):
        yield "driven coordinate", _line_key(1, "legend-driven")
    labels = [cluster.label for cluster in graph.clusters if cluster.state == "sound"]
    if labels:
        yield f"structural group{' (level)' if labels[0].endswith(')') else ''}", _outline_key


def _line_key(driven: int, key: str) -> Callable[[Axes, float, float], None]:
    return lambda axes, x, y: _draw_lines(axes, [np.array([[x - 4.0, y], [x + 4.0, y]])], driven, key)


def _outline_key(axes: Axes, x: float, y: float) -> None:
    example = Cluster("sound", "legend-group", "", (), Hue(HUES[0], 0))
    _draw_outline(axes, example, outline(np.array([[x - 2.0, y], [x + 2.0, y]]), 1.5))
