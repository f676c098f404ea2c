"""Style of the pictures: sizes in millimetres, texts in points, colour-blind safe colours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import ceil
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from mbssa.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MM_PER_INCH = 25.4
MM_PER_POINT = MM_PER_INCH / 72

BODY_RADIUS = 3.0
SQUARE_SIDE = 2.4
CIRCLE_RADIUS = 5.6
OUTLINE_GAP = 1.9
LINE_GAP = 0.95
MARGIN = 3.0

TEXT = 8.0
SMALL_TEXT = 7.0

#: Width of a column of a journal: no picture is narrower, so that none is enlarged in print.
NARROWEST = 85.0

#: Of a legend: height of a row, width of a symbol, space between columns.
ROW, KEY, SPACE = 4.6, 8.0, 5.0

#: Entry of a legend: its text, and a function that draws its symbol around a point (x, y).
Entry: TypeAlias = "tuple[str, Callable[[Axes, float, float], None]]"

THIN, BOLD, RIM = 0.6, 2.0, 0.9

FONT = "DejaVu Sans"

# Okabe and Ito's palette, lightened where it fills a circle under a black number.
INK = "#000000"
GROUP_EDGE = "#0072B2"
GROUP_FILL = "#F1F6FA"
OVER_EDGE, OVER_FILL = "#D55E00", "#F6C9A8"
UNDER_EDGE, UNDER_FILL = "#009E73", "#BFE8DA"
OPEN_FILL = "#D9D9D9"
FRAME_FILL = "#404040"

#: State of a body, a part or a group: over- (over) or under-constrained (under) by the count, or not reached
#: by the search (open); or the kind of what has no state.
State: TypeAlias = Literal["frame", "sound", "over", "under", "open", "joint"]

#: Face, edge and style of the rim of a body or a part, by its state.
LOOKS: dict[str, tuple[str, str, Literal["solid", "dotted", "dashed"]]] = {
    "frame": (FRAME_FILL, INK, "solid"),
    "sound": ("white", INK, "solid"),
    "over": (OVER_FILL, OVER_EDGE, "solid"),
    "under": (UNDER_FILL, UNDER_EDGE, "dotted"),
    "open": (OPEN_FILL, INK, "dashed"),
}


@cache
def text_size(text: str, points: float, *, bold: bool = False) -> tuple[float, float]:
    """Width and height of a text in millimetres, as the fonts that come with Matplotlib draw it."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family=FONT, size=points, weight="bold" if bold else "normal")
    lines = text.split("\n")
    widths = [text_to_path.get_text_width_height_descent(line, font, ismath=False)[0] for line in lines]
    return max(widths) * MM_PER_POINT, (1.25 * len(lines) - 0.25) * points * MM_PER_POINT


def figure_of(width: float, height: float, dpi: float | None = 150.0) -> Figure:
    """An empty figure of this size in mm."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width / MM_PER_INCH, height / MM_PER_INCH), facecolor="white", dpi=dpi)
    FigureCanvasAgg(figure)
    return figure


def axes_at(figure: Figure, left: float, bottom: float, wide: float, tall: float, **kind: Any) -> Axes:
    """Axes of this size at this place of a figure, mm, with thin lines and small numbers."""
    width, height = (side * MM_PER_INCH for side in figure.get_size_inches())
    axes = figure.add_axes((left / width, bottom / height, wide / width, tall / height), **kind)
    axes.tick_params(labelsize=SMALL_TEXT, width=0.5, length=2.0, labelfontfamily=FONT)
    axes.set_axisbelow(True)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set(fontsize=SMALL_TEXT, family=FONT)
    for spine in axes.spines.values():
        spine.set(linewidth=0.5, color=INK)
    return axes


def entitle(figure: Figure, text: str) -> None:
    """Write a title over a figure; it replaces the one before."""
    for old in [old for old in figure.texts if old.get_gid() == "title"]:
        old.remove()
    y, plain = 1 - 4.5 / (float(figure.get_figheight()) * MM_PER_INCH), text.replace("$", r"\$")
    look: dict[str, Any] = {"fontsize": TEXT, "family": FONT, "gid": "title"}
    figure.text(0.5, y, plain, ha="center", va="center", **look)


def blank(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty figure of this size in mm whose data coordinates are mm, y upwards, origin below left."""
    figure = figure_of(width, height, None)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(0.0, width)
    axes.set_ylim(0.0, height)
    axes.set_axis_off()
    return figure, axes


def page(
    low: Sequence[float], high: Sequence[float], entries: Sequence[Entry]
) -> tuple[Figure, Axes, Floats]:
    """A page for a drawing between two corners, its legend in columns below, and the shift of the drawing."""
    step = KEY + 1.5 + max(text_size(text, SMALL_TEXT)[0] for text, _ in entries) + SPACE
    wide = max(high[0] - low[0], NARROWEST - 2 * MARGIN, step - SPACE)
    rows = ceil(len(entries) / int((wide + SPACE) // step))
    middle, top = MARGIN + wide / 2, MARGIN + rows * ROW
    figure, axes = blank(wide + 2 * MARGIN, high[1] - low[1] + top + 4.0 + MARGIN)
    left = middle - (ceil(len(entries) / rows) * step - SPACE) / 2
    for number, (text, draw) in enumerate(entries):
        x, y = left + number // rows * step, top - ROW * (number % rows + 0.5)
        draw(axes, x + KEY / 2, y)
        write(axes, x + KEY + 1.5, y, text, f"legend-{number + 1}", centred=False)
    return figure, axes, np.array([middle - (low[0] + high[0]) / 2, top + 4.0 - low[1]])


def write(
    axes: Axes,
    x: float,
    y: float,
    text: str,
    gid: str,
    *,
    points: float = SMALL_TEXT,
    colour: str = INK,
    bold: bool = False,
    centred: bool = True,
    behind: str = "",
) -> None:
    """One line of text around (x, y), or beginning there, on a patch of the colour ``behind``."""
    axes.text(
        x,
        y,
        text,
        fontsize=points,
        family=FONT,
        weight="bold" if bold else "normal",
        color=colour,
        ha="center" if centred else "left",
        va="center_baseline",
        bbox={"boxstyle": "square,pad=0.12", "facecolor": behind, "edgecolor": "none"} if behind else None,
        zorder=3 if behind else 6,
        gid=gid,
        clip_on=False,
    )


def disc(axes: Axes, x: float, y: float, r: float, state: str, key: str, **look: Any) -> None:
    """A circle of radius r in the look of a state, or in another; what is over-constrained has two rims."""
    from matplotlib.patches import Circle

    face, edge, rim = LOOKS[state]
    usual = {"edgecolor": edge, "linestyle": rim, "linewidth": RIM * min(1.0, r / 2.4), "clip_on": False}
    axes.add_patch(Circle((x, y), r, **{"facecolor": face, "zorder": 4, "gid": key} | usual | look))
    if state == "over":
        axes.add_patch(Circle((x, y), 0.85 * r, fill=False, zorder=5, gid=f"{key}-ring", **usual))
