"""Spring, damper and applied force or torque on a joint coordinate."""

from __future__ import annotations

from groups.dynamics.forces.at import At
from groups.dynamics.forces.factor import amount_of
from mbssa.graph.nodes import Number
from mbssa.loads import Force


def exert(force: Force, at: At) -> None:
    """Force along the coordinate: force + function - stiffness (value - rest) - damping x rate, N or N m."""
    assert force.coordinate is not None
    value, rate = at.coordinate(force.coordinate)
    effort = amount_of(force, at, value, rate) - force.damping * rate
    if force.stiffness:
        effort = effort - force.stiffness * (value - _rest(force, at))
    at.along(force.coordinate, effort)


def energy(force: Force, at: At) -> Number:
    """Energy, J: half the stiffness times the square of the coordinate less its rest."""
    assert force.coordinate is not None
    if not force.stiffness:
        return 0.0
    away = at.coordinate(force.coordinate)[0] - _rest(force, at)
    return 0.5 * force.stiffness * away * away


def _rest(force: Force, at: At) -> float:
    """Value without spring force, m or rad; that of the reference if not given."""
    assert force.coordinate is not None
    return at.at_reference(force.coordinate) if force.rest is None else force.rest
