"""Charts of schedules: a bar for each task where and when it ran, one time axis, names that fit."""

from itertools import combinations

import numpy as np
import pytest
from synthetic import costs, in_chunks, layered

from routes.event_log import EventLog
from routes.plots.gantt import Chart, draw_gantt, gantt
from routes.simulate import simulate

CALLS = tuple((group,) for group in range(12))


def schedule(chunks=1, workers=2, handing=0.0):
    needs = layered(3, 4)
    return simulate(np.tile(costs(12), chunks), *in_chunks(needs, chunks), workers, handing=handing)


def charts(chunks=1, workers=2):
    return [
        Chart.of("predicted", schedule(chunks, workers), CALLS),
        Chart.of("measured", schedule(chunks, workers, handing=1e-5), CALLS),
    ]


def boxes(axes):
    """(bars, 4) left, right, top and bottom row of every bar, by call."""
    found = {}
    for bars in axes.collections:
        corners = [path.vertices[:4] for path in bars.get_paths()]
        found[bars.get_gid().split("-call-")[1]] = np.array(
            [(*np.sort(c[:, 0])[[0, -1]], *np.sort(c[:, 1])[[0, -1]]) for c in corners]
        ).reshape(-1, 4)
    return found


def test_a_bar_for_each_task_in_the_row_of_its_worker():
    for chunks, workers in [(1, 1), (1, 2), (4, 8), (20, 2)]:
        drawn = charts(chunks, workers)
        figure = gantt(drawn)
        assert len(figure.axes) == 2, (chunks, workers)
        for axes, chart in zip(figure.axes, drawn, strict=True):
            factor = {"time (ms)": 1e3, "time (µs)": 1e6}[figure.axes[-1].get_xlabel().split(";")[0]]
            by_call = boxes(axes)
            for call in range(12):
                rows = by_call[str(call + 1)]
                mine = chart.call == call
                assert rows[:, 0] == pytest.approx(chart.schedule.start[mine] * factor), (chunks, workers)
                assert rows[:, 1] == pytest.approx(chart.schedule.stop[mine] * factor), (chunks, workers)
                assert (np.floor(rows[:, 2]) == chart.schedule.worker[mine]).all(), (chunks, workers)
                assert (rows[:, 3] < chart.schedule.worker[mine] + 1).all(), (chunks, workers)


def test_both_have_one_time_axis_that_holds_all_bars():
    figure = gantt(charts(4))
    limits = [axes.get_xlim() for axes in figure.axes]
    assert limits[0] == limits[1]
    longest = max(chart.schedule.makespan for chart in charts(4))
    assert longest * 1e3 <= limits[0][1] <= 1.02 * longest * 1e3


def test_no_text_lies_on_another_or_beyond_the_page():
    for chunks, workers in [(1, 1), (1, 2), (4, 8), (20, 2), (3, 40)]:
        figure = gantt(charts(chunks, workers), title="twelve groups")
        figure.draw_without_rendering()
        texts = [
            text for axes in figure.axes for text in (*axes.texts, *axes.get_yticklabels(), axes.xaxis.label)
        ]
        extents = [(text.get_text(), text.get_window_extent()) for text in texts if text.get_text()]
        touching = [(a, b) for (a, one), (b, two) in combinations(extents, 2) if one.overlaps(two)]
        assert touching == [], (chunks, workers)
        for name, box in extents:
            assert box.x0 >= 0, name
            assert box.x1 <= figure.bbox.width, name
            assert box.y0 >= 0, name
            assert box.y1 <= figure.bbox.height, name


def test_names_lie_within_their_bars():
    drawn = charts(2)[0]
    figure = gantt([drawn])
    figure.draw_without_rendering()
    axes = figure.axes[0]
    labels = [text for text in axes.texts if (text.get_gid() or "").startswith("chart-1-label-")]
    assert len(labels) > 6
    for text in labels:
        task = int(text.get_gid().split("-")[-1]) - 1
        ends = axes.transData.transform(
            [(drawn.schedule.start[task] * 1e3, 0), (drawn.schedule.stop[task] * 1e3, 0)]
        )[:, 0]
        box = text.get_window_extent()
        assert ends[0] <= box.x0
        assert box.x1 <= ends[1]
        name = text.get_text().removeprefix("SG-").replace(", chunk ", "/")
        assert name == f"{drawn.call[task] + 1}/{drawn.chunk[task] + 1}"


def test_idle_shares_and_makespans_stand_beside():
    drawn = charts(1, 3)
    for axes, chart in zip(gantt(drawn).axes, drawn, strict=True):
        texts = [text.get_text() for text in axes.texts]
        assert texts[0].startswith(f"{chart.title}: {chart.schedule.makespan * 1e3:.3g} ms")
        expected = [f"{share:.0%}".replace("%", " %") for share in chart.schedule.idle]
        assert [text for text in texts if text.endswith(" %")] == expected


def test_a_log_is_drawn_from_its_first_start_without_what_was_not_run():
    plan = schedule(2)
    events = np.stack([plan.start + 50.0, plan.stop + 50.0, plan.worker], axis=1)
    events[-1] = np.nan, np.nan, -1
    log = EventLog.of(events, CALLS, np.array([0, 32, 64]))
    chart = Chart.of_log("measured", log, workers=3)
    assert len(chart.call) == 23
    assert chart.schedule.workers == 3
    assert chart.schedule.start.min() == 0
    assert chart.chunk.tolist() == [0] * 12 + [1] * 11
    gantt([chart])


def test_kinds_colour_the_bars_and_make_the_key():
    kinds = ["dyad" if group % 3 else "crank" for group in range(12)]
    figure = gantt(charts(), kinds=kinds)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["crank", "dyad"]
    colours = {}
    for bars in figure.axes[0].collections:
        call = int(bars.get_gid().split("-call-")[1]) - 1
        colours.setdefault(kinds[call], set()).add(tuple(bars.get_facecolor()[0]))
    assert len(colours["crank"]) == len(colours["dyad"]) == 1
    assert colours["crank"] != colours["dyad"]


def test_many_calls_have_no_key_that_would_be_ambiguous():
    assert not gantt(charts()).legends


def test_a_title_that_is_too_long_keeps_its_ends():
    title = " > ".join(map(str, range(1, 101))) + ", threads × 2"
    (shown,) = (text for text in gantt(charts(), title=title).axes[0].texts if " … " in text.get_text())
    begin, end = shown.get_text().split(" … ")
    assert title.startswith(begin)
    assert title.endswith(end)
    assert end.endswith("threads × 2")
    assert 0 < shown.get_window_extent().x0 < shown.get_window_extent().x1 < shown.figure.bbox.width


def test_what_is_too_much_is_refused():
    with pytest.raises(ValueError, match=r"65 workers.* 64"):
        gantt(charts(1, 65))
    with pytest.raises(ValueError, match="one or more"):
        gantt([])


def test_a_run_of_nothing_is_an_empty_chart():
    gantt([Chart.of("predicted", simulate(np.zeros(0), np.zeros(1, int), np.zeros(0, int), 2), ())])


def test_the_same_schedule_gives_the_same_file(tmp_path):
    for name in ("one", "two"):
        draw_gantt(charts(4), tmp_path / f"{name}.svg", title="twice")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    with pytest.raises(ValueError, match=r"\.svg, \.png or \.pdf"):
        draw_gantt(charts(), tmp_path / "one.jpeg")
