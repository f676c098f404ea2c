"""The search on bare arrays: orientation, coarse parts, sparsity, strong components, numbering.

Every function here runs as plain Python or compiled (:mod:`mbssa.compiled`), so it uses only scalars,
arrays, lists and ``heapq``.

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

Array = Any  # kernels see int64 arrays only; shapes are said in the docstrings


def greedy(
    joint_start: Array,
    slot_body: Array,
    slot_joint: Array,
    body_start: Array,
    body_slot: Array,
    given: Array,
    rest: Array,
    need: Array,
) -> None:
    """A first assignment, in place: poorest body first, and it takes from the richest neighbours.

    A body's slack is the number of units it could do without. A body with slack 0 must take all that
    it can reach; leaving units to the neighbour with the least slack keeps that one from starving.
    """
    n = len(need)
    slack = np.zeros(n, dtype=np.int64)
    for b in range(1, n):
        total = -need[b]
        for place in range(body_start[b], body_start[b + 1]):
            total += rest[slot_joint[body_slot[place]]]
        slack[b] = total
    done = np.zeros(n, dtype=np.uint8)
    done[0] = 1
    lowest = slack.min()
    heap = [(slack[b] - lowest) * n + b for b in range(1, n)]
    heapq.heapify(heap)
    while len(heap) > 0:
        key = heapq.heappop(heap)
        b = key % n
        if done[b] == 1 or key // n != slack[b] - lowest:
            continue
        done[b] = 1
        # Richest other end first; a joint whose other ends are done can serve nobody else.
        order = [(np.int64(0), np.int64(0))]
        order.pop()
        for place in range(body_start[b], body_start[b + 1]):
            slot = body_slot[place]
            j = slot_joint[slot]
            if rest[j] == 0:
                continue
            poorest = np.int64(1 << 40)
            for other in range(joint_start[j], joint_start[j + 1]):
                v = slot_body[other]
                if v != b and done[v] == 0 and slack[v] < poorest:
                    poorest = slack[v]
            order.append((-poorest, slot))
        order.sort()
        for _, slot in order:
            j = slot_joint[slot]
            take = min(rest[j], need[b])
            if take == 0:
                continue
            given[slot] += take
            rest[j] -= take
            need[b] -= take
            for other in range(joint_start[j], joint_start[j + 1]):
                v = slot_body[other]
                if done[v] == 0:
                    slack[v] -= take
                    heapq.heappush(heap, (slack[v] - lowest) * n + v)


def augment(
    joint_start: Array,
    slot_body: Array,
    slot_joint: Array,
    body_start: Array,
    body_slot: Array,
    given: Array,
    rest: Array,
    need: Array,
) -> Array:
    """Complete the assignment to a maximum one, in place, by shortest augmenting paths in phases.

    Dinic's algorithm on the bodies: a unit moves from body to body through a joint both belong to.

    Returns
    -------
    (N,) uint8: 1 for the bodies that units without a place can reach. With a maximum assignment
    these are the bodies of the over-constrained Dulmage-Mendelsohn part.
    """
    n = len(need)
    level = np.full(n, -1, dtype=np.int64)
    queue = np.zeros(n, dtype=np.int64)
    pointer = np.zeros(n, dtype=np.int64)
    path_body = np.zeros(n + 1, dtype=np.int64)
    path_in = np.zeros(n + 1, dtype=np.int64)
    path_out = np.zeros(n + 1, dtype=np.int64)
    open_joints = [np.int64(0)]
    open_joints.pop()
    for j in range(len(rest)):
        if rest[j] > 0:
            open_joints.append(np.int64(j))
    while True:
        level[:] = -1
        head = 0
        tail = 0
        for j in open_joints:
            for slot in range(joint_start[j], joint_start[j + 1]):
                v = slot_body[slot]
                if v > 0 and level[v] < 0:
                    level[v] = 0
                    queue[tail] = v
                    tail += 1
        last = np.int64(1 << 60)
        while head < tail:
            b = queue[head]
            head += 1
            if level[b] > last:
                break
            if need[b] > 0:
                last = level[b]
                continue
            for place in range(body_start[b], body_start[b + 1]):
                slot = body_slot[place]
                if given[slot] == 0:
                    continue
                j = slot_joint[slot]
                for other in range(joint_start[j], joint_start[j + 1]):
                    v = slot_body[other]
                    if v > 0 and level[v] < 0:
                        level[v] = level[b] + 1
                        queue[tail] = v
                        tail += 1
        if last == np.int64(1 << 60):
            break
        pointer[:] = body_start[:n]
        still_open = [np.int64(0)]
        still_open.pop()
        for root in open_joints:
            for first in range(joint_start[root], joint_start[root + 1]):
                if slot_body[first] == 0:
                    continue
                while rest[root] > 0 and level[slot_body[first]] == 0:
                    # Depth-first along the levels; a body that leads nowhere loses its level.
                    depth = 0
                    path_body[0] = slot_body[first]
                    path_in[0] = first
                    reached = False
                    while depth >= 0:
                        b = path_body[depth]
                        if need[b] > 0:
                            reached = True
                            break
                        forward = False
                        while pointer[b] < body_start[b + 1]:
                            slot = body_slot[pointer[b]]
                            if given[slot] > 0:
                                j = slot_joint[slot]
                                for other in range(joint_start[j], joint_start[j + 1]):
                                    v = slot_body[other]
                                    if v > 0 and level[v] == level[b] + 1:
                                        path_out[depth] = slot
                                        depth += 1
                                        path_body[depth] = v
                                        path_in[depth] = other
                                        forward = True
                                        break
                            if forward:
                                break
                            pointer[b] += 1
                        if not forward:
                            level[b] = -2
                            depth -= 1
                    if not reached:
                        break
                    need[path_body[depth]] -= 1
                    rest[root] -= 1
                    for step in range(depth + 1):
                        given[path_in[step]] += 1
                        if step < depth:
                            given[path_out[step]] -= 1
            if rest[root] > 0:
                still_open.append(root)
        open_joints = still_open
    over = np.zeros(n, dtype=np.uint8)
    for b in range(1, n):
        if level[b] >= 0:
            over[b] = 1
    return over


def short_of_units(
    joint_start: Array,
    slot_body: Array,
    slot_joint: Array,
    body_start: Array,
    body_slot: Array,
    given: Array,
    need: Array,
) -> Array:
    """(N,) uint8: 1 for the under-constrained part, the bodies whose units a free one could take."""
    n = len(need)
    under = np.zeros(n, dtype=np.uint8)
    queue = [np.int64(0)]
    queue.pop()
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
    joint_start: Array,
    slot_body: Array,
    slot_joint: Array,
    body_start: Array,
    body_slot: Array,
    given: Array,
    excluded: Array,
) -> tuple[Array, int]:
    """Strong components of "body b depends on the other bodies of each joint that gave it a unit".

    Tarjan's algorithm without recursion.

    Returns
    -------
    (N,) int64 component of each body, -1 for the frame and the excluded ones; their number.
    """
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


def rigid_subchains(
    joint_start: Array,
    slot_body: Array,
    slot_joint: Array,
    body_start: Array,
    body_slot: Array,
    given: Array,
    label: Array,
    freedom: int,
) -> tuple[Array, Array]:
    """Sub-chains of a component that hold more than B(n - 1) units among their n bodies.

    The component must be (B, B)-sparse away from what is already known: every set X of its bodies
    must receive at least B units from outside X. A body that can hand its B units on to known bodies
    proves that for every X it belongs to, so it joins the known ones; where that fails, the bodies
    reached on the way are such an X. The answer does not depend on the assignment it starts from.

    Returns
    -------
    (N,) int64 number of the violating sub-chain of each body, -1 elsewhere; and per sub-chain its
    surplus, ``units - B(n - 1)``.
    """
    n = len(label)
    given = given.copy()
    known = np.zeros(n, dtype=np.uint8)
    known[0] = 1
    bad = np.full(n, -1, dtype=np.int64)
    surplus = [np.int64(0)]
    surplus.pop()
    stamp = np.zeros(n, dtype=np.int64)
    now = 0
    size = np.zeros(n, dtype=np.int64)
    for b in range(1, n):
        if label[b] >= 0:
            size[label[b]] += 1
    queued = np.zeros(n, dtype=np.uint8)
    queue = [np.int64(0)]
    queue.pop()
    visited = [np.int64(0)]
    came_by = np.full(n, -1, dtype=np.int64)  # slot of the body before, whose unit moves here
    came_to = np.full(n, -1, dtype=np.int64)  # slot of this body in that joint
    came_from = np.full(n, -1, dtype=np.int64)
    for start in range(1, n):
        if label[start] < 0 or size[label[start]] == 1 or known[start] == 1:
            continue
        # Bodies next to known ones first: their units have a short way to go.
        queue.append(np.int64(start))
        while len(queue) > 0:
            b = queue.pop()
            queued[b] = 0
            if known[b] == 1:
                continue
            released = 0
            blocked = False
            while released < freedom and not blocked:
                now += 1
                visited = [b]
                stamp[b] = now
                came_by[b] = -1
                head = 0
                moved = False
                while head < len(visited) and not moved:
                    u = visited[head]
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
                            if known[v] == 1 or label[v] != label[b]:
                                given[slot] -= 1
                                w = u
                                while came_by[w] >= 0:
                                    given[came_to[w]] += 1
                                    given[came_by[w]] -= 1
                                    w = came_from[w]
                                moved = True
                                break
                            if stamp[v] != now:
                                stamp[v] = now
                                came_by[v] = slot
                                came_to[v] = other
                                came_from[v] = u
                                visited.append(v)
                        if moved:
                            break
                if moved:
                    released += 1
                else:
                    blocked = True
            if blocked:
                number = len(surplus)
                surplus.append(np.int64(freedom - released))
                for v in visited:
                    bad[v] = number
                    known[v] = 1
            else:
                visited = [b]
                known[b] = 1
            for u in visited:
                for place in range(body_start[u], body_start[u + 1]):
                    j = slot_joint[body_slot[place]]
                    for other in range(joint_start[j], joint_start[j + 1]):
                        v = slot_body[other]
                        if label[v] == label[b] and known[v] == 0 and queued[v] == 0:
                            queued[v] = 1
                            queue.append(v)
    result = np.zeros(len(surplus), dtype=np.int64)
    for number in range(len(surplus)):
        result[number] = surplus[number]
    return bad, result


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
