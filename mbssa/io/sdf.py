"""SDF: a model of links and joints, loops as they stand; poses relative to any frame, nested models."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from mbssa.arrays import Floats
from mbssa.faults import Code, Fault, Faults, ModelError
from mbssa.files import read_text
from mbssa.io.robots.ball_constraint import ball_constraint
from mbssa.io.robots.looks import sdf_visual, visuals_of
from mbssa.io.robots.mechanism import mechanism_of
from mbssa.io.robots.robot import Gear, Kind, Link, Mimic, Part, Robot, RobotJoint
from mbssa.io.robots.sdf_frames import WORLD, Frames, Scope, pose_of
from mbssa.io.robots.unread import Unread, unread
from mbssa.io.robots.xml_tree import Element, direction, inverse, parse_xml, parsed, said_number
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
        raise ModelError(
            source_name, [Fault(f"line {root.line}", f"is <{root.tag}>; an SDF is an <sdf>", "syntax")]
        )
    models = [*root.all("model"), *(model for world in root.all("world") for model in world.all("model"))]
    if len(models) != 1:
        raise ModelError(
            source_name, [Fault("", f"has {len(models)} models; write a file for each one", "unsupported")]
        )
    frames = Frames.of(models[0], faults)
    version = root.attributes.get("version", "")
    in_model = version in _IN_MODEL
    world = next((each for each in root.all("world") if each.first("model")), None)
    given = None if world is None else _gravity(world, version)
    notes, parts = _unread(root, frames, given)
    links = {
        name: Link(name, element.where, _inertia(element, faults), visuals_of(element, sdf_visual, notes))
        for name, (element, _) in frames.links.items()
    }
    joints: dict[str, RobotJoint] = {}
    gears: list[Gear] = []
    gravity = None
    if world is not None:
        said = None if given is None else given.text
        gravity = parsed(said, f"{world.where} gravity", 3, (0.0, 0.0, -9.8), faults)
    for name, (element, scope) in frames.joints.items():
        reader = _JointReader(name, element, scope, frames, in_model, faults, notes)
        if element.attributes.get("type") == "gearbox":
            gears += reader.gear()
        else:
            joints |= {joint.name: joint for joint in reader.joint()}
    for joint in joints.values():
        if joint.mimic is not None and joint.mimic.joint not in joints:
            faults.add(joint.where, f"mimics {joint.mimic.joint!r}, which is no joint", "unknown")
    balls = [ball_constraint(each, frames.links, scope.full, faults) for each, scope in frames.balls]
    faults.raise_if_any(source_name)
    if any(WORLD in (joint.parent, joint.child) for joint in joints.values()):
        links = {WORLD: Link(WORLD, "world")} | links
        poses = {name: frames.world(name) for name in links}
    else:
        first = frames.link_of(f"{models[0].name()}::__model__") or next(iter(links), WORLD)
        order = [first, *(name for name in links if name != first)]
        poses = {name: inverse(frames.world(first)) @ frames.world(name) for name in order}
        gravity = None if gravity is None else frames.world(first)[:3, :3].T @ gravity
        notes.append(f"no joint leads to the world: the canonical link {first!r} is held")
    return Robot(
        models[0].name(), links, joints, tuple(filter(None, balls)), tuple(gears), poses=poses,
        notes=tuple(notes), unread=tuple(parts), gravity=gravity,
    )  # fmt: skip


def embedded_joints(
    elements: Iterable[Element], poses: Mapping[str, Floats], faults: Faults, notes: list[str]
) -> list[RobotJoint]:
    """Joints of SDF that close loops of links whose poses (4, 4) another description gives."""
    frames, scope = Frames.at(poses)
    frames.add_joints(elements if poses else (), scope, faults)
    found = []
    for name, (element, _) in frames.joints.items():
        found += _JointReader(name, element, scope, frames, False, faults, notes).joint()
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
    defaults = dict.fromkeys(("ixx", "iyy", "izz"), 1.0) | dict.fromkeys(("ixy", "ixz", "iyz"), 0.0)
    record = {key: said_number(inertial, value, faults, "inertia", key) for key, value in defaults.items()}
    record["mass"] = said_number(inertial, 1.0, faults, "mass")
    return Part(pose_of(inertial, faults), record)


def _unread(root: Element, frames: Frames, gravity: Element | None) -> tuple[list[str], list[Unread]]:
    """Notes on what is not read, with lines, and what of it changes answers."""
    joints = [element for element, _ in frames.joints.values()]
    axes = [axis for joint in joints for tag in ("axis", "axis2") for axis in joint.all(tag)]
    parents = [
        *root.all("world"),
        *frames.models,
        *(element for element, _ in frames.links.values()),
        *joints,
    ]
    parents += [*axes, *(each for axis in axes for each in axis.all("dynamics"))]
    for physics in (each for world in root.all("world") for each in world.all("physics")):
        others = [each for each in physics.all("gravity") if each is not gravity]
        parents.append(replace(physics, children=others))
    return unread(parents, "sdf", frames.entries)


class _JointReader:
    """One joint element: faults go to the list, notes to the other."""

    def __init__(
        self,
        name: str,
        element: Element,
        scope: Scope,
        frames: Frames,
        in_model: bool,
        faults: Faults,
        notes: list[str],
    ) -> None:
        self.name, self.element, self.scope, self.frames = name, element, scope, frames
        self.in_model, self.faults, self.notes = in_model, faults, notes

    def fault(self, message: str, code: Code = "value") -> None:
        self.faults.add(self.element.where, message, code)

    def joint(self) -> list[RobotJoint]:
        said = self.element.attributes.get("type", "")
        kind = _KINDS.get(said)
        if kind is None:
            self.fault(
                f"type is {said!r}; the types that are read are {', '.join(_KINDS)}, gearbox", "unsupported"
            )
        parent, child = self._link("parent"), self._link("child")
        if parent == child is not None:
            self.fault(f"joins {parent!r} to itself", "structure")
        if kind is None or parent is None or child is None:
            return []
        self._displaced()
        axes = tuple(self._axis(tag) for tag in (("axis", "axis2") if kind == Kind.UNIVERSAL else ("axis",)))
        if kind == Kind.UNIVERSAL and abs(float(axes[0] @ axes[1])) > _SQUARE:
            self.fault(
                f"axis and axis2 of a {said} joint are not at right angles; write two revolute joints with a "
                "link between them",
                "unsupported",
            )
        in_parent, in_child = (self._in(link) for link in (parent, child))
        pitch = self._pitch() if kind == Kind.SCREW else None
        return [
            RobotJoint(self.name, self.element.where, kind, parent, child, in_parent, axes,
                       self._limits(), self._mimic(), in_child, pitch, *self._dynamics())
        ]  # fmt: skip

    def _displaced(self) -> None:
        """Note a parent frame from which the joint stands away: the format places joints by their child."""
        said = self.element.said("parent") or ""
        name = self.scope.full(said)
        if name in self.frames.entries and name not in self.frames.links:
            away = np.linalg.norm(self.frames.world(name)[:3, 3] - self.frames.world(self.name)[:3, 3])
            if away > _APART:
                where = f"stands {away:.3g} m from its parent frame {said!r}, by the pose of its child"
                self.notes.append(f"{self.element.where}: {where}")

    def gear(self) -> list[Gear]:
        """θ_2 = -gearbox_ratio θ_1, of the parent and of the child against the reference body."""
        links = [self._link(tag) for tag in ("parent", "child", "gearbox_reference_body")]
        ratio = said_number(self.element, 1.0, self.faults, "gearbox_ratio")
        if ratio == 0.0:
            self.fault("gearbox_ratio is 0; write another number")
        first, second, carrier = links
        if first is None or second is None or carrier is None or ratio == 0.0:
            return []
        axes = self._axis("axis"), self._axis("axis2")
        wheels = self._in(first), self._in(second)
        return [Gear(self.name, self.element.where, (first, second, carrier), wheels, axes, 1.0 / ratio)]

    def _link(self, tag: str) -> str | None:
        said = self.element.said(tag)
        if not said:
            self.fault(f"has no {tag}; write <{tag}>name of a link</{tag}>", "missing")
            return None
        link = self.frames.link_of(self.scope.full(said))
        if link is None:
            self.fault(f"{tag} {said!r} is no link and no frame on one; write the name of one", "unknown")
        return link

    def _in(self, link: str) -> Floats:
        return inverse(self.frames.world(link)) @ self.frames.world(self.name)

    def _axis(self, tag: str) -> Floats:
        xyz, up, where = self.element.find(tag, "xyz"), (0.0, 0.0, 1.0), f"{self.element.where} {tag}"
        given = parsed(self.element.said(tag, "xyz"), where, 3, up, self.faults)
        along = direction(given, up, where, self.faults)
        turn = np.eye(3)
        frame = None if xyz is None else xyz.attributes.get("expressed_in")
        if self.in_model or self.element.said(tag, "use_parent_model_frame") in ("1", "true"):
            frame = "__model__"
        if frame is not None:
            full = self.scope.full(frame)
            if full not in self.frames.entries:
                self.fault(f"{tag} expressed_in {frame!r}, which is no frame", "unknown")
                return np.array(up)
            turn = self.frames.world(self.name)[:3, :3].T @ self.frames.world(full)[:3, :3]
        return np.array(turn @ along)

    def _pitch(self) -> float:
        """Advance (m/rad): screw_thread_pitch is m a turn, right-handed; thread_pitch -rad/m."""
        new = self.element.first("screw_thread_pitch")
        if new is None and self.element.first("thread_pitch") is not None:
            old = said_number(self.element, 1.0, self.faults, "thread_pitch")
            if old == 0.0:
                self.fault("thread_pitch is 0; write another number")
            return -1.0 / (old or 1.0)
        return said_number(self.element, 1.0, self.faults, "screw_thread_pitch") / math.tau

    def _limits(self) -> tuple[float, float] | None:
        limit = self.element.find("axis", "limit")
        if limit is None or self.element.attributes.get("type") == "continuous":
            return None
        ends = limit.said("lower"), limit.said("upper")
        try:
            low, high = (
                default if end is None else float(end)
                for end, default in zip(ends, (-math.inf, math.inf), strict=True)
            )
        except ValueError:
            low = high = math.nan
        if not low <= high:
            self.fault("limit: write lower and upper, a number each, the lower one first")
            return None
        return low, high

    def _dynamics(self) -> tuple[float, float, float]:
        """Stiffness, damping and rest of a spring on the first axis."""
        stiffness, damping, rest = (
            said_number(self.element, 0.0, self.faults, "axis", "dynamics", tag)
            for tag in ("spring_stiffness", "damping", "spring_reference")
        )
        return stiffness, damping, rest

    def _mimic(self) -> Mimic | None:
        mimic = self.element.find("axis", "mimic")
        if mimic is None:
            return None
        multiplier, offset, reference = (
            said_number(mimic, default, self.faults, tag)
            for tag, default in (("multiplier", 1.0), ("offset", 0.0), ("reference", 0.0))
        )
        if multiplier == 0.0:
            self.fault("multiplier of its mimic is 0; write a fixed joint")
        leader = self.scope.full(mimic.attributes.get("joint", ""))
        return Mimic(leader, multiplier, offset - multiplier * reference)
