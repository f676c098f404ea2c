"""The structural graph: bodies as vertices, one line a free coordinate, bold where it is driven."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from mbssa.arrays import Floats
from mbssa.pictures import style
from mbssa.pictures.geometry import cross, directions, outline
from mbssa.pictures.hues import HATCHES, HUES, Hue, darker, tinted
from mbssa.pictures.labels import Label, Obstacle, place_labels
from mbssa.pictures.legend import Draw, Entry, least_width, legend
from mbssa.pictures.limits import refuse_beyond, require_matplotlib
from mbssa.pictures.network import Bundle, Cluster, Network, State, Vertex, VertexKind, network
from mbssa.pictures.placement import place
from mbssa.structure import Structure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Bodies up to which a structural graph can be read.
MOST_BODIES = 60

#: Width of a column of a journal, mm: no picture is narrower, so that none is enlarged in print.
NARROWEST = 85.0

#: Share of white in the area of a group.
_PALE = 0.88

#: Enlargement of a drawing with names.
_ROOM_FOR_NAMES = 1.45

_OUTLINES: dict[str, tuple[str, tuple[float, ...]]] = {
    "over": (style.OVER_EDGE, (6.0, 2.0, 1.2, 2.0)),
    "under": (style.UNDER_EDGE, (1.2, 1.8)),
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
    texts = _Texts(graph, points, names=names)
    entries = list(_entries(graph))
    low, high = _extent(graph, points, texts)
    wide = max(high[0] - low[0], NARROWEST - 2 * style.MARGIN, least_width(entries))
    key = legend(entries, wide)
    tall = high[1] - low[1] + key.height + 4.0
    figure, axes = style.blank(wide + 2 * style.MARGIN, tall + 2 * style.MARGIN)
    middle = style.MARGIN + wide / 2
    shift = np.array([middle - (low[0] + high[0]) / 2, style.MARGIN + key.height + 4.0 - low[1]])
    _draw(axes, graph, points + shift, texts, shift)
    key.draw(axes, middle - (key.columns * key.step - 5.0) / 2, style.MARGIN + key.height)
    figure.set_gid("structural-graph")
    return figure


class _Texts:
    """All texts but the numbers in the circles, with their places."""

    def __init__(self, graph: Network, points: Floats, *, names: bool) -> None:
        lines = [_middle_line(graph, points, bundle, bend) for bundle, bend in _bends(graph)]
        edges = [
            outline(points[list(cluster.members)], style.BODY_RADIUS + style.OUTLINE_GAP)
            for cluster in graph.clusters
        ]
        self.keys = [f"{bundle.key}-type" for bundle in graph.bundles if not _is_arm(graph, bundle)]
        labels = [
            _label(bundle.code, _along(line), bundle.key)
            for bundle, line in zip(graph.bundles, lines, strict=True)
            if not _is_arm(graph, bundle)
        ]
        for vertex, point in zip(graph.vertices, points, strict=True):
            if vertex.kind == "joint":
                self.keys.append(f"{vertex.key}-type")
                labels.append(_beside(vertex.name, point, style.SQUARE_SIDE / 2))
            elif names and vertex.name != str(vertex.number):
                self.keys.append(f"{vertex.key}-name")
                labels.append(_beside(vertex.name, point, style.BODY_RADIUS + 0.6))
        for cluster, edge in zip(graph.clusters, edges, strict=True):
            self.keys.append(f"{cluster.key}-label")
            labels.append(_tag(cluster, edge))
        self.labels = labels
        self.outlines = edges
        self.places = place_labels(labels, list(_obstacles(graph, points, lines, edges)))


def _is_arm(graph: Network, bundle: Bundle) -> bool:
    return graph.vertices[bundle.ends[0]].kind == "joint"


def _label(text: str, places: Floats, owner: str) -> Label:
    width, height = style.text_size(text, style.SMALL_TEXT)
    return Label(text, width + 0.6, height + 0.4, places, owner)


def _beside(text: str, point: Floats, radius: float) -> Label:
    """A text beside a vertex, below it if it can be."""
    width, height = style.text_size(text, style.SMALL_TEXT)
    normal = directions(24)
    normal = normal[np.argsort(normal[:, 1].round(6), kind="stable")]
    reach = np.array([width / 2 + 0.6, height / 2 + 0.5])
    rings = [
        point + normal * radius * far + np.sign(normal.round(6)) * reach * np.abs(normal) ** 0.5
        for far in (1.1, 1.5)
    ]
    return Label(text, width + 0.4, height + 0.4, np.concatenate(rings))


def _along(line: Floats) -> Floats:
    """Places on a line from its middle outwards."""
    last = len(line) - 1
    order = sorted(range(len(line)), key=lambda k: (abs(2 * k - last), k))
    return line[[k for k in order if 0.22 * last <= k <= 0.78 * last]]


def _tag(cluster: Cluster, edge: Floats) -> Label:
    """The name of a cluster: outside its outline, the upper left first, else on it."""
    width, height = style.text_size(cluster.label, style.SMALL_TEXT, bold=True)
    following = np.roll(edge, -1, axis=0)
    normal = directions(len(edge))
    steps = np.maximum(np.linalg.norm(following - edge, axis=-1) // 1.5, 1).astype(int).tolist()
    at = np.concatenate([np.arange(count) / count for count in steps])[:, None]
    near = np.repeat(edge, steps, axis=0) * (1 - at) + np.repeat(following, steps, axis=0) * at
    outward = np.repeat(normal, steps, axis=0)
    order = np.argsort((-(near @ (-0.3, 1.0))).round(6), kind="stable")
    near, outward = near[order], outward[order]
    out = np.abs(outward) @ (width / 2 + 0.3, height / 2 + 0.2)
    # Touching from outside, on the outline, a little away from it.
    rings = [near + outward * (out + 0.5)[:, None], near, near + outward * (out + 1.6)[:, None]]
    dislike = np.repeat([0.0, 0.6, 2.5], len(near))
    return Label(cluster.label, width + 0.6, height + 0.4, np.concatenate(rings), cluster.key, dislike)


def _bends(graph: Network) -> Iterator[tuple[Bundle, float]]:
    """Every bundle and how far it bows out: several joints of the same two bodies bow apart."""
    places: dict[tuple[int, ...], list[float]] = {}
    for bundle in graph.bundles:
        mine = places.setdefault(tuple(sorted(bundle.ends)), [0.0])
        mine.append(mine[-1] + max(5.5, bundle.grade * style.LINE_GAP + 3.0))
    taken = Counter[tuple[int, ...]]()
    for bundle in graph.bundles:
        pair = tuple(sorted(bundle.ends))
        left, right = places[pair][taken[pair] : taken[pair] + 2]
        taken[pair] += 1
        bend = (left + right - places[pair][-1]) / 2
        yield bundle, bend if bundle.ends == pair else -bend


def _curve(start: Floats, end: Floats, aside: float, bend: float, count: int) -> Floats:
    """Curve (count, 2) from start to end, shifted aside, bowed out by ``bend`` in the middle."""
    way = end - start
    normal = np.array([-way[1], way[0]]) / max(float(np.hypot(way[0], way[1])), 1e-9)
    at = np.linspace(0.0, 1.0, count)[:, None]
    return np.asarray(start + way * at + normal * (aside + 4 * bend * at * (1 - at)))


def _middle_line(graph: Network, points: Floats, bundle: Bundle, bend: float) -> Floats:
    a, b = bundle.ends
    return _curve(points[a], points[b], 0.0, bend, 81)


def _lanes(points: Floats, bundle: Bundle, bend: float) -> list[Floats]:
    """The lines of a joint, side by side."""
    a, b = bundle.ends
    aside = (np.arange(bundle.grade) - (bundle.grade - 1) / 2) * style.LINE_GAP
    return [_curve(points[a], points[b], lane, bend, 25 if bend else 2) for lane in aside.tolist()]


def _obstacles(
    graph: Network, points: Floats, lines: Sequence[Floats], edges: Sequence[Floats]
) -> Iterator[Obstacle]:
    for vertex, point in zip(graph.vertices, points, strict=True):
        small = vertex.kind == "joint"
        yield Obstacle(point[None], style.SQUARE_SIDE * 0.7 if small else style.BODY_RADIUS + 0.9, "", 3.0)
    for bundle, line in zip(graph.bundles, lines, strict=True):
        yield Obstacle(line, (bundle.grade - 1) / 2 * style.LINE_GAP + 0.35, bundle.key, 3.0)
    for cluster, edge in zip(graph.clusters, edges, strict=True):
        closed = np.concatenate([edge, edge[:1]])
        fine = [np.linspace(a, b, 2 + int(np.hypot(*(b - a)))) for a, b in pairwise(closed)]
        yield Obstacle(np.concatenate(fine), 0.1, cluster.key, 0.8)
        yield Obstacle(np.concatenate(fine), 1.8, cluster.key, 0.15)


def _extent(graph: Network, points: Floats, texts: _Texts) -> tuple[Floats, Floats]:
    half = np.array([(label.width / 2, label.height / 2) for label in texts.labels]).reshape(-1, 2)
    around = [points - style.BODY_RADIUS - 1, points + style.BODY_RADIUS + 1, *texts.outlines]
    every = np.concatenate([*around, texts.places - half, texts.places + half])
    return every.min(axis=0), every.max(axis=0)


def _draw(axes: Axes, graph: Network, points: Floats, texts: _Texts, shift: Floats) -> None:
    for cluster, edge in zip(graph.clusters, texts.outlines, strict=True):
        _draw_outline(axes, cluster, edge + shift)
    for bundle, bend in _bends(graph):
        _draw_lines(axes, _lanes(points, bundle, bend), bundle.driven, bundle.key)
    for vertex, point in zip(graph.vertices, points, strict=True):
        _draw_vertex(axes, vertex, float(point[0]), float(point[1]))
    inside = [
        (edge + shift, tinted(cluster.hue.colour, _PALE))
        for cluster, edge in zip(graph.clusters, texts.outlines, strict=True)
        if cluster.hue is not None
    ]
    colour = {
        cluster.key: _OUTLINES[cluster.kind][0] if cluster.hue is None else darker(cluster.hue.colour)
        for cluster in graph.clusters
    }
    for key, label, (x, y) in zip(texts.keys, texts.labels, (texts.places + shift).tolist(), strict=True):
        behind = next((fill for edge, fill in inside if _holds(edge, np.array([x, y]))), "white")
        ink = colour.get(label.owner, style.INK)
        style.write(axes, x, y, label.text, key, colour=ink, bold=key.endswith("-label"), behind=behind)


def _holds(edge: Floats, point: Floats) -> bool:
    """Return whether a convex outline, anticlockwise, holds a point by more than a text's half height."""
    way = np.roll(edge, -1, axis=0) - edge
    length = np.maximum(np.hypot(way[:, 0], way[:, 1]), 1e-9)
    return bool((cross(way.T, (point - edge).T) / length > 1.0)[length > 1e-6].all())


def _draw_outline(axes: Axes, cluster: Cluster, edge: Floats) -> None:
    from matplotlib.patches import Polygon

    hue = cluster.hue
    colour, dashes = _OUTLINES[cluster.kind] if hue is None else (hue.colour, (4.0, 2.5))
    if hue is not None:
        shape = Polygon(edge, closed=True, facecolor=tinted(hue.colour, _PALE), zorder=0, clip_on=False)
        shape.set(edgecolor=tinted(hue.colour, 0.6), linewidth=0.0, hatch=HATCHES[hue.pattern])
        shape.set_gid(f"{cluster.key}-area")
        axes.add_patch(shape)
    rim = Polygon(edge, closed=True, fill=False, edgecolor=colour, linewidth=0.9, zorder=1, clip_on=False)
    rim.set_gid(cluster.key)
    rim.set_linestyle((0, dashes))
    axes.add_patch(rim)


def _draw_lines(axes: Axes, lanes: Sequence[Floats], driven: int, key: str) -> None:
    from matplotlib.collections import LineCollection

    widths = [style.BOLD if lane < driven else style.THIN for lane in range(len(lanes))]
    lines = LineCollection(list(lanes), linewidths=widths, colors=style.INK, zorder=2, clip_on=False)
    lines.set_gid(key)
    axes.add_collection(lines, autolim=False)


def _draw_vertex(axes: Axes, vertex: Vertex, x: float, y: float) -> None:
    from matplotlib.patches import Rectangle

    if vertex.kind == "joint":
        side = style.SQUARE_SIDE
        axes.add_patch(
            Rectangle((x - side / 2, y - side / 2), side, side, facecolor=style.INK, zorder=4, gid=vertex.key)
        )
        return
    _draw_body(axes, x, y, style.BODY_RADIUS, vertex)
    style.write(
        axes,
        x,
        y,
        str(vertex.number),
        f"{vertex.key}-number",
        points=style.TEXT if vertex.number < 100 else style.SMALL_TEXT,
        colour="white" if vertex.kind == "frame" else style.INK,
        bold=vertex.kind == "frame",
    )


def _draw_body(axes: Axes, x: float, y: float, r: float, vertex: Vertex) -> None:
    from matplotlib.patches import FancyBboxPatch

    if vertex.kind == "body":
        own = vertex.fill is not None and vertex.state == "sound"
        style.disc(axes, x, y, r, vertex.state, vertex.key, **({"facecolor": vertex.fill} if own else {}))
        return
    half, pad, width = 0.7 * r, 0.3 * r, style.RIM * min(1.0, r / 2.4)
    box = FancyBboxPatch((x - half, y - half), 2 * half, 2 * half, f"round,pad={pad},rounding_size={pad}")
    box.set(facecolor=style.FRAME_FILL, edgecolor=style.INK, linewidth=width, zorder=4, gid=vertex.key)
    axes.add_patch(box)


def _entries(graph: Network) -> Iterator[Entry]:
    """Entries of the legend for symbols in the picture."""
    yield Entry("frame", _body_key("sound", "frame"))
    states = {vertex.state for vertex in graph.vertices if vertex.kind == "body"}
    words: tuple[tuple[State, str], ...] = (
        ("sound", "body"),
        ("over", "over-constrained"),
        ("under", "under-constrained"),
        ("open", "not reached by the search"),
    )
    for state, word in words:
        if state in states:
            yield Entry(word, _body_key(state))
    if any(vertex.kind == "joint" for vertex in graph.vertices):
        square = Vertex("joint", "legend-square", 0, "")
        yield Entry("joint of three bodies", lambda axes, x, y: _draw_vertex(axes, square, x, y))
    if any(bundle.grade > bundle.driven for bundle in graph.bundles):
        yield Entry("free coordinate", lambda axes, x, y: _line_key(axes, x, y, 0))
    if any(bundle.driven for bundle in graph.bundles):
        yield Entry("driven coordinate", lambda axes, x, y: _line_key(axes, x, y, 1))
    labels = [cluster.label for cluster in graph.clusters if cluster.kind == "group"]
    if labels:
        levels = " (level)" if labels[0].endswith(")") else ""
        yield Entry(f"structural group{levels}", _outline_key)


def _body_key(state: State, kind: VertexKind = "body") -> Draw:
    example = Vertex(kind, f"legend-{kind if kind == 'frame' else state}", 0, "", state)
    return lambda axes, x, y: _draw_body(axes, x, y, 1.6, example)


def _line_key(axes: Axes, x: float, y: float, driven: int) -> None:
    lane = np.array([[x - 4.0, y], [x + 4.0, y]])
    _draw_lines(axes, [lane], driven, "legend-driven" if driven else "legend-free")


def _outline_key(axes: Axes, x: float, y: float) -> None:
    example = Cluster("group", "legend-group", "", (), Hue(HUES[0], 0))
    _draw_outline(axes, example, outline(np.array([[x - 2.0, y], [x + 2.0, y]]), 1.5))
