"""Force elements, one file a type: the loads that each exerts, as formulas on any numbers."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from groups.dynamics.forces import contact, coordinate, friction, point, rotating_frame, spring, stop, terrain
from groups.dynamics.forces.at import Solved
from groups.dynamics.state import State, Wrench
from mbssa.arrays import Floats
from mbssa.loads import Force

#: By type of ``[[force]]``, the file of ``exert``, which loads bodies and returns the stored energy, J.
TYPES: dict[str, ModuleType] = {
    file.__name__.rpartition(".")[2]: file
    for file in (contact, coordinate, friction, point, rotating_frame, spring, stop, terrain)
}


def exerted(force: Force, state: State) -> tuple[list[Wrench], Floats]:
    """The loads of one element on its bodies, and its stored energy (T,), J, zero without load."""
    at = Solved(state)
    with np.errstate(invalid="ignore", divide="ignore"):
        energy = TYPES[force.type].exert(force, at)
    return at.wrenches, np.zeros(state.instants) + energy
