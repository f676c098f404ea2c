"""Lengths and directions of the built-in linkages, as their notes promise them."""

import math
from dataclasses import replace

import pytest
from model_geometry import angle_between, distance, dot, geometry, point

import mbssa

#: Published lengths, m, between the points of two joints.
LENGTHS = {
    "slider_crank": {("1-2", "2-3"): 0.2, ("2-3", "3-4"): 1.0},
    "slider_crank_isostatic": {("1-2", "2-3"): 0.2, ("2-3", "3-4"): 1.0},
    "planar_four_bar": {("1-2", "2-3"): 0.3, ("2-3", "3-4"): 0.78, ("3-4", "1-4"): 0.54, ("1-2", "1-4"): 0.9},
    "triad": {
        ("1-2", "2-4"): 0.1, ("2-4", "3-4"): 0.68, ("1-5", "3-5"): 0.65, ("1-6", "3-6"): 0.53,
        ("3-4", "3-5"): 0.29, ("3-4", "3-6"): 0.29, ("3-5", "3-6"): 0.42,
    },
    "pendulum_four_bar": {("1-3", "3-4"): 0.41, ("3-4", "2-4"): 0.95, ("1-2", "2-4"): 0.6},
    "double_parallelogram": {("1-2", "2-5"): 0.25, ("1-3", "3-5"): 0.25, ("1-4", "4-5"): 0.25},
    "suspension": {("2-3", "3-4"): 0.4, ("2-6", "4-6"): 0.4, ("3-4", "4-6"): 0.25, ("2-3", "2-6"): 0.25},
}  # fmt: skip
#: Cranks whose angle is measured from the x axis: its pivot and its pin.
CRANKS = {
    "slider_crank": [("1-2", "2-3")],
    "slider_crank_isostatic": [("1-2", "2-3")],
    "planar_four_bar": [("1-2", "2-3")],
    "triad": [("1-2", "2-4"), ("1-5", "3-5")],
    "double_parallelogram": [("1-2", "2-5"), ("1-3", "3-5"), ("1-4", "4-5")],
}


def test_links_have_their_published_lengths_and_cranks_their_angles() -> None:
    for name, lengths in LENGTHS.items():
        mechanism = mbssa.load(name)
        for ends, length in lengths.items():
            assert distance(mechanism, *ends) == pytest.approx(length, rel=1e-14), (name, ends)
        for foot, pin in CRANKS.get(name, []):
            x, y, *_ = (b - a for a, b in zip(point(mechanism, foot), point(mechanism, pin), strict=True))
            angle = geometry(mechanism, foot).at_reference["angle"]
            assert angle == pytest.approx(math.atan2(y, x), rel=1e-15), (name, foot)


def test_the_slide_of_the_slider_crank_at_45_degrees() -> None:
    """Computed independently: 1.131370849898 m."""
    mechanism = mbssa.load("slider_crank")
    assert geometry(mechanism, "1-2").at_reference["angle"] == pytest.approx(math.pi / 4, rel=1e-15)
    assert point(mechanism, "3-4")[0] == pytest.approx(1.131370849898, abs=5e-13)
    assert geometry(mechanism, "1-4").at_reference["slide"] == point(mechanism, "3-4")[0]


def test_the_four_bar_in_space_is_that_of_the_plane() -> None:
    planar, spatial = mbssa.load("planar_four_bar"), mbssa.load("spatial_4r")
    for joint in planar.joints:
        assert (*point(planar, joint.id), 0.0) == point(spatial, joint.id)
        assert geometry(spatial, joint.id).axis == (0.0, 0.0, 1.0)
    assert geometry(spatial, "1-2").at_reference == geometry(planar, "1-2").at_reference


def test_isostatic_pin_is_perpendicular_to_the_rod() -> None:
    mechanism = mbssa.load("slider_crank_isostatic")
    axes = geometry(mechanism, "2-3").axes
    assert axes is not None
    rod = [b - a for a, b in zip(point(mechanism, "2-3"), point(mechanism, "3-4"), strict=True)]
    assert dot(rod, axes[1]) == pytest.approx(0.0, abs=1e-14)


def test_triad_has_no_dyad_until_another_bar_is_driven() -> None:
    mechanism = mbssa.load("triad")
    assert mbssa.decompose(mechanism).types == {"1R2D": 1, "6R2D": 1}
    driven = mechanism.driven.copy()
    driven[[mechanism.joint_ids.index("1-2"), mechanism.joint_ids.index("1-5")]] = [0, 1]
    structure = mbssa.decompose(replace(mechanism, driven=driven, motion=None))
    assert [group.bodies for group in structure.groups] == [(5,), (3, 6), (2, 4)]
    assert structure.types == {"1R2D": 1, "3R2D": 2}


def test_spatial_four_bar_rod_is_the_common_perpendicular() -> None:
    mechanism = mbssa.load("spatial_four_bar")
    pin = geometry(mechanism, "3-4")
    assert pin.point is not None
    assert pin.axis is not None
    ball = point(mechanism, "2-3")
    rod = [b - a for a, b in zip(ball, pin.point, strict=True)]
    assert dot(rod, pin.axis) == pytest.approx(0.0, abs=1e-15)
    assert math.hypot(*rod) ** 2 == pytest.approx(1.0225, rel=1e-14)
    assert math.hypot(*ball) == pytest.approx(0.3, rel=1e-15)


# --- loops that the count calls rigid ---------------------------------------------------------------


def test_bennett_lengths_and_twists() -> None:
    mechanism = mbssa.load("bennett")
    around = ["1-2", "2-3", "3-4", "1-4"]  # A, D, C, B
    for k, (length, sine) in enumerate([(0.5, 0.8), (0.3, 0.48), (0.5, 0.8), (0.3, 0.48)]):
        first, second = around[k], around[(k + 1) % 4]
        assert distance(mechanism, first, second) == pytest.approx(length, rel=1e-15)
        axes = [geometry(mechanism, joint).axis for joint in (first, second)]
        assert axes[0] is not None
        assert axes[1] is not None
        assert angle_between(axes[0], axes[1]) == pytest.approx(sine, rel=1e-15)
        link = [b - a for a, b in zip(point(mechanism, first), point(mechanism, second), strict=True)]
        for axis in axes:
            assert axis is not None
            assert dot(link, axis) == pytest.approx(0.0, abs=1e-15)
    crank = point(mechanism, "2-3")
    assert math.degrees(math.atan2(crank[1], crank[0])) == pytest.approx(70.0, rel=1e-15)


def test_bricard_is_its_own_half_turn() -> None:
    mechanism = mbssa.load("bricard")
    for joint, image in (("1-2", "4-5"), ("2-3", "5-6"), ("3-4", "1-6")):
        x, y, z = point(mechanism, joint)
        assert point(mechanism, image) == (-x, -y, z)
        axis = geometry(mechanism, joint).axis
        assert axis is not None
        assert geometry(mechanism, image).axis == (-axis[0], -axis[1], axis[2])


def test_sarrus_links() -> None:
    mechanism = mbssa.load("sarrus")
    for joints, length, axis in (
        (("1-2", "2-3", "3-4"), 0.5, (0.0, 1.0, 0.0)),
        (("1-6", "5-6", "4-5"), 0.34, (1.0, 0.0, 0.0)),
    ):
        foot, knee, top = joints
        assert distance(mechanism, foot, knee) == pytest.approx(length, rel=1e-15)
        assert distance(mechanism, knee, top) == pytest.approx(length, rel=1e-15)
        assert all(geometry(mechanism, joint).axis == axis for joint in joints)
        rise = [b - a for a, b in zip(point(mechanism, foot), point(mechanism, top), strict=True)]
        assert rise == [0.0, 0.0, 0.6]


def test_double_banana_turns_about_its_tips() -> None:
    mechanism = mbssa.load("double_banana")
    tips = [point(mechanism, joint) for joint in mechanism.joint_ids]
    along = tuple(a - b for a, b in zip(*tips, strict=True))
    for joint in mechanism.joint_ids:
        axes = geometry(mechanism, joint).axes
        assert axes is not None
        assert angle_between(axes[0], along) == 0.0


# --- Jansen and Andrews ----------------------------------------------------------------------------


def test_jansen_holy_numbers() -> None:
    mechanism = mbssa.load("theo_jansen")
    foot_geometry = mechanism.bodies[7].geometry
    assert foot_geometry is not None
    at = {
        "O": point(mechanism, "1-2"),
        "P": point(mechanism, "2-3"),
        "Q": point(mechanism, "3-4"),
        "B": point(mechanism, "1-4"),
        "R": point(mechanism, "5-6"),
        "S": point(mechanism, "4-7"),
        "T": point(mechanism, "7-8"),
        "F": foot_geometry.points["foot"],
    }
    centimetres = {
        "BQ": 41.5,
        "BR": 39.3,
        "BS": 40.1,
        "QS": 55.8,
        "ST": 39.4,
        "RT": 36.7,
        "TF": 65.7,
        "RF": 49.0,
        "PQ": 50.0,
        "PR": 61.9,
        "OP": 15.0,
    }
    for ends, length in centimetres.items():
        assert math.dist(at[ends[0]], at[ends[1]]) == pytest.approx(0.01 * length, rel=1e-14)
    assert at["B"] == pytest.approx((-0.38, -0.078), rel=1e-15)
    # Multiple joints: every pair at one point.
    for same in (("2-3", "2-5"), ("1-4", "1-6"), ("5-6", "6-8")):
        assert distance(mechanism, *same) == 0.0


#: Published lengths and initial angles (beta, Theta, gamma, Phi, delta, Omega, epsilon).
RR, D, SS, E, ZT, ZF, U = 0.007, 0.028, 0.035, 0.02, 0.04, 0.02, 0.04
ANDREWS = (
    -0.06171389001427645,
    0.0,
    0.4552798191630704,
    0.22266839016588588,
    0.48736497954384255,
    -0.22266839016588588,
    1.2305474445498212,
)


def test_andrews_closure() -> None:
    mechanism = mbssa.load("andrews")
    crank_pin, middle = point(mechanism, "2-3"), point(mechanism, "3-4")
    upper, lower = point(mechanism, "5-6"), point(mechanism, "7-8")
    pivot_a, pivot_b = point(mechanism, "1-6"), point(mechanism, "1-4")
    assert pivot_a == (-0.06934, -0.00227)
    assert pivot_b == (-0.03635, 0.03273)
    assert point(mechanism, "1-8") == pivot_a
    assert point(mechanism, "4-5") == point(mechanism, "4-7") == middle

    beta, theta, gamma, phi, delta, omega, epsilon = ANDREWS
    assert geometry(mechanism, "1-2").at_reference["angle"] == beta
    steps = [
        (point(mechanism, "1-2"), crank_pin, RR * math.cos(beta), RR * math.sin(beta)),
        (crank_pin, middle, -D * math.cos(beta + theta), -D * math.sin(beta + theta)),
        (middle, pivot_b, -SS * math.sin(gamma), SS * math.cos(gamma)),
        (middle, upper, -E * math.sin(phi + delta), E * math.cos(phi + delta)),
        (upper, pivot_a, -ZT * math.cos(delta), -ZT * math.sin(delta)),
        (middle, lower, -ZF * math.cos(omega + epsilon), -ZF * math.sin(omega + epsilon)),
        (lower, pivot_a, -U * math.sin(epsilon), U * math.cos(epsilon)),
    ]
    for start, end, dx, dy in steps:
        assert (end[0] - start[0], end[1] - start[1]) == pytest.approx((dx, dy), abs=1e-16)
