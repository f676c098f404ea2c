"""Candidate plans of a model: kinds of route, chunks of time, executors, solvers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import numpy as np
import numpy.typing as npt

from groups.model import Model
from routes.dag import Dag
from routes.enumeration import TooLarge, best_first
from routes.plan import GRAIN, Plan, Route, parallel_route, plan_of, sequential_route

Floats = npt.NDArray[np.float64]

#: Fewest instants that are worth a chunk of their own.
LEAST = 8 * GRAIN

#: Groups up to which routes are searched; of larger models, the one by levels is taken.
SEARCHED = 200

#: Kinds of plan, as a study groups them.
KINDS = {
    "sequential": "one group after another, the whole motion at once",
    "other solvers": "one group after another, each by its cheapest solver on this machine",
    "time chunks": "all groups together, pieces of time side by side",
    "time chunks, other solvers": "pieces of time side by side, each group by its cheapest solver",
    "stages": "groups of a stage side by side, the whole motion at once (PARCSIM)",
    "batched stages": "stages whose equal groups share calls, one for each worker",
    "pipeline": "groups side by side, each a chunk of time behind those it needs",
    "chunked stages": "groups and pieces of time side by side",
}


@dataclass(frozen=True)
class Candidate:
    """A plan, and which of :data:`KINDS` it is."""

    kind: str
    plan: Plan


def candidates(
    model: Model,
    instants: int,
    *,
    workers: int,
    executors: Sequence[str],
    seconds: Floats,
    stage: float,
    call: float,
    most: int,
    solvers: Mapping[int, str],
) -> Iterator[Candidate]:
    """Plans for a motion, sequential first; of routes, the best predicted come first.

    Parameters
    ----------
    executors : parallel ones
    seconds : (G,) s that each group takes for the whole motion
    stage, call : s that a stage and a call cost beside their groups
    most : routes that are taken
    solvers : by group number, what is cheaper than its own solver
    """
    alone = plan_of(model, sequential_route(model), instants=instants)
    yield Candidate("sequential", alone)
    if solvers:
        yield Candidate("other solvers", replace(alone, solvers=dict(solvers)))
    if workers < 2:
        return
    routes = [
        route
        for route in _best_routes(model, seconds, workers, stage, call, most)
        if any(len(groups) > 1 for groups in route)
    ]
    for executor in executors:
        yield from _on(model, instants, workers, executor, routes, solvers)


def _best_routes(
    model: Model, seconds: Floats, workers: int, stage: float, call: float, most: int
) -> list[Route]:
    """The routes that are predicted to be fastest; the one by levels where they cannot be searched."""
    dag = Dag.of(model)
    if len(dag) > SEARCHED:
        return [parallel_route(model)]
    for symmetry in (True, False):
        try:
            search = best_first(dag, seconds, workers, stage=stage, call=call, symmetry=symmetry)
            return [route for _, route in islice(search, most)]
        except TooLarge:
            continue
    return [parallel_route(model)]


def _on(
    model: Model,
    instants: int,
    workers: int,
    executor: str,
    routes: Sequence[Route],
    solvers: Mapping[int, str],
) -> Iterator[Candidate]:
    plan = partial(plan_of, model, instants=instants, executor=executor, workers=workers)

    def counts(*wanted: int) -> list[int]:
        """Numbers of chunks, none of them too short to be worth its handing over."""
        most = max(1, instants // LEAST)
        return sorted({min(count, most) for count in wanted} - {1})

    for chunks in counts(workers, 2 * workers, 4 * workers):
        whole = plan(sequential_route(model), chunks=chunks, start="seeded")
        yield Candidate("time chunks", whole)
        if solvers:
            yield Candidate("time chunks, other solvers", replace(whole, solvers=dict(solvers)))
    for route in routes:
        yield Candidate("stages", plan(route, wait="stage"))
        batched = plan(route, wait="stage", batch=True)
        if len(batched.calls) < sum(map(len, route)) and max(map(len, batched.stages)) > 1:
            yield Candidate("batched stages", batched)
        for chunks in counts(4, 16):
            yield Candidate("pipeline", plan(route, chunks=chunks))
        for chunks in counts(2 * workers):
            yield Candidate("chunked stages", plan(route, chunks=chunks, start="seeded", batch=True))
