"""Frames of an SDF: links, joints and frames by their full names, each relative to another."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from mbssa.arrays import Floats
from mbssa.faults import Faults
from mbssa.io.robots.xml_tree import Element, frame_of, parsed

WORLD = "world"


def full_name(prefix: str, name: str) -> str:
    """Full name of a name inside a model, whose own name stands before it, but for the outermost model."""
    return WORLD if name.strip() == WORLD else prefix + name.strip()


@dataclass(frozen=True, slots=True)
class _Entry:
    """A frame: its pose relative to another, and what it moves with."""

    pose: Floats
    relative_to: str
    moves_with: str


@dataclass(slots=True)
class Frames:
    """All frames by full name; links, joints and balls of Drake with their elements and models' prefixes."""

    faults: Faults
    in_model: bool = False  # axes are in the model's frame, not in the joint's
    entries: dict[str, _Entry] = field(default_factory=lambda: {WORLD: _Entry(np.eye(4), "", WORLD)})
    links: dict[str, tuple[Element, str]] = field(default_factory=dict)
    joints: dict[str, tuple[Element, str]] = field(default_factory=dict)
    models: list[Element] = field(default_factory=list)
    balls: list[tuple[Element, str]] = field(default_factory=list)

    def add_known(self, name: str, pose: Floats) -> None:
        """Add a link whose pose (4, 4) is known."""
        self.entries[name] = _Entry(pose, "", name)
        self.links[name] = Element("link", {"name": name}, 0), ""

    def world(self, name: str) -> Floats:
        """Frame (4, 4) in the world."""
        frame = np.eye(4)
        while name:
            entry = self.entries[name]
            frame, name = entry.pose @ frame, entry.relative_to
        return frame

    def link_of(self, name: str) -> str | None:
        """The link that a frame moves with, or the world; None where there is no such frame."""
        for _ in range(len(self.entries) + 1):
            if name in self.links or name == WORLD:
                return name
            if name not in self.entries:
                return None
            name = self.entries[name].moves_with
        return None

    def add_model(self, model: Element, prefix: str = "", outside: str = WORLD) -> None:
        """Add the frames of a model, whose pose is relative to ``outside``, and of those nested in it."""
        self.models.append(model)
        self.balls += [(ball, prefix) for ball in model.all("drake:ball_constraint")]
        own = f"{prefix}__model__"
        first = next((link.name() for link in model.all("link")), "")
        canonical = full_name(prefix, model.attributes.get("canonical_link") or first)
        # The model itself is a frame for what is beside it.
        if prefix:
            self.entries[prefix.removesuffix("::")] = _Entry(np.eye(4), own, own)
        self.entries[own] = _Entry(pose_of(model, self.faults), outside, canonical)
        if "placement_frame" in model.attributes:
            what = "placement_frame is not read; write the pose of the model"
            self.faults.add(model.where, what, "unsupported")
        for include in model.all("include"):
            what = "include is not read; write the model itself in its place"
            self.faults.add(include.where, what, "unsupported")
        for tag in ("link", "joint", "frame"):
            for element in model.all(tag):
                self.add(element, prefix)
        for inner in model.all("model"):
            outside = full_name(prefix, inner.said("pose", "relative_to") or "__model__")
            self.add_model(inner, f"{full_name(prefix, inner.name())}::", outside)

    def add(self, element: Element, prefix: str) -> None:
        """Add a link, joint or frame; a joint is relative to its child unless it says another."""
        name, moves_with = full_name(prefix, element.name()), "__model__"
        if not element.name() or name in self.entries:
            taken, missing = "has a name that is taken; write another", "has no name; write name=…"
            self.faults.add(element.where, taken if element.name() else missing, "duplicate")
            return
        if element.tag == "joint":
            self.joints[name] = element, prefix
            child = element.said("child")
            moves_with = moves_with if child is None else child
        elif element.tag == "link":
            self.links[name] = element, prefix
        else:
            moves_with = element.attributes.get("attached_to") or moves_with
        moves_with = full_name(prefix, moves_with)
        relative = element.said("pose", "relative_to")
        relative_to = full_name(prefix, relative) if relative else moves_with
        self.entries[name] = _Entry(pose_of(element, self.faults), relative_to, moves_with)

    def check(self) -> None:
        """Every chain of frames ends in the world; one that does not is cut, and reported."""
        # A joint's missing child is a fault of the joint.
        for name, entry in self.entries.items():
            if entry.relative_to and entry.relative_to not in self.entries:
                if name not in self.joints or entry.relative_to != entry.moves_with:
                    self.faults.add(f"pose of {name!r}", f"{entry.relative_to!r} is no frame", "unknown")
                self.entries[name] = replace(entry, pose=np.eye(4), relative_to=WORLD)
        for name, entry in self.entries.items():
            at, steps = entry.relative_to, 0
            while at not in ("", name) and steps <= len(self.entries):
                at, steps = self.entries[at].relative_to, steps + 1
            if at == name:
                self.faults.add(f"pose of {name!r}", "is relative to itself", "unknown")
                self.entries[name] = replace(entry, pose=np.eye(4), relative_to=WORLD)


def pose_of(element: Element, faults: Faults) -> Floats:
    """Frame (4, 4) of the child ``pose``, six numbers, angles in rad unless in degrees; else the identity."""
    pose = element.first("pose")
    if pose is None or not pose.text:
        return np.eye(4)
    if pose.attributes.get("rotation_format", "euler_rpy") != "euler_rpy":
        what = "pose: rotation_format is not read; write roll, pitch and yaw"
        faults.add(element.where, what, "unsupported")
        return np.eye(4)
    values = parsed(pose.text, f"{element.where} pose", 6, (0.0,) * 6, faults)
    degrees = pose.attributes.get("degrees") in ("1", "true")
    angles = np.radians(values[3:]) if degrees else values[3:]
    return frame_of(values[:3], angles, f"{element.where} pose", faults)
