"""Profiles from plain tables: each source of a curve, each follower, and every fault with its place."""

import json

import numpy as np
import pytest

from mbssa.joints.cams.contact import CURVE, FLAT, POINT
from mbssa.joints.cams.profiles import ProfileError, profile_from

LAW = [
    {"rise": 0.02, "over": 2.0, "kind": "cycloidal"},
    {"dwell": 1.0},
    {"return": 0.02, "over": 2.0, "kind": "345"},
    {"dwell": 2 * np.pi - 5.0},
]


def test_a_polar_formula():
    profile = profile_from(
        {"formula": {"r": "50 + 10*cos(3*s)", "unit": 1e-3}, "follower": "roller", "radius": 0.02}
    )
    s = np.linspace(0, 6, 20)
    r = 0.05 + 0.01 * np.cos(3 * s)
    assert np.allclose(profile.curve.at(s)[0], np.stack([r * np.cos(s), r * np.sin(s)], 1), atol=1e-13)
    assert (profile.kind, profile.radius, profile.parameter_unit) == (POINT, 0.02, "rad")


def test_a_formula_of_both_coordinates_that_runs_clockwise_is_turned():
    table = {"formula": {"x": "0.03*cos(s)", "y": "-0.02*sin(s)"}, "follower": "knife"}
    curve = profile_from(table).curve
    assert curve.area == pytest.approx(np.pi * 6e-4)
    assert np.allclose(curve.at(-1.0)[0], [0.03 * np.cos(1.0), -0.02 * np.sin(1.0)])


def test_an_open_formula_over_a_range():
    table = {"formula": {"x": "s", "y": "s**2", "range": [-1, "1/2"]}, "follower": "knife"}
    curve = profile_from(table).curve
    assert not curve.closed
    assert curve.breaks[[0, -1]].tolist() == [-1.0, 0.5]
    assert profile_from(table).parameter_unit == ""


def test_shapes_begin_where_they_say():
    for table, place in [
        ({"circle": {"radius": 0.02, "centre": [0.01, 0.0]}}, [0.03, 0.0]),
        ({"ellipse": {"semi_axes": [0.03, 0.02], "angle": np.pi / 2}}, [0.0, 0.03]),
        ({"line": [[0.1, 0.2], [0.3, 0.4]]}, [0.1, 0.2]),
        ({"points": [[0.1, 0.0], [0.0, 0.1], [-0.1, 0.0]]}, [0.1, 0.0]),
        ({"points": [[0.1, 0.0], [0.0, 0.1], [-0.1, 0.0]], "closed": False}, [0.1, 0.0]),
    ]:
        profile = profile_from(table | {"follower": "flat"})
        assert np.allclose(profile.curve.at(0.0)[0], place), table
        assert profile.kind == FLAT, table
        assert profile.curve.closed == ("line" not in table and "closed" not in table), table


def test_a_follower_of_its_own_shape():
    table = {"circle": {"radius": 0.02}, "follower": {"curve": {"ellipse": {"semi_axes": [0.1, 0.2]}}}}
    profile = profile_from(table)
    assert profile.kind == CURVE
    assert profile.curves == (profile.curve, profile.follower_curve)
    assert profile.follower_curve.area == pytest.approx(np.pi * 0.02)


def test_a_cam_from_a_law():
    profile = profile_from(
        {"law": LAW, "base": 0.04, "offset": 0.01, "follower": "roller", "radius": 0.01, "turns": "clockwise"}
    )
    assert profile.curve is profile.cam.profile
    assert profile.law.rise == pytest.approx(0.02)
    assert np.hypot(*profile.cam.pitch.at(0.0)[0]) == pytest.approx(0.05)


def test_a_table_gives_the_same_profile_again_whatever_it_is_made_of():
    table = {"points": np.random.default_rng(0).normal(size=(5, 2)), "follower": "flat"}
    again = {"points": tuple(map(tuple, table["points"].tolist())), "follower": "flat"}
    assert profile_from(table) is profile_from(again)
    assert profile_from(json.loads(json.dumps(again))) is profile_from(again)


FAULTS = {
    "no curve": ({"follower": "flat"}, [("", "has no curve; write one of formula, points")]),
    "two curves": (
        {"circle": {"radius": 1.0}, "line": [[0, 0], [1, 1]], "follower": "flat"},
        [("", "has circle and line; write one of")],
    ),
    "no follower": ({"circle": {"radius": 1.0}}, [("follower", "is missing; write roller, knife or flat")]),
    "a roller without radius": (
        {"circle": {"radius": 1.0}, "follower": "roller"},
        [("radius", "is missing; write that of the roller")],
    ),
    "a roller with less than no radius": (
        {"circle": {"radius": 1.0}, "follower": "roller", "radius": -0.001},
        [("radius", "is -0.001 m; write that of the roller, above 0")],
    ),
    "a knife with radius": (
        {"circle": {"radius": 1.0}, "follower": "knife", "radius": 0.1},
        [("radius", "is the roller's")],
    ),
    "formulas": (
        {"formula": {"x": "cis(s)", "y": "t", "range": ["q", 1]}, "follower": "roller", "base": 3.0},
        [
            ("formula.x", "did you mean 'cos'"),
            ("formula.y", "there is no 't'"),
            ("formula.range[1]", "there is no 'q'"),
            ("base", "is for a law"),
            ("radius", "is missing"),
        ],
    ),
    "half a formula": ({"formula": {"x": "s"}, "follower": "flat"}, [("formula", 'write r = "…"')]),
    "a range that ends before it begins": (
        {"formula": {"r": "1", "range": [2, 1]}, "follower": "flat"},
        [("formula.range", "two ascending numbers")],
    ),
    "a corner": (
        {"formula": {"r": "1 + abs(s - 1)"}, "follower": "flat"},
        [("formula", "is not smooth near s = ")],
    ),
    "not closed": (
        {"formula": {"r": "1 + s"}, "closed": True, "follower": "flat"},
        [("formula", "ends 6.283 m from where it begins")],
    ),
    "a loop": ({"formula": {"r": "0.5 + cos(s)"}, "follower": "flat"}, [("formula", "crosses itself")]),
    "a figure of eight": (
        {"points": [[1, 1], [-1, -1], [-1, 1], [1, -1]], "follower": "flat"},
        [("points", "crosses itself")],
    ),
    "closed circle": (
        {"circle": {"radius": 1.0}, "closed": True, "follower": "flat"},
        [("closed", "is for a formula or points")],
    ),
    "sizes": (
        {"circle": {"radius": -1.0}, "follower": {"curve": {"line": [[1, 1], [1, 1]]}}},
        [("follower.curve.line", "begins and ends at the same point"), ("circle", "has the size -1 m")],
    ),
    "points": (
        {"points": [[0, 0], [1, 0], [1, 0]], "follower": "flat"},
        [("points", "points 2 and 3 are the same")],
    ),
    "segments": (
        {
            "law": [
                {"rise": 0.1, "over": 1.0},
                {"dwell": 1.0, "kind": "345"},
                {"rise": 1.0, "return": 1.0},
                {},
                {"rise": -1.0, "over": 0.0, "kind": "345"},
            ],
            "follower": "flat",
        },
        [
            ("law[1].kind", "is missing; write one of cycloidal"),
            ("law[2].kind", "a dwell has none"),
            ("law[3]", "has rise and return"),
            ("law[4]", "is nothing"),
            ("law[5].rise", "is -1 (m or rad); write how far"),
            ("law[5].over", "is 0°; write an angle"),
            ("base", "is missing"),
        ],
    ),
    "a law over half a turn": (
        {"law": LAW[:3], "base": 0.1, "follower": "flat"},
        [("law", "covers 286.4788976° of the turn of 360°; write 73.5211° more")],
    ),
    "a law for a curve": (
        {"law": LAW, "base": 0.1, "follower": {"curve": {"circle": {"radius": 0.1}}}},
        [("follower", "a law makes cams for a follower that is roller, knife or flat")],
    ),
    "a cam that cannot be": (
        {"law": LAW, "base": 0.1, "offset": 0.2, "follower": "knife"},
        [("offset", "is 0.2 m; write less than base, 0.1 m")],
    ),
}


def test_all_faults_with_their_places():
    for name in FAULTS:
        table, wanted = FAULTS[name]
        with pytest.raises(ProfileError) as caught:
            profile_from(table)
        assert [place for place, _ in caught.value.faults] == [place for place, _ in wanted], name
        for (_, said), (_, part) in zip(caught.value.faults, wanted, strict=True):
            assert part in said, name
