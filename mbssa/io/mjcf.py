"""MJCF, the format of MuJoCo, through MuJoCo's own compiler: loops by equality constraints."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from mbssa.arrays import Floats
from mbssa.bounds import MODEL_BYTES, MUJOCO_BYTES, MUJOCO_SECONDS
from mbssa.faults import Fault, Faults, ModelError
from mbssa.io.robots import mjcf_child
from mbssa.io.robots.mechanism import mechanism_of
from mbssa.io.robots.mjcf_parts import Names, constrained, disabled, inertia_of, visuals_of
from mbssa.io.robots.mjcf_source import Source, source_of
from mbssa.io.robots.placing import leader_of, moved, reference_values
from mbssa.io.robots.robot import COORDINATE, Kind, Link, Robot, RobotJoint
from mbssa.io.robots.unread import NOT_READ_OF_MJCF, Effect, Unread
from mbssa.io.robots.xml_tree import inverse, pose_frame
from mbssa.mechanism import Mechanism
from mbssa.texts import counted

_KINDS = {"FREE": Kind.FREE, "BALL": Kind.BALL, "SLIDE": Kind.PRISMATIC, "HINGE": Kind.REVOLUTE}


def read_mjcf(path: Path) -> Mechanism:
    """Read an MJCF, and warn of what was merged, left out or assumed."""
    # Coordinates count from MuJoCo's reference ``qpos0``; the bodies stand as the first keyframe says, if
    # any.
    source = source_of(path)
    mujoco, model = _compiled(source, str(path))
    names = Names(mujoco, model, source)
    _check_numbers(mujoco, model, names, str(path))
    robot = constrained(mujoco, model, names, _tree(mujoco, model, source, names))
    faults = Faults()
    robot = _posed(mujoco, model, names, robot, faults)
    return mechanism_of(_actuated(mujoco, model, names, robot), str(path), faults, path.stem)


def _compiled(source: Source, source_name: str) -> tuple[ModuleType, Any]:
    """MuJoCo and its model of a source; ModelError in MuJoCo's words, with the lines of the file."""
    # Compiled by a child with limits of time and memory: what a text asks for is known only then.
    try:
        import mujoco
    except ModuleNotFoundError:
        what = "MJCF is read by MuJoCo, which is not installed: pip install -e '.[mujoco]' in the clone"
        raise ModelError(source_name, [Fault("", what, "unsupported")]) from None
    bounds = map(str, (MUJOCO_SECONDS, MUJOCO_BYTES, MODEL_BYTES))
    try:
        # Safe path (-P): nothing beside the model is imported.
        done = subprocess.run(
            [sys.executable, "-P", mjcf_child.__file__, *bounds],
            input=source.text.encode(),
            capture_output=True,
            timeout=5 * MUJOCO_SECONDS,
            env=os.environ | {"MUJOCO_GL": "disable", "OPENBLAS_NUM_THREADS": "1"},
            check=False,
        )
        code, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        code, output = mjcf_child.TOO_LARGE, b""
    if code == mjcf_child.REFUSED:
        error = output.decode("utf-8", "replace")
        lines = [int(number) for number in re.findall(r"\bline (\d+)", error)]
        said = " ".join(re.sub(r",? ?\bline \d+", "", error).split())
        place = source.place(lines[-1]) if lines else ""
        raise ModelError(source_name, [Fault(place, f"MuJoCo refuses it: {said}")])
    if code:
        most = f"{MUJOCO_SECONDS} s, {MUJOCO_BYTES / 1e9:g} GB or a model of {MODEL_BYTES / 1e6:g} MB"
        what = f"MuJoCo cannot compile it within {most}; simplify its meshes and numbers"
        raise ModelError(source_name, [Fault("", what, "size")])
    return mujoco, mujoco.MjModel.from_binary_path("model.mjb", {"model.mjb": output})


def _check_numbers(mujoco: ModuleType, model: Any, names: Names, source_name: str) -> None:
    """Refuse what is not finite, and axes and quaternions without the length 1, whose squares overflow."""
    joints, kinds = range(model.njnt), mujoco.mjtJoint
    axes = [k for k in joints if model.jnt_type[k] in (int(kinds.mjJNT_HINGE), int(kinds.mjJNT_SLIDE))]
    welds = model.eq_type == int(mujoco.mjtEq.mjEQ_WELD)
    welds &= model.eq_objtype == int(mujoco.mjtObj.mjOBJ_BODY)
    faults = Faults()
    for kind, numbers, units in (
        ("body", range(model.nbody), model.body_quat),
        ("body", range(model.nbody), model.body_iquat),
        ("joint", axes, model.jnt_axis),
        ("geom", range(model.ngeom), model.geom_quat),
        ("site", range(model.nsite), model.site_quat),
        ("equality", np.flatnonzero(welds).tolist(), model.eq_data[:, 6:10]),
    ):
        for number in numbers:
            if not abs(math.hypot(*units[number]) - 1.0) < 1e-6:
                what = "has an axis or a rotation that MuJoCo cannot normalise; write numbers near 1"
                faults.add(names.place(kind, number), what)
    for kind, rows in (
        *(("body", getattr(model, f"body_{name}")) for name in ("pos", "ipos", "mass", "inertia")),
        *(
            (name, getattr(model, f"{key}_pos"))
            for name, key in (("joint", "jnt"), ("geom", "geom"), ("site", "site"))
        ),
        ("equality", model.eq_data),
    ):
        for number, row in enumerate(rows):
            if not np.isfinite(row).all():
                faults.add(names.place(kind, number), "has a number that is not finite; write finite ones")
    faults.raise_if_any(source_name)


# --- bodies and joints -------------------------------------------------------------------------------


def _tree(mujoco: ModuleType, model: Any, source: Source, names: Names) -> Robot:
    notes = _unread(source)
    shown = visuals_of(mujoco, model, source, notes)
    links: dict[str, Link] = {}
    joints: dict[str, RobotJoint] = {}
    for body in range(model.nbody):
        link = names.link(body)
        for joint in _joints(mujoco, model, names, body):
            joints[joint.name] = joint
            if joint.child != link:
                links[joint.child] = Link(joint.child, joint.where)
        links[link] = Link(link, names.place("body", body), inertia_of(model, body), shown[body])
        count = int(model.body_jntnum[body])
        if count > 1:
            between = f"{counted(count - 1, 'body')} without mass"
            notes.append(f"{links[link].where}: has {count} joints, with {between} between them")
        if model.body_mocapid[body] >= 0:
            notes.append(f"{links[link].where}: is a mocap body, which stands still here")
    gravity = np.zeros(3) if disabled(mujoco, model, "GRAVITY") else np.array(model.opt.gravity)
    parts = tuple(_without_a_place(mujoco, model, names))
    return Robot(_title(model), links, joints, notes=tuple(notes), unread=parts, gravity=gravity)


def _without_a_place(mujoco: ModuleType, model: Any, names: Names) -> Iterator[Unread]:
    """Parts of a model that change answers and have no place in a mechanism."""
    for body in np.flatnonzero(model.body_gravcomp):
        yield Unread(Effect.GRAVITY, f"{names.place('body', int(body))} gravcomp")
    for tendon in range(model.ntendon):
        where = names.place("tendon", tendon)
        if model.tendon_limited[tendon]:
            yield Unread(Effect.LIMIT, where)
        if _said(model, tendon, "tendon_stiffness", "tendon_stiffnesspoly"):
            yield Unread(Effect.SPRING, where)
        if _said(model, tendon, *(f"tendon_{key}" for key in _RESISTANCES), "tendon_dampingpoly"):
            yield Unread(Effect.FORCE, where)
    for actuator in range(model.nu):
        if _said(model, actuator, *(f"actuator_{key}" for key in _RESISTANCES), "actuator_dampingpoly"):
            yield Unread(Effect.FORCE, names.place("actuator", actuator))
    for joint in (k for k in range(model.njnt) if _said(model, k, "jnt_stiffnesspoly")):
        yield Unread(Effect.SPRING, f"{names.place('joint', joint)}, not a linear one")
    loose = disabled(mujoco, model, "FRICTIONLOSS")
    for key in ("armature", *(() if loose else ("frictionloss",)), "dampingpoly"):
        dofs = [k for k in range(model.nv) if _said(model, k, f"dof_{key}")]
        joints = list(dict.fromkeys(int(model.dof_jntid[k]) for k in dofs))
        if joints:
            shown = ", ".join(names.place("joint", k) for k in joints[:8])
            yield Unread(Effect.FORCE, f"{key} of {shown}{' …' if len(joints) > 8 else ''}")
    if model.opt.density or model.opt.viscosity:
        yield Unread(Effect.FORCE, "density or viscosity of the option, a fluid around all bodies")


#: What resists the motion of a tendon or an actuator.
_RESISTANCES = ("damping", "armature", "frictionloss")


def _said(model: Any, number: int, *fields: str) -> bool:
    """Return whether one of the fields that this version of MuJoCo has is not 0 for an object."""
    return any(np.any(getattr(model, field)[number]) for field in fields if hasattr(model, field))


def _title(model: Any) -> str:
    """Name of the model, the first of MuJoCo's list of names."""
    return bytes(model.names).split(b"\0", 1)[0].decode("utf-8", "replace")


def _joints(mujoco: ModuleType, model: Any, names: Names, body: int) -> Iterator[RobotJoint]:
    """Joints of one body from its parent, through a body without mass between two; a fixed one if none."""
    # MuJoCo moves a body by its joints one after the other, each at its place in the body as moved so far.
    if body == 0:
        return
    link, parent = names.link(body), names.link(int(model.body_parentid[body]))
    at_zero = pose_frame(model.body_pos[body], model.body_quat[body])
    first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
    if not count:
        yield RobotJoint(f"{link} fixed", names.place("body", body), Kind.FIXED, parent, link, at_zero,
                         (np.eye(3)[0],))  # fmt: skip
    for number in range(first, first + count):
        kind = _KINDS[mujoco.mjtJoint(int(model.jnt_type[number])).name.removeprefix("mjJNT_")]
        child = link if number == first + count - 1 else f"{link} after {names.joint(number)}"
        place = np.eye(4)
        if kind != Kind.FREE:
            place[:3, 3] = model.jnt_pos[number]
        yield RobotJoint(
            names.joint(number), names.place("joint", number), kind, parent, child,
            at_zero @ place, (np.array(model.jnt_axis[number]),), _limits(mujoco, model, number),
            None, place, None, *_spring(mujoco, model, number, kind),
        )  # fmt: skip
        parent, at_zero = child, np.eye(4)


def _spring(mujoco: ModuleType, model: Any, number: int, kind: Kind) -> tuple[float, float, float]:
    """Stiffness, damping and rest of a joint's spring, counted from MuJoCo's reference."""
    at, rate = int(model.jnt_qposadr[number]), int(model.jnt_dofadr[number])
    stiffness, damping = float(model.jnt_stiffness[number]), float(model.dof_damping[rate])
    rest = float(model.qpos_spring[at] - model.qpos0[at]) if kind in COORDINATE else 0.0
    stiffness *= not disabled(mujoco, model, "SPRING")
    return stiffness, damping * (not disabled(mujoco, model, "DAMPER")), rest


def _limits(mujoco: ModuleType, model: Any, number: int) -> tuple[float, float] | None:
    """Limits from MuJoCo's reference, where coordinates are zero."""
    if not model.jnt_limited[number] or disabled(mujoco, model, "LIMIT"):
        return None
    low, high = model.jnt_range[number] - model.qpos0[model.jnt_qposadr[number]]
    return float(low), float(high)


# --- reference and drives ----------------------------------------------------------------------------


def _posed(mujoco: ModuleType, model: Any, names: Names, robot: Robot, faults: Faults) -> Robot:
    """Robot with the poses of its links at the first keyframe, or at MuJoCo's reference."""
    # Joints that follow others stand where those put them, whatever the keyframe says.
    qpos, notes = np.array(model.qpos0), list(robot.notes)
    if model.nkey:
        qpos = np.array(model.key_qpos[0])
        shown = [names.given("key", key) or str(key + 1) for key in range(model.nkey)]
        others = f"; not read: {', '.join(map(repr, shown[1:]))}" if len(shown) > 1 else ""
        notes.append(f"the reference is the keyframe {shown[0]!r}{others}")
    numbers = {names.joint(k): k for k in range(model.njnt)}
    place = {name: int(model.jnt_qposadr[k]) for name, k in numbers.items()}
    given = {
        name: float(qpos[at] - model.qpos0[at])
        for name, at in place.items()
        if robot.joints[name].kind in COORDINATE
    }
    values = reference_values(robot, faults, given)
    poses = {names.link(0): np.eye(4)}
    for joint in robot.joints.values():
        poses[joint.child] = poses[joint.parent] @ _step(model, numbers.get(joint.name), joint, qpos, values)
    return replace(robot, poses=poses, values=values, notes=tuple(notes))


def _step(
    model: Any, number: int | None, joint: RobotJoint, qpos: Floats, values: dict[str, float]
) -> Floats:
    """Frame (4, 4) of the child in the parent at the reference."""
    if joint.kind == Kind.FREE and number is not None:
        at = int(model.jnt_qposadr[number])
        return pose_frame(qpos[at : at + 3], qpos[at + 3 : at + 7])
    if joint.kind == Kind.BALL and number is not None:
        at, zero = int(model.jnt_qposadr[number]), np.zeros(3)
        return joint.frame @ pose_frame(zero, qpos[at : at + 4]) @ inverse(joint.child_frame)
    return moved(joint, values[joint.name])


def _actuated(mujoco: ModuleType, model: Any, names: Names, robot: Robot) -> Robot:
    """The robot whose driven joints are those of actuators; a note names the others and what they act on."""
    driven: list[str] = []
    followers: list[str] = []
    notes = list(robot.notes)
    numbers = {names.joint(k): k for k in range(model.njnt)}
    of_joint = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
    for actuator in range(model.nu):
        where, kind = names.place("actuator", actuator), int(model.actuator_trntype[actuator])
        name = names.joint(int(model.actuator_trnid[actuator, 0])) if kind in of_joint else ""
        if not name:
            on = mujoco.mjtTrn(kind).name.removeprefix("mjTRN_").lower()
            notes.append(f"{where}: acts on a {on}, so it drives no joint")
        elif robot.joints[name].kind not in COORDINATE:
            notes.append(f"{where}: {name!r} is no hinge and no slide, so it is not driven")
        elif name not in (*driven, *followers):
            (driven if robot.joints[name].mimic is None else followers).append(name)
    for name in followers:
        if leader_of(robot.joints, name) in (leader_of(robot.joints, each) for each in driven):
            place = names.place("joint", numbers[name])
            notes.append(f"{place}: follows a driven joint, so it is not driven")
        else:
            driven.append(name)
    if driven:
        notes.append(f"driven joints are those of actuators: {', '.join(driven)}")
    return replace(robot, driven=tuple(driven), notes=tuple(notes))


def _unread(source: Source) -> list[str]:
    """A note for each section that is not read, with its places."""
    found: dict[str, list[str]] = {}
    for line in source.all(*NOT_READ_OF_MJCF):
        found.setdefault(line.element.tag, []).append(f"{line.file} {line.element.line}".strip())
    return [
        f"not read: {what}, line {', '.join(places[:8])}{' …' if len(places) > 8 else ''}"
        for what, places in found.items()
    ]
