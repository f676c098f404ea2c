"""The catalogue of kinematic pairs: one row per (type, space).

Codes, names and grades are those of Table 3 of Celdran, Saura and Dopico, *Mechanism and Machine
Theory* 176 (2022) 104985. A row's ``coordinates`` are its free coordinates in the order in which a
bare count of driven coordinates takes them. Rows with ``table3=False`` are additions of this project.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field, replace
from typing import Literal

Space = Literal["planar", "spatial"]

#: Units of freedom of a free body: B of Eq. (2).
FREEDOM: dict[Space, int] = {"planar": 3, "spatial": 6}


@dataclass(frozen=True, slots=True)
class JointType:
    """One row of the catalogue.

    ``grade`` is k, the number of free coordinates (Table 3). ``required`` and ``optional`` name the
    geometry fields of a model file that the row reads; a joint without any of them has no geometry.
    ``max_bodies`` is 2 but for the relations that also read a carrier. ``method`` is what
    :class:`mbssa.Builder` calls the type, the same word in both spaces where both have it.
    """

    code: str
    space: Space
    name: str
    grade: int
    coordinates: tuple[str, ...]
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    max_bodies: int = 2
    table3: bool = True
    note: str = ""
    method: str = ""
    index: int = field(default=-1, compare=False)

    @property
    def may_be_multiple(self) -> bool:
        """Whether several bodies may share the joint: its motions form a group, so pairs say it all.

        (Hervé's displacement subgroups: R, P, C, S, PL and their planar kin.)
        """
        return self.code in ("R", "P", "C", "S", "PL")

    @property
    def equations(self) -> int:
        """Constraint equations of the undriven joint, e_k = B - k of Eq. (2)."""
        return FREEDOM[self.space] - self.grade


_MEASURE = "binds nothing: between one point of each body; driven by its distance, a strut that extends"
_USER_NOTE = "function of the poses of its bodies, zero where the constraint holds; one equation a joint"
_CONTACT = "points axes"
_CONTACT_NOTE = "point contacts: a point and its plane's normal for each"


def _row(
    code: str,
    name: str,
    coordinates: str,
    required: str = "",
    optional: str = "",
    note: str = "",
    *,
    method: str = "",
    max_bodies: int = 2,
    table3: bool = True,
) -> JointType:
    """A row; its method is its name unless the field has another word for it."""
    free = tuple(coordinates.split())
    fields = tuple(required.split()), tuple(optional.split())
    word = method or re.sub(r"\W+", "_", name.lower())
    return JointType(code, "spatial", name, len(free), free, *fields, max_bodies, table3, note, word)


_SPATIAL = (
    _row("R", "Revolution", "angle", "point axis", method="revolute"),
    _row("P", "Prismatic", "slide", "axis", "point"),
    _row("H", "Helicoidal", "angle", "point axis pitch", note="slide = pitch x angle", method="helical"),
    _row("CPEP", "Penta Punctual Contact", "motion", _CONTACT, note=_CONTACT_NOTE),
    _row("C", "Cylindrical", "slide angle", "point axis"),
    _row("ER", "Slotted Spherical", "angle_1 angle_2", "point axes", note="a U in kinematic terms"),
    _row("U", "Universal", "angle_1 angle_2", "point axes", "offsets"),
    _row("CTEP", "Tetra Punctual Contact", "motion_1 motion_2", _CONTACT, note=_CONTACT_NOTE),
    _row("S", "Spheric", "angle_x angle_y angle_z", "point", "axes", method="spherical"),
    _row("PL", "Planar", "slide_x slide_y angle", "point axis", note="axis: the normal"),
    _row(
        "CR",
        "Slotted Cylindrical",
        "slide_x slide_z angle",
        "point axes",
        note="axes: the slot's direction on the first body, the pin's axis on the second",
    ),
    _row("CTRP", "Tri Punctual Contact", "slide_x slide_y angle", _CONTACT, note=_CONTACT_NOTE),
    _row(
        "SC",
        "Sphere-Cylinder",
        "slide angle_x angle_y angle_z",
        "point axis",
        note="axis: the cylinder's, on the first body",
    ),
    _row(
        "PC",
        "Plane-Cylinder",
        "slide_x slide_y angle_x angle_z",
        "point axes",
        "radius",
        "axes: the plane's normal on the first body, the cylinder's axis on the second",
    ),
    _row(
        "CBIP",
        "Bi Punctual Contact",
        "slide_x slide_y angle_x angle_z",
        _CONTACT,
        note=_CONTACT_NOTE,
    ),
    _row(
        "SP",
        "Sphere-Plane",
        "slide_x slide_y angle_x angle_y angle_z",
        "point axis",
        "radius",
        "axis: the plane's normal, on the first body; the sphere is on the second",
    ),
    _row(
        "SPSP",
        "Sphere-Sphere",
        "azimuth elevation angle_x angle_y angle_z",
        "points",
        "length",
        "a rod of constant length between one point of each body",
    ),
    _row("F", "Free body Spatial", "x y z angle_x angle_y angle_z", "", "point", method="free_body"),
    _row(
        "DIST",
        "Distance Measure",
        "distance azimuth elevation angle_x angle_y angle_z",
        "points",
        note=_MEASURE,
        table3=False,
    ),
    _row(
        "BEVEL",
        "Gear on any two axes",
        "angle_1 angle_2 other_1 other_2 other_3",
        "axes ratio",
        "points",
        "first and second wheel, then the carrier (the frame if not given); axes: the wheels', away from "
        "where they meet; ratio r2/r1, or of the numbers of teeth, negative for an internal mesh",
        max_bodies=3,
        table3=False,
        method="bevel_gear",
    ),
    _row(
        "USER",
        "User's constraint",
        "other_1 other_2 other_3 other_4 other_5",
        "function",
        "derivative unit",
        _USER_NOTE,
        max_bodies=100,
        table3=False,
        method="user_constraint",
    ),
)

_GEARS = "first and second wheel, then the carrier if given; ratio r2/r1, negative for an internal mesh"

_PLANAR = (
    _row("R", "Revolution", "angle", "point", method="revolute"),
    _row("P", "Prismatic", "slide", "axis", "point"),
    _row(
        "L",
        "Cam/point-curve/curve-curve",
        "contact angle",
        "profile points",
        "axes",
        "points: origin of the cam's profile, on the first body, and the follower's, on the second: centre "
        "of the roller, tip of the knife edge, point of the flat face; axes: x of the profile, and along "
        "the face with the cam on its right",
        method="cam",
    ),
    _row("EO", "Ordinary Gear", "angle_1 angle_2", "points ratio", note=_GEARS, max_bodies=3),
    _row("EPI", "Epicyclic Gear", "angle_1 angle_2", "points ratio", note=_GEARS, max_bodies=3),
    _row(
        "RP",
        "Pure Rolling",
        "roll lift",
        "point axis radius",
        note="a straight track along the axis on the first body, a wheel on the second, on the axis's left; "
        "point: the wheel's centre. It binds the rolled way alone: what keeps the wheel on its track is an "
        "RD, or bearings",
    ),
    _row(
        "RD",
        "Sliding Rolling",
        "roll slide",
        "point axis radius",
        note="touching alone, of the track and the wheel that an RP has; rolling and sliding are free",
        method="rolling_with_slip",
    ),
    _row("FP", "Free body Plane", "x y angle", "", "point", method="free_body"),
    _row(
        "SLOT",
        "Pin in slot",
        "slide angle",
        "point axis",
        note="axis: the slot's direction, on the first body; the pin is on the second",
        table3=False,
    ),
    _row(
        "ROD",
        "Massless rod",
        "azimuth angle",
        "points",
        "length",
        "constant distance between one point of each body",
        table3=False,
        method="rod",
    ),
    _row("DIST", "Distance Measure", "distance azimuth angle", "points", note=_MEASURE, table3=False),
    _row(
        "USER",
        "User's constraint",
        "other_1 other_2",
        "function",
        "derivative unit",
        _USER_NOTE,
        max_bodies=100,
        table3=False,
        method="user_constraint",
    ),
)

_ROWS: dict[Space, tuple[JointType, ...]] = {"spatial": _SPATIAL, "planar": _PLANAR}

#: Every row, spatial before planar; a joint stores its row's ``index``.
CATALOGUE: tuple[JointType, ...] = tuple(
    replace(row, space=space, index=index)
    for index, (space, row) in enumerate((space, row) for space, rows in _ROWS.items() for row in rows)
)

_BY_KEY = {(row.code, row.space): row for row in CATALOGUE}

#: The order in which a group's type name lists its pairs, as in ``1R1P1U1S3D``: Table 3's.
_TABLE3 = "R P H CPEP C ER U L EO EPI CTEP RP RD S PL CR CTRP FP SC PC CBIP SP SPSP F"
TYPE_ORDER: dict[str, int] = {
    code: place for place, code in enumerate(f"{_TABLE3} SLOT ROD DIST BEVEL USER".split())
}


def coordinate_unit(coordinate: str) -> Literal["m", "rad"]:
    """SI unit of a free coordinate, by its name.

    >>> coordinate_unit("slide"), coordinate_unit("angle_2")
    ('m', 'rad')
    """
    lengths = ("slide", "lift", "contact", "distance")
    return "m" if coordinate in ("x", "y", "z") or coordinate.startswith(lengths) else "rad"


def types_of(space: Space) -> tuple[JointType, ...]:
    """Rows of one space.

    >>> [row.code for row in types_of("planar")]
    ['R', 'P', 'L', 'EO', 'EPI', 'RP', 'RD', 'FP', 'SLOT', 'ROD', 'DIST', 'USER']
    """
    return tuple(row for row in CATALOGUE if row.space == space)


def joint_type(code: str, space: Space) -> JointType:
    """The row of ``code`` in ``space``.

    >>> joint_type("U", "spatial").coordinates
    ('angle_1', 'angle_2')

    Raises
    ------
    KeyError
        With a sentence that says what to write instead.
    """
    row = _BY_KEY.get((code, space))
    if row is not None:
        return row
    other: Space = "spatial" if space == "planar" else "planar"
    codes = ", ".join(row.code for row in types_of(space))
    words = str(code).lower().split()
    rolls = code == "RP" or ({"roll", "rolling"} & set(words) and "sliding" not in words)
    if rolls and space == "spatial":
        raise KeyError(
            "pure rolling in space is non-integrable (nonholonomic): it binds velocities alone, so that no "
            "equation of positions says it; a planar model takes RP, and wheels on fixed axes of a carrier "
            "are a BEVEL"
        )
    if (code, other) in _BY_KEY:
        raise KeyError(
            f"type {code!r} ({_BY_KEY[code, other].name}) exists only in {other} mechanisms; "
            f"a {space} one takes {codes}"
        )
    # Codes first, then full names, so that "revolute" or "spherical" find their row too.
    wanted = str(code)
    near = difflib.get_close_matches(wanted.upper(), [row.code for row in types_of(space)], n=3, cutoff=0.5)
    by_name = {row.name.lower(): row.code for row in types_of(space)}
    near += [
        by_name[name]
        for name in difflib.get_close_matches(wanted.lower(), by_name, n=2, cutoff=0.6)
        if by_name[name] not in near
    ]
    hint = f"did you mean {' or '.join(repr(n) for n in near)}? " if near else ""
    raise KeyError(f"{code!r} is not a joint type; {hint}{space} types are {codes}")
