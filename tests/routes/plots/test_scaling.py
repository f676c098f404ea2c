"""The picture of predicted speed-up shows the curve, what limits it, and where it stops paying."""

from itertools import combinations

import numpy as np
import pytest
from synthetic import costs, deep, in_chunks, layered, wide

from routes.plots.scaling import draw_scaling, speed_ups
from routes.scaling import scaling

CASES = {
    "wide": (wide(200), 1, {"handing": 1e-5}),
    "deep": (deep(10), 1, {}),
    "chunks": (deep(10), 20, {"around": 1e-4}),
    "layered": (layered(10, 20), 8, {"handing": 2e-5, "around": 1e-3}),
    "slower": (deep(5), 2, {"handing": 1e-2, "sequential": 1e-3, "workers": (1, 2, 4)}),
    "one": (deep(5), 2, {"workers": (1,)}),
}


def case(name):
    needs, chunks, options = CASES[name]
    return scaling(np.tile(costs(len(needs), 3), chunks), *in_chunks(needs, chunks), **options)


def lines(figure):
    return {line.get_label(): line for line in figure.axes[0].get_lines()}


def test_the_curve_passes_through_what_was_simulated_and_the_ring():
    for name in CASES:
        found = case(name)
        curve = lines(speed_ups(found))["predicted"]
        points = dict(zip(curve.get_xdata().tolist(), curve.get_ydata().tolist(), strict=True))
        for workers, times in zip(found.workers, found.speed_up.tolist(), strict=True):
            assert points[workers] == times, (name, workers)
        assert points[found.enough] == found.sequential / found.enough_makespan, name
        assert list(points) == sorted(points), name


def test_the_whole_curve_and_its_limit_are_within_the_panel():
    for name in CASES:
        found = case(name)
        figure = speed_ups(found)
        low, high = figure.axes[0].get_ylim()
        assert low < found.speed_up.min() <= found.speed_up.max() < high, name
        critical = next(line for label, line in lines(figure).items() if label.startswith("critical path"))
        assert set(critical.get_ydata()) == {found.limit}, name


def test_no_text_lies_on_another_or_on_the_curve_or_beyond_the_page():
    for name in CASES:
        figure = speed_ups(case(name), title="times")
        figure.draw_without_rendering()
        axes = figure.axes[0]
        ticks = [
            label
            for axis in (axes.xaxis, axes.yaxis)
            for tick, label in zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=True)
            if np.prod(np.subtract(axis.get_view_interval(), tick)) <= 0
        ]
        texts = [*axes.texts, axes.xaxis.label, axes.yaxis.label, axes.title, *ticks]
        texts += figure.legends[0].get_texts()
        extents = [(text.get_text(), text.get_window_extent()) for text in texts]
        touching = [(a, b) for (a, one), (b, two) in combinations(extents, 2) if one.overlaps(two)]
        assert touching == [], name
        for text, box in extents:
            assert 0 <= box.x0 <= box.x1 <= figure.bbox.width, (name, text)
            assert 0 <= box.y0 <= box.y1 <= figure.bbox.height, (name, text)
        (named,) = axes.texts
        curve = lines(figure)["predicted"]
        x = np.geomspace(*curve.get_xdata()[[0, -1]], 400)
        y = np.exp(np.interp(np.log(x), np.log(curve.get_xdata()), np.log(curve.get_ydata())))
        box = named.get_window_extent()
        inside = [box.contains(*point) for point in axes.transData.transform(np.stack([x, y], axis=1))]
        assert not any(inside), name


def test_the_ideal_is_as_many_times_as_fast_as_there_are_workers():
    ideal = lines(speed_ups(case("wide")))["ideal"]
    assert ideal.get_ydata() == pytest.approx(ideal.get_xdata())


def test_the_same_prediction_gives_the_same_file(tmp_path):
    for name in ("one", "two"):
        draw_scaling(case("layered"), tmp_path / f"{name}.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
