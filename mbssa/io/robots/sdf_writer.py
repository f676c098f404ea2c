"""Writer of SDF: links, and all joints, since SDF says loops."""

from __future__ import annotations

import math

from mbssa.arrays import Floats
from mbssa.io.robots.from_mechanism import robot_of
from mbssa.io.robots.looks import sizes_of
from mbssa.io.robots.robot import COORDINATE, Kind
from mbssa.io.robots.xml_tree import Node, Written, child, document, said, xyz_rpy
from mbssa.mechanism import Mechanism

_TYPES = {
    Kind.REVOLUTE: "revolute",
    Kind.PRISMATIC: "prismatic",
    Kind.BALL: "ball",
    Kind.UNIVERSAL: "universal",
    Kind.SCREW: "screw",
}

_VERSION, _WORLD, _MODEL = "1.10", "world", "__model__"


def write_sdf(mechanism: Mechanism, *, approximate: bool = False) -> Written:
    """SDF, no file beside it, and what it does not keep."""
    robot, lost = robot_of(mechanism, _TYPES, keeps=("gravity",), approximate=approximate)
    root = owner = Node("sdf", version=_VERSION)
    if robot.gravity is not None:
        owner = child(root, "world", name="world")
        child(owner, "gravity", said(robot.gravity))
    model = child(owner, "model", name=robot.name)
    root_link, *others = robot.links.values()
    for link in others:
        element = child(model, "link", name=link.name)
        _pose(element, robot.poses[link.name])
        if link.inertia is not None:
            inertial = child(element, "inertial")
            _pose(inertial, link.inertia.frame)
            numbers = {key: said(value) for key, value in link.inertia.record.items()}
            child(inertial, "mass", numbers.pop("mass"))
            _texts(child(inertial, "inertia"), numbers)
        for number, part in enumerate(link.visuals, start=1):
            visual = child(element, "visual", name=f"{link.name} {number}")
            _pose(visual, part.frame)
            _texts(child(child(visual, "geometry"), part.record["shape"]), sizes_of(part.record, "uri"))
    for joint in robot.joints.values():
        element = child(model, "joint", name=joint.name, type=_TYPES[joint.kind])
        _pose(element, robot.poses[joint.parent] @ joint.frame, relative_to=_MODEL)
        ends = {"parent": joint.parent, "child": joint.child}
        _texts(element, {tag: _WORLD if end == root_link.name else end for tag, end in ends.items()})
        if joint.pitch is not None:
            child(element, "screw_thread_pitch", said(joint.pitch * math.tau))
        for tag, along in zip(("axis", "axis2"), () if joint.kind == Kind.BALL else joint.axes, strict=False):
            axis = child(element, tag)
            child(axis, "xyz", said(along), expressed_in=_MODEL)
            if joint.limits is not None and joint.kind in COORDINATE:
                low, high = map(said, joint.limits)
                _texts(child(axis, "limit"), {"lower": low, "upper": high})
            if joint.mimic is not None:
                mimic = child(axis, "mimic", joint=joint.mimic.joint)
                by = said(joint.mimic.multiplier)
                _texts(mimic, {"multiplier": by, "offset": "0", "reference": "0"})
    return document(root), {}, lost


def _texts(parent: Node, texts: dict[str, str]) -> None:
    for tag, text in texts.items():
        child(parent, tag, text)


def _pose(parent: Node, at: Floats, **attributes: str) -> None:
    child(parent, "pose", " ".join(xyz_rpy(at)), **attributes)
