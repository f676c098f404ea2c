"""Force elements, one file a type: the loads that each exerts over a solved motion."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from groups.dynamics.forces import coordinate, friction, point, spring, terrain
from groups.dynamics.masses import Wrench
from groups.dynamics.state import State
from mbssa.loads import Force

Floats = npt.NDArray[np.float64]

#: By type of ``[[force]]``, what turns an element and a state into loads.
TYPES: dict[str, Callable[[Force, State], list[Wrench]]] = {
    "spring": spring.wrenches,
    "coordinate": coordinate.wrenches,
    "friction": friction.wrenches,
    "point": point.wrenches,
    "terrain": terrain.wrenches,
}

#: By type, the potential energy of elements that store any.
ENERGIES: dict[str, Callable[[Force, State], Floats]] = {
    "spring": spring.energy,
    "coordinate": coordinate.energy,
    "terrain": terrain.energy,
}


def wrenches_of(force: Force, state: State) -> list[Wrench]:
    """The loads of one element on its bodies.

    >>> sorted(TYPES)
    ['coordinate', 'friction', 'point', 'spring', 'terrain']
    """
    return TYPES[force.type](force, state)


def energy_of(force: Force, state: State) -> Floats:
    """(T,) J that an element stores, zero without load; without the work of a given force."""
    if force.type not in ENERGIES:
        return np.zeros(state.instants)
    return ENERGIES[force.type](force, state)
