"""Figures for mechanisms: equal scales, millimetres under control, in the plane or in space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.pictures.scene import Scene
from groups.pictures.style import FINE, GRID, LEAST, TALLEST, WIDTH
from mbssa.arrays import Floats
from mbssa.pictures.style import FONT, MM_PER_INCH, SMALL_TEXT, axes_at, figure_of
from mbssa.units import LENGTHS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


#: mm beside, below and above axes, and around what they show.
_LEFT, _RIGHT, _BOTTOM, _TOP, _MARGIN = 17.0, 4.0, 12.0, 9.0, 9.0

#: Names that find room on a page of the usual size.
_EASY_NAMES = 9

#: mm kept free around a box in space, and its height before it is cut.
_SPARE, _BOX = 2.5, 106.0


@dataclass(frozen=True, eq=False)
class Canvas:
    """Figure with one pair (or three) of axes of equal scale; places are given in m."""

    figure: Figure
    axes: Any  # Matplotlib's, three-dimensional if ``solid``
    solid: bool
    scale: float  # metres of the mechanism for a millimetre of paper
    unit: str = "m"  # of length on the axes

    def on_axes(self, points: Floats) -> Floats:
        """Coordinates (2, …) or (3, …) on the axes of points (…, 2) or (…, 3)."""
        return np.moveaxis(points / LENGTHS[self.unit], -1, 0)[: 3 if self.solid else 2]

    def paper(self, points: Floats) -> Floats:
        """Places (..., 2) of world points (..., 3) on the paper, mm."""
        flat = self.on_axes(points.reshape(-1, 3))
        if self.solid:
            from mpl_toolkits.mplot3d import proj3d

            flat = np.asarray(proj3d.proj_transform(*flat, self.axes.get_proj())[:2])
        pixels: Floats = self.axes.transData.transform(flat.T)
        return (pixels * MM_PER_INCH / self.figure.dpi).reshape(*points.shape[:-1], 2)

    def line(self, points: Floats, colour: str, width: float, *, hatched: bool = False, **look: Any) -> Any:
        """A line with round ends through points (n, 3); ``hatched`` on its right if it stands still."""
        round_ends = ("dash_capstyle", "solid_capstyle", "solid_joinstyle")
        look = dict.fromkeys(round_ends, "round") | {"zorder": 2.0} | look
        if hatched:
            from matplotlib.patheffects import withTickedStroke

            stroke = withTickedStroke(spacing=3.6, angle=-135, length=1.25, linewidth=FINE)
            look["path_effects"] = [stroke]
        (line,) = self.axes.plot(*self.on_axes(points), c=colour, lw=width, **look)
        return line

    def dot(self, at: Floats, **look: Any) -> None:
        """A marker at a world point (3,), with Matplotlib's keywords for its look."""
        self.axes.plot(*self.on_axes(at[None]), ls="", **look)

    def face(self, points: Floats, colour: str) -> None:
        """A translucent polygon with corners (n, 3)."""
        if self.solid:
            from mpl_toolkits.mplot3d.art3d import Poly3DCollection

            corners = self.on_axes(points).T
            self.axes.add_collection3d(Poly3DCollection([corners], facecolor=colour, alpha=0.22, lw=0))
        else:
            self.polygon(points, facecolor=colour, alpha=0.22, lw=0, zorder=1.8)

    def polygon(self, points: Floats, **look: Any) -> None:
        """A polygon in the plane with corners (n, 2) or (n, 3), with Matplotlib's keywords for its look."""
        self.axes.fill(*self.on_axes(points)[:2], **look)


def canvas_for(scene: Scene, points: Floats | None = None, *, names: int = 0) -> Canvas:
    """Empty axes for the whole motion, or for points (n, 3) alone; ``names`` make the page larger."""
    low, high = scene.low, scene.high
    if points is not None and np.isfinite(points).all(axis=1).any():
        low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
        if not (high > low).any():
            low, high = low - scene.size / 20, high + scene.size / 20
    larger = float(np.clip(np.sqrt(names / _EASY_NAMES), 1.0, 2.0))
    return (_flat if scene.planar else _solid)(low, high, scene.mechanism.units[0], larger)


def _flat(low: Floats, high: Floats, unit: str, larger: float) -> Canvas:
    middle, extent = (low + high)[:2] / 2, (high - low)[:2]
    room = np.array([larger * WIDTH - _LEFT - _RIGHT, larger * TALLEST - _BOTTOM - _TOP])
    scale = float((extent / (room - 2 * _MARGIN)).max()) or 1.0
    size = np.array([room[0], max(extent[1] / scale + 2 * _MARGIN, LEAST)])
    figure = figure_of(_LEFT + size[0] + _RIGHT, _BOTTOM + size[1] + _TOP)
    axes = axes_at(figure, _LEFT, _BOTTOM, *size)
    x, y = np.stack([middle - size * scale / 2, middle + size * scale / 2], axis=1) / LENGTHS[unit]
    axes.set(xlim=x, ylim=y, xlabel=f"x ({unit})", ylabel=f"y ({unit})")
    axes.grid(color=GRID, linewidth=0.5)
    axes.locator_params(nbins=8)
    return Canvas(figure, axes, False, scale, unit)


def _solid(low: Floats, high: Floats, unit: str, larger: float) -> Canvas:
    extent = high - low
    longest = float(extent.max()) or 1.0
    thin = extent < 0.05 * longest
    extent = np.maximum(extent + 0.12 * longest, 0.15 * longest)
    aspect = extent / extent.max()
    height = larger * _BOX
    figure = figure_of(larger * WIDTH, height)
    axes = box_at(figure, 0.0, 0.0, larger * WIDTH, height - _TOP)
    axes.view_init(elev=62 if thin[2] else 20, azim=-80 if thin[2] else -60)
    x, y, z = ((low + high) / 2 + np.outer([-0.5, 0.5], extent)).T / LENGTHS[unit]
    axes.set(xlim=x, ylim=y, zlim=z)
    for name, axis, flat, share in zip("xyz", axes._axis_map.values(), thin, aspect, strict=True):
        axis.set_pane_color((0.97, 0.97, 0.97, 1.0))
        axis._axinfo["grid"].update(color=GRID, linewidth=0.5)
        axis.labelpad = 7.0
        if flat:
            axis.set_ticks([])
        else:
            axis.set_label_text(f"{name} ({unit})")
            axis.get_major_locator().set_params(nbins=1 + round(5 * share))
    _fill(figure, axes, tuple(aspect))
    return Canvas(figure, axes, True, float(extent.max()) / (80.0 * larger), unit)


def box_at(figure: Figure, left: float, bottom: float, wide: float, tall: float) -> Any:
    """Axes in space, seen in parallel projection, of this size at this place of a figure, mm."""
    axes: Any = axes_at(figure, left, bottom, wide, tall, projection="3d", proj_type="ortho")
    axes.zaxis.label.set(fontsize=SMALL_TEXT, family=FONT)
    return axes


def _fill(figure: Figure, axes: Any, aspect: tuple[float, ...]) -> None:
    """Make the box with its ticks and labels as wide or tall as its place, and cut what is empty above it."""
    from matplotlib.transforms import Bbox

    def drawn(zoom: float) -> Bbox:
        """Pixels of panes, ticks and labels; not of the empty square around them."""
        axes.set_box_aspect(aspect, zoom=zoom)
        figure.draw_without_rendering()
        renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
        parts = [(axis.pane.get_window_extent(), axis.get_tightbbox(renderer)) for axis in three]
        return Bbox.union([box for part in parts for box in part if box is not None])

    three, per_mm = list(axes._axis_map.values()), figure.dpi / MM_PER_INCH
    width, height = figure.bbox.width, figure.bbox.height - _TOP * per_mm
    zoom = 1.0
    for _ in range(2):
        zoom *= float(((np.array([width, height]) - _SPARE * per_mm) / drawn(zoom).size).min())
    box = drawn(zoom)
    taller = box.height + (_SPARE + _TOP) * per_mm
    figure.set_size_inches(width / figure.dpi, taller / figure.dpi)
    left, bottom = width / 2 - (box.x0 + box.x1) / 2, _SPARE / 2 * per_mm - box.y0
    axes.set_position((left / width, bottom / taller, 1.0, height / taller))


def panels_over_time(
    titles: Sequence[Sequence[str]], time: Floats, wide: float, tall: float
) -> tuple[Figure, list[list[Axes]]]:
    """A figure with a column of panels of this size, mm, for each list of titles; the time is below them."""
    # 16 mm are left of all panels, 11 below, 19 between columns, 4 between rows.
    rows, count = len(titles[0]), len(titles)
    across, up = wide + 19.0, tall + 4.0
    figure = figure_of(count * across + 3.0, rows * up + 16.0)
    panels: list[list[Axes]] = [[] for _ in titles]
    for c, row in product(range(count), range(rows)):
        axes = axes_at(figure, 16.0 + c * across, 11.0 + (rows - 1 - row) * up, wide, tall)
        axes.grid(color=GRID, lw=0.5)
        axes.set(xlim=(time[0], time[-1] if len(time) > 1 else time[0] + 1.0), ylabel=titles[c][row])
        axes.tick_params(labelbottom=row == rows - 1)
        axes.locator_params(nbins=6)
        axes.yaxis.get_offset_text().set_fontsize(SMALL_TEXT)
        panels[c].append(axes)
    for column in panels:
        column[-1].set_xlabel("time (s)")
    return figure, panels
