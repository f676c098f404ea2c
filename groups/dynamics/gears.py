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

from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.joints.axes import cross
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.frames import Frames
from mbssa.joints.system import Rows, rows_at, unknowns

#: Share of the size, or of a radius, by which centres, ratios and rows of equations may be off.
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
        known = _found[frames] = {
            j: None
            for j, relation in frames.relations.items()
            if type_of_joint(mechanism, j).is_gear and len(relation.bodies) > 2
        }
        rows = rows_at(mechanism, frames, frames.reference).constraints if known else None
        for j in known:
            *wheels, carrier = frames.relations[j].bodies
            centres = [
                frames.position[b] + frames.rotation[b] @ frames.origin[j, k] for k, b in enumerate(wheels)
            ]
            if rows is not None and all(
                _stays(mechanism, frames, rows, wheel, centre, carrier)
                for wheel, centre in zip(wheels, centres, strict=True)
            ):
                known[j] = _tooth(frames, j, centres)
    return known


def open_joints(mechanism: Mechanism, frames: Frames) -> set[int]:
    """Joints of wheels and carriers of the gears whose tooth force has no known place."""
    gears = [j for j, tooth in teeth(mechanism, frames).items() if tooth is None]
    bodies = {body for j in gears for body in frames.bodies_of(mechanism, j)} - {0}
    return {j for j in range(mechanism.n_joints) if bodies & set(frames.bodies_of(mechanism, j))}


def _tooth(frames: Frames, j: int, centres: list[Floats]) -> Tooth | None:
    """The tooth force of wheels with these centres; None where no pitch point fits."""
    relations, size = frames.relations[j], frames.size
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
    carrier = relations.bodies[2]
    force = frames.rotation[carrier].T @ arms[0] / radius**2
    return Tooth(carrier, frames.on_body(carrier, tuple(centres[0] + arm)), force)


def _stays(
    mechanism: Mechanism, frames: Frames, rows: Rows, wheel: int, centre: Floats, carrier: int
) -> bool:
    """Whether joints that keep a point of the wheel on their other body lead from it to the carrier."""
    import networkx

    joints = [j for j in range(mechanism.n_joints) if _keeps(mechanism, frames, rows, j, centre)]
    bodies = networkx.Graph([(a, b) for a, b, *_ in map(mechanism.joint_bodies, joints)])
    return wheel in bodies and carrier in networkx.node_connected_component(bodies, wheel)


def _keeps(mechanism: Mechanism, frames: Frames, rows: Rows, j: int, centre: Floats) -> bool:
    """Whether a joint keeps this point of the world at the reference, of either body, on the other."""
    if type_of_joint(mechanism, j).pair is None or not frames.known[j]:
        return False
    # The last body that moves has derivatives: of the frame they are zero.
    slot = int(mechanism.joint_bodies(j)[1] != 0)
    x, y, z = (
        centre - frames.reference.centres(frames.centre)[mechanism.joint_bodies(j)[slot]]
    ) / frames.size
    turned = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])  # velocity of the point: v + w × arm
    wanted = np.hstack([np.eye(3), turned])[:, list(unknowns(mechanism.space))]
    wanted = wanted[: 2 if mechanism.space == "planar" else 3]
    held = rows.jacobian[rows.joint == j, slot]
    return bool(np.abs(wanted - wanted @ np.linalg.pinv(held) @ held).max() <= _SAME)
