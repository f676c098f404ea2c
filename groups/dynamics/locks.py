"""Effect of the moments that lock passive rotations on the other bodies."""

# Free, the bodies of a passive rotation would take the angular acceleration -M / I about their line more: M
# is the lock's moment about the line, I their moment of inertia. The loads of this acceleration, less the
# moment of the lock, change the reactions of all joints.

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.dynamics.inverse import solve_backwards
from groups.dynamics.masses import MassTable, Wrench
from mbssa.arrays import Floats
from mbssa.joints.axes import cross

if TYPE_CHECKING:
    from groups.dynamics.inverse import Solution
    from mbssa import Structure
    from mbssa.decomposition.treatment import PassiveRotation

#: Moment of inertia about a line, over that about the body's origin, below which there is none.
_SLENDER = 1e-12


def effect_of_locks(solution: Solution, structure: Structure) -> Floats:
    """Largest change (T,) of a joint's loads, over the largest in the motion, if the bodies turned freely."""
    if not solution.locks:
        return np.zeros(solution.state.instants)
    assert structure.treatment is not None
    loads = [
        wrench
        for spin in structure.treatment.passive_rotations
        if spin.bodies[0] in solution.locks
        for wrench in _changes(solution, spin)
    ]
    change = _largest(solve_backwards(solution.state, loads, structure))
    whole = float(np.nanmax(_largest(solution), initial=0.0))
    return change / whole if whole > 0.0 else change


def _changes(solution: Solution, spin: PassiveRotation) -> list[Wrench]:
    """Change of the loads where one passive rotation is free."""
    state, body = solution.state, spin.bodies[0]
    back, table = state.frames.rotation[body].T, MassTable.of(state.mechanism, state.frames)
    line = state.rotation[body] @ (back @ np.array(spin.direction))
    place = state.position[body] + state.arm(body, np.array(spin.point))
    inertia, whole, none = np.zeros(state.instants), 0.0, np.zeros_like(line)
    parts = []
    for k, b in enumerate(table.body.tolist()):
        if b in spin.bodies:
            centre = state.position[b] + state.rotation[b] @ table.centre[k]
            across = cross(line, centre - place)
            turned = (line[:, None] @ state.rotation[b]) @ table.moment[k] @ state.rotation[b].swapaxes(1, 2)
            parts.append((b, centre, table.mass[k] * across, turned[:, 0]))
            inertia += table.mass[k] * (across**2).sum(axis=1) + (turned[:, 0] * line).sum(axis=1)
            whole += np.trace(table.moment[k]) + table.mass[k] * state.frames.size**2
    lock = solution.locks[body].wrench[:, 1, 3:, 0]
    about, heavy = (lock * line).sum(axis=1), inertia > _SLENDER * whole
    faster = np.divide(about, inertia, out=np.zeros_like(about), where=heavy)[:, None]
    found = [Wrench(b, centre, faster * force, faster * moment) for b, centre, force, moment in parts]
    return [*found, Wrench(body, place, none, -lock)]


def _largest(solution: Solution) -> Floats:
    """Largest force (T,), or moment over the size, that a joint carries."""
    size = np.array([1.0] * 3 + [solution.state.frames.size] * 3)
    loads = [np.abs(joint.wrench[..., 0] / size).max(axis=(1, 2)) for joint in solution.joints.values()]
    found: Floats = np.max(loads, axis=0)
    return found
