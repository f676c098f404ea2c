"""Evaluation of actuation schemes on bare arrays: count, groups, ranks; plain Python or compiled."""

# Words and graph as in mbssa.input_search.count_kernels. ``places`` is (D, n), the joint of each input,
# ascending. Rows that share a prefix share its work: the assignment is kept for every number of inputs, and a
# further input is one augmenting path.

from __future__ import annotations

from typing import Any

import numpy as np

from mbssa.input_search.count_kernels import Array, Graph, components, rigid_subchains

#: ``(units, given, need, freedom)`` of the mechanism without inputs, all its units given to bodies.
Count = tuple[Array, Array, Array, Array]
#: ``(start, bit, required, moves)``: the coordinates of joint j that are allowed begin at ``start[j]``;
#: number, whether every set must have it, and (C, n) how it moves with the free motions.
Coordinates = tuple[Array, Array, Array, Array]
#: ``(type_key, fictitious, body_key, keys, closed, cost, otherwise)``: a number for the type of each joint,
#: joints that are there only while driven, two numbers for each body; types of groups by the sum of their
#: numbers, ascending, whether they are in the library, and their costs; (1,) cost of others over bodies².
Names = tuple[Array, Array, Array, Array, Array, Array, Array]
#: ``(usable, locked)``: most and fewest inputs of each joint that drive no passive rotation.
Limits = tuple[Array, Array]
#: ``(numbers, cost, bits)``: (D, NUMBERS) int64, (D,) float64, (D, n) int8.
Answer = tuple[Array, Array, Array]

# Columns of ``numbers``.
DETERMINED = 0
GROUPS = 1
LARGEST = 2
LEVELS = 3
WIDTH = 4
CLOSED = 5
STRUCTURE = 6
VALID = 7
DOUBTFUL = 8
NUMBERS = 9

#: Two primes below 2^31: products of two residues fit in a word.
PRIMES = (2147483647, 2147483629)
_FIRST, _SECOND = PRIMES

#: Increment of the number of a group for one level more, by prime.
_LEVEL = (1103515245, 1500450271)
_LEVEL_FIRST, _LEVEL_SECOND = _LEVEL


def unranked(numbers: Array, later: Array, may: Array, out: Array) -> None:
    """Write the schemes with these numbers to ``out`` (D, n)."""
    # ``later`` (J + 1, n + 1): schemes of k inputs over the joints j and after; ``may`` (J, W): 1 where joint
    # j may have w inputs.
    most = may.shape[1] - 1
    for row in range(len(numbers)):
        rest = numbers[row]
        k = out.shape[1]
        at = 0
        for j in range(len(may)):
            # More inputs on an earlier joint come first.
            w = min(most, k)
            while w > 0:
                if may[j, w] == 1:
                    here = later[j + 1, k - w]
                    if rest < here:
                        break
                    rest -= here
                w -= 1
            for _ in range(w):
                out[row, at] = j
                at += 1
            k -= w


def sets_of(places: Array, ways: Array, out: Array) -> None:
    """Count the sets of coordinates (D,) of each scheme, in place; ``ways`` (J, W) by joint and inputs."""
    w = np.zeros(len(ways), dtype=np.int64)
    for row in range(len(places)):
        w[:] = 0
        for k in range(places.shape[1]):
            w[places[row, k]] += 1
        total = np.int64(1)
        for j in range(len(ways)):
            total *= ways[j, w[j]] if w[j] < ways.shape[1] else 0
        out[row] = total


def evaluate_rows(
    places: Array,
    graph: Graph,
    count: Count,
    coordinates: Coordinates,
    names: Names,
    limits: Limits,
    low: Any,
    sure: Any,
    treated: Any,
    answer: Answer,
) -> None:
    """Evaluate actuation schemes, in place."""
    # A matrix of full rank has a matching, and no sub-chain of it holds too much: a valid set needs no second
    # look at the count, unless that is ``treated`` (constraints left out, passive rotations locked). A
    # coordinate's row shorter than ``low`` beyond the others is dependent, a volume above ``sure`` regular.
    units, given_at_first, need_at_first, freedom = count
    usable, locked = limits
    numbers, cost, bits = answer
    n = places.shape[1]
    n_bodies = len(freedom)
    given = np.zeros((n + 1, len(given_at_first)), dtype=np.int64)
    need = np.zeros((n + 1, n_bodies), dtype=np.int64)
    given[0] = given_at_first
    need[0] = need_at_first
    w = np.zeros(len(units), dtype=np.int64)
    none = np.zeros(n_bodies, dtype=np.uint8)
    seen = np.zeros(n_bodies, dtype=np.int64)
    chain = (
        np.zeros(n_bodies, dtype=np.int64),
        np.zeros(n_bodies, dtype=np.int64),
        np.zeros(n_bodies, dtype=np.int64),
        np.zeros(n_bodies, dtype=np.int64),
    )
    room = (np.zeros((n, coordinates[3].shape[1])), np.zeros(n + 1), np.zeros((2, n), dtype=np.int64))
    stamp = 0
    height = 0
    broken = -1
    for row in range(len(places)):
        common = 0
        if row > 0:
            while common < n and places[row, common] == places[row - 1, common]:
                common += 1
        height = min(height, common)
        first_set(places[row], coordinates, bits[row])
        if broken >= 0 and common > broken:
            continue
        broken = -1
        while height < n:
            given[height + 1] = given[height]
            need[height + 1] = need[height]
            stamp += 1
            if not augment(
                graph, places[row, height], given[height + 1], need[height + 1], seen, stamp, chain
            ):
                broken = height
                break
            height += 1
        if broken >= 0 or need[n].sum() > 0:
            continue
        w[:] = 0
        for k in range(n):
            w[places[row, k]] += 1
        if (w > usable).any() or (w < locked).any():
            continue
        valid, doubtful = valid_sets(places[row], coordinates, low, sure, room, bits[row])
        label, n_groups = components(graph, given[n], none)
        if treated == 1 or valid == 0:
            _, surplus = rigid_subchains(graph, given[n], label, freedom)
            if len(surplus) > 0:
                continue
        numbers[row, DETERMINED] = 1
        numbers[row, VALID] = valid
        numbers[row, DOUBTFUL] = doubtful
        cost[row] = summary(graph, label, n_groups, units, w, names, numbers[row])


def augment(graph: Graph, joint: Any, given: Array, need: Array, seen: Array, stamp: Any, chain: Any) -> bool:
    """Give one unit more of a joint to a body, in place; False where no body can take it."""
    # A body that is full passes a unit of another joint on to another body of that joint, breadth first.
    joint_start, slot_body, slot_joint, body_start, body_slot = graph
    queue, parent, took, gave = chain
    for slot in range(joint_start[joint], joint_start[joint + 1]):
        if need[slot_body[slot]] > 0:
            given[slot] += 1
            need[slot_body[slot]] -= 1
            return True
    tail = 0
    for slot in range(joint_start[joint], joint_start[joint + 1]):
        v = slot_body[slot]
        if v > 0 and seen[v] != stamp:
            seen[v] = stamp
            parent[v] = 0
            took[v] = slot
            queue[tail] = v
            tail += 1
    head = 0
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
                if v == 0 or seen[v] == stamp:
                    continue
                seen[v] = stamp
                parent[v] = b
                took[v] = other
                gave[v] = slot
                if need[v] > 0:
                    need[v] -= 1
                    while True:
                        given[took[v]] += 1
                        if parent[v] == 0:
                            return True
                        given[gave[v]] -= 1
                        v = parent[v]
                queue[tail] = v
                tail += 1
    return False


def first_sets(places: Array, coordinates: Coordinates, bits: Array) -> None:
    """The first set of coordinates that each scheme allows, in place."""
    for row in range(len(places)):
        first_set(places[row], coordinates, bits[row])


def first_set(places: Array, coordinates: Coordinates, bits: Array) -> None:
    """The first set of coordinates that a scheme allows, in place."""
    start, bit, required, _ = coordinates
    at = 0
    n = len(places)
    while at < n:
        j = places[at]
        w = 1
        while at + w < n and places[at + w] == j:
            w += 1
        free = w
        for c in range(start[j], start[j + 1]):
            free -= required[c]
        for c in range(start[j], start[j + 1]):
            if required[c] == 1 or free > 0:
                if required[c] == 0:
                    free -= 1
                if w > 0:
                    bits[at] = bit[c]
                    at += 1
                    w -= 1
        at += w


def valid_sets(
    places: Array, coordinates: Coordinates, low: Any, sure: Any, room: Any, bits: Array
) -> tuple[Any, Any]:
    """Numbers of sets of coordinates of a scheme certainly and possibly regular; the best to ``bits``."""
    # Depth first over the coordinates; each row is made orthogonal to those before it, so a set shares the
    # work of its beginning with the sets that begin alike. The best has the greatest volume.
    start, bit, required, moves = coordinates
    q, volume, (chosen, following) = room[0], room[1], (room[2][0], room[2][1])
    n = len(places)
    valid = 0
    doubtful = 0
    best = 0.0
    volume[0] = 1.0
    following[0] = start[places[0]]
    k = 0
    while k >= 0:
        j = places[k]
        c = following[k]
        stop = start[j + 1]
        if c >= stop or (c > start[j] and skips(k, places, c, start, required, chosen)):
            k -= 1
            continue
        following[k] = c + 1
        last = k == n - 1 or places[k + 1] != j
        if last and required[c + 1 : stop].any():
            continue
        size = beyond(moves[c], q, k)
        if size <= low:
            continue
        chosen[k] = c
        volume[k + 1] = volume[k] * size
        if k < n - 1:
            q[k] /= size
            k += 1
            following[k] = c + 1 if places[k] == j else start[places[k]]
            continue
        if volume[n] > sure:
            valid += 1
        else:
            doubtful += 1
        # A tie within rounding stays with the first set.
        if volume[n] > best * (1.0 + 1e-9):
            best = volume[n]
            for i in range(n):
                bits[i] = bit[chosen[i]]
    return valid, doubtful


def beyond(row: Array, q: Array, k: Any) -> Any:
    """Length of a row beyond the span of ``q[:k]``, orthonormal rows; ``q[k]`` becomes that part of it."""
    for x in range(len(row)):
        q[k, x] = row[x]
    for i in range(k):
        along = 0.0
        for x in range(len(row)):
            along += q[k, x] * q[i, x]
        for x in range(len(row)):
            q[k, x] -= along * q[i, x]
    size = 0.0
    for x in range(len(row)):
        size += q[k, x] * q[k, x]
    return np.sqrt(size)


def skips(k: Any, places: Array, c: Any, start: Array, required: Array, chosen: Array) -> Any:
    """Return whether the coordinate before c is required and not chosen, which excludes later ones."""
    before = chosen[k - 1] if k > 0 and places[k - 1] == places[k] else start[places[k]] - 1
    return before < c - 1 and required[c - 1] == 1


def summary(
    graph: Graph, label: Array, n_groups: Any, units: Array, w: Array, names: Names, numbers: Array
) -> Any:
    """Numbers of a structure, in place; its cost. Labels of groups ascend with dependence."""
    _, _, body_key, keys, closed, cost_of, otherwise = names
    size = np.zeros(n_groups, dtype=np.int64)
    mark = np.zeros((n_groups, 2), dtype=np.int64)
    for b in range(1, len(label)):
        g = label[b]
        size[g] += 1
        mark[g, 0] += body_key[b, 0]
        mark[g, 1] += body_key[b, 1]
    first, after = binding_joints(graph, label, n_groups, units, w)
    level = levels(graph, label, first, after)
    key = types(graph, label, size, first, after, units, w, names)
    per_level = np.zeros(n_groups + 1, dtype=np.int64)
    total = 0.0
    known = 0
    one = np.int64(0)
    two = np.int64(0)
    for g in range(n_groups):
        per_level[level[g]] += 1
        a = (mark[g, 0] + level[g] * _LEVEL_FIRST) % _FIRST
        b = (mark[g, 1] + level[g] * _LEVEL_SECOND) % _SECOND
        one += a * a % _FIRST * a % _FIRST
        two += b * b % _SECOND * b % _SECOND
        cost = -1.0
        at = np.searchsorted(keys, key[g])
        if at < len(keys) and keys[at] == key[g]:
            known += closed[at]
            cost = cost_of[at]
        total += cost if cost >= 0.0 else otherwise[0] * size[g] * size[g]
    numbers[GROUPS] = n_groups
    numbers[LARGEST] = size.max()
    numbers[LEVELS] = level.max()
    numbers[WIDTH] = per_level.max()
    numbers[CLOSED] = known
    numbers[STRUCTURE] = (one % _FIRST) * (1 << 31) + two % _SECOND
    return total


def binding_joints(graph: Graph, label: Array, n_groups: Any, units: Array, w: Array) -> tuple[Array, Array]:
    """Joints that bind something, listed with the last group that they touch: (G,) first, (J,) next; -1."""
    joint_start, slot_body = graph[0], graph[1]
    first = np.full(n_groups, -1, dtype=np.int64)
    after = np.full(len(units), -1, dtype=np.int64)
    for j in range(len(units)):
        if units[j] + w[j] > 0:
            owner = np.int64(-1)
            for slot in range(joint_start[j], joint_start[j + 1]):
                if slot_body[slot] > 0:
                    owner = max(owner, label[slot_body[slot]])
            after[j] = first[owner]
            first[owner] = j
    return first, after


def levels(graph: Graph, label: Array, first: Array, after: Array) -> Array:
    """Levels (G,): 1 + the longest chain of groups before each."""
    joint_start, slot_body = graph[0], graph[1]
    level = np.ones(len(first), dtype=np.int64)
    for g in range(len(first)):
        j = first[g]
        while j >= 0:
            for slot in range(joint_start[j], joint_start[j + 1]):
                if slot_body[slot] > 0 and label[slot_body[slot]] != g:
                    level[g] = max(level[g], level[label[slot_body[slot]]] + 1)
            j = after[j]
    return level


def types(
    graph: Graph, label: Array, size: Array, first: Array, after: Array, units: Array, w: Array, names: Names
) -> Array:
    """Sum (G,) of the numbers of each group's joints."""
    # A joint without constraints belongs to the group with the highest number that it touches, which matters
    # only where it touches two.
    joint_start, slot_body = graph[0], graph[1]
    type_key, fictitious = names[0], names[1]
    key = np.zeros(len(size), dtype=np.int64)
    for g in range(len(size)):
        j = first[g]
        while j >= 0:
            key[g] += type_key[j]
            j = after[j]
    number = np.zeros(0, dtype=np.int64)
    for j in range(len(units)):
        if units[j] + w[j] > 0 or fictitious[j] == 1:
            continue
        owner = np.int64(-1)
        for slot in range(joint_start[j], joint_start[j + 1]):
            if slot_body[slot] > 0:
                g = label[slot_body[slot]]
                if owner >= 0 and g != owner and len(number) == 0:
                    number = canonical(graph, label, len(size), size, first, after)
                if owner < 0 or (g != owner and number[g] > number[owner]):
                    owner = g
        key[owner] += type_key[j]
    return key


def canonical(graph: Graph, label: Array, n_groups: Any, size: Array, first: Array, after: Array) -> Array:
    """Number (G,) of each group: of those that are ready the smallest is next, then the lowest body."""
    joint_start, slot_body = graph[0], graph[1]
    lowest = np.full(n_groups, len(label), dtype=np.int64)
    for b in range(1, len(label)):
        lowest[label[b]] = min(lowest[label[b]], b)
    number = np.full(n_groups, -1, dtype=np.int64)
    for turn in range(n_groups):
        best = -1
        for g in range(n_groups):
            if number[g] >= 0:
                continue
            ready = True
            j = first[g]
            while j >= 0 and ready:
                for slot in range(joint_start[j], joint_start[j + 1]):
                    v = slot_body[slot]
                    if v > 0 and label[v] != g and number[label[v]] < 0:
                        ready = False
                j = after[j]
            smaller = best < 0 or size[g] < size[best] or (size[g] == size[best] and lowest[g] < lowest[best])
            if ready and smaller:
                best = g
        number[best] = turn
    return number
