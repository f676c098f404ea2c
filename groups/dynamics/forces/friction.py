"""Viscous and regularised Coulomb friction on a joint coordinate."""

from __future__ import annotations

from groups.dynamics.forces.at import At
from groups.dynamics.forces.formulas import tanh
from mbssa.graph.nodes import Number
from mbssa.loads import Force


def exert(force: Force, at: At) -> Number:
    """Force or torque against the coordinate's rate: -friction tanh(rate / threshold) - damping x rate."""
    # The Coulomb part does not depend on the joint's reaction; it takes power at every rate.
    assert force.coordinate is not None
    assert force.threshold is not None
    rate = at.coordinate(force.coordinate)[1]
    at.along(force.coordinate, -force.friction * tanh(rate / force.threshold) - force.damping * rate)
    return 0.0
