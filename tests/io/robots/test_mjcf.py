"""MJCF: poses and inertias against MuJoCo, closed loops against its residuals and simulation; bad files."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from robot_files import faults_of, loaded

import groups
import mbssa

mujoco = pytest.importorskip("mujoco")

ARM = """<mujoco model="arm"><compiler angle="degree" eulerseq="zyx"/>
  <default><joint armature="0.1"/><default class="stiff"><joint axis="1 2 -1"/></default></default>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="shoulder" pos="0.1 -0.2 0.3" euler="20 -30 40">
      <joint name="turn" pos="0.05 0.02 -0.1" axis="0 0 1"/>
      <geom type="box" pos="0.1 0 0.2" euler="10 20 30" size="0.1 0.2 0.3"/>
      <body name="plate" pos="0.2 0.1 0" euler="10 0 50"><geom type="sphere" size="0.1"/>
        <body name="elbow" pos="0 0.3 0.1" quat="0.9 0.1 -0.3 0.2">
          <joint name="bend" class="stiff" ref="15" range="-90 120" limited="true" pos="0 0.1 0"/>
          <joint name="push" type="slide" axis="0 3 4" ref="0.02" range="-0.1 0.3" limited="true"/>
          <joint axis="1 0 0.5" pos="0.1 0.2 0.3"/>
          <geom type="capsule" size="0.02 0.2"/><geom type="cylinder" size="0.03 0.2" group="3"/>
          <body name="tip" pos="0.3 0 0.1"><joint name="twist" axis="-1 0 0"/>
            <inertial pos="0.1 0 0" mass="2" fullinertia="0.4 0.5 0.6 0.05 -0.1 0.02"/></body>
        </body></body></body></worldbody></mujoco>
"""

#: A crank of 0.3 m, a coupler of 0.78 m, a rocker of 0.54 m on pivots 0.9 m apart, drawn unassembled.
FOUR_BAR = """<mujoco model="four_bar"><option gravity="0 0 0" timestep="0.001"/>
  <default><joint axis="0 0 1" damping="0.5"/><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body name="crank"><joint name="hip"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".01"/>
      <body name="coupler" pos=".3 0 0"><joint name="knee" ref="10"/>
        <geom type="capsule" fromto="0 0 0 .78 0 0" size=".01"/><site name="A" pos=".78 0 0"/></body></body>
    <body name="rocker" pos=".9 0 0"><joint name="ankle"/>
      <geom type="capsule" fromto="0 0 0 0 .54 0" size=".01"/><site name="B" pos="0 .54 0"/></body>
  </worldbody>
  <equality><connect name="toe" site1="A" site2="B"/></equality>
  <actuator><position name="servo" joint="hip" kp="50"/></actuator></mujoco>
"""


@pytest.fixture
def put(tmp_path: Path):
    def put(text: str, name: str = "robot.xml") -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    return put


def solved(mechanism: mbssa.Mechanism, value: np.ndarray) -> groups.Trajectory:
    zero = np.zeros_like(value)
    names = groups.driven_coordinates(mechanism)
    motion = groups.Motion(np.arange(float(value.shape[1])), names, value, zero, zero)
    run = groups.build(mbssa.decompose(mechanism)).solve(motion)
    assert (run.status == 0).all()
    return run


def rotation(quaternion: np.ndarray) -> np.ndarray:
    w, x, y, z = quaternion
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def assert_same_poses(mechanism, run, t, data, bodies, within):
    for body in bodies:
        k = mechanism.body_names.index(body)
        assert np.abs(run.position[t, k] - data.body(body).xpos).max() < within
        assert np.abs(rotation(run.orientation[t, k]) - data.body(body).xmat.reshape(3, 3)).max() < within


def residual(model, data) -> float:
    rows = data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
    assert rows.any()
    return float(np.abs(data.efc_pos[rows]).max())


def put_values(model, data, run, t) -> None:
    """Joints of MuJoCo at the values that we have found, counted from its reference."""
    for k in range(model.njnt):
        at = model.jnt_qposadr[k]
        data.qpos[at] = model.qpos0[at] + run.joint(model.joint(k).name).value[t, 0]
    mujoco.mj_forward(model, data)


# --- against MuJoCo ----------------------------------------------------------------------------------


def test_poses_of_a_tree_are_those_of_mujoco(put):
    mechanism = loaded(put(ARM))
    assert [joint.type.code for joint in mechanism.joints] == ["R", "R", "P", "R", "R"]
    names = [name.rpartition(".")[0] for name in groups.driven_coordinates(mechanism)]
    assert names == ["turn", "bend", "push", "elbow joint 3", "twist"]
    value = np.random.default_rng(5).uniform(-3.0, 3.0, (5, 100))
    run = solved(mechanism, value)
    model = mujoco.MjModel.from_xml_string(ARM)
    data = mujoco.MjData(model)
    for t in range(100):
        data.qpos[:] = model.qpos0 + value[:, t]
        mujoco.mj_kinematics(model, data)
        assert_same_poses(mechanism, run, t, data, ("shoulder", "elbow", "tip"), 1e-12)


def test_inertias_limits_and_visuals_are_those_of_mujoco(put):
    mechanism = loaded(put(ARM))
    model = mujoco.MjModel.from_xml_string(ARM)
    k = mechanism.body_names.index("tip")
    ours, theirs = mechanism.body_geometry[k], model.body("tip")
    assert ours.inertia.mass == pytest.approx(2.0, rel=1e-12)
    place, turn = np.array(ours.origin), rotation(np.array(ours.orientation))
    np.testing.assert_allclose(turn.T @ (np.array(ours.inertia.centre) - place), theirs.ipos, atol=1e-12)
    axes = rotation(theirs.iquat)
    np.testing.assert_allclose(ours.inertia.matrix, axes @ np.diag(theirs.inertia) @ axes.T, atol=1e-12)
    low, high = mechanism.joint_geometry[1].limits["angle"]
    assert (low, high) == pytest.approx((np.radians(-105), np.radians(105)), rel=1e-12)
    assert mechanism.joint_geometry[2].limits["slide"] == pytest.approx((-0.12, 0.28), rel=1e-12)
    elbow = mechanism.body_geometry[mechanism.body_names.index("elbow")]
    (capsule,) = elbow.visual["parts"]
    assert (capsule["shape"], capsule["radius"], capsule["length"]) == ("capsule", 0.02, 0.4)
    for note in (
        "not read: 1 geom of group 3 or above, which are for collisions",
        "not read: 1 geom of type plane",
        "line 9 body 'elbow': has 3 joints, with 2 bodies without mass between them",
    ):
        assert note in mechanism.notes
    assert [part.partition(" of ")[0] for part in mechanism.unread] == [
        "not read, though it changes forces: armature"
    ]


def test_a_closed_loop_satisfies_the_equalities_of_mujoco(put):
    mechanism = loaded(put(FOUR_BAR))
    assert mbssa.check(mechanism).solvable
    run = solved(mechanism, np.linspace(0.0, 6.0, 61)[None, :])
    model = mujoco.MjModel.from_xml_string(FOUR_BAR)
    data = mujoco.MjData(model)
    for t in range(61):
        put_values(model, data, run, t)
        assert residual(model, data) < 1e-9
        assert_same_poses(mechanism, run, t, data, ("crank", "coupler", "rocker"), 1e-9)


def test_a_simulation_at_rest_stands_as_the_assembled_mechanism(put):
    """MuJoCo's constraints are soft: it comes to rest within its own residual, times a lever."""
    model = mujoco.MjModel.from_xml_string(FOUR_BAR)
    data = mujoco.MjData(model)
    start = solved(loaded(put(FOUR_BAR)), np.zeros((1, 1)))
    put_values(model, data, start, 0)
    data.ctrl[0] = 1.0
    for _ in range(20_000):
        mujoco.mj_step(model, data)
    assert np.abs(data.qvel).max() < 1e-8
    run = solved(loaded(put(FOUR_BAR)), np.linspace(0.0, float(data.qpos[0]), 21)[None, :])
    missed = residual(model, data)
    assert missed < 1e-4
    assert_same_poses(loaded(put(FOUR_BAR)), run, 20, data, ("crank", "coupler", "rocker"), 5 * missed + 1e-9)


# --- equality constraints ----------------------------------------------------------------------------

HAND = """<mujoco><worldbody>
  <body name="palm"><geom size="0.1"/>
    <body name="first" pos="0.1 0 0" euler="0 20 0">
      <joint name="near" axis="0 0 1" ref="5"/><geom size="0.1"/></body>
    <body name="second" pos="0.3 0 0"><joint name="far" axis="0 1 0"/><geom size="0.1"/></body>
  </body></worldbody>
  <equality><joint name="couple" joint1="far" joint2="near" polycoef="0.25 0.7 0 0 0"/></equality>
  <actuator><motor joint="near"/></actuator></mujoco>
"""


def test_a_linear_equality_of_joints_is_followed(put):
    mechanism = loaded(put(HAND))
    assert mechanism.n_driven == 1
    run = solved(mechanism, np.linspace(0.0, 2.0, 21)[None, :])
    model = mujoco.MjModel.from_xml_string(HAND)
    data = mujoco.MjData(model)
    for t in range(21):
        put_values(model, data, run, t)
        assert residual(model, data) < 1e-9
        assert_same_poses(mechanism, run, t, data, ("first", "second"), 1e-9)


def test_equalities_that_are_not_read_are_named(put):
    curved = HAND.replace("0.25 0.7 0 0 0", "0.25 0.7 0.1 0 0")
    assert any("'far' is a polynomial of degree 2 of 'near'" in note for note in loaded(put(curved)).unread)
    idle = HAND.replace('name="couple"', 'name="couple" active="false"')
    assert any("'couple': is not active; left out" in note for note in loaded(put(idle)).notes)


def test_a_held_joint_stands_where_it_is_held(put):
    held = HAND.replace('joint2="near" ', "")
    mechanism = loaded(put(held))
    assert [joint.id for joint in mechanism.joints] == ["near"]
    model = mujoco.MjModel.from_xml_string(held)
    data = mujoco.MjData(model)
    data.qpos[:] = model.qpos0 + np.array([0.0, 0.25])
    mujoco.mj_kinematics(model, data)
    visual = mechanism.body_geometry.get(mechanism.body_names.index("first"))
    assert np.abs(np.array(visual.origin) - data.body("first").xpos).max() < 1e-12
    assert any("holds 'far'" in note for note in mechanism.notes)


@pytest.mark.parametrize(
    "weld",
    [
        '<weld name="w" body1="tip" body2="foot" relpose=".1 .2 .3 .9 .1 -.2 .3" anchor=".4 .5 .6"/>',
        '<weld name="w" site1="A" site2="B"/>',
        '<weld name="w" body1="foot" body2="tip"/>',
    ],
)
def test_a_weld_makes_one_body_as_mujoco_holds_it(put, weld):
    text = f"""<mujoco><worldbody>
      <body name="tip"><joint name="turn" axis="0 0 1"/><geom size="0.1"/>
        <site name="A" pos="0.1 0.2 0.3" euler="10 20 30"/></body>
      <body name="foot" pos="1 2 3" euler="30 10 -20"><freejoint/><geom size="0.1"/>
        <site name="B" pos="0.3 0.1 0.2" euler="-50 20 70"/></body>
      </worldbody><equality>{weld}</equality></mujoco>"""
    mechanism = loaded(put(text))
    assert mechanism.n_bodies == 2
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    # The parts of the body give where the foot is in the tip; there MuJoCo's residual is zero.
    parts = {part["link"]: part for part in mechanism.body_geometry[1].visual["parts"]}
    data.qpos[1:4], data.qpos[4:] = parts["foot"]["origin"], parts["foot"]["orientation"]
    mujoco.mj_forward(model, data)
    assert residual(model, data) < 1e-12


def test_a_keyframe_is_the_reference(put):
    text = ARM.replace(
        "</mujoco>", '<keyframe><key name="home" qpos="1 0.5 0.1 -0.4 2"/><key/></keyframe></mujoco>'
    )
    mechanism = loaded(put(text))
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_kinematics(model, data)
    for body in ("shoulder", "elbow", "tip"):
        ours = mechanism.body_geometry[mechanism.body_names.index(body)]
        assert np.abs(np.array(ours.origin) - data.body(body).xpos).max() < 1e-12
    assert "the reference is the keyframe 'home'; not read: '2'" in mechanism.notes


def test_a_ball_and_a_free_joint_stand_as_the_keyframe_says(put):
    text = """<mujoco><worldbody><body name="base" pos="1 2 3"><freejoint name="root"/><geom size="0.1"/>
      <body name="arm" pos="0.1 0.2 0.3" euler="10 20 30"><joint name="ball" type="ball" pos="0.3 0.1 0.2"/>
      <geom size="0.1" pos="0.1 0 0"/></body></body></worldbody>
      <keyframe><key qpos="0.4 0.5 0.6 0.5 0.5 -0.5 0.5  0.1 0.7 0.1 0.7"/></keyframe></mujoco>"""
    mechanism = loaded(put(text))
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_kinematics(model, data)
    for body in ("base", "arm"):
        ours = mechanism.body_geometry[mechanism.body_names.index(body)]
        assert np.abs(np.array(ours.origin) - data.body(body).xpos).max() < 1e-12
        assert np.abs(rotation(np.array(ours.orientation)) - data.body(body).xmat.reshape(3, 3)).max() < 1e-12
    assert [joint.type.code for joint in mechanism.joints] == ["F", "S"]
    assert any("'root': 'base' floats, on an F" in note for note in mechanism.notes)


def test_actuators_that_drive_no_joint_are_named(put):
    text = HAND.replace(
        "<actuator>",
        '<tendon><fixed name="t"><joint joint="near" coef="1"/></fixed></tendon>'
        '<actuator><motor name="pull" tendon="t"/><motor name="late" joint="far"/>',
    )
    notes = loaded(put(text)).notes
    assert any("'pull': acts on a tendon, so it drives no joint" in note for note in notes)
    assert any("'far': follows a driven joint, so it is not driven" in note for note in notes)
    assert "not read: tendon, line 8" in notes


# --- gravity, springs, and what is not read -------------------------------------------------------------

PENDULUM = """<mujoco model="pendulum"><option{}/><worldbody><body name="arm" pos="0 0 1">
  <joint name="hinge" axis="0 1 0" {}/><geom type="capsule" size="0.02" fromto="0 0 0 1 0 0" mass="1"/></body>
  </worldbody>{}<actuator><motor joint="hinge"/></actuator></mujoco>"""


def holding(mechanism: mbssa.Mechanism, value: float = 0.0) -> float:
    """Torque of the drive at rest at an angle, N m."""
    still = groups.Motion(
        np.zeros(1), mechanism.driven_coordinates, *(np.array([[v]]) for v in (value, 0, 0))
    )
    return float(groups.forces(groups.build(mbssa.decompose(mechanism)).solve(still)).driving[0, 0])


def test_gravity_is_read_and_survives(put, tmp_path):
    for said, value in (
        ("", 9.81),
        (' gravity="0 0 -2"', 2.0),
        ("><flag gravity='disable'/></option><option", 0.0),
    ):
        mechanism = loaded(put(PENDULUM.format(said, "", "")))
        assert holding(mechanism) == pytest.approx(-0.5 * value, abs=1e-12)
    mechanism = loaded(put(PENDULUM.format("", "", "")))
    mbssa.save(mechanism, tmp_path / "again.xml")
    assert holding(loaded(tmp_path / "again.xml")) == pytest.approx(-0.5 * 9.81, abs=1e-9)


def test_a_spring_and_a_damper_of_a_joint_are_those_of_mujoco(put):
    text = PENDULUM.format(' gravity="0 0 0"', 'ref="10" springref="40" stiffness="3" damping="2"', "")
    mechanism = loaded(put(text))
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:] = model.qpos0 + 0.7
    mujoco.mj_forward(model, data)
    assert holding(mechanism, 0.7) == pytest.approx(-float(data.qfrc_passive[0]), rel=1e-12)
    (spring,) = mechanism.forces
    assert spring.damping == 2.0


def test_one_pass_leaves_names_as_they_are(tmp_path):
    for name in ("planar_four_bar", "theo_jansen", "bennett"):
        mechanism = mbssa.load(name)
        mbssa.save(mechanism, tmp_path / f"{name}.xml")
        with pytest.warns(UserWarning, match="the root link 'world'"):
            again = mbssa.load(tmp_path / f"{name}.xml")
        assert again.driven_coordinates == mechanism.driven_coordinates
        assert {joint.id for joint in again.joints} == {joint.id for joint in mechanism.joints}
        assert {again.body_name(k) for k in range(1, again.n_bodies)} == {
            mechanism.body_name(k) for k in range(1, mechanism.n_bodies)
        }


@pytest.mark.parametrize(
    ("joint", "inside", "part"),
    [
        ("", '<tendon><fixed name="t" range="0 1" limited="true"><joint joint="hinge" coef="1"/></fixed>'
             "</tendon>",
         "limits a joint: line 3 fixed 't'"),
        ("", '<tendon><fixed name="t" stiffness="2"><joint joint="hinge" coef="1"/></fixed></tendon>',
         "is a spring: line 3 fixed 't'"),
        ("", '<tendon><fixed name="t"><joint joint="hinge" coef="1"/></fixed></tendon>'
             '<equality><tendon name="e" tendon1="t"/></equality>', "couples joints: line 3 tendon 'e'"),
        ('type="ball" range="0 1" limited="true"', "", "limits a joint: line 2 joint 'hinge'"),
        ('type="ball" stiffness="2"', "", "is a spring: line 2 joint 'hinge'"),
        ('type="ball" damping="1"', "", "changes forces: damping of line 2 joint 'hinge'"),
        ('armature="0.1"', "", "changes forces: armature of line 2 joint 'hinge'"),
        ('frictionloss="0.4"', "", "changes forces: frictionloss of line 2 joint 'hinge'"),
        ("", '<option density="1.2"/>', "changes forces: density or viscosity"),
        ("", '<tendon><fixed name="t" damping="2"><joint joint="hinge" coef="1"/></fixed></tendon>',
         "changes forces: line 3 fixed 't'"),
    ],
)  # fmt: skip
def test_what_changes_answers_and_is_not_read_fails_the_check(put, joint, inside, part):
    mechanism = loaded(put(PENDULUM.format("", joint, inside)))
    assert [part in each for each in mechanism.unread] == [True]
    assert not mbssa.check(mechanism).solvable


def test_an_inertia_or_a_friction_of_zero_changes_nothing(put):
    still = 'armature="0" frictionloss="0"'
    assert not loaded(put(PENDULUM.format(' wind="1 0 0"', still, ""))).unread
    loose = '><flag frictionloss="disable"/></option><option'
    assert not loaded(put(PENDULUM.format(loose, 'frictionloss="1"', ""))).unread


def test_a_body_without_weight_is_named(put):
    text = PENDULUM.format("", "", "").replace('name="arm"', 'name="arm" gravcomp="1"')
    assert "changes gravity" in loaded(put(text)).unread[0]


def test_equalities_and_limits_that_are_switched_off_are_none(put):
    text = FOUR_BAR.replace("<option", "<option><flag equality='disable' limit='disable'/></option><option")
    assert [joint.id for joint in loaded(put(text)).joints] == ["hip", "knee", "ankle"]
    limited = PENDULUM.format("><flag limit='disable'/></option><option", 'range="0 1" limited="true"', "")
    assert not loaded(put(limited)).joint_geometry[0].limits


# --- files -------------------------------------------------------------------------------------------

TETRAHEDRON = "v 1 0 0\nv 2 0 0\nv 1 1 0\nv 1 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def test_includes_and_meshes_of_the_folder_are_read(put):
    put(TETRAHEDRON, "meshes/corner.obj")
    put('<mujocoinclude><body name="leg"><joint name="hip"/><geom type="mesh" mesh="corner"/></body>'
        "</mujocoinclude>",
        "leg.xml")  # fmt: skip
    path = put(
        '<mujoco><compiler meshdir="meshes"/><asset><mesh file="corner.obj" scale="0.1 0.1 0.1"/>'
        '<texture name="t" type="2d" file="gone.png"/><material name="m" texture="t"/></asset>'
        '<worldbody><include file="leg.xml"/></worldbody></mujoco>'
    )
    mechanism = loaded(path)
    assert [joint.id for joint in mechanism.joints] == ["hip"]
    body = mechanism.body_geometry[1]
    (mesh,) = body.visual["parts"]
    assert (mesh["file"], mesh["scale"]) == ("meshes/corner.obj", [0.1, 0.1, 0.1])
    # Where the file's own corner is, not where MuJoCo has moved it to.
    np.testing.assert_allclose(mesh["origin"], np.zeros(3), atol=1e-12)
    np.testing.assert_allclose(np.abs(mesh["orientation"]), [1, 0, 0, 0], atol=1e-12)
    assert body.inertia.mass == pytest.approx(1000 * 0.001 / 6)


def scene(inside: str) -> str:
    return f"<mujoco>{inside}<worldbody><body><joint/><geom size='1'/></body></worldbody></mujoco>"


def test_hostile_files_are_refused_with_a_sentence(put, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "outside.xml").write_text("<mujocoinclude/>")
    (tmp_path / "secret.obj").write_text(TETRAHEDRON)
    (folder / "linked.xml").symlink_to(tmp_path / "outside.xml")
    (folder / "h.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + 2 * (30_000).to_bytes(4, "big"))
    for text, part in [
        ('<!DOCTYPE m [<!ENTITY a "aa">]><mujoco model="&a;"/>', "document type, an entity"),
        ("<robot/>", "is <robot>; an MJCF is a <mujoco>"),
        (scene("<include file='../outside.xml'/>"), "line 1 include: '../outside.xml' leaves the folder"),
        (scene("<include file='/etc/passwd'/>"), "'/etc/passwd' leaves the folder"),
        (scene("<include file='linked.xml'/>"), "'linked.xml' leaves the folder"),
        (scene("<include file='robot.xml'/>"), "includes a file that is included already"),
        (scene("<include file='gone.xml'/>"), "there is no file 'gone.xml'"),
        (scene("<include/>"), "file '' is no path"),
        (scene("<include file='http://host/a.xml'/>"), "is no path in the folder"),
        (scene("<asset><mesh file='..\\secret.obj'/></asset>"), "'../secret.obj' leaves the folder"),
        (scene("<compiler meshdir='..'/><asset><mesh file='secret.obj'/></asset>"), "'../secret.obj' leaves"),
        (scene("<compiler meshdir='/'/><asset><mesh file='etc/passwd'/></asset>"), "leaves the folder"),
        (scene("<asset><hfield name='h' nrow='99999' ncol='99999' size='1 1 1 1'/></asset>"), "cells; write"),
        (
            scene("<asset>" + "<hfield name='h' nrow='9000' ncol='9000' size='1 1 1 1'/>" * 2 + "</asset>"),
            "cells",
        ),
        (scene("<asset><hfield name='h' file='h.png' size='1 1 1 1'/></asset>"), "900,000,000 cells; write"),
        (scene("<size nkey='30000000'/>"), "size nkey: asks for 30,000,000; write 10,000 or fewer"),
        (scene("<size nuser_body='200000000'/>"), "size nuser_body: asks for"),
        (scene("<sensor><user dim='1000000000' name='s'/></sensor>"), "user 's' dim: asks for"),
        (scene("<asset><mesh name='q' builtin='plate' params='30000 30000'/></asset>"), "params: asks for"),
        (scene("<worldbody><replicate count='99999'><geom/></replicate></worldbody>"), "copies; write"),
        (scene("<extension><plugin plugin='p'/></extension>"), "plugins are not run"),
        (scene("<asset><model name='m' file='robot.xml'/></asset>"), "are not attached"),
        (scene("<worldbody>\n<body>\n<joint kind='x'/></body></worldbody>"), "line 3 joint: MuJoCo refuses"),
        (scene("<equality><connect body1='a' anchor='0 0 0'/></equality>"), "MuJoCo refuses it:"),
    ]:
        assert part in faults_of(put(text, "model/robot.xml")), part


def test_axes_and_rotations_that_overflow_are_named_at_once(put, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    far = "quat='0 1e200 0 1'"
    said = faults_of(
        put(
            f"""<mujoco><worldbody><body name="a" {far}><joint name="j" axis="0 1e200 1"/><inertial mass="1"
            pos="0 0 0" diaginertia="1 1 1"/><geom name="g" {far} size="1"/><site name="s" {far}/></body>
            <body axisangle="0 1e200 0 1"><freejoint/><geom size="1"/></body></worldbody>
            <equality><weld name="w" body1="a" relpose="0 0 0 0 1e200 0 1"/></equality></mujoco>"""
        )
    )
    for part in ("6 faults", "body 'a'", "body 'body 2'", "joint 'j'", "geom 'g'", "site 's'", "weld 'w'"):
        assert part in said
    assert [path.name for path in tmp_path.iterdir()] == ["robot.xml"]  # MuJoCo logs its warnings otherwise


@pytest.mark.parametrize("far", ["-inf", "1e200"])
def test_a_mass_out_of_bounds_is_refused_or_left_out_with_a_note(put, far):
    part = '<inertial mass="1" pos="0 {0} 0" diaginertia="1 1 1"/>'
    text = f"<body><joint/>{part.format(far)}<body>{part.format(0)}</body></body>"
    path = put(f"<mujoco><worldbody>{text}</worldbody></mujoco>")
    if far == "-inf":
        assert "body 'body 1': has a number that is not finite" in faults_of(path)
    else:
        with pytest.warns(UserWarning, match="nan are those of no body"):
            assert mbssa.load(path).body_geometry[1].inertia is None


def test_all_faults_come_at_once(put):
    said = faults_of(
        put(scene("<asset><mesh file='a.obj'/>\n<mesh file='../b.obj'/></asset><include file='c.xml'/>"))
    )
    for part in ("3 faults", "line 1 mesh: there is no file 'a.obj'", "line 2 mesh: '../b.obj' leaves",
                 "line 2 include: there is no file 'c.xml'"):  # fmt: skip
        assert part in said


@pytest.mark.parametrize("bound", ["MODEL_BYTES", "MUJOCO_SECONDS"])
def test_the_compiler_is_a_process_with_limits(put, monkeypatch, bound):
    monkeypatch.setattr(f"mbssa.io.mjcf.{bound}", 0)
    assert "MuJoCo cannot compile it within" in faults_of(put(scene("")))


def test_without_mujoco_the_extra_is_named(put, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    assert "pip install -e '.[mujoco]' in the clone" in faults_of(put(ARM))


@pytest.mark.filterwarnings("default")
def test_commands_read_an_mjcf(put, run_mbssa, tmp_path):
    path = put(FOUR_BAR, "four_bar.mjcf")
    done = run_mbssa("check", str(path))
    assert done.exit_code == 0
    assert "driven joints are those of actuators: hip" in done.stderr
    assert run_mbssa("convert", str(path), str(tmp_path / "model.toml")).exit_code == 0
    assert mbssa.load(tmp_path / "model.toml").joint_geometry == loaded(path).joint_geometry
