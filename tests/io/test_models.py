"""The built-in models: counts, groups, and the geometry that their notes promise."""

import math
import re

import pytest
from model_geometry import angle_between, dot, geometry, point

import mbssa
from mbssa.io import builtin_names

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

# --- all models ------------------------------------------------------------------------------------


def test_the_table_names_every_model() -> None:
    assert sorted(EXPECTED) == list(builtin_names())


def test_says_what_it_is() -> None:
    for name in EXPECTED:
        mechanism = mbssa.load(name)
        assert mechanism.title, name
        assert mechanism.source, name
        assert mechanism.notes, name
        assert all(note.strip() for note in mechanism.notes), name
        assert any("our own" in text.lower() for text in (*mechanism.notes, mechanism.source)), name


def test_every_body_has_a_name() -> None:
    for name in EXPECTED:
        bodies = mbssa.load(name).bodies
        assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", body.name) for body in bodies), name


def test_counts() -> None:
    for name in EXPECTED:
        mechanism = mbssa.load(name)
        expected = EXPECTED[name][:4]
        assert (mechanism.n_bodies, mechanism.n_joints, mechanism.mobility, mechanism.n_driven) == expected, (
            name
        )


def test_groups_with_treatment() -> None:
    """Every built-in model moves as its notes say; those that come out by count are left alone."""
    for name in EXPECTED:
        structure = mbssa.decompose(mbssa.load(name))
        assert structure.determined, name
        assert (structure.treatment is not None) == (name in TREATED), name
        assert [group.bodies for group in structure.groups] == (TREATED.get(name) or EXPECTED[name][4]), name


def test_every_joint_has_its_geometry() -> None:
    for name in EXPECTED:
        mechanism = mbssa.load(name)
        assert mechanism.has_geometry, name
        for joint in mechanism.joints:
            lower = joint.type.relations is None
            for field in (*joint.type.required, *(["point"] if lower else [])):
                assert getattr(geometry(mechanism, joint.id), field) is not None, (joint.id, field)


def test_universal_pins_are_perpendicular() -> None:
    for name in EXPECTED:
        mechanism = mbssa.load(name)
        for joint in mechanism.joints:
            if joint.type.code in ("U", "ER"):
                axes = geometry(mechanism, joint.id).axes
                assert axes is not None, name
                assert dot(*axes) == pytest.approx(0.0, abs=1e-15), joint.id


def test_reference_is_within_the_limits() -> None:
    for name in EXPECTED:
        mechanism = mbssa.load(name)
        for joint in mechanism.joints:
            given = geometry(mechanism, joint.id)
            for coordinate, (low, high) in given.limits.items():
                assert low < given.at_reference.get(coordinate, 0.0) < high, joint.id


def test_carries_a_motion_of_its_inputs_if_they_can_be_driven() -> None:
    for name in EXPECTED:
        mechanism = mbssa.load(name)
        if name == "micromanipulator":
            assert mechanism.motion is None, name  # no motion moves its published inputs
            continue
        assert mechanism.motion is not None, name
        driven = [f"{joint.id}.{coordinate}" for joint in mechanism.joints for coordinate in joint.driven]
        assert list(mechanism.motion.inputs) == driven, name
        assert mechanism.motion.steps > 100, name


# --- the paper -------------------------------------------------------------------------------------


def test_first_row_of_results() -> None:
    for name in PRINTED:
        structure = mbssa.decompose(mbssa.load(name))
        assert structure.group_of_body.tolist() == PRINTED[name], name


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


def test_micromanipulator_actuators_run_through_their_joint_centres() -> None:
    for name in ["micromanipulator", "micromanipulator_driven"]:
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
            assert slide.point is not None, name
            assert slide.axis is not None, name
            centres = [point(mechanism, f"1-{cylinder}")]
            centres += [point(mechanism, far_end)] if far_end else []
            for centre in centres:
                along = tuple(a - b for a, b in zip(centre, slide.point, strict=True))
                assert angle_between(along, slide.axis) == pytest.approx(0.0, abs=1e-12), name


def test_both_micromanipulators_are_one_mechanism_and_one_can_be_driven() -> None:
    published, driven = mbssa.load("micromanipulator"), mbssa.load("micromanipulator_driven")
    assert published.joint_ids == driven.joint_ids
    assert published.joint_type.tolist() == driven.joint_type.tolist()
    assert dict(published.joint_geometry) == dict(driven.joint_geometry)
    assert not mbssa.check(published).solvable
    report = mbssa.check(driven)
    assert report.solvable
    assert not [finding for finding in report.findings if finding.kind == "spin"]


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


def test_named_points_that_mark_a_joint() -> None:
    for name, body, label, joint in MARKED:
        mechanism = mbssa.load(name)
        found = mechanism.bodies[body - 1].geometry
        assert found is not None, name
        assert found.points[label] == point(mechanism, joint), name


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


def test_legs_of_the_platforms() -> None:
    """The slide is the leg's length at the reference, and its axis is the line of the two centres."""
    for name in ["stewart", "stewart_inverse", "six_sps"]:
        mechanism = mbssa.load(name)
        for base, slide, platform in LEGS:
            leg = geometry(mechanism, slide)
            start, end = point(mechanism, base), point(mechanism, platform)
            assert leg.at_reference["slide"] == pytest.approx(math.dist(start, end), rel=1e-15), name
            assert leg.axis is not None, name
            along = tuple(b - a for a, b in zip(start, end, strict=True))
            assert angle_between(along, leg.axis) == pytest.approx(0.0, abs=1e-15), name
            assert dot(along, leg.axis) > 0.0, name


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
