"""Rims of gears, wheels and racks as lines: teeth that mesh at the reference, of a visible size."""

# The model has pitch circles and ratios; how many teeth there are is chosen here, in the ratio of the radii.

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from groups.pictures.shapes import Mark, Outline, Stage, joined
from mbssa.arrays import Floats
from mbssa.joints.frames import Frames

#: Teeth of the smallest wheel at least; the largest denominator of a ratio of teeth.
_FEWEST, _DENOMINATOR = 14, 40

#: Height over and below the pitch line, modules; half widths at tip and root, shares of a pitch.
_TIP, _ROOT, _WIDE = 1.0, -1.25, (0.11, 0.36)

#: Angles around smooth wheels, and around rings with teeth inside.
_SMOOTH, _RING = np.linspace(0.0, 2 * np.pi, 73), np.linspace(0.0, 2 * np.pi, 121)


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
        keys = [_key(frames, mark, side, mark.radii[side]) for side in (0, 1)]
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


def _key(frames: Frames, mark: Mark, side: int, radius: float) -> tuple[int, ...]:
    """The same for one wheel in all its meshes: body, place and radius to six digits."""
    place = np.append(mark.origin[side], radius) / (frames.size or 1.0)
    return mark.bodies[side], *np.round(place * 1e6).astype(int).tolist()


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


def _placed(mark: Mark, side: int, line: Floats, closed: bool) -> Outline:
    points = mark.origin[side] + line @ mark.axes[side][:, :2].T
    return Outline(mark.bodies[side], points, closed)
