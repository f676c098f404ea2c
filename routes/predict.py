"""Predicted duration of a plan: costs of its tasks on a simulated schedule."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from groups.model import Model
from mbssa.arrays import Bools, Floats
from routes.cost import Costs
from routes.executors import is_parallel
from routes.plan import Plan
from routes.simulate import Schedule, critical_path, simulate
from routes.tasks import Tasks, tasks_of


@dataclass(frozen=True, eq=False)
class Prediction:
    """Predicted duration and schedule of a plan.

    Attributes
    ----------
    tasks : of the plan
    task_seconds : (n,) s of each task on one busy worker
    around : s before the first task and after the last
    schedule : of the tasks, from the beginning of the first
    assumed : whether the executor's costs are assumed

    Examples
    --------
    >>> import groups, mbssa
    >>> from routes.cost import made_up
    >>> from routes.plan import parallel_route, plan_of
    >>> model = groups.build(mbssa.decompose(mbssa.load("stewart_inverse")))
    >>> plan = plan_of(model, parallel_route(model), instants=1000, executor="threads", workers=4)
    >>> found = predict(model, plan, made_up([0.01] + 6 * [0.02], instants=1000))
    >>> round(found.seconds, 3), found.idle.round(2).tolist()
    (0.05, [0.0, 0.2, 0.6, 0.6])
    """

    tasks: Tasks
    task_seconds: Floats
    around: float
    schedule: Schedule
    assumed: bool

    @property
    def seconds(self) -> float:
        """Of the whole run."""
        return self.around + self.schedule.makespan

    @property
    def idle(self) -> Floats:
        """(workers,) share of the whole run in which each worker has no task."""
        return self.schedule.idle_in(self.seconds)

    @cached_property
    def critical(self) -> tuple[float, tuple[int, ...]]:
        """The critical path of the schedule: s, and its tasks in order."""
        lasting = self.schedule.stop - self.schedule.start
        return critical_path(lasting, self.tasks.needs_start, self.tasks.needs)


def predict(
    model: Model, plan: Plan, costs: Costs, *, workers: int | None = None, simulated: bool = False
) -> Prediction:
    """Predict the duration of a plan that fits a model.

    Parameters
    ----------
    costs : of this model (:func:`routes.costs`)
    workers : other than the plan's
    simulated : whether each worker has a core of its own, on other machines

    Raises
    ------
    ValueError
        Costs of another model, or of other solvers.

    Examples
    --------
    >>> import groups, mbssa
    >>> from routes.cost import made_up
    >>> from routes.plan import parallel_route, plan_of
    >>> model = groups.build(mbssa.decompose(mbssa.load("stewart_inverse")))
    >>> costs = made_up([0.01] + 6 * [0.02], instants=1000)
    >>> plan = plan_of(model, parallel_route(model), instants=1000, executor="threads", workers=3)
    >>> found = predict(model, plan, costs)
    >>> round(found.seconds, 3), round(predict(model, plan, costs, workers=6).seconds, 3)
    (0.05, 0.03)
    """
    there = model.structure.n_groups
    if len(costs.groups) == there and plan.backwards:
        raise ValueError("the costs have no reactions; measure them with forces=True")
    if len(costs.groups) not in (there, 2 * there):
        raise ValueError(
            f"the costs are of a model of {len(costs.groups)} groups, and this one has "
            f"{model.structure.n_groups}; measure this one's"
        )
    plan.check(model)
    tasks = tasks_of(plan, model)
    seconds = costs.task_seconds(tasks, plan)
    schedule = scheduled(tasks, seconds, plan, costs, workers or plan.workers, simulated=simulated)
    around = costs.around_seconds(plan, tasks)
    return Prediction(tasks, seconds, around, schedule, costs.executor(plan.executor).assumed)


def scheduled(
    tasks: Tasks, seconds: Floats, plan: Plan, costs: Costs, workers: int, *, simulated: bool = False
) -> Schedule:
    """Schedule of tasks with contention and wake-up of workers."""
    # The number of concurrent tasks and idle workers are taken from a schedule without these costs.
    executor = costs.executor(plan.executor)
    workers = workers if is_parallel(plan.executor) else 1
    first = simulate(seconds, tasks.needs_start, tasks.needs, workers, handing=executor.handing)
    if workers == 1 or not len(seconds):
        return first
    slower = seconds * costs.slowdown(plan.executor, _running(first), shared=not simulated)
    slower[_after_idle(first)] += executor.wake
    return simulate(slower, tasks.needs_start, tasks.needs, workers, handing=executor.handing)


def _running(schedule: Schedule) -> Floats:
    """Mean number (n,) of tasks that run during each task, itself included."""
    times = np.concatenate([schedule.start, schedule.stop])
    order = np.argsort(times, kind="stable")
    times = times[order]
    steps = np.concatenate([np.ones(len(schedule.start)), -np.ones(len(schedule.stop))])[order]
    worked = np.concatenate([[0.0], np.cumsum(np.cumsum(steps)[:-1] * np.diff(times))])
    lasting = schedule.stop - schedule.start
    within = np.interp(schedule.stop, times, worked) - np.interp(schedule.start, times, worked)
    found: Floats = np.ones(len(lasting))
    np.divide(within, lasting, out=found, where=lasting > 0.0)
    return np.maximum(found, 1.0)


def _after_idle(schedule: Schedule) -> Bools:
    """Tasks (n,) whose worker was idle before them; first tasks excepted."""
    order = np.lexsort((schedule.start, schedule.worker))
    worker, start, stop = schedule.worker[order], schedule.start[order], schedule.stop[order]
    ended = np.concatenate([[0.0], np.where(worker[1:] == worker[:-1], stop[:-1], 0.0)])
    found = np.zeros(len(order), dtype=bool)
    found[order] = start > ended
    return found
