"""Assignment, components and rigid sub-chains on bare arrays; plain Python or compiled."""

# A *slot* is one (joint, body) incidence. ``given[slot]`` counts the joint's units that its body takes,
# ``rest[j]`` the unassigned units, ``need[b]`` what body b could still take; the frame, 0, takes nothing.
# Always rest[j] + given[slots of j].sum() == units[j] and need[b] + given[slots of b].sum() == B.

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np

from mbssa.compiled import chosen

P = ParamSpec("P")
R = TypeVar("R")

Array = Any  # kernels see int64 arrays, and uint8 flags; shapes as in Incidence
#: ``(joint_start, slot_body, slot_joint, body_start, body_slot)`` of :class:`.incidence.Incidence`.
Graph = tuple[Array, Array, Array, Array, Array]
#: A chain of bodies, and per step the slots that give and take the unit.
Chain = tuple[Array, Array, Array]


#: Effort of a search that may not give up.
UNLIMITED = np.int64(1 << 60)

#: Seconds for a unit of the work (bodies + joints) of a structural kernel in plain Python, and for compiling.
PER_WORK, COMPILING = 1.4e-5, 3.4
#: Work from which structural kernels compile at the first call, on an empty cache too.
WORTH_COMPILING = 20_000


def kernel(function: Callable[P, R], work: int) -> Callable[P, R]:
    """A structural kernel for so much work (bodies + joints): :func:`chosen`."""
    return chosen(
        function, PER_WORK * work, compiling=COMPILING, ask=True if work >= WORTH_COMPILING else None
    )


def assign(graph: Graph, given: Array, rest: Array, need: Array) -> None:
    """Assign as many units to bodies as can be, in place."""
    # The body with the least slack (units within reach that it could do without) is served first, from the
    # joint whose other end is the richest; chains come last and are short so. ``far[b]``, a bound of the
    # length of b's chain (N: none), never falls; true lengths replace it once the searches have cost as much.
    joint_start, slot_body, slot_joint, body_start, body_slot = graph
    n = len(need)
    slack = np.zeros(n, dtype=np.int64)
    for b in range(1, n):
        slack[b] = -need[b]
        for place in range(body_start[b], body_start[b + 1]):
            slack[b] += rest[slot_joint[body_slot[place]]]
        slack[b] = max(slack[b], 0)
    # Bodies not served yet, in one doubly linked list for each slack, last in, first out:
    # a body whose slack has just fallen is near the one just served.
    first = np.full(slack.max() + 1, -1, dtype=np.int64)
    after = np.full(n, -1, dtype=np.int64)
    before = np.full(n, -1, dtype=np.int64)
    for b in range(n - 1, 0, -1):
        enlist(b, slack[b], first, after, before)
    waits = np.ones(n, dtype=np.uint8)
    waits[0] = 0
    far = np.zeros(n, dtype=np.int64)
    pointer = body_start[:n].copy()
    seen = np.zeros(n, dtype=np.uint8)
    chain = (np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64))
    cost = 0
    least = 0
    for _ in range(1, n):
        while first[least] < 0:
            least += 1
        b = first[least]
        delist(b, least, first, after, before)
        waits[b] = 0
        while need[b] > 0:
            slot = richest(graph, b, rest, waits, slack)
            take = np.int64(1)
            if slot >= 0:
                j = slot_joint[slot]
                take = min(rest[j], need[b])
                given[slot] += take
                rest[j] -= take
            else:
                j, spent = search(graph, b, len(slot_body) - cost, given, rest, far, pointer, chain, seen)
                cost += spent
                if cost >= len(slot_body):
                    lengths(graph, given, rest, far, chain[0])
                    pointer[:] = body_start[:n]
                    cost = 0
                    if j < 0:
                        # By true lengths the first descent arrives, so this search needs no limit.
                        j, cost = fetch(graph, b, UNLIMITED, given, rest, far, pointer, chain)
                if j < 0:
                    break
            need[b] -= take
            for other in range(joint_start[j], joint_start[j + 1]):
                v = slot_body[other]
                if waits[v] == 1 and slack[v] > 0:
                    delist(v, slack[v], first, after, before)
                    slack[v] = max(slack[v] - take, 0)
                    enlist(v, slack[v], first, after, before)
                    least = min(least, slack[v])


def enlist(b: Any, key: Any, first: Array, after: Array, before: Array) -> None:
    """Put b at the head of the list ``key``."""
    second = first[key]
    before[b] = -1
    after[b] = second
    if second >= 0:
        before[second] = b
    first[key] = b


def delist(b: Any, key: Any, first: Array, after: Array, before: Array) -> None:
    """Take b out of the list ``key``."""
    if before[b] >= 0:
        after[before[b]] = after[b]
    else:
        first[key] = after[b]
    if after[b] >= 0:
        before[after[b]] = before[b]


def richest(graph: Graph, b: Any, rest: Array, waits: Array, slack: Array) -> Any:
    """Slot of body b whose joint has units left that the others can best do without; -1: none."""
    # A joint whose other bodies are all served comes first.
    joint_start, slot_body, slot_joint, body_start, body_slot = graph
    best = np.int64(-1)
    wealth = np.int64(-1)
    for place in range(body_start[b], body_start[b + 1]):
        slot = body_slot[place]
        j = slot_joint[slot]
        if rest[j] == 0:
            continue
        poorest = np.int64(1 << 60)
        for other in range(joint_start[j], joint_start[j + 1]):
            v = slot_body[other]
            if v != b and waits[v] == 1:
                poorest = min(poorest, slack[v])
        if poorest > wealth:
            wealth = poorest
            best = slot
    return best


def search(
    graph: Graph,
    root: Any,
    most: Any,
    given: Array,
    rest: Array,
    far: Array,
    pointer: Array,
    chain: Chain,
    seen: Array,
) -> tuple[Any, Any]:
    """Search as :func:`fetch` with growing effort, and by :func:`enclose` for whether a unit can come."""
    # The bound of a body that no free unit can reach, and those of the few bodies around it, would rise to N
    # by ones and twos; enclose settles them at once.
    effort = np.int64(1024)
    cost = np.int64(0)
    while True:
        j, spent = fetch(graph, root, min(effort, most - cost), given, rest, far, pointer, chain)
        cost += spent
        if j >= 0 or far[root] >= len(far) or cost >= most:
            return j, cost
        cost += enclose(graph, root, effort, given, rest, far, seen, chain[0])
        effort *= 4


def enclose(
    graph: Graph, root: Any, most: Any, given: Array, rest: Array, far: Array, seen: Array, queue: Array
) -> Any:
    """Set ``far`` to N around ``root`` if under ``most`` slots show no free unit; return those visited."""
    joint_start, slot_body, slot_joint, body_start, body_slot = graph
    n = len(far)
    queue[0] = root
    seen[root] = 1
    head = 0
    tail = 1
    cost = 0
    closed = True
    while closed and head < tail:
        b = queue[head]
        head += 1
        for place in range(body_start[b], body_start[b + 1]):
            j = slot_joint[body_slot[place]]
            cost += 1
            if rest[j] > 0 or cost >= most:
                closed = False
                break
            for other in range(joint_start[j], joint_start[j + 1]):
                v = slot_body[other]
                if given[other] > 0 and seen[v] == 0 and far[v] < n:
                    seen[v] = 1
                    queue[tail] = v
                    tail += 1
    for place in range(tail):
        seen[queue[place]] = 0
        if closed:
            far[queue[place]] = n
    return cost


def fetch(
    graph: Graph, root: Any, most: Any, given: Array, rest: Array, far: Array, pointer: Array, chain: Chain
) -> tuple[Any, Any]:
    """Bring a unit to ``root`` along a chain of bodies; its joint (-1: none), and the slots visited."""
    # Depth first along falling ``far``; a body from which no chain continues has its bound raised.
    # ``pointer[b]`` is the place among b's slots up to which nothing has that bound. With true lengths the
    # first descent succeeds, so the search ends once it has cost ``most`` slots.
    joint_start, slot_body, slot_joint, body_start, body_slot = graph
    call, gave, took = chain
    n = len(far)
    depth = 0
    call[0] = root
    cost = 0
    # A body that has no chain at all is known by its bound, without cost.
    while far[root] < n and cost < most:
        b = call[depth]
        forward = False
        while far[b] < n and pointer[b] < body_start[b + 1] and not forward:
            slot = body_slot[pointer[b]]
            j = slot_joint[slot]
            cost += 1
            if far[b] == 0 and rest[j] > 0:
                rest[j] -= 1
                given[slot] += 1
                for step in range(1, depth + 1):
                    given[gave[step]] -= 1
                    given[took[step]] += 1
                return j, cost
            for other in range(joint_start[j], joint_start[j + 1]):
                v = slot_body[other]
                if given[other] > 0 and far[v] == far[b] - 1:
                    depth += 1
                    call[depth] = v
                    gave[depth] = other
                    took[depth] = slot
                    forward = True
                    break
            if not forward:
                pointer[b] += 1
        if forward:
            continue
        # No neighbour is one step nearer: b is one step farther than the nearest that holds a unit.
        nearest = n
        for place in range(body_start[b], body_start[b + 1]):
            j = slot_joint[body_slot[place]]
            cost += 1
            for other in range(joint_start[j], joint_start[j + 1]):
                if given[other] > 0 and slot_body[other] != b:
                    nearest = min(nearest, far[slot_body[other]] + 1)
        far[b] = nearest
        pointer[b] = body_start[b]
        if depth > 0:
            depth -= 1
    return -1, cost


def lengths(graph: Graph, given: Array, rest: Array, far: Array, queue: Array) -> None:
    """Write lengths of chains to ``far``: bodies that pass a unit on before a free one reaches each."""
    joint_start, slot_body, slot_joint, body_start, body_slot = graph
    n = len(far)
    far[:] = n
    head = 0
    tail = 0
    for j in range(len(rest)):
        if rest[j] == 0:
            continue
        for slot in range(joint_start[j], joint_start[j + 1]):
            v = slot_body[slot]
            if v > 0 and far[v] == n:
                far[v] = 0
                queue[tail] = v
                tail += 1
    while head < tail:
        b = queue[head]
        head += 1
        for place in range(body_start[b], body_start[b + 1]):
            slot = body_slot[place]
            if given[slot] == 0:
                continue
            j = slot_joint[slot]
            for other in range(joint_start[j], joint_start[j + 1]):
                v = slot_body[other]
                if v > 0 and far[v] == n:
                    far[v] = far[b] + 1
                    queue[tail] = v
                    tail += 1


def components(
    graph: Graph,
    given: Array,
    excluded: Array,
) -> tuple[Array, int]:
    """Components (N,) of bodies, which depend on the others of joints that give them units; their number."""
    # Tarjan's algorithm without recursion; the component of the frame and of the excluded bodies is -1.
    joint_start, slot_body, slot_joint, body_start, body_slot = graph
    n = len(excluded)
    label = np.full(n, -1, dtype=np.int64)
    found = np.full(n, -1, dtype=np.int64)
    low = np.zeros(n, dtype=np.int64)
    pointer = np.zeros(n, dtype=np.int64)
    inner = np.zeros(n, dtype=np.int64)
    stack = np.zeros(n, dtype=np.int64)
    call = np.zeros(n, dtype=np.int64)
    height = 0
    clock = 0
    count = 0
    for start in range(1, n):
        if found[start] >= 0 or excluded[start] == 1:
            continue
        depth = 0
        call[0] = start
        found[start] = clock
        low[start] = clock
        clock += 1
        pointer[start] = body_start[start]
        inner[start] = 0
        stack[height] = start
        height += 1
        while depth >= 0:
            b = call[depth]
            descended = False
            while pointer[b] < body_start[b + 1]:
                slot = body_slot[pointer[b]]
                j = slot_joint[slot]
                size = joint_start[j + 1] - joint_start[j]
                if given[slot] == 0 or inner[b] >= size:
                    pointer[b] += 1
                    inner[b] = 0
                    continue
                v = slot_body[joint_start[j] + inner[b]]
                inner[b] += 1
                if v == 0 or v == b or excluded[v] == 1:
                    continue
                if found[v] < 0:
                    found[v] = clock
                    low[v] = clock
                    clock += 1
                    pointer[v] = body_start[v]
                    inner[v] = 0
                    stack[height] = v
                    height += 1
                    depth += 1
                    call[depth] = v
                    descended = True
                    break
                if label[v] < 0 and found[v] < low[b]:
                    low[b] = found[v]
            if descended:
                continue
            if low[b] == found[b]:
                while True:
                    height -= 1
                    v = stack[height]
                    label[v] = count
                    if v == b:
                        break
                count += 1
            depth -= 1
            if depth >= 0 and low[b] < low[call[depth]]:
                low[call[depth]] = low[b]
    return label, count


def rigid_subchains(graph: Graph, given: Array, label: Array, freedom: Array) -> tuple[Array, Array]:
    """Violating sub-chain (N,) of each body, -1: none; and the surplus of each, ``units - B(n - 1)``."""
    # In a (B, B)-sparse component every set X of bodies receives at least B units from outside X. A body that
    # can hand B units on to known bodies proves that of each X around it, and becomes known; else the bodies
    # reached violate it. Units received are submodular: the smallest such sets are disjoint and unique.
    joint_start, slot_body, slot_joint, body_start, body_slot = graph
    n = len(label)
    given = given.copy()
    known = np.zeros(n, dtype=np.uint8)
    known[0] = 1
    bad = np.full(n, -1, dtype=np.int64)
    surplus = [np.int64(0) for _ in range(0)]
    size = np.zeros(n, dtype=np.int64)
    least = np.full(n, 1 << 40, dtype=np.int64)
    for b in range(1, n):
        if label[b] >= 0:
            size[label[b]] += 1
            # A milder test where a component has several B: ranks decide there.
            least[label[b]] = min(least[label[b]], freedom[b])
    waits = np.zeros(n, dtype=np.uint8)
    queue: list[Any] = [np.int64(0) for _ in range(0)]
    moves: list[Any] = [np.int64(0) for _ in range(0)]
    stamp = np.full(n, -1, dtype=np.int64)
    trail = (np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64))
    reached = np.zeros(n, dtype=np.int64)
    for start in range(1, n):
        if label[start] < 0 or size[label[start]] == 1 or known[start] == 1:
            continue
        queue.append(np.int64(start))
        while len(queue) > 0:
            b = queue.pop()
            waits[b] = 0
            if known[b] == 1:
                continue
            moves.clear()
            most = least[label[b]]
            released, count = release(graph, b, most, given, label, known, stamp, reached, trail, moves)
            if released < most:
                released, count = smallest(
                    graph, b, released, count, given, label, known, stamp, reached, trail, moves
                )
                # Bodies that are not in the sub-chain are tried again, from where they were.
                for move in moves:
                    if move > 0:
                        given[move - 1] -= 1
                    else:
                        given[-move - 1] += 1
                for place in range(count):
                    bad[reached[place]] = len(surplus)
                surplus.append(np.int64(most - released))
                if bad[b] < 0:
                    queue.append(b)
            else:
                reached[0] = b
                count = 1
            for place in range(count):
                known[reached[place]] = 1
            # Next to known bodies first: their units have a short way to go.
            for place in range(count):
                u = reached[place]
                for at in range(body_start[u], body_start[u + 1]):
                    j = slot_joint[body_slot[at]]
                    for slot in range(joint_start[j], joint_start[j + 1]):
                        v = slot_body[slot]
                        if label[v] == label[b] and known[v] == 0 and waits[v] == 0:
                            waits[v] = 1
                            queue.append(v)
    result = np.zeros(len(surplus), dtype=np.int64)
    for number in range(len(surplus)):
        result[number] = surplus[number]
    return bad, result


def release(
    graph: Graph,
    root: Any,
    most: Any,
    given: Array,
    label: Array,
    known: Array,
    stamp: Array,
    reached: Array,
    trail: Chain,
    moves: Any,
) -> tuple[Any, Any]:
    """Hand up to ``most`` units of ``root`` on to known bodies of its component; units, bodies visited."""
    # The visited ones are the first of ``reached``, counted where fewer than ``most`` were released.
    # ``moves`` gains the changed slots: slot + 1 for a unit more, else -(slot + 1).
    joint_start, slot_body, slot_joint, body_start, body_slot = graph
    came_from, came_by, came_to = trail
    released = 0
    while released < most:
        reached[0] = root
        stamp[root] = root
        head = 0
        tail = 1
        end = np.int64(-1)
        while head < tail and end < 0:
            u = reached[head]
            head += 1
            for place in range(body_start[u], body_start[u + 1]):
                slot = body_slot[place]
                if given[slot] == 0:
                    continue
                j = slot_joint[slot]
                for other in range(joint_start[j], joint_start[j + 1]):
                    v = slot_body[other]
                    if v == u:
                        continue
                    if known[v] == 1 or label[v] != label[root]:
                        end = slot
                        break
                    if stamp[v] != root:
                        stamp[v] = root
                        came_from[v] = u
                        came_by[v] = slot
                        came_to[v] = other
                        reached[tail] = v
                        tail += 1
                if end >= 0:
                    break
        for place in range(tail):
            stamp[reached[place]] = -1
        if end < 0:
            return released, tail
        # The units of known bodies are not used any more.
        given[end] -= 1
        moves.append(-end - 1)
        u = slot_body[end]
        while u != root:
            given[came_to[u]] += 1
            moves.append(came_to[u] + 1)
            given[came_by[u]] -= 1
            moves.append(-came_by[u] - 1)
            u = came_from[u]
        released += 1
    return released, np.int64(0)


def smallest(
    graph: Graph,
    root: Any,
    released: Any,
    count: Any,
    given: Array,
    label: Array,
    known: Array,
    stamp: Array,
    reached: Array,
    trail: Chain,
    moves: Any,
) -> tuple[Any, Any]:
    """Units received and size of the smallest violating set in ``reached``, which begins with its bodies."""
    # A body that can hand one unit more than ``released`` on to ``root`` has its least set around ``root``
    # too. If all can, the set is the smallest; a body that cannot has reached a smaller one.
    bodies = reached[:count].copy()
    proven = [root]
    at = 0
    known[root] = 1
    # In the order of ``reached`` each body comes after one it shares a joint with.
    while at < len(bodies):
        b = bodies[at]
        at += 1
        if known[b] == 1:
            continue
        fewer, tail = release(graph, b, released + 1, given, label, known, stamp, reached, trail, moves)
        known[b] = 1
        proven.append(b)
        if fewer <= released:
            released = fewer
            bodies = reached[:tail].copy()
            at = 0
    for b in proven:
        known[b] = 0
    reached[: len(bodies)] = bodies
    return released, len(bodies)
