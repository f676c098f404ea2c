"""Corrections of the mobility count: dropped constraints, passive rotations, parts with three freedoms.

Only data; :mod:`mbssa.singularities.redundancy` finds it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mbssa.arrays import Ints

#: Units of freedom up to which a rank is taken by a dense singular value decomposition.
DENSE = 1_200


@dataclass(frozen=True, slots=True)
class Dropped:
    """A constraint that follows from the others; joint index and the name of its equation."""

    joint: int
    equation: str


@dataclass(frozen=True, slots=True)
class PassiveRotation:
    """Passive rotation: bodies that can rotate about a line while all others are at rest.

    ``bodies`` are indices: one body, or several that rotate as one (a leg S-P-S).
    ``point`` (3,) m and ``direction`` (3,) unit give the line in the world at the configuration that was
    examined; both are None where the geometry was random.
    """

    bodies: tuple[int, ...]
    point: tuple[float, ...] | None = None
    direction: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class SpecialPart:
    """Bodies with three freedoms instead of six, and the joints among them and the frame.

    ``tree`` are the joints that constrain each body to the plane or the point once; every other one of
    ``joints`` repeats these three units. ``about`` is the plane's normal or the fixed point, world axes.
    """

    kind: Literal["planar", "spherical"]
    bodies: tuple[int, ...]
    joints: tuple[int, ...]
    tree: tuple[int, ...]
    about: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Treatment:
    """Treatment by which a mechanism that moves although the mobility count fails is decomposed.

    Attributes
    ----------
    units : (J,) constraint units of each joint in the count, drives included
    freedom_of_body : (N,) units of freedom of each body; 0 for the frame
    dropped : constraints left out, in the order of the joints
    passive_rotations : locked by convention: the body does not rotate about the line
    parts : planar and spherical parts, whose bodies count three freedoms
    basis : "numeric" (the given geometry) or "generic" (random geometry of the declared types)
    """

    units: Ints
    freedom_of_body: Ints
    dropped: tuple[Dropped, ...]
    passive_rotations: tuple[PassiveRotation, ...]
    parts: tuple[SpecialPart, ...]
    basis: Literal["numeric", "generic"]
