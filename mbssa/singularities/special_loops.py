"""Planar or spherical parts of spatial mechanisms, whose loops have three redundant constraints each."""

# A part moves parallel to a plane when its joints do: R about the normal, P across it, PL with the same
# normal; about a fixed point when R axes and U pins pass through it and S centres lie on it. Only parts that
# hang on the frame are sought: there normal or point stay where they are.

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import numpy as np

from mbssa.arrays import Floats
from mbssa.decomposition.treatment import SpecialPart
from mbssa.disjoint_set import breadth_first
from mbssa.joints.catalogue import type_of_joint

if TYPE_CHECKING:
    from mbssa.joints.frames import Frames
    from mbssa.joints.poses import Poses
    from mbssa.mechanism import Mechanism


def special_parts(mechanism: Mechanism, frames: Frames, at: Poses, tolerance: float) -> list[SpecialPart]:
    """Planar and spherical parts that contain a loop, largest first; no body is in two of them."""
    if mechanism.space == "planar":
        return []
    # Type, a point, and the axis of each joint in the world.
    lines = {}
    for j in np.flatnonzero(frames.known).tolist():
        body = mechanism.joint_bodies(j)[1]
        point = at.position[body] + at.rotation[body] @ frames.origin[j, 1]
        lines[j] = type_of_joint(mechanism, j), point, at.rotation[body] @ frames.axes[j, 1][:, 2]

    def parallel(a: Floats, b: Floats) -> bool:
        return float(np.linalg.norm(np.cross(a, b))) <= tolerance

    normals: list[Floats] = []
    for kind, _, z in lines.values():
        if (kind.is_hinge or kind.is_plane) and not any(parallel(z, normal) for normal in normals):
            normals.append(z)
    candidates: list[SpecialPart] = []
    for normal in normals:
        # R and PL move their bodies in the planes across their axes.
        joints = [
            j
            for j, (kind, _, z) in lines.items()
            if ((kind.is_hinge or kind.is_plane) and parallel(z, normal))
            or (kind.is_slider and abs(float(z @ normal)) <= tolerance)
        ]
        candidates += _loops(mechanism, "planar", joints, normal)
    near = tolerance * frames.size
    # Points where two R axes cross: every spherical loop has some.
    points: list[Floats] = []
    hinges = [(p, z) for kind, p, z in lines.values() if kind.is_hinge]
    for (p, u), (q, v) in combinations(hinges, 2):
        across = np.cross(u, v)
        square = float(across @ across)
        if square < 1e-6 or abs(float((q - p) @ across)) > near:
            continue
        point = p + u * float(np.cross(q - p, v) @ across) / square
        if not any(np.linalg.norm(point - other) <= near for other in points):
            points.append(point)
    for point in points:
        joints = [
            j
            for j, (kind, p, z) in lines.items()
            if (kind.is_hinge and np.linalg.norm(np.cross(point - p, z)) <= near)
            or ((kind.is_ball or kind.is_universal) and np.linalg.norm(point - p) <= near)
        ]
        candidates += _loops(mechanism, "spherical", joints, point)
    candidates.sort(key=lambda part: (-len(part.bodies), part.kind, part.joints))
    chosen: list[SpecialPart] = []
    for part in candidates:
        if all(set(part.bodies).isdisjoint(other.bodies) for other in chosen):
            chosen.append(part)
    return chosen


def _loops(
    mechanism: Mechanism, kind: Literal["planar", "spherical"], joints: list[int], about: Floats
) -> list[SpecialPart]:
    """The part of these joints that hangs on the frame, without branches that close no loop."""
    ends = {j: mechanism.joint_bodies(j) for j in joints}
    reached = breadth_first(ends, [0])
    bodies = set(reached)
    while True:
        inside = tuple(j for j, pair in ends.items() if bodies.issuperset(pair))
        degree = Counter(body for j in inside for body in ends[j])
        loose = {body for body in bodies if body and degree[body] < 2}
        if not loose:
            break
        bodies -= loose
    if len(inside) <= len(bodies) - 1:
        return []
    tree = tuple(j for j in reached.values() if j in inside)
    return [SpecialPart(kind, tuple(sorted(bodies - {0})), inside, tree, tuple(about.tolist()))]
