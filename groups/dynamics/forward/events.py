"""Events of a simulation: a quantity reaches a value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from groups.dynamics.forward.equations import Equations, Instant
from groups.results.joints import coordinate_motion
from groups.trajectory import Trajectory
from mbssa import Mechanism
from mbssa.arrays import Floats


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

    def value(self, equations: Equations, t: float, y: Floats) -> float:
        """Difference of the quantity from its target in a state."""
        return self.of(trajectory_of(equations.mechanism, np.array([t]), [equations.instant(t, y)]))

    def of(self, trajectory: Trajectory) -> float:
        """The same of a trajectory of one instant."""
        if callable(self.quantity):
            return float(self.quantity(trajectory)) - self.target
        return float(trajectory.quantity(self.quantity).value[0]) - self.target


def limit_events(mechanism: Mechanism) -> list[Event]:
    """Events that end a run where a joint coordinate reaches a limit of the model."""
    return [
        Event(f"{name} at its {which} limit", partial(_first, name), limit, direction)
        for name, limits in mechanism.coordinate_limits.items()
        for which, limit, direction in zip(("lower", "upper"), limits, (-1, 1), strict=True)
        if np.isfinite(limit)
    ]


def _first(name: str, trajectory: Trajectory) -> float:
    return float(coordinate_motion(trajectory, name).value[0])


def trajectory_of(mechanism: Mechanism, time: Floats, instants: list[Instant]) -> Trajectory:
    """Samples as a trajectory with one group, the whole mechanism."""
    names = ("position", "orientation", "velocity", "acceleration")
    arrays = [np.stack([getattr(one, name) for one in instants]) for name in names]
    return trajectory_from(mechanism, time, arrays, np.array([one.condition for one in instants]))


def trajectory_from(
    mechanism: Mechanism, time: Floats, arrays: Sequence[Floats], condition: Floats
) -> Trajectory:
    """The same of position, orientation, velocity and acceleration (T, N, …) and a condition (T,)."""
    position, orientation, velocity, acceleration = (  # stored body by body
        np.ascontiguousarray(array.swapaxes(0, 1)) for array in arrays
    )
    if orientation.ndim == 3:  # quaternions of one body keep their sign
        inner = (orientation[:, 1:] * orientation[:, :-1]).sum(axis=2)
        orientation[:, 1:] *= np.cumprod(np.where(inner < 0, -1.0, 1.0), axis=1)[..., None]
    zero = np.zeros((len(time), 1))
    return Trajectory(
        mechanism, time, position.swapaxes(0, 1), orientation.swapaxes(0, 1), velocity.swapaxes(0, 1),
        acceleration.swapaxes(0, 1), zero.astype(np.int8), zero, zero.astype(np.int64),
        condition[:, None], np.arange(len(position)), group_names=("the whole mechanism",),
    )  # fmt: skip


def occurred(
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
