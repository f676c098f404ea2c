"""Catalogue of joint types: a row per (type, space), each from its file of :mod:`mbssa.joints.types`."""

# Codes, names and degrees of freedom: Table 3 of Celdran, Saura and Dopico, Mechanism and Machine Theory 176
# (2022) 104985. Rows with table3=False are additions of this project.

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Literal

from mbssa.joints.joint_type import FREEDOM, JointType, Space
from mbssa.joints.types import TYPES

if TYPE_CHECKING:
    from mbssa.mechanism import Mechanism

__all__ = [
    "CATALOGUE", "FREEDOM", "TYPE_ORDER", "JointType", "Space", "coordinate_unit", "joint_type", "register",
    "type_of_joint", "types_of",
]  # fmt: skip

#: Every row, spatial before planar; a joint stores its row's ``index``.
CATALOGUE: list[JointType] = []

#: The order in which a group's type name lists its pairs, as in ``1R1P1U1S3D``: Table 3's.
TYPE_ORDER: dict[str, int] = {
    code: place for place, code in enumerate(dict.fromkeys(row.code for row in TYPES))
}

_BY_KEY: dict[tuple[str, Space], JointType] = {}


def register(row: JointType) -> JointType:
    """Add a joint type at the end of the catalogue, for this process, and return it."""
    # A type that belongs to the package stands in mbssa.joints.types.TYPES, where this is not needed.
    name = f"joint type {row.code} ({row.space})"
    if (row.code, row.space) in _BY_KEY:
        raise ValueError(f"{name}: duplicate; choose another code")
    if row.pair is not None and row.relations is not None:
        raise ValueError(f"{name}: pair stands beside relations; give one or the other")
    object.__setattr__(row, "index", len(CATALOGUE))  # the one write to a frozen row
    CATALOGUE.append(row)
    _BY_KEY[row.code, row.space] = row
    TYPE_ORDER.setdefault(row.code, len(TYPE_ORDER))
    return row


for _row in sorted(TYPES, key=lambda row: row.space, reverse=True):
    register(_row)


def coordinate_unit(coordinate: str) -> Literal["m", "rad"]:
    """SI unit of a free coordinate, by its name alone or with its joint."""
    coordinate = coordinate.rpartition(".")[2]
    lengths = ("slide", "lift", "contact", "distance")
    return "m" if coordinate in ("x", "y", "z") or coordinate.startswith(lengths) else "rad"


def is_length(coordinate: str) -> bool:
    """Return whether a coordinate is in m, else it is in rad."""
    return coordinate_unit(coordinate) == "m"


def types_of(space: Space) -> tuple[JointType, ...]:
    """Rows of one space."""
    return tuple(row for row in CATALOGUE if row.space == space)


def type_of_joint(mechanism: Mechanism, joint: int) -> JointType:
    """Row of a joint, by its index."""
    return CATALOGUE[int(mechanism.joint_type[joint])]


def joint_type(code: str, space: Space) -> JointType:
    """Row of ``code`` in ``space``; a KeyError lists the codes."""
    row = _BY_KEY.get((code, space))
    if row is not None:
        return row
    other: Space = "spatial" if space == "planar" else "planar"
    codes = ", ".join(row.code for row in types_of(space))
    words = str(code).lower().split()
    there = _BY_KEY.get((code, other))
    rolling = {"roll", "rolling"} & set(words) and "sliding" not in words
    if (rolling or (there is not None and there.rolls)) and space == "spatial":
        raise KeyError(
            "pure rolling in space is non-integrable (nonholonomic): it binds velocities alone, so that no "
            "equation of positions says it; a planar model takes RP, and wheels on fixed axes of a carrier "
            "are a BEVEL"
        )
    if there is not None:
        raise KeyError(
            f"type {code!r} ({there.name}) exists only in {other} mechanisms; a {space} one takes {codes}"
        )
    # Codes first, then full names, so that "revolute" or "spherical" find their row too.
    wanted = str(code)
    near = difflib.get_close_matches(wanted.upper(), [row.code for row in types_of(space)], n=3, cutoff=0.5)
    by_name = {row.name.lower(): row.code for row in types_of(space)}
    near += map(by_name.__getitem__, difflib.get_close_matches(wanted.lower(), by_name, n=2, cutoff=0.6))
    hint = f"did you mean {' or '.join(map(repr, dict.fromkeys(near)))}? " if near else ""
    raise KeyError(f"{code!r} is not a joint type; {hint}{space} types are {codes}")
