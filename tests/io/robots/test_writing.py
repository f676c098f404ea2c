"""Mechanisms written as URDF, SDF and MJCF: read back by our readers, and loaded by MuJoCo."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import groups
import mbssa
from mbssa import ModelError
from mbssa.io import builtin_names
from mbssa.io.robots.from_mechanism import robot_of

#: Built-in models with a joint that is no chain of turns and shifts.
UNSAID = (
    "cam_flat", "cam_roller", "cam_swing", "differential", "fixture", "involute_teeth", "kinematic_coupling",
    "planetary", "rack_steering", "rope_hoist",
)  # fmt: skip
SAID = tuple(name for name in builtin_names() if name not in UNSAID)

#: Those whose inputs say where they are.
SOLVED = tuple(name for name in SAID if name not in ("double_banana", "micromanipulator"))

#: All kinds of joint that a format says, open and closed, planar and spatial; the others are slow.
SOME = (
    "planar_four_bar",
    "theo_jansen",
    "geneva",
    "rotor",
    "six_sps",
    "bennett",
    "universal_shafts",
    "spatial_four_bar",
)
of_models = pytest.mark.parametrize(
    "names", [SOME, pytest.param(sorted({*SOLVED} - {*SOME}), marks=pytest.mark.slow)], ids=["some", "others"]
)

#: Models whose joints a format has, one for one.
SAME_URDF = ("bennett", "rotor_transformed", "six_sps", "universal_shafts")

pytestmark = pytest.mark.filterwarnings("ignore:.*notes?")


def read_back(mechanism, folder, ending, **options):
    lost = mbssa.save(mechanism, folder / f"again.{ending}", **options)
    return mbssa.load(folder / f"again.{ending}"), lost


def trajectory_of(mechanism, motion):
    return groups.build(mbssa.decompose(mechanism)).solve(motion)


def displaced(trajectory, name):
    """(T, 4, 4) of a body against its pose at the first instant, in world axes."""
    spatial = trajectory.spatial()
    body = spatial.body(name)
    found = np.tile(np.eye(4), (len(spatial.time), 1, 1))
    found[:, :3, :3], found[:, :3, 3] = body.rotation, body.position
    return found @ np.linalg.inv(found[0])


def counted_from_reference(mechanism, model, again):
    """A short motion of a model from its reference, and the same for what was read back, from 0."""
    names, start = list(model.reference_inputs), np.array(list(model.reference_inputs.values()))
    time, pace = np.linspace(0.0, 1.0, 9), np.arange(1.0, len(names) + 1)[:, None]
    reach = 0.005 * model.frames.size
    value, rate, second = (
        reach * np.sin(pace * time),
        reach * pace * np.cos(pace * time),
        -reach * pace**2 * np.sin(pace * time),
    )
    first = groups.Motion(time, tuple(names), start[:, None] + value, rate, second)
    there = again.driven_coordinates
    order = [next(k for k, name in enumerate(names) if _same(name, other)) for other in there]
    return first, groups.Motion(time, there, value[order], rate[order], second[order])


def _same(name, other):
    joint, _, coordinate = name.rpartition(".")
    return other in (name, *(f"{joint}{by}{coordinate}.{kind}" for by in " ." for kind in ("angle", "slide")))


@of_models
def test_poses_survive(tmp_path, names):
    """The same travel of the inputs moves bodies of the same names alike."""
    for name in names:
        for ending in ("urdf", "sdf"):
            (folder := tmp_path / f"{name}-{ending}").mkdir()
            poses_survive(mbssa.load(name), folder, ending)


def poses_survive(mechanism, folder, ending):
    structure = mbssa.decompose(mechanism)
    again, lost = read_back(mechanism, folder, ending)
    if ending == "sdf":
        assert any(each.startswith("driven coordinates") for each in lost)
        inputs = [f"{j}.{c}" for j, c in (c.rsplit(".", 1) for c in mechanism.driven_coordinates)]
        known = {f"{joint.id}.{c}" for joint in again.joints for c in joint.type.coordinates}
        inputs = [next(one for one in known if _same(name, one)) for name in inputs]
        from mbssa.input_search.query import with_inputs

        again = with_inputs(again, inputs)
    model = groups.build(structure)
    assert mbssa.decompose(again).determined
    first, second = counted_from_reference(mechanism, model, again)
    one, other = model.solve(first), trajectory_of(again, second)
    assert one.ok
    assert other.ok
    for body in range(2, mechanism.n_bodies + 1):
        name = mechanism.body_name(body - 1)
        np.testing.assert_allclose(displaced(one, name), displaced(other, name), rtol=0, atol=1e-8)


def test_groups_survive(tmp_path):
    for name in SAME_URDF:
        mechanism = mbssa.load(name)
        (tmp_path / name).mkdir()
        again, _ = read_back(mechanism, tmp_path / name, "urdf")
        before, after = (
            sorted(g.type_name for g in mbssa.decompose(each).groups) for each in (mechanism, again)
        )
        assert before == after, name
        assert mbssa.check(again).to_dict()["mobility"] == mbssa.check(mechanism).to_dict()["mobility"], name


def test_other_types_are_refused_by_name_or_left_out_on_request(tmp_path):
    for name in UNSAID:
        mechanism = mbssa.load(name)
        with pytest.raises(ModelError) as refused:
            mbssa.save(mechanism, tmp_path / "again.urdf")
        assert all(fault.place.startswith("joint ") for fault in refused.value.faults), name
        assert not (tmp_path / "again.urdf").exists(), name
        lost = mbssa.save(mechanism, tmp_path / f"{name}.urdf", approximate=True)
        named = [fault.place for fault in refused.value.faults]
        assert [each.split(":")[0] for each in lost[: len(named)]] == named, name


@of_models
def test_mujoco_agrees(names):
    for name in names:
        mujoco_agrees(name)


def mujoco_agrees(name):
    """At poses of a solved motion MuJoCo has the bodies where we have them, and its loops are closed."""
    mujoco = pytest.importorskip("mujoco")
    from mbssa.io.robots.mjcf_writer import write_mjcf

    mechanism = mbssa.load(name)
    structure = mbssa.decompose(mechanism)
    there = mujoco.MjModel.from_xml_string(write_mjcf(mechanism)[0].decode())
    data = mujoco.MjData(there)
    model = groups.build(structure)
    motion, _ = counted_from_reference(mechanism, model, mechanism)
    trajectory = model.solve(motion)
    assert trajectory.ok
    spatial = trajectory.spatial()
    values, balls = {}, []
    for k in range(there.njnt):
        if there.jnt_type[k] == mujoco.mjtJoint.mjJNT_BALL:
            balls.append(k)
            continue
        joint, _, coordinate = there.joint(k).name.partition(" ")
        (name,) = (coordinate,) if coordinate else mechanism.joint(joint).type.coordinates
        values[k] = trajectory.joint(joint)[name].value
    for t in range(len(trajectory.time)):
        for k, value in values.items():
            data.qpos[there.jnt_qposadr[k]] = value[t]
        for k in balls:
            turned, first = (_turn_in_parent(there, k, spatial, at) for at in (t, 0))
            quaternion = Rotation.from_matrix(first.T @ turned).as_quat(scalar_first=True)
            data.qpos[there.jnt_qposadr[k] :][:4] = quaternion
        mujoco.mj_forward(there, data)
        if data.ne:
            assert np.abs(data.efc_pos[: data.ne]).max() < 1e-8
        for body in range(1, mechanism.n_bodies):
            label = mechanism.body_name(body)
            place, turn = data.body(label).xpos, data.body(label).xmat.reshape(3, 3)
            np.testing.assert_allclose(place, spatial.body(label).position[t], rtol=0, atol=1e-8)
            np.testing.assert_allclose(turn, spatial.body(label).rotation[t], rtol=0, atol=1e-8)


def _turn_in_parent(there, joint, trajectory, t):
    """(3, 3) of a joint's body in its parent's axes, as our trajectory has both."""
    body = there.jnt_bodyid[joint]
    inner, outer = (there.body(k).name for k in (body, there.body_parentid[body]))
    turn = trajectory.body(inner).rotation[t]
    return turn if outer == "world" else trajectory.body(outer).rotation[t].T @ turn


def test_masses_survive(tmp_path):
    """Mass, centre and inertia of a body that is turned at the reference, by URDF and SDF, and by MuJoCo."""
    mujoco = pytest.importorskip("mujoco")
    m = mbssa.Builder("spatial").body("arm", inertia={
        "mass": 2.0, "centre": (0.4, 0.1, 0.2), "moments": (0.2, 0.3, 0.35), "products": (0.01, 0.02, -0.03),
    })  # fmt: skip
    m = m.revolute("frame", "arm", point=(0.1, 0.2, 0.0), axis=(0, 1, 1), driven=True)
    mechanism = m.build()
    for ending in ("urdf", "sdf"):
        again, _ = read_back(mechanism, tmp_path, ending)
        one, other = (each.body_geometry[1].inertia for each in (mechanism, again))
        assert other.mass == 2.0
        np.testing.assert_allclose(other.centre, one.centre, atol=1e-12)
        np.testing.assert_allclose(other.matrix, one.matrix, atol=1e-12)
    mbssa.save(mechanism, tmp_path / "arm.xml")
    there = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
    np.testing.assert_allclose(there.body("arm").ipos, (0.4, 0.1, 0.2), atol=1e-9)
    moments = np.linalg.eigvalsh(mechanism.body_geometry[1].inertia.matrix)
    np.testing.assert_allclose(np.sort(there.body("arm").inertia), moments)


def test_a_model_without_geometry_is_refused(tmp_path):
    chain = mbssa.from_pairs(3, [(1, 2, "R", 1), (2, 3, "R", 1)], "spatial")
    with pytest.raises(ModelError) as refused:
        mbssa.save(chain, tmp_path / "chain.sdf")
    assert [fault.place for fault in refused.value.faults] == ["joint 1-2", "joint 2-3"]


def cylinder_and_pin(body, pin):
    """A cylindrical joint with id ``a``, which formats have as two joints and a link, and a pin behind it."""
    m = mbssa.Builder("spatial").bodies("rod", body)
    m = m.cylindrical("frame", "rod", point=(0, 0, 0), axis=(0, 0, 1), id="a")
    return m.revolute("rod", body, point=(1, 0, 0), axis=(0, 1, 0), id=pin).build()


@pytest.mark.parametrize("ending", ["urdf", "sdf", "xml"])
def test_names_of_written_parts_that_are_taken(tmp_path, ending):
    """A link between two joints gets a name of its own; two joints with one name are refused."""
    if ending == "xml":
        pytest.importorskip("mujoco")
    again, _ = read_back(cylinder_and_pin("a link 1", "pin"), tmp_path, ending)
    assert {joint.id: joint.type.code for joint in again.joints} == {
        "a slide": "P",
        "a angle": "R",
        "pin": "R",
    }
    assert "a link 1" in {again.body_name(body) for body in again.joint_bodies(again.joint("pin").index)}
    with pytest.raises(ModelError) as refused:
        mbssa.save(cylinder_and_pin("arm", "a angle"), tmp_path / f"again.{ending}")
    assert [(fault.code, fault.place) for fault in refused.value.faults] == [("duplicate", "joint a angle")]


def test_both_files_or_none(tmp_path):
    (tmp_path / "arm.yaml").write_text("mine")
    with pytest.raises(FileExistsError, match=r"arm\.yaml"):
        mbssa.save(mbssa.load("rssr"), tmp_path / "arm.urdf")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["arm.yaml"]
    assert (tmp_path / "arm.yaml").read_text() == "mine"


def screw_jack():
    m = mbssa.Builder("spatial").bodies("screw", "nut")
    m = m.revolute("frame", "screw", point=(0, 0, 0), axis=(0, 0, 1), driven=True)
    m = m.helical("screw", "nut", point=(0, 0, 0.2), axis=(0, 0, 1), pitch=0.01)
    return m.prismatic("frame", "nut", point=(0.1, 0, 0), axis=(0, 0, 1)).build()


def test_screws(tmp_path):
    """SDF has screws, MJCF a hinge and a slide that follows, URDF none."""
    mujoco = pytest.importorskip("mujoco")
    jack = screw_jack()
    again, _ = read_back(jack, tmp_path, "sdf")
    assert again.joint("2-3").type.code == jack.joint("2-3").type.code
    np.testing.assert_allclose(again.joint("2-3").geometry.pitch, 0.01)
    mbssa.save(jack, tmp_path / "jack.xml")
    there = mujoco.MjModel.from_xml_path(str(tmp_path / "jack.xml"))
    data = mujoco.MjData(there)
    for name, value in (("1-2", 0.5), ("2-3", -0.5), ("2-3 slide", -0.005), ("1-3", -0.005)):
        data.qpos[there.joint(name).qposadr[0]] = value
    mujoco.mj_forward(there, data)
    assert data.ne
    assert np.abs(data.efc_pos[: data.ne]).max() < 1e-12
    with pytest.raises(ModelError) as refused:
        mbssa.save(jack, tmp_path / "jack.urdf")
    assert [fault.place for fault in refused.value.faults] == ["joint 2-3"]


LOOKS = """<robot name="arm"><link name="base"/><link name="rod">
<visual><origin xyz="0.1 0 0.2" rpy="0.3 0.2 0.1"/><geometry><box size="0.1 0.2 0.3"/></geometry></visual>
<visual><origin xyz="0 0.1 0"/><geometry><cylinder radius="0.02" length="0.4"/></geometry></visual>
<visual><geometry><sphere radius="0.05"/></geometry></visual>
<visual><origin rpy="0 1 0"/><geometry><mesh filename="rod.obj" scale="0.1 0.1 0.1"/></geometry></visual>
</link><link name="tool"/>
<joint name="j" type="continuous"><origin xyz="0.3 0 0" rpy="0 0 1"/><parent link="base"/><child link="rod"/>
</joint><joint name="f" type="fixed"><origin xyz="0 0 0.5"/><parent link="rod"/><child link="tool"/></joint>
</robot>"""
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def looks_in_world(mechanism):
    """Shape, sizes, and frame (3, 4) in the world of each part, m."""
    at, found = robot_of(mechanism, ())[0].poses[mechanism.body_name(1)], []
    for part in mechanism.body_geometry[1].visual["parts"]:
        turn = Rotation.from_quat(part["orientation"], scalar_first=True).as_matrix()
        frame = at[:3, :3] @ np.column_stack([turn, part["origin"]]) + [[0, 0, 0, x] for x in at[:3, 3]]
        sizes = {key: part[key] for key in ("size", "radius", "length", "file", "scale") if key in part}
        found.append((part["shape"], sizes, frame))
    return found


@pytest.mark.parametrize("ending", ["urdf", "sdf", "xml"])
def test_looks_and_frames_of_tools_come_along(tmp_path, ending):
    if ending == "xml":
        pytest.importorskip("mujoco", reason='MJCF needs MuJoCo: pip install -e ".[mujoco]" in the clone')
    (tmp_path / "rod.obj").write_text(TETRAHEDRON)
    (tmp_path / "arm.urdf").write_text(LOOKS)
    arm = mbssa.load(tmp_path / "arm.urdf")
    np.testing.assert_allclose(arm.body_geometry[1].points["tool"], [0.3, 0.0, 0.5], atol=1e-12)
    again, lost = read_back(arm, tmp_path, ending)
    assert "files of meshes, which are named and not copied: rod.obj" in lost
    both = zip(looks_in_world(arm), looks_in_world(again), strict=True)
    for (shape, sizes, frame), (other, found, there) in both:
        assert (shape, set(sizes)) == (other, set(found))
        assert sizes.get("file") == found.get("file")
        for key in set(sizes) - {"file"}:
            np.testing.assert_allclose(sizes[key], found[key], rtol=1e-12)
        np.testing.assert_allclose(frame, there, atol=1e-6 if (shape, ending) == ("mesh", "xml") else 1e-12)


@pytest.mark.parametrize("ending", ["urdf", "sdf", "xml"])
def test_couplings_survive(ending, tmp_path):
    """Mimic joints and joint equalities, of which one is turned round: its follower follows already."""
    m = mbssa.Builder("spatial").bodies("wheel", "rack", "other", "screw")
    m = m.revolute("frame", "wheel", point=(0, 0, 0), axis=(0, 0, 1), driven=True, id="turn",
                   at_reference={"angle": 0.4})  # fmt: skip
    m = m.prismatic("wheel", "rack", point=(0.1, 0, 0), axis=(1, 0, 0), id="push")
    m = m.revolute("frame", "other", point=(0.5, 0, 0), axis=(0, 1, 0), id="lean")
    m = m.cylindrical("other", "screw", point=(0.5, 0.1, 0), axis=(1, 1, 0), id="screw", driven=["angle"])
    for joint, coordinate, by, offset in (("push", "slide", 0.05, -0.02), ("screw", "slide", -0.03, 0.012)):
        bodies = ("frame", "wheel", "rack") if joint == "push" else ("frame", "wheel", "other", "screw")
        m = m.coupling(*bodies, couples=["turn.angle", f"{joint}.{coordinate}"], multiplier=by, offset=offset)
    m = m.coupling("wheel", "rack", "frame", "other", couples=["lean.angle", "push.slide"], multiplier=0.1)
    poses_survive(m.build(), tmp_path, ending)


def test_couplings_of_coordinates_that_a_format_has_not_are_refused(tmp_path):
    m = mbssa.Builder("spatial").bodies("a", "b")
    m = m.revolute("frame", "a", point=(0, 0, 0), axis=(0, 0, 1), driven=True)
    m = m.spherical("a", "b", point=(0.1, 0, 0))
    m = m.coupling("a", "b", "frame", couples=["1-2.angle", "2-3.angle_z"], multiplier=1.0)
    with pytest.raises(ModelError) as refused:
        mbssa.save(m.build(), tmp_path / "ball.xml")
    assert [fault.place for fault in refused.value.faults] == ["joint 1-2-3"]
