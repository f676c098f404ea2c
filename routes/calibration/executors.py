"""Costs of an executor, identified from runs of plans with known costs of tasks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from groups.model import Model
from groups.motion import Motion
from groups.trajectory import Level
from routes.calibration.measuring import BUDGET, affordable, alone, enough_instants, first_instants, together
from routes.calibration.timing import Timing, timed
from routes.cost import Costs
from routes.executors import ExecutorCosts, default_executor, executor_named
from routes.plan import Plan, parallel_route, plan_of
from routes.predict import scheduled
from routes.run import logged_run
from routes.tasks import tasks_of

#: Time steps of small tasks, which show the overhead of submission.
SMALL = 256

#: Mean number of concurrent threads below which contention cannot be measured.
LEAST_AT_ONCE = 1.5

#: s of work below which contention is neglected.
SHORT = 1e-3

#: Increment of a cost of a task, s, for the difference quotient of the makespan.
_TRIED = 1e-4


def measured_executor(
    model: Model, motion: Motion, level: Level, costs: Costs, name: str, workers: int
) -> ExecutorCosts:
    """Measure the time that an executor adds to tasks, and their slowdown on a number of workers."""
    # Chunks, in parallel and in sequence, give start and slowdown; many small tasks give the overhead of
    # submission; stages of small tasks give the wake-up. Contention of threads is measured with `threads`,
    # before any other executor. Where other programs had the cores, the costs of a task are assumed ones.
    groups = len(costs.groups)
    piece = first_instants(motion, affordable(costs, len(motion.time)))
    instants = len(piece.time)
    apart = together(groups, instants, 4 * workers)
    few, brief = (first_instants(piece, n) for n in (enough_instants(groups, SMALL, instants), SMALL))
    stages = plan_of(model, parallel_route(model), instants=len(brief.time), wait="stage")
    runs = {
        "in sequence": (apart, piece),
        "side by side": (replace(apart, executor=name, workers=workers), piece),
        "small": (alone(groups, len(few.time), SMALL, executor=name, workers=workers), few),
        "stages": (replace(stages, executor=name, workers=workers), brief),
    }
    first = logged_run(model, runs["side by side"][0], piece, level=level, compiled=True).seconds
    timings = timed(model, runs, level, BUDGET)
    sequential, beside = timings["in sequence"], timings["side by side"]
    if executor_named(name).memory == "shared":
        lone = 1.0
        at_once, slower = _contention(sequential, beside)
    else:  # Processor time of other processes is unknown; their contention is that of threads.
        at_once = costs.executor(default_executor()).at_once
        shared = float(costs.slowdown(default_executor(), workers, shared=False))
        slower = max(float(beside.durations.sum() / sequential.durations.sum()), 1.0)
        lone = slower / shared
    found = ExecutorCosts(
        start=max(0.0, beside.around - sequential.around),
        cold=max(0.0, first - float(np.median(beside.seconds))),
        handing=0.0,
        wake=0.0,
        slowdown=((1.0, lone), (float(workers), slower)),
        at_once=at_once,
    )
    if at_once < LEAST_AT_ONCE:  # other programs had the cores
        guess = replace(costs, executors={}).executor(name)
        return replace(found, handing=guess.handing, wake=guess.wake, assumed=True)
    found = _fitted(found, lambda costs, s: replace(costs, handing=s), timings["small"], model, costs)
    return _fitted(found, lambda costs, s: replace(costs, wake=s), timings["stages"], model, costs)


def _contention(sequential: Timing, beside: Timing) -> tuple[float, float]:
    """Mean number of threads that ran at once, and the factor by which their work took longer."""
    # Processor time excludes other programs, so this holds on a busy machine too, if only it let the threads
    # run at once now and then.
    workers = beside.plan.workers
    if np.median(sequential.worked) < SHORT:
        return float(workers), 1.0
    running = beside.worked / beside.spans
    most = int(running.argmax())
    at_once = min(float(running[most]), float(workers))
    if at_once < LEAST_AT_ONCE:
        return at_once, 1.0
    longer = float(beside.worked[most] / np.median(sequential.worked))
    longer = 1.0 + (longer - 1.0) * (workers - 1.0) / (at_once - 1.0)
    return at_once, min(max(longer, 1.0), float(workers))


def _fitted(
    found: ExecutorCosts,
    with_cost: Callable[[ExecutorCosts, float], ExecutorCosts],
    timing: Timing,
    model: Model,
    costs: Costs,
) -> ExecutorCosts:
    """The costs with one of them fitted to the least measured time of a plan."""
    plan: Plan = timing.plan
    tasks = tasks_of(plan, model)
    seconds = costs.task_seconds(tasks, plan)

    def predicted(value: float) -> float:
        trial = replace(costs, executors={plan.executor: with_cost(found, value)})
        return scheduled(tasks, seconds, plan, trial, plan.workers).makespan

    at_least = predicted(0.0)
    steep = (predicted(_TRIED) - at_least) / _TRIED
    value = (float(timing.spans.min()) - at_least) / steep if steep > 0.0 else 0.0
    return with_cost(found, max(0.0, value))
