"""Coordinates that leave their limits are named: by check, solve, simulate and modes."""

import json

import numpy as np
import pytest

import groups
import mbssa
from groups.results.faults import excesses

RAM = """
format = 1
space = "planar"
units = { length = "mm" }
body = [ { name = "arm" }, { name = "tube" }, { name = "rod" } ]
joint = [
  { bodies = ["frame", "arm"], type = "R", point = [0, 0] },
  { bodies = ["frame", "tube"], type = "R", point = [500, 0] },
  { id = "ram", bodies = ["tube", "rod"], type = "P", axis = [0, 1], driven = true, \
limits = { slide = [-50, 200] } },
  { bodies = ["rod", "arm"], type = "R", point = [500, 1000] },
]
[motion]
duration = 1.0
steps = 21
[motion.inputs]
"ram.slide" = { law = "harmonic", amplitude = 150, frequency = 1.0 }
"""


@pytest.fixture
def ram(tmp_path):
    path = tmp_path / "ram.toml"
    path.write_text(RAM)
    return path


def test_the_first_instant_and_the_value_are_those_of_the_law(ram):
    mechanism = mbssa.load(ram)
    trajectory = groups.build(mbssa.decompose(mechanism)).solve(compiled=False)
    (found,) = excesses(trajectory)
    law = 0.15 * np.sin(2 * np.pi * trajectory.time)
    first = int(np.argmax(law < -0.05))
    assert (found.coordinate, found.side, found.limit) == ("ram.slide", "below", -0.05)
    assert (found.time, found.value) == pytest.approx((trajectory.time[first], law[first]))
    assert found.extreme == pytest.approx(-0.15)
    assert not excesses(trajectory, without=["ram.slide"])
    assert not excesses(trajectory.instants(slice(0, first)))


def test_solve_says_it_in_the_files_units_and_is_ok(ram, run_mbssa):
    done = run_mbssa("solve", str(ram), "--no-compiled")
    assert done.exit_code == 0
    assert "ram.slide is below its limit of -50 mm from t = 0.6 s on: -88.1678 mm" in done.stdout
    found = json.loads(run_mbssa("solve", str(ram), "--no-compiled", "--format", "json").stdout)
    assert found["ok"]
    assert [one["coordinate"] for one in found["beyond_limits"]] == ["ram.slide"]


def test_check_says_it_of_the_models_motion(ram, run_mbssa):
    done = run_mbssa("check", str(ram))
    assert done.exit_code == 0
    assert "ram.slide is below" in done.stderr


def test_warnings_and_reports_have_the_same_width(ram, run_mbssa, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    checked, solved = (run_mbssa(*words, str(ram)) for words in (["check"], ["solve", "--no-compiled"]))
    for text in (checked.stderr, solved.stdout):
        assert max(map(len, text.splitlines())) <= 60
        assert "ram.slide is below its limit of -50 mm from t = 0.6 s on:" in " ".join(text.split())


def test_modes_mark_those_outside_limits(tmp_path, run_mbssa):
    text = (
        mbssa.Builder("planar")
        .bodies("crank", "coupler", "rocker")
        .revolute("frame", "crank", point=(0, 0), driven=True)
        .revolute("crank", "coupler", point=(0.06, 0.08))
        .revolute("coupler", "rocker", point=(0.34, 0.22))
        .revolute("frame", "rocker", point=(0.4, 0), limits={"angle": (-0.5, 0.5)})
    )
    path = tmp_path / "four_bar.toml"
    text.save(path)
    (dyad,) = json.loads(run_mbssa("modes", str(path), "--group", "2", "--format", "json").stdout)
    beyond = {mode["number"]: mode["beyond_limits"] for mode in dyad["modes"]}
    other = 3 - dyad["reference"]
    assert beyond == {dyad["reference"]: [], other: ["1-4.angle"]}
    assert f"SG-2 mode {other}: 1-4.angle" in run_mbssa("modes", str(path)).stdout
