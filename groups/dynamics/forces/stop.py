"""End stops of a joint coordinate: a linear spring with damping beyond each of its limits."""

from __future__ import annotations

from groups.dynamics.forces.coordinate import along_coordinate
from groups.dynamics.forces.hertz import pressure, pressure_energy
from groups.dynamics.masses import Wrench
from groups.dynamics.state import State
from groups.results.joints import coordinate_motion
from mbssa.arrays import Floats
from mbssa.loads import Force


def wrenches(force: Force, state: State) -> list[Wrench]:
    """Force or torque back between the limits, k δ (1 + c dδ/dt), never outwards; none between them."""
    assert force.coordinate is not None
    below, above, rate = _beyond(force, state)
    effort = pressure(force, below, -rate, 1.0) - pressure(force, above, rate, 1.0)
    return along_coordinate(state, force.coordinate, effort)


def energy(force: Force, state: State) -> Floats:
    """Energy (T,), J: half the stiffness times the square of the excess beyond a limit."""
    below, above, _ = _beyond(force, state)
    return pressure_energy(force, below, 1.0) + pressure_energy(force, above, 1.0)


def _beyond(force: Force, state: State) -> tuple[Floats, Floats, Floats]:
    """Excess (T,) of the coordinate below and above its limits, m or rad, and its rate."""
    assert force.coordinate is not None
    low, high = state.trajectory.mechanism.coordinate_limits[force.coordinate]
    motion = coordinate_motion(state.trajectory, force.coordinate)
    return low - motion.value, motion.value - high, motion.rate
