"""Law of time by which a force element's force and moment are multiplied."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from groups.dynamics.state import State
from groups.motion.laws import Law
from groups.motion.sampling import law_from_data
from mbssa.loads import Force
from mbssa.motion import InputLaw, Parameter

Floats = npt.NDArray[np.float64]


def factor_of(force: Force, state: State) -> Floats:
    """(T,) values of the element's law at the instants of a state; 1 without a law.

    Raises
    ------
    ValueError
        Instants that the law does not reach.
    """
    if force.factor is None:
        return np.ones(state.instants)
    law = _law(force.factor.name, tuple(sorted(force.factor.parameters.items())))
    try:
        return law(state.trajectory.time)[0]
    except ValueError as error:
        raise ValueError(f"force {force.id} factor: {error}") from None


def amount_of(force: Force, state: State) -> Floats:
    """(T,) applied part of an element along a line or a coordinate, N or N m."""
    constant = force.force if isinstance(force.force, float) else 0.0
    found: Floats = constant * factor_of(force, state)
    return found


@lru_cache(maxsize=256)
def _law(name: str, parameters: tuple[tuple[str, Parameter], ...]) -> Law:
    """Laws are kept: a simulation evaluates them at one instant after another."""
    return law_from_data(InputLaw(name, {"mean": 0.0} | dict(parameters)), 0.0, 0.0)
