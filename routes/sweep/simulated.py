"""Cases that are simulated: forward dynamics of each design from its own initial values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from groups import Model
from groups.dynamics.forces.formulas import function_faults
from groups.dynamics.forward import METHODS, Method, simulate
from groups.dynamics.state import massless
from groups.motion.laws import check_span
from groups.trajectory import Trajectory
from mbssa import Mechanism
from mbssa.arrays import Floats
from routes.sweep.parameters import Parameter


@dataclass(frozen=True)
class Simulated:
    """Settings of the simulations of a sweep, as :func:`groups.simulate` has them."""

    method: Method
    tolerance: float
    steps: int
    duration: float

    @property
    def time(self) -> Floats:
        """Instants (T,), s."""
        return np.linspace(0.0, self.duration, self.steps)


def settings_of(
    mechanism: Mechanism, method: Method, tolerance: float, steps: int | None, duration: float | None
) -> tuple[Simulated, list[str]]:
    """Settings, with the duration of the model's motion, or 1 s, by default; and their faults."""
    own = 1.0 if mechanism.motion is None else mechanism.motion.duration
    found = Simulated(
        method, tolerance, 201 if steps is None else steps, own if duration is None else duration
    )
    faults = []
    if method not in METHODS:
        faults.append(f"simulate {method!r}: write {', '.join(get_args(Method))}")
    if not 0.0 < tolerance < 1.0:
        faults.append(f"tolerance is {tolerance}; write more than 0 and less than 1")
    if found.steps < 2:
        faults.append(f"steps is {steps}; write 2 or more")
    try:
        check_span(found.steps, found.duration)
    except ValueError as error:
        faults.append(str(error))
    if len(massless(mechanism)) == mechanism.n_bodies - 1:
        faults.append("no body has mass; give bodies an inertia = { mass = …, centre = …, … }")
    return found, faults + function_faults(mechanism)


def simulated(
    model: Model,
    settings: Simulated,
    parameters: Sequence[Parameter],
    values: Sequence[float],
    compiled: bool,
) -> tuple[Trajectory, str]:
    """Motion of one case up to the end of its simulation, and why that is not complete."""
    reference, initial, rates = model.reference_inputs, {}, {}
    names = list(reference)
    for parameter, value in zip(parameters, values, strict=True):
        for target in parameter.targets:
            if target.kind == "input":
                name = names[target.index]
                initial[name] = value + (reference[name] if parameter.offset else 0.0)
            elif target.kind == "rate":
                rates[names[target.index]] = value
    found = simulate(
        model, method=settings.method, tolerance=settings.tolerance, time=settings.time,
        initial=initial, rates=rates, compiled=compiled,
    )  # fmt: skip
    if found.status == "stopped":
        raise KeyboardInterrupt
    return found.trajectory, "" if found.ok else found.status.removeprefix("failed: ")
