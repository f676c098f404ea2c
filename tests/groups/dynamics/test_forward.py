"""Forward dynamics against formulas, against another formulation, and against inverse dynamics."""

import numpy as np
import pytest
from dense_forces import with_masses
from pendulums import double_pendulum, pendulum
from scipy.special import ellipj, ellipk

import groups
import mbssa
from mbssa.input_search.query import with_inputs


@pytest.mark.parametrize("method", ["groups", "lagrange"])
def test_a_pendulum_by_elliptic_functions(method):
    start = 2.5
    frequency = np.sqrt(2.0 * 9.81 * 0.5 / (0.1 + 2.0 * 0.5**2))
    k = np.sin(start / 2)
    found = groups.simulate(
        pendulum(),
        3.0,
        method=method,
        tolerance=1e-11,
        initial={"1-2.angle": start},
        steps=13,
        compiled=False,
    )
    sn, *_ = ellipj(ellipk(k**2) - frequency * found.time, k**2)
    np.testing.assert_allclose(found.coordinates["1-2.angle"], 2 * np.arcsin(k * sn), atol=2e-8)
    assert found.ok
    assert np.abs(found.balance).max() < 1e-8


@pytest.mark.parametrize("method", ["groups", "lagrange"])
def test_a_double_pendulum_keeps_its_energy(method):
    found = groups.simulate(double_pendulum(), 0.6, method=method, tolerance=1e-11, steps=11, compiled=False)
    assert found.kinetic_energy.max() > 5.0
    assert np.ptp(found.total_energy) < 1e-7
    assert found.position_error.max() < 1e-12
    assert found.velocity_error.max() < 1e-12


def test_groups_agree_with_multipliers():
    """The two share neither positions nor accelerations, nor the equations of constraints."""
    for name in ("slider_crank", "andrews", "planar_3rrr", "universal_shafts"):
        mechanism = with_masses(mbssa.load(name))
        one, other = (
            groups.simulate(mechanism, 0.03, method=method, tolerance=1e-10, steps=3, compiled=False)
            for method in ("groups", "lagrange")
        )
        assert one.ok, name
        assert other.ok, name
        scale = max(np.abs(value).max() for value in one.coordinates.values()) + 1.0
        for coordinate, value in one.coordinates.items():
            given = other.coordinates[coordinate]
            np.testing.assert_allclose(given, value, atol=1e-7 * scale, err_msg=f"{name} {coordinate}")


def test_inverse_dynamics_gives_the_forces_back():
    """Of the simulated motion, released coordinates need no driving force but what was applied."""
    for name in ("slider_crank", "planar_3rrr", "stewart"):
        mechanism = with_masses(mbssa.load(name))
        first = mechanism.driven_coordinates[0]
        found = groups.simulate(mechanism, 0.02, steps=3, applied={first: 7.0}, compiled=False)
        alone = groups.forces(found.trajectory, found.structure)
        scale = max(np.abs(np.nan_to_num(alone.shaking_force)).max(), 1.0)
        given = dict(zip(alone.drives, alone.driving.T, strict=True))
        np.testing.assert_allclose(given.pop(first), 7.0, atol=1e-9 * scale, err_msg=name)
        for driving in given.values():
            np.testing.assert_allclose(driving, 0.0, atol=1e-9 * scale, err_msg=name)
        np.testing.assert_allclose(found.forces.driving, 0.0, atol=1e-9 * scale, err_msg=name)


def test_a_prescribed_coordinate_keeps_its_law():
    run = {"prescribed": {"1-2.angle": groups.speed(3.0)}, "tolerance": 1e-11, "steps": 6, "compiled": False}
    found, other = (
        groups.simulate(double_pendulum(), 0.5, method=method, **run) for method in ("groups", "lagrange")
    )
    np.testing.assert_allclose(found.coordinates["1-2.angle"], 3.0 * found.time, atol=1e-12)
    np.testing.assert_allclose(other.coordinates["2-3.angle"], found.coordinates["2-3.angle"], atol=1e-8)
    assert np.abs(found.balance).max() < 1e-8
    assert np.abs(other.balance).max() < 1e-8
    driving = dict(zip(found.forces.drives, found.forces.driving.T, strict=True))
    assert np.abs(driving["2-3.angle"]).max() < 1e-9
    assert np.abs(driving["1-2.angle"]).max() > 1.0
    with pytest.raises(ValueError, match=r"initial: 1-2\.angle is prescribed"):
        groups.simulate(pendulum(), 0.5, initial={"1-2.angle": 0.1}, **run)


def test_all_faults_at_once():
    with pytest.raises(ValueError, match="no body has mass") as caught:
        groups.simulate(
            mbssa.load("planar_four_bar"), -1.0, method="magic", initial={"1-9.angle": 1.0},
            applied={"2-3.slide": 1.0}, rates={"1-2.angle": np.nan},
        )  # fmt: skip
    said = str(caught.value)
    for part in ("method 'magic'", "duration is -1.0", "1-9.angle", "2-3.slide", "rates of 1-2.angle is nan"):
        assert part in said


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"duration": "1"}, "duration is '1'; write"),
        ({"steps": 2.5}, r"steps is 2\.5; write a whole number"),
        (
            {"duration": 2.0, "time": [0.0, 1.0]},
            r"duration is 2\.0, and time gives the instants; leave one out",
        ),
        ({"tolerance": "1e-8"}, "tolerance is '1e-8'; write a number"),
        (
            {"events": [groups.Event("high", lambda _: "up")]},
            "event high: its function gives 'up'; return a number",
        ),
    ],
)
def test_unfit_arguments_are_named(wrong, said):
    with pytest.raises(ValueError, match=said):
        groups.simulate(pendulum(), **wrong)


def test_events_end_a_run_and_interruptions_keep_it():
    event = groups.Event("bottom", "1-2.angle", 0.0, direction=-1)
    found = groups.simulate(pendulum(), 3.0, initial={"1-2.angle": 0.5}, events=[event], compiled=False)
    assert found.status == "event bottom"
    assert abs(found.coordinates["1-2.angle"][-1]) < 1e-9
    assert found.events[0].time == found.time[-1]
    stopped = groups.simulate(
        pendulum(), 3.0, initial={"1-2.angle": 0.5}, progress=lambda share: share < 0.5, compiled=False
    )
    assert stopped.status == "stopped"
    assert 0 < len(stopped.time) < 201


def test_a_model_that_is_built_serves_many_runs():
    mechanism = pendulum()
    model = groups.build(mbssa.decompose(mechanism))
    for start in (0.5, 1.0):
        given = {"initial": {"1-2.angle": start}, "steps": 5, "compiled": False}
        one, other = (groups.simulate(of, 0.7, **given) for of in (mechanism, model))
        np.testing.assert_array_equal(one.trajectory.position, other.trajectory.position)
    with pytest.raises(TypeError, match="not a str"):
        groups.simulate("pendulum")


def test_the_implicit_integrator_finds_the_same_events():
    pytest.importorskip("sksundae")
    events = [
        groups.Event("bottom", "1-2.angle", 0.0, direction=-1),
        groups.Event("halfway", "1-2.angle", 0.25, direction=-1, ends=False),
        groups.Event("never", "1-2.angle", 0.25, direction=1),
    ]
    given = {"initial": {"1-2.angle": 0.5}, "events": events, "tolerance": 1e-9, "compiled": False}
    found, right = (groups.simulate(pendulum(), 3.0, method=name, **given) for name in ("dae", "groups"))
    assert found.status == right.status == "event bottom"
    assert [one.name for one in found.events] == [one.name for one in right.events] == ["halfway", "bottom"]
    for one, other in zip(found.events, right.events, strict=True):
        assert one.time == pytest.approx(other.time, abs=1e-6)
    assert found.time[-1] == found.events[-1].time
    assert len(found.time) == len(right.time)


def test_coordinates_change_where_they_get_poor():
    """A crank-rocker driven by its rocker, which cannot follow the crank over its dead points."""
    mechanism = with_masses(mbssa.load("planar_four_bar"))
    poor = with_inputs(mechanism, ["1-4.angle"])
    started = groups.simulate(mechanism, 1e-6, steps=2, rates={"1-2.angle": 30.0}, compiled=False)
    rate = started.trajectory.joint("1-4")["angle"].rate[0]
    found = groups.simulate(poor, 0.3, rates={"1-4.angle": rate}, tolerance=1e-10, steps=13, compiled=False)
    right = groups.simulate(
        mechanism, 0.3, rates={"1-2.angle": 30.0}, tolerance=1e-10, steps=13, compiled=False
    )
    assert found.ok
    assert found.changes
    assert found.changes[0].before == ("1-4.angle",)
    np.testing.assert_allclose(
        found.trajectory.joint("1-2")["angle"].value, right.coordinates["1-2.angle"], atol=1e-5
    )
    assert np.abs(found.balance).max() < 1e-5 * found.kinetic_energy.max()


def test_independent_coordinates_are_chosen_where_none_is_driven():
    found = groups.simulate(double_pendulum(driven=False), 0.3, steps=4, compiled=False)
    driven = groups.simulate(double_pendulum(), 0.3, steps=4, compiled=False)
    assert found.released == ("1-2.angle", "2-3.angle")
    np.testing.assert_array_equal(found.trajectory.position, driven.trajectory.position)


def test_a_gyroscope_on_a_ball_joint_keeps_energy_and_momentum():
    m = mbssa.Builder("spatial", name="gyroscope").gravity(0, 0, -9.81)
    m.body("top", inertia={"mass": 1.0, "centre": (0.3, 0, 0.4), "moments": (0.1, 0.12, 0.05)})
    found = groups.simulate(
        m.spherical("frame", "top", point=(0, 0, 0)).build(), 0.5, tolerance=1e-10, steps=6, compiled=False,
        rates={"1-2.angle_z": 4.0},
    )  # fmt: skip
    assert np.abs(found.balance).max() < 1e-8
    assert np.ptp(found.kinetic_energy) > 0.1
    # Weight has no moment about the vertical, nor has the joint.
    assert np.abs(found.forces.shaking_moment).max() < 1e-8


@pytest.mark.parametrize("method", ["groups", "lagrange"])
def test_a_torsion_spring_counts_turns_in_space(method):
    m = mbssa.Builder("spatial", name="wound up")
    m.body("wheel", inertia={"mass": 1.0, "centre": (0, 0, 0), "moments": (1.0, 1.0, 2.0)})
    m.revolute("frame", "wheel", point=(0, 0, 0), axis=(0, 0, 1), driven=True)
    wheel = m.force("coordinate", coordinate="1-2.angle", stiffness=2.0, rest=0.0).build()
    found = groups.simulate(
        wheel, 2.0, method=method, rates={"1-2.angle": 20.0}, tolerance=1e-10, steps=9, compiled=False
    )
    np.testing.assert_allclose(found.coordinates["1-2.angle"], 20.0 * np.sin(found.time), atol=1e-6)
    assert np.ptp(found.total_energy) < 1e-5
