"""Runs that go on from another one, and limits of joints on the way."""

import dataclasses

import numpy as np
import pytest
from pendulums import double_pendulum

import groups
import mbssa

#: Free fall over this height, m, and the time that it takes.
HEIGHT, GRAVITY = 0.5, 9.81
TAKES = (2 * HEIGHT / GRAVITY) ** 0.5


def falling(limits=None):
    m = mbssa.Builder("planar", name="fall").gravity(0, -GRAVITY)
    m.body("weight", inertia={"mass": 2.0, "centre": (0, 0)})
    return m.prismatic(
        "frame",
        "weight",
        point=(0, 0),
        axis=(0, 1),
        driven=True,
        limits={"slide": limits} if limits else None,
    ).build()


def three_weights():
    m = mbssa.Builder("planar", name="weights")
    for name in "abc":
        m.body(name, inertia={"mass": 1.0, "centre": (0, 0)})
        m.prismatic("frame", name, point=(0, 0), axis=(0, 1), driven=True)
    return m.build()


@pytest.mark.parametrize("method", ["groups", "partitioning", "lagrange"])
@pytest.mark.parametrize("name", ["slider_crank", "double pendulum"])
def test_two_halves_are_one_run(name, method):
    mechanism = double_pendulum() if name == "double pendulum" else mbssa.load(name)
    run = {"method": method, "tolerance": 1e-10, "compiled": False}
    whole = groups.simulate(mechanism, 0.06, steps=7, **run)
    first = groups.simulate(mechanism, 0.03, steps=4, **run)
    second = groups.simulate(mechanism, 0.03, steps=4, start=first, **run)
    assert second.time.tolist() == pytest.approx(whole.time[3:].tolist())
    assert second.status == "finished"
    for part in ("position", "velocity", "acceleration"):
        a, b = getattr(second.trajectory, part), getattr(whole.trajectory, part)[3:]
        assert np.abs(a - b).max() < 1e-6


def test_a_written_run_goes_on_with_its_turns(tmp_path):
    mechanism = double_pendulum()
    turning = groups.simulate(
        mechanism, 0.8, rates={"1-2.angle": 14.0}, tolerance=1e-9, steps=5, compiled=False
    )
    turning.trajectory.save(tmp_path / "first.npz")
    read = groups.load_trajectory(tmp_path / "first.npz")
    second = groups.simulate(mechanism, 0.1, start=read, steps=3, compiled=False)
    before, after = (each.trajectory.orientation for each in (turning, second))
    assert before[-1, 1] > 2 * np.pi
    assert after[0] == pytest.approx(before[-1])


def test_prescribed_coordinates_go_on_by_their_law():
    mechanism = double_pendulum()
    run = {"prescribed": {"1-2.angle": groups.speed(3.0)}, "steps": 3, "compiled": False}
    first = groups.simulate(mechanism, 0.1, **run)
    second = groups.simulate(mechanism, 0.1, start=first, **run)
    assert second.coordinates["1-2.angle"] == pytest.approx(3.0 * second.time)
    with pytest.raises(ValueError, match="other poses"):
        groups.simulate(mechanism, 0.2, prescribed={"1-2.angle": groups.speed(-3.0)}, start=first)


def test_what_cannot_go_on_is_refused():
    mechanism, still = double_pendulum(), groups.simulate(double_pendulum(), 0.1, steps=3, compiled=False)
    with pytest.raises(ValueError, match=r"start: .* own values"):
        groups.simulate(mechanism, 0.1, start=still, initial={"1-2.angle": 1.0})
    bare = dataclasses.replace(still.trajectory, velocity=None)
    with pytest.raises(ValueError, match=r"start: .* velocities"):
        groups.simulate(mechanism, 0.1, start=bare)
    for start, of in (
        (still, falling()),
        (groups.simulate(three_weights(), 0.1, steps=3, compiled=False), mbssa.load("slider_crank")),
    ):
        with pytest.raises(ValueError, match="another mechanism"):
            groups.simulate(of, 0.1, start=start)


def test_a_limit_ends_a_run_where_it_is_reached():
    run = groups.simulate(falling((-HEIGHT, 1.0)), 1.0, stop_at_limits=True, tolerance=1e-10, compiled=False)
    assert run.status == "event 1-2.slide at its lower limit"
    assert run.time[-1] == pytest.approx(TAKES, abs=1e-9)
    assert run.coordinates["1-2.slide"][-1] == pytest.approx(-HEIGHT)


def test_a_run_that_begins_at_a_limit_or_beyond_ends_unless_it_comes_back():
    run = {"stop_at_limits": True, "compiled": False}
    first = groups.simulate(falling((-HEIGHT, 1.0)), 1.0, **run)
    for found in (
        groups.simulate(falling((-HEIGHT, 1.0)), 0.1, start=first, **run),
        groups.simulate(falling((0.0, 1.0)), 0.1, **run),
        groups.simulate(falling((0.25, 1.0)), 0.1, **run),
    ):
        assert found.status == "event 1-2.slide at its lower limit"
        assert len(found.time) == 1
    back = groups.simulate(falling((-1.0, 0.0)), 0.1, initial={"1-2.slide": 0.25}, **run)
    assert back.status == "finished"
    assert "1-2.slide is above its limit of 0 m from t = 0 s on" in back.notes[0]


def test_a_limit_that_is_passed_is_noted():
    run = groups.simulate(falling((-HEIGHT, 1.0)), 1.0, steps=1001, compiled=False)
    (note,) = run.notes
    assert note.startswith("1-2.slide")
    assert "-0.5" in note
    assert float(note.split("t = ")[1].split()[0]) == pytest.approx(TAKES, abs=1e-3)
    assert groups.simulate(falling(), 1.0, compiled=False).notes == ()


def test_the_command_goes_on_and_stops_at_limits(run_mbssa, tmp_path):
    model, first = tmp_path / "fall.toml", tmp_path / "first.npz"
    mbssa.save(falling((-HEIGHT, 1.0)), model)
    assert run_mbssa("simulate", str(model), "--duration", "0.1", "--output", str(first)).exit_code == 0
    done = run_mbssa("simulate", str(model), "--restart", str(first), "--limits", "stop", "--duration", "1")
    assert done.exit_code == 0
    assert f"event 1-2.slide at its lower limit at t = {TAKES:.9g} s" in done.stdout
    done = run_mbssa("simulate", str(model), "--restart", str(tmp_path / "no.npz"))
    assert (done.exit_code, "--restart" in done.stderr) == (2, True)
