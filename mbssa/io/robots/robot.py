"""A robot as its description says it: links, joints between them, and closures of its loops."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from mbssa.arrays import Floats
from mbssa.io.robots.unread import Unread

Record = dict[str, Any]


class Kind(StrEnum):
    """Kinds of joints; a gear is of wheels on a carrier; the last leaves no joint: its links are one body."""

    REVOLUTE = "R"
    PRISMATIC = "P"
    SCREW = "H"
    BALL = "S"
    UNIVERSAL = "U"
    PLANAR = "PL"
    FREE = "F"
    GEAR = "BEVEL"
    FIXED = "FIXED"


#: The type of a joint that follows another.
COUPLING = "COUPLING"

#: The coordinate of the joints that limits bound and motors drive.
COORDINATE = {Kind.REVOLUTE: "angle", Kind.PRISMATIC: "slide"}

#: Moments and products of an inertia, by their names in URDF and SDF.
INERTIA = ("ixx", "iyy", "izz"), ("ixy", "ixz", "iyz")


@dataclass(frozen=True, slots=True)
class Part:
    """Part of a link: its frame (4, 4) in the link's, and its properties."""

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
    name: str = ""  # of the coupling, where it has one


@dataclass(frozen=True, slots=True)
class RobotJoint:
    """Joint of two links."""

    name: str
    where: str
    kind: Kind
    parent: str
    child: str
    frame: Floats  # (4, 4) in the parent; coincides with ``child_frame`` at the joint's zero
    # axes: (3,) in the joint's frame; of a U and a gear the parent's, then the child's
    axes: tuple[Floats, ...] = (np.eye(3)[2],)
    limits: tuple[float, float] | None = None  # m or rad; an end of 1e9 or above in magnitude is none
    mimic: Mimic | None = None
    child_frame: Floats = field(default_factory=lambda: np.eye(4))  # (4, 4) in the child
    pitch: float | None = None  # of an H, m/rad
    stiffness: float = 0.0  # of a spring on the coordinate of an R or P, N/m or N m/rad
    damping: float = 0.0  # N s/m or N m s/rad
    rest: float = 0.0  # coordinate at which the spring is free of force, m or rad
    # carrier, ratio: of a gear, angle_1 + ratio x angle_2 = 0 about the wheels' axes, seen from the carrier
    carrier: str = ""
    ratio: float = 0.0
    closes: bool = False  # places no link; axes are the parent's and the child's, each in its own frame


@dataclass(slots=True)
class Robot:
    """Content of a robot's description, in its order."""

    name: str
    links: dict[str, Link] = field(default_factory=dict)
    joints: dict[str, RobotJoint] = field(default_factory=dict)
    # closures: balls and welds (fixed) that close loops, whose names are beside those of joints
    closures: list[RobotJoint] = field(default_factory=list)
    gears: list[RobotJoint] = field(default_factory=list)
    driven: tuple[str, ...] = ()  # names of joints
    # poses: (4, 4) of links in the root's frame; none where joints are placed, and the root is no child
    poses: dict[str, Floats] = field(default_factory=dict)
    # values: coordinates of R and P at the reference, m or rad; zero where there are none
    values: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    gravity: Floats | None = None  # (3,) m/s², in the root's frame; None where the file says none

    @property
    def ties(self) -> tuple[RobotJoint, ...]:
        """Joints and closures."""
        return (*self.joints.values(), *self.closures)
