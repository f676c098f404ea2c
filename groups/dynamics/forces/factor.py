"""Factor of a force element by a law of time, and force by a user's function."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, cast

import numpy as np

from groups.dynamics.state import State
from groups.motion.laws import Law
from groups.motion.sampling import law_from_data
from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.expressions import function_of as expressed
from mbssa.joints.user_sources import Source, error_line, imported, importing
from mbssa.loads import ARGUMENTS, Force
from mbssa.motion import InputLaw, Parameter
from mbssa.trust import REMEDY, may_run


def factor_of(force: Force, state: State) -> Floats:
    """Values (T,) of the element's law at the instants of a state; 1 without a law."""
    return factor_and_rate(force, state)[0]


def factor_and_rate(force: Force, state: State) -> tuple[Floats, Floats]:
    """Values (T,) of the element's law at the instants of a state, and their rates; 1 and 0 without a law."""
    if force.factor is None:
        return np.ones(state.instants), np.zeros(state.instants)
    law = _law(force.factor.name, tuple(sorted(force.factor.parameters.items())))
    try:
        value, rate, _ = law(state.trajectory.time)
    except ValueError as error:
        raise ValueError(f"force {force.id} factor: {error}") from None
    return value, rate


def amount_of(force: Force, state: State, value: Floats, rate: Floats) -> Floats:
    """Applied part (T,) of an element along a line or a coordinate with these values and rates, N or N m."""
    constant = force.force if isinstance(force.force, float) else 0.0
    return constant * factor_of(force, state) + function_of(force, state, value, rate)


def function_of(force: Force, state: State, value: Floats, rate: Floats) -> Floats:
    """Force by an element's function at each value (T, ...) and rate, of the same shape; 0 without one."""
    found = np.zeros_like(value)
    if force.function is None:
        return found
    call = _function(force.function, force.id)
    times = state.trajectory.time.tolist()
    for t in np.flatnonzero(np.isfinite(value).reshape(len(times), -1).all(axis=1)):
        arguments = (value[t], rate[t]) if value.ndim > 1 else (float(value[t]), float(rate[t]))
        try:
            exerted = np.asarray(call(times[t], *arguments), dtype=np.float64)
        except Exception as error:
            raise ValueError(
                f"force {force.id} function: at t = {times[t]:.6g} s {error_line(error)}"
            ) from error
        if exerted.shape != value.shape[1:] or not np.isfinite(exerted).all():
            wanted = "a number" if value.ndim == 1 else f"{value.shape[1]} numbers"
            given = f"at t = {times[t]:.6g} s it gives {exerted.tolist()}"
            raise ValueError(f"force {force.id} function: {given}; return {wanted}")
        found[t] = exerted
    return found


def function_faults(mechanism: Mechanism) -> list[str]:
    """Functions of force elements that are not trusted or cannot be imported, each with its remedy."""
    faults = []
    for force in mechanism.forces:
        if force.function is not None:
            try:
                _function(force.function, force.id)
            except ValueError as error:
                faults.append(str(error))
    return faults


def _function(source: Source, identity: str) -> Callable[..., Any]:
    if isinstance(source, str) and ":" not in source:
        return _expression(source)
    if not may_run(source):
        raise ValueError(f"force {identity} function: {source}: code that a file names is not run; {REMEDY}")
    if not isinstance(source, str):
        return source
    try:
        with importing:
            found = imported(source)
    except ValueError as error:
        raise ValueError(f"force {identity} function: {error}") from None
    if not callable(found):
        raise ValueError(f"force {identity} function: {source} is no function of t, value and rate")
    return cast(Callable[..., Any], found)


@lru_cache(maxsize=256)
def _expression(text: str) -> Callable[..., Floats]:
    return expressed(text, ARGUMENTS)


@lru_cache(maxsize=256)
def _law(name: str, parameters: tuple[tuple[str, Parameter], ...]) -> Law:
    """The law; cached, since a simulation evaluates it at one instant after another."""
    return law_from_data(InputLaw(name, {"mean": 0.0} | dict(parameters)), 0.0, 0.0)
