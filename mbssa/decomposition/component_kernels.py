"""Strong components of the dependencies between bodies, their canonical numbering and their levels."""

from __future__ import annotations

import heapq

import numpy as np

from mbssa.decomposition.assignment_kernels import Array, Graph


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


def canonical_order(size: Array, lowest: Array, before_start: Array, before: Array) -> Array:
    """Canonical order (G,) of groups: of those that are ready, fewest bodies first, then lowest body."""
    # Compressed rows: group g is needed by before[before_start[g]:before_start[g + 1]].
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
    """Levels (G,): 1 + the longest chain of groups that must be solved before each, given any order."""
    level = np.ones(len(order), dtype=np.int64)
    for g in order:
        for place in range(before_start[g], before_start[g + 1]):
            after = before[place]
            if level[g] + 1 > level[after]:
                level[after] = level[g] + 1
    return level


def connected(joint_start: Array, slot_body: Array, n: int) -> Array:
    """Representatives (n,) of the connected parts of the bodies; the frame's part has that of 0."""
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
