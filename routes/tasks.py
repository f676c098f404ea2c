"""Tasks of a plan: its calls, chunk by chunk, and their predecessors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groups.model import Model
from mbssa.arrays import Ints
from routes.plan import Plan
from routes.reverse import needs_of, numbers


@dataclass(frozen=True, eq=False)
class Tasks:
    """Tasks of a plan and their dependencies."""

    # Task number = chunk × calls + call; ascending is an order of solution.

    # Indices of the groups of each call; of reactions, behind those of all motions.
    calls: tuple[tuple[int, ...], ...]
    stage: Ints  # (calls,) the stage of each
    bounds: Ints  # (chunks + 1,) the instants at which chunks begin, and the end
    needs_start: Ints  # of task t, its predecessors are needs[needs_start[t] : needs_start[t + 1]]
    needs: Ints  # all lower than their task

    def __len__(self) -> int:
        return len(self.needs_start) - 1

    def place(self, task: int) -> tuple[int, int]:
        """Chunk and call of a task."""
        return divmod(task, len(self.calls))

    def span(self, task: int) -> tuple[int, int]:
        """First instant of a task, and the one after its last."""
        chunk = task // len(self.calls)
        return int(self.bounds[chunk]), int(self.bounds[chunk + 1])

    def before(self, task: int) -> Ints:
        """The predecessors of a task."""
        return self.needs[self.needs_start[task] : self.needs_start[task + 1]]


def tasks_of(plan: Plan, model: Model) -> Tasks:
    """The tasks of a plan that fits a model (:meth:`routes.plan.Plan.check`)."""
    index = {number: k for k, number in enumerate(numbers(model.structure.n_groups))}
    calls = tuple(tuple(index[number] for number in call) for call in plan.calls)
    needs_by_index = needs_of(model) if plan.backwards else model.needs
    stage = np.repeat(np.arange(len(plan.stages)), [len(calls) for calls in plan.stages])
    call_of = np.zeros(len(needs_by_index), dtype=np.int64)
    for k, call in enumerate(calls):
        call_of[list(call)] = k
    predecessors: list[list[int]] = []
    for k, call in enumerate(calls):
        if plan.wait == "stage":
            predecessors.append(np.flatnonzero(stage == stage[k] - 1).tolist())
        else:
            needed = {g for group in call for g in needs_by_index[group]}
            predecessors.append(sorted({int(call_of[g]) for g in needed} - {k}))
    bounds = np.append(np.arange(0, plan.instants, plan.chunk), plan.instants)
    chunks, n = len(bounds) - 1, len(calls)
    # Chunks are independent of each other.
    start = np.zeros(n * chunks + 1, dtype=np.int64)
    np.cumsum(np.tile([len(each) for each in predecessors], chunks), out=start[1:])
    first = np.array([need for each in predecessors for need in each], dtype=np.int64)
    needs = (n * np.arange(chunks)[:, None] + first).ravel()
    return Tasks(calls, stage, bounds, start, needs)
