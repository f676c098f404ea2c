"""The search on bare arrays: orientation, coarse parts, sparsity, strong components, numbering.

Every function here runs as plain Python or compiled (:mod:`mbssa.compiled`), so it uses only scalars,
arrays, tuples, lists and ``heapq``.

Vocabulary. A *slot* is one (joint, body) incidence: slots ``joint_start[j] … joint_start[j + 1] - 1``
belong to joint j, ``slot_body`` names the body, ``slot_joint`` the joint. A body's slots are
``body_slot[body_start[b] : body_start[b + 1]]``. ``given[slot]`` is the number of the joint's
constraint units that its body takes, ``rest[j]`` the units nobody takes, ``need[b]`` the units that
body b could still take. Body 0 is the frame: it takes nothing. What must hold always:
``rest[j] + given[slots of j].sum() == units[j]`` and ``need[b] + given[slots of b].sum() == B``.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

Array = Any  # kernels see int64 arrays, and uint8 flags; shapes are said in the docstrings
#: ``(joint_start, slot_body, slot_joint, body_start, body_slot)`` as above.
Graph = tuple[Array, Array, Array, Array, Array]
#: A chain of bodies, and per step the slots that give and take the unit.
Chain = tuple[Array, Array, Array]


#: Effort of a search that may not give up.
UNLIMITED = np.int64(1 << 60)


def renumbered(graph: Graph) -> tuple[Array, Array, Graph]:
    """The same graph with bodies and joints numbered depth first from the frame.

    The search walks from body to body; where neighbours are also neighbours in memory, a large
    mechanism in random numbering is searched about as fast as one that is numbered as it was built.
    Depth first keeps the bodies of one group together; breadth first took a third longer.

    Returns
    -------
    (N,) the old index of each new body (the frame stays 0), (J,) the old index of each new joint, and
    the new graph.
    """
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
    """A maximum assignment of units to bodies, in place.

    Bodies are served once each, the one with the least slack first: slack is the number of units
    within reach that a body could do without. A body takes from the joint whose other end is the
    richest, which keeps poor neighbours from starving. Where nothing is left within reach, a unit
    comes along a chain of bodies that were served before (:func:`fetch`). Most units are still free
    when that happens, so the chains are short; serving everybody first and mending at the end would
    leave chains that cross the whole mechanism.

    ``far[b]`` is a lower bound of the length of the chain that body b needs, N if there is none. It
    never falls, so the searches share what they learn. Bounds that rise step by step are replaced
    by the true lengths (:func:`lengths`) whenever the searches have cost as much as measuring.
    """
    joint_start, slot_body, slot_joint, body_start, body_slot = graph
    n = len(need)
    slack = np.zeros(n, dtype=np.int64)
    for b in range(1, n):
        slack[b] = -need[b]
        for place in range(body_start[b], body_start[b + 1]):
            slack[b] += rest[slot_joint[body_slot[place]]]
        slack[b] = max(slack[b], 0)
    # Bodies that wait, in one doubly linked list for each slack. The last to enter is the first out:
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
    """The slot of body b whose joint has units left that the others can best do without; -1: none.

    A joint whose other bodies are all served can serve nobody else, so it comes first.
    """
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
    """:func:`fetch` with growing effort, and a look in between whether there is anything to find.

    A body that no free unit can reach would see its bound, and those of the few bodies around it,
    rise to N by ones and twos; :func:`enclose` settles them at once.
    """
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
    """Set ``far`` to N around ``root`` if fewer than ``most`` slots show that no free unit can come.

    Returns
    -------
    The number of slots looked at.
    """
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
    """Bring one unit to ``root`` along a chain of bodies, each of which takes one from the next.

    Depth-first along falling ``far``; a body from which no chain goes on has its bound raised.
    ``pointer[b]`` is the place among b's slots up to which nothing has that bound. With true lengths
    the first descent succeeds; so the search gives up once it has cost ``most`` slots or more.

    Returns
    -------
    The joint that gave up a free unit, -1 if there is no chain or the search gave up; the number of
    slots looked at.
    """
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
    """``far``, in place: how many bodies must pass a unit on before a free one reaches each body."""
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
    """(N,) uint8: 1 for the over-constrained part, the bodies that units without a place can reach.

    Here the assignment must be a maximum one.
    """
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
    """(N,) uint8: 1 for the under-constrained part, the bodies whose units a free one could take."""
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


def components(
    graph: Graph,
    given: Array,
    excluded: Array,
) -> tuple[Array, int]:
    """Strong components of "body b depends on the other bodies of each joint that gave it a unit".

    Tarjan's algorithm without recursion.

    Returns
    -------
    (N,) int64 component of each body, -1 for the frame and the excluded ones; their number.
    """
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
    """Sub-chains of a component that hold more than B(n - 1) units among their n bodies.

    ``freedom`` (N,) is B of each body; where a component mixes several, the least of them is its B, which
    only makes the test milder (ranks have the last word there).

    The component must be (B, B)-sparse away from what is already known: every set X of its bodies
    must receive at least B units from outside X. A body that can hand its B units on to known bodies
    proves that for every X it belongs to, so it joins the known ones. Where that fails, the bodies
    reached on the way are such an X; the smallest one inside it is reported and counts as known.

    The answer does not depend on the assignment nor on the order of the bodies. For each body c there
    is a least set X(c) among those that contain c and receive fewest units, and X(c) lies within X(b)
    for every c in X(b), because units received are submodular. So the smallest of these sets are
    disjoint, and reporting one leaves the others as they are.

    Returns
    -------
    (N,) int64 number of the violating sub-chain of each body, -1 elsewhere; and per sub-chain its
    surplus, ``units - B(n - 1)``.
    """
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
    """Hand up to ``most`` units of ``root`` on to known bodies, through bodies of its component.

    Returns
    -------
    How many went; and, where they are fewer than ``most``, the number of bodies that the last search
    came to, which begin ``reached``. ``moves`` gains what changed: slot + 1 if it gained a unit, else
    -(slot + 1).
    """
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
        # The known body need not be given its unit: nothing asks what it holds.
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
    """The smallest violating set in the one that :func:`release` has just left in ``reached``.

    A body that can hand one unit more than ``released`` on to ``root`` has its least set around
    ``root`` too. If all can, the set is the smallest; a body that cannot has reached a smaller one.

    Returns
    -------
    Units that the set receives, and its size; ``reached`` begins with its bodies.
    """
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


def canonical_order(size: Array, lowest: Array, before_start: Array, before: Array) -> Array:
    """Number groups: among those that are ready, the one with fewest bodies, then lowest body number.

    Parameters
    ----------
    size, lowest : (G,) bodies of each group, lowest body index
    before_start, before : CSR; group g is needed by ``before[before_start[g]:before_start[g + 1]]``

    Returns
    -------
    (G,) int64: groups in canonical order.
    """
    count = len(size)
    waits = np.zeros(count, dtype=np.int64)
    for place in range(len(before)):
        waits[before[place]] += 1
    scale = np.int64(1)
    for g in range(count):
        scale = max(scale, lowest[g] + 1)
    heap = [np.int64(0)]
    heap.pop()
    owner = np.full(scale, -1, dtype=np.int64)
    for g in range(count):
        owner[lowest[g]] = g
        if waits[g] == 0:
            heap.append(size[g] * scale + lowest[g])
    heapq.heapify(heap)
    order = np.zeros(count, dtype=np.int64)
    done = 0
    while len(heap) > 0:
        g = owner[heapq.heappop(heap) % scale]
        order[done] = g
        done += 1
        for place in range(before_start[g], before_start[g + 1]):
            after = before[place]
            waits[after] -= 1
            if waits[after] == 0:
                heapq.heappush(heap, size[after] * scale + lowest[after])
    return order


def group_levels(order: Array, before_start: Array, before: Array) -> Array:
    """(G,) int64: 1 + the longest chain of groups that must be solved before each, given any order."""
    level = np.ones(len(order), dtype=np.int64)
    for g in order:
        for place in range(before_start[g], before_start[g + 1]):
            after = before[place]
            if level[g] + 1 > level[after]:
                level[after] = level[g] + 1
    return level


def connected(joint_start: Array, slot_body: Array, n: int) -> Array:
    """(n,) int64: a representative of each body's connected part; the frame's part has that of 0."""
    parent = np.arange(n)
    for j in range(len(joint_start) - 1):
        a = slot_body[joint_start[j]]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        for slot in range(joint_start[j] + 1, joint_start[j + 1]):
            b = slot_body[slot]
            while parent[b] != b:
                parent[b] = parent[parent[b]]
                b = parent[b]
            if a < b:
                parent[b] = a
            else:
                parent[a] = b
                a = b
    for b in range(n):
        a = b
        while parent[a] != a:
            a = parent[a]
        parent[b] = a
    return parent
