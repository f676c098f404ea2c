"""Candidate plans of a model: kinds of route, chunks of time, executors, solvers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from groups.model import Model
from mbssa.arrays import Floats
from routes.dag import Dag
from routes.enumeration import TooLarge, best_first
from routes.plan import GRAIN, Plan, Route, plan_of, sequential_route, sequential_with_reactions
from routes.reverse import dag_with_reactions, signed

#: Fewest instants that are worth a chunk of their own.
LEAST = 8 * GRAIN

#: Groups up to which routes are searched; larger models take the route by levels.
SEARCHED = 200

#: Kinds of plan, as a study groups them.
KINDS = {
    "sequential": "one group after another, the whole motion at once",
    "other solvers": "one group after another, each by its cheapest solver on this machine",
    "time chunks": "all groups together, pieces of time side by side",
    "time chunks, other solvers": "pieces of time side by side, each group by its cheapest solver",
    "stages": "groups of a stage side by side, the whole motion at once (PARCSIM)",
    "batched stages": "stages whose equal groups share calls, one for each worker",
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
    forces: bool = False,
) -> Iterator[Candidate]:
    """Plans for a motion, sequential first; of routes, the ``most`` that are predicted best."""
    # `seconds` (G,) are those of each group for the whole motion; with `forces` (2 G,), reactions last. Plans
    # with reactions have one chunk of time.
    alone = plan_of(
        model, sequential_with_reactions(model) if forces else sequential_route(model), instants=instants
    )
    yield Candidate("sequential", alone)
    if solvers:
        yield Candidate("other solvers", replace(alone, solvers=dict(solvers)))
    if workers < 2:
        return
    routes = [
        route
        for route in _best_routes(model, seconds, workers, stage, call, most, forces)
        if any(len(groups) > 1 for groups in route)
    ]
    for executor in executors:
        yield from _on(model, instants, workers, executor, routes, solvers, forces)


def _best_routes(
    model: Model, seconds: Floats, workers: int, stage: float, call: float, most: int, forces: bool
) -> list[Route]:
    """The routes with the least predicted times; the route by levels where no search is possible."""
    dag, groups = dag_with_reactions(model) if forces else Dag.of(model), model.structure.n_groups
    by_levels = signed((tuple(g + 1 for g in level) for level in dag.levels), groups)
    if len(dag) > SEARCHED:
        return [by_levels]
    for symmetry in (True, False):
        try:
            search = best_first(dag, seconds, workers, stage=stage, call=call, symmetry=symmetry)
            return [signed(route, groups) for _, route in islice(search, most)]
        except TooLarge:
            continue
    return [by_levels]


def _on(
    model: Model,
    instants: int,
    workers: int,
    executor: str,
    routes: Sequence[Route],
    solvers: Mapping[int, str],
    forces: bool,
) -> Iterator[Candidate]:
    plan = partial(plan_of, model, instants=instants, executor=executor, workers=workers)

    def counts(*wanted: int) -> list[int]:
        """Numbers of chunks, none of them below the least length."""
        most = 1 if forces else max(1, instants // LEAST)
        return sorted({min(count, most) for count in wanted} - {1})

    for chunks in counts(workers, 2 * workers, 4 * workers):
        whole = plan(sequential_route(model), chunks=chunks)
        yield Candidate("time chunks", whole)
        if solvers:
            yield Candidate("time chunks, other solvers", replace(whole, solvers=dict(solvers)))
    for route in routes:
        yield Candidate("stages", plan(route, wait="stage"))
        batched = plan(route, wait="stage", batch=True)
        if len(batched.calls) < sum(map(len, route)) and max(map(len, batched.stages)) > 1:
            yield Candidate("batched stages", batched)
        for chunks in counts(2 * workers):
            yield Candidate("chunked stages", plan(route, chunks=chunks, batch=True))
