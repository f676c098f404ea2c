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
    lines = []
    for number, row in enumerate(front[:_NAMED], 1):
        lines += wrap(f"{number}   {', '.join(row.inputs)}", _LINE, subsequent_indent="     ")
    if len(front) > _NAMED:
        lines.append(f"… and {len(front) - _NAMED} more points of the front")
    shown, title = answer.evaluated.take(answer.shown), answer.mechanism.name
    key, below = _ROW * len(lines) + 2.0, _ROW * (len(lines) + 1) + 2.0 + _BOTTOM
    height = below + _HEIGHT + (_TOP if title else 3.0)
    figure = style.figure_of(_LEFT + _WIDTH + _RIGHT, height)
    figure.set_gid("pareto-front")
    axes = style.axes_at(figure, _LEFT, below, _WIDTH, _HEIGHT)
    axes.grid(color="#DDDDDD", lw=0.3)
    axes.set_title(title.replace("$", r"\$"), fontsize=style.TEXT, family=style.FONT)
    x, y = values_of(shown, first), values_of(shown, second)
    for name, axis, values in ((first, "x", x), (second, "y", y)):
        direction, words = CRITERIA[name]
        axes.set(**{f"{axis}label": f"{words} ({'more' if direction > 0 else 'less'} is better)"})
        _scale(axes, axis, values)
    # A dot for structures within one step of both axes.
    steps = np.stack([_stepped(x), _stepped(y)], axis=1)
    _, place, count = np.unique(steps, axis=0, return_index=True, return_counts=True)
    area = _LEAST + (_MOST - _LEAST) * (np.log1p(count) / max(np.log1p(count.max()), 1.0)) ** 2
    axes.scatter(
        x[place], y[place], s=area, color=style.GROUP_EDGE, alpha=0.45, linewidths=0, zorder=3,
        gid="structures", label="actuation schemes, larger where more",
    )  # fmt: skip
    points = np.array([_at(row, first, second) for row in front])
    look: dict[str, Any] = {"color": style.OVER_EDGE, "drawstyle": "steps-post", "zorder": 4}
    axes.plot(*points.T, lw=1.2, marker="o", ms=7.0, gid="front", label="Pareto front", **look)
    for number, (left, up) in enumerate(points[:_NAMED].tolist(), 1):
        size = style.SMALL_TEXT - 1.5
        style.write(axes, left, up, str(number), f"number-{number}", points=size, colour="white", bold=True)
    own = answer.own
    if own is not None and own.valid:
        at = [[value] for value in _at(own, first, second)]
        look = {"ls": "", "mfc": "none", "mec": style.INK, "mew": 1.0, "zorder": 3.5}
        axes.plot(*at, marker="s", ms=11.0, gid="own", label="its own inputs", **look)
    handles, _ = axes.get_legend_handles_labels()
    figure.legend(
        handles=handles, loc="lower left", ncols=len(handles), frameon=False, handlelength=1.2,
        handletextpad=0.5, columnspacing=1.4, borderaxespad=0.0, borderpad=0.0,
        bbox_to_anchor=(0.02, key / height), prop={"family": style.FONT, "size": style.SMALL_TEXT},
    ).set_gid("key")  # fmt: skip
    text: dict[str, Any] = {"fontsize": style.SMALL_TEXT - 0.5, "family": style.FONT, "va": "baseline"}
    for number, line in enumerate(lines, 1):
        figure.text(0.02, (key - _ROW * number - 0.2) / height, line, gid=f"inputs-{number}", **text)
    return figure


def _at(row: Transformation, *names: str) -> list[float]:
    open_groups = row.n_groups - row.closed_forms
    values = row.figures() | {"groups": row.n_groups, "closed": row.closed_forms, "open": open_groups}
    return [float(values[name]) for name in names]


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
