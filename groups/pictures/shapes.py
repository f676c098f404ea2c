"""Geometry that stands for bodies and joints: lines and faces through joints, outlines, guides of slides."""

# A body with two joints is a link between them; three or more span a polygon, or a hull where they do not lie
# in one plane. A sliding joint is a block on a rail or, between two moving bodies with room for it, a rod in
# a tube.

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.rotations import turned
from mbssa.arrays import Floats, Ints
from mbssa.joints.catalogue import JointType, type_of_joint
from mbssa.joints.poses import relative_pose
from mbssa.mechanism import BodyGeometry

if TYPE_CHECKING:
    from mbssa import Mechanism
    from mbssa.joints.frames import Frames


#: Points nearer than this part of the mechanism's size are one point.
_SAME = 1e-6


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
    radii: tuple[float, float] | None = None  # of its wheels, m


@dataclass(frozen=True, eq=False)
class Outline:
    """Line on one body; a closed one ends where it begins and has material inside."""

    body: int
    points: Floats  # (n, 3) in the body's own frame, m
    closed: bool = False
    # kind: rail, slot, tube or rod, which slides in a tube, of a sliding joint; a wheel rolls on a track
    kind: str = ""
    joint: int = -1
    foot: Floats | None = None  # where a guide of a moving body meets the rest of it
    across: Floats | None = None  # (3,) direction in which a slot is wide


@dataclass(frozen=True, eq=False)
class Shape:
    """Shape of one body in its own frame, m."""

    points: Floats  # (n, 3) its joints, its named points, beginnings of its guides
    lines: Ints  # (m, 2) rows of points
    faces: Sequence[list[int]]  # rows of points around each convex face


@dataclass(frozen=True, eq=False)
class Stage:
    """Bodies of a mechanism at F instants of its motion; planar ones lie in the plane z = 0."""

    mechanism: Mechanism
    frames: Frames
    bodies: tuple[int, ...]  # (K,) indices of the bodies that are drawn, the frame first
    position: Floats  # (F, K, 3) m, of the bodies' own origins; NaN where a body was not solved
    quaternion: Floats  # (F, K, 4) w, x, y, z

    def world(self, body: int, points: Floats) -> Floats:
        """World coordinates (F, n, 3) of points (n, 3) of a body, given in its own frame."""
        k = self.bodies.index(body)
        return self.position[..., k, None, :] + turned(self.quaternion[..., k, None, :], points)

    def place(self, mark: Mark, side: int | None = None) -> Floats:
        """World coordinates (F, 3) of a joint on its seat, or on the body of this side."""
        side = mark.seat if side is None else side
        return np.asarray(self.world(mark.bodies[side], mark.origin[side][None])[..., 0, :])

    def has(self, mark: Mark) -> bool:
        """Whether both bodies of a joint are drawn."""
        return set(mark.bodies) <= set(self.bodies)


def marks_of(stage: Stage) -> list[Mark]:
    """The joints that have geometry and join two drawn bodies, or one of them to one not drawn."""
    mechanism, frames = stage.mechanism, stage.frames
    marks = []
    for j in np.flatnonzero(frames.known).tolist():
        row = type_of_joint(mechanism, j)
        a, b = mechanism.joint_bodies(j)[:2]
        if row.is_free or not {a, b} & (set(stage.bodies) - {0}):
            continue
        seat = 0 if b not in stage.bodies or (row.guide is not None and b == 0) else 1
        driven = bool(mechanism.driven[j])
        mark = Mark(j, row, (a, b), frames.origin[j], frames.axes[j], seat, driven)
        marks.append(replace(mark, radii=_radii(frames, mark)) if row.wheels else mark)
    placed = [mark for mark in marks if mark.type.guide is None]
    return [mark if mark.type.guide is None else _at_a_point(stage, placed, mark) for mark in marks]


def guides_of(stage: Stage, marks: Sequence[Mark]) -> tuple[list[Outline], list[Mark]]:
    """Rails, tracks, tubes and rods as long as the motion needs, and the marks, those of tubes at mouths."""
    guides, moved = list[Outline](), list[Mark]()
    for mark in marks:
        moved.append(mark)
        slide, rolls = mark.type.guide, mark.type.wheels == "track"
        if not stage.has(mark) or (slide is None and not rolls):
            continue
        # The symbol sits on the body that slides or rolls; the other one has the guide.
        rides = 1 if slide is None else mark.seat
        holds = 1 - rides
        rider, holder = mark.bodies[rides], mark.bodies[holds]
        axis, ridden = (mark.axes[side][:, slide or 0] for side in (holds, rides))
        near, far = _way(stage, mark, holds, axis)
        feet = (_joints_of(stage, marks, holder, but=mark.joint) - mark.origin[holds]) @ axis
        heads = (_joints_of(stage, marks, rider, but=mark.joint) - mark.origin[rides]) @ ridden
        if holder and rider and mark.type.telescopes and len(feet) and len(heads):
            foot, head = float(feet.mean()), float(heads.mean())
            lengths = _tube(near + head - foot, far + head - foot)
            if lengths is not None:
                tube = mark.origin[holds] + np.outer([foot, foot + lengths[0]], axis)
                rod = mark.origin[rides] + np.outer([head, head - lengths[1]], ridden)
                guides.append(Outline(holder, tube, False, "tube", mark.joint, tube[0]))
                guides.append(Outline(rider, rod, False, "rod", mark.joint, rod[0]))
                origin = mark.origin.copy()
                origin[holds] = tube[1]
                moved[-1] = replace(mark, origin=origin, seat=holds)
                continue
        spare = max(0.12 * stage.frames.size, 0.15 * (far - near))
        if mark.radii is not None:
            spare = 1.2 * mark.radii[1]
        low, high = near - spare, far + spare
        nearest = low if rolls else float(np.clip(feet.mean() if len(feet) else near, low, high))
        ends = mark.origin[holds] + np.outer([low, high], axis)
        kind = "track" if rolls else "slot" if mark.type.solid == "rider" else "rail"
        across = np.cross(mark.axes[holds][:, 2], axis)
        foot_at = mark.origin[holds] + nearest * axis
        guides.append(Outline(holder, ends, False, kind, mark.joint, foot_at, across))
    return guides, moved


def shapes_of(
    stage: Stage, marks: Sequence[Mark], guides: Sequence[Outline], bare: Collection[int]
) -> tuple[Shape, ...]:
    """One shape for each drawn body; that of the frame, and of ``bare`` bodies, has points alone."""
    shapes = []
    for body in stage.bodies:
        points = [*_joints_of(stage, marks, body)]
        points += [guide.foot for guide in guides if guide.body == body and guide.foot is not None]
        unique: list[Floats] = []
        for point in points:
            if all(np.linalg.norm(point - other) > _SAME * stage.frames.size for other in unique):
                unique.append(point)
        corners = np.array(unique).reshape(-1, 3)
        shapes.append(Shape(corners, *_faces(corners if body and body not in bare else corners[:0])))
    return tuple(shapes)


def _way(stage: Stage, mark: Mark, holds: int, axis: Floats) -> tuple[float, float]:
    """From where to where a joint moves along an axis of the body that holds it, m."""
    along = turned(stage.quaternion[:, stage.bodies.index(mark.bodies[holds])], axis)
    way = ((stage.place(mark, 1 - holds) - stage.place(mark, holds)) * along).sum(axis=1)
    way = way[np.isfinite(way)]
    return (float(way.min()), float(way.max())) if len(way) else (0.0, 0.0)


def _at_a_point(stage: Stage, placed: Sequence[Mark], mark: Mark) -> Mark:
    """A sliding joint at a point of one of its bodies, where the model gives its axis no place."""
    geometry = stage.mechanism.joint_geometry.get(mark.joint)
    if geometry is None or geometry.point is not None or geometry.frames is not None:
        return mark
    position, rotation = stage.frames.position, stage.frames.rotation
    for body in (mark.bodies[mark.seat], mark.bodies[1 - mark.seat]):
        points = _joints_of(stage, placed, body)
        if len(points) and body:
            last = mark.bodies[1]
            here = position[last] + rotation[last] @ mark.origin[1]
            shift = position[body] + rotation[body] @ points.mean(axis=0) - here
            return replace(mark, origin=mark.origin + [rotation[b].T @ shift for b in mark.bodies])
    return mark


def _joints_of(stage: Stage, marks: Sequence[Mark], body: int, but: int = -1) -> Floats:
    """Joints and named points (n, 3) of a body in its own frame; of a slide the block, if it is its own."""
    points = [
        mark.origin[side]
        for mark in marks
        for side in (0, 1)
        if mark.bodies[side] == body and mark.joint != but and (mark.type.guide is None or mark.seat == side)
    ]
    named = stage.mechanism.body_geometry.get(body, BodyGeometry()).points
    points += [stage.frames.on_body(body, at) for at in named.values()]
    return np.array(points).reshape(-1, 3)


def _tube(near: float, far: float) -> tuple[float, float] | None:
    """Signed lengths of a tube and its rod for a distance from near to far; None where they cannot nest."""
    # They cannot where the distance changes its sign, or too much for one stage.
    sign = 1.0 if near > 0.0 else -1.0
    least, most = (near, far) if sign > 0 else (-far, -near)
    if least <= 0.0 or most > 1.7 * least:
        return None
    rod = min(0.9 * least, 0.55 * most)
    return sign * (most - rod + 0.06 * least), sign * rod


def visual_of(mechanism: Mechanism, body: int) -> Mapping[str, Any]:
    """The table of a body's looks, empty where the model gives none."""
    return mechanism.body_geometry.get(body, BodyGeometry()).visual or {}


def joined(frames: Frames, mark: Mark) -> tuple[Floats, Floats]:
    """Place (3,) and axes (3, 3) of a joint's second frame from its first, at the reference."""
    ends = [(frames.position[body], frames.rotation[body]) for body in mark.bodies]
    return relative_pose(ends, mark.origin, mark.axes)[:2]


def _radii(frames: Frames, mark: Mark) -> tuple[float, float] | None:
    """Radii of two wheels, r2/r1 negative for an internal mesh; None where their axes are skew."""
    # With the shaft angle s the first cone has tan = sin s / (ratio + cos s); radii are as the ratio says.
    if mark.type.wheels == "track":
        return 0.0, float(frames.parameters["radius"][mark.joint])
    ratio = float(frames.parameters["ratio"][mark.joint])
    gap, axes = joined(frames, mark)
    other, cosine, sine = axes[:, 2], float(axes[2, 2]), float(np.hypot(*axes[:2, 2]))
    if sine < 1e-9:
        radius = float(np.linalg.norm(gap)) / abs(1.0 + ratio) if abs(1.0 + ratio) > 1e-9 else None
        return None if radius is None else (radius, abs(ratio) * radius)
    if abs(gap[1] * other[0] - gap[0] * other[1]) > _SAME * sine * frames.size:
        return None
    # From the distance of either centre to where the axes meet.
    first = abs(float(gap[2] - (gap @ other) * cosine)) / sine**2
    second = abs(float(gap @ other - gap[2] * cosine)) / sine**2
    if first > _SAME * frames.size and abs(ratio + cosine) > 1e-9:
        radius = first * abs(sine / (ratio + cosine))
    elif second > _SAME * frames.size and abs(1.0 / ratio + cosine) > 1e-9:
        radius = second * abs(sine / (1.0 / ratio + cosine)) / abs(ratio)
    else:
        return None
    return radius, abs(ratio) * radius


def _faces(points: Floats) -> tuple[Ints, list[list[int]]]:
    """Lines (m, 2) and faces through points (n, 3): a link, a polygon, or the edges and facets of a hull."""
    if len(points) < 2:
        return np.zeros((0, 2), dtype=np.int64), []
    middle = points - points.mean(axis=0)
    _, extents, directions = np.linalg.svd(middle, full_matrices=True)
    rank = int((extents > 1e-3 * extents[0]).sum())
    if rank == 1:
        along = middle @ directions[0]
        return np.array([[int(along.argmin()), int(along.argmax())]]), []
    from scipy.spatial import ConvexHull

    if rank == 2:
        rim = ConvexHull(middle @ directions[:2].T).vertices.astype(np.int64)
        return np.stack([rim, np.roll(rim, -1)], axis=1), rim[None].tolist()
    hull = ConvexHull(middle)
    # An edge between two facets of one plane only halves a polygon.
    normals = hull.equations[:, :3]
    facet, corner = np.nonzero((normals[:, None] * normals[hull.neighbors]).sum(axis=2) < 1.0 - 1e-6)
    edges = hull.simplices[facet][np.arange(3) != corner[:, None]].reshape(-1, 2).astype(np.int64)
    return np.unique(np.sort(edges, axis=1), axis=0), hull.simplices.tolist()
