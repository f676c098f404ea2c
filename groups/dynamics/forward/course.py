"""A run: its samples, events and progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from groups.results.joints import coordinate_motion

if TYPE_CHECKING:
    from groups.dynamics.forward.equations import Equations
    from groups.trajectory import Trajectory
    from mbssa import Mechanism
    from mbssa.arrays import Floats

#: Steps from which on a run is given up where, at the pace of its last half, it would take so many times the
#: steps that are allowed.
_PACED, _HOPELESS = 1024, 10


class CannotGoOnError(ValueError):
    """The equations of motion have no solution in any choice of coordinates."""


@dataclass(frozen=True, slots=True)
class Change:
    """Another choice of independent coordinates: from ``time`` on, s, those ``after``."""

    time: float
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An event that occurred: its name, ``time`` in s, and whether it ended the run."""

    name: str
    time: float
    ends: bool


@dataclass(frozen=True)
class Event:
    """A condition on the motion that is monitored during the integration.

    Attributes
    ----------
    name : in the result
    quantity : an expression as :meth:`groups.Trajectory.quantity` takes it (``1-2.angle``,
        ``distance(a.tip, b.tip)``), or a function of a trajectory of one instant that gives a number
    target : value that the quantity passes, m or rad
    direction : 1 where it must rise through it, -1 where it must fall, 0 for both
    ends : True: the run ends there

    Examples
    --------
    >>> Event("upright", "1-2.angle", 1.5707963, direction=1).ends
    True
    """

    name: str
    quantity: str | Callable[[Trajectory], float]
    target: float = 0.0
    direction: int = 0
    ends: bool = True

    def value(self, trajectory: Trajectory) -> float:
        """Difference of the quantity from its target, of a trajectory of one instant."""
        if callable(self.quantity):
            found = self.quantity(trajectory)
            try:
                return float(found) - self.target
            except (TypeError, ValueError):
                raise ValueError(
                    f"event {self.name}: its function gives {found!r}; return a number"
                ) from None
        return float(trajectory.quantity(self.quantity).value[0]) - self.target


def limit_events(mechanism: Mechanism) -> list[Event]:
    """Events that end a run where a joint coordinate reaches a limit of the model."""

    def value(name: str, trajectory: Trajectory) -> float:
        return float(coordinate_motion(trajectory, name).value[0])

    return [
        Event(f"{name} at its {which} limit", partial(value, name), limit, direction)
        for name, limits in mechanism.coordinate_limits.items()
        for which, limit, direction in zip(("lower", "upper"), limits, (-1, 1), strict=True)
        if np.isfinite(limit)
    ]


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
