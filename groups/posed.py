"""Poses of a model: as motions, and as references from which it starts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from groups.motion import reference_inputs
from groups.rotations import plane_rotation, quaternion_of, rotation_of
from groups.setting import Setting
from groups.trajectory import Trajectory, unfilled
from mbssa import Mechanism
from mbssa.arrays import Floats, Ints
from mbssa.joints.axes import in_space, whole_turns
from mbssa.joints.poses import Poses

if TYPE_CHECKING:
    from groups.model import Model


def posed(model: Model, at: Poses, inputs: Floats | None) -> Model:
    """Model that goes on from a closed pose, with inputs (D,) in m and rad, in the mode that it has there."""
    setting = Setting.at(model.structure, model.frames, at, inputs)
    solvers = tuple(solver.at(setting) for solver in model.solvers)
    return replace(model, reference=at, solvers=solvers, inputs=inputs)


def inputs_at(model: Model, at: Poses, known: Floats) -> Floats:
    """Inputs (D,) of a model in a pose, m and rad; angles go on from the known ones at the reference."""
    # In the plane by what the two bodies have turned, else the shorter way.
    mechanism, before = model.mechanism, model.reference
    values, planar = reference_inputs(mechanism, model.frames, at), mechanism.space == "planar"
    for k, name in enumerate(mechanism.driven_coordinates):
        joint, coordinate = mechanism.place_of(name)
        if "angle" not in coordinate and coordinate not in ("azimuth", "elevation"):
            continue
        guess = known[k]
        if planar and coordinate == "angle":
            a, b = mechanism.joint_bodies(joint)[:2]
            guess += (at.angle[b] - at.angle[a]) - (before.angle[b] - before.angle[a])
        values[k] += whole_turns(guess - values[k])
    return values


def configuration_at(position: Floats, orientation: Floats) -> Poses:
    """Poses of arrays of a trajectory, position (…, N, 2 or 3) and angle (…, N) or quaternion, copied."""
    planar = orientation.ndim < position.ndim
    rotation = plane_rotation(orientation) if planar else rotation_of(orientation)
    angle = orientation.copy() if planar else np.arctan2(rotation[..., 1, 0], rotation[..., 0, 0])
    return Poses(in_space(position.copy()), rotation, angle)


def poses_of(trajectory: Trajectory) -> Poses:
    """Poses (T, N) of a motion of all bodies; NaN where one was not placed."""
    if len(trajectory.kept) < trajectory.mechanism.n_bodies:
        raise ValueError("the poses of all bodies are needed; solve without bodies=…")
    return configuration_at(trajectory.position, trajectory.orientation)


def at_rest(
    mechanism: Mechanism, poses: Poses, bodies: Ints, level: int = 0, n_groups: int = 0
) -> Trajectory:
    """Bodies (K,) that stand still in these poses, one instant or several, with so many solved groups."""
    position = poses.position[..., bodies, :].reshape(-1, len(bodies), 3)
    rotation = poses.rotation[..., bodies, :, :].reshape(-1, len(bodies), 3, 3)
    rest = unfilled(mechanism, np.arange(float(len(position))), bodies, level, ("",) * n_groups)
    rest.position[:], rest.condition[:] = position[..., : rest.position.shape[2]], 1.0
    angle = np.arctan2(rotation[..., 1, 0], rotation[..., 0, 0])
    rest.orientation[:] = angle if rest.planar else quaternion_of(rotation)
    return rest
