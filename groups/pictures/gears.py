"""Rims of gears, wheels and racks as lines: teeth that mesh at the reference, of a visible size."""

# The model has pitch circles and ratios; how many teeth there are is chosen here, in the ratio of the radii.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from groups.pictures.cams import Outline
from mbssa.arrays import Floats

if TYPE_CHECKING:
    from groups.pictures.shapes import Guide, Mark
    from mbssa.joints.frames import Frames


#: Teeth of the smallest wheel at least; the largest denominator of a ratio of teeth.
_FEWEST, _DENOMINATOR = 14, 40

#: Height over and below the pitch line, modules; half widths at tip and root, shares of a pitch.
_TIP, _ROOT, _WIDE = 1.0, -1.25, (0.11, 0.36)


@dataclass(frozen=True, eq=False)
class _Wheel:
    """Teeth of a wheel: their number, and the angle of one of them in the frame of the joint."""

    teeth: int
    start: float


def rims_of(
    frames: Frames, marks: Sequence[Mark], tracks: Mapping[int, Guide], bodies: Sequence[int]
) -> tuple[Outline, ...]:
    """Rims of the wheels on drawn bodies, once each, and toothed racks; straight tracks by joint number."""
    found: dict[tuple[int, ...], _Wheel] = {}
    outlines: list[Outline] = []
    for mark in marks:
        if mark.radii is None:
            continue
        if mark.type.wheels == "track":
            outlines += _on_track(mark, tracks.get(mark.joint))
            continue
        keys = [_key(frames, mark, side) for side in (0, 1)]
        wheels = _meshing(frames, mark, found.get(keys[0]), found.get(keys[1]))
        for side in (0, 1):
            if keys[side] not in found:
                found[keys[side]] = wheels[side]
                ring = _internal(frames, mark) and mark.radii[side] == max(mark.radii)
                outlines += _rim(mark, side, wheels[side], ring)
    return tuple(outline for outline in outlines if outline.body in bodies)


def _key(frames: Frames, mark: Mark, side: int) -> tuple[int, ...]:
    """The same for one wheel in all its meshes: body, place and radius to six digits."""
    assert mark.radii is not None
    place = np.append(mark.origin[side], mark.radii[side]) / (frames.size or 1.0)
    return mark.bodies[side], *np.round(place * 1e6).astype(int).tolist()


def _meshing(
    frames: Frames, mark: Mark, first: _Wheel | None, second: _Wheel | None
) -> tuple[_Wheel, _Wheel]:
    """Two wheels whose teeth fit; one that is known from another mesh stays as it is."""
    assert mark.radii is not None
    ratio = mark.radii[1] / mark.radii[0]
    if first is not None and second is not None:
        return first, second
    if second is not None:
        return _partner(frames, mark, second, 1, max(round(second.teeth / ratio), 3)), second
    if first is None:
        parts = Fraction(ratio).limit_denominator(_DENOMINATOR)
        times = -(-_FEWEST // max(min(parts.numerator, parts.denominator), 1))
        first = _Wheel(max(times * parts.denominator, 3), _toward(frames, mark, 0))
    return first, _partner(frames, mark, first, 0, max(round(first.teeth * ratio), 3))


def _partner(frames: Frames, mark: Mark, wheel: _Wheel, side: int, teeth: int) -> _Wheel:
    """The wheel on the other side: a gap of it where the first one has a tooth."""
    here, there = _toward(frames, mark, side), _toward(frames, mark, 1 - side)
    offset = (wheel.start - here) * wheel.teeth / (2 * np.pi)  # pitches from the line of centres
    along = offset if _internal(frames, mark) else -offset
    return _Wheel(teeth, there + (along + 0.5) * 2 * np.pi / teeth)


def _internal(frames: Frames, mark: Mark) -> bool:
    """Whether the larger wheel is a ring with teeth inside."""
    return mark.type.wheels == "gear" and float(frames.parameters["ratio"][mark.joint]) < 0.0


def _toward(frames: Frames, mark: Mark, side: int) -> float:
    """Angle at which a wheel meshes at the reference, in its own frame of the joint."""
    assert mark.radii is not None
    centre = [frames.position[b] + frames.rotation[b] @ mark.origin[k] for k, b in enumerate(mark.bodies)]
    away = centre[1 - side] - centre[side]
    if _internal(frames, mark) and mark.radii[side] == min(mark.radii):
        away = -away
    x, y, _ = (frames.rotation[mark.bodies[side]] @ mark.axes[side]).T @ away
    return float(np.arctan2(y, x))


def _rim(mark: Mark, side: int, wheel: _Wheel, ring: bool) -> list[Outline]:
    """A toothed rim, and of a ring with teeth inside a circle around it."""
    assert mark.radii is not None
    radius, pitch = mark.radii[side], 2 * np.pi / wheel.teeth
    module = 2.0 * radius / wheel.teeth
    tooth = _tooth(module, pitch)
    angle = (wheel.start + pitch * np.arange(wheel.teeth)[:, None] + tooth[:, 0]).ravel()
    height = np.tile(tooth[:, 1], wheel.teeth)
    rim = _around(angle, radius + (-height if ring else height))
    lines = [_placed(mark, side, np.concatenate([rim, rim[:1]]), not ring)]
    if ring:
        turn = np.linspace(0.0, 2 * np.pi, 121)
        lines.append(_placed(mark, side, _around(turn, np.full(121, radius + 3.0 * module)), False))
    return lines


def _tooth(module: float, pitch: float) -> Floats:
    """Corners (4, 2) of one tooth: place along the pitch line, height over it."""
    tip, root = (share * pitch for share in _WIDE)
    low, high = _ROOT * module, _TIP * module
    return np.array([[-root, low], [-tip, high], [tip, high], [root, low]])


def _around(angle: Floats, radius: Floats) -> Floats:
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _on_track(mark: Mark, track: Guide | None) -> list[Outline]:
    """A wheel that rolls on a moving body is a pinion on its rack; one that rolls on the frame is smooth."""
    assert mark.radii is not None
    radius = mark.radii[1]
    pinion = mark.type.rolls and 0 not in mark.bodies
    if not pinion or track is None:
        turn = np.linspace(0.0, 2 * np.pi, 73)
        return [_placed(mark, 1, _around(turn, np.full(73, radius)), True)]
    pitch = 2 * np.pi * radius / _FEWEST
    tooth = _tooth(2.0 * radius / _FEWEST, pitch)
    along = (track.ends - mark.origin[0]) @ mark.axes[0][:, 0]
    places = pitch * np.arange(np.ceil(along[0] / pitch), np.floor(along[1] / pitch) + 1)
    line = np.stack([(places[:, None] + tooth[:, 0]).ravel(), np.tile(tooth[:, 1], len(places))], axis=1)
    # At the reference the wheel stands over the origin of the track: a gap over a tooth.
    wheel = _Wheel(_FEWEST, -np.pi / 2 + np.pi / _FEWEST)
    return [_placed(mark, 0, line, False), *_rim(mark, 1, wheel, False)]


def _placed(mark: Mark, side: int, line: Floats, closed: bool) -> Outline:
    points = mark.origin[side] + line @ mark.axes[side][:, :2].T
    return Outline(mark.bodies[side], points, closed)
