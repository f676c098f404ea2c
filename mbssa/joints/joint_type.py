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
    """One row of the catalogue, made by one file of :mod:`mbssa.joints.types`.

    A type has either ``pair``, equations on the relative pose of two frames that ``frames`` places (by
    default in the point, along the axis), or ``relations`` of its bodies; one with neither can be counted,
    not solved. Attributes after ``index`` are traits, on which other modules branch instead of the code.

    Attributes
    ----------
    code, space, name : as in Table 3 of Celdran, Saura and Dopico 2022; ``table3`` is False for additions
    coordinates : free coordinates, in the order in which a bare count of driven coordinates takes them
    required, optional : geometry fields of a model file; a joint without any of them has no geometry
    max_bodies : 2 but for relations that also read a carrier or any number of bodies
    method : name of the type in :class:`mbssa.Builder`, the same word in both spaces; from ``name`` if empty
    signs : signs and zeros of the coordinates in words
    example : geometry fields of a joint of bodies 1 and 2, or joints of a model file, the last of this type
    driven_in : coordinates that have equations, where not all have
    axis : column of the frames' axes that is the joint's axis; None for a type without one
    guide : column of the first frame's axes along which the second body slides, for pictures
    is_ball : one point of each body in one place, all rotations of the space free
    is_hinge : rotation about one axis alone
    is_bearing : rotation about z by a coordinate ``angle``, as of a wheel on its axle
    slides : a slide that a tree of joints prefers to a hinge
    telescopes : a guide that may be drawn as a rod in a tube, and that a rod's line is followed through
    is_plane : the bodies keep one plane
    is_universal : two pins that cross; ``pins_from_rod`` : their directions may be left to the rod
    line : a line from a point of each body, of constant length ("rod") or measured ("distance")
    spin : lets a body turn idly about any line through its point ("any") or about its own axis ("axis")
    is_contact : the bodies touch in points or lines, and can part
    ends : the limits of its coordinates are where it ends, as those of every contact are
    gap : how the names of its constraints begin that are positive where the bodies are apart; or empty
    contacts : points of the second body on planes of the first
    is_gear : wheels on bearings; ``rolls`` : rolling without slip on a track, which binds velocities along it
    is_coupling : it relates coordinates of two other joints, linearly, and has their frames
    may_be_multiple : its motions form a group (Hervé: R, P, C, S, PL), so several bodies may share the joint
    sided : its two bodies are distinct: no symmetry exchanges them
    releases : types with more freedom, each with the constraints that the change gives up
    symbol, fill : marker and colour of the symbol; ``axle`` : with its axis, in space
    solid : body that stands for the joint in the viewer: axle, cross, ball, plate or rider; else a diamond
    wheels : how the radii of its wheels are found: gear, bevel or track; or empty
    """

    code: str
    space: Space
    name: str
    coordinates: tuple[str, ...]
    signs: str
    example: str
    method: str = ""
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    max_bodies: int = 2
    table3: bool = True
    note: str = ""
    pair: Equations | None = None
    frames: Placing | None = None
    relations: Relating | None = None
    driven_in: tuple[str, ...] | None = None
    index: int = field(default=-1, compare=False)

    axis: int | None = 2
    guide: int | None = None
    is_ball: bool = False
    is_hinge: bool = False
    is_bearing: bool = False
    slides: bool = False
    telescopes: bool = False
    is_plane: bool = False
    is_universal: bool = False
    pins_from_rod: bool = False
    line: Literal["", "rod", "distance"] = ""
    spin: Literal["", "any", "axis"] = ""
    is_contact: bool = False
    ends: bool = False
    gap: str = ""
    contacts: int = 0
    is_gear: bool = False
    rolls: bool = False
    is_coupling: bool = False
    may_be_multiple: bool = False
    sided: bool = False
    releases: tuple[tuple[str, tuple[str, ...]], ...] = ()
    symbol: str = "d"
    fill: Literal["none", "half", "full"] = "none"
    axle: bool = False
    solid: Literal["", "axle", "cross", "ball", "plate", "rider"] = ""
    wheels: Literal["", "gear", "bevel", "track"] = ""

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
        """True if it binds nothing and places its second body."""
        return self.pair is not None and not self.pair.constraints and not self.line

    @property
    def has_square_axes(self) -> bool:
        """True if a file gives two axes at right angles."""
        return self.pair is not None and "axes" in self.required

    @property
    def has_equations(self) -> bool:
        """True if its joints have equations, once they have geometry."""
        return self.pair is not None or self.relations is not None

    @property
    def drivable(self) -> tuple[str, ...]:
        """Coordinates that have equations, so that a joint with geometry can be driven in them.

        >>> from mbssa.joints import joint_type
        >>> joint_type("L", "planar").drivable
        ('angle',)
        """
        return self.coordinates if self.driven_in is None else self.driven_in

    @property
    def couplable(self) -> tuple[str, ...]:
        """Coordinates that a coupling may name: slides, distances, and angles about an axis.

        Of the angles of a ball the middle one, and those of a line, jump where the others pass.

        >>> from mbssa.joints import joint_type
        >>> joint_type("C", "spatial").couplable, joint_type("DIST", "planar").couplable
        (('slide', 'angle'), ('distance', 'angle'))
        """
        if self.pair is None:
            return ()
        named = zip(self.coordinates, self.pair.coordinates, strict=True)
        return tuple(name for name, e in named if e.kind in ("along", "turn", "distance"))

    @property
    def takes_frames(self) -> bool:
        """True if a file may give a frame on each body instead of points and axes in the world."""
        return not self.contacts and bool({*SHORTHAND} & {*self.required, *self.optional})

    @property
    def example_file(self) -> str:
        """A whole model file, to be read as it stands, whose last joint is of this type.

        >>> from mbssa.joints import joint_type
        >>> print(joint_type("R", "planar").example_file)
        format = 1
        space = "planar"
        bodies = 2
        <BLANKLINE>
        [[joint]]
        bodies = [1, 2]
        type = "R"
        point = [0.3, 0.1]
        """
        joints = self.example.strip()
        if not joints.startswith("[[joint]]"):
            joints = f'[[joint]]\nbodies = [1, 2]\ntype = "{self.code}"\n{joints}'
        named = re.findall(r"^bodies = \[(.*?)\]", joints, re.MULTILINE)
        n_bodies = max(int(number) for numbers in named for number in numbers.split(","))
        narrow = "\n".join(map(_narrow, joints.splitlines()))
        return f'format = 1\nspace = "{self.space}"\nbodies = {n_bodies}\n\n{narrow}'


def _narrow(line: str) -> str:
    """A line of an example; in front of a long one goes the comment that ends it."""
    entry, mark, comment = line.partition("  #")
    return f"#{comment}\n{entry.rstrip()}" if mark and len(line) > _WIDTH else line
