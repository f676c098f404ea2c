"""Formulas that several force elements share: laws of time, users' functions, springs, Hertz contact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from groups.dynamics.forces.at import At, Called
from groups.motion.laws import law_from_data
from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.expressions import function_of as expressed
from mbssa.graph.frames import Vector, minus, plus, relative, times
from mbssa.graph.nodes import Number, above, absolute, exp, largest, sqrt
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


def pressure(force: Force, depth: Number, approach: Number, root: bool = True) -> tuple[Number, Number]:
    """Normal force, N or N m, and energy, J, by a penetration and its rate; linear without ``root``."""
    # Hunt and Crossley (1975): N = k δ^p (1 + c dδ/dt), never negative, with p = 3/2 where round bodies press
    # on each other, and 1 at a linear stop. The root of 0, which has no derivative, is left out.
    pressed = largest(depth, 0.0)
    spring = force.stiffness * pressed * (sqrt(largest(depth, 1e-300)) if root else 1.0)
    return spring * largest(1.0 + force.damping * approach, 0.0), (0.4 if root else 0.5) * spring * pressed


def contact_loads(
    force: Force, at: At, bodies: Sequence[int], points: Sequence[Sequence[float]], radius: float,
    search: Called,
) -> Number:  # fmt: skip
    """Equal and opposite loads in the plane, none where the bodies are apart; energy."""
    # The curves, the second of which is around by a radius, are in frames at these points, with axes of the
    # world at the reference. The search gives the place, the normal away from the first body and the gap in
    # the first by the time and the pose of the second: x, y, cosine, sine.
    first, second = (
        at.body(b).end(at.frames.on_body(b, tuple(point)).tolist(), at.frames.rotation[b].T.tolist())
        for b, point in zip(bodies, points, strict=True)
    )
    d, C = relative(first, second)
    *there, x, y, gap = at.called(search, 5, at.time, *d[:2], C[0][0], C[1][0])
    place, (n_x, n_y, _) = plus(first.place, first.along([*there, 0.0])), first.along([x, y, 0.0])
    x, y = minus(*(at.velocity(body, place) for body in bodies[::-1]))[:2]
    pressed, energy = pressure(force, radius - gap, -(x * n_x + y * n_y))
    exerted = times(pressed, [n_x, n_y, 0.0])
    if force.threshold is not None:
        drag = -force.friction * pressed * tanh((x * n_y - y * n_x) / force.threshold)
        exerted = [exerted[0] + drag * n_y, exerted[1] - drag * n_x, 0.0]
    at.push(bodies[0], place, times(-1.0, exerted))
    at.push(bodies[1], place, exerted)
    return energy


def tanh(x: Number) -> Number:
    """Hyperbolic tangent."""
    small = exp(-2.0 * absolute(x))
    found = (1.0 - small) / (1.0 + small)
    return above(x, found, -found)


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
