"""Spring, damper and actuator between a point of one body and a point of another."""

from __future__ import annotations

import math

from groups.dynamics.forces.at import At
from groups.dynamics.forces.formulas import elastic
from mbssa.graph.frames import dot, minus, times
from mbssa.graph.nodes import Number, sqrt
from mbssa.loads import Force


def exert(force: Force, at: At) -> Number:
    """Opposite forces: force + function - stiffness (length - rest) - damping x rate; positive pushes."""
    # Where the points coincide the line has no direction, and the force is NaN. The spring is free of force
    # at the length of the reference if no other is given.
    assert force.points is not None
    points = [at.point(body, point) for body, point in zip(force.bodies, force.points, strict=True)]
    line = minus(points[1], points[0])
    length = sqrt(dot(line, line))
    along = [x / length for x in line]
    speeds = [at.velocity(body, point) for body, point in zip(force.bodies, points, strict=True)]
    rest = force.rest
    if rest is None:
        rest = math.dist(*force.points)
    push, energy = elastic(force, at, length, dot(along, minus(speeds[1], speeds[0])), rest)
    at.push(force.bodies[0], points[0], times(-push, along))
    at.push(force.bodies[1], points[1], times(push, along))
    return energy
