"""URDF: poses against products of matrices and MuJoCo, closed loops against the linkage in TOML, faults."""

from __future__ import annotations

import math
import re
import warnings
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from robot_files import faults_of, loaded

import groups
import mbssa

ARM = """<robot name="arm">
  <link name="base"/>
  <link name="shoulder"><inertial><origin xyz="0 0 0.1" rpy="0.1 0 0"/><mass value="2"/>
    <inertia ixx="0.1" iyy="0.2" izz="0.3" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="plate"><visual><geometry><box size="1 2 3"/></geometry></visual></link>
  <link name="elbow"/><link name="rail"/><link name="tip"/>
  <joint name="turn" type="continuous"><origin xyz="0.1 -0.2 0.3" rpy="0.4 -0.5 0.6"/>
    <parent link="base"/><child link="shoulder"/><axis xyz="0 0 1"/></joint>
  <joint name="glue" type="fixed"><origin xyz="0.2 0.1 0" rpy="-0.3 0.2 1.1"/>
    <parent link="shoulder"/><child link="plate"/></joint>
  <joint name="bend" type="revolute"><origin xyz="0 0.3 0.1" rpy="1.2 0.3 -0.7"/>
    <parent link="plate"/><child link="elbow"/><axis xyz="1 2 -1"/><limit lower="-20" upper="20"/></joint>
  <joint name="push" type="prismatic"><origin xyz="0.3 0 0" rpy="0 0.8 0"/>
    <parent link="elbow"/><child link="rail"/><axis xyz="0 3 4"/><limit lower="-5" upper="5"/></joint>
  <joint name="twist" type="revolute"><origin xyz="0 0 0.2" rpy="0.5 0.5 0.5"/>
    <parent link="rail"/><child link="tip"/><axis xyz="-1 0 0"/></joint>
</robot>
"""

YAW = math.atan2(0.3, 0.72)  # of the coupler, which goes from (0.18, 0.24) to (0.9, 0.54)


def four_bar(closing: str, yaw: float = YAW) -> str:
    crank = math.atan2(0.24, 0.18)
    return f"""<robot name="four_bar">
  <link name="base"/><link name="crank"/><link name="coupler"/><link name="rocker"/>
  <link name="end_A"/><link name="end_B"/>
  <joint name="hip" type="continuous"><origin rpy="0 0 {crank!r}"/>
    <parent link="base"/><child link="crank"/><axis xyz="0 0 1"/></joint>
  <joint name="knee" type="continuous"><origin xyz="0.3 0 0" rpy="0 0 {yaw - crank!r}"/>
    <parent link="crank"/><child link="coupler"/><axis xyz="0 0 1"/></joint>
  <joint name="ankle" type="continuous"><origin xyz="0.9 0 0"/>
    <parent link="base"/><child link="rocker"/><axis xyz="0 0 1"/></joint>
  <joint name="A" type="fixed"><origin xyz="0.78 0 0"/><parent link="coupler"/><child link="end_A"/></joint>
  <joint name="B" type="fixed"><origin xyz="0 0.54 0"/><parent link="rocker"/><child link="end_B"/></joint>
  {closing}
</robot>
"""


BALL = "closed_loop: [[end_A, B]]\ntype: [3d]\nname_mot: [hip]\n"
LOOP = """<joint name="toe" type="continuous"><origin xyz="0.78 0 0"/>
  <parent link="coupler"/><child link="foot"/><axis xyz="0 0 1"/></joint>
  <link name="foot"/>
  <joint name="sole" type="fixed"><origin xyz="0 0.54 0"/>
    <parent link="rocker"/><child link="foot"/></joint>"""


def constraint(kind: str, child: str = "0 0 1") -> str:
    """Closes the four-bar; frames of the two links that are turned against each other."""
    return f"""<constraint name="toe" type="{kind}">
      <parent link="coupler"/><parent_origin xyz="0.78 0 0" rpy="0 0 0.4"/><parent_axis xyz="0 0 1"/>
      <child link="rocker"/><child_origin xyz="0 0.54 0" rpy="1.1 0 0"/><child_axis xyz="{child}"/>
    </constraint>"""


ALONG_Z = f"0 {math.sin(1.1)!r} {math.cos(1.1)!r}"  # in the child's frame


@pytest.fixture
def put(tmp_path: Path):
    def put(text: str, side: str | None = None, name: str = "robot.urdf") -> Path:
        path = tmp_path / name
        path.write_text(text)
        if side is not None:
            (tmp_path / "robot.yaml").write_text(side)
        return path

    return put


def paths(mechanism: mbssa.Mechanism, seed: int, reach: float) -> tuple[groups.Motion, dict[str, np.ndarray]]:
    """A hundred random values of each driven coordinate, as a smooth path through them."""
    dice, time = np.random.default_rng(seed), np.arange(100.0)
    names = groups.driven_coordinates(mechanism)
    value = dice.uniform(-reach, reach, (len(names), len(time)))
    zero = np.zeros_like(value)
    motion = groups.Motion(time, names, value, zero, zero)
    return motion, {name.rpartition(".")[0]: row for name, row in zip(names, value, strict=True)}


def rotation(quaternion: np.ndarray) -> np.ndarray:
    w, x, y, z = quaternion
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def chain(text: str, values: dict[str, float]) -> dict[str, np.ndarray]:
    """Frames of links by Rodrigues' formula and products of matrices, after the definition of URDF."""

    def turn(axis, angle):
        n = np.array(axis, dtype=float) / np.linalg.norm(axis)
        cross = np.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
        frame = np.eye(4)
        frame[:3, :3] += math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross
        return frame

    def vector(element, key):
        return [float(word) for word in ("0 0 0" if element is None else element.get(key, "0 0 0")).split()]

    frames = {"base": np.eye(4)}
    for joint in ElementTree.fromstring(text).findall("joint"):
        origin, axis = joint.find("origin"), joint.find("axis")
        roll, pitch, yaw = vector(origin, "rpy")
        step = turn([0, 0, 1], yaw) @ turn([0, 1, 0], pitch) @ turn([1, 0, 0], roll)
        step[:3, 3] = vector(origin, "xyz")
        value = values.get(joint.get("name"), 0.0)
        if joint.get("type") == "prismatic":
            slide, along = np.eye(4), np.array(vector(axis, "xyz"))
            slide[:3, 3] = value * along / np.linalg.norm(along)
            step = step @ slide
        elif joint.get("type") != "fixed":
            step = step @ turn(vector(axis, "xyz"), value)
        frames[joint.find("child").get("link")] = frames[joint.find("parent").get("link")] @ step
    return frames


def test_poses_of_a_tree_are_products_of_matrices(put):
    mechanism = loaded(put(ARM))
    assert [joint.type.code for joint in mechanism.joints] == ["R", "R", "P", "R"]
    motion, values = paths(mechanism, 1, 3.0)
    run = groups.build(mbssa.decompose(mechanism)).solve(motion)
    for t in range(100):
        frames = chain(ARM, {name: row[t] for name, row in values.items()})
        for body in ("shoulder", "elbow", "rail", "tip"):
            k = mechanism.body_names.index(body)
            assert np.abs(run.position[t, k] - frames[body][:3, 3]).max() < 1e-12
            assert np.abs(rotation(run.orientation[t, k]) - frames[body][:3, :3]).max() < 1e-12


def test_poses_of_a_tree_are_those_of_mujoco(put):
    mujoco = pytest.importorskip("mujoco")
    mechanism = loaded(put(ARM))
    motion, values = paths(mechanism, 2, 3.0)
    run = groups.build(mbssa.decompose(mechanism)).solve(motion)
    inertia = '<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    heavy = re.sub(r'<link name="(\w+)"/>', rf'<link name="\1"><inertial>{inertia}</inertial></link>', ARM)
    model = mujoco.MjModel.from_xml_string(heavy)
    data = mujoco.MjData(model)
    for t in range(100):
        for name, row in values.items():
            data.qpos[model.joint(name).qposadr[0]] = row[t]
        mujoco.mj_kinematics(model, data)
        for body in ("shoulder", "elbow", "rail", "tip"):
            k = mechanism.body_names.index(body)
            assert np.abs(run.position[t, k] - data.body(body).xpos).max() < 1e-12
            assert np.abs(rotation(run.orientation[t, k]) - data.body(body).xmat.reshape(3, 3)).max() < 1e-12


def test_masses_of_merged_links_are_those_of_mujoco(put):
    mujoco = pytest.importorskip("mujoco")
    heavy = ARM.replace(
        '<link name="plate">',
        '<link name="plate"><inertial><origin xyz="0.3 -0.1 0.2" rpy="0.3 1 -0.4"/><mass value="3"/>'
        '<inertia ixx="0.4" iyy="0.5" izz="0.6" ixy="0.05" ixz="-0.1" iyz="0.02"/></inertial>',
    )
    heavy = re.sub(
        r'<link name="(elbow|rail|tip)"/>',
        r'<link name="\1"><inertial><mass value="1"/>'
        r'<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>',
        heavy,
    )
    mechanism = loaded(put(heavy))
    found = mechanism.body_geometry[1]
    theirs = mujoco.MjModel.from_xml_string(heavy).body("shoulder")
    assert found.inertia.mass == pytest.approx(theirs.mass[0], rel=1e-12)
    world, turn = np.array(found.origin), rotation(np.array(found.orientation))
    np.testing.assert_allclose(turn.T @ (np.array(found.inertia.centre) - world), theirs.ipos, atol=1e-12)
    axes = rotation(theirs.iquat)
    np.testing.assert_allclose(found.inertia.matrix, axes @ np.diag(theirs.inertia) @ axes.T, atol=1e-12)


def test_impossible_inertia_is_left_out_and_named(put):
    wrong = ARM.replace('izz="0.3"', 'izz="3.0"')
    mechanism = loaded(put(wrong))
    assert mechanism.body_geometry[1].inertia is None
    said = [note for note in mechanism.notes if "inertia" in note]
    assert said == [
        "inertia of the body shoulder is left out: the principal moments 0.1, 0.2, 3 are those of no body"
    ]


def test_inertia_visuals_limits_and_what_was_merged_are_kept(put, tmp_path):
    mechanism = loaded(put(ARM))
    shoulder = mechanism.body_geometry[1]
    assert shoulder.inertia.mass == 2.0
    (box,) = shoulder.visual["parts"]
    assert (box["link"], box["shape"], box["size"]) == ("plate", "box", [1.0, 2.0, 3.0])
    np.testing.assert_allclose(box["origin"], [0.2, 0.1, 0.0], atol=1e-15)
    assert mechanism.joint_geometry[2].limits == {"slide": (-5.0, 5.0)}
    assert "merged into the body shoulder: shoulder, plate; by line 9 joint 'glue'" in mechanism.notes
    mbssa.save(mechanism, tmp_path / "arm.toml")
    again = mbssa.load(tmp_path / "arm.toml")
    assert again.notes == mechanism.notes
    assert again.body_geometry == mechanism.body_geometry
    assert again.joint_geometry == mechanism.joint_geometry


@pytest.mark.parametrize(
    ("closing", "side", "error"),
    [
        ("", BALL, 0.0),
        ("", BALL, 0.15),
        (LOOP, "name_mot: [hip]", 0.0),
        ("", BALL.replace("3d", "3D").replace("end_A", "A"), 0.0),
        (constraint("spherical"), "name_mot: [hip]", 0.0),
        (constraint("spherical"), "name_mot: [hip]", 0.15),
        (constraint("universal", "1 0 0"), "name_mot: [hip]", 0.0),
        (constraint("continuous", ALONG_Z), "name_mot: [hip]", 0.0),
    ],
)
def test_a_closed_four_bar_moves_as_the_planar_model_does(put, closing, side, error):
    mechanism = loaded(put(four_bar(closing, YAW + error), side))
    assert mbssa.check(mechanism).solvable
    angle = np.linspace(0.0, 2 * math.pi, 73)
    zero = np.zeros((1, 73))
    motion = groups.Motion(angle, ("hip.angle",), angle[None, :], zero, zero)
    run = groups.build(mbssa.decompose(mechanism)).solve(motion)
    planar = mbssa.load("planar_four_bar")
    start = planar.joint_geometry[0].at_reference["angle"]
    value = angle[None, :] + start
    same = groups.build(mbssa.decompose(planar)).solve(
        groups.Motion(angle, ("1-2.angle",), value, zero, zero)
    )
    assert (run.status == 0).all()
    for body, reference, yaw in (("coupler", (0.18, 0.24), YAW), ("rocker", (0.9, 0.0), 0.0)):
        k, p = mechanism.body_names.index(body), planar.body_names.index(body)
        for t in range(73):
            turned = same.orientation[t, p]
            c, s = math.cos(turned), math.sin(turned)
            where = same.position[t, p] + np.array([[c, -s], [s, c]]) @ reference
            assert np.abs(run.position[t, k] - [*where, 0.0]).max() < 1e-9
            c, s = math.cos(turned + yaw), math.sin(turned + yaw)
            want = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
            assert np.abs(rotation(run.orientation[t, k]) - want).max() < 1e-9


FRAMES = """<frame name="fa" link="coupler" xyz="0.6 0 0"/><frame name="fb" link="rocker" xyz="0 0 0.3"/>"""
PARALLELOGRAM = """<robot name="four_bar">
  <link name="base"/> <link name="crank"/> <link name="coupler"/> <link name="rocker"/>
  <joint name="a" type="continuous"><parent link="base"/><child link="crank"/><axis xyz="0 1 0"/></joint>
  <joint name="b" type="continuous"><parent link="crank"/><child link="coupler"/><origin xyz="0 0 0.3"/>
    <axis xyz="0 1 0"/></joint>
  <joint name="d" type="continuous"><parent link="base"/><child link="rocker"/><origin xyz="0.6 0 0"/>
    <axis xyz="0 1 0"/></joint>
  {}
</robot>"""


@pytest.mark.parametrize(
    "closing",
    [
        """<gazebo><joint name="c" type="revolute"><parent>coupler</parent><child>rocker</child>
          <pose>0 0 0.3 0 0 0</pose><axis><xyz>0 1 0</xyz></axis></joint></gazebo>""",
        """<gazebo><joint name="c" type="revolute"><parent>coupler</parent><child>rocker</child>
          <pose relative_to="coupler">0.6 0 0 0 0.3 1</pose>
          <axis><xyz expressed_in="__model__">0 1 0</xyz></axis></joint></gazebo>""",
        """<loop_joint name="c" type="continuous"><axis xyz="0 1 0"/>
          <link1 link="coupler" xyz="0.6 0 0"/><link2 link="rocker" xyz="0 0 0.3"/></loop_joint>""",
        """<drake:ball_constraint><drake:ball_constraint_body_A name="coupler"/>
          <drake:ball_constraint_p_AP value="0.6 0 0"/><drake:ball_constraint_body_B name="rocker"/>
          <drake:ball_constraint_p_BQ value="0 0 0.3"/></drake:ball_constraint>""",
    ],
)
def test_loops_of_other_dialects_are_read(put, closing):
    """A parallelogram: one freedom, and the coupler only shifts, along a circle of 0.3 m."""
    mechanism = loaded(put(PARALLELOGRAM.format(closing), "name_mot: [a]"))
    report = mbssa.check(mechanism)
    assert report.solvable
    assert report.numeric.mobility == 1
    angle = np.linspace(0.0, 1.0, 11)
    run = groups.build(mbssa.decompose(mechanism)).solve(
        groups.from_arrays(mechanism, angle, {"a.angle": angle})
    )
    k = mechanism.body_names.index("coupler")
    want = 0.3 * np.array([np.sin(angle), 0 * angle, np.cos(angle)]).T
    np.testing.assert_allclose(run.position[:, k], want, atol=1e-9)
    np.testing.assert_allclose(np.abs(run.orientation[:, k, 0]), 1.0, atol=1e-9)


@pytest.mark.parametrize(
    ("inside", "part"),
    [
        (FRAMES + """<drake:linear_bushing_rpy><drake:bushing_frameA name="fa"/>
          <drake:bushing_frameC name="fb"/></drake:linear_bushing_rpy>""", "is a spring: drake:linear_bu"),
        ('<rope from="coupler" to="rocker"/>', "ties links: rope, line 8"),
        (f'{FRAMES}<glue><a frame="fa"/><b frame="fb"/></glue>', "ties links: glue, line 8"),
        ('<gazebo><plugin filename="libmimic_joint.so"><joint>a</joint></plugin></gazebo>', "couples"),
        ('<gazebo reference="a"><springStiffness>3</springStiffness></gazebo>', "spring: springSt"),
        ('<gazebo><plugin filename="libgazebo_ros_joint_spring.so"/></gazebo>', "is a spring: plugin"),
        ("<gazebo><plugin><parent_link>crank</parent_link><childLink>rocker</childLink></plugin></gazebo>",
         "ties links: plugin, line 8"),
        ("<gazebo><static>true</static></gazebo>", "ties links: static, line 8"),
        ('<ros2_control><joint name="a"><param name="mimic">b</param></joint></ros2_control>',
         "couples joints: param, line 8"),
    ],
)  # fmt: skip
def test_a_file_whose_ties_are_not_all_read_is_not_said_to_have_no_loops(
    put, tmp_path, run_mbssa, inside, part
):
    path = put(PARALLELOGRAM.format(inside))
    mechanism = loaded(path)
    assert [part in each for each in mechanism.unread] == [True]
    assert not mechanism.driven_coordinates
    assert not any("no loops" in note for note in mechanism.notes)
    for ending in ("toml", "npz"):
        mbssa.save(mechanism, tmp_path / f"model.{ending}")
        assert mbssa.load(tmp_path / f"model.{ending}").unread == mechanism.unread
    done = run_mbssa("check", str(tmp_path / "model.toml"))
    assert done.exit_code == 1
    assert part in done.stdout


@pytest.mark.parametrize(
    ("inside", "part"),
    [
        ('<gazebo reference="crank"><turnGravityOff>True</turnGravityOff></gazebo>', ["turnGravityOff"]),
        ('<gazebo reference="crank"><gravity>false</gravity></gazebo>', ["gravity"]),
        ("<gazebo><gravity>0 0 -3</gravity></gazebo>", ["gravity"]),
        ('<gazebo reference="crank"><turnGravityOff>0</turnGravityOff></gazebo>', []),
        ('<gazebo reference="crank"><gravity>TRUE</gravity></gazebo>', []),
    ],
)
def test_gravity_of_gazebo_is_named_as_not_read(put, inside, part):
    want = [f"not read, though it changes gravity: {tag}, line 8" for tag in part]
    assert list(loaded(put(PARALLELOGRAM.format(inside))).unread) == want


@pytest.mark.filterwarnings("default")
def test_what_is_read_in_part_is_solvable_as_far_as_it_was_read(put, run_mbssa):
    path = put(PARALLELOGRAM.format("<drake:tendon_constraint/>"), "name_mot: [a, b, d]")
    done = run_mbssa("check", str(path))
    assert done.exit_code == 1
    assert "couples joints" in done.stderr
    assert "as far as the file was read" in done.stdout


def test_elements_about_many_links_tie_none(put):
    inside = """<drake:collision_filter_group name="g"><drake:member link="crank"/>
      <drake:member link="rocker"/></drake:collision_filter_group>
      <gazebo reference="crank"><mu1>0.2</mu1></gazebo>
      <gazebo><plugin filename="x.so"><body>crank</body><body>rocker</body></plugin></gazebo>"""
    mechanism = loaded(put(PARALLELOGRAM.format(inside)))
    assert not mechanism.unread
    assert mechanism.n_driven == 3
    named = [note for note in mechanism.notes if note.startswith("not read")]
    assert named == [f"not read: {tag}" for tag in (
        "drake:collision_filter_group, line 8", "gazebo, line 10", "plugin, line 11")]  # fmt: skip


def test_a_damper_is_read_and_friction_is_not(put):
    mechanism = loaded(
        put(ARM.replace('<axis xyz="0 3 4"/>', '<axis xyz="0 3 4"/><dynamics damping="2" friction="1"/>'))
    )
    (damper,) = mechanism.forces
    assert (damper.coordinate, damper.stiffness, damper.damping) == ("push.slide", 0.0, 2.0)
    assert mechanism.unread == ("not read, though it changes forces: dynamics friction, line 14",)


def test_wrong_constraints_are_named_with_their_lines(put):
    for old, new, why in [
        ('type="spherical"', 'type="glue"', "type is 'glue'; the types are revolute"),
        ('child link="rocker"', 'child link="roker"', "line 12 constraint 'toe' child: 'roker' is no link"),
        ('<child link="rocker"/>', "", "has no child; write <child link"),
        ('child link="rocker"', 'child link="coupler"', "joins 'coupler' to itself"),
        ('parent_axis xyz="0 0 1"', 'parent_axis xyz="0 0 0"', "parent_axis: has length 0"),
        ('parent_axis xyz="0 0 1"', 'parent_axis xyz="0 1e200 1"', "parent_axis: has length 1e+200"),
        ('rpy="1.1 0 0"', 'rpy="1.1 x 0"', "rpy: is '1.1 x 0'; write 3 numbers"),
        ('rpy="1.1 0 0"', 'rpy="1.1 0 -1e200"', "rpy: an angle is -1e+200 rad; write a magnitude"),
    ]:
        closing = constraint("spherical")
        head, tail = four_bar(closing).split("<constraint")
        assert why in faults_of(put(f"{head}<constraint{tail.replace(old, new)}")), new


@pytest.mark.parametrize("kind", ["fixed", "continuous"])
def test_a_loop_joint_has_a_name_of_its_own(put, kind):
    closing = f"""<loop_joint name="a" type="{kind}"><axis xyz="0 1 0"/>
      <link1 link="coupler" xyz="0.6 0 0"/><link2 link="rocker" xyz="0 0 0.3"/></loop_joint>"""
    assert "loop_joint 'a': has the name of a joint" in faults_of(put(PARALLELOGRAM.format(closing)))


def test_a_joint_to_a_link_in_gazebo_is_one_fault(put):
    inside = """<gazebo><link name="l3"/><joint name="x" type="revolute"><parent>crank</parent>
      <child>l3</child></joint></gazebo>"""
    with pytest.raises(mbssa.ModelError) as raised:
        mbssa.load(put(PARALLELOGRAM.format(inside)))
    assert [(fault.place, fault.code) for fault in raised.value.faults] == [("line 8 joint 'x'", "unknown")]


def test_ends_of_a_limit_that_are_wrong_or_missing_are_named(put):
    for given, what in (
        ('lower="0.5"', "above upper 0, as upper is missing"),
        ('upper="-0.5"', "lower 0 is above upper -0.5, as lower is missing"),
        ('lower="0.5" upper="0.2"', "lower 0.5 is above upper 0.2"),
        ('lower="x" upper="-0.2"', "lower: is 'x'"),
    ):
        said = faults_of(put(ARM.replace('lower="-20" upper="20"', given)))
        assert what in said
        assert "\n" not in said
    assert loaded(put(ARM.replace('lower="-20" ', ""))).joint_geometry[1].limits == {"angle": (0.0, 20.0)}


def test_limits_beyond_all_bounds_are_none(put):
    mechanism = loaded(put(ARM.replace('lower="-20" upper="20"', 'lower="-1e16" upper="1e16"')))
    assert not mechanism.joint_geometry[1].limits
    assert mechanism.joint_geometry[2].limits == {"slide": (-5.0, 5.0)}


def test_a_limit_at_one_end_and_those_of_several_coordinates_are_named(put):
    for old, new, named in (
        ('lower="-20" upper="20"', 'lower="-20" upper="1e16"', "joint 'bend': from -20 to 1e+16, at one end"),
        ('"bend" type="revolute"', '"bend" type="planar"', "joint 'bend'"),
    ):
        mechanism = loaded(put(ARM.replace(old, new)))
        assert not mechanism.joint_geometry[1].limits
        assert [f"limits a joint: line 11 {named}" in part for part in mechanism.unread] == [True]


def test_without_motors_a_loop_has_no_inputs_and_says_so(put):
    mechanism = loaded(put(four_bar(LOOP)))
    assert mechanism.n_driven == 0
    assert any("mbssa transform proposes sets" in note for note in mechanism.notes)
    assert any("'sole'" in note and "merged" in note for note in mechanism.notes)


@pytest.mark.parametrize(
    ("inside", "note"),
    [
        ('<geometry><box size="1 2 x"/></geometry>', "line 5 visual box size: is '1 2 x'; write 3 numbers"),
        ("<geometry><box/></geometry>", "line 5 visual box: has no size"),
        ("<geometry><cone/></geometry>", "line 5 visual: the shape is 'cone'; write box"),
        ("", "line 5 visual: has no geometry"),
        ('<origin rpy="0 0"/><geometry><sphere radius="1"/></geometry>', "line 5 origin rpy: is '0 0'"),
    ],
)
def test_a_slip_in_a_visual_leaves_it_out_and_names_it(put, inside, note):
    mechanism = loaded(put(ARM.replace('<geometry><box size="1 2 3"/></geometry>', inside)))
    assert any(f"not shown: {note}" in each for each in mechanism.notes)
    assert mechanism.body_geometry[1].visual is None


# --- mimic joints ------------------------------------------------------------------------------------

HAND = """<robot name="hand"><link name="palm"/><link name="first"/><link name="second"/><link name="other"/>
  <joint name="near" type="revolute"><origin xyz="0.1 0 0" rpy="0.2 0 0"/>
    <parent link="palm"/><child link="first"/><axis xyz="0 0 1"/></joint>
  <joint name="far" type="revolute"><origin xyz="0.3 0 0" rpy="0 0.4 0"/>
    <parent link="first"/><child link="second"/><axis xyz="0 1 0"/>
    <mimic joint="near" multiplier="0.7" offset="0.25"/></joint>
  <joint name="side" type="revolute"><origin xyz="-0.1 0 0" rpy="0 0 0.3"/>
    <parent link="palm"/><child link="other"/><axis xyz="1 0 0"/>
    <mimic joint="near" multiplier="-1.5"/></joint>
</robot>
"""


def test_a_mimic_joint_follows_with_its_multiplier_and_offset(put):
    mechanism = loaded(put(HAND))
    assert mechanism.n_driven == 1
    assert [joint.type.code for joint in mechanism.joints] == ["R", "R", "R", "COUPLING", "COUPLING"]
    angle = np.linspace(0.0, 2.0, 41)
    zero = np.zeros((1, 41))
    motion = groups.Motion(np.arange(41.0), ("near.angle",), angle[None, :], zero, zero)
    run = groups.build(mbssa.decompose(mechanism)).solve(motion)
    assert (run.status == 0).all()
    for t, near in enumerate(angle):
        frames = chain(
            HAND.replace("palm", "base"), {"near": near, "far": 0.7 * near + 0.25, "side": -1.5 * near}
        )
        for body in ("first", "second", "other"):
            k = mechanism.body_names.index(body)
            assert np.abs(run.position[t, k] - frames[body][:3, 3]).max() < 1e-9
            assert np.abs(rotation(run.orientation[t, k]) - frames[body][:3, :3]).max() < 1e-9


def test_a_mimic_joint_without_a_coordinate_is_named(put):
    floating = HAND.replace('"far" type="revolute"', '"far" type="floating"')
    notes = loaded(put(floating)).unread
    assert any("mimics 'near', but 'far' has no single coordinate; it moves indep" in note for note in notes)
    welded = loaded(put(HAND, "closed_loop: [[first, palm]]\ntype: [6d]\n")).unread
    assert any("mimics 'near', but both links of 'near' are one body" in note for note in welded)


def test_a_multiplier_of_zero_holds_a_joint(put):
    mechanism = loaded(put(HAND.replace('multiplier="0.7"', 'multiplier="0"')))
    assert [joint.id for joint in mechanism.joints] == ["near", "side", "side mimics near"]
    assert any("joint 'far': mimics with multiplier 0, which holds it" in note for note in mechanism.notes)


# --- joint types of the side file --------------------------------------------------------------------


def test_joint_types_of_the_side_file(put):
    side = "joint_name: [turn, bend, twist]\njoint_type: [SPHERICAL, UJOINT_ZY, FIXED]\nname_mot: [bend]\n"
    mechanism = loaded(put(ARM, side))
    assert [joint.type.code for joint in mechanism.joints] == ["S", "U", "P"]
    assert mechanism.joints[1].driven == ("angle_1", "angle_2")


def test_a_changed_joint_that_is_not_there_is_named(put):
    mechanism = loaded(put(ARM, "joint_name: [nowhere]\njoint_type: [SPHERICAL]\n"))
    assert "robot.yaml joint_name: 'nowhere' is no joint of the model; left out" in mechanism.notes


def test_a_universal_joint_turns_about_its_two_axes_in_order(put):
    """UJOINT_ZY: about z of the joint's frame, then about y of what has turned."""
    text = '<robot name="u"><link name="base"/><link name="tip"/>'
    text += '<joint name="j" type="revolute"><origin xyz="1 2 3"/>'
    text += '<parent link="base"/><child link="tip"/></joint></robot>'
    mechanism = loaded(put(text, "joint_name: [j]\njoint_type: [UJOINT_ZY]\nname_mot: [j]\n"))
    motion, _ = paths(mechanism, 3, 1.2)
    run = groups.build(mbssa.decompose(mechanism)).solve(motion)
    for t in range(100):
        a, b = motion.value[:, t]
        about_z = np.array([[math.cos(a), -math.sin(a), 0], [math.sin(a), math.cos(a), 0], [0, 0, 1]])
        about_y = np.array([[math.cos(b), 0, math.sin(b)], [0, 1, 0], [-math.sin(b), 0, math.cos(b)]])
        assert np.abs(rotation(run.orientation[t, 1]) - about_z @ about_y).max() < 1e-9


# --- what is refused ---------------------------------------------------------------------------------


def test_all_faults_come_at_once_with_their_lines(put):
    wrong = ARM.replace('child link="elbow"', 'child link="elbwo"').replace('xyz="0 3 4"', 'xyz="0 0 0"')
    wrong = wrong.replace('rpy="0.5 0.5 0.5"', 'rpy="0.5 nan 0.5"').replace('type="fixed"', 'type="glued"')
    said = faults_of(
        put(wrong, "closed_loop: [[tip, nowhere], [tip]]\ntype: [4d]\nname_mot: [engine]\nloop: 1")
    )
    for part in (
        "line 9 joint 'glue': type is 'glued'; the types are revolute, continuous",
        "line 11 joint 'bend' child: 'elbwo' is no link of the model; did you mean 'elbow'?",
        "line 13 joint 'push' axis: has length 0; give a direction",
        "line 15 origin rpy: is '0.5 nan 0.5'; write 3 numbers",
        "robot.yaml: 'loop' is not a key of a side file",
        "robot.yaml closed_loop 2: is no pair of frames",
        "robot.yaml closed_loop 1: 'nowhere' is neither a link nor a joint",
        "robot.yaml closed_loop 1 type: is '4d'; write 3d, a ball, or 6d, a weld",
        "robot.yaml name_mot: 'engine' is no joint",
    ):
        assert part in said


def test_hostile_and_empty_files_are_refused_with_a_sentence(put):
    for text, part in [
        (
            '<!DOCTYPE r [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><robot name="&b;"/>',
            "document type, an entity",
        ),
        ('<!DOCTYPE r SYSTEM "file:///etc/passwd"><robot/>', "document type, an entity"),
        ("<robot>" + "<a>" * 5000 + "</a>" * 5000 + "</robot>", "nested more than 100 deep"),
        ("<robot><link name='a'>", "is not XML"),
        ("<sdf/>", "is <sdf>; a URDF is a <robot>"),
        ('<robot><xacro:arm side="left"/></robot>', "is xacro; expand it first"),
        ('<robot><link name="${side}"/></robot>', "is xacro; expand it first"),
        ("<robot/>", "has no links"),
        ('<robot><link name="a"/><link name="b"/></robot>', "2 links are children of no joint: 'a', 'b'"),
        ('<robot><link name="a"/><link name="a"/></robot>', "has the name of line 1"),
    ]:
        assert part in faults_of(put(text)), part


def test_joints_that_mimic_in_a_circle(put):
    circle = HAND.replace('<axis xyz="0 0 1"/>', '<axis xyz="0 0 1"/><mimic joint="far"/>')
    assert "mimics itself in a circle" in faults_of(put(circle))


def test_wrong_side_files_are_refused_with_a_sentence(put):
    for side, part in [
        ("closed_loop: [", "is not YAML"),
        ("- 1", "has no keys"),
        ("!!python/object/apply:os.system [ls]", "is not YAML"),
        ("[" * 3000, "is not YAML"),
        ("a: &a [x, x]\nname_mot: [*a, *a]", "line 1: is not YAML of texts, lists and mappings: an anchor"),
        ("name_mot: [[x], 1]", "name_mot: is no list of names"),
        *(
            (f"type: !!{tag}", "line 1: is not YAML")
            for tag in ('int ""', 'float ""', "bool x", "timestamp x")
        ),
        ("a: &a {x: 1}\nb: {<<: *a}", "line 2: is not YAML"),
        ("type: [6d]\ntype: [3d]", "line 2: is not YAML of texts, lists and mappings: the key 'type' is th"),
        ("type: 1" + ":59" * 3_000, "type: is no list of names"),
        ("? [a]\n: b", "a key is no text"),
        ("closed_loop: 7", "closed_loop: is no list"),
        ("closed_loop: [[end_A, B]]", "0 for 1 closures"),
        ("#" * 100_001, "is longer than"),
    ]:
        assert part in faults_of(put(four_bar(""), side)), part


def test_a_side_file_out_of_the_folder_is_not_read(put, tmp_path):
    path = put(four_bar(""))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret.yaml").write_text("password: 1")
    (tmp_path / "robot.yaml").symlink_to(tmp_path / "elsewhere" / "secret.yaml")
    said = faults_of(path)
    assert "robot.yaml: is a link out of the folder of the model" in said
    assert "password" not in said


def test_welds_that_contradict_each_other(put):
    text = '<robot name="x"><link name="base"/><link name="a"/>'
    text += '<joint name="j" type="fixed"><origin xyz="1 0 0"/>'
    text += '<parent link="base"/><child link="a"/></joint></robot>'
    assert "puts" in faults_of(put(text, "closed_loop: [[base, a]]\ntype: [6d]"))


@pytest.mark.filterwarnings("default")
def test_commands_read_a_urdf_and_show_the_notes(put, run_mbssa, tmp_path):
    path = put(four_bar(""), BALL)
    done = run_mbssa("decompose", str(path))
    assert done.exit_code in (0, 1)
    assert "warning:" in done.stderr
    assert "the root link 'base' is the frame" in done.stderr
    assert run_mbssa("check", str(path)).exit_code == 0
    done = run_mbssa("convert", str(path), str(tmp_path / "model.toml"))
    assert done.exit_code == 0
    again = mbssa.load(tmp_path / "model.toml")
    assert again.joint_geometry == loaded(path).joint_geometry


class TestFilesOfOtherFolders:
    """Meshes by package, by path and through links: read in the model's folder and in allowed ones alone."""

    @pytest.fixture
    def package(self, tmp_path):
        for folder in ("arm/urdf", "arm/meshes", "other/arm_mesh"):
            (tmp_path / folder).mkdir(parents=True)
        (tmp_path / "arm/package.xml").write_text("<package><name>arm_description</name></package>")
        triangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
        for path in ("arm/meshes/rod.obj", "arm/urdf/near.obj", "other/arm_mesh/far.obj"):
            (tmp_path / path).write_text(triangle)
        (tmp_path / "arm/urdf/linked.obj").symlink_to(tmp_path / "other/arm_mesh/far.obj")
        return tmp_path

    def files(self, package, *names, allow=()):
        visuals = "".join(
            f'<visual><geometry><mesh filename="{name}"/></geometry></visual>' for name in names
        )
        path = package / "arm/urdf/arm.urdf"
        path.write_text(
            f'<robot name="arm"><link name="base"/><link name="rod">{visuals}</link>'
            '<joint name="j" type="continuous"><parent link="base"/><child link="rod"/></joint></robot>'
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mechanism = mbssa.load(path, allow=allow)
        parts = mechanism.body_geometry[1].visual["parts"]
        return [part["file"] for part in parts], "\n".join(mechanism.notes), mechanism

    def test_a_package_is_found_in_an_allowed_folder_only(self, package):
        rods = ("package://arm_description/meshes/rod.obj", "../meshes/rod.obj")
        names = (*rods, "package://arm_mesh/far.obj")
        found, notes, _ = self.files(package, *names)
        assert found == list(names)
        assert notes.count("--allow FOLDER") == 3
        found, notes, mechanism = self.files(package, *names, allow=[package / "arm", package / "other"])
        rod = str(package / "arm/meshes/rod.obj")
        assert found == [rod, rod, str(package / "other/arm_mesh/far.obj")]
        assert "not shown" not in notes
        solids = pytest.importorskip("groups.pictures.page").solids_of(mechanism, [1])
        assert [corners.shape for _, corners in solids] == [(1, 3, 3)] * 3

    def test_files_beside_the_model_need_no_permission(self, package):
        names = ("near.obj", f"file://{package}/arm/urdf/near.obj", "package://urdf/near.obj")
        found, notes, _ = self.files(package, *names)
        assert found == ["near.obj"] * 3
        assert "not shown" not in notes

    def test_what_leaves_the_folder_is_named(self, package):
        for name, why in [
            ("linked.obj", "leaves the folder"),
            ("/etc/passwd", "leaves the folder"),
            ("file:///etc/passwd", "leaves the folder"),
            ("package://urdf/../../other/arm_mesh/far.obj", "leaves the folder"),
            ("http://example.org/a.obj", "is no file"),
            ("package://", "there is no file"),
            ("", "is no file"),
        ]:
            _, notes, _ = self.files(package, name)
            assert why in notes, name

    @pytest.mark.filterwarnings("always")
    def test_the_option_allows_folders_while_the_command_runs(self, package, run_mbssa):
        self.files(package, "package://arm_description/meshes/rod.obj")
        model = str(package / "arm/urdf/arm.urdf")
        assert "--allow FOLDER" in run_mbssa("decompose", model).stderr
        assert "not shown" not in run_mbssa("decompose", model, "--allow", str(package / "arm")).stderr
        assert "--allow FOLDER" in run_mbssa("decompose", model).stderr
        done = run_mbssa("decompose", model, "--allow", str(package / "none"))
        assert (done.exit_code, "is no folder" in done.stderr) == (2, True)
