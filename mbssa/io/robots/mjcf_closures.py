"""Equality constraints of a compiled MuJoCo model as closures of loops and as joints that follow others."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from mbssa.arrays import Floats
from mbssa.io.robots.kinds import COORDINATE, Kind
from mbssa.io.robots.mjcf_names import Names
from mbssa.io.robots.numbers import pose_frame
from mbssa.io.robots.placing import held, leader_of
from mbssa.io.robots.robot import Closure, Mimic, Robot, RobotJoint


def constrained(mujoco: ModuleType, model: Any, names: Names, robot: Robot) -> Robot:
    """The robot with its equality constraints; notes name those that are not read, and why.

    ``connect`` is a ball, ``weld`` makes one body, ``joint`` with a linear polynomial a joint that follows
    another, or that is held where there is no other.
    """
    kinds = mujoco.mjtEq
    joints, closures, notes = dict(robot.joints), [], list(robot.notes)
    for number in range(model.neq):
        where = names.place("equality", number)
        kind = int(model.eq_type[number])
        if not model.eq_active0[number]:
            notes.append(f"{where}: is not active; left out")
        elif kind == int(kinds.mjEQ_CONNECT) or kind == int(kinds.mjEQ_WELD):
            closures.append(_closure(mujoco, model, names, number, kind == int(kinds.mjEQ_WELD), notes))
        elif kind == int(kinds.mjEQ_JOINT):
            changed, wrong = _following(model, names, number, joints)
            if changed is None:
                notes.append(f"{where}: {wrong}; left out")
            else:
                joints[changed.name] = changed
                if changed.kind == Kind.FIXED:
                    notes.append(f"{where}: holds {changed.name!r}, which is no joint therefore")
        else:
            said = kinds(kind).name.removeprefix("mjEQ_").lower()
            notes.append(f"not read: {where}, an equality of type {said}")
    return replace(robot, joints=joints, closures=tuple(closures), notes=tuple(notes))


def _closure(
    mujoco: ModuleType, model: Any, names: Names, number: int, weld: bool, notes: list[str]
) -> Closure:
    """Of sites their frames coincide; of bodies points of ``eq_data``, and in a weld a relative pose.

    ``eq_data`` of a connect is the point in the first body, then in the second; of a weld the point in the
    second, then position and quaternion of the second relative to the first.
    """
    ids, data = (int(model.eq_obj1id[number]), int(model.eq_obj2id[number])), model.eq_data[number]
    if int(model.eq_objtype[number]) == int(mujoco.mjtObj.mjOBJ_SITE):
        frames = tuple(pose_frame(model.site_pos[site], model.site_quat[site]) for site in ids)
        bodies = [int(model.site_bodyid[site]) for site in ids]
    else:
        bodies, upright = list(ids), np.array([1.0, 0.0, 0.0, 0.0])
        second = data[:3] if weld else data[3:6]
        first = pose_frame(data[3:6], data[6:10]) if weld else pose_frame(data[:3], upright)
        frames = first, pose_frame(second, upright)
    where = names.place("equality", number)
    if weld and data[10] == 0.0:
        notes.append(f"{where}: has torquescale 0, so it is a ball")
        weld = False
    links = [names.link(body) for body in bodies]
    name = names.given("equality", number) or f"{links[0]} {links[1]} {number + 1}"
    return Closure(name, where, links[0], links[1], weld, (frames[0], frames[1]))


def _following(
    model: Any, names: Names, number: int, joints: dict[str, RobotJoint]
) -> tuple[RobotJoint | None, str]:
    """The joint that an equality of joints changes, or None and the reason.

    q_1 = c_0 + c_1 q_2 + … + c_4 q_2^4, each counted from the reference of MuJoCo, as ours are.
    """
    first, other = int(model.eq_obj1id[number]), int(model.eq_obj2id[number])
    polynomial: Floats = model.eq_data[number, :5]
    joint = joints[names.joint(first)]
    if joint.kind not in COORDINATE:
        return None, f"{joint.name!r} is held already, or has no single coordinate"
    if other < 0 or not polynomial[1:].any():
        if joint.mimic is not None:
            return None, f"{joint.name!r}, which it holds, follows another joint"
        return held(joint, float(polynomial[0])), ""
    master = joints[names.joint(other)]
    if master.kind not in COORDINATE:
        return None, f"{master.name!r} is held, or has no single coordinate"
    if polynomial[2:].any():
        degree = int(np.flatnonzero(polynomial)[-1])
        return None, f"{joint.name!r} is a polynomial of degree {degree} of {master.name!r}, not a linear one"
    offset, multiplier = float(polynomial[0]), float(polynomial[1])
    if leader_of(joints, joint.name) == leader_of(joints, master.name):
        return None, f"{joint.name!r} and {master.name!r} follow one joint already"
    if joint.mimic is None:
        return replace(joint, mimic=Mimic(master.name, multiplier, offset)), ""
    if master.mimic is None:
        return replace(master, mimic=Mimic(joint.name, 1.0 / multiplier, -offset / multiplier)), ""
    return None, f"{joint.name!r} and {master.name!r} follow other joints"
