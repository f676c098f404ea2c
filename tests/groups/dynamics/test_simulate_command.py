"""The command ``mbssa simulate``."""

import json

import numpy as np
import pytest
from dense_forces import with_masses

import groups
import mbssa

SHORT = ("--duration", "0.05", "--steps", "6", "--no-compiled")


def test_a_table_and_json_say_the_same(run_mbssa):
    done = run_mbssa("simulate", "slider_crank", *SHORT, "--rate", "1-2.angle=90")
    assert done.exit_code == 0
    assert "1-2.angle" in done.stdout
    assert "finished, checked by its balances" in done.stdout
    found = json.loads(
        run_mbssa("simulate", "slider_crank", *SHORT, "--rate", "1-2.angle=90", "--format", "json").stdout
    )
    assert found["status"] == "finished"
    assert found["branch"] == "checked"
    assert found["released"] == ["1-2.angle"]
    assert found["coordinates"][0]["unit"] == "deg"
    assert found["balance"] < 1e-8


def test_files_have_energies_reactions_and_the_motion(run_mbssa, tmp_path):
    names = ["motion.csv", "energies.csv", "reactions.csv"]
    options = ["--output", "--energies", "--reactions"]
    words = [
        word for pair in zip(options, [str(tmp_path / name) for name in names], strict=True) for word in pair
    ]
    done = run_mbssa("simulate", "andrews", "--duration", "0.002", "--steps", "5", "--no-compiled", *words)
    assert done.exit_code == 0
    for name in names:
        header, *rows = (tmp_path / name).read_text().splitlines()
        assert header.startswith("time [s]")
        assert len(rows) == 5
    energies = np.genfromtxt(tmp_path / "energies.csv", delimiter=",", names=True)
    assert abs(energies["balance_J"]).max() < 1e-9
    assert run_mbssa("simulate", "andrews", *words).exit_code == 2


@pytest.mark.parametrize("value", ["30", "30deg", "0.523598775598 rad"])
def test_a_run_ends_at_an_event_in_the_units_of_the_file_or_its_own(run_mbssa, value):
    done = run_mbssa(
        "simulate", "slider_crank", "--no-compiled", "--until", f"1-2.angle={value}", "--format", "json"
    )
    found = json.loads(done.stdout)
    assert done.exit_code == 0
    assert found["status"] == f"event 1-2.angle={value}"
    assert found["coordinates"][0]["end"] == pytest.approx(30.0, abs=1e-6)


def test_numbers_of_options_are_in_the_units_of_the_file_or_their_own(run_mbssa):
    words = ("simulate", "slider_crank", *SHORT, "--format", "json")
    assert mbssa.load("slider_crank").units == ("m", "deg")
    for two in (
        ("--initial", "1-2.angle=40", "--initial", "1-2.angle=0.6981317007977318rad"),
        ("--rate", "1-2.angle=90", "--rate", "1-2.angle=1.5707963267948966 rad/s"),
        ("--apply", "1-2.angle=4", "--apply", "1-2.angle=4000 N mm"),
    ):
        bare, written = (run_mbssa(*words, *given) for given in (two[:2], two[2:]))
        assert bare.exit_code == written.exit_code == 0, two
        ends = [json.loads(done.stdout)["coordinates"][0]["end"] for done in (bare, written)]
        assert ends[0] == pytest.approx(ends[1], rel=1e-9), two
    for words, said in (
        (["--until", "1-2.angle=5mm"], "--until 1-2.angle=5mm: is in deg, not in mm"),
        (["--initial", "1-2.angle=5mm"], "is in deg, not in mm"),
        (["--method", "penalty", "--stiffness", "5 N"], "--stiffness: is in N/m, not in N"),
        (["--apply", "1-2.angle=5N"], "is in N m, not in N"),
    ):
        done = run_mbssa("simulate", "slider_crank", *words)
        assert done.exit_code == 2, words
        assert said in done.stderr, words


def test_a_prescribed_coordinate_keeps_the_law_of_the_model(run_mbssa):
    done = run_mbssa("simulate", "rotor", "--drive", "9-13.angle,13-15.angle", *SHORT, "--format", "json")
    found = json.loads(done.stdout)
    assert found["prescribed"] == ["9-13.angle", "13-15.angle"]
    assert found["released"] == ["11-14.angle_1"]


def test_bad_input_is_one_sentence(run_mbssa):
    for words, said in (
        (["planar_four_bar"], "no body has mass"),
        (["slider_crank", "--initial", "crank=1"], "--initial: crank"),
        (["slider_crank", "--initial", "1-2.angle"], "NAME=VALUE"),
        (["slider_crank", "--until", "1-2.angle"], "QUANTITY=VALUE"),
        (["slider_crank", "--drive", "2-3.angle"], "--drive '2-3.angle'"),
        (["slider_crank", "--apply", "1-9.angle=3"], "1-9"),
        (["slider_crank", "--until", "nonsense=3"], "nonsense"),
        (["slider_crank", "--until", "9-2.angle=3"], "'9-2.angle'"),
        (["slider_crank", "--largest-step", "0"], "--largest-step is 0.0"),
        (["slider_crank", "--stiffness", "10"], "--method penalty"),
        (["slider_crank", "--curves", "2-3"], "--curves"),
        (["slider_crank", "--tolerance", "-1"], "--tolerance is -1.0"),
        (["bennett"], "no body has mass"),
        (["nowhere.toml"], "nowhere.toml"),
    ):
        done = run_mbssa("simulate", *words, "--no-compiled")
        assert (done.exit_code, done.stdout) == (2, ""), words
        assert said in done.stderr, words
        assert "Traceback" not in done.stderr


def test_a_model_that_is_singular_at_its_reference_starts_there_at_rest(run_mbssa, tmp_path):
    """Its driven coordinates do not determine the rates of the others: it moves by others."""
    path = tmp_path / "model.toml"
    mechanism = with_masses(mbssa.load("micromanipulator"))
    mbssa.save(mechanism, path)
    done = run_mbssa("simulate", str(path), "--duration", "0.01", "--steps", "3", "--no-compiled")
    assert done.exit_code == 0
    one, other = (
        groups.simulate(mechanism, 0.01, steps=3, method=method, compiled=False).trajectory.position
        for method in ("groups", "lagrange")
    )
    np.testing.assert_allclose(one, other, atol=1e-12)
    assert np.ptp(one, axis=0).max() > 1e-6
    rated = run_mbssa(
        "simulate", str(path), "--rate", f"{mechanism.driven_coordinates[0]}=1", "--no-compiled"
    )
    assert rated.exit_code == 2
    assert "singular" in rated.stderr
