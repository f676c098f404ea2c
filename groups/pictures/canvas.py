"""Figures for mechanisms: equal scales, millimetres under control, in the plane or in space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.pictures.scene import Scene
from groups.pictures.style import GRID, LEAST, TALLEST, WIDTH
from mbssa.arrays import Floats
from mbssa.pictures.style import FONT, INK, MM_PER_INCH, SMALL_TEXT, TEXT
from mbssa.units import LENGTHS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    from mbssa import Mechanism


_LEFT, _RIGHT, _BOTTOM, _TOP = 17.0, 4.0, 12.0, 9.0

#: Names that find room on a page of the usual size.
_EASY_NAMES = 9

#: Inches kept free around a box in space.
_SPARE = 0.1


@dataclass(frozen=True, eq=False)
class Canvas:
    """Figure with one pair (or three) of axes of equal scale."""

    figure: Figure
    axes: Any  # Matplotlib's, three-dimensional if ``solid``
    solid: bool
    scale: float  # metres of the mechanism for a millimetre of paper

    def paper(self, points: Floats) -> Floats:
        """Places (..., 2) of world points (..., 3), m, on the paper, mm."""
        flat = points.reshape(-1, 3)
        if self.solid:
            from mpl_toolkits.mplot3d import proj3d

            x, y, _ = proj3d.proj_transform(*flat.T, self.axes.get_proj())
            flat = np.stack([np.asarray(x), np.asarray(y)], axis=1)
        pixels = self.axes.transData.transform(flat[:, :2])
        on_paper: Floats = pixels * MM_PER_INCH / self.figure.dpi
        return on_paper.reshape(*points.shape[:-1], 2)

    def line(
        self, points: Floats, colour: str, width: float, *, style: Any = "solid", zorder: float = 2.0
    ) -> Any:
        """A line with round ends through world points (n, 3)."""
        (line,) = self.axes.plot(
            *points.T[: 3 if self.solid else 2],
            color=colour,
            lw=width,
            ls=style,
            dash_capstyle="round",
            solid_capstyle="round",
            solid_joinstyle="round",
            zorder=zorder,
        )
        return line

    def dot(self, at: Floats, **look: Any) -> Any:
        """A marker at a world point (3,), with Matplotlib's keywords for its look."""
        (dot,) = self.axes.plot(*at[: 3 if self.solid else 2, None], ls="", **look)
        return dot

    def face(self, points: Floats, colour: str) -> Any:
        """A translucent polygon with corners (n, 3)."""
        if self.solid:
            from mpl_toolkits.mplot3d.art3d import Poly3DCollection

            polygon = Poly3DCollection([points], facecolor=colour, alpha=0.22, lw=0)
            return self.axes.add_collection3d(polygon)
        return self.polygon(points, facecolor=colour, alpha=0.22, lw=0, zorder=1.8)

    def polygon(self, points: Floats, **look: Any) -> Any:
        """A polygon in the plane with corners (n, 2) or (n, 3), with Matplotlib's keywords for its look."""
        (patch,) = self.axes.fill(*points.T[:2], **look)
        return patch

    def title(self, text: str) -> None:
        """The line over the picture; it replaces the one before."""
        for old in self.figure.texts:
            if old.get_gid() == "title":
                old.remove()
        height = float(self.figure.get_figheight()) * MM_PER_INCH
        self.figure.text(
            0.5,
            1 - 4.5 / height,
            text.replace("$", r"\$"),
            ha="center",
            va="center",
            fontsize=TEXT,
            family=FONT,
            gid="title",
        )


def canvas_for(scene: Scene, points: Floats | None = None, *, names: int = 0) -> Canvas:
    """Empty axes in m for the whole motion, or for points (n, 3) alone; ``names`` make the page larger."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(facecolor="white", dpi=150)
    FigureCanvasAgg(figure)
    low, high = scene.low, scene.high
    if points is not None and np.isfinite(points).all(axis=1).any():
        low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
        if not (high > low).any():
            low, high = low - scene.size / 20, high + scene.size / 20
    made = _flat if scene.planar else _solid
    larger = float(np.clip(np.sqrt(names / _EASY_NAMES), 1.0, 2.0))
    return made(figure, low, high, scene.mechanism.units[0], larger)


def _flat(figure: Figure, low: Floats, high: Floats, unit: str, larger: float) -> Canvas:
    extent = (high - low)[:2]
    room = np.array([larger * WIDTH - _LEFT - _RIGHT, larger * TALLEST - _BOTTOM - _TOP])
    margin = 9.0
    scale = float((extent / (room - 2 * margin)).max()) or 1.0
    size = np.maximum(extent / scale + 2 * margin, LEAST)
    size[0] = room[0]
    width, height = _LEFT + size[0] + _RIGHT, _BOTTOM + size[1] + _TOP
    figure.set_size_inches(width / MM_PER_INCH, height / MM_PER_INCH)
    axes = figure.add_axes((_LEFT / width, _BOTTOM / height, size[0] / width, size[1] / height))
    middle = (low + high)[:2] / 2
    half = size * scale / 2
    axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
    axes.set_ylim(middle[1] - half[1], middle[1] + half[1])
    axes.set_xlabel(f"x ({unit})", fontsize=SMALL_TEXT, family=FONT)
    axes.set_ylabel(f"y ({unit})", fontsize=SMALL_TEXT, family=FONT)
    axes.grid(color=GRID, linewidth=0.5)
    axes.set_axisbelow(True)
    plain(axes)
    _show_in(axes, unit)
    return Canvas(figure, axes, False, scale)


def _solid(figure: Figure, low: Floats, high: Floats, unit: str, larger: float) -> Canvas:
    from mpl_toolkits.mplot3d import Axes3D

    extent = high - low
    longest = float(extent.max()) or 1.0
    thin = extent < 0.05 * longest
    extent = np.maximum(extent + 0.12 * longest, 0.15 * longest)
    middle = (low + high) / 2
    height = 106.0 * larger
    figure.set_size_inches(larger * WIDTH / MM_PER_INCH, height / MM_PER_INCH)
    axes = Axes3D(figure, rect=(0.0, 0.0, 1.0, 1.0 - _TOP / height), proj_type="ortho")
    figure.add_axes(axes)
    limits = np.stack([middle - extent / 2, middle + extent / 2], axis=1)
    axes.set(xlim=limits[0], ylim=limits[1], zlim=limits[2])
    axes.view_init(elev=62 if thin[2] else 20, azim=-80 if thin[2] else -60)
    for i, axis in enumerate((axes.xaxis, axes.yaxis, axes.zaxis)):
        axis.set_pane_color((0.97, 0.97, 0.97, 1.0))
        axis._axinfo["grid"].update(color=GRID, linewidth=0.5)
        if not thin[i]:
            axis.set_label_text(f"{'xyz'[i]} ({unit})", fontsize=SMALL_TEXT, family=FONT)
            axis.labelpad = 7.0
    plain(axes)
    _show_in(axes, unit)
    for i, axis in enumerate((axes.xaxis, axes.yaxis, axes.zaxis)):
        axis.set_tick_params(labelsize=SMALL_TEXT)
        axis.set_major_locator(_round_in(unit, 1 + round(5 * extent[i] / extent.max())))
        if thin[i]:
            axis.set_ticks([])
    _fill(figure, axes, extent / extent.max())
    return Canvas(figure, axes, True, float(extent.max()) / (80.0 * larger))


def _show_in(axes: Any, unit: str) -> None:
    """Give axes in metres ticks that are round in a unit, and labelled in it."""
    for axis in axes._axis_map.values():
        if unit != "m":
            axis.set_major_formatter(lambda value, _: f"{round(value / LENGTHS[unit], 6) + 0.0:g}")
        axis.set_major_locator(_round_in(unit, 6))


def _round_in(unit: str, most: int) -> MaxNLocator:
    """Places, in metres, of a few ticks that are round in a unit."""
    from matplotlib.ticker import MaxNLocator

    class Places(MaxNLocator):
        def tick_values(self, vmin: float, vmax: float) -> Any:
            metres = LENGTHS[unit]
            return np.asarray(super().tick_values(vmin / metres, vmax / metres)) * metres

    return Places(most)


def _fill(figure: Figure, axes: Any, aspect: Floats) -> None:
    """Make the box with its ticks and labels as large as the place for it, and put it in the middle."""
    place = axes.get_position()
    width, height = figure.get_size_inches() * figure.dpi
    room = np.array([place.width * width, place.height * height]) - _SPARE * figure.dpi
    zoom = 1.0
    for _ in range(2):
        axes.set_box_aspect(tuple(aspect), zoom=zoom)
        box = _drawn_box(figure, axes)
        zoom *= float((room / [box.width, box.height]).min())
    axes.set_box_aspect(tuple(aspect), zoom=zoom)
    box = _drawn_box(figure, axes)
    # Whatever the box does not need above and below is cut off.
    taller = box.height + _SPARE * figure.dpi + _TOP * figure.dpi / MM_PER_INCH
    figure.set_size_inches(width / figure.dpi, taller / figure.dpi)
    bottom = place.y0 * height + _SPARE / 2 * figure.dpi - box.y0
    middle = place.x0 * width + width / 2 - (box.x0 + box.x1) / 2
    axes.set_position((middle / width, bottom / taller, place.width, place.height * height / taller))


def _drawn_box(figure: Figure, axes: Any) -> Any:
    """Pixels that the three axes cover with ticks, labels and panes; not the empty square around them."""
    from itertools import product

    from matplotlib.transforms import Bbox
    from mpl_toolkits.mplot3d import proj3d

    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    corners = np.array(list(product(axes.get_xlim(), axes.get_ylim(), axes.get_zlim())))
    x, y, _ = proj3d.proj_transform(*corners.T, axes.get_proj())
    panes = axes.transData.transform(np.column_stack([x, y]))
    boxes = [axis.get_tightbbox(renderer) for axis in (axes.xaxis, axes.yaxis, axes.zaxis)]
    return Bbox.union([Bbox([panes.min(axis=0), panes.max(axis=0)]), *filter(None, boxes)])


def plain(axes: Axes) -> None:
    """Style of the ticks and borders of diagrams; six intervals at most on an axis."""
    from matplotlib.ticker import MaxNLocator

    axes.tick_params(labelsize=SMALL_TEXT, width=0.5, length=2.0, labelfontfamily=FONT, color=INK)
    for spine in axes.spines.values():
        spine.set_linewidth(0.5)
    for axis in axes._axis_map.values():
        axis.set_major_locator(MaxNLocator(6))


def diagram(figure: Figure, place: tuple[float, float, float, float], ylabel: str) -> Axes:
    """Axes over time with a grid; the place is left, bottom, width and height as shares of the figure."""
    axes = figure.add_axes(place)
    axes.grid(color=GRID, lw=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=SMALL_TEXT, width=0.5, length=2.0, labelfontfamily=FONT)
    axes.set_xlabel("time (s)", fontsize=SMALL_TEXT, family=FONT)
    axes.set_ylabel(ylabel, fontsize=SMALL_TEXT, family=FONT)
    for spine in axes.spines.values():
        spine.set(linewidth=0.5, color=INK)
    return axes


def name_over(figure: Figure, mechanism: Mechanism) -> None:
    """The name of a mechanism over its diagrams."""
    height, name = float(figure.get_figheight()) * MM_PER_INCH, mechanism.name or "mechanism"
    figure.text(0.5, 1 - 4.2 / height, name.replace("$", r"\$"), ha="center", fontsize=TEXT, family=FONT)
