"""Strong scaling of a plan's tasks over the number of workers, and its limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mbssa.arrays import Bools, Floats, Ints
from routes.simulate import critical_path, followers, simulator

#: Default numbers of workers.
WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)

#: Share of the best speed-up that is enough: more workers than that no longer pay.
ENOUGH = 0.95


@dataclass(frozen=True, eq=False)
class Scaling:
    """Predicted times on any number of workers.

    Attributes
    ----------
    workers : the numbers of workers, ascending
    makespan : (k,) s on each number, with the time before and after the tasks
    sequential : s that the speed-up is measured against
    critical : s of the critical path, with the time before and after the tasks: a lower bound
    total : s of all tasks and of the time before and after them: the time of one worker
    serial : s of ``total`` that is sequential: the time before and after the tasks, and tasks that precede
        or follow every other one
    enough : fewest workers that reach 95 % of the best simulated speed-up
    enough_makespan : s on these

    Examples
    --------
    >>> import numpy as np
    >>> from routes.scaling import scaling
    >>> one_then_four = np.full(5, 1.0), np.array([0, 0, 1, 2, 3, 4]), np.zeros(4, dtype=int)
    >>> found = scaling(*one_then_four, workers=(1, 2, 4, 8))
    >>> found.speed_up.tolist(), found.enough
    ([1.0, 1.6666666666666667, 2.5, 2.5], 4)
    >>> found.limit, found.serial_share, found.amdahl(8).round(2).tolist()
    (2.5, 0.2, 3.33)
    """

    workers: tuple[int, ...]
    makespan: Floats
    sequential: float
    critical: float
    total: float
    serial: float
    enough: int
    enough_makespan: float

    @property
    def speed_up(self) -> Floats:
        """(k,) speed-up over ``sequential``."""
        times: Floats = self.sequential / self.makespan
        return times

    @property
    def efficiency(self) -> Floats:
        """(k,) speed-up for each worker."""
        each: Floats = self.speed_up / np.array(self.workers)
        return each

    @property
    def limit(self) -> float:
        """Upper bound of the speed-up: that of the critical path."""
        return self.sequential / self.critical

    @property
    def serial_share(self) -> float:
        """Share of one worker's time that no second worker can shorten, from 0 to 1."""
        return self.serial / self.total

    def amdahl(self, workers: npt.ArrayLike) -> Floats:
        """Speed-up on so many workers by Amdahl's law: all but the serial share divided evenly.

        An upper bound like ``limit``, and a weaker one for many workers; for few it may be the closer one.
        """
        times: Floats = self.sequential / (self.serial + (self.total - self.serial) / np.asarray(workers))
        return times


def scaling(
    seconds: Floats,
    needs_start: Ints,
    needs: Ints,
    workers: Sequence[int] = WORKERS,
    *,
    handing: float = 0.0,
    around: float = 0.0,
    sequential: float | None = None,
) -> Scaling:
    """Predicted times (s) of tasks on each number of workers, and their limits."""
    # The time on one worker includes the submission of tasks (`handing`, s); where the sequential run has
    # none, its time is given as `sequential`, and the speed-up on one worker is below 1. The number of
    # workers that is enough is found between two of those given by halving the way.
    if not len(workers) or min(workers) < 1:
        raise ValueError(f"workers = {tuple(workers)}: write numbers of workers, 1 or more")
    if not 0 <= around < np.inf:
        raise ValueError(f"around = {around}: write seconds, 0 or more")
    counts = tuple(sorted(set(workers)))
    lasts = _simulated(seconds, needs_start, needs, handing, around)
    makespan = np.array([lasts(count) for count in counts])
    occupied = handing + np.asarray(seconds, dtype=np.float64)
    total = around + float(occupied.sum())
    if not total > 0:
        raise ValueError("the tasks take no time: there is nothing to speed up")
    enough = _enough(counts, makespan, lasts)
    return Scaling(
        workers=counts,
        makespan=makespan,
        sequential=total if sequential is None else sequential,
        critical=around + critical_path(occupied, needs_start, needs)[0],
        total=total,
        serial=around + float(occupied[alone(needs_start, needs)].sum()),
        enough=enough,
        enough_makespan=lasts(enough),
    )


def alone(needs_start: Ints, needs: Ints) -> Bools:
    """Tasks (n,) that are comparable with every other task, and so overlap none."""
    # All lower tasks come before task t if each of them is needed by some task up to t; all higher ones after
    # it if each needs some task from t on.
    n = len(needs_start) - 1
    task = np.arange(n)
    after_start, after = followers(needs_start, needs)
    first_after = np.full(n, n)
    needed = np.diff(after_start) > 0
    first_after[needed] = after[after_start[:-1][needed]]
    last_need = np.full(n, -1)
    np.maximum.at(last_need, np.repeat(task, np.diff(needs_start)), needs)
    before_all = np.maximum.accumulate(np.concatenate([[0], first_after[:-1]])) <= task
    after_all = np.minimum.accumulate(np.concatenate([[n], last_need[:0:-1]]))[::-1] >= task
    return before_all & after_all


def _simulated(
    seconds: Floats, needs_start: Ints, needs: Ints, handing: float, around: float
) -> Callable[[int], float]:
    """The makespan by number of workers, each simulated once."""
    on = simulator(seconds, needs_start, needs, handing=handing)
    known: dict[int, float] = {}
    most = np.iinfo(np.int64).max

    def lasts(workers: int) -> float:
        nonlocal most
        workers = min(workers, most)
        if workers not in known:
            schedule = on(workers)
            known[workers] = around + schedule.makespan
            taken = int(schedule.worker.max(initial=-1)) + 1
            if taken < workers:  # no task waits for a worker: more workers change nothing
                most = taken
                known[most] = known[workers]
        return known[workers]

    return lasts


def _enough(counts: Sequence[int], makespan: Floats, lasts: Callable[[int], float]) -> int:
    """Fewest workers that reach the share of the best speed-up that is enough."""
    wanted = float(makespan.min()) / ENOUGH
    place = int(np.flatnonzero(makespan <= wanted)[0])
    low, high = counts[place - 1] if place else counts[0] - 1, counts[place]
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if lasts(middle) <= wanted else (middle, high)
    return high
