"""A joint type: everything that the packages read of one kind of kinematic pair, as one value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from mbssa.arrays import Floats

if TYPE_CHECKING:
    from mbssa.joints.equations import Equations
    from mbssa.joints.geometry import JointGeometry
    from mbssa.joints.poses import Poses
    from mbssa.joints.relations import JointRelations, PairFrames

Space = Literal["planar", "spatial"]

#: Units of freedom of a free body: B of Eq. (2).
FREEDOM: dict[Space, int] = {"planar": 3, "spatial": 6}

#: Geometry in world coordinates at the reference configuration, in place of a frame on each body.
SHORTHAND = ("point", "points", "axis", "axes")

#: Columns of a terminal: longer lines of an example have their comment in front.
_WIDTH = 80

#: A frame in the world: origin (3,) and rotation (3, 3), axes as columns.
Frame = tuple[Floats, Floats]

#: Frames A and B in the world from a geometry, the origin of the second body and the joint's parameters.
Placing = Callable[["JointGeometry", Floats, Mapping[str, Any]], tuple[Frame, Frame]]

#: Relations from indices of the bodies, a geometry and the reference poses; and frames on two bodies.
Relating = Callable[[tuple[int, ...], "JointGeometry", "Poses"], tuple["JointRelations", "PairFrames"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class JointType:
    """Row of the catalogue, from one file of :mod:`mbssa.joints.types`; fields after ``index`` are traits."""

    # Either ``pair``, equations on the relative pose of two frames that ``frames`` places (by default in the
    # point, along the axis), or ``relations`` of its bodies; a type with neither can be counted, not solved.
    # Other modules branch on traits instead of the code.

    code: str
    space: Space
    name: str
    # coordinates: free ones, in the order in which a bare count of driven coordinates takes them
    coordinates: tuple[str, ...]
    signs: str  # and zeros of the coordinates, in words
    # example: geometry fields of a joint of bodies 1 and 2, or joints of a model file, the last of this type
    example: str
    method: str = ""  # name in mbssa.Builder, the same word in both spaces; from ``name`` if empty
    required: tuple[str, ...] = ()  # geometry fields of a model file
    optional: tuple[str, ...] = ()  # likewise; a joint without any of both has no geometry
    max_bodies: int = 2  # 2 but for relations that also read a carrier or any number of bodies
    table3: bool = True  # False for additions to Table 3 of Celdran, Saura and Dopico 2022
    note: str = ""
    pair: Equations | None = None
    frames: Placing | None = None
    relations: Relating | None = None
    driven_in: tuple[str, ...] | None = None  # coordinates that have equations, where not all have
    index: int = field(default=-1, compare=False)

    axis: int | None = 2  # column of the frames' axes that is the joint's axis; None for a type without one
    # guide: column of the first frame's axes along which the second body slides, for pictures
    guide: int | None = None
    is_ball: bool = False  # one point of each body in one place, all rotations of the space free
    is_hinge: bool = False  # rotation about one axis alone
    is_bearing: bool = False  # rotation about z by a coordinate ``angle``, as of a wheel on its axle
    slides: bool = False  # a slide that a tree of joints prefers to a hinge
    telescopes: bool = False  # a guide drawn as a rod in a tube, that a rod's line is followed through
    is_plane: bool = False  # the bodies keep one plane
    is_universal: bool = False  # two pins that cross
    pins_from_rod: bool = False  # directions of the pins may be left to the rod
    line: Literal["", "rod", "distance"] = ""  # from a point of each body, of constant length or measured
    # spin: lets a body rotate passively about any line through its point, or about its own axis
    spin: Literal["", "any", "axis"] = ""
    is_contact: bool = False  # the bodies touch in points or lines, and can part
    ends: bool = False  # limits of its coordinates are where it ends, as those of every contact are
    gap: str = ""  # beginning of the names of its constraints that are positive where the bodies are apart
    contacts: int = 0  # points of the second body on planes of the first
    is_gear: bool = False  # wheels on bearings
    rolls: bool = False  # without slip on a track, which binds velocities along it
    is_coupling: bool = False  # relates coordinates of two other joints, linearly, and has their frames
    # may_be_multiple: its motions form a group (Hervé: R, P, C, S, PL): several bodies may share the joint
    may_be_multiple: bool = False
    sided: bool = False  # its two bodies are distinct: no symmetry exchanges them
    # releases: types with more freedom, each with the constraints that the change gives up
    releases: tuple[tuple[str, tuple[str, ...]], ...] = ()
    symbol: str = "d"  # marker of the joint in pictures
    fill: Literal["none", "half", "full"] = "none"  # colour of the marker
    axle: bool = False  # drawn with its axis, in space
    # solid: body that stands for the joint in the viewer; else a diamond
    solid: Literal["", "axle", "cross", "ball", "plate", "rider"] = ""
    wheels: Literal["", "gear", "bevel", "track"] = ""  # how the radii of its wheels are found

    def __post_init__(self) -> None:
        if not self.method:
            object.__setattr__(self, "method", re.sub(r"\W+", "_", self.name.lower()))

    @property
    def grade(self) -> int:
        """Joint degrees of freedom, k of Table 3."""
        return len(self.coordinates)

    @property
    def equations(self) -> int:
        """Constraint equations of the undriven joint, e_k = B - k of Eq. (2)."""
        return FREEDOM[self.space] - self.grade

    @property
    def is_slider(self) -> bool:
        """Translation along one axis alone."""
        return self.coordinates == ("slide",)

    @property
    def is_free(self) -> bool:
        """Return whether it binds nothing and places its second body."""
        return self.pair is not None and not self.pair.constraints and not self.line

    @property
    def has_square_axes(self) -> bool:
        """Return whether a file gives two axes at right angles."""
        return self.pair is not None and "axes" in self.required

    @property
    def has_equations(self) -> bool:
        """Return whether its joints have equations, once they have geometry."""
        return self.pair is not None or self.relations is not None

    @property
    def drivable(self) -> tuple[str, ...]:
        """Coordinates that have equations, so that a joint with geometry can be driven in them."""
        return self.coordinates if self.driven_in is None else self.driven_in

    @property
    def couplable(self) -> tuple[str, ...]:
        """Coordinates that a coupling may name: slides, distances, and angles about an axis."""
        # Of the angles of a ball the middle one, and those of a line, jump where the others pass.
        if self.pair is None:
            return ()
        named = zip(self.coordinates, self.pair.coordinates, strict=True)
        return tuple(name for name, e in named if e.kind in ("along", "turn", "distance"))

    @property
    def takes_frames(self) -> bool:
        """Return whether a file may give a frame on each body instead of points and axes in the world."""
        return not self.contacts and bool({*SHORTHAND} & {*self.required, *self.optional})

    @property
    def example_file(self) -> str:
        """Model file, to be read as it stands, whose last joint is of this type."""
        joints = self.example.strip()
        if not joints.startswith("[[joint]]"):
            joints = f'[[joint]]\nbodies = [1, 2]\ntype = "{self.code}"\n{joints}'
        named = re.findall(r"^bodies = \[(.*?)\]", joints, re.MULTILINE)
        n_bodies = max(int(number) for numbers in named for number in numbers.split(","))
        # The comment that ends a long line goes in front of it.
        long = rf"^(?=.{{{_WIDTH + 1}}})(.*?) *  #(.*)$"
        narrow = re.sub(long, r"#\2\n\1", joints, flags=re.MULTILINE)
        return f'format = 1\nspace = "{self.space}"\nbodies = {n_bodies}\n\n{narrow}'
