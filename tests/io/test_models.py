"""The built-in models: what they say of themselves, and the geometry that their notes promise."""

import math
import re

import pytest
from model_geometry import angle_between, dot, geometry, point

import mbssa
from mbssa.io import builtin_names

#: Joints that make the two Stewart platforms' legs: base, prismatic, platform.
LEGS = [(f"1-{k}", f"{k}-{k + 1}", f"{k + 1}-14") for k in range(2, 14, 2)]

# --- all models ------------------------------------------------------------------------------------


def test_every_model_says_what_it_is_and_moves_its_inputs() -> None:
    for name in builtin_names():
        mechanism = mbssa.load(name)
        assert mechanism.title, name
        assert mechanism.source, name
        assert mechanism.notes, name
        assert all(note.strip() for note in mechanism.notes), name
        assert any("our own" in text.lower() for text in (*mechanism.notes, mechanism.source)), name
        assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", body.name) for body in mechanism.bodies), name
        if name == "micromanipulator":
            assert mechanism.motion is None  # no motion moves its published inputs
            continue
        assert mechanism.motion is not None, name
        assert tuple(mechanism.motion.inputs) == mechanism.driven_coordinates, name
        assert mechanism.motion.steps > 100, name


def test_every_joint_has_its_geometry_within_its_limits() -> None:
    for name in builtin_names():
        mechanism = mbssa.load(name)
        assert mechanism.has_geometry, name
        for joint in mechanism.joints:
            given = geometry(mechanism, joint.id)
            lower = joint.type.relations is None
            for field in (*joint.type.required, *(["point"] if lower else [])):
                assert getattr(given, field) is not None, (name, joint.id, field)
            if joint.type.code in ("U", "ER"):
                assert given.axes is not None
                assert dot(*given.axes) == pytest.approx(0.0, abs=1e-15), (name, joint.id)
            for coordinate, (low, high) in given.limits.items():
                assert low < given.at_reference.get(coordinate, 0.0) < high, (name, joint.id)


# --- the paper -------------------------------------------------------------------------------------


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
