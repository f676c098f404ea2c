"""Joints of robot descriptions, by the codes of the catalogue's types."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """Kinds of joints; the last leaves no joint: its links are one body."""

    REVOLUTE = "R"
    PRISMATIC = "P"
    SCREW = "H"
    BALL = "S"
    UNIVERSAL = "U"
    PLANAR = "PL"
    FREE = "F"
    FIXED = "FIXED"


#: The types of wheels on a carrier, and of a joint that follows another.
GEAR, COUPLING = "BEVEL", "COUPLING"

#: The coordinate of the joints that limits bound and motors drive.
COORDINATE = {Kind.REVOLUTE: "angle", Kind.PRISMATIC: "slide"}
