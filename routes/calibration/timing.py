"""Repeated runs of plans, interleaved, and their times on a quiet machine."""

# The lower quartile of the repeats is used: other programs only add time, and the minimum is an outlier.

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from time import perf_counter, process_time

import numpy as np

from groups.model import Model
from groups.motion import Motion
from groups.trajectory import Level
from mbssa.arrays import Floats
from routes.calibration.machine import give_back_memory
from routes.event_log import EventLog
from routes.executors import is_parallel
from routes.plan import Plan
from routes.run import logged_run

#: Least number of runs of every plan; and the largest, of plans that take little time.
LEAST, MOST = 3, 15

#: Quantile of the repeats that is taken.
QUIET = 0.25


@dataclass(frozen=True, eq=False)
class Timing:
    """Durations of the runs of one plan, s."""

    plan: Plan
    seconds: Floats  # (repeats,) of each whole run
    spans: Floats  # (repeats,) from the beginning of the first task to the end of the last
    worked: Floats  # (repeats,) processor time of this process for the tasks
    log: EventLog  # of the last run
    # The sum of those of sequential runs is at most the processor time.
    durations: Floats  # (tasks,) lower quartile of the repeats
    around: float  # before the first task and after the last, lower quartile

    @property
    def noise(self) -> float:
        """Median over shortest run, less 1."""
        least = self.seconds.min()
        return float(np.median(self.seconds) / least - 1.0)

    @property
    def by_call(self) -> Floats:
        """Seconds (calls,) of each call's tasks, the mean over its whole chunks."""
        chunks = len(self.log.bounds) - 1
        rows = self.durations.reshape(chunks, -1)
        return np.asarray((rows[:-1] if chunks > 1 else rows).mean(axis=0))


def timed(
    model: Model, runs: Mapping[str, tuple[Plan, Motion]], level: Level, most: float
) -> dict[str, Timing]:
    """Run plans repeatedly, interleaved, for ``most`` s at most beyond the least number of repeats."""
    # Interleaved, so that disturbances affect all alike.
    seen: dict[str, list[_Run]] = {name: [] for name in runs}
    end = perf_counter() + most
    for repeat in range(MOST):
        if repeat >= LEAST and perf_counter() > end:
            break
        for name, (plan, motion) in runs.items():
            give_back_memory()
            began = process_time()
            outcome = logged_run(model, plan, motion, level=level, compiled=True)
            seen[name].append((outcome.seconds, process_time() - began, outcome.log))
            del outcome
    return {name: _timing(runs[name][0], found) for name, found in seen.items()}


def noise(timings: Iterable[Timing]) -> float:
    """The median noise of some plans."""
    return float(np.median([timing.noise for timing in timings]))


#: s of a whole run, its processor time, and its log.
_Run = tuple[float, float, EventLog]


def _timing(plan: Plan, runs: list[_Run]) -> Timing:
    seconds = np.array([whole for whole, _, _ in runs])
    logs = [log for _, _, log in runs]
    spans = np.array([float(log.stop.max() - log.start.min()) for log in logs])
    each = np.array([log.stop - log.start for log in logs])
    around = float(np.quantile(seconds - spans, QUIET))
    worked = np.maximum(np.array([process for _, process, _ in runs]) - around, 0.0)
    durations = np.quantile(each, QUIET, axis=0)
    if not is_parallel(plan.executor):
        gaps = np.maximum(spans - each.sum(axis=1), 0.0)
        busy = float((worked - gaps).min())
        if os.name == "posix" and 0.0 < busy < durations.sum():  # elsewhere the clock is too coarse
            durations *= busy / durations.sum()
    return Timing(plan, seconds, spans, worked, logs[-1], durations, around)
