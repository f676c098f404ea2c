"""SDF: a model of links and joints, loops as they stand; poses relative to any frame, nested models."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from mbssa.arrays import Floats
from mbssa.faults import Code, Fault, Faults, ModelError
from mbssa.files import read_text
from mbssa.io.robots.looks import visuals_of
from mbssa.io.robots.mechanism import mechanism_of
from mbssa.io.robots.robot import INERTIA, Kind, Link, Mimic, Part, Robot, RobotJoint
from mbssa.io.robots.sdf_frames import WORLD, Frames, full_name, pose_of
from mbssa.io.robots.unread import Unread, unread
from mbssa.io.robots.xml_tree import Element, direction, frame, inverse, number, parse_xml, parsed
from mbssa.mechanism import Mechanism

_KINDS: dict[str, Kind] = {
    "revolute": Kind.REVOLUTE,
    "continuous": Kind.REVOLUTE,
    "prismatic": Kind.PRISMATIC,
    "ball": Kind.BALL,
    "universal": Kind.UNIVERSAL,
    "revolute2": Kind.UNIVERSAL,
    "screw": Kind.SCREW,
    "fixed": Kind.FIXED,
}

#: Versions whose axes are in the model's frame, not in the joint's.
_IN_MODEL = ("1.0", "1.2", "1.3", "1.4")

#: Cosine above which two pins of a universal joint are no longer at right angles.
_SQUARE = 5e-3

#: Distance of a joint from its parent frame that is no rounding, m.
_APART = 1e-6


def read_sdf(path: Path) -> Mechanism:
    """Read an SDF of one model, and warn of what was merged, left out or assumed."""
    faults = Faults()
    robot = parse_sdf(read_text(path, "SDF"), str(path), faults)
    return mechanism_of(robot, str(path), faults, path.stem)


def parse_sdf(text: str, source_name: str, faults: Faults) -> Robot:
    """Robot of an SDF's text; ``faults`` gains its faults."""
    root = parse_xml(text, source_name)
    if root.tag != "sdf":
        what = f"is <{root.tag}>; an SDF is an <sdf>"
        raise ModelError(source_name, [Fault(f"line {root.line}", what, "syntax")])
    models = [*root.all("model"), *(model for world in root.all("world") for model in world.all("model"))]
    if len(models) != 1:
        what = f"has {len(models)} models; write a file for each one"
        raise ModelError(source_name, [Fault("", what, "unsupported")])
    version = root.attributes.get("version", "")
    frames = Frames(faults, version in _IN_MODEL)
    frames.add_model(models[0])
    frames.check()
    world = next((each for each in root.all("world") if each.first("model")), None)
    given = None if world is None else _gravity(world, version)
    robot = Robot(models[0].name())
    robot.notes, robot.unread = _unread(root, frames, given)
    for name, (element, _) in frames.links.items():
        inertia, looks = _inertia(element, faults), visuals_of(element, pose_of, robot.notes)
        robot.links[name] = Link(name, element.where, inertia, looks)
    if world is not None:
        said = None if given is None else given.text
        robot.gravity = parsed(said, f"{world.where} gravity", 3, (0.0, 0.0, -9.8), faults)
    for name, (element, _) in frames.joints.items():
        reader = _JointReader(name, frames, robot.notes)
        if element.attributes.get("type") == "gearbox":
            robot.gears += reader.gear()
        else:
            robot.joints |= {joint.name: joint for joint in reader.joint()}
    for joint in robot.joints.values():
        if joint.mimic is not None and joint.mimic.joint not in robot.joints:
            faults.add(joint.where, f"mimics {joint.mimic.joint!r}, which is no joint", "unknown")
    for element, prefix in frames.balls:
        robot.closures += ball_constraint(element, frames.links, prefix, faults)
    faults.raise_if_any(source_name)
    first = WORLD
    if any(WORLD in (joint.parent, joint.child) for joint in robot.joints.values()):
        robot.links = {WORLD: Link(WORLD, "world")} | robot.links
    else:
        first = frames.link_of("__model__") or next(iter(robot.links), WORLD)
        if robot.gravity is not None:
            robot.gravity = frames.world(first)[:3, :3].T @ robot.gravity
        robot.notes.append(f"no joint leads to the world: the canonical link {first!r} is held")
    back = inverse(frames.world(first))
    robot.poses = {name: back @ frames.world(name) for name in dict.fromkeys((first, *robot.links))}
    return robot


def ball_constraint(
    element: Element, links: Collection[str], prefix: str, faults: Faults
) -> list[RobotJoint]:
    """Ball of Drake, which URDF and SDF write alike: coincident points of links; none where it is wrong."""
    ends, frames = [], []
    for tags in (("body_A", "p_AP"), ("body_B", "p_BQ")):
        body, point = (f"drake:ball_constraint_{tag}" for tag in tags)
        name = (element.said(body, "name") or element.said(body) or "").strip()
        ends.append(full_name(prefix, name))
        if ends[-1] not in links:
            faults.add(f"{element.where} {body}", f"{name!r} is no link of the model", "unknown")
        place = element.said(point, "value") or element.said(point)
        given = parsed(place, f"{element.where} {point}", 3, (0.0, 0.0, 0.0), faults)
        frames.append(frame(np.eye(3), given))
    first, second = ends
    if first == second:
        faults.add(element.where, f"joins {first!r} to itself", "structure")
    if first not in links or second not in links:
        return []
    name = f"{first} {second} line {element.line}"
    return [RobotJoint(
        name, element.where, Kind.BALL, first, second, frames[0], child_frame=frames[1], closes=True
    )]  # fmt: skip


def embedded_joints(
    elements: Iterable[Element], poses: Mapping[str, Floats], faults: Faults, notes: list[str]
) -> list[RobotJoint]:
    """Joints of SDF that close loops of links whose poses (4, 4) another description gives."""
    frames = Frames(faults)
    frames.add_model(Element("model", {"canonical_link": WORLD}, 0))
    for name, pose in poses.items():
        frames.add_known(name, pose)
    for element in elements if poses else ():
        frames.add(element, "")
    frames.check()
    found = [joint for name in frames.joints for joint in _JointReader(name, frames, notes).joint()]
    for joint in found:
        if {joint.parent, joint.child} - set(poses):
            faults.add(joint.where, f"joins the {WORLD}, which is no link of the model", "unknown")
    return [replace(joint, closes=True) for joint in found]


def _gravity(world: Element, version: str) -> Element | None:
    """Gravity of a world, which versions before 1.6 have in its physics."""
    parents = (world, *(world.all("physics") if version in (*_IN_MODEL, "1.5") else ()))
    return next((each for parent in parents for each in parent.all("gravity")), None)


def _inertia(link: Element, faults: Faults) -> Part | None:
    """Mass, centre and inertia of a link, in the axes of its inertial's pose; SDF's defaults are 1."""
    inertial = link.first("inertial")
    if inertial is None:
        return None
    record = {
        key: number(inertial, default, faults, "inertia", key)
        for keys, default in zip(INERTIA, (1.0, 0.0), strict=True)
        for key in keys
    }
    record["mass"] = number(inertial, 1.0, faults, "mass")
    return Part(pose_of(inertial, faults), record)


def _unread(root: Element, frames: Frames, gravity: Element | None) -> tuple[list[str], list[Unread]]:
    """Notes on what is not read, with lines, and what of it changes answers."""
    joints = [element for element, _ in frames.joints.values()]
    axes = [axis for joint in joints for tag in ("axis", "axis2") for axis in joint.all(tag)]
    parents = [*root.all("world"), *frames.models, *(element for element, _ in frames.links.values())]
    parents += [*joints, *axes, *(each for axis in axes for each in axis.all("dynamics"))]
    for physics in (each for world in root.all("world") for each in world.all("physics")):
        others = [each for each in physics.all("gravity") if each is not gravity]
        parents.append(replace(physics, children=others))
    return unread(parents, "sdf", frames.entries)


class _JointReader:
    """One joint element: faults go to the list, notes to the other."""

    def __init__(self, name: str, frames: Frames, notes: list[str]) -> None:
        self.name, self.frames, self.faults, self.notes = name, frames, frames.faults, notes
        self.element, self.prefix = frames.joints[name]
        self.where, self.type = self.element.where, self.element.attributes.get("type", "")

    def fault(self, message: str, code: Code = "value") -> None:
        self.faults.add(self.where, message, code)

    def joint(self) -> list[RobotJoint]:
        kind = _KINDS.get(self.type)
        if kind is None:
            types = f"{', '.join(_KINDS)}, gearbox"
            self.fault(f"type is {self.type!r}; the types that are read are {types}", "unsupported")
        parent, child = self._link("parent"), self._link("child")
        if parent == child is not None:
            self.fault(f"joins {parent!r} to itself", "structure")
        if kind is None or parent is None or child is None:
            return []
        self._note_apart()
        axes = tuple(self._axis(tag) for tag in (("axis", "axis2") if kind == Kind.UNIVERSAL else ("axis",)))
        if kind == Kind.UNIVERSAL and abs(float(axes[0] @ axes[1])) > _SQUARE:
            what = f"axis and axis2 of a {self.type} joint are not at right angles"
            self.fault(f"{what}; write two revolute joints with a link between them", "unsupported")
        in_parent, in_child = (self._in(link) for link in (parent, child))
        pitch = self._pitch() if kind == Kind.SCREW else None
        # Stiffness, damping and rest of a spring on the first axis.
        stiffness, damping, rest = (
            number(self.element, 0.0, self.faults, "axis", "dynamics", tag)
            for tag in ("spring_stiffness", "damping", "spring_reference")
        )
        return [
            RobotJoint(self.name, self.where, kind, parent, child, in_parent, axes,
                       self._limits(), self._mimic(), in_child, pitch, stiffness, damping, rest)
        ]  # fmt: skip

    def _note_apart(self) -> None:
        """Note a parent frame from which the joint stands away: the format places joints by their child."""
        said = self.element.said("parent") or ""
        name = full_name(self.prefix, said)
        if name in self.frames.entries and name not in self.frames.links:
            away = np.linalg.norm(self.frames.world(name)[:3, 3] - self.frames.world(self.name)[:3, 3])
            if away > _APART:
                what = f"stands {away:.3g} m from its parent frame {said!r}, by the pose of its child"
                self.notes.append(f"{self.where}: {what}")

    def gear(self) -> list[RobotJoint]:
        """θ_2 = -gearbox_ratio θ_1, of the parent and of the child against the reference body."""
        first, second, carrier = (self._link(tag) for tag in ("parent", "child", "gearbox_reference_body"))
        ratio = number(self.element, 1.0, self.faults, "gearbox_ratio")
        if ratio == 0.0:
            self.fault("gearbox_ratio is 0; write another number")
        if first is None or second is None or carrier is None or ratio == 0.0:
            return []
        axes = self._axis("axis"), self._axis("axis2")
        return [
            RobotJoint(self.name, self.where, Kind.GEAR, first, second, self._in(first), axes,
                       child_frame=self._in(second), carrier=carrier, ratio=1.0 / ratio)
        ]  # fmt: skip

    def _link(self, tag: str) -> str | None:
        said = self.element.said(tag)
        if not said:
            self.fault(f"has no {tag}; write <{tag}>name of a link</{tag}>", "missing")
            return None
        link = self.frames.link_of(full_name(self.prefix, said))
        if link is None:
            self.fault(f"{tag} {said!r} is no link and no frame on one; write the name of one", "unknown")
        return link

    def _in(self, link: str) -> Floats:
        return inverse(self.frames.world(link)) @ self.frames.world(self.name)

    def _axis(self, tag: str) -> Floats:
        up, where = (0.0, 0.0, 1.0), f"{self.where} {tag}"
        given = parsed(self.element.said(tag, "xyz"), where, 3, up, self.faults)
        along = direction(given, up, where, self.faults)
        of = self.element.said(tag, "xyz", "expressed_in")
        if self.frames.in_model or self.element.said(tag, "use_parent_model_frame") in ("1", "true"):
            of = "__model__"
        if of is None:
            return along
        full = full_name(self.prefix, of)
        if full not in self.frames.entries:
            self.fault(f"{tag} expressed_in {of!r}, which is no frame", "unknown")
            return np.array(up)
        turn = self.frames.world(self.name)[:3, :3].T @ self.frames.world(full)[:3, :3]
        return np.array(turn @ along)

    def _pitch(self) -> float:
        """Advance (m/rad): screw_thread_pitch is m a turn, right-handed; thread_pitch -rad/m."""
        new = self.element.first("screw_thread_pitch")
        if new is None and self.element.first("thread_pitch") is not None:
            old = number(self.element, 1.0, self.faults, "thread_pitch")
            if old == 0.0:
                self.fault("thread_pitch is 0; write another number")
            return -1.0 / (old or 1.0)
        return number(self.element, 1.0, self.faults, "screw_thread_pitch") / math.tau

    def _limits(self) -> tuple[float, float] | None:
        limit = self.element.find("axis", "limit")
        if limit is None or self.type == "continuous":
            return None
        ends = (limit.said("lower"), -math.inf), (limit.said("upper"), math.inf)
        try:
            low, high = (default if end is None else float(end) for end, default in ends)
        except ValueError:
            low = high = math.nan
        if not low <= high:
            self.fault("limit: write lower and upper, a number each, the lower one first")
            return None
        return low, high

    def _mimic(self) -> Mimic | None:
        mimic = self.element.find("axis", "mimic")
        if mimic is None:
            return None
        multiplier, offset, reference = (
            number(mimic, default, self.faults, tag)
            for tag, default in (("multiplier", 1.0), ("offset", 0.0), ("reference", 0.0))
        )
        if multiplier == 0.0:
            self.fault("multiplier of its mimic is 0; write a fixed joint")
        leader = full_name(self.prefix, mimic.attributes.get("joint", ""))
        return Mimic(leader, multiplier, offset - multiplier * reference)
