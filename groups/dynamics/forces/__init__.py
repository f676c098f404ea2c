"""Force elements, one file a type: the loads that each exerts over a solved motion."""

from __future__ import annotations

from collections.abc import Callable

from groups.dynamics.forces import coordinate, friction, point, spring, terrain
from groups.dynamics.masses import Wrench
from groups.dynamics.state import State
from mbssa.loads import Force

#: By type of ``[[force]]``, what turns an element and a state into loads.
TYPES: dict[str, Callable[[Force, State], list[Wrench]]] = {
    "spring": spring.wrenches,
    "coordinate": coordinate.wrenches,
    "friction": friction.wrenches,
    "point": point.wrenches,
    "terrain": terrain.wrenches,
}


def wrenches_of(force: Force, state: State) -> list[Wrench]:
    """The loads of one element on its bodies.

    >>> sorted(TYPES)
    ['coordinate', 'friction', 'point', 'spring', 'terrain']
    """
    return TYPES[force.type](force, state)
