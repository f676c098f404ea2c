"""The command linearise: a damped pendulum by its formulas, states that do not hold, bad input."""

import json

import numpy as np
import pytest

PENDULUM = """
format = 1
space = "planar"
gravity = [0, -9.81]

[units]
angle = "deg"

[[body]]
name = "arm"
inertia = { mass = 2.0, centre = [0.5, 0] }

[[joint]]
bodies = ["frame", "arm"]
type = "R"
driven = true
point = [0, 0]

[[force]]
type = "coordinate"
coordinate = "1-2.angle"
damping = 0.0069813170079773184  # 0.4 N m s/rad
"""


@pytest.fixture
def pendulum(tmp_path):
    path = tmp_path / "pendulum.toml"
    path.write_text(PENDULUM)
    return str(path)


def test_a_damped_pendulum_hangs_and_swings_as_by_formula(run_mbssa, pendulum):
    done = run_mbssa("linearise", pendulum, "--format", "json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    # m l² q'' + c q' + m g l q = 0 about the hanging position.
    inertia, damping, stiffness = 2.0 * 0.25, 0.4, 2.0 * 9.81 * 0.5
    natural = np.sqrt(stiffness / inertia)
    ratio = damping / (2 * inertia * natural)
    (mode,) = found["modes"]
    assert found["coordinates"]["1-2.angle"] == pytest.approx(-np.pi / 2, abs=1e-9)
    assert (found["stable"], found["equilibrium"]["found"]) == (True, True)
    assert mode["frequency"] == pytest.approx(natural * np.sqrt(1 - ratio**2) / (2 * np.pi), rel=1e-8)
    assert mode["damping_ratio"] == pytest.approx(ratio, rel=1e-8)
    assert np.ravel([found[key] for key in ("mass", "damping", "stiffness")]) == pytest.approx(
        [inertia, damping, stiffness], rel=1e-8
    )
    table = run_mbssa("linearise", pendulum).stdout
    assert "-90   deg" in table
    assert table.endswith("stable\n")


def test_the_upper_position_is_not_stable_and_the_side_no_equilibrium(run_mbssa, pendulum):
    up = run_mbssa("linearise", pendulum, "--here", "--initial", "1-2.angle=90")
    assert (up.exit_code, "not stable" in up.stdout) == (1, True)
    side = run_mbssa("linearise", pendulum, "--here")
    assert "forces that are left: -9.81 N m along 1-2.angle" in side.stdout
    held = run_mbssa("linearise", pendulum, "--apply", "1-2.angle=4.905", "--format", "json")
    assert json.loads(held.stdout)["coordinates"]["1-2.angle"] == pytest.approx(-np.pi / 3, abs=1e-9)


def test_a_mode_is_played(run_mbssa, pendulum, tmp_path):
    page = tmp_path / "mode.html"
    done = run_mbssa("linearise", pendulum, "--animate", str(page))
    assert done.exit_code == 0, done.stderr
    assert "</html>" in page.read_text(encoding="utf-8")
    assert f"written: {page}" in done.stdout
    again = run_mbssa("linearise", pendulum, "--animate", str(page))
    assert (again.exit_code, "--force" in again.stderr) == (2, True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--apply", "1-2.angle"], "--apply 1-2.angle: write NAME=VALUE"),
        (["--initial", "1-2.turn=3"], "1-2.turn"),
        (["--mode", "3", "--animate", "mode.html"], "--mode 3: MODEL has 1 mode"),
        (["--animate", "mode.png"], "mode.png"),
    ],
)
def test_bad_input_is_named(run_mbssa, pendulum, tmp_path, monkeypatch, options, said):
    monkeypatch.chdir(tmp_path)
    done = run_mbssa("linearise", pendulum, *options)
    assert (done.exit_code, said in done.stderr) == (2, True), done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["pendulum.toml"]


def test_a_mode_that_only_creeps_is_not_played(run_mbssa, pendulum, tmp_path):
    stiff = tmp_path / "stiff.toml"
    stiff.write_text(PENDULUM.replace("damping = 0.0069", "damping = 0.69"))
    assert run_mbssa("linearise", str(stiff)).stdout.count("–") >= 4
    done = run_mbssa("linearise", str(stiff), "--animate", str(tmp_path / "mode.html"))
    assert (done.exit_code, "--mode 1: does not swing" in done.stderr) == (2, True)


def test_a_model_without_masses_is_refused(run_mbssa):
    done = run_mbssa("linearise", "planar_four_bar")
    assert (done.exit_code, "no body with mass" in done.stderr) == (2, True)
