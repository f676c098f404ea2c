"""Inertia forces in a frame of reference that rotates: centrifugal, Coriolis' and Euler's."""

# F = -m (dΩ/dt × r + Ω × (Ω × r) + 2 Ω × v), r from the axis' point to the centre of mass, v relative.
# M = -(I (dΩ/dt + Ω × ω) + (Ω + ω) × I (Ω + ω) - ω × I ω): Euler's equations with Ω + ω.
# Goldstein, Poole and Safko, Classical Mechanics, section 4.10.

from __future__ import annotations

import numpy as np

from groups.dynamics.forces.factor import factor_and_rate
from groups.dynamics.masses import MassTable, Wrench
from groups.dynamics.state import State
from mbssa.arrays import Floats
from mbssa.joints.axes import cross, in_space
from mbssa.loads import Force


def wrenches(force: Force, state: State) -> list[Wrench]:
    """Loads on all bodies with mass, at their centres of mass."""
    turn, faster = _spin(force, state)
    found = []
    for body, mass, arm, matrix in _bodies(state):
        place, spin = state.position[body] + arm, state.twist[body, :, 3:]
        out, whole = place - _point(force), turn + spin
        acceleration = (
            cross(faster, out) + cross(turn, cross(turn, out)) + 2 * cross(turn, state.velocity(body, arm))
        )
        moment = (
            _times(matrix, faster + cross(turn, spin))
            + cross(whole, _times(matrix, whole))
            - cross(spin, _times(matrix, spin))
        )
        found.append(Wrench(body, place, -mass * acceleration, -moment))
    return found


def energy(force: Force, state: State) -> Floats:
    """Centrifugal energy (T,), J: -(m |Ω × r|² + Ω · I Ω) / 2; a potential while Ω is constant."""
    turn, _ = _spin(force, state)
    found = np.zeros(state.instants)
    for body, mass, arm, matrix in _bodies(state):
        swept = cross(turn, state.position[body] + arm - _point(force))
        found -= 0.5 * (mass * (swept**2).sum(axis=1) + (turn * _times(matrix, turn)).sum(axis=1))
    return found


def _spin(force: Force, state: State) -> tuple[Floats, Floats]:
    """Angular velocity (T, 3) of the frame, rad/s, and its rate, in its axes."""
    given = np.array([0.0, 0.0, force.spin]) if isinstance(force.spin, float) else np.array(force.spin)
    factor, rate = factor_and_rate(force, state)
    return factor[:, None] * given, rate[:, None] * given


def _point(force: Force) -> Floats:
    return np.zeros(3) if force.point is None else in_space(np.array(force.point))


def _bodies(state: State) -> list[tuple[int, float, Floats, Floats]]:
    """Known bodies with mass: (T, 3) from the origin to the centre of mass, (T, 3, 3) inertia, world axes."""
    table, found = MassTable.of(state.mechanism, state.frames), []
    for row, body in enumerate(table.body.tolist()):
        if state.known is None or body in state.known:
            rotation = state.rotation[body]
            matrix = rotation @ table.moment[row] @ rotation.swapaxes(1, 2)
            found.append((body, float(table.mass[row]), rotation @ table.centre[row], matrix))
    return found


def _times(matrix: Floats, vector: Floats) -> Floats:
    found: Floats = (matrix @ vector[:, :, None])[:, :, 0]
    return found
