"""Points of bodies whose paths are drawn: chosen by name, or those that a model names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.pictures.scene import Scene
from groups.pictures.shapes import local_point
from mbssa.arrays import Floats
from mbssa.joints.axes import in_space
from mbssa.joints.frames import joint_frames

if TYPE_CHECKING:
    from groups.trajectory import Trajectory
    from mbssa import Mechanism


#: A point: ``"body.point"`` or ``(body, point)``, where the point is a name of the model or world
#: coordinates at the reference; or the id of a joint, for its centre.
PointName = str | tuple[str | int, str | Sequence[float]]

#: Paths that a picture draws by default.
MOST_BY_DEFAULT = 8


@dataclass(frozen=True, eq=False)
class Point:
    """A point of a body: ``local`` (3,) in the body's own frame, m."""

    body: int
    local: Floats
    label: str


def points_of(scene: Scene, names: Sequence[PointName] | None) -> tuple[Point, ...]:
    """The points chosen; the model's named points on moving bodies where none are; else joint centres."""
    if names is None:
        return _named(scene) or _centres(scene)
    found, faults = [], []
    for name in [names] if isinstance(names, str) else names:
        try:
            found.append(_point(scene, name))
        except ValueError as fault:
            faults.append(str(fault))
    if faults:
        raise ValueError("; ".join(faults))
    return tuple(found)


def rates_of(trajectory: Trajectory, scene: Scene, point: Point) -> tuple[Floats, ...]:
    """Velocity and acceleration (F, 3) of a point in world axes (m/s, m/s²), as far as they were kept."""
    if point.body not in trajectory.kept or trajectory.velocity is None:
        return ()
    body, reference = trajectory.body(trajectory.mechanism.body_name(point.body)), trajectory.reference
    at = (reference.position[point.body] + reference.rotation[point.body] @ point.local).tolist()
    makers = (body.point_velocity, body.point_acceleration)[: 1 + (trajectory.acceleration is not None)]
    return tuple(in_space(make(at))[scene.instants] for make in makers)


def _named(scene: Scene) -> tuple[Point, ...]:
    mechanism = scene.mechanism
    frames = joint_frames(mechanism)
    return tuple(
        Point(body, local_point(mechanism, frames, body, at), f"{mechanism.body_name(body)}.{name}")
        for body in scene.bodies[1:]
        if body in mechanism.body_geometry
        for name, at in mechanism.body_geometry[body].points.items()
    )[:MOST_BY_DEFAULT]


def _centres(scene: Scene) -> tuple[Point, ...]:
    """Centres of the joints between moving bodies, once each."""
    ids = scene.mechanism.joint_ids
    found: list[Point] = []
    paths: list[Floats] = []
    for mark in scene.marks:
        body = mark.bodies[mark.seat]
        if 0 in mark.bodies or body not in scene.bodies:
            continue
        path = scene.world(body, mark.origin[mark.seat][None])
        if not any(np.allclose(path, other, 0.0, 1e-6 * scene.size, equal_nan=True) for other in paths):
            found.append(Point(body, mark.origin[mark.seat], ids[mark.joint]))
            paths.append(path)
    return tuple(found[:MOST_BY_DEFAULT])


def _point(scene: Scene, name: PointName) -> Point:
    mechanism = scene.mechanism
    if isinstance(name, str):
        joint = mechanism.called(f"{name}.").removesuffix(".")
        for mark in scene.marks:
            if mechanism.joint_ids[mark.joint] == joint and mark.bodies[mark.seat] in scene.bodies:
                return Point(mark.bodies[mark.seat], mark.origin[mark.seat], name)
        owner, dot, at = name.rpartition(".")
        if not dot:
            raise ValueError(f"point {name!r}: write body.point, or the id of a joint; {_choices(mechanism)}")
        return _of_body(scene, owner, at)
    owner_or_number, place = name
    return _of_body(scene, owner_or_number, place)


def _of_body(scene: Scene, owner: str | int, at: str | Sequence[float]) -> Point:
    mechanism = scene.mechanism
    from groups.trajectory import body_index

    try:
        body = body_index(mechanism, owner)
    except KeyError as fault:
        raise ValueError(str(fault.args[0])) from None
    if body not in scene.bodies:
        raise ValueError(f"body {mechanism.body_name(body)} was not kept when the motion was solved")
    label = mechanism.body_name(body)
    if isinstance(at, str):
        geometry = mechanism.body_geometry.get(body)
        points = geometry.points if geometry is not None else {}
        if at not in points:
            raise ValueError(f"body {label} has no point {at!r}; {_choices(mechanism)}")
        return Point(body, local_point(mechanism, joint_frames(mechanism), body, points[at]), f"{label}.{at}")
    where = ", ".join(f"{value:g}" for value in at)
    if len(at) != (2 if scene.planar else 3):
        raise ValueError(f"({where}) of body {label} is no point of a {mechanism.space} mechanism")
    return Point(body, local_point(mechanism, joint_frames(mechanism), body, at), f"{label} ({where})")


def _choices(mechanism: Mechanism) -> str:
    names = [
        f"{mechanism.body_name(body)}.{name}"
        for body, geometry in sorted(mechanism.body_geometry.items())
        for name in geometry.points
    ]
    if not names:
        return "the model names no points; give (body, (x, y, z)) in world coordinates at the reference"
    return f"the model's points are {', '.join(names)}"
