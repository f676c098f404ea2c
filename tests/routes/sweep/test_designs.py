"""Designs and modes: a case is what the model would give if it were built like that."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.stats import norm

import groups
import mbssa
from routes.sweep import grid, sample, sweep, table
from routes.sweep.parameters import changed, framed, parameters_of


def built(mechanism):
    return groups.build(mbssa.decompose(mechanism))


def redesigned(mechanism, **values):
    found = parameters_of(mechanism, values, 9)
    return changed(framed(mechanism, found), found, list(values.values()))


def test_poses_of_designs_are_those_of_models_built_like_that(tmp_path):
    bar = mbssa.load("planar_four_bar")
    cases = grid({"3-4.point.x+": [-0.1, 0.0, 0.1], "1-2.angle": [0.3, 0.9, 2.0]})
    found = sweep(bar, cases, record=["1-4.angle", "coupler.tracer"], store=tmp_path, executor="sequential")
    for case, (shift, angle) in enumerate(cases.values()):
        model = built(redesigned(bar, **{"3-4.point.x+": shift}))
        motion = groups.from_arrays(bar, np.arange(4.0), {"1-2.angle": [angle] * 4})
        trajectory = model.solve(motion)
        assert found["coupler.tracer.x"][case] == pytest.approx(
            trajectory.body("coupler").point("tracer")[0, 0], abs=1e-12
        )
        gap = found["1-4.angle"][case] - trajectory.joint("1-4")["angle"].value[0]
        assert abs(math.remainder(gap, 2 * math.pi)) < 1e-12


def test_motions_of_designs_are_summed_up_by_extremes_and_last_values(tmp_path):
    bar = mbssa.load("planar_four_bar")
    record = ["1-4.angle", "1-4.angle.rate", "1-4.angle.acceleration", "coupler.tracer", "residual"]
    cases = table({"2-3.point.y+": [0.0, 0.02, -0.03]})
    found = sweep(bar, cases, record=record, motion="own", steps=91, store=tmp_path, executor="sequential")
    for case, (shift,) in enumerate(cases.values()):
        twin = redesigned(bar, **{"2-3.point.y+": shift})
        trajectory = built(twin).solve(groups.default_motion(twin, steps=91))
        angle = trajectory.joint("1-4")["angle"]
        for column, path in (
            ("1-4.angle", angle.value),
            ("1-4.angle.rate", angle.rate),
            ("1-4.angle.acceleration", angle.acceleration),
            ("coupler.tracer.y", trajectory.body("coupler").point("tracer")[:, 1]),
        ):
            for end, value in (("min", path.min()), ("max", path.max()), ("final", path[-1])):
                assert found[f"{column}.{end}"][case] == pytest.approx(value, rel=1e-12, abs=1e-12)
    assert found["solved"].tolist() == [1.0] * 3


def test_offsets_of_inputs_are_added_to_a_motion(tmp_path):
    stewart = mbssa.load("stewart")
    motion = groups.default_motion(stewart, steps=21)
    cases = table({"2-3.slide+": [0.0, 0.01]})
    found = sweep(
        stewart, cases, record=["2-3.slide"], limits={"2-3.slide": (0, 2)}, motion=motion, store=tmp_path,
        executor="sequential",
    )  # fmt: skip
    rise = found["2-3.slide.max"][1] - found["2-3.slide.max"][0]
    assert rise == pytest.approx(0.01, abs=1e-9)
    with pytest.raises(ValueError, match=r"write 2-3\.slide\+"):
        sweep(
            stewart, table({"2-3.slide": [1.0]}), motion=motion, store=tmp_path / "no", executor="sequential"
        )


def test_modes_are_those_that_the_model_lists(tmp_path):
    bar = built(mbssa.load("planar_four_bar"))
    angle = bar.reference_inputs["1-2.angle"]
    modes = groups.modes(bar, 2)
    cases = grid({"mode 2": [1, 2, 3], "1-2.angle": [angle]})
    found = sweep(bar, cases, record=["coupler"], store=tmp_path, executor="sequential")
    assert found["status"].tolist() == ["ok", "ok", "no such mode"]
    for number in (1, 2):
        turned = np.arctan2(modes[number].rotation[0, 1, 0], modes[number].rotation[0, 0, 0])
        assert abs(math.remainder(found["coupler.angle"][number - 1] - turned, 2 * math.pi)) < 1e-9
    held = sweep(
        bar, grid({"1-2.angle": [angle]}), modes={2: 1}, record=["coupler"], store=tmp_path / "held",
        executor="sequential",
    )  # fmt: skip
    assert held["coupler.angle"][0] == found["coupler.angle"][0]


def test_a_design_that_cannot_be_put_together_says_so(tmp_path):
    inverse = mbssa.load("stewart_inverse")
    for cases, wanted in (
        (grid({"2-3.axis.x": [0.0], "2-3.axis.y": [0.0], "2-3.axis.z": [0.0, 1.0]}), "cannot be assembled"),
        (grid({"3-14.frames[1].origin.x": [0.0], "2-3.frames[1].z.x+": [0.0]}), "ok"),
    ):
        store = tmp_path / wanted
        found = sweep(inverse, cases, record=["2-3.slide"], store=store, executor="sequential")
        assert found["status"][0] == wanted
        assert np.isnan(found["2-3.slide"][0]) == (wanted != "ok")


def test_small_tolerances_move_a_point_as_its_derivative_says(tmp_path):
    bar = mbssa.load("planar_four_bar")
    name = "2-3.frames[1].origin.x+"
    cases = sample({name: norm(0.0, 1e-5)}, 32)
    found = sweep(bar, cases, record=["coupler.tracer"], store=tmp_path, executor="sequential")
    slope = np.polyfit(found[name], found["coupler.tracer.x"], 1)[0]
    ends = sweep(
        bar,
        table({name: [-1e-4, 1e-4]}),
        record=["coupler.tracer"],
        store=tmp_path / "ends",
        executor="sequential",
    )
    assert slope == pytest.approx(np.diff(ends["coupler.tracer.x"])[0] / 2e-4, rel=1e-3)


def test_values_with_a_unit_that_does_not_fit(tmp_path):
    cases = dataclasses.replace(grid({"2-3.point.x": [0.1]}), units={"2-3.point.x": "rad"})
    with pytest.raises(ValueError, match=r"2-3.point.x: is in m.* rad"):
        sweep(mbssa.load("planar_four_bar"), cases, store=tmp_path / "store")
