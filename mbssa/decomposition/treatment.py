"""Corrections of the mobility count as data: dropped constraints, passive rotations, parts of 3 freedoms."""

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
    """Passive rotation: bodies that can rotate about a line while all others are at rest."""

    bodies: tuple[int, ...]  # indices: one, or several that rotate as one (a leg S-P-S)
    # point: (3,) m, on the line in the world as examined; None for random geometry
    point: tuple[float, ...] | None = None
    direction: tuple[float, ...] | None = None  # (3,) unit, likewise


@dataclass(frozen=True, slots=True)
class SpecialPart:
    """Bodies with three freedoms instead of six, and the joints among them and the frame."""

    kind: Literal["planar", "spherical"]
    bodies: tuple[int, ...]
    joints: tuple[int, ...]  # of which all others repeat these three units
    tree: tuple[int, ...]  # joints that constrain each body to the plane or the point once
    about: tuple[float, ...]  # normal of the plane, or the fixed point; world axes


@dataclass(frozen=True, eq=False)
class Treatment:
    """Treatment by which a mechanism that moves although the mobility count fails is decomposed."""

    units: Ints  # (J,) constraint units of each joint in the count, with drives
    freedom_of_body: Ints  # (N,) 0 for the frame
    dropped: tuple[Dropped, ...]  # constraints left out, in the order of the joints
    passive_rotations: tuple[PassiveRotation, ...]  # locked by convention: no body rotates about its line
    parts: tuple[SpecialPart, ...]  # planar and spherical, whose bodies count three freedoms
    basis: Literal["numeric", "generic"]  # the given geometry, or random geometry of the types
    precision: float = 0.0  # to which dropped constraints hold, lengths over the size; 0: but for rounding
