"""Outlines of bodies: profiles that touch, teeth of wheels and racks, and what the model file gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from groups.pictures.shapes import Mark, Outline, Stage, joined, visual_of
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
    from mbssa.joints.frames import Frames


#: Points of a profile at least, of a roller; poses at which the width of a flat face is measured.
_PROFILE, _ROLLER, _POSES = 180, 48, 40

#: A flat face is longer than where it is touched, by this share of the cam's size at both ends.
_SPARE = 0.08

#: Teeth of the smallest wheel at least; the largest denominator of a ratio of teeth.
_FEWEST, _DENOMINATOR = 14, 40

#: Height over and below the pitch line, modules; half widths at tip and root, shares of a pitch.
_TIP, _ROOT, _WIDE = 1.0, -1.25, (0.11, 0.36)

#: Angles around smooth wheels, and around rings with teeth inside.
_SMOOTH, _RING = np.linspace(0.0, 2 * np.pi, 73), np.linspace(0.0, 2 * np.pi, 121)


def visual_outlines(stage: Stage) -> list[Outline]:
    """Closed outlines that the model gives for some drawn bodies."""
    return [
        Outline(body, np.array([stage.frames.on_body(body, at) for at in [*outline, outline[0]]]), True)
        for body in stage.bodies
        if (outline := visual_of(stage.mechanism, body).get("outline"))
    ]


# --- profiles that touch ---------------------------------------------------------------------------


def outlines_of(stage: Stage) -> list[Outline]:
    """Profiles of cams, contacts, terrains and their followers on drawn bodies."""
    return [
        _placed(pair, side, line, closed)
        for pair, curves, kind, radius in _touching(stage)
        for side, (line, closed) in enumerate(
            (_sampled(curves[0]), *_follower(stage, pair, curves, kind, radius))
        )
        if pair.bodies[side] in stage.bodies
    ]


def _touching(stage: Stage) -> Iterator[tuple[PairFrames, tuple[Curve, ...], int, float]]:
    """Frames of two profiles, the curves, the kind of the follower, and the radius of its roller, m."""
    # Of joints; of force elements that press profiles on each other, and of terrains with their wheels.
    for _, relations in sorted(stage.frames.relations.items()):
        if relations.curves:
            (contact,) = relations.constraints[0].terms
            yield relations.pairs[0], relations.curves, contact.numbers[0], contact.parameter
    world, poses = (np.eye(3), np.eye(3)), stage.frames.reference
    for force in stage.mechanism.forces:
        if force.profile is not None and force.points is not None:
            profile = profile_from(force.profile)
            (a, b), (first, second) = force.bodies, map(in_space, force.points)
            pair = local_frames((a, b), (first, second), world, poses)
            yield pair, profile.curves, profile.kind, profile.radius
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
        return [(_around(np.linspace(0.0, 2 * np.pi, _ROLLER + 1), radius), True)] if radius else []
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


# --- gears, wheels and racks: teeth that mesh at the reference, of a visible size ------------------

# The model has pitch circles and ratios; how many teeth there are is chosen here, in the ratio of the radii.


def rims_of(stage: Stage, marks: Sequence[Mark], guides: Sequence[Outline]) -> list[Outline]:
    """Rims of the wheels on drawn bodies, once each, and racks toothed along their tracks."""
    frames, tracks = stage.frames, {guide.joint: guide for guide in guides if guide.kind == "track"}
    # Teeth of each wheel, and the angle of one of them in the frame of the joint.
    wheels: dict[tuple[int, ...], tuple[int, float]] = {}
    outlines: list[Outline] = []
    for mark in marks:
        if mark.radii is None:
            continue
        if mark.type.wheels == "track":
            outlines += _on_track(mark, mark.radii[1], tracks.get(mark.joint))
            continue
        # One wheel in all its meshes: body, place and radius to six digits.
        places = np.column_stack([mark.origin, mark.radii]) / (frames.size or 1.0)
        digits = np.round(places * 1e6).astype(int).tolist()
        keys = [(body, *place) for body, place in zip(mark.bodies, digits, strict=True)]
        new = [side for side in (0, 1) if keys[side] not in wheels]
        ratio, internal = mark.radii[1] / mark.radii[0], _internal(frames, mark)
        if len(new) == 2:
            parts = Fraction(ratio).limit_denominator(_DENOMINATOR)
            times = -(-_FEWEST // max(min(parts.numerator, parts.denominator), 1))
            wheels[keys[0]] = max(times * parts.denominator, 3), _toward(frames, mark, 0)
        for side in new[-1:]:  # a gap where the other one has a tooth
            teeth, start = wheels[keys[1 - side]]
            pitches = (start - _toward(frames, mark, 1 - side)) * teeth / (2 * np.pi)
            own = max(round(teeth * (ratio if side else 1.0 / ratio)), 3)
            after = ((pitches if internal else -pitches) + 0.5) * 2 * np.pi / own
            wheels[keys[side]] = own, _toward(frames, mark, side) + after
        for side in new:
            ring = internal and mark.radii[side] == max(mark.radii)
            outlines += _rim(mark, side, mark.radii[side], *wheels[keys[side]], ring)
    return [outline for outline in outlines if outline.body in stage.bodies]


def _internal(frames: Frames, mark: Mark) -> bool:
    """Whether the larger wheel is a ring with teeth inside."""
    return mark.type.wheels == "gear" and float(frames.parameters["ratio"][mark.joint]) < 0.0


def _toward(frames: Frames, mark: Mark, side: int) -> float:
    """Angle at which a wheel meshes at the reference, in its own frame of the joint."""
    assert mark.radii is not None
    gap, axes = joined(frames, mark)
    x, y, _ = -axes.T @ gap if side else gap
    within = _internal(frames, mark) and mark.radii[side] == min(mark.radii)
    return float(np.arctan2(-y, -x) if within else np.arctan2(y, x))


def _rim(mark: Mark, side: int, radius: float, teeth: int, start: float, ring: bool) -> list[Outline]:
    """A toothed rim, and of a ring with teeth inside a circle around it."""
    pitch, module = 2 * np.pi / teeth, 2.0 * radius / teeth
    along, height = _teeth(0, teeth, pitch, module).T
    rim = _around(start + along, radius + (-height if ring else height))
    lines = [_placed(mark, side, np.concatenate([rim, rim[:1]]), not ring)]
    return [*lines, _placed(mark, side, _around(_RING, radius + 3.0 * module), False)] if ring else lines


def _teeth(first: int, end: int, pitch: float, module: float) -> Floats:
    """Corners (4 n, 2) of teeth by number: places along the pitch line, heights over it."""
    tip, root = (share * pitch for share in _WIDE)
    low, high = _ROOT * module, _TIP * module
    tooth = np.array([[-root, low], [-tip, high], [tip, high], [root, low]])
    return np.concatenate([tooth + np.array([k * pitch, 0.0]) for k in range(first, end)])


def _around(angle: Floats, radius: Floats | float) -> Floats:
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _on_track(mark: Mark, radius: float, track: Outline | None) -> list[Outline]:
    """A wheel that rolls on a moving body is a pinion on its rack; one that rolls on the frame is smooth."""
    if track is None or not mark.type.rolls or 0 in mark.bodies:
        return [_placed(mark, 1, _around(_SMOOTH, radius), True)]
    pitch = 2 * np.pi * radius / _FEWEST
    low, high = (track.points - mark.origin[0]) @ mark.axes[0][:, 0] / pitch
    rack = _teeth(int(np.ceil(low)), int(np.floor(high)) + 1, pitch, 2.0 * radius / _FEWEST)
    # At the reference the wheel stands over the origin of the track: a gap over a tooth.
    pinion = _rim(mark, 1, radius, _FEWEST, -np.pi / 2 + np.pi / _FEWEST, False)
    return [_placed(mark, 0, rack, False), *pinion]


def _placed(mark: Mark | PairFrames, side: int, line: Floats, closed: bool) -> Outline:
    points = mark.origin[side] + line @ mark.axes[side][:, :2].T
    return Outline(mark.bodies[side], points, closed)
