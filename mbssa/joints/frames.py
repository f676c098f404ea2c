"""Local frames of every joint on its bodies, from the data of a model file."""

# The canonical form of a joint's geometry is one frame on each body. World shorthand is turned into it with
# the reference poses; ``at_reference`` turns or shifts the frame on the first body, so that the zero is
# stored.

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from mbssa.arrays import Bools, Floats
from mbssa.joints.axes import cross, in_space, plane_rotation, rotation_of
from mbssa.joints.blocks import on_axis, on_flat_axis
from mbssa.joints.catalogue import CATALOGUE, is_length, type_of_joint
from mbssa.joints.equations import pose
from mbssa.joints.geometry import JointGeometry
from mbssa.joints.poses import Poses
from mbssa.joints.relations import (
    JointCoordinate,
    JointRelations,
    PairFrames,
    at_reference,
    ends_of,
    local_frames,
)

if TYPE_CHECKING:
    from mbssa.joints.joint_type import Frame, JointType
    from mbssa.mechanism import Mechanism, Vector


@dataclass(frozen=True, eq=False)
class Frames:
    """Geometry of a whole mechanism in canonical form; planar ones lie in the plane z = 0."""

    position: Floats  # (N, 3) reference pose of every body's own frame, m
    rotation: Floats  # (N, 3, 3)
    origin: Floats  # (J, 2, 3) of the joint's frame on its first two bodies, in the body's own frame
    axes: Floats  # (J, 2, 3, 3) likewise; axes are columns
    # centre: (N, 3) mean of each body's joints in its own frame, for Jacobians: ranks are free of the origin
    centre: Floats
    parameters: dict[str, Floats]  # (J,) each: length, pitch (m/rad), radius, offset, ratio
    known: Bools  # (J,) joints that have geometry and equations on a relative pose
    size: float  # typical distance between joints, m: lengths are divided by it before a rank is taken
    # relations: by joint index, equations of those that have none on one relative pose
    relations: Mapping[int, JointRelations] = field(default_factory=dict)
    # turns: by joint index, angles that couplings give at the reference, with the turns that a pose lacks
    turns: Mapping[int, Mapping[str, float]] = field(default_factory=dict)

    @property
    def reference(self) -> Poses:
        """The poses of the model file."""
        return Poses.of(self.position, self.rotation)

    def at_reference(self, mechanism: Mechanism, joint: int) -> dict[str, float]:
        """Coordinates of a joint at the reference by its geometry and by couplings, m or rad."""
        geometry = mechanism.joint_geometry.get(joint)
        return {**(geometry.at_reference if geometry is not None else {}), **self.turns.get(joint, {})}

    def sized_parameters(self, joints: Any) -> dict[str, Any]:
        """Parameters of a joint, or of several, lengths over the size."""
        return {
            name: values[joints] / (1.0 if name == "ratio" else self.size)
            for name, values in self.parameters.items()
        }

    def on_body(self, body: int, point: Vector) -> Floats:
        """A point of the world at the reference (3,), or (2,) in the plane, in a body's own frame."""
        away = in_space(np.asarray(point, dtype=float)) - self.position[body]
        return np.asarray(self.rotation[body].T @ away)

    def bodies_of(self, mechanism: Mechanism, joint: int) -> tuple[int, ...]:
        """Bodies that the equations of a joint name: a gear in space without a carrier names the frame."""
        found = self.relations.get(joint)
        return mechanism.joint_bodies(joint) if found is None else found.bodies


def joint_frames(mechanism: Mechanism) -> Frames:
    """Canonical geometry of a mechanism, computed once; not to be changed."""
    # Joints without geometry, of a type without equations, or with a function that may not be run have
    # ``known`` False and frames of zeros.
    found = _found.get(mechanism)
    if found is None:
        found = _found[mechanism] = _frames_of(mechanism)
    return found


#: Geometry by mechanism, as long as that lives.
_found: WeakKeyDictionary[Mechanism, Frames] = WeakKeyDictionary()


def _frames_of(mechanism: Mechanism) -> Frames:
    n, n_joints = mechanism.n_bodies, mechanism.n_joints
    relations: dict[int, JointRelations] = {}
    turns: dict[int, dict[str, float]] = {}
    frames = Frames(
        *_body_poses(mechanism),
        origin=np.zeros((n_joints, 2, 3)),
        axes=np.zeros((n_joints, 2, 3, 3)),
        centre=np.zeros((n, 3)),
        parameters={name: np.zeros(n_joints) for name in ("length", "pitch", "radius", "offset", "ratio")},
        known=np.zeros(n_joints, dtype=bool),
        size=1.0,
        relations=relations,
        turns=turns,
    )
    poses, parameters, known = frames.reference, frames.parameters, frames.known
    _place_on_flat_axes(mechanism, frames)
    # Couplings come last: they read the frames of other joints.
    order = np.argsort(np.array([row.is_coupling for row in CATALOGUE])[mechanism.joint_type], kind="stable")
    for j in order[~known[order]].tolist():
        row = type_of_joint(mechanism, j)
        geometry = mechanism.joint_geometry.get(j)
        if (geometry is None and row.required) or j in mechanism.untrusted or not row.has_equations:
            continue
        geometry = geometry or JointGeometry()
        _set_parameters(geometry, parameters, j)
        bodies = mechanism.joint_bodies(j)[:2]
        coupled = coupled_coordinates(mechanism, geometry, frames)
        if coupled is None:
            continue
        known[j] = True
        if row.relations is not None:
            at = replace(poses, coordinates=coupled) if coupled else poses
            found, place = row.relations(mechanism.joint_bodies(j), geometry, at)
            relations[j] = at_reference(found, poses)
            last = relations[j].constraints[-1].terms[-1]
            if coupled and last.kind == "counted":
                follower, coordinate = mechanism.place_of((geometry.couples or ())[-1])
                turns.setdefault(follower, {})[coordinate] = last.near * coupled[-1].function.sign
        elif geometry.frames is not None:
            place = ends_of(bodies, geometry, poses)
            if row.line == "rod" and geometry.length is None:
                ends = poses[list(bodies)].centres(place.origin)
                parameters["length"][j] = np.linalg.norm(ends[1] - ends[0])
        else:
            mine = {name: values[j] for name, values in parameters.items()}
            placing = row.frames or (on_flat_axis if row.space == "planar" else on_axis)
            world = _zeroed(row, placing(geometry, poses.position[bodies[1]], mine), geometry, mine)
            points, axes = zip(*world, strict=True)
            place = local_frames((bodies[0], bodies[1]), points, axes, poses)
        frames.origin[j], frames.axes[j] = place.origin, place.axes
    size = _size(mechanism, frames)
    users = {j: found.function for j, found in relations.items() if found.function is not None}
    if users:
        from mbssa.joints.user import check_functions

        for j, function in users.items():
            relations[j] = replace(relations[j], function=replace(function, size=size))
        check_functions(mechanism, relations, poses)
    return replace(frames, centre=_centres(mechanism, frames), size=size)


def _place_on_flat_axes(mechanism: Mechanism, frames: Frames) -> None:
    """Place the frames of all planar joints at a point, x along an axis if they have one."""
    kinds, untrusted = mechanism.joint_type.tolist(), set(mechanism.untrusted)
    plain = [
        row.space == "planar" and row.pair is not None and row.frames is None and row.relations is None
        for row in CATALOGUE
    ]
    found = {
        j: g
        for j, g in mechanism.joint_geometry.items()
        if plain[kinds[j]] and not (g.frames or g.at_reference or g.couples or j in untrusted)
    }
    if not found:
        return
    joints = np.array([*found])
    point = in_space(np.array([g.point or (0.0, 0.0) for g in found.values()]))
    x = in_space(np.array([g.axis or (1.0, 0.0) for g in found.values()]))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    z = np.broadcast_to(np.eye(3)[2], x.shape)
    bodies = mechanism.joint_body[mechanism.joint_start[joints, None] + [0, 1]]
    turn = np.swapaxes(frames.rotation[bodies], -1, -2)
    frames.origin[joints] = (turn @ (point[:, None] - frames.position[bodies])[..., None])[..., 0]
    frames.axes[joints] = turn @ np.stack([x, cross(z, x), z], axis=-1)[:, None]
    frames.known[joints] = True
    for j, geometry in found.items():
        _set_parameters(geometry, frames.parameters, j)


def coupled_coordinates(
    mechanism: Mechanism, geometry: JointGeometry, frames: Frames
) -> tuple[JointCoordinate, ...] | None:
    """Coordinates that a joint couples, from the frames of their joints; None where one has no frames."""
    found = []
    for name in geometry.couples or ():
        joint, _, coordinate = name.rpartition(".")
        try:
            view = mechanism.joint(joint)
        except KeyError:
            return None
        j, kind, pair = view.index, view.type, view.type.pair
        if not frames.known[j] or pair is None or coordinate not in kind.couplable:
            return None
        first, second = mechanism.joint_bodies(j)[:2]
        place = PairFrames((first, second), frames.origin[j], frames.axes[j])
        function = pair.coordinates[kind.coordinates.index(coordinate)]
        near = frames.at_reference(mechanism, j).get(coordinate, 0.0)
        found.append(JointCoordinate(function, place, is_length(coordinate), near))
    return tuple(found)


def _body_poses(mechanism: Mechanism) -> tuple[Floats, Floats]:
    n = mechanism.n_bodies
    position, rotation = np.zeros((n, 3)), np.tile(np.eye(3), (n, 1, 1))
    for body, geometry in mechanism.body_geometry.items():
        if geometry.origin is not None:
            position[body] = in_space(geometry.origin)
        if geometry.orientation is not None:
            given = np.array(geometry.orientation)
            rotation[body] = plane_rotation(given)[0] if len(given) == 1 else rotation_of(given)
    return position, rotation


def _set_parameters(geometry: JointGeometry, parameters: dict[str, Floats], j: int) -> None:
    for name in ("pitch", "radius", "ratio"):
        value = getattr(geometry, name)
        if value is not None:
            parameters[name][j] = value
    if geometry.offsets:
        parameters["offset"][j] = geometry.offsets[0]
    if geometry.length is not None:
        parameters["length"][j] = geometry.length
    elif geometry.points is not None and len(geometry.points) == 2:
        parameters["length"][j] = np.linalg.norm(np.subtract(*geometry.points))


def _zeroed(
    row: JointType, ends: tuple[Frame, Frame], g: JointGeometry, parameters: dict[str, Floats]
) -> tuple[Frame, Frame]:
    """Frames that give the coordinates their values ``at_reference``."""
    # Between A and B lies the joint's pose at its zero; it becomes the pose at those values, by moving A.
    # Where the joint's points are given, they stay where they are and the axes turn about them.
    if not g.at_reference:
        return ends
    (origin, axes), second = ends
    rows = row.pair
    assert rows is not None
    values = np.array([[g.at_reference.get(name, 0.0) for name in row.coordinates]])
    given = {name: np.atleast_1d(value) for name, value in parameters.items()}
    d, C, _ = pose(rows, values, given)
    if row.line:
        # x of A points along the line, until azimuth and elevation turn the line away from it.
        before = tuple(takewhile(lambda step: step.kind == "turn", rows.steps))
        _, line, _ = pose(replace(rows, steps=before), values, given)
        turned = axes @ line[0].T
        return (origin, turned), (second[0], turned @ C[0])
    d_zero, C_zero, _ = pose(rows, np.zeros_like(values), given)
    # B = A0 · zero = A1 · pose(values), so A1 = A0 · zero · pose(values)⁻¹.
    turn = C_zero[0] @ C[0].T
    return (origin + axes @ (d_zero[0] - turn @ d[0]), axes @ turn), second


def _centres(mechanism: Mechanism, frames: Frames) -> Floats:
    """Mean (N, 3) of the joints of each body in its own frame; the origin of a body without joints."""
    total, count = np.zeros((mechanism.n_bodies, 3)), np.zeros(mechanism.n_bodies)
    first = mechanism.joint_start[:-1][frames.known]
    for side in (0, 1):
        body = mechanism.joint_body[first + side]
        np.add.at(total, body, frames.origin[frames.known, side])
        np.add.at(count, body, 1.0)
    return total / np.maximum(count, 1.0)[:, None]


def _size(mechanism: Mechanism, frames: Frames) -> float:
    """Root mean square distance of the joints from their centroid; 1 where it is only rounding."""
    body = mechanism.joint_body[mechanism.joint_start[:-1] + 1][frames.known]
    arms = np.einsum("jab,jb->ja", frames.rotation[body], frames.origin[frames.known, 1])
    points = frames.position[body] + arms
    if not len(points):
        return 1.0
    spread = float(np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean()))
    return spread if spread > 1e-12 * float(np.abs(points).max()) else 1.0
