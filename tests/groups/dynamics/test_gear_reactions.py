"""Tooth forces of gears that name a carrier, and the loads of bearings and pins that follow."""

import numpy as np
import pytest
from dense_forces import with_masses

import groups
import mbssa
from groups.dynamics.state import State, masses

#: 20 N m turn the wheel of 0.2 m, 10 N m hold that of 0.1 m: 100 N in the mesh and in both bearings.
PAIR = """
format = 1
space = "planar"
body = [ { name = "w1" }, { name = "w2" } ]
joint = [
  { id = "b1", bodies = ["frame", "w1"], type = "R", point = [0.0, 0.0], driven = true },
  { id = "b2", bodies = ["frame", "w2"], type = "R", point = [0.3, 0.0] },
  { id = "mesh", bodies = ["w1", "w2"%s], type = "EO", points = [[0.0, 0.0], [0.3, 0.0]], ratio = 2.0 },
]
force = [ { type = "coordinate", coordinate = "b2.angle", force = -20.0 } ]
[motion]
duration = 1.0
[motion.inputs]
"b1.angle" = { law = "constant" }
"""

#: Bevel gears at a right angle, 0.1 m and 0.2 m, that meet in the origin; bearings behind the wheels.
BEVEL = """
format = 1
space = "spatial"
body = [ { name = "w1" }, { name = "w2" } ]
joint = [
  { id = "b1", bodies = ["frame", "w1"], type = "R", point = [0.5, 0, 0], axis = [1, 0, 0], driven = true },
  { id = "b2", bodies = ["frame", "w2"], type = "R", point = [0, 0, 0.7], axis = [0, 0, 1] },
  { id = "mesh", bodies = ["w1", "w2", "frame"], type = "BEVEL", ratio = 2, axes = [[1, 0, 0], [0, 0, 1]]%s },
]
force = [ { type = "coordinate", coordinate = "b2.angle", force = -20.0 } ]
[motion]
duration = 1.0
[motion.inputs]
"b1.angle" = { law = "constant" }
"""
POINTS = ", points = [[0.2, 0, 0], [0, 0, 0.1]]"


def _mechanism(text, tmp_path):
    path = tmp_path / "gears.toml"
    path.write_text(text)
    return mbssa.load(path)


def _forces(mechanism, **choice):
    structure = mbssa.decompose(mechanism)
    trajectory = groups.build(structure).solve(groups.default_motion(mechanism, steps=2), compiled=False)
    return groups.forces(trajectory, structure, **choice)


def test_the_frame_as_carrier_changes_no_reaction(tmp_path):
    alone = _forces(_mechanism(PAIR % "", tmp_path))
    framed = _forces(_mechanism(PAIR % ', "frame"', tmp_path))
    assert framed.driving[:, 0] == pytest.approx(-10.0)
    for name in ("b1", "b2", "mesh"):
        np.testing.assert_allclose(framed.joint(name).force, alone.joint(name).force, atol=1e-12)
        np.testing.assert_allclose(framed.joint(name).moment, alone.joint(name).moment, atol=1e-12)
    assert np.linalg.norm(framed.joint("b2").force, axis=1) == pytest.approx(100.0)
    assert not framed.indeterminate
    assert not framed.without_place()


def test_the_pin_of_a_planet_bears_twice_the_tooth_force():
    # The carrier gives 35 N m: the sun 10 N m at 24 mm, the ring the rest; one planet meshes with both.
    planetary = mbssa.load("planetary")
    brake = {"1-3.angle": -35.0}
    rate = groups.constant_speed(planetary, rate=0.4, duration=1.0, steps=4)
    structure = mbssa.decompose(planetary)
    found = groups.forces(groups.build(structure).solve(rate, compiled=False), applied=brake)
    tooth = 10.0 / 0.024
    assert found.driving[:, 0] == pytest.approx(10.0)
    assert np.linalg.norm(found.joint("3-4").force, axis=1) == pytest.approx(2 * tooth)
    assert np.linalg.norm(found.joint("ring").force, axis=1) == pytest.approx(tooth)
    assert np.linalg.norm(found.joint("1-2").force, axis=1) == pytest.approx(tooth)
    assert found.joint("3-5").force == pytest.approx(0.0, abs=1e-9)


def test_bevel_gears_load_their_bearings(tmp_path):
    found = _forces(_mechanism(BEVEL % POINTS, tmp_path))
    pitch = np.array([0.2, 0.0, 0.1])  # 0.1 m from the first axis, 0.2 m from the second
    assert found.driving[:, 0] == pytest.approx(-10.0)
    for name, bearing, axis, torque in (
        ("b1", [0.5, 0, 0], [1, 0, 0], -10.0), ("b2", [0, 0, 0.7], [0, 0, 1], -20.0),
    ):  # fmt: skip
        one = found.joint(name)
        assert np.linalg.norm(one.force, axis=1) == pytest.approx(100.0)
        # Each wheel is at rest under its bearing, its tooth force and its torque.
        on_tooth = -one.force
        moment = one.moment + np.cross(pitch - bearing, on_tooth) + torque * np.array(axis)
        np.testing.assert_allclose(moment, 0.0, atol=1e-9)


def test_every_body_of_a_moving_differential_is_in_balance():
    differential = with_masses(mbssa.load("differential"))
    structure = mbssa.decompose(differential)
    trajectory = groups.build(structure).solve(groups.default_motion(differential, steps=3), compiled=False)
    found, inertial = groups.forces(trajectory, structure), masses(State.of(trajectory))[0]
    for body in range(1, differential.n_bodies):
        total = sum(each.about(trajectory.position[:, body].T) for each in inertial if each.body == body).T
        for j, joint in enumerate(differential.joints):
            if body + 1 in joint.bodies:
                one = found.joint(j, on=body + 1)
                arm = one.point - trajectory.position[:, body]
                total = total + np.hstack([one.force, one.moment + np.cross(arm, one.force)])
        drive = [d for d, name in enumerate(found.drives) if name == f"1-{body + 1}.angle"]
        for d in drive:  # about its own axis: x of the shaft, y of the left wheel
            total[:, 3 + d] += found.driving[:, d]
        np.testing.assert_allclose(total, 0.0, atol=1e-8 * np.abs(found.shaking_force).max())
    crown = found.joint("final_drive")
    pitch = np.array([0.082, 0.022, 0.0])
    np.testing.assert_allclose(crown.force[:, :2], 0.0, atol=1e-9)
    np.testing.assert_allclose(crown.moment, np.cross(pitch - crown.point, crown.force), atol=1e-9)


def test_bearing_loads_without_a_pitch_point_are_not_known(tmp_path):
    for points in ("", ", points = [[0.2, 0, 0], [0, 0, 0.2]]", ", points = [[0, 0.1, 0], [0, 0, 1]]"):
        found = _forces(_mechanism(BEVEL % points, tmp_path), minimum_norm=True)
        assert found.driving[:, 0] == pytest.approx(-10.0), points
        assert np.isnan(found.joint("b1").force).all(), points
        assert {"Fx", "My"} <= set(found.joint("b2").indeterminate), points
        assert not found.indeterminate, points  # these are of redundant constraints
        assert [text.split()[1] for text in found.without_place()] == ["mesh"], points


def test_a_wheel_that_is_not_on_the_carrier_has_no_known_bearing_load(tmp_path):
    # Its bearing is 0.1 m away from the centre that the gear names.
    found = _forces(
        _mechanism((PAIR % ', "frame"').replace("point = [0.3, 0.0]", "point = [0.3, 0.1]"), tmp_path)
    )
    assert found.driving[:, 0] == pytest.approx(-10.0)
    assert np.isnan(found.joint("b2").force).all()
