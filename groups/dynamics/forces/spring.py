"""Spring, damper and actuator between a point of one body and a point of another."""

from __future__ import annotations

import numpy as np

from groups.dynamics.forces.at import At
from groups.dynamics.forces.factor import amount_of
from mbssa.graph.frames import Vector, dot, minus, times
from mbssa.graph.nodes import Number, sqrt
from mbssa.joints.axes import in_space
from mbssa.loads import Force


def exert(force: Force, at: At) -> None:
    """Opposite forces: force + function - stiffness (length - rest) - damping x rate; positive pushes."""
    # Where the points coincide the line has no direction, and the force is NaN.
    points = _points(force, at)
    line = minus(points[1], points[0])
    length = sqrt(dot(line, line))
    along = [x / length for x in line]
    speeds = [at.velocity(body, point) for body, point in zip(force.bodies, points, strict=True)]
    rate = dot(along, minus(speeds[1], speeds[0]))
    push = amount_of(force, at, length, rate) - force.damping * rate
    push = push - force.stiffness * (length - _rest(force))
    at.push(force.bodies[0], points[0], times(-push, along))
    at.push(force.bodies[1], points[1], times(push, along))


def energy(force: Force, at: At) -> Number:
    """Energy, J: half the stiffness times the square of the extension."""
    line = minus(*_points(force, at)[::-1])
    away = sqrt(dot(line, line)) - _rest(force)
    return 0.5 * force.stiffness * away * away


def _points(force: Force, at: At) -> list[Vector]:
    assert force.points is not None
    return [at.point(body, point) for body, point in zip(force.bodies, force.points, strict=True)]


def _rest(force: Force) -> float:
    """Length without spring force, m; that of the reference if not given."""
    if force.rest is not None:
        return force.rest
    first, second = (in_space(np.array(point)) for point in force.points or ())
    return float(np.linalg.norm(second - first))
