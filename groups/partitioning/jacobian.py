"""Coordinates of the tree and the Jacobian J of the cuts' equations by them, where the bodies stand."""

# The rows of all joints are by the twists of their bodies. Constraints and coordinates of a joint of the tree
# are as many as the freedoms of its body together, so that their inverse gives the screw of each coordinate,
# which moves all bodies behind. Lengths are over the mechanism's size, in rows and in columns, so that J is
# without units and its singular values and pivots may be compared. Twists are about one point of space.

from __future__ import annotations

import numpy as np

from groups.global_solver.elimination import inverses
from groups.joint_jacobian import PairPose, PosesOverTime, joint_rows, pair_loads, pair_pose
from groups.partitioning.cutting import Cut, CutOpen
from mbssa.arrays import Floats
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.equations import Elementary
from mbssa.joints.poses import Poses, relative_pose
from mbssa.joints.system import unknowns


def linearised(opened: CutOpen, poses: Poses) -> tuple[Floats, Floats]:
    """Coordinates (T, n), m and principal angles in rad, and J (T, m, n); NaN where a body was not placed."""
    mechanism, size = opened.mechanism, opened.frames.size
    at = PosesOverTime.over(mechanism, opened.frames, poses)
    count, n, units = at.instants, len(opened.coordinates), np.array(unknowns(mechanism.space))
    value, screws = np.empty((count, n)), np.zeros((count, n, 6))
    J, first = np.zeros((count, len(opened.equations), n)), 0
    #: By body, the columns of the coordinates that move it.
    behind: dict[int, list[int]] = {0: []}
    with np.errstate(all="ignore"):
        for link in opened.links:
            kind, start = type_of_joint(mechanism, link.joint), opened.start[link.joint]
            columns = np.arange(start, start + len(kind.coordinates))
            rows = joint_rows(at, link.joint, kind.coordinates)
            value[:, columns] = pair_pose(at, link.joint).coordinates(size)
            by_twist = rows.loads[rows.bodies.index(link.body), units].transpose(2, 1, 0)
            of_rates = inverses(by_twist)[0][:, :, rows.constraints :].swapaxes(1, 2)
            screws[:, columns[:, None], units] = of_rates
            behind[link.body] = [*behind[link.parent], *columns.tolist()]
        for cut in opened.cuts:
            bodies, loads = _loads_of(at, cut)
            rows_of_cut = slice(first, first := first + loads.shape[2])
            for b, load in zip(bodies, loads, strict=True):
                J[:, rows_of_cut, behind[b]] += load.transpose(2, 1, 0) @ screws[:, behind[b]].swapaxes(1, 2)
    return value, J


def _loads_of(at: PosesOverTime, cut: Cut) -> tuple[tuple[int, ...], Floats]:
    """Bodies of a cut, and the loads (S, 6, e, T) of its equations on them by unit multipliers."""
    mechanism, frames = at.mechanism, at.frames
    if cut.rod < 0:
        rows = joint_rows(at, cut.joints[0], cut.equations[len(cut.equations) - cut.driven :])
        return rows.bodies, rows.loads
    sided = ((b, j, k) for j in cut.joints for k, b in enumerate(mechanism.joint_bodies(j)[:2]))
    ends = [end for end in sided if end[0] != cut.rod]
    bodies, joints, sides = map(tuple, zip(*ends, strict=True))
    poses = [(at.position[b], at.rotation[b]) for b in bodies]
    d, C, axes, arms, _ = relative_pose(poses, frames.origin[joints, sides], frames.axes[joints, sides])
    equations = type_of_joint(mechanism, joints[0]).pair
    assert equations is not None
    pair = PairPose(equations, d / frames.size, C, {}, axes, (poses[1][0] + arms[1]).T)
    second = pair_loads(at, pair, (Elementary("distance"),))
    return bodies, np.stack([-second, second])
