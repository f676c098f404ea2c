"""Spring, damper and applied force or torque on a joint coordinate."""

from __future__ import annotations

from groups.dynamics.forces.at import At
from groups.dynamics.forces.formulas import elastic
from mbssa.graph.nodes import Number
from mbssa.loads import Force


def exert(force: Force, at: At) -> Number:
    """Force along the coordinate: force + function - stiffness (value - rest) - damping x rate, N or N m."""
    assert force.coordinate is not None
    rest = force.rest
    if rest is None:
        rest = at.at_reference(force.coordinate) if force.stiffness else 0.0
    effort, energy = elastic(force, at, *at.coordinate(force.coordinate), rest)
    at.along(force.coordinate, effort)
    return energy
