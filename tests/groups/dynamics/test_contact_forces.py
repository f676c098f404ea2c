"""Normal forces of contacts against statics and Newton's law, and contacts that pull."""

import dataclasses

import numpy as np
import pytest

import groups
import mbssa
from mbssa.mechanism import BodyGeometry, Inertia
from mbssa.motion import DefaultMotion, InputLaw


def solved(mechanism):
    trajectory = groups.build(mbssa.decompose(mechanism)).solve(compiled=False)
    assert trajectory.ok
    return trajectory, groups.forces(trajectory)


def with_inertia(mechanism, body, inertia, **changes):
    index = mechanism.body_names.index(body)
    before = mechanism.body_geometry.get(index, BodyGeometry())
    geometry = dict(mechanism.body_geometry) | {index: dataclasses.replace(before, inertia=inertia)}
    return dataclasses.replace(mechanism, body_geometry=geometry, **changes)


def shaken(amplitude):
    """A wheel that lies on a plate, which moves up and down five times a second."""
    m = mbssa.Builder("planar").body("plate").body("wheel", inertia={"mass": 2.0, "centre": (0.1, 0.05)})
    m.gravity(0, -9.81).prismatic("frame", "plate", point=(0, 0), axis=(0, 1), driven=True)
    m.rolling_with_slip("plate", "wheel", point=(0.1, 0.05), axis=(1, 0), radius=0.05, driven=True)
    still = {name: {"law": "constant"} for name in ("2-3.roll", "2-3.slide")}
    swing = {"law": "harmonic", "amplitude": amplitude, "frequency": 5.0}
    return m.motion(still | {"1-2.slide": swing}, steps=401).build()


@pytest.mark.parametrize("amplitude", [0.005, 0.02])
def test_a_wheel_on_a_plate_parts_where_the_plate_falls_faster_than_it(amplitude):
    trajectory, forces = solved(shaken(amplitude))
    omega = 10 * np.pi
    expected = 2.0 * (9.81 - amplitude * omega**2 * np.sin(omega * trajectory.time))
    np.testing.assert_allclose(forces.contacts()["2-3.height"], expected, atol=1e-9)
    first = np.flatnonzero(expected < 0)
    if not len(first):
        assert forces.pulling() == []
        return
    (said,) = forces.pulling()
    assert f"contact 2-3.height pulls, first at t = {trajectory.time[first[0]]:.6g} s" in said
    assert f"at {len(first)} of 401 instants, by up to {-expected.min():.4g} N" in said


def test_the_force_of_a_cam_on_its_face_is_that_of_the_followers_acceleration():
    mechanism = with_inertia(mbssa.load("cam_flat"), "tappet", Inertia(0.3, (0.0, 0.09), moment=0.0))
    trajectory, forces = solved(mechanism)
    (force,) = forces.contacts().values()
    lift = 0.3 * trajectory.body("tappet").acceleration[:, 1]
    np.testing.assert_allclose(force, lift, atol=1e-9 * np.abs(lift).max())
    assert force.min() < 0.0
    assert len(forces.pulling()) == 1


def test_six_contacts_carry_a_platform_as_statics_says():
    """Moments about the line through the hollow and the vee, and about the other two balls."""
    still = DefaultMotion(1.0, 2, {"1-2.slide": InputLaw("constant")})
    inertia = Inertia(2.0, (0.05, 0.03, 0.04), moments=(0.01, 0.01, 0.01))
    mechanism = with_inertia(
        mbssa.load("kinematic_coupling"), "platform", inertia, gravity=(0.0, 0.0, -9.81), motion=still
    )
    _, forces = solved(mechanism)
    found = {name: force[0] for name, force in forces.contacts().items()}
    assert len(found) == 6
    weight = 2.0 * 9.81
    flat = weight * 30 / 80
    vee = (weight * 50 - flat * 40) / 80
    hollow = weight - flat - vee
    # Every face of hollow and vee has its normal 45 degrees from the vertical.
    given = {
        joint: sum(force for name, force in found.items() if name.startswith(f"{joint}."))
        for joint in ("hollow", "vee", "flat")
    }
    assert given["flat"] == pytest.approx(flat, rel=1e-9)
    assert given["vee"] == pytest.approx(vee * np.sqrt(2), rel=1e-9)
    assert given["hollow"] == pytest.approx(hollow * np.sqrt(2), rel=1e-9)
    assert forces.pulling() == []


def test_the_command_says_which_contact_pulls(run_mbssa, tmp_path):
    path = tmp_path / "shaken.toml"
    mbssa.save(shaken(0.02), path)
    done = run_mbssa("forces", str(path))
    assert done.exit_code == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "contact 2-3.height pulls, first at t = " in said
    assert "a contact that only pushes would part" in said


def test_a_law_that_ends_before_the_motion_is_bad_input(run_mbssa, tmp_path):
    mechanism = shaken(0.005)
    late = InputLaw("spline", {"times": (0.0, 0.5), "values": (0.0, 1.0)})
    force = mbssa.mechanism.Force("coordinate", "push", (0, 1), "1-2.slide", force=1.0, factor=late)
    path = tmp_path / "shaken.toml"
    mbssa.save(dataclasses.replace(mechanism, forces=(force,)), path)
    done = run_mbssa("forces", str(path))
    assert done.exit_code == 2
    assert "force push factor: t = 0.5025 s lies outside the points of the spline, 0 to 0.5 s" in done.stderr
