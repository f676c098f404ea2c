"""Events of a simulation: a quantity reaches a value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from groups.results.joints import coordinate_motion
from groups.trajectory import Trajectory
from mbssa import Mechanism


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
