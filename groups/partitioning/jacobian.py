"""Jacobian J of the equations of the cuts by the relative coordinates of the tree."""

# The free twist of a coordinate moves all bodies behind its joint. Lengths are over the mechanism's size, in
# rows and in columns, so that J is without units and its singular values and pivots may be compared.

from __future__ import annotations

import numpy as np

from groups.joint_jacobian import PosesOverTime, joint_rows, pair_pose
from groups.partitioning.cutting import Cut, CutOpen
from mbssa.arrays import Floats
from mbssa.joints.axes import cross
from mbssa.joints.equations import elementary_values, pose

#: Numbers that the twists of all bodies may take at a time: so many instants are evaluated together.
_NUMBERS = 4_000_000


def cut_jacobian(opened: CutOpen, poses: PosesOverTime) -> Floats:
    """Derivative (T, m, n) of the cuts' equations by the coordinates; NaN where a body was not placed."""
    n = len(opened.coordinates)
    found = np.zeros((poses.instants, len(opened.equations), n))
    together = max(1, _NUMBERS // (6 * (n + 1) * (len(opened.links) + 1)))
    for start in range(0, poses.instants, together):
        some = poses.during(slice(start, start + together))
        with np.errstate(invalid="ignore", divide="ignore"):
            # Far from the world's origin, digits would be lost: twists are those of the bodies' middle.
            middle = some.position.mean(axis=0)
            twists, first = _tree_twists(opened, some, middle), 0
            for cut in opened.cuts:
                stop = first + len(cut.equations)
                found[start : start + together, first:stop] = _cut_rows(opened, some, cut, twists, middle)
                first = stop
    return found


def coordinate_values(opened: CutOpen, poses: PosesOverTime) -> Floats:
    """Relative coordinates (T, n), m and principal angles in rad."""
    values = np.full((poses.instants, len(opened.coordinates)), np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        for link in opened.links:
            pair, first = pair_pose(poses, link.joint), opened.start[link.joint]
            values[:, first : first + len(pair.equations.coordinates)] = elementary_values(
                pair[0].coordinates, *pair[1:4]
            )
    return values * np.where(np.array(opened.units) == "m", opened.frames.size, 1.0)


def _tree_twists(opened: CutOpen, poses: PosesOverTime, middle: Floats) -> dict[int, Floats]:
    """Twists (T, 6, n) of each body's point at ``middle`` (T, 3) by the coordinates."""
    found = {0: np.zeros((poses.instants, 6, len(opened.coordinates)))}
    for link in opened.links:
        pair, first = pair_pose(poses, link.joint), opened.start[link.joint]
        free = pose(pair.equations, elementary_values(pair[0].coordinates, *pair[1:4]), pair.parameters)[2]
        free = np.concatenate([pair.axes @ free[:, :3], pair.axes @ free[:, 3:]], axis=1)
        moved = _at(free, (middle - pair.point) / opened.frames.size)
        found[link.body] = found[link.parent].copy()
        found[link.body][:, :, first : first + moved.shape[2]] += moved if link.forward else -moved
    return found


def _at(twist: Floats, arm: Floats) -> Floats:
    """Twists (T, 6, k) of a point, as those of the point at ``arm`` (T, 3) from it."""
    linear = twist[:, :3].swapaxes(1, 2) + cross(twist[:, 3:].swapaxes(1, 2), arm[:, None])
    return np.concatenate([linear.swapaxes(1, 2), twist[:, 3:]], axis=1)


def _cut_rows(
    opened: CutOpen, poses: PosesOverTime, cut: Cut, twists: dict[int, Floats], middle: Floats
) -> Floats:
    """Rows (T, e, n) of one cut."""
    size = opened.frames.size
    if cut.rod < 0:
        driven = cut.equations[len(cut.equations) - cut.driven :]
        rows = joint_rows(poses, cut.joints[0], driven)
        found = np.zeros((poses.instants, len(rows.names), len(opened.coordinates)))
        for slot, body in enumerate(rows.bodies):
            found += rows.jacobian[:, :, slot] @ _at(twists[body], (poses.centre[body] - middle) / size)
        return found
    points, velocities = [], []
    for joint in cut.joints:  # distance of the two points at which the rod ends
        bodies = opened.mechanism.joint_bodies(joint)[:2]
        side = 1 - bodies.index(cut.rod)
        body = bodies[side]
        points.append(poses.position[body] + poses.rotation[body] @ opened.frames.origin[joint, side])
        velocities.append(_at(twists[body], (points[-1] - middle) / size)[:, :3])
    across = points[1] - points[0]
    along = across / np.linalg.norm(across, axis=1)[:, None]
    row: Floats = along[:, None, :] @ (velocities[1] - velocities[0])
    return row
