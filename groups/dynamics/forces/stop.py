"""End stops of a joint coordinate: a linear spring with damping beyond each of its limits."""

from __future__ import annotations

from groups.dynamics.forces.at import At
from groups.dynamics.forces.formulas import pressure
from mbssa.graph.nodes import Number
from mbssa.loads import Force


def exert(force: Force, at: At) -> Number:
    """Force or torque back between the limits, k δ (1 + c dδ/dt), never outwards; none between them."""
    assert force.coordinate is not None
    low, high = at.mechanism.coordinate_limits[force.coordinate]
    value, rate = at.coordinate(force.coordinate)
    below, energy_below = pressure(force, float(low) - value, -rate, root=False)
    above, energy_above = pressure(force, value - float(high), rate, root=False)
    at.along(force.coordinate, below - above)
    return energy_below + energy_above
