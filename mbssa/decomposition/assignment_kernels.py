"""Assignment of units to bodies, orientation and coarse parts, on bare arrays; plain Python or compiled."""

# A *slot* is one (joint, body) incidence. ``given[slot]`` counts the joint's units that its body takes,
# ``rest[j]`` the unassigned units, ``need[b]`` what body b could still take; the frame, 0, takes nothing.
# Always rest[j] + given[slots of j].sum() == units[j] and need[b] + given[slots of b].sum() == B.

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any  # kernels see int64 arrays, and uint8 flags; shapes as in Incidence
#: ``(joint_start, slot_body, slot_joint, body_start, body_slot)`` of :class:`.incidence.Incidence`.
Graph = tuple[Array, Array, Array, Array, Array]
#: A chain of bodies, and per step the slots that give and take the unit.
Chain = tuple[Array, Array, Array]


#: Effort of a search that may not give up.
UNLIMITED = np.int64(1 << 60)


def renumbered(graph: Graph) -> tuple[Array, Array, Graph]:
    """Old indices of bodies (N,) and joints (J,), and the graph numbered depth first from the frame."""
    # Where neighbours are also neighbours in memory, a large mechanism in random numbering is searched about
    # as fast as one numbered as it was built. Depth first keeps the bodies of one group together; breadth
    # first took a third longer.
    joint_start, slot_body, slot_joint, body_start, body_slot = graph
    n = len(body_start) - 1
    bodies = np.zeros(n, dtype=np.int64)
    new_body = np.full(n, -1, dtype=np.int64)
    joints = np.zeros(len(joint_start) - 1, dtype=np.int64)
    seen = np.zeros(len(joint_start) - 1, dtype=np.uint8)
    new_start = np.zeros(len(joint_start), dtype=np.int64)
    waits = np.zeros(n, dtype=np.int64)
    count = 0
    tail = 0
    for start in range(n):
        if new_body[start] >= 0:
            continue
        waits[0] = start
        new_body[start] = n  # on the stack
        height = 1
        while height > 0:
            height -= 1
            b = waits[height]
            bodies[tail] = b
            new_body[b] = tail
            tail += 1
            for place in range(body_start[b], body_start[b + 1]):
                j = slot_joint[body_slot[place]]
                if seen[j] == 1:
                    continue
                seen[j] = 1
                joints[count] = j
                new_start[count + 1] = new_start[count] + joint_start[j + 1] - joint_start[j]
                count += 1
                for slot in range(joint_start[j], joint_start[j + 1]):
                    v = slot_body[slot]
                    if new_body[v] < 0:
                        new_body[v] = n
                        waits[height] = v
                        height += 1
    new_slot_body = np.zeros(len(slot_body), dtype=np.int64)
    new_slot_joint = np.zeros(len(slot_body), dtype=np.int64)
    for j in range(count):
        slot = joint_start[joints[j]]
        for place in range(new_start[j], new_start[j + 1]):
            new_slot_body[place] = new_body[slot_body[slot]]
            new_slot_joint[place] = j
            slot += 1
    new_body_start = np.zeros(n + 1, dtype=np.int64)
    for b in range(n):
        new_body_start[b + 1] = new_body_start[b] + body_start[bodies[b] + 1] - body_start[bodies[b]]
    fill = new_body_start.copy()
    new_body_slot = np.zeros(len(slot_body), dtype=np.int64)
    for slot in range(len(slot_body)):
        b = new_slot_body[slot]
        new_body_slot[fill[b]] = slot
        fill[b] += 1
    return bodies, joints, (new_start, new_slot_body, new_slot_joint, new_body_start, new_body_slot)


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


def without_place(graph: Graph, given: Array, rest: Array) -> Array:
    """Over-constrained part (N,) of a maximum assignment: 1 for bodies that units without a place reach."""
    n = len(graph[3]) - 1
    far = np.zeros(n, dtype=np.int64)
    lengths(graph, given, rest, far, np.zeros(n, dtype=np.int64))
    over = np.zeros(n, dtype=np.uint8)
    for b in range(1, n):
        if far[b] < n:
            over[b] = 1
    return over


def short_of_units(
    graph: Graph,
    given: Array,
    need: Array,
) -> Array:
    """Under-constrained part (N,), uint8: 1 for the bodies whose units a free one could take."""
    joint_start, slot_body, slot_joint, body_start, body_slot = graph
    n = len(need)
    under = np.zeros(n, dtype=np.uint8)
    queue: list[Any] = [np.int64(0) for _ in range(0)]
    for b in range(1, n):
        if need[b] > 0:
            under[b] = 1
            queue.append(np.int64(b))
    head = 0
    while head < len(queue):
        b = queue[head]
        head += 1
        for place in range(body_start[b], body_start[b + 1]):
            j = slot_joint[body_slot[place]]
            for other in range(joint_start[j], joint_start[j + 1]):
                v = slot_body[other]
                if given[other] > 0 and under[v] == 0:
                    under[v] = 1
                    queue.append(v)
    return under
