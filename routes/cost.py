"""Cost model of tasks on a machine, in seconds, measured by :mod:`routes.calibration`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from mbssa.arrays import Floats
from routes.executors import ExecutorCosts, executor_named, executor_names
from routes.plan import Plan
from routes.tasks import Tasks

FORMAT = 2


@dataclass(frozen=True)
class Around:
    """Seconds of a run before its first task and after its last."""

    fixed: float  # of every run
    instant: float  # of each time step: allocation, coarse pass, final checks
    call: float  # of each call, the first apart
    task: float  # of each task, the first apart


@dataclass(frozen=True)
class Costs:
    """Costs of a model on a machine.

    Attributes
    ----------
    machine : its processor, by name
    cores : that this process may use
    level : the last level of answer: 0 positions, 1 velocities, 2 accelerations
    instants : of the motion that was measured
    lengths : chunk lengths that were measured, ascending
    groups : by group and length, s of a call of this group alone
    needs : by group, bodies of other groups that it needs
    group_of_body : by body, the index of its group; -1 for the frame
    joined : s saved by each group that joins another's call
    loaded : s saved for each body and time step that a call need not load, since it solves the body or
        loads it for another group
    around : before and after the tasks
    executors : by name
    alternatives : by group number and solver, as in ``"3 Newton"``, what ``groups`` has for the group
    made : when it was measured, ISO 8601
    noise : median over the measured plans of the median over the least time, less 1

    Examples
    --------
    >>> costs = made_up([0.1, 0.3], instants=1000)
    >>> costs.group_seconds(500).tolist(), costs.handing("threads")
    ([0.05, 0.15], 0.0)
    """

    machine: str
    cores: int
    level: int
    instants: int
    lengths: tuple[int, ...]
    groups: tuple[tuple[float, ...], ...]
    needs: tuple[tuple[int, ...], ...]
    group_of_body: tuple[int, ...]
    joined: float
    loaded: float
    around: Around
    executors: Mapping[str, ExecutorCosts] = field(default_factory=dict)
    alternatives: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    made: str = ""
    noise: float = 0.0

    def executor(self, name: str) -> ExecutorCosts:
        """Costs of an executor: measured ones, else those that it assumes."""
        return self.executors.get(name) or executor_named(name).costs

    def handing(self, name: str) -> float:
        """s that an executor adds to each task."""
        return self.executor(name).handing

    def slowdown(self, name: str, running: float | Floats, *, shared: bool = True) -> Floats:
        """Factor by which tasks last longer while so many run at once, each on a worker of its own.

        Constant beyond the measured numbers; tasks beyond the number of cores take turns.

        Parameters
        ----------
        running : tasks at once, their mean
        shared : whether the workers share this machine's cores; other machines' have their own
        """
        workers, factors = np.array(self.executor(name).slowdown, dtype=np.float64).T
        found: Floats = np.interp(running, workers, factors)
        turns: Floats = np.maximum(1.0, np.asarray(running) / self.cores) if shared else np.ones_like(found)
        return found * turns

    def group_seconds(self, length: int, solvers: Mapping[int, str] | None = None) -> Floats:
        """(groups,) s of a call of each group alone, over a chunk of this length.

        Linear interpolation between the measured lengths, and extrapolation beyond.

        Raises
        ------
        ValueError
            A solver that was not measured.
        """
        table = self._table
        missing = [f"{g} {solver}" for g, solver in (solvers or {}).items()]
        missing = [name for name in missing if name not in self.alternatives]
        if missing:
            raise ValueError(
                f"no costs of group {', '.join(missing)}; calibrate with these solvers as alternatives"
            )
        for g, solver in (solvers or {}).items():
            table = table.copy() if table is self._table else table
            table[g - 1] = self.alternatives[f"{g} {solver}"]
        return _interpolated(self.lengths, table, length)

    def call_seconds(
        self, calls: Sequence[Sequence[int]], length: int, solvers: Mapping[int, str] | None = None
    ) -> Floats:
        """(calls,) s of calls of groups (indices from 0) over a chunk of this length, on one worker.

        >>> costs = made_up([1e-4, 2e-4], joined=2e-5)
        >>> costs.call_seconds([(0,), (1,), (0, 1)], 1000).round(6).tolist()
        [0.0001, 0.0002, 0.00028]
        """
        single = self.group_seconds(length, solvers)
        found = np.empty(len(calls))
        for k, call in enumerate(calls):
            if len(call) == 1:
                found[k] = single[call[0]]
                continue
            apart = single[list(call)]
            saved = self.joined * (len(call) - 1) + self.loaded * length * self._not_loaded(tuple(call))
            found[k] = max(apart.sum() - saved, apart.max())
        return found

    def task_seconds(self, tasks: Tasks, plan: Plan) -> Floats:
        """(n,) s of each task on one busy worker, without its handing."""
        lengths = np.diff(tasks.bounds)
        kinds, which = np.unique(lengths, return_inverse=True)
        by_kind = [self.call_seconds(tasks.calls, int(length), plan.solvers) for length in kinds]
        found: Floats = np.array(by_kind).reshape(len(kinds), -1)[which].ravel()
        return found

    def around_seconds(self, plan: Plan, tasks: Tasks) -> float:
        """s of a run before and after its tasks, its executor's start among them."""
        around = self.around
        found = around.fixed + around.instant * plan.instants
        found += around.call * (len(tasks.calls) - 1) + around.task * (len(tasks) - 1)
        return found + self.executor(plan.executor).start

    def to_json(self) -> str:
        """The costs as text."""
        import json
        from dataclasses import asdict

        return json.dumps({"format": FORMAT, **asdict(self)})

    @staticmethod
    def from_json(text: str) -> Costs:
        """The costs of a text.

        Raises
        ------
        ValueError
            No costs.

        Examples
        --------
        >>> costs = made_up([1e-4, 2e-4])
        >>> Costs.from_json(costs.to_json()) == costs
        True
        """
        import json

        from pydantic import TypeAdapter

        record = json.loads(text)
        if not isinstance(record, dict) or record.pop("format", None) != FORMAT:
            raise ValueError(f'costs are a JSON object with "format": {FORMAT}')
        return TypeAdapter(Costs).validate_python(record)

    @cached_property
    def _table(self) -> Floats:
        return np.array(self.groups, dtype=np.float64)

    def _not_loaded(self, call: tuple[int, ...]) -> int:
        """Bodies that the groups of a call would load apart, less those that they load together."""
        known = self._known
        if call not in known:
            inside = set(call)
            needed = {b for g in call for b in self.needs[g] if self.group_of_body[b] not in inside}
            known[call] = sum(len(self.needs[g]) for g in call) - len(needed)
        return known[call]

    @cached_property
    def _known(self) -> dict[tuple[int, ...], int]:
        return {}


def made_up(
    seconds: Sequence[float],
    *,
    instants: int = 1000,
    joined: float = 0.0,
    executors: Mapping[str, ExecutorCosts] | None = None,
) -> Costs:
    """Synthetic costs of independent groups, ``seconds`` of each over ``instants``; all else is free."""
    nothing = ExecutorCosts(0.0, 0.0, 0.0, 0.0)
    return Costs(
        machine="made up",
        cores=2**20,
        level=2,
        instants=instants,
        lengths=(instants, 2 * instants),
        groups=tuple((float(s), 2.0 * float(s)) for s in seconds),
        needs=tuple(() for _ in seconds),
        group_of_body=(-1,),
        joined=joined,
        loaded=0.0,
        around=Around(0.0, 0.0, 0.0, 0.0),
        executors=dict.fromkeys(executor_names(), nothing) if executors is None else executors,
    )


def _interpolated(lengths: Sequence[int], table: Floats, length: int) -> Floats:
    """Values (groups,) of a (groups, lengths) table, interpolated at a length."""
    if len(lengths) == 1:
        found: Floats = table[:, 0] * (length / lengths[0])
        return found
    low = min(max(int(np.searchsorted(lengths, length)) - 1, 0), len(lengths) - 2)
    share = (length - lengths[low]) / (lengths[low + 1] - lengths[low])
    between: Floats = table[:, low] + share * (table[:, low + 1] - table[:, low])
    return np.maximum(between, 0.0)
