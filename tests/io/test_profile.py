"""The profile table of a model file: shape, units, places of faults."""

import math

import pytest
from refusals import codes, refused

from mbssa.faults import Faults
from mbssa.io.profile import ProfileEntry, profile_of

DEGREE = math.pi / 180


def faults_of(table):
    faults = Faults()
    assert profile_of(table, 1.0, 1.0, "here", faults) is None
    return faults


def test_lengths_and_angles_become_si_wherever_they_stand():
    faults = Faults()
    profile = profile_of(
        {
            "law": [
                {"rise": 20.0, "over": 120, "kind": "cycloidal"},
                {"dwell": 60},
                {"return": 20.0, "over": 120, "kind": "345"},
                {"dwell": 60},
            ],
            "base": 40,
            "offset": 10.0,
            "radius": 10.0,
            "follower": "roller",
        },
        1e-3,
        DEGREE,
        "profile",
        faults,
    )
    assert faults == []
    assert profile.table == {
        "law": [
            {"rise": 0.02, "over": 120 * DEGREE, "kind": "cycloidal"},
            {"dwell": 60 * DEGREE},
            {"return": 0.02, "over": 120 * DEGREE, "kind": "345"},
            {"dwell": 60 * DEGREE},
        ],
        "base": 0.04,
        "offset": 0.01,
        "radius": 0.01,
        "follower": "roller",
    }


def test_the_rise_of_a_swing_is_an_angle():
    table = {
        "law": [{"rise": 20.0, "over": 180.0, "kind": "345"}, {"return": 20.0, "over": 180.0, "kind": "345"}],
        "base": 40.0,
        "follower": "knife",
        "swing": {"pivot": 100.0, "arm": 90.0},
    }
    profile = profile_of(table, 1e-3, DEGREE, "profile", Faults())
    assert profile.law.rise == pytest.approx(20 * DEGREE)
    assert profile.cam.swing.pivot == pytest.approx(0.1)


def test_formulas_count_in_units_of_the_file_and_angles_of_formulas_are_rad():
    file = {
        "formula": {"r": "50 + 10*cos(3*s)"},
        "follower": {"curve": {"formula": {"r": "2", "unit": 10.0}}},
    }
    profile = profile_of(file, 1e-3, DEGREE, "profile", Faults())
    assert profile.curve.at(0.0)[0][0] == pytest.approx(0.06)
    assert profile.follower_curve.at(0.0)[0][0] == pytest.approx(0.02)
    assert "unit" not in file["formula"]
    assert profile_of(profile.table, 1.0, 1.0, "profile", Faults()) is profile


def test_keys_of_none_are_as_if_not_given():
    table = {"circle": {"radius": 1.0}}
    given = {**table, "angle": None, "swing": None, "circle": {"radius": 1.0, "centre": None}}
    assert profile_of(given, 1e-3, DEGREE, "profile", Faults()) == profile_of(
        table, 1e-3, DEGREE, "profile", Faults()
    )


def test_faults_have_their_places():
    for table, expected in [
        ({"circel": {}, "follower": "flta"}, ["value at here.follower", "unknown at here.circel"]),
        (
            {"law": [{"rise": "x", "over": True, "kind": "cyc"}, 3, {"retrun": 1.0}], "follower": "flat"},
            [
                "value at here.law[1].rise",
                "value at here.law[1].over",
                "value at here.law[1].kind",
                "value at here.law[2]",
                "unknown at here.law[3].retrun",
            ],
        ),
        (
            {"circle": {"radus": 1.0}, "follower": {"curve": {"circle": {"radius": "a"}}, "x": 1}},
            [
                "missing at here.circle.radius",
                "unknown at here.circle.radus",
                "value at here.follower.curve.circle.radius",
                "unknown at here.follower.x",
            ],
        ),
        (
            {"points": [[1.0, 2.0, 3.0]], "swing": {}, "turns": "left", "radius": math.nan},
            [
                "value at here.points[1]",
                "missing at here.swing.pivot",
                "missing at here.swing.arm",
                "value at here.turns",
                "value at here.radius",
            ],
        ),
        (
            {"formula": {"r": 3, "range": [0, True]}, "follower": "flat"},
            ["value at here.formula.r", "value at here.formula.range[2]"],
        ),
        (
            {"law": [], "swing": {"pivot": [100, 0], "side": "up"}, "follower": "flat"},
            ["value at here.swing.pivot", "missing at here.swing.arm", "value at here.swing.side"],
        ),
        ({"line": {"from": [0, 0], "to": [1, 0]}, "follower": "flat"}, ["value at here.line"]),
        ({"line": [3, [1.0, 0.0]], "follower": "flat"}, ["value at here.line[1]"]),
        (3, ["value at here"]),
        ({"circle": {"radius": -1.0}, "follower": "flat"}, ["value at here.circle"]),
    ]:
        assert codes(faults_of(table)) == expected, table


def test_the_schema_says_what_each_key_is():
    schema = ProfileEntry.model_json_schema()
    assert set(schema["properties"]) >= {"formula", "points", "law", "follower", "radius", "swing"}
    assert "return" in schema["$defs"]["SegmentEntry"]["properties"]


def test_the_place_of_a_contact_has_no_limits(read):
    with refused("unsupported at [[joint]] 1 (1, 2) limits.contact"):
        read(
            'format = 1\nspace = "planar"\nbodies = 2\n'
            '[[joint]]\nbodies = [1, 2]\ntype = "L"\npoints = [[0, 0], [0, 3]]\n'
            'profile = { circle = { radius = 2.0 }, follower = "roller", radius = 1.0 }\n'
            "limits = { contact = [5, 6] }\n"
        )
