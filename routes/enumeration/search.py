"""Best-first search for the routes of one part of a DAG: groups join a stage one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush, heappushpop
from itertools import islice
from typing import NamedTuple

import numpy as np

from mbssa.arrays import Ints
from routes.enumeration.composition import Shape
from routes.enumeration.listing import State, canonical
from routes.enumeration.partial_order import members

#: Partial routes evaluated before exact order is given up, and how many more for each complete route.
PATIENCE, MORE = 30_000, 60

#: Routes found after that, and partial routes evaluated before depth weighs more.
LAST, LAST_PATIENCE = 2_000, 10_000

#: Number of increases of the weight of depth, the last of which completes a route directly.
_MOST_EAGER = 40

#: Costs at which heights are compared.
_THRESHOLDS = 64


@dataclass(frozen=True, eq=False)
class Part:
    """Series part of a DAG, the most costly groups first: all other groups precede or follow all of it."""

    # Costs are integers, so that equal routes have equal sums: a stage costs `stage` and the larger of
    # `workers` times its most costly group and all its groups together.

    groups: tuple[int, ...]  # indices in the DAG
    cost: tuple[int, ...]  # by group, none more than the one before
    needs: tuple[int, ...]  # by group, a bit mask of groups of the part
    twin: tuple[int, ...]  # by group, a bit mask of the equivalent group that must not come later; or 0
    stage: int
    workers: int
    shape: Shape
    places: tuple[int, ...]  # groups (indices here) at the places of the shape

    @cached_property
    def all(self) -> int:
        """The set of all groups."""
        return (1 << len(self.groups)) - 1

    @cached_property
    def alike(self) -> bool:
        """Whether routes can be the same in other ways than by exchanging single groups."""
        return _alike(self.shape)

    def ready(self, done: int) -> int:
        """The groups that can be solved after the groups ``done``."""
        left = self.all & ~done
        return sum(1 << x for x in members(left) if not self.needs[x] & ~done)

    def stage_cost(self, largest: int, together: int) -> int:
        return self.stage + max(self.workers * largest, together)

    def same(self, stages: Sequence[int], undecided: int = 0) -> State:
        """Canonical form of partial routes: sets of groups by stage, of those that can join the last."""
        stage_of = [0] * len(self.groups)
        for x in members(undecided):
            stage_of[x] = -1
        for number, mask in enumerate(stages, start=1):
            for x in members(mask):
                stage_of[x] = number
        return canonical(self.shape, [stage_of[x] for x in self.places])


#: What a partial route has from ``stages`` on.
_State = tuple[tuple[int, ...], int, int, int, int, int, int, int]


class _Partial(NamedTuple):
    """Partial route; sorted by bound, then by the number of groups left."""

    bound: int
    left: int
    turn: int
    stages: tuple[int, ...]  # closed ones
    done: int  # groups of the closed stages
    open: int  # groups of the open stage
    undecided: int  # groups that can still join the open stage
    paid: int  # cost of the closed stages
    largest: int  # highest cost in the open stage
    together: int  # sum of the costs in the open stage
    work: int  # cost of the groups in no stage


class Search:
    """Routes of a part as (cost, set of groups by stage), the cheapest first."""

    # The bound of a beginning: later stages are at least as many as the groups that must come later are high;
    # for any price, at least so many of them have a group that is so dear; and all work must be done.

    def __init__(self, part: Part) -> None:
        self.part, self.exact = part, True
        self._drops, self._heights = _heights(part)
        self._bounds: dict[int, tuple[int, int]] = {}
        self._ready: dict[int, int] = {}
        self._seen: set[object] = set()
        self._turn = 0
        self._found: list[tuple[int, tuple[int, ...]]] = []
        self._more = self._routes()

    def has(self, k: int) -> bool:
        """Whether there is a route k, from 0; searches it if it was not found yet."""
        self._found += islice(self._more, max(0, k + 1 - len(self._found)))
        return k < len(self._found)

    def __getitem__(self, k: int) -> tuple[int, tuple[int, ...]]:
        if not self.has(k):
            raise IndexError(k)
        return self._found[k]

    def _routes(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        queue: list[_Partial] = []
        partial: _Partial | None = self._opened((), 0, 0, sum(self.part.cost), 0)
        patience = PATIENCE
        while partial is not None and patience > 0:
            patience -= 1
            if partial.left:
                partial = _next(queue, self._on(partial, 0))
            else:
                patience += MORE
                yield partial.bound, (*partial.stages, partial.open)
                partial = _next(queue, [])
        if partial is not None:
            # False once the order is given up: then come the best of some 2,000 routes that were found, in
            # order among themselves, and no more.
            self.exact = False
            yield from sorted(self._some([partial, *queue]))

    def _some(self, queue: list[_Partial]) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Go on with bounds that grow as if all that is left cost more, each group its share."""
        # The share rises until routes are found, however much better their beginnings could have gone on.
        least = min(partial.bound for partial in queue)
        share = max(1, (self._by_levels() - least) // len(self.part.groups))
        queue = [partial._replace(bound=partial.bound + share * partial.left) for partial in queue]
        heapify(queue)
        partial: _Partial | None = heappop(queue)
        found = 0
        for eagerness in range(_MOST_EAGER):
            for _ in range(LAST_PATIENCE):
                if partial is None or found == LAST:
                    return
                if partial.left:
                    partial = _next(queue, self._on(partial, share))
                else:
                    found += 1
                    yield partial.bound, (*partial.stages, partial.open)
                    partial = _next(queue, [])
            if partial is None or (found and eagerness >= 2):
                return
            queue = [one._replace(bound=one.bound + 3 * share * one.left) for one in [partial, *queue]]
            share *= 4
            heapify(queue)
            partial = heappop(queue)

    def _on(self, partial: _Partial, share: int) -> list[_Partial]:
        """Decide whether the next group joins the open stage; if none is left to decide on, close it."""
        part = self.part
        left, (stages, done, open_, undecided, paid, largest, together, work) = partial.left, partial[3:]
        while undecided:
            bit = undecided & -undecided
            undecided ^= bit
            x = bit.bit_length() - 1
            if part.twin[x] & ~(done | open_):
                continue
            cost = part.cost[x]
            larger = largest if largest > cost else cost
            joined = stages, done, open_ | bit, undecided, paid, larger, together + cost, work - cost
            ways = [self._bounded(left - 1, joined, share)]
            if open_ or undecided:
                apart = stages, done, open_, undecided, paid, largest, together, work
                ways.append(self._bounded(left, apart, share))
            return [way for way in ways if self._is_new(way)] if part.alike else ways
        if not open_:
            return []
        paid += part.stage_cost(largest, together)
        closed = self._opened((*stages, open_), done | open_, paid, work, share)
        return [closed] if not part.alike or self._is_new(closed) else []

    def _is_new(self, partial: _Partial) -> bool:
        """Whether no equivalent partial route was found before."""
        sign = len(partial.stages), self.part.same((*partial.stages, partial.open), partial.undecided)
        new = sign not in self._seen
        self._seen.add(sign)
        return new

    def _opened(self, stages: tuple[int, ...], done: int, paid: int, work: int, share: int) -> _Partial:
        if done not in self._ready:
            self._ready[done] = self.part.ready(done)
        left = len(self.part.groups) - done.bit_count()
        return self._bounded(left, (stages, done, 0, self._ready[done], paid, 0, 0, work), share)

    def _bounded(self, left: int, state: _State, share: int) -> _Partial:
        part, (_, done, open_, undecided, paid, largest, together, work) = self.part, state
        later = part.all & ~(done | open_ | undecided)
        if later not in self._bounds:
            self._bounds[later] = self._bound(later)
        high, cost = self._bounds[later]
        own = max(part.workers * largest, together)
        bound = paid + part.stage * (1 + high) + max(own + cost, together + work) + share * left
        self._turn -= 1
        return _Partial(bound, left, self._turn, *state)

    def _bound(self, later: int) -> tuple[int, int]:
        """Number of stages of the groups that must come later, and their cost without overheads."""
        count = len(self.part.groups)
        data = np.frombuffer(later.to_bytes((count + 7) // 8, "little"), dtype=np.uint8)
        chosen = np.unpackbits(data, count=count, bitorder="little")
        high = (self._heights * chosen).max(axis=1)
        work = sum(self.part.cost[x] for x in members(later))
        return int(high[-1]), max(self.part.workers * int(self._drops @ high), work)

    def _by_levels(self) -> int:
        part, done, cost = self.part, 0, 0
        while done != part.all:
            ready = part.ready(done)
            costs = [part.cost[x] for x in members(ready)]
            cost += part.stage_cost(max(costs), sum(costs))
            done |= ready
        return cost


def _next(queue: list[_Partial], ways: list[_Partial]) -> _Partial | None:
    """The best partial route of the new ones and the queue; the others enter the queue."""
    for way in ways[1:]:
        heappush(queue, way)
    if ways:
        return heappushpop(queue, ways[0])
    return heappop(queue) if queue else None


def _heights(part: Part) -> tuple[Ints, Ints]:
    """Decreasing cost thresholds (K,); longest chains from each group of so costly groups (K, G)."""
    prices = sorted(set(part.cost), reverse=True)
    if len(prices) > _THRESHOLDS:
        chosen = np.linspace(0, len(prices) - 1, _THRESHOLDS).astype(np.int64)
        prices = [prices[k] for k in chosen.tolist()]
    above: list[list[int]] = [[] for _ in part.groups]
    for x, needs in enumerate(part.needs):
        for before in members(needs):
            above[before].append(x)
    order = sorted(range(len(part.groups)), key=lambda x: part.needs[x].bit_count(), reverse=True)
    heights = np.zeros((len(prices), len(part.groups)), dtype=np.int64)
    for x in order:
        after = heights[:, above[x]].max(axis=1, initial=0)
        heights[:, x] = after + (part.cost[x] >= np.array(prices))
    return -np.diff(np.array([*prices, 0])), heights


def _alike(shape: Shape) -> bool:
    if shape.turns:
        return True
    large = [part for part in shape.parts if part.kind != "single"]
    if shape.kind == "parallel" and len({part.number for part in large}) < len(large):
        return True
    return any(map(_alike, large))
