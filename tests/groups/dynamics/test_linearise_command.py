"""The command ``mbssa linearise``."""

import json

import numpy as np
import pytest

import mbssa

PENDULUM = """
format = 1
space = "planar"
gravity = [0, -9.81]
units = { angle = "deg" }
[[body]]
name = "arm"
inertia = { mass = 2.0, centre = [0.5, 0.0], moment = 0.1 }
[[joint]]
bodies = [1, 2]
type = "R"
driven = ["angle"]
point = [0, 0]
[[force]]
type = "coordinate"
coordinate = "1-2.angle"
damping = 0.005235987755982988  # N m s/deg, 0.3 N m s/rad
"""


@pytest.fixture
def pendulum(tmp_path):
    """A damped pendulum of m = 2 kg at 0.5 m, J = 0.6 kg m² about its pin, that stands to the right."""
    path = tmp_path / "pendulum.toml"
    path.write_text(PENDULUM)
    return path


def test_a_pendulum_hangs_and_swings_by_its_formula(run_mbssa, pendulum):
    done = run_mbssa("linearise", str(pendulum), "--format", "json")
    found = json.loads(done.stdout)
    assert done.exit_code == 0
    assert found["equilibrium"]
    assert found["stable"]
    assert found["coordinates"] == [
        {"name": "1-2.angle", "value": pytest.approx(-90.0, abs=1e-7), "unit": "deg"}
    ]
    damping, natural = 0.3 / 1.2, np.sqrt(9.81 / 0.6)
    (mode,) = found["modes"]
    assert mode["eigenvalue"] == pytest.approx([-damping, np.sqrt(natural**2 - damping**2)], rel=1e-6)
    assert mode["frequency"] == pytest.approx(mode["eigenvalue"][1] / (2 * np.pi))
    assert mode["damping_ratio"] == pytest.approx(damping / natural, rel=1e-6)
    text = run_mbssa("linearise", str(pendulum)).stdout
    assert "stable" in text
    assert f"{mode['frequency']:.5g}" in text


def test_a_torque_shifts_the_equilibrium(run_mbssa, pendulum):
    """The weight's moment, 9.81 N m cos φ, balances the torque."""
    done = run_mbssa("linearise", str(pendulum), "--apply", "1-2.angle=4.905", "--format", "json")
    found = json.loads(done.stdout)
    assert found["stable"]
    assert found["coordinates"][0]["value"] == pytest.approx(-60.0, abs=1e-6)


def test_stability_is_that_of_an_equilibrium(run_mbssa, pendulum):
    done = run_mbssa("linearise", str(pendulum), "--apply", "1-2.angle=1e6")
    assert (done.exit_code, "no static equilibrium found" in done.stdout) == (1, True)
    assert "stable" not in done.stdout


def test_here_an_upright_pendulum_is_unstable(run_mbssa, pendulum):
    done = run_mbssa("linearise", str(pendulum), "--here", "--initial", "1-2.angle=90", "--format", "json")
    found = json.loads(done.stdout)
    assert done.exit_code == 0
    assert found["equilibrium"] is None
    assert not found["stable"]
    assert max(mode["eigenvalue"][0] for mode in found["modes"]) > 3.0


def test_modes_are_written_and_played(run_mbssa, tmp_path):
    paths = [tmp_path / name for name in ("modes.csv", "modes.json", "swing.html")]
    words = ["-o", str(paths[0]), "-o", str(paths[1]), "--animate", str(paths[2]), "--amplitude", "20"]
    done = run_mbssa("linearise", "slider_crank", *words)
    assert done.exit_code == 0, done.stderr
    header, row = paths[0].read_text().splitlines()
    assert header.startswith("mode,frequency [Hz],damping ratio,")
    saved = json.loads(paths[1].read_text())
    assert float(row.split(",")[1]) == saved["modes"][0]["frequency"]
    assert "<html" in paths[2].read_text()[:500]


def test_bad_input_is_one_sentence(run_mbssa, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    played = ["slider_crank", "--animate", "x.html"]
    for words, code, said in (
        (["planar_four_bar"], 2, "no body has mass"),
        (["slider_crank", "--initial", "crank=1"], 2, "crank"),
        (["slider_crank", "--apply", "1-9.angle=3"], 2, "1-9"),
        (["slider_crank", "--initial", "1-2.angle"], 2, "NAME=VALUE"),
        (["slider_crank", "--points", "crank.x"], 2, "--points:"),
        ([*played, "--mode", "2"], 2, "--mode 2: beyond the last of 1 mode"),
        ([*played, "--amplitude", "0"], 2, "--amplitude 0"),
        ([*played, "--here", "--initial", "1-2.angle=90"], 1, "does not oscillate"),
        (["slider_crank", "--amplitude", "5"], 2, "--amplitude:"),
        (["slider_crank", "--apply", "2-3.x=1"], 2, "'2-3.x'"),
        (["slider_crank", "--initial", "1-2.angle=nan"], 2, "'nan' is no number"),
        ([*played, "--amplitude", "5mm"], 2, "is in deg, not in mm"),
        (["bennett"], 2, "no body has mass"),
        (["nowhere.toml"], 2, "nowhere.toml"),
    ):
        done = run_mbssa("linearise", *words)
        assert (done.exit_code, done.stdout) == (code, ""), words
        assert said in done.stderr, words
        assert "Traceback" not in done.stderr
        assert not (tmp_path / "x.html").exists(), words


def test_an_equilibrium_beyond_the_workspace_is_told(run_mbssa, tmp_path):
    """A ladder on a wall and a floor, whose weight falls until it lies: the wall's slide ends there."""
    m = mbssa.Builder("planar").gravity(0, -9.81).body("foot").body("ladder")
    m.body("head", inertia={"mass": 1.0, "centre": (0, 0.8)})
    m.prismatic("frame", "foot", point=(0.6, 0), axis=(1, 0)).revolute("foot", "ladder", point=(0.6, 0))
    m.revolute("ladder", "head", point=(0, 0.8))
    m.prismatic("frame", "head", point=(0, 0.8), axis=(0, 1), driven=True).save(tmp_path / "ladder.toml")
    done = run_mbssa("linearise", str(tmp_path / "ladder.toml"))
    assert (done.exit_code, done.stdout) == (2, "")
    assert "workspace" in done.stderr
