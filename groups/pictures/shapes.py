"""Geometry that stands for bodies and joints: lines through joints, guides of slides, wheels."""

# A body with two joints is a link between them; three or more span a polygon, or a hull where they do not lie
# in one plane. A sliding joint is a block on a rail or, between two moving bodies with room for it, a rod in
# a tube.

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.rotations import turned
from mbssa.arrays import Floats
from mbssa.joints.catalogue import JointType, type_of_joint
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
    pitch: Floats | None = None  # (2, 2) x, y where its wheels mesh at the reference, in these frames, m

    @property
    def radii(self) -> tuple[float, float] | None:
        """Pitch radii of its wheels, m."""
        return None if self.pitch is None else tuple(np.hypot(*self.pitch.T).tolist())


@dataclass(frozen=True, eq=False)
class Line:
    """Line on one body; a closed one ends where it begins and has material inside."""

    body: int
    points: Floats  # (n, 3) in the body's own frame, m
    # kind: link or edge between joints, facet of a hull, which has no edge itself; of a sliding joint rail,
    # slot, tube or rod, which slides in a tube; track that a wheel rolls on; others are rims and profiles
    kind: str = ""
    closed: bool = False
    joint: int = -1  # that slides or rolls on it
    foot: Floats | None = None  # where a guide of a moving body meets the rest of it
    across: Floats | None = None  # (3,) direction in which a slot is wide


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
        row, (a, b) = type_of_joint(mechanism, j), mechanism.joint_bodies(j)[:2]
        if not row.is_free and {a, b} & (set(stage.bodies) - {0}):
            seat = 0 if b not in stage.bodies or (row.guide is not None and b == 0) else 1
            driven = bool(mechanism.driven[j])
            mark = Mark(j, row, (a, b), frames.origin[j], frames.axes[j], seat, driven)
            marks.append(replace(mark, pitch=_pitch(frames, mark)) if row.wheels else mark)
    placed = [mark for mark in marks if mark.type.guide is None]
    return [mark if mark.type.guide is None else _at_a_point(stage, placed, mark) for mark in marks]


def _at_a_point(stage: Stage, placed: Sequence[Mark], mark: Mark) -> Mark:
    """A sliding joint at a point of one of its bodies, where the model gives its axis no place."""
    geometry, frames = stage.mechanism.joint_geometry.get(mark.joint), stage.frames
    if geometry is None or geometry.point is not None or geometry.frames is not None:
        return mark
    for body in (mark.bodies[mark.seat], mark.bodies[1 - mark.seat]):
        points = _joints_of(stage, placed, body)
        if len(points) and body:
            places = [(body, points.mean(axis=0)), (mark.bodies[1], mark.origin[1])]
            there, here = (frames.position[b] + frames.rotation[b] @ at for b, at in places)
            shift = [frames.rotation[b].T @ (there - here) for b in mark.bodies]
            return replace(mark, origin=mark.origin + shift)
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


def _pitch(frames: Frames, mark: Mark) -> Floats | None:
    """Where the two wheels of a joint mesh (:class:`Mark`); None where their axes are skew."""
    if mark.type.wheels == "track":
        return np.array([[0.0, 0.0], [0.0, -float(frames.parameters["radius"][mark.joint])]])
    ratio = float(frames.parameters["ratio"][mark.joint])
    turn = frames.rotation[[*mark.bodies]] @ mark.axes
    centres = [
        frames.position[b] + frames.rotation[b] @ mark.origin[side] for side, b in enumerate(mark.bodies)
    ]
    # Axis of the relative rotation of the wheels, which have the velocities ratio and -1 about their axes.
    spin, slip = ratio * turn[0, :, 2] + turn[1, :, 2], np.cross(turn[1, :, 2], centres[0] - centres[1])
    if spin @ spin < 1e-18 or abs(spin @ slip) > _SAME * frames.size * (spin @ spin):
        return None
    for wheel in (0, 1):  # the pitch point is in the plane of one of them
        away, axis = np.cross(spin, slip) / (spin @ spin) + centres[0] - centres[wheel], turn[wheel, :, 2]
        if abs(spin @ axis) > 1e-9:
            at = centres[wheel] + away - (away @ axis) / (spin @ axis) * spin
            pitch = np.array([(at - centres[side]) @ turn[side, :, :2] for side in (0, 1)])
            if np.hypot(*pitch[wheel]) > _SAME * frames.size:
                return pitch
    return None


def guides_of(stage: Stage, marks: Sequence[Mark]) -> tuple[list[Line], list[Mark]]:
    """Rails, tracks, tubes and rods as long as the motion needs, and the marks, those of tubes at mouths."""
    guides, moved = list[Line](), list[Mark]()
    for mark in marks:
        moved.append(mark)
        slide, rolls = mark.type.guide, mark.type.wheels == "track"
        if not stage.has(mark) or (slide is None and not rolls):
            continue
        # The symbol sits on the body that slides or rolls; the other one has the guide.
        rides = 1 if slide is None else mark.seat
        sides = [1 - rides, rides]
        (holder, rider), (at, to) = (mark.bodies[side] for side in sides), mark.origin[sides]
        axis, ridden = mark.axes[sides][:, :, slide or 0]
        feet, heads = (
            (_joints_of(stage, marks, mark.bodies[side], but=mark.joint) - mark.origin[side]) @ along
            for side, along in zip(sides, (axis, ridden), strict=True)
        )
        turn = stage.quaternion[:, stage.bodies.index(holder)]
        way = ((stage.place(mark, rides) - stage.place(mark, 1 - rides)) * turned(turn, axis)).sum(axis=1)
        ways = way[np.isfinite(way)].tolist() or [0.0]
        near, far = min(ways), max(ways)
        if holder and rider and mark.type.telescopes and len(feet) and len(heads):
            foot, head = float(feet.mean()), float(heads.mean())
            least, most = sorted((near + head - foot, far + head - foot), key=abs)
            # They nest where the distance keeps its sign and does not change too much for one stage.
            if least and 1.0 <= most / least <= 1.7:
                length = min(0.9 * least, 0.55 * most, key=abs)
                tube = at + np.outer([foot, foot + most - length + 0.06 * least], axis)
                rod = to + np.outer([head, head - length], ridden)
                guides += [Line(holder, tube, "tube", joint=mark.joint, foot=tube[0])]
                guides += [Line(rider, rod, "rod", joint=mark.joint, foot=rod[0])]
                origin = mark.origin.copy()
                origin[1 - rides] = tube[1]
                moved[-1] = replace(mark, origin=origin, seat=1 - rides)
                continue
        spare = 1.2 * mark.radii[1] if mark.radii else max(0.12 * stage.frames.size, 0.15 * (far - near))
        low, high = near - spare, far + spare
        nearest = low if rolls else float(np.clip(feet.mean() if len(feet) else near, low, high))
        low_foot_high = at + np.outer([low, nearest, high], axis)
        kind = "track" if rolls else "slot" if mark.type.solid == "rider" else "rail"
        across = np.cross(mark.axes[1 - rides][:, 2], axis)
        guides.append(Line(holder, low_foot_high[::2], kind, False, mark.joint, low_foot_high[1], across))
    return guides, moved


def points_of_bodies(stage: Stage, marks: Sequence[Mark], guides: Sequence[Line]) -> list[Floats]:
    """Joints, named points and beginnings of guides (n, 3) of each drawn body in its own frame, once each."""
    found = []
    for body in stage.bodies:
        feet = [guide.foot for guide in guides if guide.body == body and guide.foot is not None]
        unique: list[Floats] = []
        for point in [*_joints_of(stage, marks, body), *feet]:
            if all(np.linalg.norm(point - other) > _SAME * stage.frames.size for other in unique):
                unique.append(point)
        found.append(np.array(unique).reshape(-1, 3))
    return found


def lines_through(body: int, points: Floats) -> Iterator[Line]:
    """A link, a polygon, or the edges and facets of a hull through points (n, 3) of a body."""
    if len(points) < 2:
        return
    middle = points - points.mean(axis=0)
    _, extents, directions = np.linalg.svd(middle, full_matrices=True)
    rank = int((extents > 1e-3 * extents[0]).sum())
    if rank == 1:
        along = middle @ directions[0]
        yield Line(body, points[[along.argmin(), along.argmax()]], "link")
        return
    from scipy.spatial import ConvexHull

    hull = ConvexHull(middle @ directions[:rank].T)
    if rank == 2:
        yield Line(body, points[[*hull.vertices, hull.vertices[0]]], "edge", True)
        return
    # An edge between two facets of one plane only halves a polygon.
    normals = hull.equations[:, :3]
    facet, corner = np.nonzero((normals[:, None] * normals[hull.neighbors]).sum(axis=2) < 1.0 - 1e-6)
    edges = hull.simplices[facet][np.arange(3) != corner[:, None]].reshape(-1, 2)
    facets = np.column_stack([hull.simplices, hull.simplices[:, 0]])
    for kind, rows in (("edge", np.unique(np.sort(edges, axis=1), axis=0)), ("facet", facets)):
        yield from (Line(body, points[row], kind, kind == "facet") for row in rows)


def visual_of(mechanism: Mechanism, body: int) -> Mapping[str, Any]:
    """The table of a body's looks, empty where the model gives none."""
    return mechanism.body_geometry.get(body, BodyGeometry()).visual or {}
