"""Independent inverse dynamics: one dense system of all bodies and all equations per instant."""

from __future__ import annotations

import dataclasses

import numpy as np

import mbssa
from mbssa.joints.catalogue import is_length
from mbssa.joints.frames import joint_frames
from mbssa.joints.poses import Poses
from mbssa.joints.system import rows_at, unknowns
from mbssa.mechanism import Inertia


def with_masses(mechanism, seed=0, only=None):
    """The mechanism with random inertias, gravity that is along no axis, and no force elements."""
    random = np.random.default_rng(seed)
    planar = mechanism.space == "planar"
    size = joint_frames(mechanism).size
    geometry = dict(mechanism.body_geometry)
    for body in range(1, mechanism.n_bodies) if only is None else only:
        centre = tuple(random.uniform(-size, size, 2 if planar else 3).tolist())
        mass = float(random.uniform(0.5, 3.0))
        if planar:
            inertia = Inertia(mass, centre, moment=float(mass * size**2 * random.uniform(0.1, 0.5)))
        else:
            # The inertia of a cloud of points is that of a rigid body, whatever the points.
            points = random.normal(size=(5, 3)) * size
            matrix = mass * sum(np.dot(p, p) * np.eye(3) - np.outer(p, p) for p in points)
            moments = tuple(matrix.diagonal().tolist())
            inertia = Inertia(mass, centre, None, moments, (matrix[0, 1], matrix[0, 2], matrix[1, 2]))
        kept = geometry.get(body, mbssa.BodyGeometry())
        geometry[body] = dataclasses.replace(kept, inertia=inertia)
    gravity = (1.0, -9.0) if planar else (1.0, 2.0, -9.0)
    return dataclasses.replace(mechanism, body_geometry=geometry, gravity=gravity, forces=())


@dataclasses.dataclass(frozen=True)
class Answer:
    """Reactions, driving forces and self-stresses of one instant.

    ``wrench`` by joint: on its second body about the body's centre; ``frame`` (6,) about the world's origin;
    ``stress`` by joint: (k, 6) wrenches of k self-stresses.
    """

    wrench: dict[int, np.ndarray]
    driving: dict[str, float]
    frame: np.ndarray
    stress: dict[int, np.ndarray]
    centre: np.ndarray


def answer_at(trajectory, t):
    """Multipliers of the dense saddle point by least squares, at one instant."""
    mechanism = trajectory.mechanism
    frames, at = trajectory.reference, configuration(trajectory, t)
    rows = rows_at(mechanism, frames, at)
    bodies = np.arange(1, mechanism.n_bodies)
    matrix = rows.matrix(bodies)
    load, on_frame = _loads(trajectory, t, at, frames)
    free = list(unknowns(mechanism.space))
    right = load[1:][:, free].ravel()
    found, *_ = np.linalg.lstsq(matrix.T, -right, rcond=1e-10)
    np.testing.assert_allclose(matrix.T @ found, -right, atol=1e-9 * max(1.0, np.abs(right).max()))
    values = np.linalg.svd(matrix.T)
    null = values[2][np.sum(values[1] > 1e-8 * values[1][0]) :]
    wrench, stress, driving = {}, {}, {}
    scale = np.array([frames.size] * 3 + [1.0] * 3)
    for joint in range(mechanism.n_joints):
        mine = np.flatnonzero((rows.joint == joint) & ~rows.drive)
        second = frames.bodies_of(mechanism, joint)[1]
        slots = [(r, s) for r in mine for s in range(rows.body.shape[1]) if rows.body[r, s] == second]
        wide = np.zeros((len(rows), 6))
        for r, s in slots if second else ():
            wide[r, free] = rows.jacobian[r, s]
        wrench[joint], stress[joint] = (found @ wide) / scale, (null @ wide) / scale
    for r in np.flatnonzero(rows.drive):
        name = f"{mechanism.joint_ids[rows.joint[r]]}.{rows.name[r]}"
        driving[name] = found[r] / (frames.size if is_length(name) else 1.0)
    return Answer(wrench, driving, on_frame, stress, at.centres(frames.centre))


def assert_dense(forces):
    """Driving forces, shaking force and reactions are those of the dense systems, at every instant."""
    trajectory, planar = forces.trajectory, forces.trajectory.planar
    mechanism = trajectory.mechanism
    # The dense system has meshes as moments; see test_gear_reactions.py for the tooth forces.
    gears = [joint.index for joint in mechanism.joints if joint.type.is_gear]
    geared = {body for j in gears for body in trajectory.reference.bodies_of(mechanism, j)} - {0}
    for t in range(len(trajectory.time)):
        answer = answer_at(trajectory, t)
        scale = max(np.abs(answer.frame).max(), max(np.abs(w).max() for w in answer.wrench.values()))
        close = {"rtol": 1e-7, "atol": 1e-8 * scale}
        given = [answer.driving[name] for name in forces.drives]
        np.testing.assert_allclose(forces.driving[t], given, **close)
        frame = answer.frame[[0, 1, 5]] if planar else answer.frame
        shaking = np.concatenate([forces.shaking_force[t], np.atleast_1d(forces.shaking_moment[t])])
        np.testing.assert_allclose(shaking, frame, **close)
        for joint, wrench in answer.wrench.items():
            second = trajectory.reference.bodies_of(mechanism, joint)[1]
            if second == 0 or geared & set(mechanism.joint_bodies(joint)):
                continue
            of = forces.joint(joint, on=second + 1)
            point = np.zeros(3)
            point[: of.point.shape[1]] = of.point[t]
            force, lever = wrench[:3], answer.centre[second] - point
            moment = wrench[3:] + np.cross(lever, force)
            found = np.concatenate([of.force[t], np.atleast_1d(of.moment[t])])
            expected = np.concatenate([force[:2], moment[2:]] if planar else [force, moment])
            known = np.isfinite(found)
            np.testing.assert_allclose(found[known], expected[known], **close)
            if not answer.stress[joint].any():
                assert known.all()


def configuration(trajectory, t):
    """Poses of one instant."""
    lifted = trajectory.spatial()
    rotation = np.array([lifted.body(b + 1).rotation[t] for b in range(trajectory.mechanism.n_bodies)])
    angle = trajectory.orientation[t] if trajectory.planar else np.zeros(len(rotation))
    return Poses(lifted.position[t], rotation, angle)


def _loads(trajectory, t, at, frames):
    """(N, 6) loads on the bodies about their centres, force times size; and what is left for the frame."""
    mechanism, lifted = trajectory.mechanism, trajectory.spatial()
    gravity = np.zeros(3)
    gravity[: len(mechanism.gravity or ())] = mechanism.gravity or ()
    load, on_frame = np.zeros((mechanism.n_bodies, 6)), np.zeros(6)
    for body, geometry in mechanism.body_geometry.items():
        inertia = geometry.inertia
        if inertia is None:
            continue
        of, centre = lifted.body(body + 1), np.zeros(3)
        centre[: len(inertia.centre)] = inertia.centre
        turn, place = trajectory.reference.rotation[body], trajectory.reference.position[body]
        point = at.position[body] + at.rotation[body] @ turn.T @ (centre - place)
        arm = point - at.position[body]
        w, alpha = of.velocity[t, 3:], of.acceleration[t, 3:]
        acceleration = of.acceleration[t, :3] + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
        world = at.rotation[body] @ inertia.matrix @ at.rotation[body].T
        force = inertia.mass * (gravity - acceleration)
        moment = -(world @ alpha + np.cross(w, world @ w))
        load[body, :3] = force * frames.size
        load[body, 3:] = moment + np.cross(point - at.centres(frames.centre)[body], force)
        on_frame += np.concatenate([force, moment + np.cross(point, force)])
    return load, on_frame
