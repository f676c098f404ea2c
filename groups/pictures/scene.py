"""Content of a picture of a motion: bodies as lines between their joints, joints, guides, poses, bounds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from groups.pictures.cams import Outline, outlines_of
from groups.pictures.gears import rims_of
from groups.pictures.shapes import Guide, Mark, Shape, guides_of, marks_of, shapes_of
from groups.pictures.visuals import visual_outlines
from groups.rotations import turned
from mbssa import decompose
from mbssa.arrays import Floats, Ints
from mbssa.joints.frames import joint_frames
from mbssa.pictures.hues import NO_GROUP, Hue, body_colours, group_hues

if TYPE_CHECKING:
    from groups.trajectory import Trajectory
    from mbssa import Mechanism, Structure
    from mbssa.joints.poses import Poses


#: Poses from which bounds are taken; more would change nothing visible.
_FOR_BOUNDS = 500


@dataclass(frozen=True, eq=False)
class Scene:
    """Drawing of a mechanism at F instants of its motion; planar ones lie in the plane z = 0."""

    structure: Structure  # of the mechanism whose motion it is; its groups have a hue each
    colours: tuple[str, ...]  # of the bodies by index, shades of their groups' hues
    instants: Ints  # (F,) numbers of the instants of the trajectory, ascending
    time: Floats  # (F,) s
    bodies: tuple[int, ...]  # (K,) indices of the bodies that are drawn, the frame first
    position: Floats  # (F, K, 3) m, of the bodies' own origins; NaN where a body was not solved
    quaternion: Floats  # (F, K, 4) w, x, y, z
    shapes: tuple[Shape, ...]  # one for each drawn body, in its own frame
    marks: tuple[Mark, ...]  # joints between drawn bodies
    guides: tuple[Guide, ...]  # rails, tubes and rods of the joints that slide
    outlines: tuple[Outline, ...]  # profiles of cams and their followers; rims; outlines in the file
    low: Floats  # (3,) corner of the box that holds the whole motion, m
    high: Floats  # (3,) m

    @property
    def mechanism(self) -> Mechanism:
        return self.structure.mechanism

    @cached_property
    def hues(self) -> tuple[Hue, ...]:
        """Hue of each body's group by index of the body; grey where it is in none."""
        by_number = group_hues(self.structure)
        return tuple(by_number.get(g, Hue(NO_GROUP, 0)) for g in self.structure.group_of_body.tolist())

    @property
    def planar(self) -> bool:
        return self.mechanism.space == "planar"

    @property
    def size(self) -> float:
        """Diagonal of the box, m."""
        return float(np.linalg.norm(self.high - self.low)) or 1.0

    def world(self, body: int, points: Floats) -> Floats:
        """World coordinates (F, n, 3) of points (n, 3) of a body, given in its own frame."""
        k = self.bodies.index(body)
        return self.position[:, k, None] + turned(self.quaternion[:, k, None], points)


def scene_of(trajectory: Trajectory, most: int | Ints) -> Scene:
    """Drawing at these instants, or at no more than ``most``, evenly chosen."""
    mechanism = trajectory.mechanism
    instants = chosen(len(trajectory.time), most) if isinstance(most, int) else np.asarray(most)
    frames = joint_frames(mechanism)
    wide = np.unique(np.concatenate([instants, chosen(len(trajectory.time), _FOR_BOUNDS)]))
    bodies, position, quaternion = _poses(trajectory, wide, frames.position[0], frames.rotation[0])
    marks = marks_of(mechanism, frames, bodies)
    guides, marks = guides_of(mechanism, frames, marks, bodies, position, quaternion)
    shapes = shapes_of(mechanism, frames, marks, guides, bodies)
    tracks = {guide.joint: guide for guide in guides if guide.kind == "track"}
    given = visual_outlines(mechanism, frames, bodies)
    outlined = {outline.body for outline in given}
    guides = tuple(guide for guide in guides if guide.body not in outlined)
    shapes = tuple(
        shape.bare if body in outlined else shape for body, shape in zip(bodies, shapes, strict=True)
    )
    outlines = (
        *outlines_of(mechanism, frames, bodies, position, quaternion),
        *rims_of(frames, marks, tracks, bodies),
        *given,
    )
    at = np.searchsorted(wide, instants)
    low, high = _box(bodies, position, quaternion, shapes, guides, outlines)
    structure = decompose(mechanism)
    return Scene(
        structure,
        body_colours(structure),
        instants,
        trajectory.time[instants],
        bodies,
        position[at],
        quaternion[at],
        shapes,
        marks,
        guides,
        outlines,
        low,
        high,
    )


def at_rest(
    mechanism: Mechanism, poses: Poses, bodies: Ints, level: int = 0, n_groups: int = 0
) -> Trajectory:
    """One instant at which bodies (K,) stand still in these poses, with so many groups that were solved."""
    from groups.trajectory import Trajectory, quaternion_of

    planar = mechanism.space == "planar"
    position, rotation = poses.position[bodies][None], poses.rotation[bodies]
    still, ok = np.zeros((1, len(bodies), 3 if planar else 6)), np.zeros((1, n_groups))
    return Trajectory(
        mechanism,
        np.zeros(1),
        position[..., :2] if planar else position,
        np.arctan2(rotation[:, 1, 0], rotation[:, 0, 0])[None] if planar else quaternion_of(rotation)[None],
        still if level > 0 else None,
        still if level > 1 else None,
        ok.astype(np.int8),
        ok,
        ok.astype(np.int64),
        ok + 1.0,
        bodies,
    )


def chosen(there: int, most: int) -> Ints:
    """At most ``most`` of the instants 0 … there - 1, evenly, the first and the last among them."""
    return np.unique(np.round(np.linspace(0, there - 1, min(there, max(most, 1)))).astype(np.int64))


def _poses(
    trajectory: Trajectory, instants: Ints, frame_at: Floats, frame_axes: Floats
) -> tuple[tuple[int, ...], Floats, Floats]:
    """The frame and the bodies that were kept: indices, positions (F, K, 3) and quaternions (F, K, 4)."""
    from groups.trajectory import quaternion_of

    place = np.flatnonzero(trajectory.kept != 0)
    spatial = trajectory.instants(instants).spatial()
    frame = np.broadcast_to(frame_at, (len(instants), 1, 3))
    turn = np.broadcast_to(quaternion_of(frame_axes[None]), (len(instants), 1, 4))
    return (
        (0, *trajectory.kept[place].tolist()),
        np.concatenate([frame, spatial.position[:, place]], axis=1),
        np.concatenate([turn, spatial.orientation[:, place]], axis=1),
    )


def _box(
    bodies: tuple[int, ...],
    position: Floats,
    quaternion: Floats,
    shapes: tuple[Shape, ...],
    guides: tuple[Guide, ...],
    outlines: tuple[Outline, ...],
) -> tuple[Floats, Floats]:
    local = [(k, shape.points) for k, shape in enumerate(shapes)]
    local += [(bodies.index(guide.body), guide.ends) for guide in guides]
    local += [(bodies.index(outline.body), outline.points) for outline in outlines]
    parts = [
        (position[:, k, None] + turned(quaternion[:, k, None], points)).reshape(-1, 3)
        for k, points in local
        if len(points)
    ]
    points = np.concatenate(parts) if parts else np.zeros((0, 3))
    points = points[np.isfinite(points).all(axis=1)]
    if not len(points):
        return -0.5 * np.ones(3), 0.5 * np.ones(3)
    return points.min(axis=0), points.max(axis=0)
