"""Plans run again and again in turn, and what they took when the machine was quiet.

Of the repeats, the lower quartile counts: what other programs do makes a run longer, never shorter; and the
very shortest was lucky.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import numpy.typing as npt

from groups.model import Model
from groups.motion import Motion
from groups.trajectory import Level
from routes.calibration.memory import give_back_memory
from routes.event_log import EventLog
from routes.plan import Plan
from routes.run import logged_run

Floats = npt.NDArray[np.float64]

#: Which of the repeats counts, as a quantile.
QUIET = 0.25


@dataclass(frozen=True, eq=False)
class Timing:
    """What the runs of one plan took.

    Attributes
    ----------
    plan, instants : that were run
    seconds : (repeats,) of each whole run
    log : the last run's
    durations : (tasks,) s, the lower quartile of the repeats
    span : s from the beginning of the first task to the end of the last, likewise
    around : s before and after that, likewise
    """

    plan: Plan
    seconds: Floats
    log: EventLog
    durations: Floats
    span: float
    around: float

    @property
    def noise(self) -> float:
        """How much longer the middle run took than the shortest, as a share of it."""
        least = self.seconds.min()
        return float(np.median(self.seconds) / least - 1.0)

    @property
    def by_call(self) -> Floats:
        """(calls,) s of each call's tasks, the mean over its whole chunks."""
        chunks = len(self.log.bounds) - 1
        rows = self.durations.reshape(chunks, -1)
        return np.asarray((rows[:-1] if chunks > 1 else rows).mean(axis=0))


def timed(
    model: Model, runs: Mapping[str, tuple[Plan, Motion]], level: Level, repeats: int, most: float
) -> dict[str, Timing]:
    """Run every plan in turn, then all of them again: what disturbs the machine disturbs them alike.

    Parameters
    ----------
    repeats : of each, at least 2
    most : s after which nothing is repeated a third time
    """
    seen: dict[str, list[tuple[float, EventLog]]] = {name: [] for name in runs}
    end = perf_counter() + most
    for repeat in range(max(2, repeats)):
        if repeat > 1 and perf_counter() > end:
            break
        for name, (plan, motion) in runs.items():
            give_back_memory()
            outcome = logged_run(model, plan, motion, level=level)
            seen[name].append((outcome.seconds, outcome.log))
            del outcome
    return {name: _timing(runs[name][0], found) for name, found in seen.items()}


def noise(timings: Iterable[Timing]) -> float:
    """The median noise of some plans."""
    return float(np.median([timing.noise for timing in timings]))


def _timing(plan: Plan, found: list[tuple[float, EventLog]]) -> Timing:
    seconds = np.array([whole for whole, _ in found])
    spans = np.array([float(log.stop.max() - log.start.min()) for _, log in found])
    durations = np.quantile([log.stop - log.start for _, log in found], QUIET, axis=0)
    span, around = (float(np.quantile(values, QUIET)) for values in (spans, seconds - spans))
    return Timing(plan, seconds, found[-1][1], durations, span, around)
