"""Force elements, one file a type: the loads that each exerts, as formulas on any numbers."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from groups.dynamics.forces import contact, coordinate, friction, point, rotating_frame, spring, stop, terrain
from groups.dynamics.forces.at import Solved
from groups.dynamics.masses import Wrench
from groups.dynamics.state import State
from mbssa.arrays import Floats
from mbssa.loads import Force

#: By type of ``[[force]]``, the file of ``exert``, and of ``energy`` where elements store any.
TYPES: dict[str, ModuleType] = {
    file.__name__.rpartition(".")[2]: file
    for file in (contact, coordinate, friction, point, rotating_frame, spring, stop, terrain)
}


def wrenches_of(force: Force, state: State) -> list[Wrench]:
    """The loads of one element on its bodies."""
    at = Solved(state)
    with np.errstate(invalid="ignore", divide="ignore"):
        TYPES[force.type].exert(force, at)
    return at.wrenches


def energy_of(force: Force, state: State) -> Floats:
    """Stored energy (T,) of an element, J, zero without load; without the work of a given force."""
    found = np.zeros(state.instants)
    if hasattr(TYPES[force.type], "energy"):
        found += TYPES[force.type].energy(force, Solved(state))
    return found
