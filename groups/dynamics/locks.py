"""Effect of the moments that lock passive rotations on the other bodies."""

# Free, the bodies of a passive rotation would take the angular acceleration -M / I about their line more: M
# is the lock's moment about the line, I their moment of inertia. The loads of this acceleration, less the
# moment of the lock, change the reactions of all joints.

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.dynamics.inverse import solve_backwards
from groups.dynamics.joints import Joint
from groups.dynamics.masses import Wrench, bodies_with_mass, inertia_times
from groups.setting import LockedRotation, locked_rotations
from mbssa.arrays import Floats
from mbssa.graph.frames import cross, dot, plus

if TYPE_CHECKING:
    from groups.dynamics.inverse import Solution
    from mbssa import Structure

#: Moment of inertia about a line, over that about the body's origin, below which there is none.
_SLENDER = 1e-12


def effect_of_locks(solution: Solution, structure: Structure) -> Floats:
    """Largest change (T,) of a joint's loads, over the largest in the motion, if the bodies turned freely."""
    if not solution.locks:
        return np.zeros(solution.state.instants)
    spins = locked_rotations(structure, solution.state.frames)
    loads = [wrench for spin in spins for wrench in _changes(solution, spin)]
    change = _largest(solve_backwards(solution.state, loads, structure))
    whole = float(np.nanmax(_largest(solution), initial=0.0))
    return change / whole if whole > 0.0 else change


def _changes(solution: Solution, spin: LockedRotation) -> list[Wrench]:
    """Change of the loads where one passive rotation is free."""
    state, body = solution.state, spin.body
    frames, frame = state.frames, state.frame(body)
    line = np.array(frame.along(frames.rotation[body].T @ spin.direction))
    place = np.array(plus(frame.place, frame.along(frames.on_body(body, tuple(spin.point)))))
    inertia, whole, parts = np.zeros(state.instants), 0.0, []
    for b, mass, centre, moment in bodies_with_mass(state.mechanism, frames):
        if b in spin.bodies:
            near = state.frame(b)
            at = np.array(plus(near.place, near.along(centre)))
            across = np.array(cross(line, at - place))
            turned = np.array(inertia_times(near, moment, line))
            parts.append((b, at, mass * across, turned))
            inertia += mass * dot(across, across) + dot(turned, line)
            whole += np.trace(moment) + mass * frames.size**2
    lock = solution.locks[body].loads[1, 3:, 0]
    about, heavy = dot(lock, line), inertia > _SLENDER * whole
    faster = np.divide(about, inertia, out=np.zeros_like(about), where=heavy)
    found = [Wrench(b, at, faster * force, faster * moment) for b, at, force, moment in parts]
    return [*found, Wrench(body, place, np.zeros_like(line), -lock)]


def _largest(solution: Solution) -> Floats:
    """Largest force (T,), or moment over the size, that a joint carries."""
    size = np.array([1.0] * 3 + [solution.state.frames.size] * 3)[:, None]
    joints = [Joint(solution.state, j, loads).seen()[0] for j, loads in solution.joints.items()]
    found: Floats = np.max([np.abs(wrench / size).max(axis=(0, 1)) for wrench in joints], axis=0)
    return found
