"""Style of pictures of a motion, and their key; sizes in mm and texts in points, as in ``mbssa.pictures``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbssa.pictures.style import FONT, OVER_EDGE, SMALL_TEXT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Colours of curves in turn, Okabe and Ito's without the yellow, which white paper swallows.
BODY_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#7A6BB0", "#8C6D4F")
STYLES = ("solid", "dashed", "dashdot")  # of the lines that have the same colours
FRAME_COLOUR = "#7A7A7A"
PATH_COLOUR = "#444444"
DRIVEN = OVER_EDGE
GRID = "#E4E4E4"
FAILED = "#FBE0CD"

WIDTH = 120.0
TALLEST = 130.0
LEAST = 42.0

LINK, EDGE, FINE = 2.6, 1.5, 0.8
MARK = 5.2


def add_key(figure: Figure, handles: list[Any], *, lines: bool = True) -> None:
    """Put a key of up to five columns below the figure; the page grows. ``lines`` need room for samples."""
    look: dict[str, Any] = {"prop": {"family": FONT, "size": SMALL_TEXT}, "frameon": False}
    look |= {"handletextpad": 0.4, "columnspacing": 1.2, "borderaxespad": 0.2}
    look["handlelength"] = 1.8 if lines else 0.8
    for columns in range(min(len(handles), 5), 0, -1):
        key = figure.legend(handles=handles, loc="lower center", ncols=columns, **look)
        figure.draw_without_rendering()
        box = key.get_window_extent()
        if columns == 1 or box.width < figure.bbox.width:
            break
        key.remove()
    width, height = figure.get_size_inches()
    below = box.height / figure.dpi
    taller = height + below
    figure.set_size_inches(width, taller)
    for axes in figure.axes:
        place = axes.get_position(original=True)
        bottom = (place.y0 * height + below) / taller
        axes.set_position((place.x0, bottom, place.width, place.height * height / taller))
