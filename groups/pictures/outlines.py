"""Outlines of bodies: profiles that touch, teeth of wheels and racks, and what the model file gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from groups.pictures.shapes import Line, Mark, Stage, visual_of
from groups.rotations import rotation_of
from mbssa.arrays import Floats
from mbssa.joints.axes import in_space
from mbssa.joints.cams.contact import FLAT, POINT, touching
from mbssa.joints.cams.curves import ground
from mbssa.joints.cams.profiles import profile_from
from mbssa.joints.poses import relative_pose
from mbssa.joints.relations import PairFrames, local_frames

if TYPE_CHECKING:
    from mbssa.joints.cams.curves import Curve


#: Points of a profile at least; poses at which the width of a flat face is measured.
_PROFILE, _POSES = 180, 40

#: A flat face is longer than where it is touched, by this share of the cam's size at both ends.
_SPARE = 0.08

#: Teeth of the smallest wheel at least; the largest denominator of a ratio of teeth.
_FEWEST, _DENOMINATOR = 14, 40

#: Height over and below the pitch line, modules; half widths at tip and root, shares of a pitch.
_TIP, _ROOT, _WIDE = 1.0, -1.25, (0.11, 0.36)

#: Angles around rollers, smooth wheels, and rings with teeth inside.
_ROLLER, _SMOOTH, _RING = (np.linspace(0.0, 2 * np.pi, n) for n in (49, 73, 121))


def visual_outlines(stage: Stage) -> list[Line]:
    """Closed outlines that the model gives for some drawn bodies."""
    return [
        Line(body, np.array([stage.frames.on_body(body, at) for at in [*outline, outline[0]]]), closed=True)
        for body in stage.bodies
        if (outline := visual_of(stage.mechanism, body).get("outline"))
    ]


# --- profiles that touch ---------------------------------------------------------------------------


def outlines_of(stage: Stage) -> list[Line]:
    """Profiles of cams, contacts, terrains and their followers on drawn bodies."""
    found: list[Line] = []
    for pair, curves, kind, radius in _touching(stage):
        found.append(_sampled(pair, 0, curves[0]))
        if len(curves) > 1:
            found.append(_sampled(pair, 1, curves[1]))
        elif kind == FLAT:
            found.append(_placed(pair, 1, np.outer(_face(stage, pair, curves[0]), [1.0, 0.0]), False))
        elif radius:  # a knife has none
            found.append(_placed(pair, 1, _around(_ROLLER, radius), True))
    return [line for line in found if line.body in stage.bodies]


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


def _face(stage: Stage, pair: PairFrames, curve: Curve) -> tuple[float, float]:
    """Ends of a flat face, from where to where it is touched and a little more, m."""
    if set(pair.bodies) <= set(stage.bodies):
        some = np.unique(np.linspace(0, len(stage.position) - 1, _POSES).astype(int))
        places = [(some, stage.bodies.index(body)) for body in pair.bodies]
        ends = [(stage.position[at], rotation_of(stage.quaternion[at])) for at in places]
        d, C = relative_pose(ends, pair.origin, pair.axes)[:2]
        sound = np.isfinite(d).all(axis=1) & np.isfinite(C).all(axis=(1, 2))
        if sound.any():
            along, spare = touching(curve, None, FLAT, d[sound], C[sound])[1], _SPARE * curve.size
            return float(along.min()) - spare, float(along.max()) + spare
    return -0.5 * curve.size, 0.5 * curve.size


def _sampled(pair: PairFrames, side: int, curve: Curve) -> Line:
    s = np.union1d(curve.breaks, np.linspace(curve.breaks[0], curve.breaks[-1], _PROFILE))
    points: Floats = curve.at(s)[0]
    if curve.closed:
        points[-1] = points[0]
    return _placed(pair, side, points, curve.closed)


# --- gears, wheels and racks: teeth that mesh at the reference, of a visible size ------------------

# The model has pitch circles and ratios; how many teeth there are is chosen here, in the ratio of the radii.


def rims_of(stage: Stage, marks: Sequence[Mark], guides: Sequence[Line]) -> list[Line]:
    """Rims of the wheels on drawn bodies, once each, and racks toothed along their tracks."""
    frames, tracks = stage.frames, {guide.joint: guide for guide in guides if guide.kind == "track"}
    # Teeth of each wheel, and the angle of one of them in the frame of the joint.
    wheels: dict[tuple[int, ...], tuple[int, float]] = {}
    rims: list[Line] = []
    for mark in marks:
        if mark.pitch is None or mark.radii is None:
            continue
        if mark.type.wheels == "track":
            rims += _on_track(mark, mark.radii[1], tracks.get(mark.joint))
            continue
        # One wheel in all its meshes: body, place and radius to six digits.
        digits = np.round(np.column_stack([mark.origin, mark.radii]) / (frames.size or 1.0) * 1e6)
        keys = [(body, *place) for body, place in zip(mark.bodies, digits.astype(int).tolist(), strict=True)]
        new = [side for side in (0, 1) if keys[side] not in wheels]
        ratio, toward = mark.radii[1] / mark.radii[0], np.arctan2(*mark.pitch.T[::-1]).tolist()
        # The larger wheel is a ring with teeth inside.
        internal = mark.type.wheels == "gear" and float(frames.parameters["ratio"][mark.joint]) < 0.0
        if len(new) == 2:
            parts = Fraction(ratio).limit_denominator(_DENOMINATOR)
            times = -(-_FEWEST // max(min(parts.numerator, parts.denominator), 1))
            wheels[keys[0]] = max(times * parts.denominator, 3), toward[0]
        for side in new[-1:]:  # a gap where the other one has a tooth
            teeth, start = wheels[keys[1 - side]]
            pitches = (start - toward[1 - side]) * teeth / (2 * np.pi)
            own = max(round(teeth * (ratio if side else 1.0 / ratio)), 3)
            after = ((pitches if internal else -pitches) + 0.5) * 2 * np.pi / own
            wheels[keys[side]] = own, toward[side] + after
        for side in new:
            ring = internal and mark.radii[side] == max(mark.radii)
            rims += _rim(mark, side, mark.radii[side], *wheels[keys[side]], ring)
    return [rim for rim in rims if rim.body in stage.bodies]


def _rim(mark: Mark, side: int, radius: float, teeth: int, start: float, ring: bool = False) -> list[Line]:
    """A toothed rim, and of a ring with teeth inside a circle around it."""
    module = 2.0 * radius / teeth
    along, height = _teeth(0, teeth, module).T
    rim = _around(start + along / radius, radius + (-height if ring else height))
    lines = [_placed(mark, side, np.concatenate([rim, rim[:1]]), not ring)]
    return [*lines, _placed(mark, side, _around(_RING, radius + 3.0 * module), False)] if ring else lines


def _teeth(first: int, end: int, module: float) -> Floats:
    """Corners (4 n, 2) of teeth by number: places along the pitch line, heights over it, m."""
    tooth = np.array([[-_WIDE[1], _ROOT], [-_WIDE[0], _TIP], [_WIDE[0], _TIP], [_WIDE[1], _ROOT]])
    steps = np.outer(np.arange(first, end), [np.pi, 0.0])
    corners: Floats = (tooth * [np.pi, 1.0] + steps[:, None]).reshape(-1, 2)
    return module * corners


def _around(angle: Floats, radius: Floats | float) -> Floats:
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _on_track(mark: Mark, radius: float, track: Line | None) -> list[Line]:
    """A wheel that rolls on a moving body is a pinion on its rack; one that rolls on the frame is smooth."""
    if track is None or not mark.type.rolls or 0 in mark.bodies:
        return [_placed(mark, 1, _around(_SMOOTH, radius), True)]
    module = 2.0 * radius / _FEWEST
    low, high = (track.points - mark.origin[0]) @ mark.axes[0][:, 0] / (np.pi * module)
    rack = _placed(mark, 0, _teeth(int(np.ceil(low)), int(np.floor(high)) + 1, module), False)
    # At the reference the wheel stands over the origin of the track: a gap over a tooth.
    return [rack, *_rim(mark, 1, radius, _FEWEST, -np.pi / 2 + np.pi / _FEWEST)]


def _placed(mark: Mark | PairFrames, side: int, line: Floats, closed: bool) -> Line:
    points = mark.origin[side] + line @ mark.axes[side][:, :2].T
    return Line(mark.bodies[side], points, closed=closed)
