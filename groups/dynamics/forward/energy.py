"""Energy of a simulated motion: kinetic, of gravity and of springs; and how far constraints are off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from groups.dynamics.masses import masses
from groups.dynamics.state import State
from groups.rotations import in_space
from mbssa.loads import Force

if TYPE_CHECKING:
    from groups.dynamics.forward.absolute import Constraints

Floats = npt.NDArray[np.float64]


def kinetic(state: State) -> Floats:
    """(T,) J."""
    return masses(state).energy.kinetic


def of_gravity(state: State) -> Floats:
    """(T,) J, zero with every centre of mass at the world's origin."""
    mechanism = state.trajectory.mechanism
    found = np.zeros(state.instants)
    if mechanism.gravity is None:
        return found
    gravity = in_space(np.array(mechanism.gravity))
    for body, geometry in sorted(mechanism.body_geometry.items()):
        if geometry.inertia is not None:
            point = state.position[body] + state.arm(body, np.array(geometry.inertia.centre))
            found -= geometry.inertia.mass * (point @ gravity)
    return found


def of_springs(state: State) -> Floats:
    """(T,) J of linear springs: half the stiffness times the square of the extension."""
    found = np.zeros(state.instants)
    for force in state.trajectory.mechanism.forces:
        stiffness = getattr(force, "stiffness", 0.0)
        if stiffness:
            found += 0.5 * stiffness * _extension(force, state) ** 2
    return found


def _extension(force: Force, state: State) -> Floats:
    if force.coordinate is not None:
        from groups.dynamics.forces.coordinate import _at_reference

        joint, _, name = force.coordinate.rpartition(".")
        rest = _at_reference(state, joint, name) if force.rest is None else force.rest
        extension: Floats = state.trajectory.joint(joint)[name].value - rest
        return extension
    assert force.points is not None
    ends = [in_space(np.array(point)) for point in force.points]
    rest = float(np.linalg.norm(ends[1] - ends[0])) if force.rest is None else force.rest
    one, other = (
        state.position[body] + state.arm(body, end) for body, end in zip(force.bodies, ends, strict=True)
    )
    found: Floats = np.linalg.norm(other - one, axis=1) - rest
    return found


def constraint_errors(state: State, constraints: Constraints) -> tuple[Floats, Floats]:
    """(T,) largest residual of all constraints, m (angles as arcs at the size), and of their rates, m/s."""
    size = state.frames.size
    found = np.zeros((2, state.instants))
    for t, time in enumerate(state.trajectory.time.tolist()):
        rows = constraints.at(
            time, state.position[:, t], state.rotation[:, t], state.twist[:, t], state.angle[:, t]
        )
        constraints.turns()
        found[:, t] = np.abs(rows.residual).max(initial=0.0), np.abs(rows.rate).max(initial=0.0)
    return found[0] * size, found[1] * size
