"""URDF: links and joints in XML; loops by a side file, or by a link that is the child of two joints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from mbssa.arrays import Floats
from mbssa.faults import Fault, Faults, ModelError, meant
from mbssa.files import read_text
from mbssa.io.robots.looks import visuals_of
from mbssa.io.robots.mechanism import mechanism_of
from mbssa.io.robots.placing import held, poses_at_zero
from mbssa.io.robots.robot import COORDINATE, INERTIA, Kind, Link, Mimic, Part, Record, Robot, RobotJoint
from mbssa.io.robots.side_file import complete
from mbssa.io.robots.unread import Effect, Unread, everything, is_zero, lines_of, unread
from mbssa.io.robots.xml_tree import Element, axis_of, number, origin_of, parse_xml
from mbssa.io.sdf import ball_constraint, embedded_joints
from mbssa.mechanism import Mechanism

_KINDS: dict[str, Kind] = {
    "revolute": Kind.REVOLUTE,
    "continuous": Kind.REVOLUTE,
    "prismatic": Kind.PRISMATIC,
    "planar": Kind.PLANAR,
    "floating": Kind.FREE,
    "fixed": Kind.FIXED,
}

#: Kinds of a ``constraint``, as proposed for urdfdom in 2026 (github.com/ros/urdfdom/pull/264, not merged).
_CONSTRAINTS: dict[str, Kind] = {
    **{name: kind for name, kind in _KINDS.items() if kind != Kind.FREE},
    "universal": Kind.UNIVERSAL,
    "spherical": Kind.BALL,
    "ball": Kind.BALL,
}

#: Kinds of joints, and the elements of their links, origins and axes; the last two, Drake's and the proposed
#: one, close loops. Drake's has one axis, which both links have.
_JOINTS: dict[str, tuple[dict[str, Kind], tuple[str, str], tuple[str, ...], tuple[str, ...]]] = {
    "joint": (_KINDS, ("parent", "child"), ("origin",), ("axis",)),
    "constraint": (
        _CONSTRAINTS, ("parent", "child"), ("parent_origin", "child_origin"), ("parent_axis", "child_axis")
    ),
    "loop_joint": (_KINDS, ("link1", "link2"), ("link1", "link2"), ("axis",)),
}  # fmt: skip


def read_urdf(path: Path) -> Mechanism:
    """Read a URDF and the side file beside it, and warn of what was merged, left out or assumed."""
    faults = Faults()
    robot = parse_urdf(read_text(path, "URDF"), str(path), faults)
    complete(robot, path, faults)
    return mechanism_of(robot, str(path), faults, path.stem)


def parse_urdf(text: str, source_name: str, faults: Faults) -> Robot:
    """Robot of a URDF's text; ``faults`` gains its faults."""
    root = parse_xml(text, source_name)
    if root.tag != "robot":
        what = f"is <{root.tag}>; a URDF is a <robot>"
        raise ModelError(source_name, [Fault(f"line {root.line}", what, "syntax")])
    _refuse_xacro(root, source_name)
    robot = Robot(root.name())
    links, joints, notes = robot.links, robot.joints, robot.notes
    for element in _named(root, "link", faults):
        inertia, looks = _inertia(element, faults), visuals_of(element, origin_of, notes)
        links[element.name()] = Link(element.name(), element.where, inertia, looks)
    for element in _named(root, "joint", faults):
        joints |= _joint(element, links, faults)
    for name, joint in joints.items():
        if joint.mimic is not None and joint.mimic.multiplier == 0.0 and joint.kind in COORDINATE:
            joints[name] = held(joint, joint.mimic.offset)
            notes.append(f"{joint.where}: mimics with multiplier 0, which holds it")
        elif joint.mimic is not None and joint.mimic.joint not in joints:
            faults.add(joint.where, f"mimics {joint.mimic.joint!r}, which is no joint", "unknown")
    poses = poses_at_zero(robot)
    closing = list[RobotJoint]()
    for element in _named(root, "constraint", faults):
        for joint in _joint(element, links, faults).values():
            (robot.closures if joint.kind in (Kind.BALL, Kind.FIXED) else closing).append(joint)
    for element in _named(root, "loop_joint", faults):
        closing += _joint(element, links, faults).values()
    for element in root.all("drake:ball_constraint"):
        robot.closures += ball_constraint(element, links, "", faults)
    embedded = [joint for each in root.all("gazebo") for joint in each.all("joint")]
    for joint in (*closing, *embedded_joints(embedded, poses, faults, notes)):
        if joint.name in joints:
            faults.add(joint.where, "has the name of a joint; write another", "duplicate")
        joints.setdefault(joint.name, joint)
    robot.driven = tuple(name for name in _actuated(root) if name in joints and joints[name].mimic is None)
    if robot.driven:
        notes.insert(0, f"driven joints are those of transmissions: {', '.join(robot.driven)}")
    more, robot.unread = _unread(root, links)
    notes += more
    return robot


def _refuse_xacro(root: Element, source_name: str) -> None:
    for element in everything(root):
        if element.tag.startswith("xacro:") or any("${" in value for value in element.attributes.values()):
            what = "is xacro; expand it first: xacro robot.urdf.xacro > robot.urdf"
            raise ModelError(source_name, [Fault(element.where, what, "unsupported")])


def _named(root: Element, tag: str, faults: Faults) -> Iterator[Element]:
    """Elements that have a name, each of its own."""
    lines: dict[str, int] = {}
    for element in root.all(tag):
        name = element.name()
        if not name:
            faults.add(element.where, "has no name; write name=…", "missing")
        elif name in lines:
            faults.add(element.where, f"has the name of line {lines[name]}; write another", "duplicate")
        else:
            lines[name] = element.line
            yield element


def _actuated(root: Element) -> Iterator[str]:
    for element in root.all("transmission"):
        yield from (joint.name() for joint in element.all("joint"))
    for element in root.all("ros2_control"):
        yield from (joint.name() for joint in element.all("joint") if joint.first("command_interface"))


def _unread(root: Element, links: Mapping[str, Link]) -> tuple[list[str], list[Unread]]:
    """Notes on what is not read, with lines, and what of it changes answers."""
    # What is in a <gazebo> belongs in the model of the SDF, or in the link or joint that it refers to.
    within: dict[str | None, str] = {None: "model"} | dict.fromkeys(links, "link")
    gazebo = [
        replace(each, tag=within.get(each.attributes.get("reference"), "joint"))
        for each in root.all("gazebo")
    ]
    whole = [each for each in gazebo if each.tag == "model"]
    about = [each for each in gazebo if each.tag != "model"]
    others = [each for each in root.children if each.tag != "gazebo" or "reference" in each.attributes]
    names = {*links, *(frame.name() for frame in root.all("frame"))}
    notes, parts = unread([replace(root, children=others), *others, *whole], "urdf", names)
    mimics = {joint.name() for joint in root.all("joint") if joint.first("mimic")}
    controls = [joint for control in root.all("ros2_control") for joint in control.all("joint")]
    about += [joint for joint in controls if joint.name() not in mimics]
    parts += unread(about, "urdf", names)[1]
    moving = [joint for joint in root.all("joint") if joint.attributes.get("type") != "fixed"]
    for tag, key in (("limit", "effort"), ("limit", "velocity"), ("dynamics", "friction")):
        elements = [each for joint in moving for each in joint.all(tag)]
        lines = [each.line for each in elements if not is_zero(each.attributes.get(key, ""))]
        if lines and key == "friction":
            parts.append(Unread(Effect.FORCE, f"{tag} {key}, {lines_of(lines)}"))
        elif lines:
            notes.append(f"not read: {tag} {key}, {lines_of(lines)}")
    return notes, parts


# --- links and joints ----------------------------------------------------------------------------------


def _inertia(link: Element, faults: Faults) -> Part | None:
    inertial = link.first("inertial")
    if inertial is None:
        return None
    record: Record = {}
    if mass := inertial.first("mass"):
        record["mass"] = number(mass, 0.0, faults, "value")
    if tensor := inertial.first("inertia"):
        record |= {key: number(tensor, 0.0, faults, key) for keys in INERTIA for key in keys}
    return Part(origin_of(inertial, faults), record)


def _joint(element: Element, links: Mapping[str, Link], faults: Faults) -> dict[str, RobotJoint]:
    """A joint by its name; none, with faults, where it is wrong."""
    kinds, sides, origins, pins = _JOINTS[element.tag]
    said, closes = element.attributes.get("type", ""), element.tag != "joint"
    kind = kinds.get(said)
    if kind is None:
        faults.add(element.where, f"type is {said!r}; the types are {', '.join(kinds)}", "unsupported")
    parent, child = (_end(element, side, links, faults) for side in sides)
    if parent is not None and parent == child:
        faults.add(element.where, f"joins {parent!r} to itself", "structure")
    frame, child_frame = [*(origin_of(element, faults, tag) for tag in origins), np.eye(4)][:2]
    axes: tuple[Floats, ...] = (np.eye(3)[0],)
    if closes or kind not in (Kind.FIXED, Kind.FREE):
        axes = tuple(axis_of(element, faults, tag) for tag in pins)
    limits, mimic, damping = _limits(element, said, faults), None, 0.0
    if dynamics := element.first("dynamics"):
        damping = number(dynamics, 0.0, faults, "damping")
    if not closes and (each := element.first("mimic")):
        by, offset = number(each, 1.0, faults, "multiplier"), number(each, 0.0, faults, "offset")
        mimic = Mimic(each.attributes.get("joint", "").strip(), by, offset)
    if kind is None or parent is None or child is None:
        return {}
    return {element.name(): RobotJoint(
        element.name(), element.where, kind, parent, child, frame, axes, limits, mimic, child_frame,
        damping=damping, closes=closes,
    )}  # fmt: skip


def _end(element: Element, side: str, links: Mapping[str, Link], faults: Faults) -> str | None:
    end = element.first(side)
    name = "" if end is None else end.attributes.get("link", "").strip()
    if name in links:
        return name
    if not name:
        faults.add(element.where, f"has no {side}; write <{side} link=…/>", "missing")
    else:
        what = f"{name!r} is no link of the model; {meant(name, links, most=2)}name one that there is"
        faults.add(f"{element.where} {side}", what, "unknown")
    return None


def _limits(element: Element, said: str, faults: Faults) -> tuple[float, float] | None:
    """Limits where an end is given, 0 at the other by default; exporters write neither where none holds."""
    limit = element.first("limit")
    missing = [key for key in ("lower", "upper") if limit is None or key not in limit.attributes]
    if limit is None or said in ("continuous", "fixed") or len(missing) == 2:
        return None
    before = len(faults)
    low, high = (number(limit, 0.0, faults, key) for key in ("lower", "upper"))
    if len(faults) > before:
        return None
    if low <= high:
        return low, high
    where, crossed = f"{element.where} limit", f"lower {low:g} is above upper {high:g}"
    if missing:
        faults.add(where, f"{crossed}, as {missing[0]} is missing; write it", "missing")
    else:
        faults.add(where, f"{crossed}; exchange them")
    return None
