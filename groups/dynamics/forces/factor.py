"""Factor of a force element by a law of time, and force by a user's function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from groups.dynamics.forces.at import At
from groups.motion.laws import law_from_data
from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.expressions import function_of as expressed
from mbssa.graph.frames import Vector
from mbssa.graph.nodes import Number
from mbssa.joints.user_sources import Source, error_line, imported, importing
from mbssa.loads import ARGUMENTS, Force
from mbssa.motion import InputLaw
from mbssa.trust import REMEDY, may_run


def factor_and_rate(force: Force, at: At) -> tuple[Number, Number]:
    """Value of the element's law, and its rate; 1 and 0 without a law."""
    if force.factor is None:
        return 1.0, 0.0
    given = InputLaw(force.factor.name, {"mean": 0.0, **force.factor.parameters})
    law = law_from_data(given, lambda: 0.0, 0.0)

    def of_time(time: Floats) -> Sequence[Floats]:
        try:
            return law(time)[:2]
        except ValueError as error:
            raise ValueError(f"force {force.id} factor: {error}") from None

    value, rate = at.called(of_time, 2, at.time)
    return value, rate


def elastic(force: Force, at: At, value: Number, rate: Number, rest: float) -> tuple[Number, Number]:
    """Effort, N or N m, along a line or a coordinate with this value and rate, and the spring's energy, J."""
    constant = force.force if isinstance(force.force, float) else 0.0
    applied = constant * factor_and_rate(force, at)[0] + function_of(force, at, [value], [rate])[0]
    away = value - rest
    return applied - force.damping * rate - force.stiffness * away, 0.5 * force.stiffness * away * away


def function_of(force: Force, at: At, value: Vector, rate: Vector) -> list[Number]:
    """Force by an element's function of value and rate, as many numbers as they are; 0 without one."""
    wide = len(value)
    if force.function is None:
        return [0.0] * wide
    call = _function(force.function, force.id)

    def values(time: Floats, *numbers: Floats) -> Sequence[Floats]:
        found = np.zeros((len(time), wide))
        value, rate = (np.stack(each, axis=1) for each in (numbers[:wide], numbers[wide:]))
        for k in np.flatnonzero(np.isfinite(value).all(axis=1)):
            arguments = (value[k], rate[k]) if wide > 1 else (float(value[k, 0]), float(rate[k, 0]))
            place = f"force {force.id} function: at t = {time[k]:.6g} s"
            try:
                exerted = np.asarray(call(float(time[k]), *arguments), dtype=np.float64)
            except Exception as error:
                raise ValueError(f"{place} {error_line(error)}") from error
            if exerted.shape != ((wide,) if wide > 1 else ()) or not np.isfinite(exerted).all():
                wanted = "a number" if wide == 1 else f"{wide} numbers"
                raise ValueError(f"{place} it gives {exerted.tolist()}; return {wanted}")
            found[k] = exerted
        return list(found.T)

    return at.called(values, wide, at.time, *value, *rate)


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
        return expressed(source, ARGUMENTS)
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
