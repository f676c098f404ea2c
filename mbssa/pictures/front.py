"""Two criteria of many structures against each other, with the Pareto front."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from mbssa.arrays import Floats, Ints
from mbssa.pictures import style
from mbssa.pictures.limits import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mbssa.input_search.result import Transformation, Transformations


#: mm: of the panel; left, right, below and above it; of a line of text below.
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _BOTTOM, _TOP, _ROW = 100.0, 66.0, 14.0, 4.0, 12.0, 8.0, 3.6

#: Distinct steps of an axis, so that a million structures are not a million dots.
_STEPS = 160

#: Ratio of the largest to the smallest value from which an axis is logarithmic.
_LOGARITHMIC = 30.0

#: Points of the front that have a number, and their inputs below the panel.
_NAMED = 9

#: Letters of a line of inputs.
_LINE = 88

#: Area of a dot in points², for one structure and for as many as the fullest dot has.
_LEAST, _MOST = 6.0, 90.0


def pareto_front(answer: Transformations, first: str = "groups", second: str = "cost") -> Figure:
    """Structures by two criteria, and their Pareto front."""
    # The size of a dot grows with its number of actuation schemes. A square marks the present inputs of the
    # mechanism.
    from mbssa.input_search.criteria import CRITERIA, values_of

    front = answer.front(first, second)
    if not front:
        raise ValueError("there is no valid set of inputs to draw")
    require_matplotlib()
    shown = answer.evaluated.take(answer.shown)
    x, y = values_of(shown, first), values_of(shown, second)
    lines = _lines(front)
    figure, axes = _panel(answer.mechanism.name, len(lines) + 1)
    for name, axis, values in ((first, "x", x), (second, "y", y)):
        direction, words = CRITERIA[name]
        axes.set(**{f"{axis}label": f"{words} ({'more' if direction > 0 else 'less'} is better)"})
        _scale(axes, axis, values)
    _draw_all(axes, x, y)
    _draw_front(axes, np.array([_at(row, first, second) for row in front]))
    handles = _handles()
    own = answer.own
    if own is not None and own.valid:
        handles += axes.plot(
            *([value] for value in _at(own, first, second)), marker="s", ms=11.0, mfc="none", mec=style.INK,
            mew=1.0, ls="", zorder=3.5, gid="own", label="its own inputs",
        )  # fmt: skip
    _write_below(figure, handles, lines)
    figure.set_gid("pareto-front")
    return figure


def _at(row: Transformation, *names: str) -> list[float]:
    open_groups = row.n_groups - row.closed_forms
    values = row.figures() | {"groups": row.n_groups, "closed": row.closed_forms, "open": open_groups}
    return [float(values[name]) for name in names]


def _draw_all(axes: Axes, x: Floats, y: Floats) -> None:
    """A dot for structures within one step of both axes."""
    steps = np.stack([_stepped(x), _stepped(y)], axis=1)
    _, place, number = np.unique(steps, axis=0, return_index=True, return_counts=True)
    share = np.log1p(number) / max(np.log1p(number.max()), 1.0)
    axes.scatter(
        x[place], y[place], s=_LEAST + (_MOST - _LEAST) * share**2, color=style.GROUP_EDGE, alpha=0.45,
        linewidths=0, zorder=3, gid="structures",
    )  # fmt: skip


def _stepped(values: Floats) -> Ints:
    scaled = np.log(values) if _logarithmic(values) else values
    span = float(np.ptp(scaled)) or 1.0
    steps: Ints = np.round((scaled - scaled.min()) / span * _STEPS).astype(np.int64)
    return steps


def _logarithmic(values: Floats) -> bool:
    return bool(values.min() > 0 and values.max() > _LOGARITHMIC * values.min())


def _scale(axes: Axes, axis: str, values: Floats) -> None:
    from matplotlib.ticker import MaxNLocator

    if _logarithmic(values):
        axes.set(**{f"{axis}scale": "log"})
        return
    whole = bool((values == np.round(values)).all())
    margin = 0.08 * max(float(np.ptp(values)), 1.0 if whole else 1e-3)
    axes.set(**{f"{axis}lim": (float(values.min()) - margin, float(values.max()) + margin)})
    getattr(axes, f"{axis}axis").set_major_locator(MaxNLocator(nbins=8, integer=whole))


def _draw_front(axes: Axes, points: Floats) -> None:
    """The Pareto front as steps, and the numbers of its first points."""
    axes.plot(
        *points.T, color=style.OVER_EDGE, lw=1.2, drawstyle="steps-post", marker="o", ms=7.0, zorder=4,
        gid="front",
    )  # fmt: skip
    for number, point in enumerate(points[:_NAMED], 1):
        axes.text(
            point[0], point[1], str(number), fontsize=style.SMALL_TEXT - 1.5, family=style.FONT,
            weight="bold", color="white", ha="center", va="center_baseline", zorder=6, gid=f"number-{number}",
        )  # fmt: skip


def _lines(front: list[Transformation]) -> list[str]:
    """The inputs of the first points of the front."""
    lines = []
    for number, row in enumerate(front[:_NAMED], 1):
        lines += wrap(f"{number}   {', '.join(row.inputs)}", _LINE, subsequent_indent="     ")
    if len(front) > _NAMED:
        lines.append(f"… and {len(front) - _NAMED} more points of the front")
    return lines


def _write_below(figure: Figure, handles: list[Any], lines: list[str]) -> None:
    """The key, and the inputs of the numbered points under it."""
    height = figure.get_figheight() * style.MM_PER_INCH
    key = figure.legend(
        handles=handles, loc="lower left", ncols=len(handles), frameon=False, handlelength=1.2,
        handletextpad=0.5, columnspacing=1.4, borderaxespad=0.0, borderpad=0.0,
        bbox_to_anchor=(0.02, (_ROW * len(lines) + 2.0) / height),
        prop={"family": style.FONT, "size": style.SMALL_TEXT},
    )  # fmt: skip
    key.set_gid("key")
    for number, line in enumerate(lines):
        figure.text(
            0.02, (_ROW * (len(lines) - number) - 1.8) / height, line, fontsize=style.SMALL_TEXT - 0.5,
            family=style.FONT, va="baseline", gid=f"inputs-{number + 1}",
        )  # fmt: skip


def _handles() -> list[Any]:
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], ls="", marker="o", ms=6.0, mfc=style.GROUP_EDGE, mec="none", alpha=0.45,
               label="distributions of inputs, larger where more"),
        Line2D([], [], color=style.OVER_EDGE, lw=1.2, marker="o", ms=6.0, label="Pareto front"),
    ]  # fmt: skip


def _panel(title: str, n_lines: int) -> tuple[Figure, Axes]:
    below = _ROW * n_lines + 2.0 + _BOTTOM
    width, height = _LEFT + _WIDTH + _RIGHT, below + _HEIGHT + (_TOP if title else 3.0)
    figure = style.figure_of(width, height)
    axes = style.axes_at(figure, _LEFT, below, _WIDTH, _HEIGHT)
    axes.grid(color="#DDDDDD", lw=0.3)
    if title:
        axes.set_title(title.replace("$", r"\$"), fontsize=style.TEXT, family=style.FONT)
    return figure, axes
