"""Force and moment on a body at one of its points, in axes of the world or of the body."""

from __future__ import annotations

from groups.dynamics.forces.at import At, vector_of
from groups.dynamics.forces.formulas import factor_and_rate, function_of
from mbssa.graph.frames import plus, times
from mbssa.graph.nodes import Number
from mbssa.loads import Force


def exert(force: Force, at: At) -> Number:
    """The one load; axes of the body are those of its own frame. A function's force is in the same axes."""
    assert force.point is not None
    (body,) = force.bodies
    place, size = at.point(body, force.point), 2 if at.planar else 3
    factor = factor_and_rate(force, at)[0]
    given = function_of(force, at, place[:size], at.velocity(body, place)[:size])
    loads = [times(factor, vector_of(force.force)), times(factor, vector_of(force.moment))]
    loads[0] = plus(loads[0], [*given, 0.0][:3])
    if force.axes == "body":
        loads = [at.body(body).along(vector) for vector in loads]
    at.push(body, place, *loads)
    return 0.0
