"""Spring, damper and actuator between a point of one body and a point of another."""

from __future__ import annotations

import numpy as np

from groups.dynamics.forces.factor import amount_of
from groups.dynamics.masses import Wrench
from groups.dynamics.state import State
from mbssa.arrays import Floats
from mbssa.joints.axes import in_space
from mbssa.loads import Force


def wrenches(force: Force, state: State) -> list[Wrench]:
    """Opposite forces: force + function - stiffness (length - rest) - damping x rate; positive pushes."""
    # Where the points coincide the line has no direction, and the force is NaN.
    line, points, speeds = _line(force, state)
    length = np.linalg.norm(line, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        along = line / length[:, None]
    rate = (along * (speeds[1] - speeds[0])).sum(axis=1)
    push = amount_of(force, state, length, rate) - force.damping * rate
    push -= force.stiffness * (length - _rest(force))
    found = push[:, None] * along
    none = np.zeros_like(found)
    return [
        Wrench(body, point, sign * found, none)
        for body, point, sign in zip(force.bodies, points, (-1.0, 1.0), strict=True)
    ]


def energy(force: Force, state: State) -> Floats:
    """Energy (T,), J: half the stiffness times the square of the extension."""
    line, _, _ = _line(force, state)
    found: Floats = 0.5 * force.stiffness * (np.linalg.norm(line, axis=1) - _rest(force)) ** 2
    return found


def _line(force: Force, state: State) -> tuple[Floats, list[Floats], list[Floats]]:
    """Vector (T, 3) from the first point to the second, both points, and their velocities."""
    arms = [state.arm(body, end) for body, end in zip(force.bodies, _ends(force), strict=True)]
    points = [state.position[body] + arm for body, arm in zip(force.bodies, arms, strict=True)]
    speeds = [state.velocity(body, arm) for body, arm in zip(force.bodies, arms, strict=True)]
    return points[1] - points[0], points, speeds


def _ends(force: Force) -> list[Floats]:
    assert force.points is not None
    return [in_space(np.array(point)) for point in force.points]


def _rest(force: Force) -> float:
    """Length without spring force, m; that of the reference if not given."""
    if force.rest is not None:
        return force.rest
    first, second = _ends(force)
    return float(np.linalg.norm(second - first))
