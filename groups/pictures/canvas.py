"""Figures: axes of equal scale for mechanisms, panels over time, keys; in mm and points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mbssa.arrays import Floats
from mbssa.pictures.limits import require_matplotlib
from mbssa.pictures.style import FONT, MM_PER_INCH, OVER_EDGE, SMALL_TEXT, axes_at, figure_of
from mbssa.units import LENGTHS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from groups.pictures.scene import Scene

#: Colours of curves in turn, Okabe and Ito's without the yellow, which white paper swallows.
BODY_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#7A6BB0", "#8C6D4F")
STYLES = ("solid", "dashed", "dashdot")  # of the lines that have the same colours
FRAME_COLOUR, DRIVEN, GRID, FAILED = "#7A7A7A", OVER_EDGE, "#E4E4E4", "#FBE0CD"

#: Width and greatest height of a page, least height of axes in the plane, mm.
WIDTH, _TALLEST, _LEAST = 120.0, 130.0, 42.0

#: Widths of lines and the size of a joint, points.
EDGE, FINE, MARK = 1.5, 0.8, 5.2

#: Look of the path of a point, behind the bodies.
PATH: dict[str, Any] = {"colour": "#444444", "lw": FINE, "zorder": 1.4}

#: mm beside, below and above axes, and around what they show; around a box in space, and its height before it
#: is cut; names that find room on a page of the usual size.
_LEFT, _RIGHT, _BOTTOM, _TOP, _MARGIN, _SPARE, _BOX, _EASY_NAMES = 17.0, 4.0, 12.0, 9.0, 9.0, 5.0, 106.0, 9

#: Kind of axes in space: seen in parallel projection.
IN_SPACE: dict[str, Any] = {"projection": "3d", "proj_type": "ortho"}


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

    def line(self, points: Floats, colour: str, lw: float, *, hatched: bool = False, **look: Any) -> Any:
        """A line with round ends through points (n, 3); ``hatched`` on its right if it stands still."""
        round_ends = ("dash_capstyle", "solid_capstyle", "solid_joinstyle")
        look = dict.fromkeys(round_ends, "round") | {"zorder": 2.0} | look
        if hatched:
            from matplotlib.patheffects import withTickedStroke

            look["path_effects"] = [withTickedStroke(spacing=3.6, angle=-135, length=1.25, linewidth=FINE)]
        (line,) = self.axes.plot(*self.on_axes(points), c=colour, lw=lw, **look)
        return line

    def dot(self, at: Floats, **look: Any) -> None:
        """A marker at a world point (3,), with Matplotlib's keywords for its look."""
        self.axes.plot(*self.on_axes(at[None]), ls="", **look)

    def polygon(self, points: Floats, **look: Any) -> None:
        """A polygon with corners (n, 3), in the plane (n, 2) too, with Matplotlib's keywords for its look."""
        if self.solid:
            from mpl_toolkits.mplot3d.art3d import Poly3DCollection

            self.axes.add_collection3d(Poly3DCollection([self.on_axes(points).T], **look))
        else:
            self.axes.fill(*self.on_axes(points), **look)


def canvas_for(scene: Scene, points: Floats | None = None, *, names: int = 0) -> Canvas:
    """Empty axes for the whole motion, or for points (n, 3) alone; ``names`` make the page larger."""
    require_matplotlib()
    low, high = scene.box
    if points is not None and np.isfinite(points).all(axis=1).any():
        low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
        if not (high > low).any():
            low, high = low - scene.size / 20, high + scene.size / 20
    larger = float(np.clip(np.sqrt(names / _EASY_NAMES), 1.0, 2.0))
    unit = scene.mechanism.units[0]
    if not scene.planar:
        return _solid(low, high, unit, larger)
    middle, extent = (low + high)[:2] / 2, (high - low)[:2]
    room = np.array([larger * WIDTH - _LEFT - _RIGHT, larger * _TALLEST - _BOTTOM - _TOP])
    scale = float((extent / (room - 2 * _MARGIN)).max()) or 1.0
    size = np.array([room[0], max(extent[1] / scale + 2 * _MARGIN, _LEAST)])
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
    aspect = tuple(extent / extent.max())
    width, height = larger * WIDTH, larger * _BOX
    figure = figure_of(width, height)
    axes: Any = axes_at(figure, 0.0, 0.0, width, height - _TOP, **IN_SPACE)
    axes.zaxis.label.set(fontsize=SMALL_TEXT, family=FONT)
    axes.view_init(elev=62 if thin[2] else 20, azim=-80 if thin[2] else -60)
    x, y, z = ((low + high) / 2 + np.outer([-0.5, 0.5], extent)).T / LENGTHS[unit]
    axes.set(xlim=x, ylim=y, zlim=z)
    three = axes._axis_map
    for flat, share, (name, axis) in zip(thin, aspect, three.items(), strict=True):
        axis.set_pane_color((0.97, 0.97, 0.97, 1.0))
        axis._axinfo["grid"].update(color=GRID, linewidth=0.5)
        axis.labelpad = 7.0
        if flat:
            axis.set_ticks([])
        else:
            axis.set_label_text(f"{name} ({unit})")
            axis.get_major_locator().set_params(nbins=1 + round(5 * share))
    # The box with its ticks and labels is as wide or tall as its place, and what is empty above it is cut.
    from matplotlib.transforms import Bbox

    per_mm, zoom, room = figure.dpi / MM_PER_INCH, 1.0, np.array([width, height - _TOP]) - _SPARE
    for last in (False, False, True):
        axes.set_box_aspect(aspect, zoom=zoom)
        figure.draw_without_rendering()
        renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
        parts = [(a.pane.get_window_extent(), a.get_tightbbox(renderer)) for a in three.values()]
        box = Bbox.union([part for pair in parts for part in pair if part is not None])
        zoom *= 1.0 if last else float((room * per_mm / box.size).min())
    taller = box.height / per_mm + _SPARE + _TOP
    figure.set_size_inches(width / MM_PER_INCH, taller / MM_PER_INCH)
    left, bottom = width / 2 - (box.x0 + box.x1) / 2 / per_mm, _SPARE / 2 - box.y0 / per_mm
    axes.set_position((left / width, bottom / taller, 1.0, (height - _TOP) / taller))
    return Canvas(figure, axes, True, float(extent.max()) / (80.0 * larger), unit)


def panels_over_time(
    titles: Sequence[Sequence[str]], time: Floats, wide: float, tall: float
) -> tuple[Figure, list[list[Axes]]]:
    """A figure with a column of panels of this size, mm, for each list of titles; the time is below them."""
    require_matplotlib()
    # 16 mm are left of all panels, 11 below, 19 between columns, 4 between rows.
    rows, across, up = len(titles[0]), wide + 19.0, tall + 4.0
    figure = figure_of(len(titles) * across + 3.0, rows * up + 16.0)
    panels: list[list[Axes]] = []
    for c, column in enumerate(titles):
        panels.append([])
        for row, title in enumerate(column):
            axes = axes_at(figure, 16.0 + c * across, 11.0 + (rows - 1 - row) * up, wide, tall)
            axes.grid(color=GRID, lw=0.5)
            end = time[-1] if len(time) > 1 else time[0] + 1.0
            axes.set(xlim=(time[0], end), ylabel=title, xlabel="time (s)" if row == rows - 1 else "")
            axes.tick_params(labelbottom=row == rows - 1)
            axes.locator_params(nbins=6)
            axes.yaxis.get_offset_text().set_fontsize(SMALL_TEXT)
            panels[c].append(axes)
    return figure, panels


def add_key(figure: Figure, handles: list[Any], *, lines: bool = True) -> None:
    """Put a key of up to five columns below the figure; the page grows. ``lines`` need room for samples."""
    if not handles:
        return
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
