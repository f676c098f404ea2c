"""Writer of URDF: a tree of links, and the side file that closes its loops."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np

from mbssa.arrays import Floats
from mbssa.io.robots.from_mechanism import robot_of
from mbssa.io.robots.looks import sizes_of
from mbssa.io.robots.robot import Kind, Link, RobotJoint
from mbssa.io.robots.xml_tree import Node, Written, child, document, frame, inverse, said, xyz_rpy
from mbssa.mechanism import Mechanism

#: Kinds of several coordinates that the side file has, with its words.
_WHOLE = {Kind.BALL: "SPHERICAL", Kind.UNIVERSAL: "UJOINT_XY"}

#: Beyond any travel: URDF asks for limits of every prismatic joint. Readers here take it for none.
_FAR = 1e9


def write_urdf(mechanism: Mechanism, *, approximate: bool = False) -> Written:
    """URDF, its side file, and what they do not keep."""
    robot, lost = robot_of(mechanism, _WHOLE, keeps=("drives",), approximate=approximate)
    root = Node("robot", name=robot.name)
    for note in robot.notes:
        root.append(ElementTree.Comment(f" {note.replace('--', '- -')} "))
    # A link of a URDF begins at its joint: frame (4, 4) of its beginning in the robot's link.
    begins: dict[str, Floats] = {}
    loops, changed = list[list[str]](), dict[str, str]()

    def link(name: str, begin: Floats) -> None:
        begins[name] = begin
        element, back = child(root, "link", name=name), inverse(begin)
        parts = robot.links.get(name, Link(name, ""))
        if parts.inertia is not None:
            inertial = child(element, "inertial")
            numbers = {key: said(value) for key, value in parts.inertia.record.items()}
            _origin(inertial, back @ parts.inertia.frame)
            child(inertial, "mass", value=numbers.pop("mass"))
            child(inertial, "inertia", **numbers)
        for part in parts.visuals:
            visual = child(element, "visual")
            _origin(visual, back @ part.frame)
            child(child(visual, "geometry"), part.record["shape"], **sizes_of(part.record, "filename"))

    def joint(name: str, kind: str, parent: str, end: str, at: Floats) -> Node:
        element = child(root, "joint", name=name, type=kind)
        child(element, "parent", link=parent)
        child(element, "child", link=end)
        _origin(element, inverse(begins[parent]) @ at)
        return element

    def seat(step: RobotJoint, parent: str, at: Floats) -> str:
        """A link that is fixed to another one."""
        name = f"{step.where} on {parent}"
        link(name, np.eye(4))
        joint(f"{name} fixed", "fixed", parent, name, at)
        return name

    link(next(iter(robot.links)), np.eye(4))
    for step in robot.joints.values():
        if step.closes and step.kind == Kind.BALL:
            ends = (step.parent, step.frame), (step.child, step.child_frame)
            loops.append([*(seat(step, *end) for end in ends), "3d"])
            continue
        end = f"{step.where} end" if step.closes else step.child
        side = np.eye(4) if step.closes else step.child_frame
        begin = frame(np.eye(3), side[:3, 3])
        if step.kind == Kind.UNIVERSAL:
            x, y = step.axes
            begin = side @ frame(np.stack([x, y, np.cross(x, y)], axis=1), np.zeros(3))
        link(end, begin)
        turns = "continuous" if step.limits is None else "revolute"
        kind = "prismatic" if step.kind == Kind.PRISMATIC else turns
        element = joint(step.name, kind, step.parent, end, step.frame @ inverse(side) @ begin)
        axis = (inverse(begin) @ side)[:3, :3] @ step.axes[0]
        child(element, "axis", xyz=said(np.eye(3)[2] if step.kind in _WHOLE else axis))
        if step.kind == Kind.PRISMATIC or step.limits is not None:
            low, high = step.limits or (-_FAR, _FAR)
            child(element, "limit", lower=said(low), upper=said(high), effort="0", velocity="0")
        if step.mimic is not None:
            leader, by = step.mimic.joint, said(step.mimic.multiplier)
            child(element, "mimic", joint=leader, multiplier=by, offset="0")
        if step.kind in _WHOLE:
            changed[step.name] = _WHOLE[step.kind]
        if step.closes:
            loops.append([end, seat(step, step.child, step.child_frame @ begin), "6d"])
    side_file: dict[str, list[Any]] = {
        "closed_loop": [loop[:2] for loop in loops],
        "type": [loop[2] for loop in loops],
        "name_mot": list(robot.driven),
        "joint_name": list(changed),
        "joint_type": list(changed.values()),
    }
    return document(root), {".yaml": _yaml(side_file)}, lost


def _yaml(lists: dict[str, list[Any]]) -> bytes:
    import yaml

    content = {key: value for key, value in lists.items() if value}
    text: str = yaml.safe_dump(content, sort_keys=False, default_flow_style=None, allow_unicode=True)
    return text.encode()


def _origin(element: Node, at: Floats) -> None:
    xyz, rpy = xyz_rpy(at)
    child(element, "origin", xyz=xyz, rpy=rpy)
