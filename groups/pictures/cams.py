"""Outlines of joints and force elements whose profiles touch: profiles, rollers, faces and terrains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from groups.pictures.shapes import Outline, Stage
from groups.rotations import rotation_of
from mbssa.arrays import Floats
from mbssa.joints.axes import in_space
from mbssa.joints.cams.contact import FLAT, POINT
from mbssa.joints.cams.contact import touching as places_of
from mbssa.joints.cams.curves import ground
from mbssa.joints.cams.profiles import profile_from
from mbssa.joints.poses import relative_pose
from mbssa.joints.relations import PairFrames, local_frames

if TYPE_CHECKING:
    from mbssa.joints.cams.curves import Curve


#: Points of a profile at least, of a roller; poses at which the width of a flat face is measured.
_PROFILE, _ROLLER, _POSES = 180, 48, 40

#: A flat face is longer than where it is touched, by this share of the cam's size at both ends.
_SPARE = 0.08

#: Frames of two profiles, the curves, the kind of the follower, and the radius of its roller, m.
_Touching = tuple[PairFrames, tuple["Curve", ...], int, float]


def outlines_of(stage: Stage) -> list[Outline]:
    """Profiles of cams, contacts, terrains and their followers on drawn bodies."""
    return [
        Outline(pair.bodies[side], pair.origin[side] + line @ pair.axes[side][:, :2].T, closed)
        for pair, curves, kind, radius in _touching(stage)
        for side, (line, closed) in enumerate(
            (_sampled(curves[0]), *_follower(stage, pair, curves, kind, radius))
        )
        if pair.bodies[side] in stage.bodies
    ]


def _touching(stage: Stage) -> Iterator[_Touching]:
    """Of joints; of force elements that press profiles on each other, and of terrains with their wheels."""
    for _, relations in sorted(stage.frames.relations.items()):
        if relations.curves:
            (contact,) = relations.constraints[0].terms
            yield relations.pairs[0], relations.curves, contact.numbers[0], contact.parameter
    world, poses = (np.eye(3), np.eye(3)), stage.frames.reference
    for force in stage.mechanism.forces:
        if force.profile is not None and force.points is not None:
            profile = profile_from(force.profile)
            first, second = (in_space(point) for point in force.points)
            a, b = force.bodies
            yield (
                local_frames((a, b), (first, second), world, poses),
                profile.curves,
                profile.kind,
                profile.radius,
            )
        elif force.terrain is not None and force.point is not None and force.radius is not None:
            pair = local_frames((0, force.bodies[0]), (np.zeros(3), in_space(force.point)), world, poses)
            yield pair, (ground(force.terrain),), POINT, force.radius


def _follower(
    stage: Stage, pair: PairFrames, curves: tuple[Curve, ...], kind: int, radius: float
) -> list[tuple[Floats, bool]]:
    """Line (n, 2) of the second body in its frame, and whether it closes; none of a knife."""
    if len(curves) > 1:
        return [_sampled(curves[1])]
    if kind == POINT:
        turn = np.linspace(0.0, 2 * np.pi, _ROLLER + 1)
        return [(radius * np.stack([np.cos(turn), np.sin(turn)], axis=1), True)] if radius else []
    # From where to where the face is touched, and a little more.
    low, high = -0.5 * curves[0].size, 0.5 * curves[0].size
    if set(pair.bodies) <= set(stage.bodies):
        some = np.unique(np.linspace(0, len(stage.position) - 1, _POSES).astype(int))
        ends = [
            (stage.position[some, k], rotation_of(stage.quaternion[some, k]))
            for k in map(stage.bodies.index, pair.bodies)
        ]
        d, C = relative_pose(ends, pair.origin, pair.axes)[:2]
        sound = np.isfinite(d).all(axis=1) & np.isfinite(C).all(axis=(1, 2))
        along = places_of(curves[0], None, FLAT, d[sound], C[sound])[1]
        if len(along):
            spare = _SPARE * curves[0].size
            low, high = float(along.min()) - spare, float(along.max()) + spare
    return [(np.array([[low, 0.0], [high, 0.0]]), False)]


def _sampled(curve: Curve) -> tuple[Floats, bool]:
    s = np.union1d(curve.breaks, np.linspace(curve.breaks[0], curve.breaks[-1], _PROFILE))
    points: Floats = curve.at(s)[0]
    if curve.closed:
        points[-1] = points[0]
    return points, curve.closed
