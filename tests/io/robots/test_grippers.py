"""Joints that follow others: grippers in URDF, MJCF and SDF against MuJoCo's residuals and poses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from robot_files import loaded

import groups
import mbssa

#: Lengths of the cranks of the parallel gripper, and from the cranks' pivots to one another, m.
ARM, APART = 0.1, 0.03

#: Joints of the parallel gripper: parent, child, origin in the parent, axis, and multiplier of the first.
#: On each side two cranks and a finger between them: a four-bar linkage whose finger keeps its direction.
PARALLEL = {
    "left outer": ("palm", "left crank", (0.04, 0.0, 0.1), (0, 1, 0), None),
    "left inner": ("palm", "left follower", (0.04 - APART, 0.0, 0.1), (0, 1, 0), 1.0),
    "left tip": ("left crank", "left finger", (0.0, 0.0, ARM), (0, 1, 0), -1.0),
    "right outer": ("palm", "right crank", (-0.04, 0.0, 0.1), (0, 1, 0), -1.0),
    "right inner": ("palm", "right follower", (-0.04 + APART, 0.0, 0.1), (0, 1, 0), -1.0),
    "right tip": ("right crank", "right finger", (0.0, 0.0, ARM), (0, 1, 0), 1.0),
}

#: Two fingers that slide, by a wheel on a wrist that turns: a hinge leads slides on another body.
SLIDING = {
    "wrist": ("palm", "hand", (0.1, 0.2, 0.3), (1, 2, 3), None),
    "wheel": ("palm", "knob", (-0.1, 0.0, 0.0), (0, 1, 1), None),
    "first": ("hand", "left finger", (0.02, 0.0, 0.1), (1, 0, 0.2), 0.03),
    "second": ("hand", "right finger", (-0.02, 0.0, 0.1), (-1, 0, 0), 0.03),
}

#: By name: joints, the leader, joints that slide, offset of all followers, and driven joints.
GRIPPERS = {
    "parallel": (PARALLEL, "left outer", (), 0.0, ("left outer",)),
    "sliding": (SLIDING, "wheel", ("first", "second"), 0.004, ("wrist", "wheel")),
}


def text(numbers) -> str:
    return " ".join(map(repr, map(float, numbers)))


def urdf(joints, leader, slides, offset, driven) -> str:
    links = dict.fromkeys(link for joint in joints.values() for link in joint[:2])
    parts = [f'<link name="{link}"/>' for link in links]
    for name, (parent, child, origin, axis, multiplier) in joints.items():
        mimic = f'<mimic joint="{leader}" multiplier="{multiplier}" offset="{offset}"/>'
        parts.append(
            f'<joint name="{name}" type="{"prismatic" if name in slides else "continuous"}">'
            f'<parent link="{parent}"/><child link="{child}"/><origin xyz="{text(origin)}"/>'
            f'<axis xyz="{text(axis)}"/>{"" if multiplier is None else mimic}</joint>'
        )
    motors = "".join(f'<transmission><joint name="{name}"/></transmission>' for name in driven)
    return f'<robot name="gripper">{"".join(parts)}{motors}</robot>'


def mjcf(joints, leader, slides, offset, driven) -> str:
    def bodies(parent: str) -> str:
        return "".join(
            f'<body name="{child}" pos="{text(origin)}"><joint name="{name}" axis="{text(axis)}" '
            f'type="{"slide" if name in slides else "hinge"}"/><geom size="0.01"/>{bodies(child)}</body>'
            for name, (base, child, origin, axis, _) in joints.items()
            if base == parent
        )

    equalities = "".join(
        f'<joint joint1="{name}" joint2="{leader}" polycoef="{offset} {joint[4]} 0 0 0"/>'
        for name, joint in joints.items()
        if joint[4] is not None
    )
    motors = "".join(f'<motor joint="{name}"/>' for name in driven)
    return (
        f"<mujoco><worldbody>{bodies('palm')}</worldbody><equality>{equalities}</equality>"
        f"<actuator>{motors}</actuator></mujoco>"
    )


def sdf(joints, leader, slides, offset, driven) -> str:
    """Links where the joints are at zero, so that the followers' reference is not theirs."""
    at, parts = {"palm": np.zeros(3)}, []
    for name, (parent, child, origin, axis, multiplier) in joints.items():
        at[child] = at[parent] + origin
        mimic = f'<mimic joint="{leader}"><multiplier>{multiplier}</multiplier><offset>{offset}</offset>'
        parts.append(f'<link name="{child}"><pose>{text(at[child])} 0 0 0</pose></link>')
        parts.append(
            f'<joint name="{name}" type="{"prismatic" if name in slides else "revolute"}">'
            f"<parent>{'world' if parent == 'palm' else parent}</parent><child>{child}</child>"
            f"<axis><xyz>{text(axis)}</xyz>{'' if multiplier is None else mimic + '</mimic>'}</axis></joint>"
        )
    return f'<sdf version="1.11"><model name="gripper">{"".join(parts)}</model></sdf>'


def solved(mechanism: mbssa.Mechanism, driven) -> groups.Trajectory:
    t = np.linspace(0.0, 1.0, 31)
    values = {f"{name}.angle": (0.7 + 0.2 * k) * np.sin(2 * t + k) for k, name in enumerate(driven)}
    run = groups.build(mbssa.decompose(mechanism)).solve(groups.from_arrays(mechanism, t, values))
    assert run.ok, run.faults()
    return run


@pytest.fixture(params=GRIPPERS)
def gripper(request):
    return GRIPPERS[request.param]


@pytest.mark.parametrize("write", [urdf, mjcf, sdf])
def test_a_gripper_satisfies_the_equalities_of_mujoco(gripper, write, tmp_path: Path):
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / f"gripper.{ {urdf: 'urdf', mjcf: 'xml', sdf: 'sdf'}[write] }"
    path.write_text(write(*gripper))
    joints, _, _, _, driven = gripper
    mechanism = loaded(path)
    followers = [name for name, joint in joints.items() if joint[4] is not None]
    assert [joint.type.code for joint in mechanism.joints].count("COUPLING") == len(followers)
    assert mechanism.mobility == len(driven)
    assert mechanism.n_driven == len(driven)
    run = solved(mechanism, driven)
    model = mujoco.MjModel.from_xml_string(mjcf(*gripper))
    data = mujoco.MjData(model)
    for t in range(len(run.time)):
        for k in range(model.njnt):
            data.qpos[model.jnt_qposadr[k]] = run.joint(model.joint(k).name).value[t, 0]
        mujoco.mj_forward(model, data)
        equalities = data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
        assert equalities.sum() == len(followers)
        assert np.abs(data.efc_pos[equalities]).max() < 1e-9
        for _, child, *_ in joints.values():
            ours = run.body(child).position[t]
            assert np.abs(ours - data.body(child).xpos).max() < 1e-9


def test_the_finger_of_a_parallel_gripper_keeps_its_direction(tmp_path: Path):
    """Its loop closes by the couplings alone: the inner crank ends where the finger does."""
    path = tmp_path / "gripper.urdf"
    path.write_text(urdf(*GRIPPERS["parallel"]))
    mechanism = loaded(path)
    run = solved(mechanism, ("left outer",))
    for side, inwards in (("left", -APART), ("right", APART)):
        finger, inner = run.body(f"{side} finger"), run.body(f"{side} follower")
        assert np.abs(np.abs(finger.orientation[:, 0]) - 1.0).max() < 1e-12
        w, _, y, _ = inner.orientation.T
        tip = inner.position + ARM * np.stack([2 * w * y, 0 * w, w * w - y * y], axis=1)
        assert np.abs(tip - finger.position - [inwards, 0.0, 0.0]).max() < 1e-12


def test_a_second_equality_of_a_joint_is_turned_round(tmp_path: Path):
    """A follows B and C: so C follows A; a third one that says the same again is named."""
    bodies = "".join(
        f'<body name="{name}"><joint name="{name}" axis="0 0 1"/><geom size="1"/></body>' for name in "ABC"
    )
    couple = '<joint joint1="{}" joint2="{}" polycoef="{} {} 0 0 0"/>'
    said = couple.format("A", "B", 0.3, 2.0) + couple.format("A", "C", -0.1, 0.5)
    path = tmp_path / "chain.xml"
    model = "<mujoco><worldbody>{}</worldbody><equality>{}</equality><actuator>{}</actuator></mujoco>"
    path.write_text(model.format(bodies, said, '<motor joint="C"/>'))
    mechanism = loaded(path)
    assert mechanism.driven_coordinates == ("C.angle",)
    t = np.linspace(0.0, 1.0, 11)
    run = groups.build(mbssa.decompose(mechanism)).solve(groups.from_arrays(mechanism, t, {"C.angle": t}))
    first = -0.1 + 0.5 * t
    assert np.abs(run.joint("A").value[:, 0] - first).max() < 1e-12
    assert np.abs(run.joint("B").value[:, 0] - (first - 0.3) / 2.0).max() < 1e-12
    for again in ("AB", "BA"):
        path.write_text(model.format(bodies, said + couple.format(*again, 0.3, 2.0), ""))
        parts = loaded(path).unread
        assert any(f"'{again[0]}' and '{again[1]}' follow one joint already" in part for part in parts)


def test_turns_of_a_keyframe_are_kept_in_the_offset(tmp_path: Path):
    """A screw that has made many turns leads its nut from where it stands."""
    path = tmp_path / "screw.xml"
    path.write_text(
        '<mujoco><worldbody><body name="screw"><joint name="screw" axis="0 0 1"/><geom size="1"/></body>'
        '<body name="nut"><joint name="nut" type="slide" axis="0 0 1"/><geom size="1"/></body></worldbody>'
        '<equality><joint joint1="nut" joint2="screw" polycoef="0.01 0.002 0 0 0"/></equality>'
        '<actuator><motor joint="screw"/></actuator><keyframe><key qpos="50 0"/></keyframe></mujoco>'
    )
    mechanism = loaded(path)
    assert any("counts without its 8 turns" in note for note in mechanism.notes)
    run = groups.build(mbssa.decompose(mechanism)).solve(groups.constant_speed(mechanism, steps=11))
    rise = run.body("nut").position[:, 2]
    assert rise[0] == pytest.approx(0.01 + 0.002 * 50, abs=1e-12)
    assert rise[-1] - rise[0] == pytest.approx(0.002 * 2 * np.pi, abs=1e-12)
