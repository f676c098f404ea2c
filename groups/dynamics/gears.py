"""Tooth forces of gears: equations of their carriers' meshes that act where the teeth touch."""

# A mesh on a carrier is an equation of angles, whose reaction is three moments. Where both wheels' centres
# are fixed on the carrier, its sum with the bearings' equations is another one with the same multiplier: the
# points of both wheels at the pitch point P have one velocity along the common tangent t. Its reaction is a
# force along t in P on each wheel (Uicker, Pennock and Shigley, Theory of Machines and Mechanisms, ch. 13). A
# model gives no pressure angle, so the force has no part across t.

from __future__ import annotations

from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.joints.axes import cross, unit
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.frames import Frames
from mbssa.joints.relations import JointRelations, PairFrames, Relation, Term
from mbssa.joints.system import Rows, rows_at, unknowns

#: Share of the size, or of a radius, by which centres, ratios and rows of equations may be off.
_SAME = 1e-6

#: Frames with tooth forces by the mechanism's own, and the gears whose tooth force has no known place.
_found: WeakKeyDictionary[Frames, tuple[Frames, tuple[int, ...]]] = WeakKeyDictionary()


def with_teeth(mechanism: Mechanism, frames: Frames) -> tuple[Frames, tuple[int, ...]]:
    """Frames whose gears' equations act where the teeth touch; gears (indices) of which that is not known."""
    known = _found.get(frames)
    if known is None:
        gears = [
            j
            for j, relation in frames.relations.items()
            if type_of_joint(mechanism, j).is_gear and len(relation.bodies) > 2
        ]
        rows = rows_at(mechanism, frames, frames.reference).constraints if gears else None
        teeth: dict[int, JointRelations] = {}
        for j in gears:
            bodies = frames.relations[j].bodies
            tooth = _in_plane(frames, j) if mechanism.space == "planar" else _in_space(frames, j)
            centres = [_placed(frames, bodies[side], frames.origin[j, side]) for side in (0, 1)]
            if tooth is not None and all(
                _stays(mechanism, frames, rows, wheel, centre, bodies[2])
                for wheel, centre in zip(bodies, centres, strict=False)
            ):
                teeth[j] = tooth
        whole = replace(frames, relations={**frames.relations, **teeth}) if teeth else frames
        known = _found[frames] = whole, tuple(j for j in gears if j not in teeth)
    return known


def open_joints(mechanism: Mechanism, frames: Frames) -> set[int]:
    """Joints of wheels and carriers of the gears whose tooth force has no known place."""
    bodies = {body for j in with_teeth(mechanism, frames)[1] for body in frames.bodies_of(mechanism, j)} - {0}
    return {j for j in range(mechanism.n_joints) if bodies & set(frames.bodies_of(mechanism, j))}


def _in_plane(frames: Frames, j: int) -> JointRelations | None:
    """The mesh with the line of centres in place of the carrier."""
    relations = frames.relations[j]
    (mesh,) = relations.constraints
    first, second, arm = mesh.terms
    wheels = relations.bodies[0], relations.bodies[1]
    ends = PairFrames(wheels, frames.origin[j], np.tile(np.eye(3), (2, 1, 1)))
    apart = [_placed(frames, b, ends.origin[k]) for k, b in enumerate(wheels)]
    if np.linalg.norm(apart[1] - apart[0]) <= _SAME * frames.size or arm.factor == 0.0:
        return None
    line = Term("line", len(relations.pairs), factor=arm.factor)
    sum_of_angles = replace(mesh, terms=(first, second, line))
    return replace(relations, pairs=(*relations.pairs, ends), constraints=(sum_of_angles,))


def _in_space(frames: Frames, j: int) -> JointRelations | None:
    """The mesh with the velocities of both centres along the tangent; None where no pitch point fits."""
    relations = frames.relations[j]
    (mesh,) = relations.constraints
    first, second = mesh.terms
    sides = [relations.pairs[term.pair] for term in (first, second)]
    centre = [_placed(frames, pair.bodies[1], pair.origin[1]) for pair in sides]
    axis = [frames.rotation[pair.bodies[1]] @ pair.axes[1][:, 2] for pair in sides]
    point = _pitch_point(centre, axis, second.factor, frames.size)
    if point is None:
        return None
    arms = [cross(a, point - c) for a, c in zip(axis, centre, strict=True)]
    radius = float(np.linalg.norm(arms[0]))
    if radius <= _SAME * frames.size:
        return None
    tangent = arms[0] / radius
    if np.linalg.norm(arms[1] + second.factor * arms[0]) > _SAME * radius * max(1.0, abs(second.factor)):
        return None
    pairs = list(relations.pairs)
    terms = [replace(first, factor=radius), replace(second, factor=radius * second.factor)]
    for sign, pair, normal in zip((1.0, -1.0), sides, axis, strict=True):
        carrier = pair.bodies[0]
        across = np.stack([cross(tangent, normal), tangent, normal], axis=1)
        axes = np.array([frames.rotation[carrier].T @ across, pair.axes[1]])
        terms.append(Term("along", len(pairs), (1,), factor=sign))
        pairs.append(PairFrames(pair.bodies, pair.origin, axes))
    along = Relation(mesh.name, tuple(terms), is_length=True)
    return replace(relations, pairs=tuple(pairs), constraints=(along,))


def _pitch_point(centre: list[Floats], axis: list[Floats], ratio: float, size: float) -> Floats | None:
    """Point at which wheels with these centres and axes touch; None where these do not fit each other."""
    across, apart = cross(axis[0], axis[1]), centre[1] - centre[0]
    if np.linalg.norm(across) <= _SAME:  # parallel
        sense = float(np.sign(axis[0] @ axis[1]))
        if ratio + sense == 0.0 or abs(apart @ axis[0]) > _SAME * size:
            return None
        return centre[0] + apart * sense / (ratio + sense)
    if abs(apart @ unit(across)) > _SAME * size:
        return None  # the axes do not meet
    found: Floats = np.linalg.solve(
        np.array([axis[0], axis[1], across]), [axis[0] @ centre[0], axis[1] @ centre[1], across @ centre[0]]
    )
    return found


def _placed(frames: Frames, body: int, local: Floats) -> Floats:
    found: Floats = frames.position[body] + frames.rotation[body] @ local
    return found


def _stays(
    mechanism: Mechanism, frames: Frames, rows: Rows | None, wheel: int, centre: Floats, carrier: int
) -> bool:
    """Whether joints that keep a point of the wheel on their other body lead from it to the carrier."""
    seen, edge = {wheel}, [wheel]
    while edge and carrier not in seen:
        body = edge.pop()
        for j in range(mechanism.n_joints):
            ends = mechanism.joint_bodies(j)[:2]
            other = sum(ends) - body
            if body in ends and other not in seen and _keeps(mechanism, frames, rows, j, centre):
                seen.add(other)
                edge.append(other)
    return carrier in seen


def _keeps(mechanism: Mechanism, frames: Frames, rows: Rows | None, j: int, centre: Floats) -> bool:
    """Whether a joint keeps this point of the world at the reference, of either body, on the other."""
    if type_of_joint(mechanism, j).pair is None or not frames.known[j] or rows is None:
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
