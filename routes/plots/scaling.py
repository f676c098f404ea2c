"""Predicted speed-up against the number of workers, with what limits it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.pictures.canvas import DRIVEN, FINE, FRAME_COLOUR, GRID, add_key
from mbssa.pictures.files import save
from mbssa.pictures.limits import require_matplotlib
from mbssa.pictures.style import FONT, GROUP_EDGE, INK, SMALL_TEXT, TEXT, UNDER_EDGE, axes_at, figure_of
from routes.scaling import ENOUGH

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from routes.scaling import Scaling

#: mm: of the panel; left, right, below and above it.
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _BOTTOM, _TOP = 92.0, 62.0, 14.0, 4.0, 11.0, 8.0

#: The panel ends so many times above the highest point of what matters; the ideal line leaves it there.
_HEADROOM = 1.6

_RING: dict[str, Any] = {"marker": "o", "ms": 7.0, "mfc": "none", "mec": INK, "mew": 1.1}


#: Lines of other kinds of plan.
_OTHERS: tuple[Any, ...] = ((0, (4, 1.5)), (0, (2, 1)), (0, (6, 1.5, 1, 1.5)))


def speed_ups(
    scaling: Scaling, *, title: str = "", name: str = "predicted", beside: Mapping[str, Scaling] | None = None
) -> Figure:
    """Predicted speed-up on any number of workers, both axes logarithmic.

    Beside it the ideal (speed-up equal to the number of workers), the limit of the critical path and
    Amdahl's bound; a ring marks where more workers stop paying.

    Parameters
    ----------
    name : of the curve
    beside : other curves, by name, without their limits

    Raises
    ------
    ModuleNotFoundError
        Matplotlib is missing; the message says how to install it.

    Examples
    --------
    >>> import numpy as np
    >>> from routes.plots.scaling import speed_ups
    >>> from routes.scaling import scaling
    >>> figure = speed_ups(scaling(np.full(6, 1e-3), np.zeros(7, dtype=int), np.zeros(0, dtype=int)))
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['6 workers: speed-up 6']
    """
    require_matplotlib()
    from matplotlib.lines import Line2D
    from matplotlib.ticker import LogLocator

    figure, axes = _panel(title)
    speed_up, enough = scaling.speed_up, scaling.sequential / scaling.enough_makespan
    most = max(scaling.workers[-1], 2)
    top = _HEADROOM * max(float(speed_up.max()), min(scaling.limit, most), 1.0)
    lowest = min(float(found.speed_up.min()) for found in (scaling, *(beside or {}).values()))
    low = min(lowest / 1.5, 0.67)
    axes.set_xlim(scaling.workers[0] / 1.15, most * 1.15)
    axes.set_ylim(low, top)
    if top < 4 * low:
        axes.yaxis.set_major_locator(LogLocator(base=2, subs=(1.0, 1.25, 1.5, 1.75)))
    many = np.geomspace(scaling.workers[0], most, 200)
    lines: list[tuple[str, Any, Any, dict[str, Any]]] = [
        ("ideal", many, many, {"color": FRAME_COLOUR, "ls": (0, (1, 1.5)), "lw": 1.0}),
        ("Amdahl's bound", many, scaling.amdahl(many), {"color": UNDER_EDGE, "ls": "dashdot", "lw": 1.1}),
        (
            f"critical path: {scaling.limit:.3g}",
            many[[0, -1]],
            np.full(2, scaling.limit),
            {"color": DRIVEN, "ls": (0, (5, 2)), "lw": 1.1},
        ),
        *(
            (other, *_curve(found), {"color": GROUP_EDGE, "lw": 1.0, "ls": _OTHERS[k % len(_OTHERS)]})
            for k, (other, found) in enumerate((beside or {}).items())
        ),
        (name, *_curve(scaling), {"color": GROUP_EDGE, "lw": 1.9, "marker": "o", "ms": 3.2, "zorder": 3.0}),
    ]
    for label, x, y, properties in lines:
        axes.plot(x, y, label=label, **properties)
    _mark(axes, scaling, enough)
    handles = [Line2D([], [], label=label, **properties) for label, _, _, properties in reversed(lines)]
    handles.append(Line2D([], [], label=f"{100 * ENOUGH:.0f} % of the best", ls="", **_RING))
    add_key(figure, handles)
    return figure


def draw_scaling(
    scaling: Scaling,
    path: str | os.PathLike[str],
    *,
    title: str = "",
    name: str = "predicted",
    beside: Mapping[str, Scaling] | None = None,
) -> None:
    """Write :func:`speed_ups` to a .svg, .png or .pdf file, which is either whole or not there.

    Raises as :func:`speed_ups`; ``ValueError`` for another ending, and ``OSError``.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> from routes.plots.scaling import draw_scaling
    >>> from routes.scaling import scaling
    >>> six = scaling(np.full(6, 1e-3), np.zeros(7, dtype=int), np.zeros(0, dtype=int))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     draw_scaling(six, pathlib.Path(folder, "six.svg"))
    ...     [path.name for path in pathlib.Path(folder).iterdir()]
    ['six.svg']
    """
    save(speed_ups(scaling, title=title, name=name, beside=beside), path)


def _curve(scaling: Scaling) -> tuple[Any, Any]:
    """The points of the curve, that of the ring among them."""
    workers = np.append(scaling.workers, scaling.enough)
    speed_up = np.append(scaling.speed_up, scaling.sequential / scaling.enough_makespan)
    order = np.unique(workers, return_index=True)[1]
    return workers[order], speed_up[order]


def _mark(axes: Axes, scaling: Scaling, enough: float) -> None:
    """A ring where more workers stop paying, and its name at the foot of a line, where no curve passes."""
    axes.plot(scaling.enough, enough, ls="", zorder=4, **_RING)
    axes.vlines(scaling.enough, axes.get_ylim()[0], enough, color=INK, lw=FINE, zorder=2)
    right = scaling.enough**2 > scaling.workers[-1]
    subject = "1 worker" if scaling.enough == 1 else f"{scaling.enough:,} workers"
    axes.annotate(
        f"{subject}: speed-up {enough:.3g}",
        (scaling.enough, axes.get_ylim()[0]),
        (-3.0 if right else 3.0, 3.0),
        textcoords="offset points",
        ha="right" if right else "left",
        fontsize=SMALL_TEXT,
        family=FONT,
    )


def _number(value: float) -> str:
    """A tick's number, powers of two below one as fractions: 1/256 is shorter than 0.00390625."""
    return f"1/{1 / value:g}" if value < 1 and (1 / value).is_integer() else f"{value:g}"


def _panel(title: str) -> tuple[Figure, Axes]:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    width, height = _LEFT + _WIDTH + _RIGHT, _BOTTOM + _HEIGHT + (_TOP if title else 3.0)
    figure = figure_of(width, height)
    axes = axes_at(figure, _LEFT, _BOTTOM, _WIDTH, _HEIGHT)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(base=2, numticks=24))
        axis.set_major_formatter(FuncFormatter(lambda value, _: _number(value)))
        axis.set_minor_locator(NullLocator())
    axes.grid(color=GRID, lw=FINE / 2)
    axes.set_xlabel("workers")
    axes.set_ylabel("speed-up over sequential")
    if title:
        axes.set_title(title.replace("$", r"\$"), fontsize=TEXT, family=FONT)
    return figure, axes
