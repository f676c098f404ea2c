"""The key under a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbssa.pictures.style import FONT, SMALL_TEXT

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def add_key(figure: Figure, handles: list[Any], *, lines: bool = True) -> None:
    """Put a key of up to five columns below the figure; the page grows. ``lines`` need room for samples."""
    for columns in range(min(len(handles), 5), 0, -1):
        key = figure.legend(
            handles=handles,
            loc="lower center",
            ncols=columns,
            prop={"family": FONT, "size": SMALL_TEXT},
            frameon=False,
            handletextpad=0.4,
            columnspacing=1.2,
            borderaxespad=0.2,
            handlelength=1.8 if lines else 0.8,
        )
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
