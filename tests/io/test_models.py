"""The built-in models: counts, groups, and the geometry that their notes promise."""

import math
import re
from collections.abc import Iterable
from dataclasses import replace

import pytest

import mbssa
from mbssa.io import builtin_names
from mbssa.mechanism import JointGeometry, Mechanism, Vector

#: name: (N, joints, mobility of Eq. 2, driven, groups in canonical order; None: count not determined)
EXPECTED: dict[str, tuple[int, int, int, int, list[tuple[int, ...]] | None]] = {
    "andrews": (8, 10, 1, 1, [(2,), (3, 4), (5, 6), (7, 8)]),
    "bennett": (4, 4, -2, 1, None),
    "bricard": (6, 6, 0, 1, None),
    "cam_flat": (3, 3, 1, 1, [(2,), (3,)]),
    "cam_roller": (3, 3, 1, 1, [(2,), (3,)]),
    "cam_swing": (3, 3, 1, 1, [(2,), (3,)]),
    "differential": (6, 8, 2, 2, [(2,), (3,), (4,), (6,), (5,)]),
    "double_banana": (2, 2, 0, 1, None),
    "double_parallelogram": (5, 6, 0, 1, None),
    "fixture": (3, 4, 1, 1, [(2,), (3,)]),
    "geneva": (3, 3, 1, 1, [(2,), (3,)]),
    "involute_teeth": (3, 3, 1, 1, [(2,), (3,)]),
    "kinematic_coupling": (3, 4, 1, 1, [(2,), (3,)]),
    "micromanipulator": (
        21,
        28,
        6,
        6,
        [(4, 5, 6, 7), (2, 3), (10, 11, 12, 15), (21,), (8, 9), (13, 14), (18, 19, 20), (16, 17)],
    ),
    "micromanipulator_driven": (
        21,
        28,
        6,
        6,
        [(2, 3, 4, 5, 6, 7), (10, 11, 12, 15, 16, 17, 18, 19, 20, 21), (8, 9), (13, 14)],
    ),
    "nine_bar": (9, 10, 4, 4, [(2,), (3,), (4,), (9,), (5, 6), (7, 8)]),
    "oldham": (4, 4, 1, 1, [(2,), (3, 4)]),
    "pendulum_four_bar": (4, 4, 1, 1, [(2,), (3, 4)]),
    "planar_3rrr": (8, 9, 3, 3, [(2,), (4,), (6,), (3, 5, 7, 8)]),
    "planar_four_bar": (4, 4, 1, 1, [(2,), (3, 4)]),
    "planetary": (6, 9, 1, 1, [(2,), (3, 4), (5,), (6,)]),
    "quick_return": (5, 6, 1, 1, [(2,), (3,), (4, 5)]),
    "rack_steering": (7, 9, 1, 1, [(2,), (3,), (4, 6), (5, 7)]),
    "rope_hoist": (4, 4, 2, 2, [(2,), (3,), (4,)]),
    "rotor": (16, 21, 3, 3, [(9, 10, 13), (15,), (3, 6), (11, 14, 16), (4, 7), (8, 12), (2, 5)]),
    "rotor_transformed": (
        16,
        21,
        3,
        3,
        [(2,), (13,), (15,), (9, 10), (3, 6), (5, 8), (12, 16), (11, 14), (4, 7)],
    ),
    "rssr": (4, 4, 2, 1, None),
    "sarrus": (6, 6, 0, 1, None),
    "six_sps": (14, 18, 12, 6, None),
    "slider_crank": (4, 4, -2, 1, None),
    "slider_crank_isostatic": (4, 4, 1, 1, [(2,), (3, 4)]),
    "spatial_4r": (4, 4, -2, 1, None),
    "spatial_four_bar": (4, 4, 1, 1, [(2,), (3, 4)]),
    "stewart": (14, 19, 6, 6, [tuple(range(2, 15))]),
    "stewart_inverse": (14, 19, 6, 6, [(14,), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11), (12, 13)]),
    "suspension": (6, 6, 3, 3, [(2,), (3,), (4, 6), (5,)]),
    "theo_jansen": (8, 10, 1, 1, [(2,), (3, 4), (5, 6), (7, 8)]),
    "triad": (6, 7, 1, 1, [(2,), (3, 4, 5, 6)]),
    "universal_shafts": (5, 5, 1, 1, [(2,), (3, 4, 5)]),
}

#: Groups where the count fails, after the treatment of redundancies and passive rotations.
TREATED: dict[str, list[tuple[int, ...]]] = {
    "bennett": [(2,), (3, 4)],
    "bricard": [(2,), (3, 4, 5, 6)],
    "double_banana": [(2,)],
    "double_parallelogram": [(2,), (3, 5), (4,)],
    "rssr": [(2,), (3, 4)],
    "sarrus": [(2,), (3, 4, 5, 6)],
    "six_sps": [tuple(range(2, 15))],
    "slider_crank": [(2,), (3, 4)],
    "spatial_4r": [(2,), (3, 4)],
}

#: First rows of Results_SA: Eqs. (11), (12), (13), (15) and (16).
PRINTED = {
    "spatial_four_bar": [0, 1, 2, 2],
    "rotor": [0, 7, 3, 5, 7, 3, 5, 6, 1, 1, 4, 6, 1, 4, 2, 4],
    "rotor_transformed": [0, 1, 5, 9, 6, 5, 9, 6, 4, 4, 8, 7, 2, 8, 3, 7],
    "stewart": [0] + 13 * [1],
    "stewart_inverse": [0, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 1],
}

#: Eq. (14), whose numbers are not canonical.
PRINTED_MICROMANIPULATOR = [0, 2, 2, 1, 1, 1, 1, 4, 4, 3, 3, 3, 5, 5, 3, 8, 8, 7, 7, 7, 6]

#: Joints that make the two Stewart platforms' legs: base, prismatic, platform.
LEGS = [(f"1-{k}", f"{k}-{k + 1}", f"{k + 1}-14") for k in range(2, 14, 2)]

every_model = pytest.mark.parametrize("name", sorted(EXPECTED))


def geometry(mechanism: Mechanism, joint: str) -> JointGeometry:
    found = mechanism.joint(joint).geometry
    assert found is not None
    return found


def point(mechanism: Mechanism, joint: str) -> Vector:
    found = geometry(mechanism, joint).point
    assert found is not None
    return found


def distance(mechanism: Mechanism, first: str, second: str) -> float:
    return math.dist(point(mechanism, first), point(mechanism, second))


def dot(u: Iterable[float], v: Iterable[float]) -> float:
    return sum(a * b for a, b in zip(u, v, strict=True))


def angle_between(u: Vector, v: Vector) -> float:
    """Sine of the angle between two lines, from the cross product, sharp near 0."""
    cross = [u[i - 2] * v[i - 1] - u[i - 1] * v[i - 2] for i in range(3)]
    return math.hypot(*cross) / (math.hypot(*u) * math.hypot(*v))


# --- all models ------------------------------------------------------------------------------------


def test_the_table_names_every_model() -> None:
    assert sorted(EXPECTED) == list(builtin_names())


@every_model
def test_says_what_it_is(name: str) -> None:
    mechanism = mbssa.load(name)
    assert mechanism.title
    assert mechanism.source
    assert mechanism.notes
    assert all(note.strip() for note in mechanism.notes)
    assert any("our own" in text.lower() for text in (*mechanism.notes, mechanism.source))


@every_model
def test_every_body_has_a_name(name: str) -> None:
    bodies = mbssa.load(name).bodies
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", body.name) for body in bodies)


@every_model
def test_counts(name: str) -> None:
    mechanism = mbssa.load(name)
    expected = EXPECTED[name][:4]
    assert (mechanism.n_bodies, mechanism.n_joints, mechanism.mobility, mechanism.n_driven) == expected


@every_model
def test_groups_by_count(name: str) -> None:
    structure = mbssa.decompose(mbssa.load(name), by_count=True)
    groups = EXPECTED[name][4]
    assert structure.determined == (groups is not None)
    if groups is not None:
        assert [group.bodies for group in structure.groups] == groups


@every_model
def test_groups_with_treatment(name: str) -> None:
    """Every built-in model moves as its notes say; those that come out by count are left alone."""
    structure = mbssa.decompose(mbssa.load(name))
    assert structure.determined
    assert (structure.treatment is not None) == (name in TREATED)
    assert [group.bodies for group in structure.groups] == (TREATED.get(name) or EXPECTED[name][4])


@every_model
def test_every_joint_has_its_geometry(name: str) -> None:
    mechanism = mbssa.load(name)
    assert mechanism.has_geometry
    for joint in mechanism.joints:
        lower = joint.type.relations is None
        for field in (*joint.type.required, *(["point"] if lower else [])):
            assert getattr(geometry(mechanism, joint.id), field) is not None, (joint.id, field)


@every_model
def test_universal_pins_are_perpendicular(name: str) -> None:
    mechanism = mbssa.load(name)
    for joint in mechanism.joints:
        if joint.type.code in ("U", "ER"):
            axes = geometry(mechanism, joint.id).axes
            assert axes is not None
            assert dot(*axes) == pytest.approx(0.0, abs=1e-15), joint.id


@every_model
def test_reference_is_within_the_limits(name: str) -> None:
    mechanism = mbssa.load(name)
    for joint in mechanism.joints:
        given = geometry(mechanism, joint.id)
        for coordinate, (low, high) in given.limits.items():
            assert low < given.at_reference.get(coordinate, 0.0) < high, joint.id


@every_model
def test_carries_a_motion_of_its_inputs_if_they_can_be_driven(name: str) -> None:
    mechanism = mbssa.load(name)
    if name == "micromanipulator":
        assert mechanism.motion is None  # no motion moves its published inputs
        return
    assert mechanism.motion is not None
    driven = [f"{joint.id}.{coordinate}" for joint in mechanism.joints for coordinate in joint.driven]
    assert list(mechanism.motion.inputs) == driven
    assert mechanism.motion.steps > 100


# --- the paper -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(PRINTED))
def test_first_row_of_results(name: str) -> None:
    structure = mbssa.decompose(mbssa.load(name))
    assert structure.group_of_body.tolist() == PRINTED[name]


def test_micromanipulator_has_the_printed_groups_and_dependencies() -> None:
    """Eq. (14) numbers {21} after {8,9} and {13,14}; the groups and what they need are the same."""
    structure = mbssa.decompose(mbssa.load("micromanipulator"))
    printed: dict[int, tuple[int, ...]] = {}
    for body, number in enumerate(PRINTED_MICROMANIPULATOR[1:], start=2):
        printed[number] = (*printed.get(number, ()), body)
    groups = list(structure.groups)
    assert {group.bodies for group in groups} == set(printed.values())
    needs = {group.bodies: {groups[k - 1].bodies for k in group.depends_on} for group in groups}
    # Column "DOFs from external pairs" of Table 12.
    assert needs == {
        (4, 5, 6, 7): set(),
        (2, 3): {(4, 5, 6, 7)},
        (10, 11, 12, 15): set(),
        (8, 9): {(10, 11, 12, 15)},
        (13, 14): {(10, 11, 12, 15)},
        (21,): {(4, 5, 6, 7), (10, 11, 12, 15)},
        (18, 19, 20): {(21,)},
        (16, 17): {(18, 19, 20)},
    }
    assert {group.bodies: group.type_name for group in groups} == {
        (4, 5, 6, 7): "3R1C1ER3D",
        (2, 3): "1C1ER1S3D",
        (10, 11, 12, 15): "3R1C1ER3D",
        (8, 9): "1C1ER1S3D",
        (13, 14): "1C1ER1S3D",
        (21,): "2S3D",
        (18, 19, 20): "3R1S3D",  # printed 3R3S3D
        (16, 17): "1C1ER1S3D",
    }


@pytest.mark.parametrize("name", ["micromanipulator", "micromanipulator_driven"])
def test_micromanipulator_actuators_run_through_their_joint_centres(name: str) -> None:
    mechanism = mbssa.load(name)
    for cylinder, piston, far_end in (
        (2, 3, "3-5"),
        (8, 9, "9-10"),
        (13, 14, "10-14"),
        (16, 17, "17-18"),
        (4, 5, None),
        (15, 10, None),
    ):
        slide = geometry(mechanism, f"{min(cylinder, piston)}-{max(cylinder, piston)}")
        assert slide.point is not None
        assert slide.axis is not None
        centres = [point(mechanism, f"1-{cylinder}")]
        centres += [point(mechanism, far_end)] if far_end else []
        for centre in centres:
            along = tuple(a - b for a, b in zip(centre, slide.point, strict=True))
            assert angle_between(along, slide.axis) == pytest.approx(0.0, abs=1e-12)


def test_both_micromanipulators_are_one_mechanism_and_one_can_be_driven() -> None:
    published, driven = mbssa.load("micromanipulator"), mbssa.load("micromanipulator_driven")
    assert published.joint_ids == driven.joint_ids
    assert published.joint_type.tolist() == driven.joint_type.tolist()
    assert dict(published.joint_geometry) == dict(driven.joint_geometry)
    assert not mbssa.check(published).solvable
    report = mbssa.check(driven)
    assert report.solvable
    assert not [finding for finding in report.findings if "spins idly" in finding.text]


def test_nine_bar_follows_section_1_2() -> None:
    """{5,6} needs D of body 4, {7,8} needs E of {5,6} and G of body 9; {9} is IV here, VI in Fig. 4."""
    structure = mbssa.decompose(mbssa.load("nine_bar"))
    assert {group.bodies: group.depends_on for group in structure.groups} == {
        (2,): (),
        (3,): (1,),
        (4,): (2,),
        (9,): (),
        (5, 6): (3,),
        (7, 8): (4, 5),
    }
    assert [group.n_driven for group in structure.groups] == [1, 1, 1, 1, 0, 0]


#: Named points that mark a joint: (model, body number, point's name, joint).
MARKED = [
    ("nine_bar", 5, "D", "4-5"),
    ("nine_bar", 5, "I", "5-6"),
    ("nine_bar", 5, "E", "5-7"),
    ("rotor", 8, "outer", "5-8"),
    ("rotor", 8, "inner", "8-12"),
    ("rotor", 9, "centre", "9-13"),
    ("rotor", 11, "outer", "7-11"),
    ("rotor", 11, "inner", "11-14"),
    ("rotor", 16, "left", "12-16"),
    ("rotor", 16, "right", "14-16"),
    ("slider_crank", 4, "pin", "3-4"),
    ("slider_crank_isostatic", 4, "pin", "3-4"),
    ("spatial_four_bar", 4, "pin", "3-4"),
    ("stewart", 14, "centre", "1-14"),
    ("stewart_inverse", 14, "centre", "1-14"),
]


@pytest.mark.parametrize(("name", "body", "label", "joint"), MARKED)
def test_named_points_that_mark_a_joint(name: str, body: int, label: str, joint: str) -> None:
    mechanism = mbssa.load(name)
    found = mechanism.bodies[body - 1].geometry
    assert found is not None
    assert found.points[label] == point(mechanism, joint)


def test_both_rotors_are_one_mechanism() -> None:
    first, second = mbssa.load("rotor"), mbssa.load("rotor_transformed")
    assert first.joint_ids == second.joint_ids
    assert first.joint_type.tolist() == second.joint_type.tolist()
    assert dict(first.joint_geometry) == dict(second.joint_geometry)
    assert first.body_names == second.body_names


def test_rotor_joints_of_section_4_1() -> None:
    by_type: dict[str, set[str]] = {}
    for joint in mbssa.load("rotor").joints:
        by_type.setdefault(joint.type.code, set()).add(joint.id)
    assert by_type == {
        "P": {"1-2", "1-3", "1-4", "1-13"},
        "R": {"8-9", "9-11", "9-13", "13-15", "15-16"},
        "U": {"2-5", "3-6", "4-7", "1-10", "8-12", "11-14"},
        "S": {"5-8", "6-9", "7-11", "9-10", "12-16", "14-16"},
    }


# --- platforms -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["stewart", "stewart_inverse", "six_sps"])
def test_legs_of_the_platforms(name: str) -> None:
    """The slide is the leg's length at the reference, and its axis is the line of the two centres."""
    mechanism = mbssa.load(name)
    for base, slide, platform in LEGS:
        leg = geometry(mechanism, slide)
        start, end = point(mechanism, base), point(mechanism, platform)
        assert leg.at_reference["slide"] == pytest.approx(math.dist(start, end), rel=1e-15)
        assert leg.axis is not None
        along = tuple(b - a for a, b in zip(start, end, strict=True))
        assert angle_between(along, leg.axis) == pytest.approx(0.0, abs=1e-15)
        assert dot(along, leg.axis) > 0.0


def test_platforms_share_their_joint_centres() -> None:
    direct = mbssa.load("stewart")
    for name in ("stewart_inverse", "six_sps"):
        other = mbssa.load(name)
        for base, _, platform in LEGS:
            assert point(direct, base) == point(other, base)
            assert point(direct, platform) == point(other, platform)


def test_universal_pairs_of_tables_13_and_14() -> None:
    direct, inverse = mbssa.load("stewart"), mbssa.load("stewart_inverse")
    for base, _, platform in LEGS:
        assert direct.joint(base).type.code == inverse.joint(platform).type.code == "U"
        assert direct.joint(platform).type.code == inverse.joint(base).type.code == "S"
    assert direct.joint("1-14").driven == ()
    assert len(inverse.joint("1-14").driven) == 6


# --- slider-crank and four-bar ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["slider_crank", "slider_crank_isostatic"])
def test_slider_crank_lengths(name: str) -> None:
    mechanism = mbssa.load(name)
    assert distance(mechanism, "1-2", "2-3") == pytest.approx(0.2, rel=1e-15)
    assert distance(mechanism, "2-3", "3-4") == pytest.approx(1.0, rel=1e-15)
    pin = point(mechanism, "2-3")
    assert math.atan2(pin[1], pin[0]) == pytest.approx(math.pi / 4, rel=1e-15)
    assert geometry(mechanism, "1-2").at_reference["angle"] == pytest.approx(math.pi / 4, rel=1e-15)
    # x at 45 degrees, computed independently: 1.131370849898.
    assert point(mechanism, "3-4")[0] == pytest.approx(1.131370849898, abs=5e-13)
    assert geometry(mechanism, "1-4").at_reference["slide"] == point(mechanism, "3-4")[0]


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


@pytest.mark.parametrize("q2", [-0.5, 0.2, 1.0])
def test_suspension_signs_agree_on_the_parallelogram(q2: float) -> None:
    for printed in (True, False):
        assert loop(q2, -q2, q2, printed=printed) == pytest.approx((0.0, 0.0), abs=1e-15)


@pytest.mark.parametrize("q2", [-0.5, 0.2, 1.0])
def test_suspension_printed_signs_mirror_the_upright_elsewhere(q2: float) -> None:
    """The crossed branch: the upper arm's end is that of the lower arm mirrored on a diagonal."""
    # Lower arm's end A, upper pivot C; B is C's mirror image of the parallelogram's corner on A-C.
    ax, ay = ARM * math.cos(q2), ARM * math.sin(q2)
    dx, dy = ax, ay - APART
    bx, by = ax, ay + APART
    along = (bx * dx + (by - APART) * dy) / (dx * dx + dy * dy)
    bx, by = 2.0 * along * dx - bx, APART + 2.0 * along * dy - (by - APART)
    q5 = math.atan2(by - APART, bx)
    upright = math.atan2(ax - bx, by - ay)
    assert abs(math.sin(upright)) > 0.1
    assert loop(q2, upright - q2, q5, printed=False) == pytest.approx((0.0, 0.0), abs=1e-14)
    assert abs(loop(q2, upright - q2, q5, printed=True)[0]) > 0.05
    assert loop(q2, -upright - q2, q5, printed=True) == pytest.approx((0.0, 0.0), abs=1e-14)


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
