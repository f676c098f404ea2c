"""Residuals of all constraints along a simulated motion, by the joints' own equations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from groups.dynamics.state import State
from groups.joint_jacobian import joint_rows
from groups.motion import Law
from groups.results.joints import coordinate_motion
from mbssa.joints.catalogue import is_length

if TYPE_CHECKING:
    from mbssa.arrays import Floats
    from mbssa.joints.frames import Frames


def constraint_errors(state: State, frames: Frames, laws: Mapping[str, Law]) -> tuple[Floats, Floats]:
    """Largest residuals (T,) of all equations, m (angles as arcs at the size), and of the rates, m/s."""
    state = replace(state, frames=frames)
    mechanism, size = state.mechanism, state.frames.size
    found = np.zeros((2, state.instants))
    for j in range(mechanism.n_joints):
        rows = joint_rows(state, j)
        rate = np.zeros((state.instants, rows.constraints))
        for slot, body in enumerate(rows.bodies):
            by, spin = rows.jacobian[:, : rows.constraints, slot], state.twist[body, :, 3:]
            linear = state.velocity(body, state.centre[body] - state.position[body])
            rate += (by[..., :3] @ linear[..., None] / size + by[..., 3:] @ spin[..., None])[..., 0]
        for k, off in enumerate((rows.residual[:, : rows.constraints], rate)):
            np.maximum(found[k], np.abs(off).max(axis=1, initial=0.0), out=found[k])
    for name, law in laws.items():
        motion, given = coordinate_motion(state.trajectory, name), law(state.trajectory.time)
        unit = size if is_length(name) else 1.0
        off = (motion.value - given[0]) / unit
        off -= 0.0 if is_length(name) else 2 * np.pi * np.round(off / (2 * np.pi))
        for k, each in enumerate((off, (motion.rate - given[1]) / unit)):
            np.maximum(found[k], np.abs(each), out=found[k])
    return found[0] * size, found[1] * size
