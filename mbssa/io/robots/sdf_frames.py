"""Frames of an SDF: links, joints and frames by their full names, each relative to another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from mbssa.arrays import Floats
from mbssa.faults import Faults
from mbssa.io.robots.xml_tree import Element, frame_of, parsed

WORLD = "world"


@dataclass(frozen=True, slots=True)
class Scope:
    """A model; its name stands before the names inside it, but for the outermost model."""

    prefix: str
    model: str

    def full(self, name: str) -> str:
        """Full name of a name inside the model."""
        name = name.strip()
        if name == WORLD:
            return WORLD
        return self.model if name == "__model__" else self.prefix + name


@dataclass(frozen=True, slots=True)
class _Entry:
    """A frame: its pose relative to another, and what it moves with."""

    pose: Floats
    relative_to: str
    moves_with: str


@dataclass(slots=True)
class Frames:
    """All frames of a model by full name; links, joints and balls of Drake with their elements and scopes."""

    entries: dict[str, _Entry] = field(default_factory=dict)
    links: dict[str, tuple[Element, Scope]] = field(default_factory=dict)
    joints: dict[str, tuple[Element, Scope]] = field(default_factory=dict)
    models: list[Element] = field(default_factory=list)
    balls: list[tuple[Element, Scope]] = field(default_factory=list)

    @classmethod
    def of(cls, model: Element, faults: Faults) -> Frames:
        """The frames of a model and of those nested in it."""
        found = cls()
        found.entries[WORLD] = _Entry(np.eye(4), "", WORLD)
        found._add_model(model, Scope("", f"{model.name()}::__model__"), WORLD, faults)
        found._check(faults)
        return found

    @classmethod
    def at(cls, poses: Mapping[str, Floats]) -> tuple[Frames, Scope]:
        """Frames of links whose poses (4, 4) are known, and the scope of their names."""
        found, scope = cls(), Scope("", "::__model__")
        found.entries = {WORLD: _Entry(np.eye(4), "", WORLD), scope.model: _Entry(np.eye(4), WORLD, WORLD)}
        for name, pose in poses.items():
            found.entries[name] = _Entry(pose, "", name)
            found.links[name] = Element("link", {"name": name}, 0), scope
        return found, scope

    def add_joints(self, elements: Iterable[Element], scope: Scope, faults: Faults) -> None:
        """Add frames of joints, each relative to its child unless it says another."""
        for element in elements:
            self._add(element, scope, faults)
        self._check(faults)

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

    def _add_model(self, model: Element, scope: Scope, outside: str, faults: Faults) -> None:
        self.models.append(model)
        self.balls += [(ball, scope) for ball in model.all("drake:ball_constraint")]
        first = next((link.name() for link in model.all("link")), "")
        canonical = scope.full(model.attributes.get("canonical_link") or first)
        # The model itself is a frame for what is beside it.
        if scope.prefix:
            self.entries[scope.prefix.removesuffix("::")] = _Entry(np.eye(4), scope.model, scope.model)
        self.entries[scope.model] = _Entry(pose_of(model, faults), outside, canonical)
        if "placement_frame" in model.attributes:
            faults.add(model.where, "placement_frame is not read; write the pose of the model", "unsupported")
        for include in model.all("include"):
            what = "include is not read; write the model itself in its place"
            faults.add(include.where, what, "unsupported")
        for tag in ("link", "joint", "frame"):
            for element in model.all(tag):
                self._add(element, scope, faults)
        for inner in model.all("model"):
            prefix = scope.full(inner.name()) + "::"
            pose = inner.first("pose")
            relative = pose.attributes.get("relative_to") if pose is not None else None
            outside = scope.full(relative) if relative else scope.model
            self._add_model(inner, Scope(prefix, f"{prefix}__model__"), outside, faults)

    def _add(self, element: Element, scope: Scope, faults: Faults) -> None:
        name = scope.full(element.name())
        if not element.name() or name in self.entries:
            what = (
                "has a name that is taken; write another" if element.name() else "has no name; write name=…"
            )
            faults.add(element.where, what, "duplicate")
            return
        moves_with = "__model__"
        if element.tag == "joint":
            self.joints[name] = element, scope
            child = element.first("child")
            moves_with = child.text if child is not None else moves_with
        elif element.tag == "link":
            self.links[name] = element, scope
        else:
            moves_with = element.attributes.get("attached_to") or moves_with
        pose = element.first("pose")
        relative = pose.attributes.get("relative_to") if pose is not None else None
        full = scope.full(moves_with)
        self.entries[name] = _Entry(
            pose_of(element, faults), scope.full(relative) if relative else full, full
        )

    def _check(self, faults: Faults) -> None:
        """Every chain of frames ends in the world; one that does not is cut, and reported."""
        # A joint's missing child is a fault of the joint.
        for name, entry in list(self.entries.items()):
            if entry.relative_to and entry.relative_to not in self.entries:
                if name not in self.joints or entry.relative_to != entry.moves_with:
                    faults.add(f"pose of {name!r}", f"{entry.relative_to!r} is no frame", "unknown")
                self.entries[name] = _Entry(np.eye(4), WORLD, entry.moves_with)
        for name, entry in list(self.entries.items()):
            at, steps = entry.relative_to, 0
            while at not in ("", name) and steps <= len(self.entries):
                at, steps = self.entries[at].relative_to, steps + 1
            if at == name:
                faults.add(f"pose of {name!r}", "is relative to itself", "unknown")
                self.entries[name] = _Entry(np.eye(4), WORLD, entry.moves_with)


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
