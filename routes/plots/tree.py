"""The tree of routes on paper: from the left, a column for each stage and a row for each route."""

from __future__ import annotations

import os
from collections.abc import Mapping, Set
from dataclasses import dataclass
from string import ascii_lowercase
from textwrap import wrap
from typing import TYPE_CHECKING

from mbssa.pictures.files import save
from mbssa.pictures.limits import refuse_beyond, require_matplotlib
from mbssa.pictures.style import (
    FONT,
    GROUP_EDGE,
    INK,
    OVER_EDGE,
    SMALL_TEXT,
    TEXT,
    UNDER_EDGE,
    blank,
    text_size,
    write,
)
from routes.simulate import unit_of_time

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from routes.enumeration import Route

#: Routes, and stages of one, that a picture on paper can show.
MOST_ROUTES, MOST_STAGES = 120, 40

#: mm: least height of a row; between columns; around the text of a stage; around everything.
_ROW, _BETWEEN, _INSIDE, _AROUND = 4.8, 6.0, 1.3, 4.0

#: Letters of a stage before it takes a second line.
_LETTERS = 34

_SEQUENTIAL, _PARALLEL, _BEST = GROUP_EDGE, OVER_EDGE, UNDER_EDGE
_BRANCH, _BAND_COLOUR = "#9A9A9A", "#BFE8DA"

#: Points: width of a plain branch, of that of a route with a name, and of what lies under the best.
_THIN, _THICK, _BAND = 0.7, 1.5, 4.0


def routes_tree(
    tree: nx.DiGraph[Route],
    *,
    title: str = "",
    best: Route | None = None,
    seconds: Mapping[Route, float] | None = None,
    fold: bool = False,
) -> Figure:
    """Draw a tree of routes; a row, from left to right, is a route.

    Each box is a stage: its groups, which are solved side by side. The sequential and the parallel route are
    coloured and named at their ends, where they are in the tree, and so is the best. In a folded tree, boxes
    with the same letter continue alike, which is drawn once; a row without a name or a time of its own can
    then stand for several routes.

    Parameters
    ----------
    tree : from :func:`routes.tree`, or from ``routes.enumeration.tree_of(model, routes)`` for the best routes
        alone
    title : over the picture
    best : the route to be marked as the best
    seconds : s of routes, predicted or measured, for the ends of their rows
    fold : draw equal continuations once

    Raises
    ------
    ValueError
        More than 120 rows, or more than 40 stages in one; a best route that the tree does not have.
    ModuleNotFoundError
        Matplotlib is missing; the message says how to install it.

    Examples
    --------
    >>> import mbssa
    >>> from routes.enumeration import tree
    >>> nine_bar = tree(mbssa.decompose(mbssa.load("nine_bar")))
    >>> figure = routes_tree(nine_bar, best=((1, 4), (2,), (3,), (5,), (6,)))
    >>> sum(text.get_text() == "1 ∥ 4" for text in figure.axes[0].texts)
    1
    """
    require_matplotlib()
    if best is not None and (best not in tree or tree.out_degree(best)):
        raise ValueError(f"the tree has no route {best} that could be marked as the best")
    letters: dict[Route, str] = {}
    rows: dict[Route, int] = {}
    if fold:
        tree, letters, rows = _folded(tree, {*(seconds or {}), *([best] if best else [])})
        title += "; boxes with the same letter continue alike" if title and letters else ""
    ends = [node for node, following in tree.out_degree() if node and not following]
    stages = max(map(len, ends), default=0)
    refuse_beyond(MOST_ROUTES, len(ends), "rows", "one picture", "draw a tree of the best, from tree_of")
    refuse_beyond(MOST_STAGES, stages, "stages in sequence", "one picture", "draw the structural diagram")
    texts = {
        node: "\n".join(wrap(" ∥ ".join(map(str, node[-1])), _LETTERS)) + letters.get(node, "")
        for node in tree
        if node
    }
    labels = {
        route: f"{rows[route]} routes"
        if route in rows
        else _said(tree, route, best, (seconds or {}).get(route))
        for route in ends
    }
    layout = _laid_out(
        tree, texts, max(text_size(text, SMALL_TEXT, bold=True)[0] for text in labels.values())
    )
    heading = 7.0 if title else 0.0
    width = max(layout.width, text_size(title, TEXT)[0]) + 2 * _AROUND
    figure, axes = blank(width, layout.height + heading + 2 * _AROUND)
    axes.set_xlim(-_AROUND, width - _AROUND)
    axes.set_ylim(layout.height + _AROUND, -heading - _AROUND)
    if title:
        middle = width / 2 - _AROUND
        write(axes, middle, -heading / 2 - 1.0, title.replace("$", r"\$"), "title", points=TEXT)
    colours = {
        route: colour
        for mark, colour in (("sequential", _SEQUENTIAL), ("parallel", _PARALLEL))
        for route in ends
        if tree.nodes[route][mark]
    }
    if best is not None:
        _branch(axes, layout, best, _BAND_COLOUR, _BAND, 1)
    for node in texts:
        _link(axes, layout, node, _BRANCH, _THIN, 2)
    for route, colour in colours.items():
        _branch(axes, layout, route, colour, _THICK, 3)
    for node in [(), *texts]:
        ways = [route[: len(node) + 1] for route in colours if route[: len(node)] == node != route]
        if len(ways) > 1:
            _link(axes, layout, ways[0], INK, _THICK, 3.5, whole=ways[0] == ways[1])
    axes.plot(0.0, layout.y[()], marker="o", ms=4.0, color=INK, zorder=5, gid="root")
    for node, text in texts.items():
        through = {colour for route, colour in colours.items() if route[: len(node)] == node}
        _box(axes, layout, node, text, through.pop() if len(through) == 1 else INK)
    for route, text in labels.items():
        colour = colours.get(route, _BEST if route == best else INK)
        at = layout.left[len(route)] + text_size(texts[route], SMALL_TEXT)[0] + 2 * _INSIDE + 1.0
        write(axes, at, layout.y[route], text, "end", colour=colour, bold=colour != INK, centred=False)
    return figure


def draw_tree(
    tree: nx.DiGraph[Route],
    path: str | os.PathLike[str],
    *,
    title: str = "",
    best: Route | None = None,
    seconds: Mapping[Route, float] | None = None,
    fold: bool = False,
) -> None:
    """Write :func:`routes_tree` to a .svg, .png or .pdf file, which is either whole or not there.

    Raises as :func:`routes_tree`; ``ValueError`` for another ending too, and ``OSError``.

    Examples
    --------
    >>> import mbssa, pathlib, tempfile
    >>> from routes.enumeration import tree
    >>> jansen = tree(mbssa.decompose(mbssa.load("theo_jansen")))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     draw_tree(jansen, pathlib.Path(folder, "tree.svg"))
    ...     [path.name for path in pathlib.Path(folder).iterdir()]
    ['tree.svg']
    """
    save(routes_tree(tree, title=title, best=best, seconds=seconds, fold=fold), path)


def _folded(
    tree: nx.DiGraph[Route], shown: Set[Route]
) -> tuple[nx.DiGraph[Route], dict[Route, str], dict[Route, int]]:
    """Tree with equal continuations once, letters of nodes that continue alike, number of routes of a row."""
    # Routes to be `shown`, and the sequential and the parallel one, have rows of their own.
    after: dict[Route, frozenset[Route]] = {}
    alone: set[Route] = set()
    for node in reversed(list(tree)):
        following = list(tree.successors(node))
        after[node] = frozenset((way[-1:] + rest) for way in following for rest in after[way]) or frozenset(
            [()]
        )
        marked = node in shown or tree.nodes[node]["sequential"] or tree.nodes[node]["parallel"]
        if marked or not alone.isdisjoint(following):
            alone.add(node)
    first: dict[frozenset[Route], Route] = {}
    letters: dict[Route, str] = {}
    rows: dict[Route, int] = {}
    gone: set[Route] = set()
    for node in tree:
        if node[:-1] in gone or node[:-1] in rows:
            gone.add(node)
        elif len(after[node]) > 1 and node not in alone and after[node] in first:
            round_, number = divmod(len(set(letters.values())), 26)
            letter = f" ({ascii_lowercase[number]}{round_ or ''})"  # a, b, …, z, a1, b1, …
            letters[node] = letters.setdefault(first[after[node]], letter)
            rows[node] = len(after[node])
        else:
            first.setdefault(after[node], node)
    drawn = tree.copy()
    drawn.remove_nodes_from(gone)
    return drawn, letters, rows


@dataclass(frozen=True, eq=False)
class _Layout:
    """mm, y downwards: ``y`` of each node's row; by stage, ``left`` end and width of its widest text."""

    y: dict[Route, float]
    left: list[float]
    wide: list[float]
    width: float
    height: float


def _laid_out(tree: nx.DiGraph[Route], texts: Mapping[Route, str], tail: float) -> _Layout:
    wide = [0.0] * (1 + max(map(len, tree)))
    tallest = 0.0
    for node, text in texts.items():
        across, down = text_size(text, SMALL_TEXT)
        wide[len(node)] = max(wide[len(node)], across)
        tallest = max(tallest, down)
    left = [0.0]
    for k in range(1, len(wide)):
        left.append(left[-1] + wide[k - 1] + (2 * _INSIDE if k > 1 else 0.0) + _BETWEEN)
    row = max(_ROW, tallest + 2 * _INSIDE + 0.8)
    y: dict[Route, float] = {}
    rows = 0
    for node in tree:
        if not tree.out_degree(node):
            y[node] = (rows + 0.5) * row
            rows += 1
    for node in reversed(list(tree)):
        if node not in y:
            # In the row of its first successor; the others branch off downwards.
            y[node] = y[next(iter(tree.successors(node)))]
    return _Layout(y, left, wide, left[-1] + wide[-1] + 2 * _INSIDE + 1.0 + tail, rows * row)


def _said(tree: nx.DiGraph[Route], route: Route, best: Route | None, seconds: float | None) -> str:
    """Label at the end of a route."""
    words = [mark for mark in ("sequential", "parallel") if tree.nodes[route][mark]]
    words += ["best"] * (route == best)
    if seconds is not None:
        unit, factor = unit_of_time(seconds)
        words.append(f"{seconds * factor:.3g} {unit}")
    return ", ".join(words)


def _branch(axes: Axes, layout: _Layout, route: Route, colour: str, points: float, zorder: float) -> None:
    for k in range(1, len(route) + 1):
        _link(axes, layout, route[:k], colour, points, zorder)


def _link(
    axes: Axes, layout: _Layout, node: Route, colour: str, points: float, zorder: float, *, whole: bool = True
) -> None:
    """From the box of the parent to the common bend of its branches; ``whole``: on to the box of the node."""
    here, before = len(node), node[:-1]
    start, bend = layout.left[here - 1] + _INSIDE * bool(before), layout.left[here] - _BETWEEN / 2
    y = layout.y[before], layout.y[node]
    x = [start, bend, bend, layout.left[here] + _INSIDE]
    axes.plot(
        x if whole else x[:2],
        [y[0], y[0], y[1], y[1]] if whole else [y[0], y[0]],
        color=colour,
        lw=points,
        zorder=zorder,
        solid_joinstyle="round",
        solid_capstyle="butt",
    )


def _box(axes: Axes, layout: _Layout, node: Route, text: str, colour: str) -> None:
    from matplotlib.patches import FancyBboxPatch

    across, down = text_size(text, SMALL_TEXT)
    x, y = layout.left[len(node)], layout.y[node]
    axes.add_patch(
        FancyBboxPatch(
            (x + 0.4, y - down / 2 - 0.35),
            across + 2 * _INSIDE - 0.8,
            down + 0.7,
            boxstyle="round,pad=0,rounding_size=0.9",
            facecolor="white",
            edgecolor=_BRANCH if colour == INK else colour,
            lw=_THIN,
            zorder=4,
            gid="stage",
        )
    )
    axes.text(
        x + _INSIDE + across / 2,
        y,
        text,
        fontsize=SMALL_TEXT,
        family=FONT,
        color=colour,
        ha="center",
        va="center_baseline" if "\n" not in text else "center",
        zorder=6,
        gid="groups",
    )
