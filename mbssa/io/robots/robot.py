"""A robot as its description says it: links, joints between them, and closures of its loops."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mbssa.arrays import Floats
from mbssa.io.robots.kinds import Kind

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Part:
    """Something on a link: its frame in the link's (4, 4), and what is said of it."""

    frame: Floats
    record: Record


@dataclass(frozen=True, slots=True)
class Link:
    """A rigid part with a frame of its own."""

    name: str
    where: str
    inertia: Part | None = None
    visuals: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Mimic:
    """Another joint that a joint follows: value = multiplier x its value + offset, in m and rad."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True, slots=True)
class RobotJoint:
    """A joint of two links.

    Attributes
    ----------
    frame, child_frame : (4, 4) of the joint in the parent and in the child link; they coincide at its zero
    axes : (3,) directions in the joint's frame: the axis; of a U the parent's pin, then the child's
    limits : of the one coordinate of an R or P, m or rad
    pitch : of an H, m/rad
    closes : whether it closes a loop and places no link; its axes are then the parent's and the child's, each
        in its own frame
    """

    name: str
    where: str
    kind: Kind
    parent: str
    child: str
    frame: Floats
    axes: tuple[Floats, ...]
    limits: tuple[float, float] | None = None
    mimic: Mimic | None = None
    child_frame: Floats = field(default_factory=lambda: np.eye(4))
    pitch: float | None = None
    closes: bool = False


@dataclass(frozen=True, slots=True)
class Gear:
    """Two wheels on a carrier: angle_1 + ratio x angle_2 = 0 about their axes, seen from the carrier.

    ``links`` are those of the wheels and of the carrier, ``frames`` (4, 4) of the joint in each wheel's link,
    ``axes`` (3,) in the joint's frame.
    """

    name: str
    where: str
    links: tuple[str, str, str]
    frames: tuple[Floats, Floats]
    axes: tuple[Floats, Floats]
    ratio: float


@dataclass(frozen=True, slots=True)
class Closure:
    """Frames of two links that coincide: their origins (a ball), or altogether (a weld).

    ``frames`` (4, 4) are those frames in the links'.
    """

    name: str
    where: str
    first: str
    second: str
    weld: bool
    frames: tuple[Floats, Floats] = field(default_factory=lambda: (np.eye(4), np.eye(4)))


@dataclass(frozen=True, slots=True)
class Robot:
    """Everything that a description says, in its order.

    ``driven`` are names of joints. ``poses`` (4, 4) in the root's frame are given where the description
    places each link; where it places joints they are None, and the root is the link that is no joint's child.
    ``values`` are coordinates of R and P at the reference (m, rad) where the description says them.
    """

    name: str
    links: dict[str, Link]
    joints: dict[str, RobotJoint]
    closures: tuple[Closure, ...] = ()
    gears: tuple[Gear, ...] = ()
    driven: tuple[str, ...] = ()
    poses: dict[str, Floats] | None = None
    values: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = field(default=())
