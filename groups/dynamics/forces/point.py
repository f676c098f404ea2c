"""Force and moment on a body at one of its points, in axes of the world or of the body."""

from __future__ import annotations

import numpy as np

from groups.dynamics.forces.factor import factor_of, function_of
from groups.dynamics.masses import Wrench
from groups.dynamics.state import State
from mbssa.arrays import Floats
from mbssa.joints.axes import in_space
from mbssa.loads import Force
from mbssa.mechanism import Vector


def wrenches(force: Force, state: State) -> list[Wrench]:
    """The one load; axes of the body are those of its own frame. A function's force is in the same axes."""
    (body,) = force.bodies
    arm = state.arm(body, np.array(force.point))
    place, size = state.position[body] + arm, 2 if state.trajectory.planar else 3
    factor = factor_of(force, state)[:, None]
    given = function_of(force, state, place[:, :size], state.velocity(body, arm)[:, :size])
    vectors = [factor * _in_space(force.force) + in_space(given), factor * _in_space(force.moment)]
    if force.axes == "body":
        vectors = [(state.rotation[body] @ vector[:, :, None])[:, :, 0] for vector in vectors]
    return [Wrench(body, place, *vectors)]


def _in_space(given: float | Vector | None) -> Floats:
    """Vector (3,) of a vector, of a planar moment about z, or of nothing."""
    if given is None:
        return np.zeros(3)
    return np.array([0.0, 0.0, given]) if isinstance(given, float) else in_space(np.array(given))
