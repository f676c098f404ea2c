"""Viscous and regularised Coulomb friction on a joint coordinate."""

from __future__ import annotations

import numpy as np

from groups.dynamics.forces.coordinate import along_coordinate
from groups.dynamics.masses import Wrench
from groups.dynamics.state import State
from groups.results.joints import coordinate_motion
from mbssa.loads import Force


def wrenches(force: Force, state: State) -> list[Wrench]:
    """Force or torque against the coordinate's rate: -friction tanh(rate / threshold) - damping x rate."""
    # The Coulomb part does not depend on the joint's reaction; it takes power at every rate.
    assert force.coordinate is not None
    assert force.threshold is not None
    rate = coordinate_motion(state.trajectory, force.coordinate).rate
    effort = -force.friction * np.tanh(rate / force.threshold) - force.damping * rate
    return along_coordinate(state, force.coordinate, effort)
