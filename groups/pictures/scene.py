"""Content of a picture of a motion: bodies as lines between their joints, joints, guides, poses, bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from groups.pictures.outlines import outlines_of, rims_of, visual_outlines
from groups.pictures.shapes import Mark, Outline, Shape, Stage, guides_of, marks_of, shapes_of
from groups.rotations import quaternion_of
from groups.status import STATUS
from mbssa import decompose
from mbssa.arrays import Floats, Ints
from mbssa.pictures.hues import NO_GROUP, Hue, body_colours, group_hues
from mbssa.texts import listed

if TYPE_CHECKING:
    from groups.trajectory import Trajectory
    from mbssa import Structure


#: Poses from which bounds are taken; more would change nothing visible.
_FOR_BOUNDS = 500


@dataclass(frozen=True, eq=False)
class Scene(Stage):
    """Drawing of a mechanism at F instants of its motion."""

    structure: Structure  # of the mechanism whose motion it is; its groups have a hue each
    hues: tuple[Hue, ...]  # of each body's group by index of the body; grey where it is in none
    colours: tuple[str, ...]  # of the bodies by index, shades of their groups' hues
    instants: Ints  # (F,) numbers of the instants of the trajectory, ascending
    time: Floats  # (F,) s
    shapes: tuple[Shape, ...]  # one for each drawn body
    marks: tuple[Mark, ...]  # joints between drawn bodies
    guides: tuple[Outline, ...]  # rails, tubes and rods of the joints that slide
    outlines: tuple[Outline, ...]  # profiles of cams and their followers; rims; outlines in the file
    low: Floats  # (3,) corner of the box that holds the whole motion, m
    high: Floats  # (3,) m

    @property
    def planar(self) -> bool:
        return self.mechanism.space == "planar"

    @property
    def size(self) -> float:
        """Diagonal of the box, m."""
        return float(np.linalg.norm(self.high - self.low)) or 1.0

    def at(self, instant: int) -> Scene:
        """The scene at one of its instants; places in the world have no axis of time."""
        f = int(np.searchsorted(self.instants, instant))
        return replace(
            self,
            position=self.position[f],
            quaternion=self.quaternion[f],
            instants=self.instants[f : f + 1],
            time=self.time[f : f + 1],
        )


def scene_of(trajectory: Trajectory, most: int | Ints) -> Scene:
    """Drawing at these instants, or at no more than ``most``, evenly chosen."""
    mechanism, there = trajectory.mechanism, len(trajectory.time)
    instants = chosen(there, most) if isinstance(most, int) else np.asarray(most)
    wide = np.union1d(instants, chosen(there, _FOR_BOUNDS))
    frames, place = trajectory.reference, np.flatnonzero(trajectory.kept != 0)
    solved, bodies = trajectory.instants(wide).spatial(), (0, *trajectory.kept[place].tolist())
    position, quaternion = (
        np.concatenate([np.tile(still, (len(wide), 1, 1)), moving[:, place]], axis=1)
        for still, moving in (
            (frames.position[:1], solved.position),
            (quaternion_of(frames.rotation[:1]), solved.orientation),
        )
    )
    stage = Stage(mechanism, frames, bodies, position, quaternion)
    guides, marks = guides_of(stage, marks_of(stage))
    looks = visual_outlines(stage)
    outlined = {outline.body for outline in looks}
    shapes = shapes_of(stage, marks, guides, outlined)
    outlines = (*outlines_of(stage), *rims_of(stage, marks, guides), *looks)
    guides = [guide for guide in guides if guide.body not in outlined]
    local = [*zip(stage.bodies, (shape.points for shape in shapes), strict=True)]
    local += [(outline.body, outline.points) for outline in (*guides, *outlines)]
    points = np.concatenate([stage.world(*part).reshape(-1, 3) for part in local])
    points = points[np.isfinite(points).all(axis=1)]
    structure = decompose(mechanism)
    hues = group_hues(structure)
    at = np.searchsorted(wide, instants)
    return Scene(
        **vars(stage) | {"position": position[at], "quaternion": quaternion[at]},
        structure=structure,
        hues=tuple(hues.get(g, Hue(NO_GROUP, 0)) for g in structure.group_of_body.tolist()),
        colours=body_colours(structure),
        instants=instants,
        time=trajectory.time[instants],
        shapes=shapes,
        marks=tuple(marks),
        guides=tuple(guides),
        outlines=outlines,
        low=points.min(axis=0) if len(points) else -0.5 * np.ones(3),
        high=points.max(axis=0) if len(points) else 0.5 * np.ones(3),
    )


def chosen(there: int, most: int) -> Ints:
    """At most ``most`` of the instants 0 … there - 1, evenly, the first and the last among them."""
    return np.unique(np.round(np.linspace(0, there - 1, min(there, max(most, 1)))).astype(np.int64))


def failed_at(trajectory: Trajectory, instant: int) -> str:
    """One line about an instant, ``SG-2, SG-4 singular``; empty where all groups were solved."""
    status = trajectory.status[instant]
    by_reason: dict[int, list[str]] = {}
    for g in np.flatnonzero(status).tolist():
        by_reason.setdefault(int(status[g]), []).append(f"SG-{g + 1}")
    return "; ".join(f"{listed(names, 4)} {STATUS[reason]}" for reason, names in by_reason.items())


def sentence(trajectory: Trajectory) -> str:
    """The first failure and how often it occurs, and the number of others; empty if there are none."""
    status = trajectory.status
    if not status.any():
        return ""
    kinds = np.unique([(g, code) for g, column in enumerate(status.T) for code in column if code], axis=0)
    first = int(np.flatnonzero(status.any(axis=1))[0])
    group = int(np.flatnonzero(status[first])[0])
    count = int((status[:, group] == status[first, group]).sum())
    text = f"SG-{group + 1} {STATUS[status[first, group]]} at {count:,} of {len(status):,} instants"
    return text + (f", and {len(kinds) - 1} more" if len(kinds) > 1 else "")
