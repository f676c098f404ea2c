"""Integration of equations of motion by the integrators of SciPy: samples, events, changes of coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np

from groups.dynamics.forward.equations import CannotGoOnError, Equations, Instant
from groups.dynamics.forward.events import Event, Occurrence, occurred, trajectory_from, trajectory_of
from groups.trajectory import Trajectory
from mbssa import Mechanism
from mbssa.arrays import Floats

#: Integrators of :mod:`scipy.integrate`.
Integrator = Literal["DOP853", "RK45", "RK23", "Radau", "BDF", "LSODA"]

#: One-step integrators, whose state may be projected on the constraints between two steps.
ONE_STEP = ("DOP853", "RK45", "RK23", "Radau")

#: Those whose steps are written for both lives of the equations in coordinates of trees.
EXPLICIT = ("DOP853", "RK45", "RK23")

#: Integrators that take a Jacobian.
IMPLICIT = ("Radau", "BDF", "LSODA")

#: Steps from which on a run is given up where, at the pace of its last half, it would take so many times the
#: steps that are allowed.
_PACED, _HOPELESS = 1024, 10

#: Share of an entry, or of 1, by which it is moved for a derivative.
_DIFFERENCE = 1e-7


@dataclass(frozen=True, slots=True)
class Change:
    """Another choice of independent coordinates: from ``time`` on, s, those ``after``."""

    time: float
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(eq=False)
class Record:
    """Result of an integration: samples up to the last one reached, and the reason for its end."""

    time: list[float] = field(default_factory=list)
    instants: list[Instant] = field(default_factory=list)
    bodies: Sequence[Floats] = ()  # (T, N, …), instead of instants
    condition: Floats = field(default_factory=lambda: np.zeros(0))
    work: list[float] = field(default_factory=list)
    events: list[Occurrence] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    status: str = "finished"
    steps: int = 0
    evaluations: int = 0

    def trajectory(self, mechanism: Mechanism) -> Trajectory:
        """The samples."""
        time = np.array(self.time)
        if self.bodies:
            return trajectory_from(mechanism, time, self.bodies, self.condition)
        return trajectory_of(mechanism, time, self.instants)

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
    pace: Pace,
) -> Record:
    """Integrate from the first to the last of these instants, and sample at each of them."""
    # Samples are values of the integrator's interpolant, projected on the constraints by the equations.
    # Ctrl-C, an event that ends the run, and equations without a solution keep the samples so far.
    run = _Run(Record(), time, integrator, tolerance, largest_step, events, pace)
    try:
        run.record.take(equations, float(time[0]), equations.start)
        t: float | None = float(time[0])
        while t is not None and t < time[-1]:
            with np.errstate(over="ignore", invalid="ignore"):  # of trial steps, which are repeated shorter
                following, t = run.segment(equations, t)
            if following is not None and t is not None:
                if set(following.coordinates) != set(equations.coordinates):
                    run.record.changes.append(Change(t, equations.coordinates, following.coordinates))
                equations = following
    except KeyboardInterrupt:
        run.record.status = "stopped"
    except CannotGoOnError as error:
        run.record.status = f"failed: {error}"
    return run.record


@dataclass(frozen=True, eq=False)
class Pace:
    """Watches the progress of a run."""

    time: Floats
    most_steps: int
    events: Sequence[Event]
    progress: Callable[[float], object] | None
    reached: dict[int, float] = field(default_factory=dict)  # s, by the number of steps, powers of two

    def __call__(self, record: Record, t: float) -> bool:
        """Report progress after a step; False if it ends the run."""
        first, last = float(self.time[0]), float(self.time[-1])
        if self.progress is not None and self.progress((t - first) / (last - first)) is False:
            record.status = "stopped"
            return False
        steps, needed = record.steps, 0.0
        if steps.bit_count() == 1:
            self.reached[steps] = t
            if steps >= _PACED and not any(event.ends for event in self.events):
                needed = steps + (last - t) / (t - self.reached[steps // 2]) * (steps // 2)
        if t < last and (steps >= self.most_steps or needed > _HOPELESS * self.most_steps):
            raise CannotGoOnError(too_many(t, steps, needed))
        return True


@dataclass(frozen=True, eq=False)
class _Run:
    """An integration under way; see :func:`integrate`."""

    record: Record
    time: Floats
    integrator: str
    tolerance: float
    largest_step: float
    events: Sequence[Event]
    pace: Pace

    def segment(self, equations: Equations, t: float) -> tuple[Equations | None, float | None]:
        """Integrate to the end or a change of coordinates: next equations, time (None at the end)."""
        y, end = equations.start, float(self.time[-1])
        solver = self._solver(equations, t)
        before = [event.value(equations, t, y) for event in self.events]
        first, following = equations.evaluations, None
        try:
            while solver.status == "running" and following is None:
                solver.max_step = min(self.largest_step, equations.longest_step)
                solver.step()
                self.record.steps += 1
                if solver.status == "failed":
                    raise CannotGoOnError(too_small(float(solver.t)))
                start, t = t, float(solver.t)
                if self._has_samples(t):  # interpolants cost evaluations
                    inside = solver.dense_output()
                    found, before = occurred(self.events, equations, inside, start, t, solver.y, before)
                    if self._sampled(equations, inside, t, found):
                        return None, None
                _settle(equations, solver, self.integrator)
                if not self.pace(self.record, t):
                    return None, None
                following = equations.renewed(t, solver.y) if t < end else None
        finally:
            self.record.evaluations += equations.evaluations - first
            self.record.notes += equations.notes
        return following, t

    def _has_samples(self, t: float) -> bool:
        """True if a step that ends at t has a sample in it, or may have an event."""
        done = len(self.record.time)
        return bool(self.events) or (done < len(self.time) and self.time[done] <= t)

    def _solver(self, equations: Equations, t: float) -> Any:
        import scipy.integrate

        kind = getattr(scipy.integrate, self.integrator)
        chosen: dict[str, Any] = {"rtol": self.tolerance, "atol": 0.01 * self.tolerance}
        if self.integrator in IMPLICIT:
            chosen["jac"] = partial(_jacobian, equations)
        end = float(self.time[-1])
        return kind(equations.rate, t, equations.start, end, max_step=self.largest_step, **chosen)

    def _sampled(
        self, equations: Equations, interpolant: Callable[[float], Floats], t: float,
        found: Sequence[Occurrence],
    ) -> bool:  # fmt: skip
        """Record the samples and events of a step; True if one ends the run."""
        last = next((one for one in found if one.ends), None)
        stop, record = t if last is None else last.time, self.record
        while len(record.time) < len(self.time) and self.time[len(record.time)] <= stop:
            at = float(self.time[len(record.time)])
            record.take(equations, at, interpolant(at))
        record.events += [one for one in found if one.time <= stop]
        if last is None:
            return False
        if record.time[-1] < stop:
            record.take(equations, stop, interpolant(stop))
        record.status = f"event {last.name}"
        return True


def too_many(t: float, steps: int, needed: float = 0.0) -> str:
    """Fault of a run that takes too many steps, of which it needs so many at its pace."""
    pace = f", at a pace of {needed:.1g} steps for the run" if needed else ""
    return (
        f"stopped at t = {t:.9g} s after {steps:,} steps{pace}; allow more most_steps, or see whether rates, "
        "gravity, forces and the duration are meant"
    )


def too_small(t: float) -> str:
    """Fault of a run whose steps have become too small."""
    return (
        f"t = {t:.9g} s: no step is small enough for the tolerance, as forces or rates jump or grow without "
        "bound; see whether they are meant and whether points of a spring meet, or take a larger tolerance"
    )


def _jacobian(equations: Equations, t: float, y: Floats) -> Floats:
    """Derivative (n, n) of the rates by differences."""
    # Steps are of one size: those of SciPy grow without bound where a rate does not depend on an entry, such
    # as the work, or the length of a quaternion.
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
