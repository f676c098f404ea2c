"""A robot as its description says it: links, joints between them, and closures of its loops."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Record = dict[str, Any]

#: Codes of the catalogue, and two that leave no joint: links that are one body, and a link that is free.
Kind = Literal["R", "P", "S", "U", "PL", "FIXED", "FREE"]


@dataclass(frozen=True, slots=True)
class Part:
    """Something on a link: its frame in the link's (4, 4), and what is said of it."""

    frame: Array
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
    frame : (4, 4) of the joint in the parent link; the child's own frame at the joint's zero
    axes : (3,) directions in the joint's frame: the axis; of a U the parent's pin, then the child's
    limits : of the one coordinate of an R or P, m or rad
    """

    name: str
    where: str
    kind: Kind
    parent: str
    child: str
    frame: Array
    axes: tuple[Array, ...]
    limits: tuple[float, float] | None = None
    mimic: Mimic | None = None


@dataclass(frozen=True, slots=True)
class Closure:
    """Frames of two links that coincide: their origins (a ball), or altogether (a weld)."""

    name: str
    where: str
    first: str
    second: str
    weld: bool


@dataclass(frozen=True, slots=True)
class Robot:
    """Everything that a description says, in its order; ``driven`` are names of joints."""

    name: str
    links: dict[str, Link]
    joints: dict[str, RobotJoint]
    closures: tuple[Closure, ...] = ()
    driven: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())
