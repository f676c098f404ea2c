"""Lengths and directions of the built-in linkages, as their notes promise them."""

import math
from dataclasses import replace

import pytest
from model_geometry import angle_between, distance, dot, geometry, point

import mbssa

# --- slider-crank and four-bar ---------------------------------------------------------------------


def test_slider_crank_lengths() -> None:
    for name in ["slider_crank", "slider_crank_isostatic"]:
        mechanism = mbssa.load(name)
        assert distance(mechanism, "1-2", "2-3") == pytest.approx(0.2, rel=1e-15), name
        assert distance(mechanism, "2-3", "3-4") == pytest.approx(1.0, rel=1e-15), name
        pin = point(mechanism, "2-3")
        assert math.atan2(pin[1], pin[0]) == pytest.approx(math.pi / 4, rel=1e-15), name
        assert geometry(mechanism, "1-2").at_reference["angle"] == pytest.approx(math.pi / 4, rel=1e-15), name
        # x at 45 degrees, computed independently: 1.131370849898.
        assert point(mechanism, "3-4")[0] == pytest.approx(1.131370849898, abs=5e-13), name
        assert geometry(mechanism, "1-4").at_reference["slide"] == point(mechanism, "3-4")[0], name


def test_isostatic_pin_is_perpendicular_to_the_rod() -> None:
    mechanism = mbssa.load("slider_crank_isostatic")
    axes = geometry(mechanism, "2-3").axes
    assert axes is not None
    rod = [b - a for a, b in zip(point(mechanism, "2-3"), point(mechanism, "3-4"), strict=True)]
    assert dot(rod, axes[1]) == pytest.approx(0.0, abs=1e-14)


def test_four_bar_in_the_plane_and_in_space() -> None:
    planar, spatial = mbssa.load("planar_four_bar"), mbssa.load("spatial_4r")
    lengths = [
        distance(planar, *pair) for pair in (("1-2", "2-3"), ("2-3", "3-4"), ("3-4", "1-4"), ("1-2", "1-4"))
    ]
    assert lengths == pytest.approx([0.3, 0.78, 0.54, 0.9], rel=1e-15)
    assert min(lengths) + max(lengths) < sum(lengths) / 2  # Grashof
    for joint in planar.joints:
        assert (*point(planar, joint.id), 0.0) == point(spatial, joint.id)
        assert geometry(spatial, joint.id).axis == (0.0, 0.0, 1.0)
    pin = point(planar, "2-3")
    angle = pytest.approx(math.atan2(pin[1], pin[0]), rel=1e-15)
    assert geometry(planar, "1-2").at_reference["angle"] == angle
    assert geometry(spatial, "1-2").at_reference["angle"] == angle


def test_triad_lengths() -> None:
    mechanism = mbssa.load("triad")
    bars = {
        ("1-2", "2-4"): 0.1,
        ("2-4", "3-4"): 0.68,
        ("1-5", "3-5"): 0.65,
        ("1-6", "3-6"): 0.53,
        ("3-4", "3-5"): 0.29,
        ("3-4", "3-6"): 0.29,
        ("3-5", "3-6"): 0.42,
    }
    for ends, length in bars.items():
        assert distance(mechanism, *ends) == pytest.approx(length, rel=1e-15)
    for foot, pin in (("1-2", "2-4"), ("1-5", "3-5")):
        along = [b - a for a, b in zip(point(mechanism, foot), point(mechanism, pin), strict=True)]
        angle = geometry(mechanism, foot).at_reference["angle"]
        assert angle == pytest.approx(math.atan2(along[1], along[0]), rel=1e-15)


def test_triad_has_no_dyad_until_another_bar_is_driven() -> None:
    mechanism = mbssa.load("triad")
    assert mbssa.decompose(mechanism).types == {"1R2D": 1, "6R2D": 1}
    driven = mechanism.driven.copy()
    driven[[mechanism.joint_ids.index("1-2"), mechanism.joint_ids.index("1-5")]] = [0, 1]
    structure = mbssa.decompose(replace(mechanism, driven=driven, motion=None))
    assert [group.bodies for group in structure.groups] == [(5,), (3, 6), (2, 4)]
    assert structure.types == {"1R2D": 1, "3R2D": 2}


def test_pendulum_lengths() -> None:
    mechanism = mbssa.load("pendulum_four_bar")
    crank = distance(mechanism, "1-3", "3-4")
    rod = distance(mechanism, "3-4", "2-4")
    pendulum = distance(mechanism, "1-2", "2-4")
    assert (crank, rod, pendulum) == pytest.approx((0.41, 0.95, 0.6), rel=1e-15)


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


def test_double_parallelogram_cranks() -> None:
    mechanism = mbssa.load("double_parallelogram")
    for crank in ("2", "3", "4"):
        foot, pin = point(mechanism, f"1-{crank}"), point(mechanism, f"{crank}-5")
        assert math.dist(foot, pin) == pytest.approx(0.25, rel=1e-15)
        angle = math.atan2(pin[1] - foot[1], pin[0] - foot[0])
        assert angle == pytest.approx(math.atan2(4, 3), rel=1e-15)
        assert geometry(mechanism, f"1-{crank}").at_reference["angle"] == math.atan2(4, 3)


def test_double_banana_turns_about_its_tips() -> None:
    mechanism = mbssa.load("double_banana")
    tips = [point(mechanism, joint) for joint in mechanism.joint_ids]
    along = tuple(a - b for a, b in zip(*tips, strict=True))
    for joint in mechanism.joint_ids:
        axes = geometry(mechanism, joint).axes
        assert axes is not None
        assert angle_between(axes[0], along) == 0.0


# --- suspension ------------------------------------------------------------------------------------

ARM, APART = 0.4, 0.25


def loop(q2: float, q3: float, q5: float, *, printed: bool) -> tuple[float, float]:
    """The two loop equations; ``printed`` with the tutorial's sign of l2 sin(q2+q3)."""
    sign = 1.0 if printed else -1.0
    x = ARM * math.cos(q2) + sign * APART * math.sin(q2 + q3) - ARM * math.cos(q5)
    y = ARM * math.sin(q2) + APART * math.cos(q2 + q3) - ARM * math.sin(q5) - APART
    return x, y


def test_suspension_lengths() -> None:
    mechanism = mbssa.load("suspension")
    assert distance(mechanism, "2-3", "3-4") == pytest.approx(ARM, rel=1e-15)
    assert distance(mechanism, "2-6", "4-6") == pytest.approx(ARM, rel=1e-15)
    assert distance(mechanism, "3-4", "4-6") == pytest.approx(APART, rel=1e-15)
    assert distance(mechanism, "2-3", "2-6") == pytest.approx(APART, rel=1e-15)


def test_suspension_signs_agree_on_the_parallelogram() -> None:
    for q2 in [-0.5, 0.2, 1.0]:
        for printed in (True, False):
            assert loop(q2, -q2, q2, printed=printed) == pytest.approx((0.0, 0.0), abs=1e-15), q2


def test_suspension_printed_signs_mirror_the_upright_elsewhere() -> None:
    """The crossed branch: the upper arm's end is that of the lower arm mirrored on a diagonal."""
    for q2 in [-0.5, 0.2, 1.0]:
        # Lower arm's end A, upper pivot C; B is C's mirror image of the parallelogram's corner on A-C.
        ax, ay = ARM * math.cos(q2), ARM * math.sin(q2)
        dx, dy = ax, ay - APART
        bx, by = ax, ay + APART
        along = (bx * dx + (by - APART) * dy) / (dx * dx + dy * dy)
        bx, by = 2.0 * along * dx - bx, APART + 2.0 * along * dy - (by - APART)
        q5 = math.atan2(by - APART, bx)
        upright = math.atan2(ax - bx, by - ay)
        assert abs(math.sin(upright)) > 0.1, q2
        assert loop(q2, upright - q2, q5, printed=False) == pytest.approx((0.0, 0.0), abs=1e-14), q2
        assert abs(loop(q2, upright - q2, q5, printed=True)[0]) > 0.05, q2
        assert loop(q2, -upright - q2, q5, printed=True) == pytest.approx((0.0, 0.0), abs=1e-14), q2


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


def test_andrews_lengths() -> None:
    mechanism = mbssa.load("andrews")
    bars = {
        ("1-2", "2-3"): RR,
        ("2-3", "3-4"): D,
        ("3-4", "1-4"): SS,
        ("4-5", "5-6"): E,
        ("5-6", "1-6"): ZT,
        ("4-7", "7-8"): ZF,
        ("7-8", "1-8"): U,
    }
    for ends, length in bars.items():
        assert distance(mechanism, *ends) == pytest.approx(length, rel=1e-14)
