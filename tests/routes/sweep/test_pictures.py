"""Pictures of sweeps show what was found where it was found."""

import numpy as np
import pytest

import mbssa
from routes.plots.sweep import axes_of, draw_sweep, sweep_picture
from routes.sweep import grid, sample, sweep


@pytest.fixture(scope="module")
def reach(tmp_path_factory):
    cases = sample({"1-14.x": (-0.9, 0.9), "1-14.y": (-0.9, 0.9), "1-14.z": (0.5, 1.6)}, 2048)
    store = tmp_path_factory.mktemp("reach")
    model = mbssa.load("stewart_inverse")
    return sweep(model, cases, record=["platform.centre"], store=store, executor="sequential")


def cells(axes):
    """Corners of the cells of a map that have a colour, and the colours."""
    mesh = axes.collections[-1]
    values = np.ma.getdata(np.ma.masked_invalid(mesh.get_array()))
    return mesh.get_coordinates(), np.asarray(values)


def test_three_views_hold_exactly_the_cases_within_limits(reach):
    figure = sweep_picture(reach)
    top = figure.axes[2]
    labels = [
        (axes.get_xlabel().split()[0][-1], axes.get_ylabel().split()[0][-1]) for axes in figure.axes[:3]
    ]
    assert labels == [("x", "z"), ("y", "z"), ("x", "y")]
    within = reach["within"]
    x, y = reach["platform.centre.x"], reach["platform.centre.y"]
    corners, values = cells(top)
    at = [
        np.searchsorted(edges, place[within], side="right") - 1
        for edges, place in ((corners[0, :, 0], x), (corners[:, 0, 1], y))
    ]
    good = np.zeros_like(values, dtype=bool)
    good[at[1], at[0]] = True
    assert np.array_equal(np.isfinite(values), good)
    best = np.full(values.shape, -np.inf)
    np.maximum.at(best, (at[1], at[0]), reach["margin"][within])
    assert np.allclose(values[good], best[good])
    assert f"{reach.within:,} of 2,048 cases within all limits" in figure.texts[-1].get_text()


def test_views_of_lengths_have_one_scale(reach):
    for axes in sweep_picture(reach).axes[:3]:
        box = axes.get_window_extent()
        along = box.width / np.ptp(axes.get_xlim()), box.height / np.ptp(axes.get_ylim())
        assert along[0] == pytest.approx(along[1], rel=0.02)


def labels_of(figure):
    """Boxes of the label and of the numbers of each axis of a picture."""
    figure.draw_without_rendering()
    for axes in (axes for axes in figure.axes if axes.get_visible()):
        for k, axis in enumerate((axes.xaxis, axes.yaxis)):
            low, high = axis.get_view_interval()
            numbers = [text for text in axis.get_ticklabels() if low <= text.get_position()[k] <= high]
            yield [text.get_window_extent() for text in (axis.label, *numbers) if text.get_text()]


def test_labels_neither_overlap_nor_leave_the_page(tmp_path):
    """Of a flat view, of which one side has no extent, and of deviations that have many digits."""
    cases = sample({"1-14.x": (-1.0, 1.0), "1-14.z": (0.5, 1.6)}, 200)
    model = mbssa.load("stewart_inverse")
    flat = sweep(model, cases, record=["platform.centre"], store=tmp_path / "a", executor="sequential")
    bar, cases = mbssa.load("planar_four_bar"), sample({"2-3.point.x+": (-3e-4, 3e-4)}, 8)
    record, store = ["coupler.tracer"], tmp_path / "b"
    small = sweep(bar, cases, motion="own", steps=19, record=record, store=store, executor="sequential")
    for figure in map(sweep_picture, (flat, small)):
        for boxes in labels_of(figure):
            assert all(figure.bbox.containsx(box.x0) and figure.bbox.containsx(box.x1) for box in boxes)
            assert all(figure.bbox.containsy(box.y0) and figure.bbox.containsy(box.y1) for box in boxes)
            assert not any(one.overlaps(two) for k, one in enumerate(boxes) for two in boxes[:k])


def test_a_grid_of_two_parameters_has_a_cell_for_each_case(tmp_path):
    cases = grid({"1-2.angle": np.linspace(0, 6, 30), "3-4.point.x+": np.linspace(-0.1, 0.3, 5)})
    found = sweep(
        mbssa.load("planar_four_bar"), cases, record=["condition"], store=tmp_path, executor="sequential"
    )
    (axes, *_) = sweep_picture(found).axes
    corners, values = cells(axes)
    assert values.shape == (5, 30)
    ok = (found["status"] == "ok").reshape(30, 5).T
    assert np.array_equal(np.isfinite(values), ok)
    assert np.allclose(values[ok], found["condition"].reshape(30, 5).T[ok])
    assert corners[0, 0, 0] == pytest.approx(-3 / 29)


def test_curves_have_a_style_for_each_value_of_the_other_parameter(tmp_path):
    cases = grid({"13-15.angle": np.linspace(-0.1, 0.1, 5), "9-13.angle": [-0.1, 0.0, 0.1]})
    record = ["1-2.slide", "15-16.angle"]
    found = sweep(mbssa.load("rotor"), cases, record=record, store=tmp_path, executor="sequential")
    figure = sweep_picture(found, ["13-15.angle"])
    upper, lower = figure.axes
    assert (len(upper.lines), len(lower.lines)) == (3, 3)
    assert lower.get_xlabel() == "13-15.angle (rad)"
    for k, line in enumerate(upper.lines):
        assert np.allclose(line.get_ydata(), found["1-2.slide"].reshape(5, 3)[:, k])
    assert len({line.get_linestyle() for line in upper.lines}) == 3
    (panel,) = sweep_picture(found, ["15-16.angle"]).axes
    assert np.allclose(panel.lines[1].get_xdata(), found["15-16.angle"].reshape(5, 3)[:, 1])


def test_the_same_sweep_gives_the_same_file(reach, tmp_path):
    for name in ("one.svg", "two.svg"):
        draw_sweep(reach, tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_what_a_picture_is_drawn_over():
    columns = ["case", "a", "b", "c", "d", "mode 2", "tip.x", "tip.y", "tip.z"]
    assert axes_of(columns, ["a"]) == ("tip.x", "tip.y", "tip.z")
    assert axes_of(columns[:6], ["mode 2", "a", "b", "c", "d"]) == ("a", "b", "c")
    assert axes_of(columns, ["a"], ["d"]) == ("d",)
    for options in (["e"], [], ["a", "b", "c", "d"]):
        with pytest.raises(ValueError, match=r"^axes:"):
            axes_of(columns, ["a"], options)
    with pytest.raises(ValueError, match="nothing but modes"):
        axes_of(["case", "mode 2"], ["mode 2"])


def test_a_sample_of_designs_over_a_motion_is_drawn_as_deviations(tmp_path):
    """Bars with all cases in them and a band over time for each quantity, neither of what does not change."""
    cases = sample({"2-3.point.x+": (-1e-3, 1e-3)}, 16)
    record = ["1-4.angle", "1-2.angle"]
    bar = mbssa.load("planar_four_bar")
    found = sweep(bar, cases, motion="own", steps=19, record=record, store=tmp_path, executor="sequential")
    panels = sweep_picture(found).axes
    assert [panel.get_title(loc="left") for panel in panels] == [record[0], "", record[1]]
    assert panels[1].get_xlabel() == "time (s)"
    (bars, *_) = panels[0].patches
    path = bars.get_path().vertices
    assert np.isclose(
        (path[1:-1:2, 1] * (path[2::2, 0] - path[1:-1:2, 0])).sum() / (path[2, 0] - path[1, 0]), 16
    )
    assert not panels[2].patches
    assert panels[2].get_legend().get_texts()[0].get_text().endswith("in all cases")
    assert len(sweep_picture(found, ["2-3.point.x+"]).axes) == 1
