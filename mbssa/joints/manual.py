"""What a page on a joint type says besides the catalogue's columns: signs and zeros, and an example.

Signs are those of :mod:`mbssa.joints.equations` in words. An example is a joint of a model file with all the
geometry that the type needs; ``header`` makes a file of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from mbssa.joints.catalogue import JointType


@dataclass(frozen=True, slots=True)
class Manual:
    """Signs and zeros of a type's coordinates in words, and joints of a model file that show its geometry.

    ``bodies`` is how many bodies the example's file has, the frame among them.
    """

    signs: str
    example: str
    bodies: int = 2


def manual_of(row: JointType) -> Manual:
    """The manual's entry of a catalogue row.

    >>> from mbssa.joints import joint_type
    >>> manual_of(joint_type("P", "planar")).signs
    'slide: along the axis, of the second body against the first.'

    Raises
    ------
    KeyError
        The row has none.
    """
    return (_SPATIAL if row.space == "spatial" else _PLANAR)[row.code]


def example_file(row: JointType) -> str:
    """A whole model file, to be read as it stands, whose last joint is of this row.

    >>> from mbssa.joints import joint_type
    >>> print(example_file(joint_type("R", "planar")))
    format = 1
    space = "planar"
    bodies = 2
    <BLANKLINE>
    [[joint]]
    bodies = [1, 2]
    type = "R"
    point = [0.3, 0.1]
    """
    manual = manual_of(row)
    head = f'format = 1\nspace = "{row.space}"\nbodies = {manual.bodies}\n\n'
    return head + manual.example.strip()


_CARDAN = (
    "angle_x, angle_y, angle_z: Cardan angles of the second body's frame in the first's, turned about x, "
    "then the new y, then the new z, right-handed; angle_y within a quarter turn"
)
_LINE = (
    "azimuth: turns the line from the first point to the second about z of the first body's frame; "
    "elevation: lifts it towards that z; both zero where it points along x"
)
_CONTACTS = (
    "Points of the second body touch planes of the first, whose normals point to the second. The coordinates "
    "only count what is left free."
)

_USER = (
    "The coordinates only count what is left free. The function takes the poses of its bodies, in their "
    "order: in the plane q (bodies, 3) with rows x, y, angle; in space p (bodies, 3) and R (bodies, 3, 3); m "
    "and rad."
)


def _contacts(code: str, points: str, axes: str) -> Manual:
    example = f"""
[[joint]]
bodies = [1, 2]
type = "{code}"
points = {points}
axes = {axes}
"""
    return Manual(_CONTACTS, example)


_UP = "[0.0, 0.0, 1.0]"

_SPATIAL: dict[str, Manual] = {
    "R": Manual(
        "angle: of the second body against the first about the axis, right-handed.",
        """
[[joint]]
bodies = [1, 2]
type = "R"
point = [0.3, 0.1, 0.0]                     # any point of the axis
axis = [0.0, 0.0, 1.0]
limits = { angle = [-1.5, 1.5] }            # rad, or the file's unit; limits and at_reference may be left out
at_reference = { angle = 0.5 }              # 0 if not given
""",
    ),
    "P": Manual(
        "slide: along the axis, of the second body against the first.",
        """
[[joint]]
bodies = [1, 2]
type = "P"
axis = [1.0, 0.0, 0.0]
point = [0.3, 0.1, 0.0]                     # of the guide; for pictures and slides from a given place
limits = { slide = [0.0, 0.5] }
at_reference = { slide = 0.3 }              # 0 if not given
""",
    ),
    "H": Manual(
        "angle: about the axis, right-handed; the second body advances along it by pitch times angle, so "
        "that a positive pitch is a right-handed screw.",
        """
[[joint]]
bodies = [1, 2]
type = "H"
point = [0.3, 0.1, 0.0]
axis = [0.0, 0.0, 1.0]
pitch = 0.002                               # length unit per angle unit
""",
    ),
    "CPEP": _contacts(
        "CPEP",
        "[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.5], [1.0, 0.0, 0.5]]",
        f"[{_UP}, {_UP}, {_UP}, [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]",
    ),
    "C": Manual(
        "slide: along the axis; angle: about it, right-handed.",
        """
[[joint]]
bodies = [1, 2]
type = "C"
point = [0.3, 0.1, 0.0]
axis = [0.0, 0.0, 1.0]
""",
    ),
    "ER": Manual(
        "angle_1: about the first body's pin; angle_2: about the second's; right-handed. A ball whose pin "
        "runs in a slot: one rotation of three is held.",
        """
[[joint]]
bodies = [1, 2]
type = "ER"
point = [0.3, 0.1, 0.0]                     # the ball's centre
axes = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]   # of the first body and of the second, at right angles
""",
    ),
    "U": Manual(
        "angle_1: about the first body's pin; angle_2: about the second's; right-handed.",
        """
[[joint]]
bodies = [1, 2]
type = "U"
point = [0.3, 0.1, 0.0]                     # where the pins cross
axes = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]   # the pin on the first body, the pin on the second
# offsets = [0.01]                          # where the pins do not meet: their distance
""",
    ),
    "CTEP": _contacts(
        "CTEP",
        "[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.5]]",
        f"[{_UP}, {_UP}, {_UP}, [0.0, 1.0, 0.0]]",
    ),
    "S": Manual(
        _CARDAN + ".",
        """
[[joint]]
bodies = [1, 2]
type = "S"
point = [0.3, 0.1, 0.0]                     # the ball's centre
# axes = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]] # z and x of the frames that the angles are measured in
""",
    ),
    "PL": Manual(
        "slide_x, slide_y: of the second body along x and y of the first's frame, in the plane; angle: about "
        "the normal, right-handed.",
        """
[[joint]]
bodies = [1, 2]
type = "PL"
point = [0.3, 0.1, 0.0]
axis = [0.0, 0.0, 1.0]                      # the normal
""",
    ),
    "CR": Manual(
        "slide_x: along the first body's slot; slide_z: along the second body's pin; angle: about the pin, "
        "right-handed.",
        """
[[joint]]
bodies = [1, 2]
type = "CR"
point = [0.3, 0.1, 0.0]
axes = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]   # the slot on the first body, the pin on the second
""",
    ),
    "CTRP": _contacts(
        "CTRP", "[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]", f"[{_UP}, {_UP}, {_UP}]"
    ),
    "SC": Manual(
        "slide: of the ball's centre along the cylinder; " + _CARDAN + ".",
        """
[[joint]]
bodies = [1, 2]
type = "SC"
point = [0.3, 0.1, 0.0]                     # the ball's centre
axis = [0.0, 0.0, 1.0]                      # of the cylinder, on the first body
""",
    ),
    "PC": Manual(
        "slide_x, slide_y: of the cylinder's point over the plane, x along the cylinder at the reference; "
        "angle_z: about the plane's normal; angle_x: about the cylinder's axis; right-handed. The cylinder "
        "is on the side that the normal points to.",
        """
[[joint]]
bodies = [1, 2]
type = "PC"
point = [0.3, 0.1, 0.05]                    # of the cylinder's axis
axes = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]   # the plane's normal on the first body, the cylinder's axis
radius = 0.05                               # 0 if not given
""",
    ),
    "CBIP": _contacts("CBIP", "[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]", f"[{_UP}, {_UP}]"),
    "SP": Manual(
        "slide_x, slide_y: of the sphere's centre over the plane; "
        + _CARDAN
        + ". The sphere is on the side that "
        "the normal points to.",
        """
[[joint]]
bodies = [1, 2]
type = "SP"
point = [0.3, 0.1, 0.05]                    # the sphere's centre, on the second body
axis = [0.0, 0.0, 1.0]                      # the plane's normal, on the first body
radius = 0.05                               # 0 if not given
""",
    ),
    "SPSP": Manual(
        _LINE + "; " + _CARDAN + ".",
        """
[[joint]]
bodies = [1, 2]
type = "SPSP"
points = [[0.0, 0.0, 0.0], [0.3, 0.1, 0.4]] # the rod's ends, one on each body
# length = 0.5                              # the points' distance if not given
""",
    ),
    "F": Manual(
        "x, y, z: of the second body's point in the first's frame; " + _CARDAN + ".",
        """
[[joint]]
bodies = [1, 2]
type = "F"
point = [0.3, 0.1, 0.0]                     # of the second body; the origin of its frame if not given
""",
    ),
    "DIST": Manual(
        "distance: of the points, positive; " + _LINE + "; " + _CARDAN + ".",
        """
[[joint]]
bodies = [1, 2]
type = "DIST"
points = [[0.0, 0.0, 0.0], [0.3, 0.1, 0.4]] # one on each body
driven = ["distance"]
""",
    ),
    "BEVEL": Manual(
        "angle_1, angle_2: of each wheel about its own axis, right-handed, against the carrier: angle_1 + "
        "ratio x angle_2 = 0. The others only count what is left free.",
        """
[[joint]]                                   # the wheels' hinges
bodies = [1, 2]
type = "R"
point = [0.0, 0.0, 0.2]
axis = [0.0, 0.0, 1.0]

[[joint]]
bodies = [1, 3]
type = "R"
point = [0.1, 0.0, 0.0]
axis = [1.0, 0.0, 0.0]

[[joint]]
bodies = [2, 3, 1]                          # first wheel, second wheel, carrier (the frame if left out)
type = "BEVEL"
axes = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]   # the wheels', away from where they meet
ratio = 2.0
""",
        3,
    ),
    "USER": Manual(
        _USER,
        """
[[joint]]
bodies = [1, 2]
type = "P"
axis = [0.0, 0.0, 1.0]

[[joint]]
bodies = [1, 3]
type = "P"
axis = [0.0, 1.0, 1.0]

[[joint]]
bodies = [2, 3]                             # any number
type = "USER"
function = "my_constraints:same_height"     # def same_height(p, R): return p[0, 2] - p[1, 2]
unit = "m"
""",
        3,
    ),
}

_GEARS = (
    "angle_1, angle_2: of the first and the second wheel, counter-clockwise, against the carrier, or without "
    "one against the line of their centres: angle_1 + ratio x angle_2 = 0, so that the wheels turn in "
    "opposite senses where the ratio is positive and in one where it is negative (an internal mesh)."
)


def _gears(code: str) -> Manual:
    example = f"""
[[joint]]                                   # the wheels' hinges
bodies = [1, 2]
type = "R"
point = [0.0, 0.0]

[[joint]]
bodies = [1, 3]
type = "R"
point = [0.3, 0.0]

[[joint]]
bodies = [2, 3, 1]                          # first wheel, second wheel, carrier (may be left out)
type = "{code}"
points = [[0.0, 0.0], [0.3, 0.0]]           # the wheels' centres
ratio = 2.0
"""
    return Manual(_GEARS, example, 3)


_PLANAR: dict[str, Manual] = {
    "R": Manual(
        "angle: of the second body against the first, counter-clockwise.",
        """
[[joint]]
bodies = [1, 2]
type = "R"
point = [0.3, 0.1]
""",
    ),
    "P": Manual(
        "slide: along the axis, of the second body against the first.",
        """
[[joint]]
bodies = [1, 2]
type = "P"
axis = [1.0, 0.0]
point = [0.3, 0.1]                          # of the guide; for pictures and slides from a given place
limits = { slide = [0.0, 0.5] }             # limits and at_reference may be left out
at_reference = { slide = 0.3 }              # 0 if not given
""",
    ),
    "L": Manual(
        "angle: of the follower against the cam, counter-clockwise. A closed profile has its material "
        "inside; the gap between profile and follower is zero where they touch and positive where they are "
        "apart.",
        """
[[joint]]                                   # the cam turns
bodies = [1, 2]
type = "R"
point = [0.0, 0.0]

[[joint]]                                   # its follower slides
bodies = [1, 3]
type = "P"
axis = [1.0, 0.0]

[[joint]]
bodies = [2, 3]                             # the cam, the follower
type = "L"
profile = { circle = { radius = 0.05, centre = [0.02, 0.0] }, follower = "knife" }
points = [[0.0, 0.0], [0.07, 0.0]]          # the origin of the cam's profile, the follower's edge
""",
        3,
    ),
    "EO": _gears("EO"),
    "EPI": _gears("EPI"),
    "RP": Manual(
        "roll: angle of the wheel against the track, counter-clockwise, so that it turns backwards while it "
        "runs along the axis; lift: of the wheel off the track.",
        """
[[joint]]                                   # keeps the wheel on its track
bodies = [1, 2]
type = "RD"
point = [0.0, 0.05]
axis = [1.0, 0.0]
radius = 0.05

[[joint]]                                   # keeps it from slipping
bodies = [1, 2]                             # the track, the wheel
type = "RP"
point = [0.0, 0.05]                         # the wheel's centre
axis = [1.0, 0.0]                           # of the track; the wheel is on its left
radius = 0.05
""",
    ),
    "RD": Manual(
        "roll: angle of the wheel against the track, counter-clockwise; slide: of its centre along the axis.",
        """
[[joint]]
bodies = [1, 2]                             # the track, the wheel
type = "RD"
point = [0.0, 0.05]                         # the wheel's centre
axis = [1.0, 0.0]                           # of the track; the wheel is on its left
radius = 0.05
""",
    ),
    "FP": Manual(
        "x, y: of the second body's point in the first's frame; angle: counter-clockwise.",
        """
[[joint]]
bodies = [1, 2]
type = "FP"
point = [0.3, 0.1]                          # of the second body; the origin of its frame if not given
""",
    ),
    "SLOT": Manual(
        "slide: of the second body's pin along the first body's slot; angle: of the second body against the "
        "first, counter-clockwise.",
        """
[[joint]]
bodies = [1, 2]
type = "SLOT"
point = [0.3, 0.1]                          # the pin, on the second body
axis = [1.0, 0.0]                           # of the slot, on the first body
""",
    ),
    "ROD": Manual(
        "azimuth: of the rod in the first body's frame, from x, counter-clockwise; angle: of the second body "
        "against the first.",
        """
[[joint]]
bodies = [1, 2]
type = "ROD"
points = [[0.0, 0.0], [0.3, 0.4]]           # the rod's ends, one on each body
# length = 0.5                              # the points' distance if not given
""",
    ),
    "DIST": Manual(
        "distance: of the points, positive; azimuth: of the line from the first to the second in the first "
        "body's frame, from x, counter-clockwise; angle: of the second body against the first.",
        """
[[joint]]
bodies = [1, 2]
type = "DIST"
points = [[0.0, 0.0], [0.3, 0.4]]           # one on each body
driven = ["distance"]
""",
    ),
    "USER": Manual(
        _USER,
        """
[[joint]]
bodies = [1, 2]
type = "R"
point = [0.0, 0.0]

[[joint]]
bodies = [1, 3]
type = "R"
point = [0.3, 0.1]

[[joint]]
bodies = [2, 3]                             # any number
type = "USER"
function = "my_constraints:same_angle"      # def same_angle(q): return q[0, 2] - q[1, 2]
unit = "rad"
""",
        3,
    ),
}
