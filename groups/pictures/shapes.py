"""Geometry that stands for a body: lines and faces through its joints, and guides where it slides."""

# A body with two joints is a link between them; three or more span a polygon, or a hull where they do not lie
# in one plane. A sliding joint is a block on a rail or, between two moving bodies with room for it, a rod in
# a tube.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from groups.rotations import turned
from mbssa.arrays import Floats, Ints
from mbssa.joints.axes import in_space
from mbssa.joints.catalogue import JointType, type_of_joint

if TYPE_CHECKING:
    from mbssa import Mechanism
    from mbssa.joints.frames import Frames


#: Points nearer than this part of the mechanism's size are one point.
_SAME = 1e-6


@dataclass(frozen=True, eq=False)
class Shape:
    """Shape of one body in its own frame, m."""

    points: Floats  # (n, 3) its joints, its named points, beginnings of its guides
    lines: Ints  # (m, 2) rows of points
    faces: Ints  # (f, 3) rows of points

    @property
    def bare(self) -> Shape:
        """Its points alone, for a body whose outline the model gives."""
        return Shape(self.points, _none(2), _none(3))


@dataclass(frozen=True, eq=False)
class Mark:
    """One joint: its symbol sits on body ``bodies[seat]``."""

    joint: int
    type: JointType
    bodies: tuple[int, int]
    origin: Floats  # (2, 3) of its frames on its two bodies, in their own frames
    axes: Floats  # (2, 3, 3) of these frames, as columns
    seat: int
    driven: bool
    slide: int | None  # column of the first one's axes along which the joint slides
    radii: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Guide:
    """Straight part of a sliding joint: rail, slot, track, tube or rod."""

    body: int
    joint: int
    ends: Floats  # (2, 3) in the frame of the body, m
    kind: str  # a wheel rolls on a track; a rod slides in a tube
    foot: Floats  # where a guide of a moving body meets the rest of it
    across: Floats | None = None  # (3,) direction in which a slot is wide


def marks_of(mechanism: Mechanism, frames: Frames, bodies: Sequence[int]) -> tuple[Mark, ...]:
    """The joints that have geometry and join two of these bodies, or one of them to one not drawn."""
    marks = []
    for j in np.flatnonzero(frames.known).tolist():
        row = type_of_joint(mechanism, j)
        a, b = mechanism.joint_bodies(j)[:2]
        if row.is_free or not {a, b} & (set(bodies) - {0}):
            continue
        slide = row.guide
        seat = 0 if b not in bodies or (slide is not None and b == 0) else 1
        origin = frames.origin[j] + _moved_to_a_point(mechanism, frames, j, seat, slide)
        radii = None
        ratio = float(frames.parameters["ratio"][j])
        if row.wheels == "gear":
            radii = _radii(frames, (a, b), origin, ratio)
        elif row.wheels == "bevel":
            radii = _bevel_radii(frames, (a, b), origin, frames.axes[j], ratio)
        elif row.wheels == "track":
            radii = (0.0, float(frames.parameters["radius"][j]))
        driven = bool(mechanism.driven[j])
        marks.append(Mark(j, row, (a, b), origin, frames.axes[j], seat, driven, slide, radii))
    return tuple(marks)


def guides_of(
    mechanism: Mechanism,
    frames: Frames,
    marks: Sequence[Mark],
    bodies: Sequence[int],
    position: Floats,
    quaternion: Floats,
) -> tuple[tuple[Guide, ...], tuple[Mark, ...]]:
    """Rails, tubes and rods as long as the motion needs, and the marks, those of tubes at their mouths."""
    guides: list[Guide] = []
    moved: list[Mark] = []
    tracks: set[tuple[int, int]] = set()
    for mark in marks:
        moved.append(mark)
        if mark.type.wheels == "track" and set(mark.bodies) <= set(bodies) and mark.bodies not in tracks:
            tracks.add(mark.bodies)
            guides.append(_track(mark, bodies, position, quaternion))
        if mark.slide is None or not set(mark.bodies) <= set(bodies):
            continue
        # The symbol sits on the body that slides; the other one has the guide.
        rides, holds = mark.seat, 1 - mark.seat
        rider, holder = mark.bodies[rides], mark.bodies[holds]
        k, m = bodies.index(holder), bodies.index(rider)
        axis, ridden = (mark.axes[side][:, mark.slide] for side in (holds, rides))
        start = position[:, k] + turned(quaternion[:, k], mark.origin[holds])
        block = position[:, m] + turned(quaternion[:, m], mark.origin[rides])
        slide = ((block - start) * turned(quaternion[:, k], axis)).sum(axis=1)
        slide = slide[np.isfinite(slide)] if np.isfinite(slide).any() else np.zeros(1)
        near, far = float(slide.min()), float(slide.max())
        feet = (_joints_of(mechanism, frames, marks, holder, but=mark.joint) - mark.origin[holds]) @ axis
        heads = (_joints_of(mechanism, frames, marks, rider, but=mark.joint) - mark.origin[rides]) @ ridden
        if holder and rider and mark.type.telescopes and len(feet) and len(heads):
            foot, head = float(feet.mean()), float(heads.mean())
            lengths = _tube(near + head - foot, far + head - foot)
            if lengths is not None:
                tube = mark.origin[holds] + np.outer([foot, foot + lengths[0]], axis)
                rod = mark.origin[rides] + np.outer([head, head - lengths[1]], ridden)
                guides.append(Guide(holder, mark.joint, tube, "tube", tube[0]))
                guides.append(Guide(rider, mark.joint, rod, "rod", rod[0]))
                origin = mark.origin.copy()
                origin[holds] = tube[1]
                moved[-1] = replace(mark, origin=origin, seat=holds)
                continue
        spare = max(0.12 * frames.size, 0.15 * (far - near))
        ends = mark.origin[holds] + np.outer([near - spare, far + spare], axis)
        nearest = float(np.clip(feet.mean() if len(feet) else near, near - spare, far + spare))
        kind = "slot" if mark.type.solid == "rider" else "rail"
        across = np.cross(mark.axes[holds][:, 2], axis)
        guides.append(Guide(holder, mark.joint, ends, kind, mark.origin[holds] + nearest * axis, across))
    return tuple(guides), tuple(moved)


def shapes_of(
    mechanism: Mechanism,
    frames: Frames,
    marks: Sequence[Mark],
    guides: Sequence[Guide],
    bodies: Sequence[int],
) -> tuple[Shape, ...]:
    """One shape for each of these bodies; that of the frame has points and no lines."""
    shapes = []
    for body in bodies:
        points = [_joints_of(mechanism, frames, marks, body)]
        points += [guide.foot[None] for guide in guides if guide.body == body]
        unique = _unique(np.concatenate(points), _SAME * frames.size)
        lines, faces = _outline(unique) if body else (_none(2), _none(3))
        shapes.append(Shape(unique, lines, faces))
    return tuple(shapes)


def _moved_to_a_point(mechanism: Mechanism, frames: Frames, j: int, seat: int, slide: int | None) -> Floats:
    """Way (2, 3) of the origins of a sliding joint to a point, where the model gives it none."""
    # Its axis then has a direction and no place; the body that slides has one, among its other joints.
    geometry = mechanism.joint_geometry.get(j)
    nowhere = geometry is not None and geometry.point is None and geometry.frames is None
    if slide is None or not nowhere:
        return np.zeros((2, 3))
    bodies = mechanism.joint_bodies(j)[:2]
    for side in (seat, 1 - seat):
        points = _joints_of(mechanism, frames, (), bodies[side], but=j)
        if len(points) and bodies[side]:
            break
    else:
        return np.zeros((2, 3))
    rotation, position = frames.rotation, frames.position
    here = position[bodies[1]] + rotation[bodies[1]] @ frames.origin[j, 1]
    shift = position[bodies[side]] + rotation[bodies[side]] @ points.mean(axis=0) - here
    return np.stack([rotation[body].T @ shift for body in bodies])


def _joints_of(
    mechanism: Mechanism, frames: Frames, marks: Sequence[Mark], body: int, but: int = -1
) -> Floats:
    """Joints and named points (n, 3) of a body in its own frame."""
    # Of a sliding joint a body has the point that its block is at, if the block is its own; without `marks`,
    # which are not there yet at first, sliding joints do not count.
    points = [
        mark.origin[side]
        for mark in marks
        for side in (0, 1)
        if mark.bodies[side] == body and mark.joint != but and (mark.slide is None or mark.seat == side)
    ]
    if not marks:
        for j in np.flatnonzero(frames.known).tolist():
            row = type_of_joint(mechanism, j)
            if j == but or row.guide is not None or row.is_free:
                continue
            ends = mechanism.joint_bodies(j)[:2]
            points += [frames.origin[j, side] for side in (0, 1) if ends[side] == body]
    geometry = mechanism.body_geometry.get(body)
    if geometry is not None:
        for name in geometry.points:
            points.append(local_point(mechanism, frames, body, geometry.points[name]))
    return np.array(points).reshape(-1, 3)


def local_point(mechanism: Mechanism, frames: Frames, body: int, at: Sequence[float]) -> Floats:
    """Point (3,) in a body's own frame at world coordinates (2,) or (3,) at the reference."""
    local: Floats = frames.rotation[body].T @ (in_space(np.array(at)) - frames.position[body])
    return local


def _tube(near: float, far: float) -> tuple[float, float] | None:
    """Signed lengths of a tube and its rod for a distance from near to far; None where they cannot nest."""
    # They cannot where the distance changes its sign, or too much for one stage.
    sign = 1.0 if near > 0.0 else -1.0
    least, most = (near, far) if sign > 0 else (-far, -near)
    if least <= 0.0 or most > 1.7 * least:
        return None
    rod = min(0.9 * least, 0.55 * most)
    return sign * (most - rod + 0.06 * least), sign * rod


def _radii(
    frames: Frames, bodies: tuple[int, int], origin: Floats, ratio: float
) -> tuple[float, float] | None:
    """Radii of two wheels from the distance of their centres and r2/r1, negative for an internal mesh."""
    first, second = (
        frames.position[body] + frames.rotation[body] @ origin[side] for side, body in enumerate(bodies)
    )
    total = 1.0 + ratio
    if abs(total) < 1e-9:
        return None
    first_radius = float(np.linalg.norm(second - first)) / abs(total)
    return first_radius, abs(ratio) * first_radius


def _bevel_radii(
    frames: Frames, bodies: tuple[int, int], origin: Floats, axes: Floats, ratio: float
) -> tuple[float, float] | None:
    """Radii of two bevel wheels, from the distances of their centres to where their axes meet; else None."""
    # With the shaft angle s the first cone has tan = sin s / (ratio + cos s); radii are as the ratio says.
    centres = [frames.position[b] + frames.rotation[b] @ origin[k] for k, b in enumerate(bodies)]
    one, other = (frames.rotation[b] @ axes[k][:, 2] for k, b in enumerate(bodies))
    cosine, normal = float(one @ other), np.cross(one, other)
    sine, gap = float(np.linalg.norm(normal)), centres[1] - centres[0]
    if sine < 1e-9:
        return _radii(frames, bodies, origin, ratio)
    if abs(gap @ normal) > 1e-6 * sine * frames.size:
        return None
    first = abs(float((gap - (gap @ other) * other) @ one)) / sine**2
    second = abs(float((gap - (gap @ one) * one) @ other)) / sine**2
    if first > _SAME * frames.size and abs(ratio + cosine) > 1e-9:
        radius = first * abs(sine / (ratio + cosine))
    elif second > _SAME * frames.size and abs(1.0 / ratio + cosine) > 1e-9:
        radius = second * abs(sine / (1.0 / ratio + cosine)) / abs(ratio)
    else:
        return None
    return radius, abs(ratio) * radius


def _track(mark: Mark, bodies: Sequence[int], position: Floats, quaternion: Floats) -> Guide:
    """The track of a wheel, as long as the wheel comes along and a radius more on both sides."""
    k, m = (bodies.index(body) for body in mark.bodies)
    start = position[:, k] + turned(quaternion[:, k], mark.origin[0])
    centre = position[:, m] + turned(quaternion[:, m], mark.origin[1])
    way = ((centre - start) * turned(quaternion[:, k], mark.axes[0][:, 0])).sum(axis=1)
    way = way[np.isfinite(way)] if np.isfinite(way).any() else np.zeros(1)
    assert mark.radii is not None
    spare = 1.2 * mark.radii[1]
    ends = mark.origin[0] + np.outer([way.min() - spare, way.max() + spare], mark.axes[0][:, 0])
    return Guide(mark.bodies[0], mark.joint, ends, "track", ends[0])


def _unique(points: Floats, tolerance: float) -> Floats:
    kept: list[Floats] = []
    for point in points:
        if all(np.linalg.norm(point - other) > tolerance for other in kept):
            kept.append(point)
    return np.array(kept).reshape(-1, 3)


def _none(width: int) -> Ints:
    return np.zeros((0, width), dtype=np.int64)


def _outline(points: Floats) -> tuple[Ints, Ints]:
    """Lines (m, 2) and faces (f, 3) through points (n, 3): a link, a polygon, or the edges of a hull."""
    if len(points) < 2:
        return _none(2), _none(3)
    middle = points - points.mean(axis=0)
    _, extents, directions = np.linalg.svd(middle, full_matrices=True)
    rank = int((extents > 1e-3 * extents[0]).sum())
    if rank == 1:
        along = middle @ directions[0]
        return np.array([[int(along.argmin()), int(along.argmax())]]), _none(3)
    from scipy.spatial import ConvexHull

    if rank == 2:
        rim = ConvexHull(middle @ directions[:2].T).vertices.astype(np.int64)
        lines = np.stack([rim, np.roll(rim, -1)], axis=1)
        faces = [[rim[0], rim[i], rim[i + 1]] for i in range(1, len(rim) - 1)]
        return lines, np.array(faces)
    hull = ConvexHull(middle)
    faces_of: dict[tuple[int, int], list[int]] = {}
    for f, corners in enumerate(hull.simplices.tolist()):
        for i in range(3):
            edge = sorted((corners[i], corners[(i + 1) % 3]))
            faces_of.setdefault((edge[0], edge[1]), []).append(f)
    # An edge between two facets of one plane only halves a polygon.
    normals = hull.equations[:, :3]
    edges = [edge for edge, (f, g) in faces_of.items() if normals[f] @ normals[g] < 1.0 - 1e-6]
    return np.array(sorted(edges)), hull.simplices.astype(np.int64)
