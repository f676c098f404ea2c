"""Constraint units as a flow from joints to bodies, in plain Python, and by SciPy for large mechanisms."""

# Source → joint (its units) → each of its bodies → sink (what the body takes, B). A body passes a unit on
# where another body of the unit's joint takes it instead: chains of such steps are augmenting paths.

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mbssa.arrays import Bools, Ints
from mbssa.decomposition.incidence import Incidence
from mbssa.disjoint_set import DisjointSet

#: Bodies from which SciPy is faster: its import takes as long as plain Python for so many.
LARGE = 5_000


@dataclass(frozen=True, slots=True)
class Flow:
    """Residual graph: units that the body of each slot takes from its joint, and where they could go."""

    body: list[int]  # by slot
    slots: list[list[int]]  # by body
    others: list[list[int]]  # by slot, the other slots of its joint
    taken: list[int]  # by slot

    @staticmethod
    def of(incidence: Incidence, taken: Ints) -> Flow:
        """Lists of a mechanism's arrays."""
        slots, others = incidence.body_slot.tolist(), list[list[int]]()
        for a, b in pairwise(incidence.joint_start.tolist()):
            if b - a == 2:
                others += [a + 1], [a]
            else:
                others += ([*range(a, slot), *range(slot + 1, b)] for slot in range(a, b))
        of_bodies = [slots[a:b] for a, b in pairwise(incidence.body_start.tolist())]
        return Flow(incidence.slot_body.tolist(), of_bodies, others, taken.tolist())

    def pass_on(
        self, root: int, ends: bytearray, closed: bytearray, moves: list[tuple[int, int]]
    ) -> tuple[int, list[int]]:
        """Pass a unit of a body on by the shortest chain: its last body, or -1 and the bodies reached."""
        came: dict[int, tuple[int, int, int] | None] = {root: None}
        queue = [root]
        for body in queue:
            for slot in self.slots[body]:
                if not self.taken[slot]:
                    continue
                for other in self.others[slot]:
                    last = self.body[other]
                    if last in came or closed[last]:
                        continue
                    came[last] = (body, slot, other)
                    if not ends[last]:
                        queue.append(last)
                        continue
                    at = last
                    while (step := came[at]) is not None:
                        at, giving, taking = step
                        self.taken[giving] -= 1
                        self.taken[taking] += 1
                        moves.append((giving, taking))
                    return last, []
        return -1, queue


def assigned(incidence: Incidence) -> Ints:
    """Units (slots,) that bodies take from their joints in a maximum flow."""
    return (_assigned if incidence.n_bodies < LARGE else _assigned_by_scipy)(incidence)


def _assigned(incidence: Incidence) -> Ints:
    flow = Flow.of(incidence, np.zeros(len(incidence.slot_body), dtype=np.int64))
    joint, rest = incidence.slot_joint.tolist(), incidence.units.tolist()
    need = incidence.freedom_of_body.tolist()
    # The body with the fewest units that it could do without is served first, from the joint whose other
    # bodies can spare most, so that few chains remain.
    spare = [sum(rest[joint[slot]] for slot in slots) - n for slots, n in zip(flow.slots, need, strict=True)]
    spare[0] = sum(rest)
    heap = [(spare[body], body) for body in range(1, len(need))]
    heapq.heapify(heap)
    while heap:
        units, body = heapq.heappop(heap)
        if need[body] == 0 or units != spare[body]:
            continue
        slots = flow.slots[body]
        least = {s: min((spare[flow.body[other]] for other in flow.others[s]), default=0) for s in slots}
        for slot in sorted(slots, key=least.__getitem__, reverse=True):
            j = joint[slot]
            units = min(rest[j], need[body])
            rest[j] -= units
            need[body] -= units
            flow.taken[slot] += units
            for other in flow.others[slot] if units else ():
                near = flow.body[other]
                if near and need[near]:
                    spare[near] -= units
                    heapq.heappush(heap, (spare[near], near))
    ends, closed = bytearray(n > 0 for n in need), bytearray(len(need))
    closed[0] = 1
    for slot, j in enumerate(joint):
        while rest[j] and not closed[flow.body[slot]]:
            last, stuck = flow.pass_on(flow.body[slot], ends, closed, [])
            for body in stuck:
                closed[body] = 1  # no unit can leave it any more
            if not stuck:
                flow.taken[slot] += 1
                rest[j] -= 1
                need[last] -= 1
                ends[last] = need[last] > 0
    return np.array(flow.taken, dtype=np.int64)


def _assigned_by_scipy(incidence: Incidence) -> Ints:
    import scipy.sparse
    from scipy.sparse.csgraph import depth_first_order, maximum_flow

    n, n_joints, first = incidence.n_bodies, len(incidence.units), incidence.joint_start[:-1]
    body, joint, freedom = incidence.slot_body, incidence.slot_joint, incidence.freedom_of_body
    # All units begin at a body that can move; the flow takes them from bodies with too many to those with
    # too few. A joint of two bodies is an arc between them; only others, and parallel joints, need a node.
    taken = np.zeros(len(body), dtype=np.int64)
    movable = np.flatnonzero(body)
    joints, begin = np.unique(joint[movable], return_index=True)
    taken[movable[begin]] = incidence.units[joints]
    one, other = first, np.minimum(first + 1, incidence.joint_start[1:] - 1)
    pair = np.minimum(body[one], body[other]) * n + np.maximum(body[one], body[other])
    _, same, times = np.unique(pair, return_inverse=True, return_counts=True)
    simple = (np.diff(incidence.joint_start) == 2) & (times[same] == 1)
    arcs = np.flatnonzero(simple & (body[one] > 0) & (body[other] > 0))
    slots = np.flatnonzero((body > 0) & ~simple[joint])
    # Numbered depth first, what is near in the mechanism is near in memory in whatever numbering it comes.
    shape = (n + n_joints,) * 2
    ends = scipy.sparse.coo_array((np.ones(len(body), dtype=np.int8), (body, joint + n)), shape=shape).tocsr()
    order = depth_first_order(ends + ends.T, 0, return_predecessors=False)
    place = np.full(shape[0], shape[0])
    place[order] = np.arange(len(order))
    used = np.concatenate([np.arange(1, n), n + np.unique(joint[slots])])
    node = np.zeros(shape[0], dtype=np.int32)  # the frame is the source
    node[used[np.argsort(place[used], kind="stable")]] = np.arange(1, len(used) + 1)
    sink = len(used) + 1
    surplus = np.bincount(body, taken, n).astype(np.int64) - freedom
    rich, poor = np.flatnonzero(surplus > 0), np.flatnonzero(surplus < 0)
    tail, head, middle = node[body[one[arcs]]], node[body[other[arcs]]], node[n + joint[slots]]
    rows = np.concatenate([np.zeros(len(rich), dtype=np.int32), node[poor], tail, node[body[slots]], middle])
    columns = np.concatenate(
        [node[rich], np.full(len(poor), sink, dtype=np.int32), head, middle, node[body[slots]]]
    )
    units = incidence.units[joint[slots]]
    capacity = np.concatenate([surplus[rich], -surplus[poor], incidence.units[arcs], taken[slots], units])
    network = scipy.sparse.csr_array((capacity.astype(np.int32), (rows, columns)), shape=(sink + 1,) * 2)
    flow = maximum_flow(network, 0, sink).flow
    # Of no entries SciPy returns no array.
    if len(arcs):
        moved = np.asarray(flow[tail, head], dtype=np.int64)
        taken[one[arcs]] -= moved
        taken[other[arcs]] += moved
    if len(slots):
        taken[slots] += np.asarray(flow[middle, node[body[slots]]], dtype=np.int64)
    # What is still too much has no place.
    row, by_body = np.repeat(incidence.body_start[:-1], np.diff(incidence.body_start)), incidence.body_slot
    before = np.concatenate([[0], np.cumsum(taken[by_body])])
    taken[by_body] = np.clip(freedom[body[by_body]] - (before[:-1] - before[row]), 0, taken[by_body])
    return taken


def strong_components(n: int, body: Ints, needed: Ints) -> tuple[Ints, int]:
    """Strong component (n,) of each body, what it needs before it, and their number."""
    if n >= LARGE:
        import scipy.sparse
        from scipy.sparse.csgraph import connected_components

        graph = scipy.sparse.coo_array((np.ones(len(body), dtype=np.int8), (body, needed)), shape=(n, n))
        count, label = connected_components(graph.tocsr(), connection="strong")
        # They come in an order of the search, which SciPy does not promise to be this one.
        if (label[body] < label[needed]).any():
            label = count - 1 - label
        return np.asarray(label, dtype=np.int64), int(count)
    # Gabow's search without recursion: ``borders`` are the places in ``path`` where components may begin.
    after = rows(n, body, needed)
    place, component = [-1] * n, [-1] * n
    count, path = 0, list[int]()
    for start in range(n):
        if place[start] >= 0:
            continue
        calls, borders = [(start, iter(after[start]))], [len(path)]
        place[start] = len(path)
        path.append(start)
        while calls:
            here, waiting = calls[-1]
            for other in waiting:
                if place[other] < 0:
                    place[other] = len(path)
                    borders.append(len(path))
                    path.append(other)
                    calls.append((other, iter(after[other])))
                    break
                if component[other] < 0:
                    while borders[-1] > place[other]:
                        borders.pop()
            else:
                calls.pop()
                if borders[-1] == place[here]:
                    for member in path[borders.pop() :]:
                        component[member] = count
                    del path[place[here] :]
                    count += 1
    return np.array(component, dtype=np.int64), count


def connected_pieces(n: int, one: Ints, other: Ints) -> Ints:
    """Number (n,) of the connected piece of each body; the frame's is that of 0."""
    if n >= LARGE:
        import scipy.sparse
        from scipy.sparse.csgraph import connected_components

        graph = scipy.sparse.coo_array((np.ones(len(one), dtype=np.int8), (one, other)), shape=(n, n))
        return np.asarray(connected_components(graph.tocsr(), directed=False)[1], dtype=np.int64)
    pieces = DisjointSet(n)
    for a, b in zip(one.tolist(), other.tolist(), strict=True):
        pieces.merge(a, b)
    return np.array([pieces[body] for body in range(n)], dtype=np.int64)


def reached(n: int, start: Bools, tail: Ints, head: Ints) -> Bools:
    """Bodies (n,) that arrows reach from some bodies, and these."""
    result = start.copy()
    if start.any():
        after = rows(n, tail, head)
        queue = np.flatnonzero(start).tolist()
        seen = set(queue)
        for body in queue:
            new = [other for other in after[body] if other not in seen]
            seen.update(new)
            queue += new
        result[queue] = True
    return result


def rows(n: int, row: Ints, column: Ints) -> list[list[int]]:
    """Columns of each row, of (row, column) entries."""
    columns = column[np.argsort(row, kind="stable")].tolist()
    start = [0, *np.cumsum(np.bincount(row, minlength=n)).tolist()]
    return [columns[a:b] for a, b in pairwise(start)]
