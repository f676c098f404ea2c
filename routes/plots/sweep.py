"""Pictures of a sweep: curves over one column, a map over two, views over three; deviations of designs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from groups.pictures.canvas import BODY_COLOURS, EDGE, GRID, WIDTH, add_key
from mbssa.arrays import Bools, Floats, Ints
from mbssa.pictures.files import save
from mbssa.pictures.limits import refuse_beyond, require_matplotlib
from mbssa.pictures.style import FONT, INK, SMALL_TEXT, axes_at, entitle, figure_of
from mbssa.units import SI, given_in
from routes.sweep.block import ABOUT
from routes.sweep.envelope import Envelope

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from routes.sweep import Sweep


#: Cells along one side of a map, at most; cases in a cell, on average, at least.
_MOST_CELLS, _IN_CELL = 110, 12
#: Values of a grid up to which each has a row of cells of its own.
_GRID = 400

#: Lines in one panel, panels of curves, and families of curves, beyond which cases are dots.
_MOST_LINES, _MOST_PANELS, _MOST_FAMILIES = 8, 6, 6

_STYLES = ("solid", "dashed", "dashdot", "dotted", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)))

#: mm between panels that have scales of their own; deviations of such a share are rounding.
_APART, _NOISE = 15.0, 1e-12

#: mm: beside, below and above panels, between two of them; height of a panel of curves; the colour bar.
_LEFT, _RIGHT, _BOTTOM, _TOP, _GAP, _TALL, _BAR = 15.0, 4.0, 11.0, 9.0, 13.0, 38.0, 3.5

#: Side of a view at least, so that its label finds room, mm.
_NARROW = 32.0

_TRIED = "#ECECEC"

#: Quantities that colour a map, the first available one, and their labels.
_COLOURS = {
    "margin": "largest margin to a limit:\n0 on it, 1 in the middle",
    "condition": "best condition",
    "residual": "smallest residual",
}


def axes_of(
    columns: Sequence[str], parameters: Sequence[str], names: Sequence[str] | None = None
) -> tuple[str, ...]:
    """Columns, one to three, that a picture is drawn over: a recorded point's, else the parameters."""
    if names is not None:
        missing = [name for name in names if name not in columns]
        if missing:
            raise ValueError(f"axes: no column {', '.join(missing)}; there are {', '.join(columns)}")
        if not 1 <= len(names) <= 3:
            raise ValueError(
                f"axes: {len(names)} columns; name one for curves, two for a map, three for views"
            )
        return tuple(names)
    for name in columns:
        point = name.removesuffix(".x")
        found = [f"{point}.{axis}" for axis in "xyz" if f"{point}.{axis}" in columns]
        if name.endswith(".x") and name not in parameters and len(found) > 1:
            return tuple(found)
    found = [name for name in parameters if not name.startswith("mode ")]
    if not found:
        raise ValueError("axes: nothing but modes changes; name a column")
    return tuple(found[:3])


def curves_of(columns: Sequence[str], parameters: Sequence[str], over: str) -> list[str]:
    """Recorded columns that are drawn as curves over one column, without that and the parameters."""
    drawn = [name for name in columns if name not in (*ABOUT, *parameters, over)]
    # Figures of merit are no curves, where there are other columns.
    drawn = [name for name in drawn if name not in _COLOURS] or drawn
    if not drawn:
        raise ValueError(
            f"nothing was recorded that could be drawn over {over}; record other columns than the parameters"
        )
    return drawn


def shows_deviations(kind: str, moving: bool, axes: Sequence[str] | None) -> bool:
    """Whether a picture is of deviations: a sample of designs over a motion, no axes named."""
    return axes is None and moving and kind == "sample"


@dataclass(frozen=True)
class _InUnits:
    """A sweep whose numbers are in other units of length and angle."""

    sweep: Sweep
    of: tuple[str, str]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.sweep, name)

    def __getitem__(self, name: str) -> Any:
        scale = given_in(self.sweep.unit(name), self.of)[1]
        return self.sweep[name] if scale == 1.0 else self.sweep[name] / scale

    def unit(self, name: str) -> str:
        return given_in(self.sweep.unit(name), self.of)[0]

    @property
    def envelopes(self) -> tuple[Floats, dict[str, Envelope]]:
        time, envelopes = self.sweep.envelopes
        scales = {name: given_in(self.sweep.unit(f"{name}.min"), self.of)[1] for name in envelopes}
        return time, {name: one.over(scales[name]) for name, one in envelopes.items()}


def sweep_picture(found: Sweep, axes: Sequence[str] | None = None, *, units: tuple[str, str] = SI) -> Figure:
    """Curves of recorded columns over one column, a map over two, or three views over three.

    Of a sample of designs over a motion, without ``axes``, it is a histogram of how far the least, the
    greatest and the last value of each quantity deviate from their mean.

    A cell of a map or a view has the colour of the best case in it that was solved within all limits: of its
    margin, if there are limits, else of its condition. Grey cells hold cases, none of them good.

    Parameters
    ----------
    axes : names of columns; by default a recorded point's, else the first parameters
    units : of length and angle on the axes

    Raises
    ------
    ValueError
        Columns that there are not; nothing that was recorded; too many curves.
    ModuleNotFoundError
        Matplotlib is missing; the message says how to install it.

    Examples
    --------
    >>> import mbssa, tempfile
    >>> from routes.plots.sweep import sweep_picture
    >>> from routes.sweep import grid, sweep
    >>> bar, turn = mbssa.load("planar_four_bar"), grid({"1-2.angle": np.linspace(0.0, 6.0, 61)})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = sweep(bar, turn, record=["1-4.angle"], store=folder, executor="sequential")
    ...     sweep_picture(found).axes[0].get_xlabel()
    '1-2.angle (rad)'
    """
    require_matplotlib()
    found = cast("Sweep", _InUnits(found, units))
    if shows_deviations(found.manifest["cases"]["kind"], found.manifest["motion"] is not None, axes):
        return _deviations(found)
    names = axes_of(found.column_names, found.parameters, axes)
    return _curves(found, names[0]) if len(names) == 1 else _views(found, names)


def draw_sweep(
    found: Sweep,
    path: str | os.PathLike[str],
    *,
    axes: Sequence[str] | None = None,
    units: tuple[str, str] = SI,
) -> None:
    """Write :func:`sweep_picture` to a .svg, .png or .pdf file, which is either whole or not there.

    Raises as :func:`sweep_picture`; ``ValueError`` for another ending too, and ``OSError``.

    Examples
    --------
    >>> import mbssa, pathlib, tempfile
    >>> from routes.plots.sweep import draw_sweep
    >>> from routes.sweep import grid, sweep
    >>> bar, turn = mbssa.load("planar_four_bar"), grid({"1-2.angle": np.linspace(0.0, 6.0, 61)})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = sweep(bar, turn, record=["coupler.tracer"], store=f"{folder}/bar", executor="sequential")
    ...     draw_sweep(found, f"{folder}/tracer.svg")
    ...     pathlib.Path(folder, "tracer.svg").exists()
    True
    """
    save(sweep_picture(found, axes, units=units), path)


# --- curves ----------------------------------------------------------------------------------------


def _curves(found: Sweep, over: str) -> Figure:
    free = [name for name in found.parameters if name != over]
    drawn = curves_of(found.column_names, found.parameters, over)
    by_unit: dict[str, list[str]] = {}
    for name in drawn:
        by_unit.setdefault(found.unit(name), []).append(name)
    panels = [
        (unit, names[k : k + _MOST_LINES])
        for unit, names in by_unit.items()
        for k in range(0, len(names), _MOST_LINES)
    ]
    refuse_beyond(_MOST_PANELS, len(panels), "panels", "one picture", "record fewer quantities")
    columns = {name: found[name] for name in (over, *free, *drawn)}
    along = over in found.parameters
    if not along and free:  # curves run along the parameter with the most values
        free.remove(max(free, key=lambda name: len(np.unique(columns[name]))))
    families = _families(columns, free)
    dots = len(families) > _MOST_FAMILIES
    if dots:
        families = [("", np.arange(found.done))]
    figure, axes = _panels(len(panels))
    handles: list[Any] = []
    colour = 0
    for (unit, names), panel in zip(panels, axes, strict=True):
        for name in names:
            for k, (_, which) in enumerate(families):
                # A recorded column need not ascend: its cases stay in order.
                order = which[np.argsort(columns[over][which], kind="stable")] if along else which
                properties: dict[str, Any] = {"color": BODY_COLOURS[colour % len(BODY_COLOURS)]}
                properties |= {"ls": "", "marker": ".", "ms": 2.0} if dots else {"lw": EDGE, "ls": _STYLES[k]}
                (line,) = panel.plot(columns[over][order], columns[name][order], **properties)
                if k == 0:
                    line.set_label(name)
                    handles.append(line)
            colour += 1
        panel.set_ylabel(f"({unit})" if unit else "")
    axes[-1].set_xlabel(_labelled(found, over))
    if len(families) > 1:
        from matplotlib.lines import Line2D

        handles += [
            Line2D([], [], color=INK, lw=EDGE, ls=_STYLES[k], label=label)
            for k, (label, _) in enumerate(families)
        ]
    add_key(figure, handles)
    _entitle(figure, found)
    return figure


def _deviations(found: Sweep) -> Figure:
    by_quantity: dict[str, list[str]] = {}
    for name in curves_of(found.column_names, found.parameters, ""):
        by_quantity.setdefault(name.rpartition(".")[0], []).append(name)
    time, envelopes = found.envelopes
    over_time = [name for name in by_quantity if name in envelopes and _varies(envelopes[name])]
    count = len(by_quantity) + len(over_time)
    refuse_beyond(_MOST_PANELS, len(by_quantity), "quantities", "one picture", "record fewer")
    figure, panels = _panels(count, apart=_APART)
    place = iter(panels)
    for quantity, names in by_quantity.items():
        _histograms(next(place), found, quantity, names)
        if quantity in over_time:
            _band(next(place), time, envelopes[quantity], found.unit(names[0]))
    _entitle(figure, found)
    return figure


def _histograms(panel: Axes, found: Sweep, quantity: str, names: Sequence[str]) -> None:
    """Deviations of the least, greatest and last value from their means."""
    unit = found.unit(names[0])
    columns = [np.asarray(found[name], dtype=np.float64) for name in names]
    columns = [column[np.isfinite(column)] for column in columns]
    reach = max((np.ptp(column) for column in columns if len(column)), default=0.0) or 1.0
    bins = np.linspace(-reach, reach, 2 * int(np.clip(np.sqrt(found.done), 10, 60)) + 2)
    furthest = 0.0
    for k, (name, column) in enumerate(zip(names, columns, strict=True)):
        end = name.rpartition(".")[2]
        if not len(column) or np.ptp(column) < _NOISE * max(1.0, reach, np.abs(column).max()):
            same = (
                f"{end}: {np.round(column.mean(), 12) + 0.0:.6g} {unit} in all cases" if len(column) else end
            )
            panel.plot([], [], " ", label=same)
            continue
        gap = column - column.mean()
        furthest = max(furthest, float(np.abs(gap).max()))
        label = f"{end}: mean {column.mean():.6g} {unit}, σ {gap.std():.2g} {unit}"
        properties: dict[str, Any] = {"color": BODY_COLOURS[k], "lw": EDGE, "ls": _STYLES[k], "label": label}
        panel.hist(gap, bins=bins.tolist(), histtype="step", **properties)
    panel.set_xlim(-1.1 * (furthest or reach), 1.1 * (furthest or reach))
    panel.set_ylim(0.0, 1.7 * panel.get_ylim()[1])  # room for the key
    panel.set_title(quantity.replace("$", r"\$"), fontsize=SMALL_TEXT, family=FONT, loc="left", pad=2.0)
    panel.set_xlabel(
        "deviation from the mean" + (f" ({unit})" if unit else ""), fontsize=SMALL_TEXT, family=FONT
    )
    panel.set_ylabel("cases")
    panel.tick_params(labelbottom=True)
    panel.legend(prop={"family": FONT, "size": SMALL_TEXT}, frameon=False, loc="upper left")


def _varies(envelope: Envelope) -> bool:
    """Whether there is a band over time that is no rounding."""
    solved = envelope.number > 0
    width = np.ptp([envelope.low[solved], envelope.high[solved]], axis=0).max(initial=0.0)
    return bool(solved.sum() > 1 and width > _NOISE * max(1.0, np.abs(envelope.mean).max()))


def _band(panel: Axes, time: Floats, envelope: Envelope, unit: str) -> None:
    """The envelope over time, about the mean of the designs at each instant."""
    low, high, spread = envelope.low - envelope.mean, envelope.high - envelope.mean, envelope.deviation
    panel.fill_between(time, low, high, color=BODY_COLOURS[0], alpha=0.18, lw=0.0, label="all cases")
    panel.fill_between(time, -spread, spread, color=BODY_COLOURS[0], alpha=0.35, lw=0.0, label="± σ")
    panel.set_xlim(time[0], time[-1])
    panel.set_xlabel("time (s)")
    panel.set_ylabel(f"deviation ({unit})" if unit else "deviation")
    panel.tick_params(labelbottom=True)
    panel.legend(prop={"family": FONT, "size": SMALL_TEXT}, frameon=False, loc="upper left", ncols=2)


def _families(columns: dict[str, Any], others: Sequence[str]) -> list[tuple[str, Ints]]:
    """Cases that have the values of all other parameters in common, in the order of the cases."""
    if not others:
        return [("", np.arange(len(next(iter(columns.values())))))]
    values = np.stack([columns[name] for name in others], axis=1)
    unique, inverse = np.unique(values, axis=0, return_inverse=True)
    return [
        (
            ", ".join(f"{name} = {value:.4g}" for name, value in zip(others, row, strict=True)),
            np.flatnonzero(inverse.ravel() == k),
        )
        for k, row in enumerate(unique)
    ]


def _panels(count: int, apart: float = 4.0) -> tuple[Figure, list[Axes]]:
    height = _BOTTOM + _TOP + count * _TALL + (count - 1) * apart
    figure = figure_of(WIDTH, height)
    made = []
    for k in range(count):
        bottom = height - _TOP - (k + 1) * _TALL - k * apart
        axes = _at(figure, _LEFT, bottom, WIDTH - _LEFT - _RIGHT, _TALL)
        axes.grid(color=GRID, lw=0.4)
        if k < count - 1:
            axes.tick_params(labelbottom=False)
        made.append(axes)
    return figure, made


# --- maps and views --------------------------------------------------------------------------------


def _views(found: Sweep, names: Sequence[str]) -> Figure:
    columns = [np.asarray(found[name], dtype=np.float64) for name in names]
    good = np.asarray(found["within"] if found.within is not None else found["status"] == "ok", dtype=bool)
    placed = np.isfinite(columns).all(axis=0)
    good &= placed
    colour = next((name for name in _COLOURS if name in found.column_names), None)
    value = np.asarray(found[colour], dtype=np.float64) if colour is not None else np.ones(found.done)
    if colour == "residual":
        value = -value
    shown = np.asarray(good if good.any() else placed, dtype=bool)
    if not shown.any():
        raise ValueError("no case has a place in this picture: none was solved")
    edges = [_edges(column, shown) for column in columns]
    pairs = [(0, 1)] if len(names) == 2 else [(0, 2), (1, 2), (0, 1)]
    figure, places, bar = _layout(edges, pairs, alike=len({found.unit(name) for name in names}) == 1)
    maps = [_cells([columns[i] for i in pair], [edges[i] for i in pair], good, value) for pair in pairs]
    best = np.concatenate([cells[np.isfinite(cells)] for cells, _ in maps])
    low, high = (float(best.min()), float(best.max())) if len(best) else (0.0, 1.0)
    from matplotlib.colors import ListedColormap
    from matplotlib.ticker import MaxNLocator

    mesh = None
    for (i, j), (cells, tried), axes in zip(pairs, maps, places, strict=True):
        axes.pcolormesh(edges[i], edges[j], tried.T, cmap=ListedColormap([_TRIED]), rasterized=True)
        span: dict[str, Any] = {"cmap": "viridis", "vmin": min(low, high - 1e-12), "vmax": high}
        mesh = axes.pcolormesh(edges[i], edges[j], cells.T, rasterized=True, **span)
        axes.set_xlabel(_labelled(found, names[i]))
        axes.set_ylabel(_labelled(found, names[j]))
    if colour is None or mesh is None or high - low < 1e-12:
        bar.set_visible(False)
    else:
        scale = figure.colorbar(mesh, cax=bar, orientation="horizontal")
        scale.outline.set_linewidth(0.5)
        scale.locator = MaxNLocator(int(np.clip(bar.get_position().width * WIDTH / 14.0, 2, 6)))
        bar.tick_params(labelsize=SMALL_TEXT, width=0.5, length=2.0, labelfontfamily=FONT)
        title = _COLOURS[colour] if len(pairs) > 1 else _COLOURS[colour].replace("\n", " ")
        bar.set_xlabel(title)
    _entitle(figure, found)
    return figure


def _edges(column: Floats, shown: Bools) -> Floats:
    """Edges of cells along an axis: about the values of a grid, else even ones, as many as the cases fill."""
    values = np.unique(column[shown])
    low, high = float(values[0]), float(values[-1])
    if 1 < len(values) <= _GRID and 2 * len(values) <= shown.sum():
        middles = (values[1:] + values[:-1]) / 2
        first, last = (values[1] - values[0]) / 2, (values[-1] - values[-2]) / 2
        return np.concatenate([[low - first], middles, [high + last]])
    cells = int(np.clip(np.sqrt(shown.sum() / _IN_CELL), 8, _MOST_CELLS))
    room = 0.03 * (high - low) or max(1e-3, 1e-3 * abs(low))
    return np.linspace(low - room, high + room, cells + 1)


def _cells(
    columns: Sequence[Floats], edges: Sequence[Floats], good: Bools, value: Floats
) -> tuple[Floats, Floats]:
    """Best value of the good cases of every cell, and 1 where there is any case at all; NaN elsewhere."""
    shape = tuple(len(edge) - 1 for edge in edges)
    with np.errstate(invalid="ignore"):
        at = [
            np.searchsorted(edge, column, side="right") - 1
            for edge, column in zip(edges, columns, strict=True)
        ]
    inside = np.isfinite(columns).all(axis=0)
    for place, length in zip(at, shape, strict=True):
        inside &= (place >= 0) & (place < length)
    flat = np.ravel_multi_index([np.where(inside, place, 0) for place in at], shape)
    tried = np.full(np.prod(shape), np.nan)
    tried[flat[inside]] = 1.0
    best = np.full(np.prod(shape), -np.inf)
    chosen = inside & good & np.isfinite(value)
    np.maximum.at(best, flat[chosen], value[chosen])
    best[np.isinf(best)] = np.nan
    return best.reshape(shape), tried.reshape(shape)


def _layout(
    edges: Sequence[Floats], pairs: Sequence[tuple[int, int]], *, alike: bool
) -> tuple[Figure, list[Axes], Axes]:
    """Panels of one scale where units are alike: front beside side, top under front; and room for the bar."""
    extent = [float(edge[-1] - edge[0]) for edge in edges]
    if len(pairs) == 1:
        wide = WIDTH - _LEFT - _RIGHT
        tall = float(np.clip(wide * extent[1] / extent[0], 30.0, 110.0)) if alike else 75.0
        height = _BOTTOM + 13.0 + tall + _TOP
        figure = figure_of(WIDTH, height)
        panel = _at(figure, _LEFT, _BOTTOM + 13.0, wide, tall)
        bar = _at(figure, _LEFT + wide / 4, 9.0, wide / 2, _BAR)
        return figure, [panel], bar
    room = WIDTH - 2 * _LEFT - _RIGHT
    share = extent if alike else [1.0, 1.0, 0.8]
    mm = [each * room / (share[0] + share[1]) for each in share]
    if alike:  # limited aspect ratios
        least = (_NARROW, _NARROW, 18.0)
        mm = [float(np.clip(each, low, room - _NARROW)) for each, low in zip(mm, least, strict=True)]
    height = _BOTTOM + mm[1] + _GAP + mm[2] + _TOP
    figure = figure_of(WIDTH, height)
    above = _BOTTOM + mm[1] + _GAP
    front = _at(figure, _LEFT, above, mm[0], mm[2])
    side = _at(figure, 2 * _LEFT + mm[0], above, mm[1], mm[2])
    top = _at(figure, _LEFT, _BOTTOM, mm[0], mm[1])
    bar = _at(figure, 2 * _LEFT + mm[0], _BOTTOM + mm[1] / 2, mm[1], _BAR)
    return figure, [front, side, top], bar


# --- both ------------------------------------------------------------------------------------------


def _at(figure: Figure, left: float, bottom: float, wide: float, tall: float) -> Axes:
    axes = axes_at(figure, left, bottom, wide, tall)
    axes.locator_params("x", nbins=int(np.clip(wide / 14.0, 1, 6)))
    axes.locator_params("y", nbins=int(np.clip(tall / 6.0, 1, 6)))
    axes.yaxis.get_offset_text().set(fontsize=SMALL_TEXT, family=FONT)
    axes.ticklabel_format(axis="y", scilimits=(-2, 4))
    return axes


def _labelled(found: Sweep, name: str) -> str:
    unit = found.unit(name)
    return (f"{name} ({unit})" if unit else name).replace("$", r"\$")


def _entitle(figure: Figure, found: Sweep) -> None:
    good = found.counts.get("ok", 0) if found.within is None else found.within
    what = "solved" if found.within is None else "within all limits"
    text = f"{found.manifest['model'] or 'mechanism'}: {good:,} of {found.done:,} cases {what}"
    entitle(figure, text)
