"""List scheduling of dependent tasks on any number of workers, simulated."""

# Plain Python: 10⁵ tasks on 1,024 workers take 0.1 to 0.3 s, less than a compiler takes to load.

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from mbssa.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Schedule:
    """Begin, end and worker of each of n tasks.

    Attributes
    ----------
    start, stop : (n,) s, from the beginning of the run; the handing of a task is part of its time
    worker : (n,) from 0
    workers : how many there are, idle ones too

    Examples
    --------
    >>> import numpy as np
    >>> from routes.simulate import Schedule
    >>> one = Schedule(np.array([0.0, 0.0]), np.array([4.0, 1.0]), np.array([0, 1]), workers=2)
    >>> one.makespan, one.idle.tolist()
    (4.0, [0.0, 0.75])
    """

    start: Floats
    stop: Floats
    worker: Ints
    workers: int

    @property
    def makespan(self) -> float:
        """Seconds until the last task stops; 0 without tasks."""
        return float(self.stop.max(initial=0.0))

    @property
    def idle(self) -> Floats:
        """(workers,) share of the makespan in which each worker has no task; 0 where it lasts no time."""
        return self.idle_in(self.makespan)

    def idle_in(self, seconds: float) -> Floats:
        """The same share of any time that has the schedule in it, s."""
        busy = np.bincount(self.worker, weights=self.stop - self.start, minlength=self.workers)
        return np.maximum(1.0 - busy / seconds, 0.0) if seconds else np.zeros(self.workers)


def simulate(
    seconds: Floats, needs_start: Ints, needs: Ints, workers: int, *, handing: float = 0.0
) -> Schedule:
    """List scheduling of tasks of these seconds (n,), event by event, as the executors do it."""
    # The free worker with the lowest number takes the ready task with the lowest number. Task t needs
    # needs[needs_start[t]:needs_start[t + 1]], all of them lower than t.
    return simulator(seconds, needs_start, needs, handing=handing)(workers)


def simulator(
    seconds: Floats, needs_start: Ints, needs: Ints, *, handing: float = 0.0
) -> Callable[[int], Schedule]:
    """Function :func:`simulate` of the number of workers alone; the rest is prepared once."""
    seconds, needs_start, needs = _tasks(seconds, needs_start, needs)
    if not 0 <= handing < np.inf:
        raise ValueError(f"handing = {handing}: write seconds, 0 or more")
    occupied, waits = (handing + seconds).tolist(), np.diff(needs_start).tolist()
    after_start, after = (part.tolist() for part in followers(needs_start, needs))

    def on(workers: int) -> Schedule:
        if workers < 1:
            raise ValueError(f"workers = {workers}: write 1 or more")
        start, stop, worker = _listed(occupied, waits.copy(), after_start, after, workers)
        return Schedule(np.array(start, float), np.array(stop, float), np.array(worker, np.int64), workers)

    return on


def critical_path(seconds: Floats, needs_start: Ints, needs: Ints) -> tuple[float, tuple[int, ...]]:
    """Critical path: seconds and tasks of the longest chain of dependent tasks."""
    # It is a lower bound of the makespan. Of equal chains, that with the lowest numbers, from its end
    # backwards.
    seconds, needs_start, needs = _tasks(seconds, needs_start, needs)
    if not len(seconds):
        return 0.0, ()
    stops: list[float] = []
    last: list[int] = []
    bounds, before = needs_start.tolist(), needs.tolist()
    for task, length in enumerate(seconds.tolist()):
        begin, latest = 0.0, -1
        for need in before[bounds[task] : bounds[task + 1]]:
            if latest < 0 or (stops[need], -need) > (begin, -latest):
                begin, latest = stops[need], need
        stops.append(begin + length)
        last.append(latest)
    task = max(range(len(stops)), key=stops.__getitem__)
    whole, path = stops[task], []
    while task >= 0:
        path.append(task)
        task = last[task]
    return whole, tuple(reversed(path))


def followers(needs_start: Ints, needs: Ints) -> tuple[Ints, Ints]:
    """Tasks that need each task, as needs are given: starts (n + 1,) and tasks (m,), ascending."""
    n = len(needs_start) - 1
    owner = np.repeat(np.arange(n), np.diff(needs_start))
    start = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(needs, minlength=n), out=start[1:])
    return start, owner[np.argsort(needs, kind="stable")]


def unit_of_time(seconds: float) -> tuple[str, float]:
    """Unit for a time (s, ms or µs), and its number in a second."""
    return ("s", 1.0) if seconds >= 1 else ("ms", 1e3) if seconds >= 1e-3 else ("µs", 1e6)


def _listed(
    seconds: list[float], waits: list[int], after_start: list[int], after: list[int], workers: int
) -> tuple[list[float], list[float], list[int]]:
    """Starts, stops and workers of list scheduling; ``waits``: predecessors not done."""
    n = len(seconds)
    start, stop, worker = [0.0] * n, [0.0] * n, [0] * n
    ready = [task for task in range(n) if waits[task] == 0]
    free = list(range(min(workers, n)))
    running: list[tuple[float, int]] = []
    heapify(ready)
    now = 0.0
    while ready or running:
        while ready and free:
            task = heappop(ready)
            start[task], worker[task] = now, heappop(free)
            stop[task] = now + seconds[task]
            heappush(running, (stop[task], task))
        now = running[0][0]
        while running and running[0][0] == now:
            done = heappop(running)[1]
            heappush(free, worker[done])
            for task in after[after_start[done] : after_start[done + 1]]:
                waits[task] -= 1
                if not waits[task]:
                    heappush(ready, task)
    return start, stop, worker


def _tasks(seconds: Floats, needs_start: Ints, needs: Ints) -> tuple[Floats, Ints, Ints]:
    """Arrays of tasks, checked."""
    seconds = np.asarray(seconds, dtype=np.float64)
    needs_start, needs = np.asarray(needs_start, dtype=np.int64), np.asarray(needs, dtype=np.int64)
    n = len(seconds)
    faults = []
    bad = np.flatnonzero(~(np.isfinite(seconds) & (seconds >= 0)))
    if len(bad):
        faults.append(f"seconds[{bad[0]}] = {seconds[bad[0]]}: write seconds, 0 or more")
    ends = needs_start[[0, -1]].tolist() if len(needs_start) else []
    if len(needs_start) != n + 1 or ends != [0, len(needs)] or (np.diff(needs_start) < 0).any():
        faults.append(f"needs_start: write {n + 1} ascending numbers from 0 to {len(needs)}")
    else:
        owner = np.repeat(np.arange(n), np.diff(needs_start))
        bad = np.flatnonzero((needs < 0) | (needs >= owner))
        if len(bad):
            task, need = int(owner[bad[0]]), int(needs[bad[0]])
            faults.append(f"task {task} needs task {need}: number tasks so that each needs only lower ones")
    if faults:
        raise ValueError("; ".join(faults))
    return seconds, needs_start, needs
