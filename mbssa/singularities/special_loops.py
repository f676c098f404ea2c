"""Planar or spherical parts of spatial mechanisms, whose loops have three redundant constraints each."""

# A part moves parallel to a plane when its joints do: R about the normal, P across it, PL with the same
# normal; about a fixed point when R axes and U pins pass through it and S centres lie on it. Only parts that
# hang on the frame are sought: there normal or point stay where they are.

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

import numpy as np

from mbssa.arrays import Floats
from mbssa.decomposition.treatment import SpecialPart
from mbssa.joints.catalogue import JointType, type_of_joint

if TYPE_CHECKING:
    from mbssa.joints.frames import Frames
    from mbssa.joints.poses import Poses
    from mbssa.mechanism import Mechanism


def special_parts(mechanism: Mechanism, frames: Frames, at: Poses, tolerance: float) -> list[SpecialPart]:
    """Planar and spherical parts that contain a loop, largest first; no body is in two of them."""
    if mechanism.space == "planar":
        return []
    lines = _lines(mechanism, frames, at)
    candidates: list[SpecialPart] = []
    for normal in _distinct([z for kind, _, z in lines if _keeps_plane(kind)], tolerance):
        joints = [j for j, line in enumerate(lines) if _in_plane(line, normal, tolerance)]
        candidates += _loops(mechanism, "planar", joints, normal)
    for point in _meeting_points(lines, frames.size, tolerance):
        joints = [j for j, line in enumerate(lines) if _about_point(line, point, frames.size, tolerance)]
        candidates += _loops(mechanism, "spherical", joints, point)
    candidates.sort(key=lambda part: (-len(part.bodies), part.kind, part.joints))
    chosen: list[SpecialPart] = []
    taken: set[int] = set()
    for part in candidates:
        if taken.isdisjoint(part.bodies):
            chosen.append(part)
            taken.update(part.bodies)
    return chosen


#: Type, a point, and the axis of a joint in the world; no type where nothing is known of it.
Line = tuple[JointType | None, Floats, Floats]


def _lines(mechanism: Mechanism, frames: Frames, at: Poses) -> list[Line]:
    lines = []
    for j in range(mechanism.n_joints):
        kind = type_of_joint(mechanism, j) if frames.known[j] else None
        body = mechanism.joint_bodies(j)[1]
        point = at.position[body] + at.rotation[body] @ frames.origin[j, 1]
        lines.append((kind, point, at.rotation[body] @ frames.axes[j, 1][:, 2]))
    return lines


def _distinct(directions: list[Floats], tolerance: float) -> list[Floats]:
    found: list[Floats] = []
    for z in directions:
        if not any(_parallel(z, other, tolerance) for other in found):
            found.append(z)
    return found


def _parallel(a: Floats, b: Floats, tolerance: float) -> bool:
    return float(np.linalg.norm(np.cross(a, b))) <= tolerance


def _in_plane(line: Line, normal: Floats, tolerance: float) -> bool:
    kind, _, z = line
    if _keeps_plane(kind):
        return _parallel(z, normal, tolerance)
    return kind is not None and kind.is_slider and abs(float(z @ normal)) <= tolerance


def _keeps_plane(kind: JointType | None) -> bool:
    """Return whether the type moves its bodies in the planes across its axis."""
    return kind is not None and (kind.is_hinge or kind.is_plane)


def _meeting_points(lines: list[Line], size: float, tolerance: float) -> list[Floats]:
    """Points where two R axes cross; every spherical loop has some."""
    axes = [(point, z) for kind, point, z in lines if kind is not None and kind.is_hinge]
    found: list[Floats] = []
    for k, (p, u) in enumerate(axes):
        for q, v in axes[k + 1 :]:
            across = np.cross(u, v)
            square = float(across @ across)
            if square < 1e-6 or abs(float((q - p) @ across)) > tolerance * size:
                continue
            point = p + u * float(np.cross(q - p, v) @ across) / square
            if not any(np.linalg.norm(point - other) <= tolerance * size for other in found):
                found.append(point)
    return found


def _about_point(line: Line, point: Floats, size: float, tolerance: float) -> bool:
    kind, p, z = line
    if kind is None:
        return False
    if kind.is_hinge:
        return float(np.linalg.norm(np.cross(point - p, z))) <= tolerance * size
    return (kind.is_ball or kind.is_universal) and float(np.linalg.norm(point - p)) <= tolerance * size


def _loops(
    mechanism: Mechanism, kind: Literal["planar", "spherical"], joints: list[int], about: Floats
) -> list[SpecialPart]:
    """The part of these joints that hangs on the frame, without branches that close no loop."""
    ends = {j: mechanism.joint_bodies(j) for j in joints}
    bodies, tree = _hanging_on_frame(ends)
    while True:
        degree = Counter(body for pair in ends.values() if bodies.issuperset(pair) for body in pair)
        loose = {body for body in bodies if body and degree[body] < 2}
        if not loose:
            break
        bodies -= loose
    inside = [j for j, pair in ends.items() if bodies.issuperset(pair)]
    if len(inside) <= len(bodies) - 1:
        return []
    kept = tuple(j for j in tree if j in set(inside))
    found = tuple(sorted(bodies - {0}))
    return [SpecialPart(kind, found, tuple(inside), kept, tuple(about.tolist()))]


def _hanging_on_frame(ends: dict[int, tuple[int, ...]]) -> tuple[set[int], list[int]]:
    """Bodies reached from the frame through these joints, and the joints of a breadth-first tree."""
    reached, tree = {0}, []
    front = [0]
    while front:
        nearer, front = front, []
        for body in nearer:
            for j, pair in ends.items():
                if body in pair:
                    (other,) = (b for b in pair if b != body)
                    if other not in reached:
                        reached.add(other)
                        tree.append(j)
                        front.append(other)
    return reached, tree
