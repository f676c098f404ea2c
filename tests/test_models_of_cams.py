"""Built-in models of joints whose profiles touch: followers move by their laws, teeth at their ratio."""

import itertools

import numpy as np
import pytest
from following import TURN, TURNING, assert_follows, solved

import groups
import mbssa
from mbssa.joints.cams.contact import touching
from mbssa.joints.cams.profiles import profile_from

#: model: the follower's joint, its coordinate
LAW_CAMS = {"cam_roller": ("1-3", "slide"), "cam_flat": ("1-3", "slide"), "cam_swing": ("1-3", "angle")}


def profile(name):
    return profile_from(mbssa.load(name).joint("2-3").geometry.profile)


def contact(trajectory):
    """Where a trajectory's cam touches: parameters on cam and follower, in the frames of the model."""
    mechanism = trajectory.mechanism
    geometry = mechanism.joint("2-3").geometry
    made = profile_from(geometry.profile)
    bodies = [trajectory.body(k) for k in (2, 3)]
    place, axes = [], []
    for body, point, axis in zip(bodies, geometry.points, geometry.axes, strict=True):
        # Bodies stand at the world's origin at the reference.
        c, s = np.cos(body.orientation), np.sin(body.orientation)
        turn = np.stack([np.stack([c, -s], -1), np.stack([s, c], -1)], -2)
        place.append(body.position + turn @ np.array(point))
        (x, y) = np.array(axis) / np.hypot(*axis)
        axes.append(turn @ np.array([[x, -y], [y, x]]))
    across = np.einsum("tji,tj->ti", axes[0], place[1] - place[0])
    relative = np.einsum("tji,tjk->tik", axes[0], axes[1])
    d, C = np.zeros((len(across), 3)), np.tile(np.eye(3), (len(across), 1, 1))
    d[:, :2], C[:, :2, :2] = across, relative
    return made, place, axes, touching(made.curve, made.follower_curve, made.kind, d, C)


# --- cams from laws ----------------------------------------------------------------------------------


def test_a_follower_moves_by_its_law():
    """s, s' w, s'' w² + s' a, all the way around."""
    for name, law in itertools.product(LAW_CAMS, TURNING.values()):
        joint, coordinate = LAW_CAMS[name]
        follower_law = profile(name).law
        trajectory = solved(mbssa.load(name), law)
        found, driver = trajectory.joint(joint)[coordinate], trajectory.joint("1-2")["angle"]
        assert np.ptp(driver.value) > 0.99 * TURN, (law, name)
        assert np.ptp(found.value) == pytest.approx(follower_law.rise, rel=1e-9), (law, name)
        scale = follower_law.rise
        # As accurate as the profile: 1e-12 of its size, 1e-9 of its second derivative.
        assert_follows(
            found, lambda angle, law=follower_law: law.at(angle)[:3], driver, size=scale, within=1e-8
        )
        assert np.abs(found.value - follower_law.at(driver.value)[0]).max() < 1e-10 * scale, (law, name)


def test_a_follower_stands_still_in_the_dwells_of_its_law():
    for name in LAW_CAMS:
        joint, coordinate = LAW_CAMS[name]
        law = profile(name).law
        trajectory = solved(mbssa.load(name), steps=721)
        angle, found = trajectory.joint("1-2")["angle"].value % TURN, trajectory.joint(joint)[coordinate]
        dwells = 0
        for k, segment in enumerate(law.segments):
            if segment.kind is not None:
                continue
            dwells += 1
            inside = (angle > law.starts[k] + 1e-6) & (angle < law.starts[k + 1] - 1e-6)
            assert inside.sum() > 90, name
            assert np.abs(found.value[inside] - law.heights[k]).max() < 1e-11 * law.rise, name
            assert np.abs(found.rate[inside]).max() < 1e-9 * np.abs(found.rate).max(), name
            assert np.abs(found.acceleration[inside]).max() < 1e-8 * np.abs(found.acceleration).max(), name
        assert dwells == {"cam_roller": 2, "cam_flat": 1, "cam_swing": 2}[name], name


def test_peaks_of_the_textbook():
    for name, over, velocity, acceleration in [
        ("cam_roller", 120, 2.0, 2 * np.pi),  # cycloidal rise
        ("cam_flat", 75, 2.1875, 7.5132),  # 4-5-6-7 rise
        ("cam_swing", 125, 2.0, 4.8881),  # modified trapezoid rise
    ]:
        joint, coordinate = LAW_CAMS[name]
        duration = over / 360.0
        trajectory = solved(mbssa.load(name), groups.speed(TURN, start=0.0), 2001, duration)
        found = trajectory.joint(joint)[coordinate]
        rise = profile(name).law.rise
        assert np.abs(found.rate).max() == pytest.approx(velocity * rise / duration, rel=1e-5), name
        assert np.abs(found.acceleration).max() == pytest.approx(
            acceleration * rise / duration**2, rel=1e-4
        ), name


def test_a_flat_face_is_touched_beside_the_axis_by_the_law_s_slope():
    """s' to the right of the cam's axis, seen along the rise: Uicker, Pennock and Shigley."""
    trajectory = solved(mbssa.load("cam_flat"))
    made, _, _, (_, along, curvature, _) = contact(trajectory)
    s, s1, s2, _ = made.law.at(trajectory.joint("1-2")["angle"].value)
    assert np.abs(along - s1).max() < 1e-9 * np.abs(s1).max()
    # And the radius of curvature there is base + s + s''.
    assert np.abs(1 / curvature - (0.036 + s + s2)).max() < 1e-8 * 0.036
    assert 0.004 < (1 / curvature).min() < 0.005


def test_a_roller_touches_where_the_law_says():
    """The parameter of a cam from a law is its angle; the roller's centre is a radius off its profile."""
    for name in ["cam_roller", "cam_swing"]:
        trajectory = solved(mbssa.load(name))
        made, place, axes, (s, *_) = contact(trajectory)
        angle = trajectory.joint("1-2")["angle"].value
        off = np.mod(-made.cam.sense * s - angle + np.pi, TURN) - np.pi
        assert np.abs(off).max() < 1e-7, name
        touched = place[0] + np.einsum("tij,tj->ti", axes[0], made.curve.at(s)[0])
        assert np.linalg.norm(place[1] - touched, axis=1) == pytest.approx(made.radius, rel=1e-10), name


def test_the_notes_of_the_cams_say_what_their_pressure_angles_are():
    for name, least, most in (("cam_roller", 29.0, 29.5), ("cam_swing", 25.0, 25.5)):
        cam = profile(name).cam
        pressure = np.rad2deg(cam.pressure(np.linspace(0, TURN, 7201)))
        assert least < np.abs(pressure).max() < most, name
    cam = profile("cam_swing").cam
    angle = np.linspace(0.0, np.deg2rad(125.0), 2001)
    assert np.abs(np.rad2deg(cam.pressure(angle))).max() < 16.0


# --- involute teeth ----------------------------------------------------------------------------------

BASES, AXES = (0.048, 0.072), 0.13
LINE = np.sqrt(AXES**2 - sum(BASES) ** 2)


def test_involutes_turn_at_the_ratio_of_their_base_circles():
    """The fundamental law of gearing."""
    ratio = -BASES[0] / BASES[1]

    def formula(angle):
        return ratio * angle, np.full_like(angle, ratio), np.zeros_like(angle)

    for law in (None, groups.ramp(0.0, np.pi / 6, 0.0, 1.0), groups.polynomial(0.0, 0.1, -0.3, 0.7)):
        trajectory = solved(mbssa.load("involute_teeth"), law, steps=121)
        driver = trajectory.joint("1-2")["angle"]
        assert_follows(trajectory.joint("1-3")["angle"], formula, driver, speed=TURN, within=1e-9)


def test_involutes_do_so_at_any_distance_of_their_axes(read):
    """0.5 mm further apart: the reference is closed by turning the wheel, the ratio stays."""
    from importlib.resources import files

    text = files("mbssa.io.models").joinpath("involute_teeth.toml").read_text("utf-8")
    assert text.count("130.0, 0.0]") == 2
    trajectory = solved(read(text.replace("130.0, 0.0]", "130.5, 0.0]")), groups.speed(0.4, start=0.0), 61)
    ratio = trajectory.joint("1-3")["angle"].rate / trajectory.joint("1-2")["angle"].rate
    assert ratio == pytest.approx(-BASES[0] / BASES[1], rel=1e-9)
    assert abs(trajectory.joint("1-3")["angle"].value[0]) > 1e-3


def test_involutes_touch_on_the_line_of_action():
    """The common tangent of the base circles; unwound by t1 and t2, which add up to its length."""
    trajectory = solved(mbssa.load("involute_teeth"), steps=121)
    made, place, axes, (one, two, *_) = contact(trajectory)
    assert BASES[0] * -one + BASES[1] * -two == pytest.approx(LINE, rel=1e-10)
    assert -one == pytest.approx(0.2 + trajectory.joint("1-2")["angle"].value, rel=1e-10)
    touched = place[0] + np.einsum("tij,tj->ti", axes[0], made.curve.at(one)[0])
    # From the tangent point of the pinion's base circle, under the pressure angle, through the pitch point.
    direction = np.array([5.0, 12.0]) / 13.0
    start = BASES[0] * np.array([12.0, -5.0]) / 13.0
    along = (touched - start) @ direction
    assert np.abs(touched - start - along[:, None] * direction).max() < 1e-11
    assert along == pytest.approx(BASES[0] * -one, rel=1e-9)
    pitch = (np.array([0.052, 0.0]) - start) @ direction
    assert along.min() < pitch < along.max()
