"""Residuals of all constraints along a simulated motion, by the joints' own equations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from groups.dynamics.state import State
from groups.joint_jacobian import joint_rows, pair_pose
from groups.motion import Law
from groups.results.joints import coordinate_motion
from mbssa.joints.catalogue import is_length, type_of_joint
from mbssa.joints.equations import residuals
from mbssa.joints.poses import Poses
from mbssa.joints.relations import value_and_rates

if TYPE_CHECKING:
    from mbssa.arrays import Floats
    from mbssa.joints.frames import Frames


def constraint_errors(state: State, frames: Frames, laws: Mapping[str, Law]) -> tuple[Floats, Floats]:
    """Largest residuals (T,) of all equations, m (angles as arcs at the size), and of the rates, m/s."""
    state = replace(state, frames=frames, teeth={})
    mechanism, size = state.mechanism, state.frames.size
    found = np.zeros((2, state.instants))
    for j in range(mechanism.n_joints):
        rows = joint_rows(state, j)
        twists = np.array([state.motion(body) for body in rows.bodies])
        rate = np.einsum("saet,sat->te", rows.loads[:, :, : rows.constraints], twists)
        for k, off in enumerate((_residuals(state, j), rate)):
            np.maximum(found[k], np.abs(off).max(axis=1, initial=0.0), out=found[k])
    for name, law in laws.items():
        motion, given = coordinate_motion(state.trajectory, name), law(state.trajectory.time)
        unit = size if is_length(name) else 1.0
        off = (motion.value - given[0]) / unit
        off -= 0.0 if is_length(name) else 2 * np.pi * np.round(off / (2 * np.pi))
        for k, each in enumerate((off, (motion.rate - given[1]) / unit)):
            np.maximum(found[k], np.abs(each), out=found[k])
    return found[0] * size, found[1] * size


def _residuals(state: State, joint: int) -> Floats:
    """Residuals (T, e) of a joint, lengths over the size."""
    if type_of_joint(state.mechanism, joint).pair is not None:
        return residuals(*pair_pose(state, joint)[:4])[0]
    relations = state.frames.relations[joint]
    found = np.zeros((state.instants, len(relations.constraints)))
    for t in range(state.instants):
        at = Poses(state.position[:, t], state.rotation[:, t], state.angle[:, t])
        for row, relation in enumerate(relations.constraints):
            found[t, row] = value_and_rates(relations, relation, at, state.frames.size)[0]
    return found
