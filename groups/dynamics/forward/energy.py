"""Energy of a simulated motion: kinetic, of gravity, of force elements; and how far constraints are off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from groups.dynamics.forces import energy_of
from groups.dynamics.masses import masses
from groups.dynamics.state import State
from groups.rotations import in_space

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


def of_elements(state: State) -> Floats:
    """(T,) J that force elements store: springs and contacts."""
    found = np.zeros(state.instants)
    for force in state.trajectory.mechanism.forces:
        found += energy_of(force, state)
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
