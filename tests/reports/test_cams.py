"""``mbssa cams``: extremes against closed forms, undercut, and what is printed."""

import json
import tomllib
from dataclasses import replace

import numpy as np
import pytest
from refusals import refused

import mbssa
from mbssa.joints.cams.profiles import profile_from
from mbssa.joints.cams.properties import examine
from mbssa.mechanism import JointGeometry
from mbssa.reports.cams import cams_of


def law(rise=0.02, there="cycloidal", back="345"):
    a = np.deg2rad
    return [
        {"rise": rise, "over": a(120), "kind": there},
        {"dwell": a(60)},
        {"return": rise, "over": a(120), "kind": back},
        {"dwell": a(60)},
    ]


def report(**table):
    return examine(profile_from(table), ("m", "deg"))


def test_an_ellipse():
    a, b = 0.04, 0.02
    found = report(ellipse={"semi_axes": [a, b]}, follower="flat")
    assert found.convex.value == pytest.approx(b * b / a)
    assert np.sin(found.convex.at) == pytest.approx(0.0, abs=1e-4)
    assert found.concave is None
    # A face at right angles to its motion is touched up to a - b beside the axis.
    assert found.face == pytest.approx((-(a - b), a - b))
    assert found.sound


def test_a_rippled_profile():
    r, h, n = 0.05, 0.01, 3
    table = {"formula": {"r": f"{r} + {h}*cos({n}*s)"}}
    top, bottom = r + h, r - h
    convex = top**2 / (top + h * n**2)
    concave = bottom**2 / (h * n**2 - bottom)
    found = report(**table, follower="roller", radius=0.02)
    assert found.convex.value == pytest.approx(convex)
    assert found.concave.value == pytest.approx(concave)
    assert found.pitch_convex.value == pytest.approx(convex + 0.02)
    assert found.pitch_concave.value == pytest.approx(concave - 0.02)
    assert found.sound
    assert (
        "does not reach the bottom of the hollow"
        in report(**table, follower="roller", radius=0.033).faults[0]
    )
    assert "bridges the hollow" in report(**table, follower="flat").faults[0]
    wheel = {"curve": {"circle": {"radius": 0.033}}}
    assert "may bridge the hollow" in report(**table, follower=wheel).faults[0]
    assert report(**table, follower={"curve": {"circle": {"radius": 0.031}}}).sound


def test_a_spiral_has_a_corner():
    found = report(formula={"r": "0.05 + 0.02*s/pi", "range": [0, "2*pi"]}, closed=False, follower="knife")
    assert found.corners == ()
    square = report(formula={"r": "0.05/(1 + 0.3*sin(s/2))"}, follower="knife")
    assert square.corners == (0.0,)
    assert square.advice == ("the profile has a corner at s = 0°: the follower's velocity jumps there",)


def test_peaks_of_the_law():
    found = report(law=law(), base=0.04, follower="flat")
    over = np.deg2rad(120)
    velocity, acceleration, jerk = found.peaks
    assert (velocity.value, velocity.at) == pytest.approx((2 * 0.02 / over, over / 2))
    assert (acceleration.value, acceleration.at) == pytest.approx(
        (2 * np.pi * 0.02 / over**2, over / 4), rel=1e-6
    )
    assert jerk.value == pytest.approx(-60 * 0.02 / over**3)


def test_undercut_begins_where_the_pitch_curve_is_as_sharp_as_the_roller():
    a = np.deg2rad
    quick = [
        {"rise": 0.02, "over": a(60), "kind": "345"},
        {"return": 0.02, "over": a(60), "kind": "345"},
        {"dwell": a(240)},
    ]
    sharp = report(law=quick, base=0.05, follower="roller", radius=0.01).pitch_convex
    assert 0.01 < sharp.value < 0.05
    # The prime circle is kept: the pitch curve does not change with the roller.
    for radius, sound in ((sharp.value - 1e-6, True), (sharp.value + 1e-6, False)):
        found = report(law=quick, base=0.06 - radius, follower="roller", radius=radius)
        assert found.sound == sound
        assert found.convex.value == pytest.approx(sharp.value - radius, abs=1e-9)
    assert found.faults[0].startswith("undercut at ")


def test_undercut_of_a_flat_face_says_which_base_is_enough():
    found = report(law=law(0.06), base=0.01, follower="flat")
    assert "undercut" in found.faults[0]
    angle = np.linspace(0.0, 2 * np.pi, 200_001)
    s, _, a, _ = found.profile.law.at(angle)
    assert found.convex.value == pytest.approx((0.01 + s + a).min(), abs=1e-9)
    needed = float(found.faults[0].split("above ")[1].split(" m")[0])
    assert report(law=law(0.06), base=needed * 1.001, follower="flat").sound
    assert not report(law=law(0.06), base=needed * 0.999, follower="flat").sound


def test_the_pressure_angle_is_largest_where_it_is_found():
    found = report(law=law(), base=0.02, offset=0.005, follower="knife")
    angle = np.linspace(0.0, 2 * np.pi, 100_001)
    size = np.abs(found.profile.cam.pressure(angle))
    assert abs(found.pressure.value) == pytest.approx(size.max(), rel=1e-8)
    assert found.pressure.at == pytest.approx(angle[size.argmax()], abs=1e-3)
    assert "above the 30° that textbooks advise" in found.advice[0]


def test_jumps_of_the_law_are_told():
    found = report(law=law(back="harmonic"), base=0.04, follower="roller", radius=0.01)
    assert found.advice == ("the law's acceleration jumps at 180°, 300°",)
    found = report(law=law(back="uniform"), base=0.04, follower="knife")
    assert found.advice == ("the law's velocity jumps at 180°, 300°",)
    assert len(found.corners) == 2


MODEL = """
format = 1
space = "planar"
title = "A valve"
units = { length = "mm", angle = "deg" }
body = [{ name = "cam" }, { name = "valve" }]

[[joint]]
bodies = ["frame", "cam"]
type = "R"
driven = ["angle"]
point = [0.0, 0.0]

[[joint]]
bodies = ["frame", "valve"]
type = "P"
axis = [1.0, 0.0]

[[joint]]
bodies = ["cam", "valve"]
type = "L"
points = [[0.0, 0.0], [50.0, 0.0]]

[joint.profile]
title = "inlet"
law = [
  { rise = 20.0, over = 120.0, kind = "cycloidal" },
  { dwell = 60.0 },
  { return = 20.0, over = 120.0, kind = "345" },
  { dwell = 60.0 },
]
base = 40.0
follower = "roller"
radius = 10.0
"""


@pytest.fixture
def valve(tmp_path):
    def write(text=MODEL):
        path = tmp_path / "valve.toml"
        path.write_text(text)
        return str(path)

    return write


def test_the_page(run_mbssa, valve):
    done = run_mbssa("cams", valve())
    assert done.exit_code == 0
    for line in (
        "valve: A valve",
        "joint 2-3: inlet",
        "cam 2 (cam): by a law, base circle 40 mm, turns counter-clockwise;",
        "follower 3 (valve): translating roller of radius 10 mm",
        "   0°   120°     +20 mm   cycloidal",
        " maximum velocity of the law                                  0.333333   mm/deg    60°",
        "no undercutting: the follower touches all of the profile",
    ):
        assert line in done.stdout


def test_an_undercut_cam_exits_with_1(run_mbssa, valve):
    done = run_mbssa("cams", valve(MODEL.replace("radius = 10.0", "radius = 60.0").replace("40.0", "2.0")))
    assert done.exit_code == 1
    assert "fault: undercut at" in done.stdout


def test_json_has_every_number(run_mbssa, valve, tmp_path):
    out = tmp_path / "cams.json"
    done = run_mbssa("cams", valve(), "--format", "json", "--output", str(out))
    assert (done.exit_code, done.stdout) == (0, "")
    record = json.loads(out.read_text())
    (cam,) = record["cams"]
    assert cam["joint"] == "2-3"
    assert (cam["velocity"].pop("unit"), record["units"]["length"]) == ("mm/deg", "mm")
    assert cam["velocity"] == pytest.approx({"value": 2 * 20 / 120, "at": 60.0}, rel=1e-6)
    assert cam["sound"] is True
    entry = tomllib.loads(MODEL)["joint"][-1]["profile"]
    for one, other in zip(cam["profile"].pop("law"), entry.pop("law"), strict=True):
        assert one == pytest.approx(other)
    assert {key: cam["profile"][key] for key in entry} == pytest.approx(entry)


def test_models_without_cams_and_faults_are_bad_input(run_mbssa, valve, tmp_path):
    done = run_mbssa("cams", "planar_four_bar")
    assert (done.exit_code, done.stderr) == (2, "error: planar_four_bar: has no cam: no joint of type L\n")
    bare = mbssa.from_pairs(3, [(1, 2, "R", 1), (1, 3, "P", 0), (2, 3, "L", 0)], "planar")
    with refused("missing"):
        cams_of(bare)
    wrong = replace(bare, joint_geometry={2: JointGeometry(profile={"circle": {"radius": -1.0}})})
    with pytest.raises(mbssa.ModelError, match=r"2-3 profile circle: .*-1") as caught:
        cams_of(wrong)
    assert len(caught.value.faults) == 2
    done = run_mbssa("cams", valve(MODEL.replace("dwell = 60.0", "dwell = 50.0")))
    assert done.exit_code == 2
    assert (
        "[[joint]] 3 (cam, valve) profile.law: covers 340° of the turn of 360°; write 20° more" in done.stderr
    )
    done = run_mbssa("cams", valve(), "--picture", str(tmp_path / "cam.gif"))
    assert done.exit_code == 2
    assert "ends in none of .png, .svg, .pdf" in done.stderr


def test_a_picture_is_written(run_mbssa, valve, tmp_path):
    path = tmp_path / "valve.svg"
    assert run_mbssa("cams", valve(), "--picture", str(path)).exit_code == 0
    text = path.read_text()
    assert 'id="cam-2-3: inlet"' in text
    assert text.count('id="law-') == 3
