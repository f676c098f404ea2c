"""Costs of an executor, found from what it makes of plans whose tasks' costs are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from groups.model import Model
from groups.motion import Motion
from groups.trajectory import Level
from routes.calibration.measuring import (
    BUDGET,
    FEWER,
    affordable,
    alone,
    enough_instants,
    first_instants,
    together,
    up_to_grain,
)
from routes.calibration.timing import Timing, timed
from routes.cost import Costs, ExecutorCosts
from routes.plan import Plan
from routes.predict import scheduled
from routes.run import logged_run
from routes.tasks import tasks_of

#: Instants of tasks that are small enough to show what handing them over takes.
SMALL = 256

#: s that are tried to see what a cost of a task does to the whole.
_TRIED = 1e-4


def measured_executor(
    model: Model, motion: Motion, level: Level, costs: Costs, name: str, workers: int
) -> ExecutorCosts:
    """What an executor adds to tasks, and how they slow each other down on so many workers.

    Chunks that need nothing of each other, beside the same ones in sequence, tell its start and the slowing
    down; many small tasks tell the handing over; a pipeline tells the waiting.

    Raises
    ------
    ValueError
        No such executor.
    """
    groups = len(costs.groups)
    piece = first_instants(motion, affordable(costs, len(motion.time)))
    instants = len(piece.time)
    by = {"executor": name, "workers": workers}
    apart = together(groups, instants, 4 * workers, start="seeded")
    few = first_instants(piece, enough_instants(groups, SMALL, instants))
    runs = {
        "in sequence": (apart, piece),
        "side by side": (replace(apart, executor=name, workers=workers), piece),
        "alone": (replace(apart, executor=name, workers=1), piece),
        "small": (alone(groups, len(few.time), SMALL, start="seeded", **by), few),
        "pipeline": (alone(groups, instants, up_to_grain(instants / 16), **by), piece),
    }
    first = logged_run(model, runs["side by side"][0], piece, level=level).seconds
    timings = timed(model, runs, level, FEWER + 2, BUDGET)
    sequential, beside = timings["in sequence"], timings["side by side"]
    start = max(0.0, beside.around - sequential.around)
    found = ExecutorCosts(
        start=start,
        cold=max(0.0, first - float(np.median(beside.seconds))),
        handing=0.0,
        wake=0.0,
        slowdown=_slowdown(timings, workers),
    )
    found = _fitted(found, lambda costs, s: replace(costs, handing=s), timings["small"], model, costs)
    return _fitted(found, lambda costs, s: replace(costs, wake=s), timings["pipeline"], model, costs)


def _slowdown(timings: dict[str, Timing], workers: int) -> tuple[tuple[float, float], ...]:
    sequential = float(timings["in sequence"].durations.sum())
    one = float(timings["alone"].durations.sum()) / sequential
    beside = timings["side by side"]
    several = float(beside.durations.sum()) / sequential
    running = min(max(float(beside.durations.sum()) / beside.span, 1.0), float(workers))
    if running < 1.2:  # hardly ever two at once: nothing was seen of the other's effect
        return ((1.0, one),)
    # Workers that gain nothing from each other's absence and workers that merely take turns: it is between.
    steep = (several - one) / (running - 1.0)
    most = min(max(one + steep * (workers - 1.0), one), one * workers)
    return ((1.0, one), (float(workers), most))


def _fitted(
    found: ExecutorCosts,
    with_cost: Callable[[ExecutorCosts, float], ExecutorCosts],
    timing: Timing,
    model: Model,
    costs: Costs,
) -> ExecutorCosts:
    """The costs with one of them set so that the plan is predicted to take what it took."""
    plan: Plan = timing.plan
    tasks = tasks_of(plan, model)
    seconds = costs.task_seconds(tasks, plan)

    def predicted(value: float) -> float:
        trial = replace(costs, executors={plan.executor: with_cost(found, value)})
        return scheduled(tasks, seconds, plan, trial, plan.workers).makespan

    at_least = predicted(0.0)
    steep = (predicted(_TRIED) - at_least) / _TRIED
    value = (timing.span - at_least) / steep if steep > 0.0 else 0.0
    return with_cost(found, max(0.0, value))
