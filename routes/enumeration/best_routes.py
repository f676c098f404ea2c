"""Routes in the order of their predicted times: :func:`best_first`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from math import ceil, log2
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mbssa.arrays import Floats
from mbssa.structure import Structure
from routes.dag import Dag
from routes.enumeration.composition import Shape, TooLarge, compose
from routes.enumeration.listing import DEEPEST, Route, told_apart
from routes.enumeration.partial_order import Closure, members
from routes.enumeration.search import Part, Search

if TYPE_CHECKING:
    from groups.model import Model

#: Integer costs of a whole route stay below this.
_LARGEST = 2.0**60


class BestFirst(Iterator[tuple[float, Route]]):
    """Routes as (predicted seconds, route), which :func:`best_first` makes."""

    def __init__(self, unit: float, parts: Sequence[Search]) -> None:
        self._unit, self._parts = unit, parts
        self._routes = self._sums()

    @property
    def exact(self) -> bool:
        # Whether no route so far has a better one after it or left out. Once it is False, some good routes
        # still come, ascending, and then the iteration ends although there are more.
        return all(part.exact for part in self._parts)

    def __iter__(self) -> BestFirst:
        return self

    def __next__(self) -> tuple[float, Route]:
        cost, choice = next(self._routes)
        stages = [
            tuple(sorted(each.part.groups[x] + 1 for x in members(mask)))
            for each, k in zip(self._parts, choice, strict=True)
            for mask in each[k][1]
        ]
        return cost * self._unit, tuple(stages)

    def _sums(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Choices of a route for each part, the smallest sum of costs first."""
        start = tuple(0 for _ in self._parts)
        queue = [(sum(part[0][0] for part in self._parts), start, 0)]
        while queue:
            cost, choice, first = heappop(queue)
            yield cost, choice
            # Each choice is reached in one way: counters are increased from left to right.
            for i in range(first, len(choice)):
                part = self._parts[i]
                if part.has(choice[i] + 1):
                    more = cost - part[choice[i]][0] + part[choice[i] + 1][0]
                    heappush(queue, (more, (*choice[:i], choice[i] + 1, *choice[i + 1 :]), i))


def best_first(
    source: Dag | Structure | Model,
    seconds: npt.ArrayLike,
    workers: int,
    *,
    stage: float = 0.0,
    call: float = 0.0,
    symmetry: bool = True,
) -> BestFirst:
    """Kinematic routes in the order of their predicted times, lazily.

    Each stage of a route is predicted to take ``stage`` and the longer of its longest group and its work
    shared out evenly; ``call`` adds to each group. That is never more than the true makespan of a stage,
    and less than it by at most a factor of 2; simulating tells more of the few best.

    Parts of the DAG in series are searched apart. In a wide and irregular part the search may have to give up
    the order at some route: :attr:`BestFirst.exact` tells.

    Parameters
    ----------
    source : a DAG, or a structure or model, whose DAG is labelled as :meth:`Dag.of` says
    seconds : (G,) of each group, s
    workers : that share a stage
    stage, call : overheads of a stage and of a group, s
    symmetry : leave out images of earlier routes under automorphisms of the labelled DAG that exchange
        groups of equal seconds only

    Raises
    ------
    ValueError
        Seconds for another number of groups, negative or not finite numbers, no worker: all of them.
    TooLarge
        Parts of the DAG are nested deeper than 150.

    Examples
    --------
    >>> import mbssa
    >>> rotor = mbssa.decompose(mbssa.load("rotor"))
    >>> routes = best_first(rotor, [3e-3, 1e-3, 2e-3, 3e-3, 2e-3, 2e-3, 2e-3], 2, stage=1e-4)
    >>> for time, route in [next(routes), next(routes)]:
    ...     print(f"{time:.4f}", route)
    0.0115 ((1,), (2,), (3, 4), (6,), (5, 7))
    0.0115 ((1,), (2,), (3, 4), (5, 6), (7,))
    """
    dag = source if isinstance(source, Dag) else Dag.of(source)
    costs = _checked(dag, seconds, workers, stage, call) + call
    # Integer units, of which no sum is rounded, so that equal sums compare equal.
    most = workers * (float(costs.sum()) + len(dag) * stage)
    unit = 2.0 ** ceil(log2(most / _LARGEST)) if most else 1.0
    priced = [round(cost / unit) for cost in costs.tolist()]
    if symmetry:
        dag = Dag(dag.needs, tuple(f"{label} {cost}" for label, cost in zip(dag.labels, priced, strict=True)))
    else:
        dag = told_apart(dag)
    overhead = round(stage / unit) * workers
    return BestFirst(unit / workers, [Search(part) for part in _parts(dag, priced, overhead, workers)])


def _checked(dag: Dag, seconds: npt.ArrayLike, workers: int, stage: float, call: float) -> Floats:
    costs = np.asarray(seconds, dtype=np.float64)
    faults = []
    if costs.shape != (len(dag),):
        faults.append(f"seconds has shape {costs.shape}: give one number for each of the {len(dag)} groups")
    elif not (np.isfinite(costs) & (costs >= 0.0)).all():
        wrong = np.flatnonzero(~(np.isfinite(costs) & (costs >= 0.0))) + 1
        faults.append(f"seconds of groups {wrong.tolist()}: give finite numbers, 0 or more")
    if workers < 1:
        faults.append(f"{workers} workers: give 1 or more")
    for name, value in (("stage", stage), ("call", call)):
        if not (np.isfinite(value) and value >= 0.0):
            faults.append(f"{name} = {value}: give a finite number, 0 or more")
    if faults:
        raise ValueError("; ".join(faults))
    return costs


def _parts(dag: Dag, costs: Sequence[int], stage: int, workers: int) -> Iterator[Part]:
    """Parts in series, in their order."""
    if not len(dag):
        return
    composition = compose(dag)
    if composition.shape.depth > DEEPEST:
        raise TooLarge(
            f"parts of the DAG are nested {composition.shape.depth} deep; routes are searched down to "
            f"a depth of {DEEPEST}"
        )
    closure = Closure.of(dag)
    shapes = composition.shape.parts if composition.shape.kind == "series" else (composition.shape,)
    first = 0
    for shape in shapes:
        places = composition.places[first : first + shape.size]
        first += shape.size
        yield _part(dag, closure, shape, places, costs, stage, workers)


def _part(
    dag: Dag,
    closure: Closure,
    shape: Shape,
    places: Sequence[int],
    costs: Sequence[int],
    stage: int,
    workers: int,
) -> Part:
    groups = sorted(places, key=lambda group: (-costs[group], group))
    index = {group: x for x, group in enumerate(groups)}
    twin = [0] * len(groups)
    last: dict[object, int] = {}
    for x, group in enumerate(groups):
        sign = (dag.labels[group], dag.needs[group], dag.needed_by[group])
        if sign in last:
            twin[x] = 1 << last[sign]
        last[sign] = x
    return Part(
        tuple(groups),
        tuple(costs[group] for group in groups),
        tuple(
            sum(1 << index[other] for other in index if closure.below[group] >> other & 1) for group in groups
        ),
        tuple(twin),
        stage,
        workers,
        shape,
        tuple(index[group] for group in places),
    )
