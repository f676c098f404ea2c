"""A run: its samples, events and progress, and its result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import isfinite
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from groups.results.joints import coordinate_motion
from groups.results.table import Column, shown_in, write_table

if TYPE_CHECKING:
    from groups.dynamics.forward.equations import Applied, Equations
    from groups.dynamics.results import Forces
    from groups.trajectory import Trajectory
    from mbssa import Mechanism, Structure
    from mbssa.arrays import Floats

#: Steps from which on a run is given up where, at the pace of its last half, it would take so many times the
#: steps that are allowed.
_PACED, _HOPELESS = 1024, 10
#: A coordinate that goes on by so much, m or rad, is not at rest.
_OUTWARDS = 1e-12
#: Arguments of :func:`groups.simulate`, by name.
Request: TypeAlias = SimpleNamespace
#: A step, or some: times of its ends, the last state, and its interpolant by time.
Dense: TypeAlias = "Callable[[], Callable[[float], Floats]]"
Step: TypeAlias = "tuple[float, float, Floats, Dense]"


class CannotGoOnError(ValueError):
    """The equations of motion have no solution in any choice of coordinates."""


def number_of(found: Any, place: str) -> float:
    """A finite number that a user's function or expression gives; refused where it is none."""
    try:
        number = float(found)
    except (TypeError, ValueError):
        number = np.nan
    if not isfinite(number):
        raise ValueError(f"{place}: its function gives {found!r}; return a number")
    return number


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
        given = self.quantity
        found = given(trajectory) if callable(given) else trajectory.quantity(given).value[0]
        return number_of(found, f"event {self.name}") - self.target


class Limit(Event):
    """Limit of a coordinate; a run that begins at or beyond it and moves outwards passes it, too."""


def limit_events(mechanism: Mechanism) -> list[Event]:
    """Events that end a run where a joint coordinate reaches a limit of the model."""

    def value(name: str, trajectory: Trajectory) -> float:
        return float(coordinate_motion(trajectory, name).value[0])

    return [
        Limit(f"{name} at its {which} limit", partial(value, name), limit, direction)
        for name, limits in mechanism.coordinate_limits.items()
        for which, limit, direction in zip(("lower", "upper"), limits, (-1, 1), strict=True)
        if np.isfinite(limit)
    ]


@dataclass(eq=False)
class Run:
    """A run from the first to the last of some instants: samples up to the last one reached, and its end."""

    equations: Equations
    request: Request
    time: Floats  # (T,), the last one that of an event which ends the run
    samples: list[Floats] = field(default_factory=list)  # (t, …) each, t of them in all are done
    done: int = 0
    occurrences: list[Occurrence] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    status: str = "finished"
    steps: int = 0
    before: list[float] = field(default_factory=list)  # values of the events at the last step
    reached: float = 0.0  # s, at the last number of steps that was a power of two

    def follow(self, steps: Iterable[Step]) -> None:
        """Take samples and events along some steps, until one, Ctrl-C or a fault ends the run."""
        t, y = float(self.time[0]), self.equations.start
        try:
            self.before, self.samples, self.done = self._values(t, y), [self.equations.sample(t, y)[None]], 1
            for start, t, y, dense in steps:
                if not (self._passed(start, t, y, dense) and self._goes_on(t, y)):
                    break
        except KeyboardInterrupt:
            self.status = "stopped"
        except CannotGoOnError as error:
            self.status = f"failed: {error}"

    def _passed(self, start: float, t: float, y: Floats, dense: Dense) -> bool:
        """Take events and samples of a step by its interpolant; False if an event ends the run."""
        end, events = int(np.searchsorted(self.time, t, "right")), self.request.events
        if not events and end == self.done:
            return True
        inside = dense()  # which may cost evaluations
        found = self._occurred(start, t, y, inside) if events else []
        last = next((one for one in found if one.ends), None)
        stop = t if last is None else last.time
        end = int(np.searchsorted(self.time, stop, "right"))
        if end > self.done:
            self.samples.append(self.equations.samples(self, self.time[self.done : end], inside))
            self.done = end
        self.occurrences += [one for one in found if one.time <= stop]
        if last is None:
            return True
        if self.time[self.done - 1] < stop:
            self.samples.append(self.equations.sample(stop, inside(stop))[None])
            self.time, self.done = np.append(self.time[: self.done], stop), self.done + 1
        self.changes = [one for one in self.changes if one.time <= stop]
        self.status = f"event {last.name}"
        return False

    def _values(self, t: float, y: Floats) -> list[float]:
        """Differences of the events' quantities from their targets in a state."""
        now = self.equations.instant(t, y) if self.request.events else None
        return [event.value(now) for event in self.request.events if now is not None]

    def _occurred(
        self, start: float, stop: float, y: Floats, inside: Callable[[float], Floats]
    ) -> list[Occurrence]:
        """Events within a step, in the order of time."""
        import scipy.optimize

        def value(t: float, event: Event) -> float:
            return event.value(self.equations.instant(t, inside(t)))

        found, before = [], self.before
        self.before = self._values(stop, y)
        for event, one, other in zip(self.request.events, before, self.before, strict=True):
            outwards, at = (other - one) * event.direction, stop
            if isinstance(event, Limit) and one * event.direction >= 0.0 and outwards > _OUTWARDS:
                at = start
            elif one == other or one * other > 0.0 or one == 0.0 or outwards < 0:
                continue
            elif other != 0.0:
                at = scipy.optimize.brentq(value, start, stop, args=(event,), xtol=1e-12, rtol=1e-14)
            found.append(Occurrence(event.name, float(at), event.ends))
        return sorted(found, key=lambda one: one.time)

    def _goes_on(self, t: float, y: Floats) -> bool:
        """Report progress after a step; False if it ends the run."""
        first, last, steps = float(self.time[0]), float(self.time[-1]), self.steps
        progress, events, most = self.request.progress, self.request.events, self.request.most_steps
        if progress is not None and progress((t - first) / (last - first)) is False:
            self.status = "stopped"
            return False
        needed = 0.0
        if steps.bit_count() == 1:
            if steps >= _PACED and not any(event.ends for event in events):
                needed = steps + (last - t) / (t - self.reached) * (steps // 2)
            self.reached = t
        if t < last and (steps >= most or needed > _HOPELESS * most):
            pace = f", at a pace of {needed:.1g} steps for the run" if needed else ""
            raise CannotGoOnError(
                self.equations.hindered(t, y)
                or f"stopped at t = {t:.9g} s after {steps:,} steps{pace}; allow more most_steps, or see "
                "whether rates, gravity, forces and the duration are meant"
            )
        return True


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """A motion that follows from masses and forces, with SI units and world axes.

    Attributes
    ----------
    trajectory : all bodies at the T instants that were reached; every table, plot and page takes it
    structure : whose driven coordinates were the independent ones at the beginning
    method, integrator, tolerance : of the run
    released, prescribed : driven coordinates of ``structure`` that were free to move, and those with a law
    kinetic_energy, potential_energy : (T,) J; the potential of gravity and of linear springs
    work : (T,) J that force elements, applied forces and prescribed coordinates have done since the start
    balance : (T,) J, change of kinetic energy and of the potential of gravity, less ``work``: an error
    position_error, velocity_error : (T,) largest residual of the constraints, m and m/s
    status : ``finished``, ``stopped`` (before the end), ``event …`` or ``failed: …``. A run has failed where
        its energy (by more than 1 % of the exchanged one, and more than the tolerance explains), its power or
        a closing equation is off balance: with the time, the group and the coordinates there. So the branch
        of a run that is ``ok`` is *checked*, as ``trajectory.proof`` says, not proven
    events : events in the order of time
    changes : choices of independent coordinates that replaced another, with their instants
    steps, evaluations : of the integrator, and of the equations of motion
    notes : assumptions

    Examples
    --------
    >>> import groups, mbssa
    >>> simulation = groups.simulate(mbssa.load("slider_crank"), duration=0.2, steps=11)
    >>> simulation.status, bool(abs(simulation.balance).max() < 1e-6)
    ('finished', True)
    """

    trajectory: Trajectory
    structure: Structure
    method: str
    integrator: str
    tolerance: float
    released: tuple[str, ...]
    prescribed: tuple[str, ...]
    kinetic_energy: Floats
    potential_energy: Floats
    work: Floats
    balance: Floats
    position_error: Floats
    velocity_error: Floats
    status: str
    events: tuple[Occurrence, ...]
    changes: tuple[Change, ...]
    steps: int
    evaluations: int
    notes: tuple[str, ...] = ()
    applied: Mapping[str, Applied] = field(default_factory=dict)

    def __repr__(self) -> str:
        name = self.trajectory.mechanism.name or "a mechanism"
        return f"<Simulation of {name} by {self.method}: {len(self.time)} instants, {self.status}>"

    @property
    def time(self) -> Floats:
        """(T,) s."""
        return self.trajectory.time

    @property
    def total_energy(self) -> Floats:
        """(T,) J, kinetic and potential."""
        return self.kinetic_energy + self.potential_energy

    @property
    def ok(self) -> bool:
        """True if the run reached its end, or an event that ends it, with its energy in balance."""
        return self.status == "finished" or self.status.startswith("event")

    @property
    def coordinates(self) -> dict[str, Floats]:
        """By name, the values (T,) of the driven coordinates of the structure, m and rad."""
        names = sorted((*self.released, *self.prescribed))
        return {name: coordinate_motion(self.trajectory, name).value for name in names}

    def columns(self) -> list[Column]:
        """Time, energies, work and errors as columns of a table, SI units."""
        named = (
            ("kinetic_energy", "J"), ("potential_energy", "J"), ("total_energy", "J"), ("work", "J"),
            ("balance", "J"), ("position_error", "m"), ("velocity_error", "m/s"),
        )  # fmt: skip
        return [Column("time", "s", self.time), *(Column(n, unit, getattr(self, n)) for n, unit in named)]

    def write(self, path: str | Path, *, force: bool = False, units: Literal["si", "file"] = "file") -> None:
        """Write energies and errors over time to ``.csv`` or ``.parquet``, in the units of the model file.

        The motion itself is written by ``simulation.trajectory.write``, reactions by
        ``simulation.forces.write``.

        Raises
        ------
        ValueError
            Another ending.
        OSError
            The file exists and ``force`` is False, or it cannot be written.
        """
        write_table(shown_in(self.columns(), self.trajectory, units), path, force)

    @cached_property
    def forces(self) -> Forces:
        """Reactions and powers along the run, by :func:`groups.forces`; released coordinates need no drive.

        Raises
        ------
        ValueError
            As :func:`groups.forces`.
        """
        from groups.dynamics import forces

        given = {
            name: np.array([value(t) for t in self.time.tolist()]) if callable(value) else value
            for name, value in self.applied.items()
        }
        return forces(self.trajectory, self.structure, applied=given)
