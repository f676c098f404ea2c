"""A run: samples, events and progress; its steps by the integrators of SciPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np

from groups.dynamics.forward.equations import CannotGoOnError, Equations, too_small
from groups.dynamics.forward.events import Event, Occurrence
from groups.dynamics.forward.lagrange import Implicit, Residual
from mbssa.arrays import Floats

#: Integrators of :mod:`scipy.integrate`.
Integrator = Literal["DOP853", "RK45", "RK23", "Radau", "BDF", "LSODA"]

#: One-step integrators, whose state may be projected on the constraints between two steps.
ONE_STEP = ("DOP853", "RK45", "RK23", "Radau")

#: Those whose steps are written for both lives of the equations in coordinates of trees.
EXPLICIT = ("DOP853", "RK45", "RK23")

#: Steps from which on a run is given up where, at the pace of its last half, it would take so many times the
#: steps that are allowed.
_PACED, _HOPELESS = 1024, 10

#: Share of the time between two samples at which IDA begins.
_FIRST = 1e-3

#: Share of an entry, or of 1, by which it is moved for a derivative.
_DIFFERENCE = 1e-7


@dataclass(frozen=True, slots=True)
class Change:
    """Another choice of independent coordinates: from ``time`` on, s, those ``after``."""

    time: float
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(eq=False)
class Run:
    """A run from the first to the last of some instants: samples up to the last one reached, and its end."""

    equations: Equations
    time: Floats  # (T,)
    events: Sequence[Event]
    most_steps: int
    progress: Callable[[float], object] | None
    samples: list[Floats] = field(default_factory=list)  # (t, …) each, t of them in all are done
    done: int = 0
    stopped: float | None = None  # s, of a last sample at an event
    occurrences: list[Occurrence] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    status: str = "finished"
    steps: int = 0
    evaluations: int = 0
    before: list[float] = field(default_factory=list)  # values of the events at the last step
    reached: dict[int, float] = field(default_factory=dict)  # s, by the number of steps, powers of two

    @property
    def sampled(self) -> Floats:
        """Times of the samples, s."""
        last = [] if self.stopped is None else [self.stopped]
        return np.concatenate([self.time[: self.done], last])

    @contextmanager
    def ends(self) -> Iterator[None]:
        """Note why the run has ended; Ctrl-C and equations without a solution keep the samples so far."""
        try:
            yield
        except KeyboardInterrupt:
            self.status = "stopped"
        except CannotGoOnError as error:
            self.status = f"failed: {error}"

    def begin(self) -> None:
        """Take the first sample."""
        t, y = float(self.time[0]), self.equations.start
        self.before = self._values(t, y)
        self.samples.append(self.equations.sample(t, y)[None])
        self.done = 1

    def passed(
        self, start: float, t: float, y: Floats, inside: Callable[[float], Floats],
        samples: Callable[[Floats], Floats],
    ) -> bool:  # fmt: skip
        """Take events and samples of a step by its interpolant; False if an event ends the run."""
        found = self._occurred(start, t, y, inside) if self.events else []
        last = next((one for one in found if one.ends), None)
        stop = t if last is None else last.time
        end = int(np.searchsorted(self.time, stop, "right"))
        if end > self.done:
            self.samples.append(samples(self.time[self.done : end]))
            self.done = end
        self.occurrences += [one for one in found if one.time <= stop]
        if last is None:
            return True
        if self.time[self.done - 1] < stop:
            self.samples.append(self.equations.sample(stop, inside(stop))[None])
            self.stopped = stop
        self.status = f"event {last.name}"
        return False

    def _values(self, t: float, y: Floats) -> list[float]:
        """Differences of the events' quantities from their targets in a state."""
        now = self.equations.instant(t, y) if self.events else None
        return [event.value(now) for event in self.events if now is not None]

    def _occurred(
        self, start: float, stop: float, y: Floats, inside: Callable[[float], Floats]
    ) -> list[Occurrence]:
        """Events within a step, in the order of time."""
        import scipy.optimize

        def value(t: float, event: Event) -> float:
            return event.value(self.equations.instant(t, inside(t)))

        found, before = [], self.before
        self.before = self._values(stop, y)
        for event, one, other in zip(self.events, before, self.before, strict=True):
            if one == other or one * other > 0.0 or one == 0.0 or (other - one) * event.direction < 0:
                continue
            at = stop
            if other != 0.0:
                at = scipy.optimize.brentq(value, start, stop, args=(event,), xtol=1e-12, rtol=1e-14)
            found.append(Occurrence(event.name, float(at), event.ends))
        return sorted(found, key=lambda one: one.time)

    def goes_on(self, t: float) -> bool:
        """Report progress after a step; False if it ends the run."""
        first, last, steps = float(self.time[0]), float(self.time[-1]), self.steps
        if self.progress is not None and self.progress((t - first) / (last - first)) is False:
            self.status = "stopped"
            return False
        needed = 0.0
        if steps.bit_count() == 1:
            self.reached[steps] = t
            if steps >= _PACED and not any(event.ends for event in self.events):
                needed = steps + (last - t) / (t - self.reached[steps // 2]) * (steps // 2)
        if t < last and (steps >= self.most_steps or needed > _HOPELESS * self.most_steps):
            pace = f", at a pace of {needed:.1g} steps for the run" if needed else ""
            raise CannotGoOnError(
                f"stopped at t = {t:.9g} s after {steps:,} steps{pace}; allow more most_steps, or see "
                "whether rates, gravity, forces and the duration are meant"
            )
        return True


def integrate(run: Run, integrator: str, tolerance: float, largest_step: float) -> None:
    """Integrate from the first to the last instant of a run by an integrator of SciPy, or by IDA."""
    # Samples are values of the integrator's interpolant, projected on the constraints by the equations.
    import scipy.integrate

    equations, t, end = run.equations, float(run.time[0]), float(run.time[-1])
    chosen: dict[str, Any] = {"rtol": tolerance, "atol": 0.01 * tolerance, "max_step": largest_step}
    inside: Callable[[float], Floats]

    def samples(time: Floats) -> Floats:
        return np.array([equations.sample(at, inside(at)) for at in time.tolist()])

    with run.ends(), np.errstate(over="ignore", invalid="ignore"):  # of trial steps, repeated shorter
        run.begin()
        if isinstance(equations, Residual):
            # With less, the matrix of an index-2 problem is nearly singular.
            first_step = _FIRST * float(run.time[1] - run.time[0])
            solver: Any = Implicit(equations, t, end, first_step=first_step, **chosen)
        else:
            if integrator not in EXPLICIT:
                chosen["jac"] = partial(_jacobian, equations)
            solver = getattr(scipy.integrate, integrator)(equations.rate, t, equations.start, end, **chosen)
        while solver.status == "running":
            solver.step()
            run.steps += 1
            if solver.status == "failed":
                raise CannotGoOnError(equations.hindered(t, solver.y) or too_small(float(solver.t)))
            start, t = t, float(solver.t)
            if run.events or (run.done < len(run.time) and run.time[run.done] <= t):
                inside = solver.dense_output()  # which costs evaluations
                if not run.passed(start, t, solver.y, inside, samples):
                    break
            settled = equations.settle(t, solver.y)
            if settled is not None and integrator in ONE_STEP:
                solver.y, solver.f = settled, equations.rate(t, settled)
            try:
                if not run.goes_on(t):
                    break
            except CannotGoOnError as error:
                raise CannotGoOnError(equations.hindered(t, solver.y) or str(error)) from None
    run.evaluations = equations.evaluations


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
