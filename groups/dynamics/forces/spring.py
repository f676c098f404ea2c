"""Spring, damper and actuator between a point of one body and a point of another."""

from __future__ import annotations

import numpy as np

from groups.dynamics.forces.factor import amount_of
from groups.dynamics.masses import Wrench
from groups.dynamics.state import State
from groups.rotations import in_space
from mbssa.loads import Force


def wrenches(force: Force, state: State) -> list[Wrench]:
    """Equal and opposite forces along the line: force - stiffness (length - rest) - damping x its rate.

    Positive pushes the points apart. Where they coincide the line has no direction, and the answer is NaN.
    """
    assert force.points is not None
    ends = [in_space(np.array(point)) for point in force.points]
    rest = float(np.linalg.norm(ends[1] - ends[0])) if force.rest is None else force.rest
    arms = [state.arm(body, end) for body, end in zip(force.bodies, ends, strict=True)]
    points = [state.position[body] + arm for body, arm in zip(force.bodies, arms, strict=True)]
    speeds = [state.velocity(body, arm) for body, arm in zip(force.bodies, arms, strict=True)]
    line = points[1] - points[0]
    length = np.linalg.norm(line, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        along = line / length[:, None]
    rate = (along * (speeds[1] - speeds[0])).sum(axis=1)
    push = amount_of(force, state) - force.stiffness * (length - rest) - force.damping * rate
    found = push[:, None] * along
    none = np.zeros_like(found)
    return [
        Wrench(body, point, sign * found, none)
        for body, point, sign in zip(force.bodies, points, (-1.0, 1.0), strict=True)
    ]
