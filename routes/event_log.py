"""Log of a run: begin, end and worker of each task, and checks against the dependencies."""

# The checks read the log and the dependencies alone, not the plan or the scheduler.

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from mbssa.arrays import Bools, Floats, Ints
from routes.simulate import Schedule


@dataclass(frozen=True, eq=False)
class EventLog:
    """Begin, end and worker of each task of a run.

    Attributes
    ----------
    start, stop : (n,) s of a clock that all workers share; task = chunk · calls + call
    worker : (n,) from 0; -1 for tasks that were not run
    calls : groups of each call, indices from 0, in the order in which they are solved
    bounds : (chunks + 1,) instants at which chunks begin

    Raises
    ------
    ValueError
        The arrays have not one entry for each call and chunk.

    Examples
    --------
    >>> import numpy as np
    >>> from routes.event_log import EventLog
    >>> events = np.array([[10.0, 12.0, 0], [11.0, 14.0, 1]])
    >>> log = EventLog.of(events, calls=((0,), (1,)), bounds=np.array([0, 256]))
    >>> log.schedule().makespan, log.schedule().idle.tolist()
    (4.0, [0.5, 0.25])
    >>> log.faults(needs=((), ()))
    []
    >>> log.faults(needs=((), (0,)))
    ['SG-2, instants 0 to 255, began 1 s before SG-1, instants 0 to 255, had ended, which it needs']
    """

    start: Floats
    stop: Floats
    worker: Ints
    calls: tuple[tuple[int, ...], ...]
    bounds: Ints

    def __post_init__(self) -> None:
        wanted = len(self.calls) * (len(self.bounds) - 1)
        if {len(self.start), len(self.stop), len(self.worker)} != {wanted}:
            raise ValueError(
                f"{len(self.start)} events: write {wanted}, one for each of {len(self.calls)} calls and "
                f"{len(self.bounds) - 1} chunks"
            )

    @classmethod
    def of(cls, events: Floats, calls: tuple[tuple[int, ...], ...], bounds: Ints) -> EventLog:
        """From the rows of a run: (n, 3) start s, stop s, worker."""
        start, stop, worker = np.array(events, dtype=np.float64).T
        return cls(start, stop, np.where(np.isfinite(worker), worker, -1).astype(np.int64), calls, bounds)

    @property
    def ran(self) -> Bools:
        """(n,) the tasks that were run."""
        return np.isfinite(self.start) & np.isfinite(self.stop) & (self.worker >= 0)

    def schedule(self, workers: int = 0) -> Schedule:
        """The tasks that were run, in the order of their numbers, from the start of the first of them.

        ``workers`` are at least those that ran any.
        """
        start, stop, worker = self.start[self.ran], self.stop[self.ran], self.worker[self.ran]
        first = start.min(initial=np.inf)
        return Schedule(start - first, stop - first, worker, max(workers, int(worker.max(initial=-1)) + 1))

    def faults(self, needs: Sequence[Sequence[int]]) -> list[str]:
        """Violations of the dependencies; an empty list for a sound run.

        Every group is in one call, every task was run, no worker did two things at once, and no group began
        before those that it needs had ended with the same instants.

        Parameters
        ----------
        needs : of each group, the indices from 0 of those that it needs
        """
        return [*_membership_faults(self.calls, needs), *self._event_faults(*self._precedence(needs))]

    def _precedence(self, needs: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
        """Predecessors and successors: pairs of tasks."""
        call_of = {group: call for call, groups in enumerate(self.calls) for group in groups}
        pairs = {
            (call_of[need], call_of[group])
            for group, before in enumerate(needs)
            for need in before
            if group in call_of and need in call_of and call_of[need] != call_of[group]
        }
        before, after = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2).T
        first = len(self.calls) * np.arange(len(self.bounds) - 1)[:, None]
        return (first + before).ravel(), (first + after).ravel()

    def _event_faults(self, before: Ints, after: Ints) -> list[str]:
        faults = []
        start, stop, ran, name = self.start, self.stop, self.ran, self._name
        missing = np.flatnonzero(~ran).tolist()
        if missing:
            faults.append(
                f"{len(missing)} of {len(start)} tasks were not run, the first is {name(missing[0])}"
            )
        for task in np.flatnonzero(ran & (stop < start)).tolist():
            faults.append(f"{name(task)} ended {start[task] - stop[task]:.3g} s before it began")
        early = ran[after] & ~(ran[before] & (stop[before] <= start[after]))
        for need, task in zip(before[early].tolist(), after[early].tolist(), strict=True):
            order = f"began {stop[need] - start[task]:.3g} s before" if ran[need] else "was run, but not"
            ended = "had ended, which it needs" if ran[need] else "which it needs"
            faults.append(f"{name(task)} {order} {name(need)} {ended}")
        for number in np.unique(self.worker[ran]).tolist():
            mine = np.flatnonzero(ran & (self.worker == number))
            mine = mine[np.lexsort((stop[mine], start[mine]))]
            latest = 0
            for place in range(1, len(mine)):
                one, two = int(mine[latest]), int(mine[place])
                if start[two] < stop[one]:
                    overlap = f"{stop[one] - start[two]:.3g} s before {name(one)} had ended"
                    faults.append(f"{name(two)} began {overlap}, both on worker {number}")
                if stop[two] >= stop[one]:
                    latest = place
        return faults

    def _name(self, task: int) -> str:
        chunk, call = divmod(task, len(self.calls))
        groups = " ".join(f"SG-{group + 1}" for group in self.calls[call])
        return f"{groups}, instants {self.bounds[chunk]} to {self.bounds[chunk + 1] - 1},"


def _membership_faults(calls: Sequence[Sequence[int]], needs: Sequence[Sequence[int]]) -> list[str]:
    """Groups that are not in one call, or in a call before those that they need."""
    faults = []
    there = Counter(chain.from_iterable(calls))
    for group in range(len(needs)):
        if there[group] != 1:
            faults.append(f"SG-{group + 1} is in {there[group]} calls: it must be in one")
    for group in sorted(set(there) - set(range(len(needs)))):
        faults.append(f"SG-{group + 1} is in a call, but there are only {len(needs)} groups")
    for call in calls:
        place = {group: k for k, group in enumerate(call)}
        for group in call:
            for need in needs[group] if group < len(needs) else ():
                if place.get(need, -1) > place[group]:
                    faults.append(f"SG-{group + 1} comes before SG-{need + 1} in one call, but needs it")
    return faults
