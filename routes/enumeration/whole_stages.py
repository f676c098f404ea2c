"""Best routes first where few sets of groups can be solved at some time: the rest of every one is known."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush

import numpy as np
import numpy.typing as npt

from routes.enumeration.part import Part
from routes.enumeration.parts import members

Ints = npt.NDArray[np.int64]

#: Sets of solved groups, and next stages of all of them, up to which everything is worked out beforehand.
MOST_SETS, MOST_STAGES = 6_000, 2_000_000

#: Groups of a part that fit into the bits of an integer of NumPy.
_MOST_GROUPS = 62


def solved_sets(part: Part) -> dict[int, int] | None:
    """All sets of groups that can be solved before the rest, and what is ready then; None if too many."""
    if len(part.groups) > _MOST_GROUPS:
        return None
    ready = {0: part.ready(0)}
    waiting, stages = [0], 0
    while waiting:
        done = waiting.pop()
        stages += 1 << ready[done].bit_count()
        if stages > MOST_STAGES or len(ready) > MOST_SETS:
            return None
        for x in members(ready[done]):
            if part.twin[x] & ~done:
                continue
            more = done | 1 << x
            if more not in ready:
                ready[more] = part.ready(more)
                waiting.append(more)
    return ready


def search(part: Part, ready: dict[int, int]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Routes of a part as (cost, set of groups by stage), the cheapest first; all of them.

    The least cost of the rest is found for every solved set from the last to the first. With that, a route is
    led from stage to stage without a detour: of each beginning only the best next stage that has not been
    tried stands in the queue.
    """
    numbers = np.array(sorted(ready), dtype=np.int64)
    rest = np.zeros(len(numbers), dtype=np.int64)
    # What is solved after a set has that set as a part of it, and so a higher number.
    for place in range(len(numbers) - 2, -1, -1):
        done = int(numbers[place])
        rest[place] = _next_stages(part, done, ready[done], numbers, rest)[1].min()
    sorted_stages: dict[int, tuple[list[int], list[int]]] = {}

    def after(done: int) -> tuple[list[int], list[int]]:
        if done not in sorted_stages:
            sets, costs = _next_stages(part, done, ready[done], numbers, rest)
            order = np.argsort(costs, kind="stable")
            sorted_stages[done] = sets[order].tolist(), costs[order].tolist()
        return sorted_stages[done]

    seen: set[object] = set()
    turn = 0
    least = int(rest[0])
    # Cost, groups that are left, turn; beginning, its groups, its cost, and which of the next stages.
    queue: list[tuple[int, int, int, tuple[int, ...], int, int, int]] = [
        (least, len(part.groups), turn, (), 0, 0, 0)
    ]
    while queue:
        cost, left, _, begun, done, paid, choice = heappop(queue)
        stages, costs = after(done)
        if choice + 1 < len(stages):
            turn += 1
            heappush(queue, (paid + costs[choice + 1], left, turn, begun, done, paid, choice + 1))
        route, now = (*begun, stages[choice]), done | stages[choice]
        if part.alike:
            sign = part.same(route)
            if sign in seen:
                continue
            seen.add(sign)
        if now == part.all:
            yield cost, route
            continue
        spent = cost - int(rest[np.searchsorted(numbers, now)])
        turn += 1
        heappush(queue, (cost, (part.all & ~now).bit_count(), turn, route, now, spent, 0))


def _next_stages(part: Part, done: int, ready: int, numbers: Ints, rest: Ints) -> tuple[Ints, Ints]:
    """All sets that can be the next stage, and what each costs with the best rest after it."""
    stages = np.zeros(1, dtype=np.int64)
    together = np.zeros(1, dtype=np.int64)
    dearest = np.zeros(1, dtype=np.int64)
    for x in members(ready):
        # The dearest come first, and a twin after the one that must not come later.
        base = stages, together, dearest
        before = part.twin[x] & ~done
        if before:
            chosen = (stages & before) != 0
            base = stages[chosen], together[chosen], dearest[chosen]
        stages = np.concatenate([stages, base[0] | 1 << x])
        together = np.concatenate([together, base[1] + part.cost[x]])
        dearest = np.concatenate([dearest, np.maximum(base[2], part.cost[x])])
    stages, together, dearest = stages[1:], together[1:], dearest[1:]
    own = part.stage + np.maximum(part.workers * dearest, together)
    return stages, own + rest[np.searchsorted(numbers, stages | done)]
