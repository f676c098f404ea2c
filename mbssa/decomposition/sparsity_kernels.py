"""Rigid sub-chains: bodies of a component that hold more than B(n - 1) units among them."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbssa.decomposition.assignment_kernels import Array, Chain, Graph


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
