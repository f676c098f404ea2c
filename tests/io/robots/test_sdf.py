"""SDF: a closed four-bar against the planar model; screws, universal joints and gears against formulae."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from robot_files import loaded

import groups
import mbssa

YAW = math.atan2(0.3, 0.72)

FOUR_BAR = f"""<sdf version="1.10"><model name="four_bar">
  <frame name="pivot"><pose>0.9 0 0 0 0 0</pose></frame>
  <frame name="tip" attached_to="crank"><pose>0.18 0.24 0 0 0 0</pose></frame>
  <link name="crank"><inertial><mass>1</mass></inertial></link>
  <link name="coupler"><pose relative_to="tip" degrees="true">0 0 0 0 0 {math.degrees(YAW)!r}</pose></link>
  <model name="right"><pose relative_to="pivot">0 0.1 0 0 0 0</pose>
    <link name="rocker"><pose>0 -0.1 0 0 0 0</pose></link></model>
  <joint name="hip" type="revolute"><parent>world</parent><child>crank</child><axis><xyz>0 0 2</xyz>
    <limit><lower>-1e16</lower><upper>1e16</upper></limit></axis></joint>
  <joint name="knee" type="revolute"><pose relative_to="tip">0 0 0 1.1 0.2 0.3</pose><parent>tip</parent>
    <child>coupler</child><axis><xyz expressed_in="__model__">0 0 1</xyz></axis></joint>
  <joint name="toe" type="ball"><pose>0.78 0 0 0 0 0</pose><parent>right::rocker</parent>
    <child>coupler</child></joint>
  <joint name="ankle" type="continuous"><parent>world</parent><child>right::rocker</child>
    <axis><xyz>0 0 1</xyz></axis></joint>
</model></sdf>
"""


@pytest.fixture
def put(tmp_path: Path):
    def put(text: str) -> Path:
        path = tmp_path / "robot.sdf"
        path.write_text(text)
        return path

    return put


def solved(mechanism: mbssa.Mechanism, values: dict[str, np.ndarray]) -> groups.Trajectory:
    mechanism = mbssa.load(with_driven(mechanism, {name.rpartition(".")[0] for name in values}))
    names = groups.driven_coordinates(mechanism)
    value = np.array([values[name] for name in names])
    zero = np.zeros_like(value)
    time = np.arange(float(value.shape[1]))
    run = groups.build(mbssa.decompose(mechanism)).solve(groups.Motion(time, names, value, zero, zero))
    assert (run.status == 0).all()
    return run


def with_driven(mechanism: mbssa.Mechanism, joints: set[str]) -> dict:
    from mbssa.io.records import to_record

    record = to_record(mechanism)
    for joint in record["joint"]:
        joint.pop("driven", None)
        if joint["id"] in joints:
            joint["driven"] = True
    return record


def rotation(quaternion: np.ndarray) -> np.ndarray:
    w, x, y, z = quaternion
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def turn(axis: int, angle: float) -> np.ndarray:
    """About x, y or z."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    found = np.eye(3)
    found[[i, j], [i, j]] = math.cos(angle)
    found[i, j], found[j, i] = -math.sin(angle), math.sin(angle)
    return found


BALL = FOUR_BAR.replace(
    FOUR_BAR[FOUR_BAR.index('<joint name="toe"') : FOUR_BAR.index('<joint name="ankle"')],
    """<drake:ball_constraint><drake:ball_constraint_body_A>right::rocker</drake:ball_constraint_body_A>
      <drake:ball_constraint_p_AP>0 0.54 0</drake:ball_constraint_p_AP>
      <drake:ball_constraint_body_B>coupler</drake:ball_constraint_body_B>
      <drake:ball_constraint_p_BQ>0.78 0 0</drake:ball_constraint_p_BQ></drake:ball_constraint>""",
)


@pytest.mark.parametrize("text", [FOUR_BAR, BALL], ids=["joint", "constraint of Drake"])
def test_a_closed_four_bar_moves_as_the_planar_model_does(put, text):
    mechanism = loaded(put(text))
    assert sorted(joint.type.code for joint in mechanism.joints) == ["R", "R", "R", "S"]
    assert not mechanism.unread
    assert mechanism.n_driven == 0
    assert any("mbssa transform proposes sets" in note for note in mechanism.notes)
    angle = np.linspace(0.0, 2 * math.pi, 73)
    run = solved(mechanism, {"hip.angle": angle})
    planar = mbssa.load("planar_four_bar")
    zero = np.zeros((1, 73))
    value = angle[None, :] + planar.joint_geometry[0].at_reference["angle"]
    motion = groups.Motion(np.arange(73.0), ("1-2.angle",), value, zero, zero)
    same = groups.build(mbssa.decompose(planar)).solve(motion)
    for body, twin, reference, yaw in (
        ("coupler", "coupler", (0.18, 0.24), YAW),
        ("right::rocker", "rocker", (0.9, 0.0), 0.0),
    ):
        k, p = mechanism.body_names.index(body), planar.body_names.index(twin)
        for t in range(73):
            turned = float(same.orientation[t, p])
            where = same.position[t, p] + turn(2, turned)[:2, :2] @ reference
            assert np.abs(run.position[t, k] - [*where, 0.0]).max() < 1e-9
            assert np.abs(rotation(run.orientation[t, k]) - turn(2, turned + yaw)).max() < 1e-9


def test_faults_of_a_ball_of_drake_come_at_once(put):
    text = BALL.replace("A>right::rocker<", "A>rocker<").replace("p_BQ>0.78 0 0<", "p_BQ>0.78 0<")
    with pytest.raises(mbssa.ModelError) as caught:
        mbssa.load(put(text))
    places = [fault.place.rpartition(" ")[2] for fault in caught.value.faults]
    assert places == ["drake:ball_constraint_body_A", "drake:ball_constraint_p_BQ"]
    assert [fault.code for fault in caught.value.faults] == ["unknown", "value"]


def one_joint(kind: str, inside: str) -> str:
    return f"""<sdf version="1.10"><model name="m"><link name="a"><pose>0 0 1 0 0 0</pose></link>
      <joint name="j" type="{kind}"><parent>world</parent><child>a</child>{inside}</joint></model></sdf>"""


@pytest.mark.parametrize(
    ("pitch", "advance"),
    [
        ("<screw_thread_pitch>0.5</screw_thread_pitch>", 0.5 / math.tau),
        ("<thread_pitch>-4</thread_pitch>", 0.25),
    ],
)
def test_a_screw_advances_by_its_pitch(put, pitch, advance):
    inside = f"<axis><xyz>0 0 1</xyz></axis>{pitch}"
    angle = np.linspace(-4.0, 9.0, 27)
    run = solved(loaded(put(one_joint("screw", inside))), {"j.angle": angle})
    np.testing.assert_allclose(run.position[:, 1, 2], 1.0 + advance * angle, atol=1e-12)
    for t in range(27):
        assert np.abs(rotation(run.orientation[t, 1]) - turn(2, angle[t])).max() < 1e-12


def test_a_universal_joint_turns_about_axis_then_axis2(put):
    inside = "<axis><xyz>0 0 1</xyz></axis><axis2><xyz>1 0 0</xyz></axis2>"
    first, second = np.random.default_rng(5).uniform(-1.2, 1.2, (2, 40))
    run = solved(loaded(put(one_joint("universal", inside))), {"j.angle_1": first, "j.angle_2": second})
    for t in range(40):
        assert np.abs(rotation(run.orientation[t, 1]) - turn(2, first[t]) @ turn(0, second[t])).max() < 1e-9


def test_a_gearbox_turns_by_its_ratio_against_its_reference_body(put):
    """theta_2 = -gearbox_ratio theta_1, of child and parent about axis2 and axis."""
    text = """<sdf version="1.10"><model name="m"><link name="a"/>
      <link name="b"><pose>1 0 0 0 0 0</pose></link>
      <joint name="p" type="revolute"><parent>world</parent><child>a</child>
        <axis><xyz>0 0 1</xyz></axis></joint>
      <joint name="q" type="revolute"><parent>world</parent><child>b</child>
        <axis><xyz>0 1 0</xyz></axis></joint>
      <joint name="g" type="gearbox"><parent>a</parent><child>b</child><gearbox_ratio>2.5</gearbox_ratio>
        <gearbox_reference_body>world</gearbox_reference_body>
        <axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint></model></sdf>"""
    angle = np.linspace(0.0, 2.0, 21)
    run = solved(loaded(put(text)), {"p.angle": angle})
    for t in range(21):
        assert np.abs(rotation(run.orientation[t, 2]) - turn(1, -2.5 * angle[t])).max() < 1e-9


def test_a_model_that_hangs_on_nothing_is_held_by_its_canonical_link(put):
    text = one_joint("revolute", "<axis><xyz>0 0 1</xyz></axis>").replace("world", "base")
    text = text.replace('<link name="a">', '<link name="base"><pose>5 5 5 1 0 0</pose></link><link name="a">')
    mechanism = loaded(put(text))
    assert any("the canonical link 'base' is held" in note for note in mechanism.notes)
    want = turn(0, -1.0) @ (np.array([0, 0, 1]) - [5, 5, 5])
    np.testing.assert_allclose(mechanism.body_geometry[1].origin, want, atol=1e-12)


def test_faults_are_named(put):
    for text, part in [
        ('<!DOCTYPE s [<!ENTITY a "b">]><sdf/>', "document type, an entity"),
        ("<robot/>", "an SDF is an <sdf>"),
        ("<sdf/>", "has 0 models"),
        ('<sdf><model name="m"><include><uri>../x</uri></include></model></sdf>', "include is not read"),
        (one_joint("rope", ""), "type is 'rope'; the types that are read are revolute"),
        (one_joint("ball", "").replace("world", "wrld"), "parent 'wrld' is no link and no frame on one"),
        (one_joint("revolute", "<axis><xyz>0 0 0</xyz></axis>"), "axis: has length 0"),
        (one_joint("revolute", "<axis><xyz>0 1e200 0</xyz></axis>"), "axis: has length 1e+200"),
        (one_joint("ball", '<pose relative_to="j">0 0 0 0 0 0</pose>'), "pose of 'j': is relative to itself"),
        (one_joint("ball", "<pose>0 0 0 0 1e200 0</pose>"), "'j' pose: an angle is 1e+200 rad; write"),
        (one_joint("ball", "<pose>0 0 x 0 0 0</pose>"), "is '0 0 x 0 0 0'; write 6 numbers"),
    ]:
        with pytest.raises(mbssa.ModelError) as raised:
            mbssa.load(put(text))
        assert part in str(raised.value), part


@pytest.mark.parametrize(
    ("frames", "places"),
    [
        ('<frame name="f"><pose relative_to="g"/></frame><frame name="g"><pose relative_to="x"/></frame>',
         ["pose of 'g'"]),
        ('<frame name="f"><pose relative_to="g"/></frame><frame name="g"><pose relative_to="h"/></frame>'
         '<frame name="h"><pose relative_to="g"/></frame>', ["pose of 'g'"]),
        ('<frame name="f"><pose relative_to="k"/></frame>'
         '<joint name="k" type="ball"><parent>world</parent><child>x</child></joint>', ["line 1 joint 'k'"]),
    ],
)  # fmt: skip
def test_a_wrong_frame_is_one_fault_wherever_others_hang_on_it(put, frames, places):
    with pytest.raises(mbssa.ModelError) as raised:
        mbssa.load(put(f'<sdf version="1.9"><model name="m"><link name="a"/>{frames}</model></sdf>'))
    assert [fault.place for fault in raised.value.faults] == places


def test_a_parent_frame_elsewhere_than_the_joint_is_named(put):
    """The child's pose places a joint: two bars drawn at one place hang on one point, and a note says so."""
    joint = '<joint name="hang {0}" type="revolute"><parent>{1}</parent><child>{0}</child></joint>'
    frame = '<frame name="pivot" attached_to="world"><pose relative_to="world">2 0 0 0 0 0</pose></frame>'
    bars = '<link name="here"/><link name="there"/>' + joint.format("here", "world")
    text = f'<sdf version="1.7"><model name="m">{frame}{bars}{joint.format("there", "pivot")}</model></sdf>'
    with pytest.warns(UserWarning, match=r"2 m .*'pivot'"):
        mechanism = mbssa.load(put(text))
    assert mechanism.joint_geometry[0].frames[0].origin == mechanism.joint_geometry[1].frames[0].origin


PENDULUM = """<sdf version="1.9"><world name="w">{gravity}<model name="pendulum">{link}
  <joint name="hinge" type="revolute"><parent>world</parent><child>arm</child>
    <axis><xyz>0 1 0</xyz></axis></joint></model></world></sdf>"""
ARM = """<link name="arm"><pose>0 0 1 0 0 0</pose><inertial><pose>0.5 0 0 0 0 0</pose><mass>1</mass>
  <inertia><ixx>0.01</ixx><iyy>0.09</iyy><izz>0.09</izz></inertia></inertial>{inside}</link>"""


def holding(mechanism: mbssa.Mechanism) -> float:
    """Torque of the drive at the reference, N m."""
    still = groups.Motion(np.zeros(1), mechanism.driven_coordinates, *np.zeros((3, 1, 1)))
    return float(groups.forces(groups.build(mbssa.decompose(mechanism)).solve(still)).driving[0, 0])


def test_gravity_of_the_world_is_read(put, tmp_path):
    for said, value in (("<gravity>0 0 -9.81</gravity>", 9.81), ("", 9.8), ("<gravity>9 9 0</gravity>", 0.0)):
        mechanism = loaded(put(PENDULUM.format(gravity=said, link=ARM.format(inside=""))))
        assert holding(mechanism) == pytest.approx(-0.5 * value, abs=1e-12)
        mbssa.save(mechanism, tmp_path / "again.sdf", force=True)
        assert loaded(tmp_path / "again.sdf").gravity == mechanism.gravity


def test_gravity_of_the_physics_of_an_old_world_is_read(put):
    """SDF before 1.6 has gravity there; the drive holds half the weight of the arm, which is 1 m long."""
    text = PENDULUM.format(gravity="<physics><gravity>0 0 -3</gravity></physics>", link=ARM.format(inside=""))
    mechanism = loaded(put(text.replace("1.9", "1.5")))
    assert not mechanism.unread
    assert holding(mechanism) == pytest.approx(-1.5, abs=1e-12)


def test_gravity_is_in_the_axes_of_the_link_that_is_held(put):
    link = '<link name="base"><pose>1 2 3 0 1.5707963267948966 0</pose></link>' + ARM.format(inside="")
    text = PENDULUM.format(gravity="", link=link).replace("<parent>world", "<parent>base")
    np.testing.assert_allclose(loaded(put(text)).gravity, [9.8, 0.0, 0.0], atol=1e-12)


def test_a_model_without_a_world_has_no_gravity_and_says_so(put):
    text = PENDULUM.format(gravity="", link=ARM.format(inside=""))
    mechanism = loaded(put(text.replace('<world name="w">', "").replace("</world>", "")))
    assert mechanism.gravity is None
    assert any("says no gravity" in note for note in mechanism.notes)


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        ("<mass>", "<gravity>0</gravity><mass>", None),
        ("</inertial>", "</inertial><gravity>false</gravity>", "changes gravity: gravity, line 2"),
        ("</model>", "<static>1</static></model>", "ties links: static, line 4"),
        ("</world>", '<joint name="x"/></world>', "ties links: joint, line 4"),
        ("</model>", "<rope><a>arm</a><b>hinge</b></rope></model>", "ties links: rope, line 4"),
        ("</axis>", '<drake:mimic joint="a"/></axis>', "couples joints: drake:mimic, line 4"),
        ("<model", "<physics><gravity>0 0 -3</gravity></physics><model", "changes gravity: gravity, line 1"),
        (
            "</model>",
            '<plugin filename="gz-sim-detachable-joint-system"/></model>',
            "ties links: plugin, line 4",
        ),
        ("</inertial>", "</inertial><kinematic>true</kinematic>", "ties links: kinematic, line 2"),
        ("</axis>", "</axis><axis2><dynamics><damping>0</damping></dynamics></axis2>", None),
        ("</axis>", "<dynamics><friction>0.0</friction></dynamics></axis>", None),
        ("</axis>", "<dynamics><friction>2</friction></dynamics></axis>", "changes forces: friction, line 4"),
        (
            "</axis>",
            "</axis><axis2><dynamics><spring_stiffness>1</spring_stiffness></dynamics></axis2>",
            "changes forces: dynamics, line 4",
        ),
    ],
)
def test_what_changes_answers_and_is_not_read_fails_the_check(put, old, new, effect):
    mechanism = loaded(put(PENDULUM.format(gravity="", link=ARM.format(inside="")).replace(old, new)))
    findings = [finding for finding in mbssa.check(mechanism).findings if finding.kind == "unread"]
    assert [effect in finding.text and finding.fatal for finding in findings] == [True] * (effect is not None)


def test_limits_of_joints_of_several_coordinates_are_named(put):
    axes = "<axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis>"
    axes += "<axis2><xyz>1 0 0</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis2>"
    assert not loaded(
        put(one_joint("universal", axes.replace(">-1<", ">-inf<").replace(">1<", ">1e16<")))
    ).unread
    parts = loaded(put(one_joint("universal", axes))).unread
    assert [part.partition(":")[0] for part in parts] == ["not read, though it limits a joint"] * 2


def test_a_spring_and_a_damper_of_an_axis_are_read(put):
    inside = "<dynamics><spring_stiffness>3</spring_stiffness><damping>2</damping>"
    inside += "<spring_reference>0.5</spring_reference><friction>1</friction></dynamics>"
    mechanism = loaded(put(one_joint("revolute", f"<axis><xyz>0 0 1</xyz>{inside}</axis>")))
    (spring,) = mechanism.forces
    assert (spring.coordinate, spring.stiffness, spring.damping, spring.rest) == ("j.angle", 3.0, 2.0, 0.5)
    assert mechanism.unread == ("not read, though it changes forces: friction, line 2",)


@pytest.mark.parametrize(
    ("shape", "note"),
    [
        (
            '<sphere><radius>0.1"</radius></sphere>',
            "line 1 visual 'v' sphere radius: is '0.1\"'; write a number",
        ),
        ("<box/>", "line 1 visual 'v' box: has no size"),
        ("<ellipsoid/>", "line 1 visual 'v': the shape is 'ellipsoid'; write box"),
        ("", "line 1 visual 'v': has no geometry"),
    ],
)
def test_a_slip_in_a_visual_leaves_it_out_and_names_it(put, shape, note):
    good = "<visual name='w'><geometry><sphere><radius>1</radius></sphere></geometry></visual>"
    link = f"<link name='a'><visual name='v'><geometry>{shape}</geometry></visual>{good}"
    text = one_joint("revolute", "").replace("\n", " ").replace('<link name="a">', link)
    mechanism = loaded(put(text))
    assert any(f"not shown: {note}" in each for each in mechanism.notes)
    assert [part["shape"] for part in mechanism.body_geometry[1].visual["parts"]] == ["sphere"]
