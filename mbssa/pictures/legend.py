"""A legend in columns under a picture, drawn in millimetres like the rest of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, TypeAlias

from mbssa.pictures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW, KEY, SPACE = 4.6, 8.0, 5.0

#: Draws a key around a point (x, y).
Draw: TypeAlias = "Callable[[Axes, float, float], None]"


@dataclass(frozen=True, slots=True)
class Entry:
    """A symbol, drawn around a point, and its meaning."""

    text: str
    draw: Draw


@dataclass(frozen=True, slots=True)
class Legend:
    """Entries set out in columns of a given width."""

    entries: Sequence[Entry]
    columns: int
    step: float
    height: float

    def draw(self, axes: Axes, left: float, top: float) -> None:
        """Draw it with its upper left corner here; down the columns first."""
        rows = ceil(len(self.entries) / self.columns)
        for number, entry in enumerate(self.entries):
            x = left + (number // rows) * self.step
            y = top - ROW * (number % rows + 0.5)
            entry.draw(axes, x + KEY / 2, y)
            style.write(axes, x + KEY + 1.5, y, entry.text, f"legend-{number + 1}", centred=False)


def legend(entries: Sequence[Entry], width: float) -> Legend:
    """The entries in as many columns as fit into ``width`` mm."""
    widest = max(style.text_size(entry.text, style.SMALL_TEXT)[0] for entry in entries)
    step = KEY + 1.5 + widest + SPACE
    most = max(1, int((width + SPACE) // step))
    rows = ceil(len(entries) / most)
    return Legend(entries, ceil(len(entries) / rows), step, rows * ROW)


def least_width(entries: Sequence[Entry]) -> float:
    """Width in mm that one column takes."""
    return KEY + 1.5 + max(style.text_size(entry.text, style.SMALL_TEXT)[0] for entry in entries)
