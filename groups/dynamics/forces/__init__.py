"""Force elements, one file a type: the loads that each exerts over a solved motion."""

from __future__ import annotations

from types import ModuleType
from typing import cast

import numpy as np

from groups.dynamics.forces import contact, coordinate, friction, point, rotating_frame, spring, stop, terrain
from groups.dynamics.masses import Wrench
from groups.dynamics.state import State
from mbssa.arrays import Floats
from mbssa.loads import Force

#: By type of ``[[force]]``, the file of ``wrenches``, and of ``energy`` where elements store any.
TYPES: dict[str, ModuleType] = {
    "contact": contact,
    "coordinate": coordinate,
    "friction": friction,
    "point": point,
    "rotating_frame": rotating_frame,
    "spring": spring,
    "stop": stop,
    "terrain": terrain,
}


def wrenches_of(force: Force, state: State) -> list[Wrench]:
    """The loads of one element on its bodies."""
    return cast(list[Wrench], TYPES[force.type].wrenches(force, state))


def energy_of(force: Force, state: State) -> Floats:
    """Stored energy (T,) of an element, J, zero without load; without the work of a given force."""
    if not hasattr(TYPES[force.type], "energy"):
        return np.zeros(state.instants)
    return cast(Floats, TYPES[force.type].energy(force, state))
