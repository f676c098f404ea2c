"""Simulations and equilibria have bounds: magnitudes, steps, evaluations; and progress without a terminal."""

import io
import sys

import pytest

import groups
import mbssa
from groups.dynamics.forward import small_motions
from mbssa import progress


def pendulum(gravity=9.81, force=None, mass=1.0):
    m = mbssa.Builder("planar").body("arm", inertia={"mass": mass, "centre": (0.0, -1.0)})
    m = m.gravity(0.0, -gravity).revolute("frame", "arm", point=(0, 0), driven=True)
    if force is not None:
        m = m.force("coordinate", id="push", coordinate="1-2.angle", **force)
    return m.build()


def test_magnitudes_of_a_model_are_bounded():
    for choice, place in (
        ({"gravity": 1e12}, "gravity"),
        ({"mass": 1e-300}, "mass"),
        ({"force": {"force": 1e30}}, "force"),
        ({"force": {"stiffness": 1e30}}, "stiffness"),
        ({"force": {"stiffness": 1.0, "rest": 1e30}}, "rest"),
    ):
        with pytest.raises(mbssa.ModelError) as caught:
            pendulum(**choice)
        (fault,) = caught.value.faults
        assert fault.place.endswith(place), choice
        assert "write" in str(fault), choice


def test_magnitudes_of_a_run_are_bounded_all_at_once():
    with pytest.raises(ValueError, match="rates of") as caught:
        groups.simulate(pendulum(), rates={"1-2.angle": 1e12}, initial={"1-2.angle": float("nan")},
                        applied={"1-2.angle": 1e30})  # fmt: skip
    assert "initial of 1-2.angle" in str(caught.value)
    assert "applied '1-2.angle'" in str(caught.value)
    with pytest.raises(ValueError, match="value of"):
        groups.equilibrium(pendulum(), initial={"1-2.angle": 1e12})


def test_steps_are_bounded_and_keep_what_was_reached():
    for method in ("groups", "lagrange"):
        found = groups.simulate(
            pendulum(), 1.0, rates={"1-2.angle": 1e3}, method=method, most_steps=20, compiled=False
        )
        assert not found.ok
        assert "stopped at t = " in found.status
        assert 1 < len(found.time) < 201
    assert groups.simulate(pendulum(), 0.01, steps=2, most_steps=20, compiled=False).ok
    with pytest.raises(ValueError, match="most_steps is 0"):
        groups.simulate(pendulum(), most_steps=0)
    with pytest.raises(ValueError, match=r"steps is 10{30}; write"):
        groups.simulate(pendulum(), steps=10**30)


def test_a_run_without_hope_is_given_up_early():
    """Torques that grow without bound, and that jump."""
    run = {"integrator": "LSODA", "tolerance": 1e-4, "compiled": False, "steps": 3}
    found = groups.simulate(pendulum(), applied={"1-2.angle": lambda t: 1e3 / (0.5 - t) ** 2}, **run)
    assert not found.ok
    assert found.steps == 1024
    assert "pace" in found.status
    assert "most_steps" in found.status
    assert groups.simulate(pendulum(), most_steps=100, tolerance=1e-4, compiled=False).ok
    found = groups.simulate(
        pendulum(), applied={"1-2.angle": lambda t: 1e30 * (t > 0.5)}, steps=5, compiled=False
    )
    assert not found.ok
    assert "t = 0.5 s: no step is small enough" in found.status
    assert "spacing" not in found.status  # words of SciPy
    assert len(found.time) > 1  # what was reached


def test_steps_of_the_residual_form_are_bounded():
    pytest.importorskip("sksundae")
    found = groups.simulate(pendulum(), 1.0, method="dae", most_steps=3, compiled=False)
    assert "after 3 steps; allow more most_steps" in found.status
    assert groups.simulate(pendulum(), 1.0, method="dae", steps=3, compiled=False).steps > 10


def test_a_search_for_an_equilibrium_is_bounded(monkeypatch):
    shares = []
    begin = {"1-2.angle": 1.5}
    assert groups.equilibrium(pendulum(), initial=begin, progress=shares.append).found
    assert shares[0] == 0.0
    assert 0.0 < max(shares) <= 1.0
    monkeypatch.setattr(small_motions, "MOST_EVALUATIONS", 3)
    with pytest.raises(ValueError, match="stopped after 3 evaluations"):
        groups.equilibrium(pendulum(), initial=begin)


def test_without_a_terminal_progress_is_lines(monkeypatch):
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress.bar() as show:
        for now[0] in (0.5, 1.9, 2.1, 3.0, 4.5, 8.0, 9.1):
            show("simulating 1 s", now[0] / 10)
    assert written.getvalue().splitlines() == [
        "simulating 1 s: 21% after 2 s", "simulating 1 s: 45% after 4 s", "simulating 1 s: 91% after 9 s"
    ]  # fmt: skip
