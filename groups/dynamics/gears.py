"""Tooth forces of gears: loads of their carriers' meshes where the teeth touch."""

# A mesh on a carrier is an equation of angles, whose reaction is three moments. Where both wheels' centres
# are fixed on the carrier, its sum with the bearings' equations is another one with the same multiplier: the
# points of both wheels at the pitch point P have one velocity along the common tangent t. Its reaction is a
# force along t in P on each wheel (Uicker, Pennock and Shigley, Theory of Machines and Mechanisms, ch. 13). A
# model gives no pressure angle, so the force has no part across t.

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from groups.joint_jacobian import JointRows, PosesOverTime, joint_rows
from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.graph.frames import plus
from mbssa.joints.axes import cross
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.frames import Frames

#: Share of the size, or of a radius, by which centres, ratios and forces may be off.
_SAME = 1e-6


class Tooth(NamedTuple):
    """Place of a tooth force in the axes of a body, the carrier."""

    carrier: int
    point: Floats  # (3,) m
    force: Floats  # (3,) 1/m, on the first wheel by a multiplier of 1 N m


#: By frames, the gears with carriers; None for those whose tooth force has no known place.
_found: WeakKeyDictionary[Frames, dict[int, Tooth | None]] = WeakKeyDictionary()


def teeth(mechanism: Mechanism, frames: Frames) -> Mapping[int, Tooth | None]:
    """Tooth forces of the gears (indices) that name a carrier; None of which the place is not known."""
    known = _found.get(frames)
    if known is None:
        at = PosesOverTime.over(mechanism, frames, frames.reference[None])
        known = _found[frames] = {
            j: _tooth(at, j)
            for j, relation in frames.relations.items()
            if type_of_joint(mechanism, j).is_gear and len(relation.bodies) > 2
        }
    return known


def rows_on_teeth(poses: PosesOverTime, joint: int) -> JointRows:
    """Constraints and drives of a joint; a gear loads its wheels on the teeth where their place is known."""
    bodies, loads = joint_rows(poses, joint, poses.mechanism.joints[joint].driven)
    if (tooth := teeth(poses.mechanism, poses.frames).get(joint)) is not None:
        carrier, force = poses.frame(tooth.carrier), np.zeros((6, 1, poses.instants))
        force[:3, 0] = np.array(carrier.along(tooth.force)) * poses.frames.size
        force = poses.about(np.array(plus(carrier.place, carrier.along(tooth.point))), force)
        loads[:, :, :1] = np.multiply.outer([1.0, -1.0, 0.0], force)
    return bodies, loads


def _tooth(at: PosesOverTime, j: int) -> Tooth | None:
    """The tooth force of a gear; None where centres leave the carrier or no pitch point fits."""
    frames, relations, size = at.frames, at.frames.relations[j], at.frames.size
    *wheels, carrier = relations.bodies
    centres = [frames.position[b] + frames.rotation[b] @ frames.origin[j, k] for k, b in enumerate(wheels)]
    if not all(_stays(at, *ends, carrier) for ends in zip(wheels, centres, strict=True)):
        return None
    first, second = relations.constraints[0].terms[:2]
    ends = [relations.pairs[term.pair] for term in (first, second)]
    axes = [frames.rotation[pair.bodies[1]] @ pair.axes[1][:, 2] for pair in ends]
    apart, ratio = centres[1] - centres[0], second.factor
    # Of the arm from the first centre: both wheels have one velocity there, and the point is in both planes.
    speeds = [ratio * cross(axes[0], np.eye(3)).T, cross(axes[1], np.eye(3)).T]
    rows = np.vstack([speeds[0] + speeds[1], axes])
    arm = np.linalg.lstsq(rows, [*(speeds[1] @ apart), 0.0, axes[1] @ apart])[0]
    arms = [cross(axes[0], arm), cross(axes[1], arm - apart)]
    radius = float(np.linalg.norm(arms[0]))
    if radius <= _SAME * size or max(abs(axes[0] @ arm), abs(axes[1] @ (arm - apart))) > _SAME * size:
        return None
    if np.linalg.norm(arms[1] + ratio * arms[0]) > _SAME * radius * max(1.0, abs(ratio)):
        return None
    force = frames.rotation[carrier].T @ arms[0] / radius**2
    return Tooth(carrier, frames.on_body(carrier, tuple(centres[0] + arm)), force)


def _stays(poses: PosesOverTime, wheel: int, centre: Floats, carrier: int) -> bool:
    """Whether joints that keep a point of the wheel on their other body lead from it to the carrier."""
    import networkx

    mechanism = poses.mechanism
    bodies = networkx.empty_graph(mechanism.n_bodies)
    wanted = poses.about(centre[:, None], np.eye(6)[:, : 2 if mechanism.space == "planar" else 3, None])
    for j in np.flatnonzero(poses.frames.known).tolist():
        if type_of_joint(mechanism, j).pair is not None:
            held = joint_rows(poses, j)[1][1, :, :, 0]
            # Constraints keep the point where they bear any force in it.
            missing = wanted[..., 0] - held @ np.linalg.pinv(held) @ wanted[..., 0]
            if np.abs(missing).max() <= _SAME:
                bodies.add_edge(*mechanism.joint_bodies(j)[:2])
    return bool(networkx.has_path(bodies, wheel, carrier))
