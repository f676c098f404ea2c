"""Outlines of joints and force elements whose profiles touch: profiles, rollers, faces and terrains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.rotations import rotation_of
from mbssa.arrays import Floats
from mbssa.joints.axes import in_space
from mbssa.joints.cams.contact import FLAT, POINT
from mbssa.joints.cams.contact import touching as places_of
from mbssa.joints.cams.curves import ground
from mbssa.joints.cams.profiles import profile_from
from mbssa.joints.poses import relative_pose
from mbssa.joints.relations import PairFrames

if TYPE_CHECKING:
    from mbssa import Mechanism
    from mbssa.joints.cams.curves import Curve
    from mbssa.joints.frames import Frames
    from mbssa.mechanism import Vector


#: Points of a profile at least, of a roller; poses at which the width of a flat face is measured.
_PROFILE, _ROLLER, _POSES = 180, 48, 40

#: A flat face is longer than where it is touched, by this share of the cam's size at both ends.
_SPARE = 0.08


@dataclass(frozen=True, eq=False)
class Outline:
    """Line on one body; a closed one ends where it begins and has material inside."""

    body: int
    points: Floats  # (n, 3) in the body's own frame, m
    closed: bool


def outlines_of(
    mechanism: Mechanism, frames: Frames, bodies: Sequence[int], position: Floats, quaternion: Floats
) -> tuple[Outline, ...]:
    """Profiles of cams, contacts, terrains and their followers on K drawn bodies, the frame first."""
    # The poses (F, K, 3) and (F, K, 4) of the drawn bodies give the width of flat faces; NaN where not
    # solved.
    outlines = []
    for touching in (*_of_joints(frames), *_of_forces(mechanism, frames)):
        pair, curves = touching.pair, touching.curves
        lines = [(0, *_sampled(curves[0])), *_followers(touching, bodies, position, quaternion)]
        for side, line, closed in lines:
            if pair.bodies[side] in bodies:
                points = pair.origin[side] + line @ pair.axes[side][:, :2].T
                outlines.append(Outline(pair.bodies[side], points, closed))
    return tuple(outlines)


@dataclass(frozen=True, eq=False)
class _Touching:
    """Frames of two profiles, the curves, the kind of the follower, and the radius of its roller, m."""

    pair: PairFrames
    curves: tuple[Curve, ...]
    kind: int
    radius: float


def _of_joints(frames: Frames) -> Iterator[_Touching]:
    for _, relations in sorted(frames.relations.items()):
        if relations.curves:
            (contact,) = relations.constraints[0].terms
            yield _Touching(relations.pairs[0], relations.curves, contact.numbers[0], contact.parameter)


def _of_forces(mechanism: Mechanism, frames: Frames) -> Iterator[_Touching]:
    """Profiles that force elements press on each other, and terrains with their wheels."""
    for force in mechanism.forces:
        if force.profile is not None and force.points is not None:
            profile = profile_from(force.profile)
            pair = _pair(frames, force.bodies, force.points)
            yield _Touching(pair, profile.curves, profile.kind, profile.radius)
        elif force.terrain is not None and force.point is not None and force.radius is not None:
            pair = _pair(frames, (0, *force.bodies), ((0.0, 0.0), force.point))
            yield _Touching(pair, (ground(force.terrain),), POINT, force.radius)


def _pair(frames: Frames, bodies: Sequence[int], points: Sequence[Vector]) -> PairFrames:
    """Frames on two bodies by their origins, with the world's axes; all at the reference."""
    first, second = bodies
    back = frames.rotation[[first, second]].swapaxes(1, 2)
    out = in_space(np.array(points)) - frames.position[[first, second]]
    return PairFrames((first, second), (back @ out[:, :, None])[:, :, 0], back)


def _followers(
    touching: _Touching, bodies: Sequence[int], position: Floats, quaternion: Floats
) -> list[tuple[int, Floats, bool]]:
    """Outline of the second body: its side 1, a line (n, 2) in its frame; whether it closes."""
    if len(touching.curves) > 1:
        return [(1, *_sampled(touching.curves[1]))]
    if touching.kind == POINT:
        if touching.radius == 0.0:
            return []  # a knife: the joint's own symbol
        turn = np.linspace(0.0, 2 * np.pi, _ROLLER + 1)
        return [(1, touching.radius * np.stack([np.cos(turn), np.sin(turn)], axis=1), True)]
    low, high = _touched(touching.pair, touching.curves[0], bodies, position, quaternion)
    return [(1, np.array([[low, 0.0], [high, 0.0]]), False)]


def _touched(
    pair: PairFrames, curve: Curve, bodies: Sequence[int], position: Floats, quaternion: Floats
) -> tuple[float, float]:
    """From where to where a face is touched, and a little more (m, along it)."""
    spare = _SPARE * curve.size
    if not set(pair.bodies) <= set(bodies):
        return -0.5 * curve.size, 0.5 * curve.size
    some = np.unique(np.linspace(0, len(position) - 1, _POSES).astype(int))
    ends = [(position[some, k], rotation_of(quaternion[some, k])) for k in map(bodies.index, pair.bodies)]
    d, C = relative_pose(ends, pair.origin, pair.axes)[:2]
    sound = np.isfinite(d).all(axis=1) & np.isfinite(C).all(axis=(1, 2))
    along = places_of(curve, None, FLAT, d[sound], C[sound])[1]
    if not len(along):
        return -0.5 * curve.size, 0.5 * curve.size
    return float(along.min()) - spare, float(along.max()) + spare


def _sampled(curve: Curve) -> tuple[Floats, bool]:
    s = np.union1d(curve.breaks, np.linspace(curve.breaks[0], curve.breaks[-1], _PROFILE))
    points: Floats = curve.at(s)[0]
    if curve.closed:
        points[-1] = points[0]
    return points, curve.closed
