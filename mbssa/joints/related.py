"""Relations of the joints of a mechanism, from what a model file gives of their geometry."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mbssa.joints import relations as make
from mbssa.joints.axes import axes_of, in_space
from mbssa.joints.catalogue import JointType
from mbssa.joints.equations import equations_of
from mbssa.joints.relations import JointRelations, PairFrames, Poses
from mbssa.mechanism import JointGeometry

Array = npt.NDArray[np.float64]

#: Coordinates that can be driven, by the types that are made of relations.
RELATED: dict[str, tuple[str, ...]] = {
    "EO": ("angle_1", "angle_2"),
    "EPI": ("angle_1", "angle_2"),
    "BEVEL": ("angle_1", "angle_2"),
    "RP": ("roll", "lift"),
    "L": ("angle",),
    "CBIP": (),
    "CTRP": (),
    "CTEP": (),
    "CPEP": (),
    "USER": (),
}

#: Types whose points touch planes.
POINT_CONTACTS = {"CBIP": 2, "CTRP": 3, "CTEP": 4, "CPEP": 5}


def has_equations(row: JointType) -> bool:
    """Whether the joints of a catalogue row have equations, once they have geometry.

    >>> from mbssa.joints import CATALOGUE
    >>> all(has_equations(row) for row in CATALOGUE)
    True
    """
    return equations_of(row) is not None or row.code in RELATED


def drivable(row: JointType) -> tuple[str, ...]:
    """Coordinates of a row that have equations, so that a joint with geometry can be driven in them.

    >>> from mbssa.joints import joint_type
    >>> drivable(joint_type("L", "planar"))
    ('angle',)
    """
    return RELATED.get(row.code, row.coordinates)


def joint_relations(
    row: JointType, bodies: tuple[int, ...], geometry: JointGeometry, poses: Poses
) -> tuple[JointRelations, PairFrames]:
    """Relations of one joint, and where it sits on its first two bodies.

    Parameters
    ----------
    poses : of all bodies at the reference, where angles and rolled ways are zero
    """
    found, ends = _made(row, bodies, geometry, poses)
    return make.at_reference(found, poses), ends


def _made(
    row: JointType, bodies: tuple[int, ...], g: JointGeometry, poses: Poses
) -> tuple[JointRelations, PairFrames]:
    first = (bodies[0], bodies[1]) if len(bodies) > 1 else (bodies[0], bodies[0])
    if row.code == "USER":
        from mbssa.joints.user import user_function

        assert g.function is not None
        function = user_function(g.function, g.derivative, len(bodies), row.space)
        ends = PairFrames(first, np.zeros((2, 3)), np.tile(np.eye(3), (2, 1, 1)))
        return make.user(bodies, function, is_length=g.unit == "m"), ends
    if row.code in ("EO", "EPI"):
        ends = _ends(first, g, poses, [np.eye(3)] * 2)
        carrier = bodies[2] if len(bodies) > 2 else None
        return make.gear(first, carrier, g.ratio or 1.0, ends.origin), ends
    if row.code == "BEVEL":
        return _bevel(first, bodies[2] if len(bodies) > 2 else 0, g, poses)
    if row.code in POINT_CONTACTS:
        assert g.points is not None
        assert g.axes is not None
        frames = tuple(
            local_frames(first, (in_space(p),) * 2, (axes_of(z=in_space(n)),) * 2, poses)
            for p, n in zip(g.points, g.axes, strict=True)
        )
        return make.points_on_planes(first, frames), frames[0]
    if row.code == "RP":
        radius = g.radius or 1.0
        if g.frames is not None:
            ends = _ends(first, g, poses, [np.eye(3)] * 2)
        else:
            track = axes_of(x=in_space(g.axis or (1.0, 0.0)))
            centre = in_space(g.point or (0.0, 0.0))
            ends = local_frames(first, (centre - radius * track[:, 1], centre), (track, track), poses)
        return make.rolling(ends, radius), ends
    from mbssa.joints.cam_profiles import profile_from

    assert g.profile is not None
    profile = profile_from(g.profile)
    directions = g.axes if g.axes is not None else ((1.0, 0.0), (1.0, 0.0))
    ends = _ends(first, g, poses, [axes_of(x=in_space(axis)) for axis in directions])
    return make.cam(ends, profile.kind, profile.radius, profile.curves), ends


def _bevel(
    wheels: tuple[int, int], carrier: int, g: JointGeometry, poses: Poses
) -> tuple[JointRelations, PairFrames]:
    points = g.points if g.points is not None else ((0.0, 0.0, 0.0),) * 2
    if g.frames is not None:
        world = [poses.rotation[b] @ axes_of(f.z, f.x) for b, f in zip(wheels, g.frames, strict=False)]
        centres = [
            poses.position[b] + poses.rotation[b] @ in_space(f.origin)
            for b, f in zip(wheels, g.frames, strict=False)
        ]
    else:
        assert g.axes is not None
        world = [axes_of(in_space(axis)) for axis in g.axes]
        centres = [in_space(point) for point in points]
    frames = [
        local_frames((carrier, wheel), (centre, centre), (axes, axes), poses)
        for wheel, centre, axes in zip(wheels, centres, world, strict=True)
    ]
    ends = local_frames(wheels, (centres[0], centres[1]), (world[0], world[1]), poses)
    return make.bevel(wheels, carrier, g.ratio or 1.0, (frames[0], frames[1])), ends


def _ends(bodies: tuple[int, int], g: JointGeometry, poses: Poses, axes: list[Array]) -> PairFrames:
    """Frames of the first two bodies, as given or from points in the world with these axes."""
    if g.frames is not None:
        return PairFrames(
            bodies,
            np.array([in_space(frame.origin) for frame in g.frames[:2]]),
            np.array([axes_of(frame.z, frame.x) for frame in g.frames[:2]]),
        )
    assert g.points is not None
    return local_frames(bodies, (in_space(g.points[0]), in_space(g.points[1])), (axes[0], axes[1]), poses)


def local_frames(
    bodies: tuple[int, int], points: tuple[Array, Array], axes: tuple[Array, Array], poses: Poses
) -> PairFrames:
    """Frames on two bodies that stand at these points and axes of the world at the reference."""
    back = [poses.rotation[body].T for body in bodies]
    origin = [
        turn @ (point - poses.position[body]) for turn, point, body in zip(back, points, bodies, strict=True)
    ]
    return PairFrames(
        bodies, np.array(origin), np.array([turn @ a for turn, a in zip(back, axes, strict=True)])
    )
