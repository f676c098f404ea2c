"""Blocks that several joint types are made of: elementary equations, motions, frames, words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mbssa.arrays import Floats
from mbssa.joints.axes import axes_of, cross, in_space, unit
from mbssa.joints.equations import Elementary, Named, Step

if TYPE_CHECKING:
    from mbssa.joints.geometry import JointGeometry
    from mbssa.joints.joint_type import Frame

# --- equations and motions -------------------------------------------------------------------------

ANGLE = Elementary("turn", (1, 0, 0, 0))
X, Y, Z = (Elementary("along", (axis,)) for axis in range(3))
AZIMUTH, ELEVATION, DISTANCE = (Elementary(kind) for kind in ("azimuth", "elevation", "distance"))
HEIGHT: Named = (("height", Elementary("along", (2,), parameter="radius")),)
LENGTH: Named = (("length", Elementary("distance", parameter="length")),)
ACROSS: Named = (("position x", X), ("position y", Y))
POSITION: Named = (*ACROSS, ("position z", Z))
ALIGNED: Named = (("tilt x", Elementary("cosine", (0, 2))), ("tilt y", Elementary("cosine", (1, 2))))
TURN: Named = (("turn", Elementary("cosine", (0, 1))),)
UPRIGHT: Named = (("angle between the axes", Elementary("cosine", (2, 2))),)

#: C = Rx(angle_x) Ry(angle_y) Rz(angle_z).
CARDAN = (
    Elementary("turn", (1, 2, 2, 2), -1.0),
    Elementary("cardan"),
    Elementary("turn", (0, 1, 0, 0), -1.0),
)

#: About z of A and about z of B, zero where z of B is x of A and x of B is z of A.
CROSS = (Elementary("turn", (1, 2, 0, 2)), Elementary("turn", (2, 1, 2, 0), -1.0))

#: z of A and of B point the same way.
SAME_SENSE = ((2, 2),)


def steps(motions: str) -> tuple[Step, ...]:
    """Steps of the motions from A to B in words, such as ``Rz0 Tz0*pitch``."""
    # ``Tz0``: along z by coordinate 0; ``Ry-1``: about y by minus coordinate 1; ``Tz0*pitch``: by a parameter
    # times a coordinate; ``Txlength``: by a parameter; ``swap`` of z and x.
    found = []
    for motion in motions.split():
        if motion == "swap":
            found.append(Step("swap"))
            continue
        axis, rest = "xyz".index(motion[1]), motion[2:]
        number, _, factor = rest.lstrip("-").partition("*")
        by = (int(number), factor or (-1.0 if rest[0] == "-" else 1.0)) if number.isdigit() else (None, rest)
        found.append(Step("turn" if motion[0] == "R" else "shift", axis, *by))
    return tuple(found)


# --- frames in the world at the reference ----------------------------------------------------------


def point_of(g: JointGeometry, default: Floats | None = None) -> Floats:
    """The geometry's point (3,), or another one where it has none."""
    if g.point is not None:
        return in_space(g.point)
    return np.zeros(3) if default is None else default


def on_axis(g: JointGeometry, _: Floats, parameters: Mapping[str, Any]) -> tuple[Frame, Frame]:
    """Frames in the point, z along the axis; A a radius below."""
    assert g.axis is not None
    point, axis = point_of(g), unit(g.axis)
    return (point - parameters["radius"] * axis, axes_of(axis)), (point, axes_of(axis))


def in_point(
    g: JointGeometry, second: Floats, _: Mapping[str, Any], z: int = 0, x: int = 1
) -> tuple[Frame, Frame]:
    """Frames in the point, or in the second body's origin; z and x are these of the axes, or the world's."""
    axes = g.axes or ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0))
    frame = point_of(g, second), axes_of(axes[z], axes[x])
    return frame, frame


def on_flat_axis(g: JointGeometry, _: Floats, __: Mapping[str, Any]) -> tuple[Frame, Frame]:
    """Frames in the point in the plane, x along the axis, or along x of the world without one."""
    frame = point_of(g), axes_of(x=in_space(g.axis) if g.axis is not None else np.eye(3)[0])
    return frame, frame


def on_crossed_axes(g: JointGeometry, _: Floats, parameters: Mapping[str, Any]) -> tuple[Frame, Frame]:
    """Frames with z along the axes; A off by the offset along both axes' normal, and by the radius."""
    assert g.axes is not None
    point, (a, b) = point_of(g), (unit(axis) for axis in g.axes)
    shift = parameters["offset"] * cross(a, b) + parameters["radius"] * a
    return (point - shift, axes_of(a, b)), (point, axes_of(b, a))


def on_line(g: JointGeometry, _: Floats, __: Mapping[str, Any]) -> tuple[Frame, Frame]:
    """Frames in the two points, x along the line between them."""
    assert g.points is not None
    ends = [in_space(point) for point in g.points]
    along = ends[1] - ends[0]
    if len(g.points[0]) == 2:
        axes = axes_of(x=along)
    else:
        x = unit(along)
        z = np.eye(3)[np.argmin(np.abs(x))]
        z = unit(z - (z @ x) * x)
        axes = np.stack([x, cross(z, x), z], axis=1)
    return (ends[0], axes), (ends[1], axes)


def on_track(g: JointGeometry, _: Floats, parameters: Mapping[str, Any]) -> tuple[Frame, Frame]:
    """A on a straight track, x along it; B in the centre of a wheel on the side of +y."""
    track, centre = axes_of(x=in_space(g.axis or (1.0, 0.0))), point_of(g)
    return (centre - parameters["radius"] * track[:, 1], track), (centre, track)


# --- words -----------------------------------------------------------------------------------------

CARDAN_SIGNS = (
    "angle_x, angle_y, angle_z: Cardan angles of the second body's frame in the first's, turned about x, "
    "then the new y, then the new z, right-handed; angle_y within a quarter turn"
)
LINE_SIGNS = (
    "azimuth: turns the line from the first point to the second about z of the first body's frame; "
    "elevation: lifts it towards that z; both zero where it points along x"
)
