"""Gantt charts: a bar for each task in the row of its worker, prediction above measurement."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.pictures.canvas import BODY_COLOURS, FINE, GRID, add_key
from mbssa.arrays import Ints
from mbssa.pictures.files import save
from mbssa.pictures.limits import refuse_beyond, require_matplotlib
from mbssa.pictures.style import FONT, INK, SMALL_TEXT, TEXT, axes_at, figure_of, text_size
from routes.event_log import EventLog
from routes.simulate import Schedule, unit_of_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from routes.study import Study


#: Workers and bars that a chart on paper can show.
MOST_WORKERS, MOST_BARS = 64, 20_000

#: mm: of the bars together, left and right of them; between charts; above and below all.
_WIDTH, _LEFT, _RIGHT, _BETWEEN, _TOP, _BOTTOM = 132.0, 18.0, 13.0, 8.0, 11.0, 10.0

#: mm: height of a worker's row where there are few workers and where there are many; of all rows together.
_ROW, _LOWEST_ROW, _TALLEST = 6.5, 1.6, 70.0

#: Share of a row that its bars fill, and rows of text that fit into a row of this many mm.
_FILLED, _TEXT_ROW = 0.8, 3.0

#: Entries of a key: the number of distinct colours.
_MOST_KEYS = len(BODY_COLOURS)


@dataclass(frozen=True, eq=False)
class Chart:
    """One schedule to be drawn: title, bars, and the call and chunk of each bar.

    Attributes
    ----------
    title : ``predicted``, ``measured``; its makespan is added
    schedule : n tasks
    calls : groups of each call, indices from 0; those of reactions are the groups' numbers with a minus
    call, chunk : (n,) of each task, from 0

    Examples
    --------
    >>> import numpy as np
    >>> from routes.plots.gantt import Chart
    >>> from routes.simulate import simulate
    >>> needs = np.array([0, 0, 1, 2, 4]), np.array([0, 0, 1, 2])
    >>> chart = Chart.of("predicted", simulate(np.ones(4), *needs, 2), ((0,), (1,)))
    >>> chart.call.tolist(), chart.chunk.tolist()
    ([0, 1, 0, 1], [0, 0, 1, 1])
    """

    title: str
    schedule: Schedule
    calls: tuple[tuple[int, ...], ...]
    call: Ints
    chunk: Ints

    @classmethod
    def of(cls, title: str, schedule: Schedule, calls: tuple[tuple[int, ...], ...]) -> Chart:
        """Of a schedule of all tasks; task = chunk · calls + call."""
        chunk, call = np.divmod(np.arange(len(schedule.start)), max(len(calls), 1))
        return cls(title, schedule, calls, call, chunk)

    @classmethod
    def of_log(cls, title: str, log: EventLog, workers: int = 0) -> Chart:
        """Of the tasks that were run, from the first start; ``workers`` are at least those that ran any."""
        chunk, call = np.divmod(np.flatnonzero(log.ran), max(len(log.calls), 1))
        return cls(title, log.schedule(workers), log.calls, call, chunk)


def charts_of(study: Study) -> list[Chart]:
    """Schedules of the fastest and of the best parallel plan of a study, as predicted and as measured."""
    charts = []
    for trial in dict.fromkeys((study.trials[0], study.parallel or study.sequential)):
        schedule = trial.prediction.schedule
        calls = tuple(tuple(g - 1 if g > 0 else g for g in call) for call in trial.plan.calls)
        charts += [
            Chart.of(f"{trial.kind}, tasks predicted", schedule, calls),
            replace(
                Chart.of_log(f"{trial.kind}, tasks measured", trial.log, trial.plan.workers), calls=calls
            ),
        ]
    return charts


def study_gantt(study: Study) -> Figure:
    """The picture of :func:`charts_of`; raises as :func:`gantt`."""
    return gantt(charts_of(study), title=study.model.mechanism.name)


def gantt(charts: Sequence[Chart], *, title: str = "", kinds: Sequence[str] | None = None) -> Figure:
    """Schedules one above the other on one time axis: a row for each worker, a bar for each task.

    Bars have the colour of their call and are called by its groups, and by the chunk from 1 where there
    are several, if that fits. The idle share of each worker stands at its right, the makespan above.

    Parameters
    ----------
    charts : of the same calls: first the predicted one, then the measured one
    title : of the picture, shortened in the middle if it is too long
    kinds : of each call, by which bars are coloured instead, and which the key explains

    Raises
    ------
    ValueError
        No charts, more than 64 workers in one, or more than 20,000 bars in all.
    ModuleNotFoundError
        Matplotlib is missing; the message says how to install it.

    Examples
    --------
    >>> import numpy as np
    >>> from routes.plots.gantt import Chart, gantt
    >>> from routes.simulate import simulate
    >>> needs = np.array([0, 0, 1, 2, 4]), np.array([0, 0, 1, 2])
    >>> schedule = simulate(np.full(4, 1e-3), *needs, 2)
    >>> figure = gantt([Chart.of("predicted", schedule, ((0,), (1,)))])
    >>> [text.get_text() for text in figure.axes[0].texts][:3]
    ['predicted: 3 ms', 'idle', '0 %']
    """
    require_matplotlib()
    if not charts:
        raise ValueError("charts: give one or more schedules")
    refuse_beyond(
        MOST_WORKERS, max(c.schedule.workers for c in charts), "workers", "one chart", "simulate fewer"
    )
    refuse_beyond(MOST_BARS, sum(len(c.call) for c in charts), "bars", "one picture", "use fewer chunks")
    longest = max(chart.schedule.makespan for chart in charts)
    unit, factor = unit_of_time(longest)
    names = list(dict.fromkeys(kinds)) if kinds is not None else []
    calls = max(len(chart.calls) for chart in charts)
    colours = [BODY_COLOURS[(names.index(kinds[k]) if kinds else k) % _MOST_KEYS] for k in range(calls)]
    rows = sum(chart.schedule.workers for chart in charts)
    row = float(np.clip(_TALLEST * len(charts) / max(rows, 1), _LOWEST_ROW, _ROW))
    figure, panels = _panels(charts, row, title)
    for number, (axes, chart) in enumerate(zip(panels, charts, strict=True)):
        axes.set_xlim(0.0, 1.005 * longest * factor or 1.0)
        _write_around(axes, chart, row, f"{chart.title}: {chart.schedule.makespan * factor:.3g} {unit}")
        _draw(axes, chart, row, factor, colours, f"chart-{number + 1}")
    chunked = any(chart.chunk.max(initial=0) for chart in charts)
    note = "; 3/2 is chunk 2 of SG-3" if chunked and row >= _TEXT_ROW else ""
    panels[-1].set_xlabel(f"time ({unit}){note}")
    entries = names if kinds is not None else [_groups(call)[0] for call in charts[0].calls]
    if 1 < len(entries) <= _MOST_KEYS:
        from matplotlib.patches import Patch

        add_key(figure, [Patch(facecolor=c, label=e) for c, e in zip(BODY_COLOURS, entries, strict=False)])
    return figure


def draw_gantt(
    charts: Sequence[Chart],
    path: str | os.PathLike[str],
    *,
    title: str = "",
    kinds: Sequence[str] | None = None,
) -> None:
    """Write :func:`gantt` to a .svg, .png or .pdf file, which is either whole or not there.

    Raises as :func:`gantt`; ``ValueError`` for another ending too, and ``OSError``.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> from routes.plots.gantt import Chart, draw_gantt
    >>> from routes.simulate import simulate
    >>> needs = np.array([0, 0, 1, 2, 4]), np.array([0, 0, 1, 2])
    >>> schedule = simulate(np.full(4, 1e-3), *needs, 2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     draw_gantt([Chart.of("predicted", schedule, ((0,), (1,)))], pathlib.Path(folder, "a.svg"))
    ...     [path.name for path in pathlib.Path(folder).iterdir()]
    ['a.svg']
    """
    save(gantt(charts, title=title, kinds=kinds), path)


def _panels(charts: Sequence[Chart], row: float, title: str) -> tuple[Figure, list[Axes]]:
    heights = [row * max(chart.schedule.workers, 1) for chart in charts]
    top = _TOP if title else _TOP - 4.0
    width = _LEFT + _WIDTH + _RIGHT
    height = top + sum(heights) + _BETWEEN * (len(charts) - 1) + _BOTTOM
    figure = figure_of(width, height)
    panels: list[Axes] = []
    above = top
    for rows in heights:
        bottom = height - above - rows
        axes = axes_at(figure, _LEFT, bottom, _WIDTH, rows)
        axes.tick_params(axis="y", length=0.0)
        axes.tick_params(axis="x", labelbottom=len(panels) == len(charts) - 1)
        axes.grid(color=GRID, lw=0.5, axis="x")
        axes.spines[["top", "right"]].set_visible(False)
        panels.append(axes)
        above += rows + _BETWEEN
    if title:
        panels[0].annotate(
            _shortened(title, width - 8.0).replace("$", r"\$"),
            (0.5, 1.0),
            (0.0, 18.0),
            xycoords="axes fraction",
            textcoords="offset points",
            ha="center",
            fontsize=TEXT,
            family=FONT,
            annotation_clip=False,
        )
    return figure, panels


def _draw(axes: Axes, chart: Chart, row: float, factor: float, colours: Sequence[str], gid: str) -> None:
    """Bars with their labels."""
    from matplotlib.collections import PolyCollection

    schedule = chart.schedule
    start, length = schedule.start * factor, (schedule.stop - schedule.start) * factor
    low = schedule.worker + 0.5 * (1 - _FILLED)
    corners = np.stack(
        [
            np.stack([start, start + length, start + length, start], axis=1),
            np.stack([low, low, low + _FILLED, low + _FILLED], axis=1),
        ],
        axis=2,
    )
    axes.set_ylim(max(schedule.workers, 1), 0.0)
    edge = 0.4 if len(start) <= 60 * max(schedule.workers, 1) else 0.0
    for call in range(len(chart.calls)):
        mine = chart.call == call
        bars = PolyCollection(corners[mine], facecolor=colours[call], edgecolor="white", linewidth=edge)
        bars.set_gid(f"{gid}-call-{call + 1}")
        axes.add_collection(bars)
    axes.axvline(schedule.makespan * factor, color=INK, lw=FINE, ls=(0, (4, 3)), zorder=0.9)
    mm = _WIDTH / float(axes.get_xlim()[1])
    if row < _TEXT_ROW:
        return
    chunks = bool(len(chart.chunk)) and int(chart.chunk.max()) > 0
    for k in np.flatnonzero(length * mm > 2.0).tolist():
        label = _fitting(chart.calls[chart.call[k]], int(chart.chunk[k]) + 1 if chunks else 0, length[k] * mm)
        if label:
            axes.text(
                start[k] + length[k] / 2,
                schedule.worker[k] + 0.5,
                label,
                ha="center",
                va="center_baseline",
                fontsize=SMALL_TEXT,
                family=FONT,
                color=_ink(colours[chart.call[k]]),
                gid=f"{gid}-label-{k + 1}",
                clip_on=True,
            )


def _write_around(axes: Axes, chart: Chart, row: float, title: str) -> None:
    """Labels above, left and right of the rows."""
    properties: dict[str, Any] = {
        "fontsize": SMALL_TEXT,
        "family": FONT,
        "annotation_clip": False,
        "textcoords": "offset points",
    }
    axes.annotate(title.replace("$", r"\$"), (0.0, 1.0), (0.0, 4.0), xycoords="axes fraction", **properties)
    axes.annotate("idle", (1.0, 1.0), (32.0, 4.0), xycoords="axes fraction", ha="right", **properties)
    schedule = chart.schedule
    every = max(1, int(np.ceil(_TEXT_ROW / row)))
    shown = range(0, schedule.workers, every)
    axes.set_yticks([worker + 0.5 for worker in shown], [f"worker {worker + 1}" for worker in shown])
    for worker in shown:
        axes.annotate(
            f"{schedule.idle[worker]:.0%}".replace("%", " %"),
            (1.0, worker + 0.5),
            (32.0, 0.0),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="center_baseline",
            **properties,
        )


def _shortened(title: str, room: float) -> str:
    """A title without its middle, where it is wider than so many mm."""
    kept = len(title)
    short = title
    while text_size(short, TEXT)[0] > room:
        kept -= 1
        short = f"{title[: 2 * kept // 3]} … {title[len(title) - kept // 3 :]}"
    return short


def _ink(colour: str) -> str:
    """Black or white, whichever is easier to read on a colour."""
    red, green, blue = ((int(colour[i : i + 2], 16) / 255) ** 2.2 for i in (1, 3, 5))
    return "white" if 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.2 else INK


def _fitting(call: tuple[int, ...], chunk: int, room: float) -> str:
    """The longest name of a bar that fits into so many mm; empty if none does."""
    for name in _groups(call):
        for text in (f"{name}, chunk {chunk}", f"{name}/{chunk}") if chunk else (name,):
            if text_size(text, SMALL_TEXT)[0] + 1.0 <= room:
                return text
    return ""


def _groups(call: tuple[int, ...]) -> tuple[str, ...]:
    """Names of a call, the longest first: ``SG-3``, ``3``; ``SG-1 2 3``, ``SG-1…3``."""
    numbers = [group + 1 if group >= 0 else group for group in call]
    if len(numbers) == 1:
        return f"SG-{numbers[0]}", str(numbers[0])
    short = f"SG-{numbers[0]}…{numbers[-1]}"
    listed = "SG-" + " ".join(map(str, numbers))
    return (listed, short) if len(numbers) <= 8 else (short,)
