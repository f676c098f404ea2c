"""Wheels that roll on a track and that nothing keeps there: ranks say which."""

import pytest

import mbssa
from groups.cli.running import solvable_model

WHEEL = """
[[joint]]
bodies = ["frame", "wheel"]
type = "{code}"
point = [0.0, 0.4]
axis = [1.0, 0.0]
radius = 0.4
"""

CHASSIS = """
[[joint]]
bodies = ["frame", "chassis"]
type = "P"
axis = [1.0, {slope}]
driven = true

[[joint]]
bodies = ["chassis", "wheel"]
type = "R"
point = [0.0, 0.4]
"""


@pytest.fixture
def wheel(read):
    def make(*joints, bodies=("wheel",)):
        head = 'format = 1\nspace = "planar"\n' + "".join(f'[[body]]\nname = "{name}"\n' for name in bodies)
        return read(head + "".join(joints))

    return make


def message(mechanism):
    report = mbssa.check(mechanism)
    return report, [finding for finding in report.findings if finding.kind == "rolling"]


def rolling(driven=""):
    return WHEEL.format(code="RP") + driven


def test_a_wheel_that_only_rolls_leaves_the_ground(wheel, capsys):
    mechanism = wheel(rolling('driven = ["roll"]\n'))
    report, (finding,) = message(mechanism)
    assert finding.fatal
    assert not report.solvable
    assert "1-2 RP" in finding.text
    assert "nothing keeps wheel 2 (wheel) on its track, body 1 (frame): add an RD" in finding.text
    with pytest.raises(SystemExit, match="1"):
        solvable_model(mechanism, "wheel.toml")
    assert "add an RD with the same bodies, point, axis and radius" in capsys.readouterr().err


def test_with_its_contact_it_rolls_and_can_be_solved(wheel):
    report, found = message(wheel(rolling('driven = ["roll"]\n'), WHEEL.format(code="RD")))
    assert not found
    assert report.solvable


def test_bearings_hold_a_wheel_to_a_track_that_they_are_parallel_to(wheel):
    """By numeric rank: the count of joints is the same in both, and only one wheel stays on the ground."""
    bodies = ("chassis", "wheel")
    report, found = message(wheel(CHASSIS.format(slope=0.0), rolling(), bodies=bodies))
    assert not found
    assert report.solvable
    report, (finding,) = message(wheel(CHASSIS.format(slope=0.1), rolling(), bodies=bodies))
    assert "wheel 3 (wheel)" in finding.text
    assert not finding.fatal
    assert report.solvable


def test_a_rack_and_its_pinion_need_no_contact():
    assert not message(mbssa.load("rack_steering"))[1]


def test_rolling_in_space_is_refused_with_the_word():
    for word in ["rolling", "Rolling", "pure rolling", "RP", "ROLL", "rolling contact"]:
        with pytest.raises(KeyError, match="non-integrable"):
            mbssa.joints.joint_type(word, "spatial")


def test_rolling_in_the_plane_is_found_by_its_word():
    with pytest.raises(KeyError, match="'RP'"):
        mbssa.joints.joint_type("rolling", "planar")
