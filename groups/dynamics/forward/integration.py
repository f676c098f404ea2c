"""Integration of equations of motion by the integrators of SciPy: samples, events, changes of coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from groups.dynamics.forward.equations import CannotGoOnError, Equations, Instant
from groups.dynamics.forward.events import Event, Occurrence

Floats = npt.NDArray[np.float64]

#: Integrators of :mod:`scipy.integrate`.
Integrator = Literal["DOP853", "RK45", "RK23", "Radau", "BDF", "LSODA"]

#: Integrators of one step, whose state may be put back on the constraints between two steps.
ONE_STEP = ("DOP853", "RK45", "RK23", "Radau")

#: Integrators that take a Jacobian.
IMPLICIT = ("Radau", "BDF", "LSODA")

#: Share of an entry, or of 1, by which it is moved for a derivative.
_DIFFERENCE = 1e-7

#: Steps that are taken at most.
MOST_STEPS = 10_000_000


@dataclass(frozen=True, slots=True)
class Change:
    """Another choice of independent coordinates: from ``time`` on, s, those ``after``."""

    time: float
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(eq=False)
class Record:
    """What an integration gave: samples up to the last one reached, and why it ended."""

    time: list[float] = field(default_factory=list)
    instants: list[Instant] = field(default_factory=list)
    work: list[float] = field(default_factory=list)
    events: list[Occurrence] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    status: str = "finished"
    steps: int = 0
    evaluations: int = 0

    def take(self, equations: Equations, t: float, y: Floats) -> None:
        """Add one sample."""
        instant = equations.instant(t, y)
        self.time.append(t)
        self.instants.append(instant)
        self.work.append(float(y[-1]))


def integrate(
    equations: Equations,
    time: Floats,
    integrator: str,
    tolerance: float,
    largest_step: float,
    events: Sequence[Event],
    progress: Callable[[float], object] | None,
) -> Record:
    """Integrate from the first to the last of these instants, and sample at each of them.

    Sampling is by the integrator's own interpolant, put back on the constraints by the equations. Ctrl-C, an
    event that ends the run, and equations without an answer leave the samples so far.
    """
    record = Record()
    try:
        _run(record, equations, time, integrator, tolerance, largest_step, events, progress)
    except KeyboardInterrupt:
        record.status = "stopped"
    except CannotGoOnError as error:
        record.status = f"failed: {error}"
    return record


def _run(
    record: Record, equations: Equations, time: Floats, integrator: str, tolerance: float,
    largest_step: float, events: Sequence[Event], progress: Callable[[float], object] | None,
) -> None:  # fmt: skip
    t, y, end = float(time[0]), equations.start, float(time[-1])
    span = end - t
    record.take(equations, t, y)
    before = [event.value(equations, t, y) for event in events]
    done = 1
    while t < end:
        first = equations.evaluations
        solver = _solver(equations, integrator, t, y, end, tolerance, largest_step)
        replaced = None
        while solver.status == "running" and replaced is None:
            said = solver.step()
            record.steps += 1
            if solver.status == "failed":
                raise CannotGoOnError(f"t = {solver.t:.9g} s: {said or 'the step has become too small'}")
            start, t = t, float(solver.t)
            interpolant = solver.dense_output()
            found, before = _occurred(events, equations, interpolant, start, t, solver.y, before)
            stop = next((one.time for one in found if one.ends), t)
            while done < len(time) and time[done] <= stop:
                record.take(equations, float(time[done]), interpolant(time[done]))
                done += 1
            record.events += [one for one in found if one.time <= stop]
            if any(one.ends for one in found):
                if record.time[-1] < stop:
                    record.take(equations, stop, interpolant(stop))
                record.evaluations += equations.evaluations - first
                record.status = f"event {next(one.name for one in found if one.ends)}"
                return
            _settle(equations, solver, integrator)
            y = solver.y
            if progress is not None and progress((t - float(time[0])) / span) is False:
                record.status = "stopped"
                return
            replaced = equations.renewed(t, y) if t < end else None
            if record.steps >= MOST_STEPS:
                raise CannotGoOnError(f"t = {t:.9g} s: {MOST_STEPS:,} steps were taken; shorten the duration")
        record.evaluations += equations.evaluations - first
        if replaced is not None:
            record.changes.append(Change(t, equations.coordinates, replaced.coordinates))
            equations, y = replaced, replaced.start
            before = [event.value(equations, t, y) for event in events]


def _solver(
    equations: Equations, integrator: str, t: float, y: Floats, end: float, tolerance: float,
    largest_step: float,
) -> Any:  # fmt: skip
    import scipy.integrate

    # Lengths and their rates are in m: what is small beside the mechanism's size is its share of it.
    kind = getattr(scipy.integrate, integrator)
    chosen: dict[str, Any] = {"rtol": tolerance, "atol": 0.01 * tolerance, "max_step": largest_step}
    if integrator in IMPLICIT:
        chosen["jac"] = partial(_jacobian, equations)
    return kind(equations.rate, t, y, end, **chosen)


def _jacobian(equations: Equations, t: float, y: Floats) -> Floats:
    """(n, n) derivative of the rates by differences.

    Steps are of one size: those of SciPy grow without bound where a rate does not depend on an entry, such
    as the work, or the length of a quaternion.
    """
    rate = equations.rate(t, y)
    found = np.zeros((len(y), len(y)))
    for k in range(len(y) - 1):
        moved = y.copy()
        moved[k] += _DIFFERENCE * max(1.0, abs(y[k]))
        found[:, k] = (equations.rate(t, moved) - rate) / (moved[k] - y[k])
    return found


def _settle(equations: Equations, solver: Any, integrator: str) -> None:
    settled = equations.settle(solver.t, solver.y)
    if settled is not None and integrator in ONE_STEP:
        solver.y = settled
        solver.f = equations.rate(solver.t, settled)


def _occurred(
    events: Sequence[Event], equations: Equations, interpolant: Callable[[float], Floats], start: float,
    stop: float, y: Floats, before: list[float],
) -> tuple[list[Occurrence], list[float]]:  # fmt: skip
    """Events within a step, in the order of time, and their values at its end."""
    import scipy.optimize

    found, after = [], [event.value(equations, stop, y) for event in events]
    for event, one, other in zip(events, before, after, strict=True):
        if one == other or one * other > 0.0 or one == 0.0 or (other - one) * event.direction < 0:
            continue
        at = stop
        if other != 0.0:

            def value(t: float, event: Event = event) -> float:
                return event.value(equations, t, interpolant(t))

            at = float(scipy.optimize.brentq(value, start, stop, xtol=1e-12, rtol=1e-14))
        found.append(Occurrence(event.name, at, event.ends))
    return sorted(found, key=lambda one: one.time), after
