"""URDF: links and joints in XML; loops by a side file, or by a link that is the child of two joints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from mbssa.faults import Fault, Faults, ModelError, meant
from mbssa.files import read_text
from mbssa.io.robots.ball_constraint import ball_constraint
from mbssa.io.robots.looks import urdf_visual, visuals_of
from mbssa.io.robots.mechanism import mechanism_of
from mbssa.io.robots.placing import held, poses_at_zero
from mbssa.io.robots.robot import COORDINATE, Closure, Kind, Link, Mimic, Part, Record, Robot, RobotJoint
from mbssa.io.robots.side_file import completed, side_file_of
from mbssa.io.robots.unread import Effect, Unread, everything, is_zero, lines_of, unread
from mbssa.io.robots.xml_tree import Element, axis_of, number, origin_of, parse_xml
from mbssa.io.sdf import embedded_joints
from mbssa.mechanism import Mechanism

_KINDS: dict[str, Kind] = {
    "revolute": Kind.REVOLUTE,
    "continuous": Kind.REVOLUTE,
    "prismatic": Kind.PRISMATIC,
    "planar": Kind.PLANAR,
    "floating": Kind.FREE,
    "fixed": Kind.FIXED,
}


def read_urdf(path: Path) -> Mechanism:
    """Read a URDF and the side file beside it, and warn of what was merged, left out or assumed."""
    faults = Faults()
    robot = parse_urdf(read_text(path, "URDF"), str(path), faults)
    side = side_file_of(path, faults)
    if side is not None:
        robot = completed(robot, side, faults)
    return mechanism_of(robot, str(path), faults, path.stem)


def parse_urdf(text: str, source_name: str, faults: Faults) -> Robot:
    """Robot of a URDF's text; ``faults`` gains its faults."""
    root = parse_xml(text, source_name)
    if root.tag != "robot":
        raise ModelError(
            source_name, [Fault(f"line {root.line}", f"is <{root.tag}>; a URDF is a <robot>", "syntax")]
        )
    _refuse_xacro(root, source_name)
    said: list[str] = []
    links = {element.name(): _link(element, faults, said) for element in _named(root, "link", faults)}
    joints = {}
    for element in _named(root, "joint", faults):
        joint = _joint(element, links, faults)
        if joint is not None:
            joints[joint.name] = joint
    still = [
        name
        for name, joint in joints.items()
        if joint.kind in COORDINATE and joint.mimic is not None and joint.mimic.multiplier == 0.0
    ]
    for name in still:
        mimic = joints[name].mimic
        assert mimic is not None
        joints[name] = held(joints[name], mimic.offset)
    for joint in joints.values():
        if joint.mimic is not None and joint.mimic.joint not in joints:
            faults.add(joint.where, f"mimics {joint.mimic.joint!r}, which is no joint", "unknown")
    said += [f"{joints[name].where}: mimics with multiplier 0, which holds it" for name in still]
    poses = poses_at_zero(Robot("", links, joints))
    found = [constraint(element, links, faults) for element in _named(root, "constraint", faults)]
    found += [_loop_joint(element, links, faults) for element in _named(root, "loop_joint", faults)]
    found += [ball_constraint(element, links, str, faults) for element in root.all("drake:ball_constraint")]
    found += embedded_joints(
        [j for each in root.all("gazebo") for j in each.all("joint")], poses, faults, said
    )
    closures = tuple(each for each in found if isinstance(each, Closure))
    for tie in (each for each in found if isinstance(each, RobotJoint)):
        if tie.name in joints:
            faults.add(tie.where, "has the name of a joint; write another", "duplicate")
        joints.setdefault(tie.name, tie)
    driven = tuple(name for name in _actuated(root) if name in joints and joints[name].mimic is None)
    if driven:
        said.insert(0, f"driven joints are those of transmissions: {', '.join(driven)}")
    notes, parts = _unread(root, links)
    return Robot(
        root.name(), links, joints, closures, driven=driven, notes=(*said, *notes), unread=tuple(parts)
    )


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


# --- links -------------------------------------------------------------------------------------------


def _link(element: Element, faults: Faults, notes: list[str]) -> Link:
    inertial = element.first("inertial")
    return Link(
        element.name(),
        element.where,
        None if inertial is None else _inertia(inertial, faults),
        visuals_of(element, urdf_visual, notes),
    )


def _inertia(element: Element, faults: Faults) -> Part:
    mass, tensor = element.first("mass"), element.first("inertia")
    record: Record = {} if mass is None else {"mass": number(mass, "value", 0.0, faults)}
    if tensor is not None:
        record |= {
            key: number(tensor, key, 0.0, faults) for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
        }
    return Part(origin_of(element, faults), record)


# --- joints ------------------------------------------------------------------------------------------


def _joint(element: Element, links: dict[str, Link], faults: Faults) -> RobotJoint | None:
    said = element.attributes.get("type", "")
    kind = _KINDS.get(said)
    if kind is None:
        faults.add(element.where, f"type is {said!r}; the types are {', '.join(_KINDS)}", "unsupported")
    ends = [_end(element, side, links, faults) for side in ("parent", "child")]
    axis = np.eye(3)[0] if kind in (Kind.FIXED, Kind.FREE) else axis_of(element, faults)
    frame = origin_of(element, faults)
    limits = _limits(element, said, faults)
    mimic = _mimic(element, faults)
    dynamics = element.first("dynamics")
    damping = 0.0 if dynamics is None else number(dynamics, "damping", 0.0, faults)
    if None not in ends and ends[0] == ends[1]:
        faults.add(element.where, f"joins {ends[0]!r} to itself", "structure")
    if kind is None or ends[0] is None or ends[1] is None:
        return None
    return RobotJoint(
        element.name(), element.where, kind, ends[0], ends[1], frame, (axis,), limits, mimic, damping=damping
    )


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
    low, high = (number(limit, key, 0.0, faults) for key in ("lower", "upper"))
    if len(faults) > before:
        return None
    if low > high:
        crossed = f"lower {low:g} is above upper {high:g}"
        if missing:
            faults.add(
                f"{element.where} limit", f"{crossed}, as {missing[0]} is missing; write it", "missing"
            )
        else:
            faults.add(f"{element.where} limit", f"{crossed}; exchange them")
    return (low, high) if low <= high else None


def _mimic(element: Element, faults: Faults) -> Mimic | None:
    mimic = element.first("mimic")
    if mimic is None:
        return None
    values = number(mimic, "multiplier", 1.0, faults), number(mimic, "offset", 0.0, faults)
    return Mimic(mimic.attributes.get("joint", "").strip(), *values)


#: Joints of a ``constraint``, as proposed for urdfdom in 2026 (github.com/ros/urdfdom/pull/264, not merged).
#: It closes a loop, with ``parent``, ``parent_origin``, ``parent_axis``, and the same of the child.
_CONSTRAINT_KINDS: dict[str, Kind] = {
    "revolute": Kind.REVOLUTE,
    "continuous": Kind.REVOLUTE,
    "prismatic": Kind.PRISMATIC,
    "planar": Kind.PLANAR,
    "universal": Kind.UNIVERSAL,
    "spherical": Kind.BALL,
    "ball": Kind.BALL,
    "fixed": Kind.FIXED,
}


def constraint(element: Element, links: Mapping[str, Link], faults: Faults) -> RobotJoint | Closure | None:
    """A joint that closes a loop: a closure for a ball or a weld; None with faults where it is wrong."""
    said = element.attributes.get("type", "")
    kind = _CONSTRAINT_KINDS.get(said)
    if kind is None:
        what = f"type is {said!r}; the types are {', '.join(_CONSTRAINT_KINDS)}"
        faults.add(element.where, what, "unsupported")
    parent, child = (_end(element, side, links, faults) for side in ("parent", "child"))
    if parent is not None and parent == child:
        faults.add(element.where, f"joins {parent!r} to itself", "structure")
    frames = origin_of(element, faults, "parent_origin"), origin_of(element, faults, "child_origin")
    axes = axis_of(element, faults, "parent_axis"), axis_of(element, faults, "child_axis")
    if kind is None or parent is None or child is None:
        return None
    name, where = element.name(), element.where
    if kind in (Kind.BALL, Kind.FIXED):
        return Closure(name, where, parent, child, kind == Kind.FIXED, frames)
    return RobotJoint(name, where, kind, parent, child, frames[0], axes, child_frame=frames[1], closes=True)


def _loop_joint(element: Element, links: Mapping[str, Link], faults: Faults) -> RobotJoint | None:
    """A joint of Drake that closes a loop: frames on two links, and an axis that both have."""
    said = element.attributes.get("type", "")
    kind = _KINDS.get(said)
    if kind is None:
        faults.add(element.where, f"type is {said!r}; the types are {', '.join(_KINDS)}", "unsupported")
    first, second = (_end(element, side, links, faults) for side in ("link1", "link2"))
    if first is not None and first == second:
        faults.add(element.where, f"joins {first!r} to itself", "structure")
    frames = [origin_of(element, faults, side) for side in ("link1", "link2")]
    axis = axis_of(element, faults)
    if kind is None or first is None or second is None:
        return None
    return RobotJoint(
        element.name(),
        element.where,
        kind,
        first,
        second,
        frames[0],
        (axis,),
        child_frame=frames[1],
        closes=True,
    )
