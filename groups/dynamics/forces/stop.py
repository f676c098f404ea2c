"""End stops of a joint coordinate: a linear spring with damping beyond each of its limits."""

from __future__ import annotations

from groups.dynamics.forces.at import At
from groups.dynamics.forces.hertz import pressure, pressure_energy
from mbssa.graph.nodes import Number
from mbssa.loads import Force


def exert(force: Force, at: At) -> None:
    """Force or torque back between the limits, k δ (1 + c dδ/dt), never outwards; none between them."""
    assert force.coordinate is not None
    below, above, rate = _beyond(force, at)
    back = pressure(force, below, -rate, root=False) - pressure(force, above, rate, root=False)
    at.along(force.coordinate, back)


def energy(force: Force, at: At) -> Number:
    """Energy, J: half the stiffness times the square of the excess beyond a limit."""
    below, above, _ = _beyond(force, at)
    return pressure_energy(force, below, root=False) + pressure_energy(force, above, root=False)


def _beyond(force: Force, at: At) -> tuple[Number, Number, Number]:
    """Excess of the coordinate below and above its limits, m or rad, and its rate."""
    assert force.coordinate is not None
    low, high = at.mechanism.coordinate_limits[force.coordinate]
    value, rate = at.coordinate(force.coordinate)
    return float(low) - value, value - float(high), rate
