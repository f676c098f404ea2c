"""Structural groups of many actuation schemes at once, by assignments of constraint units to bodies."""

# A driven coordinate is one unit more of its joint, and one augmenting path from the assignment without it.
# Schemes are lanes, the last axis; those with the same first inputs share their beginning. A *slot* is one
# (joint, body) incidence, as in mbssa.decomposition.incidence; ``given`` (S, D) are the units of slots.

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse
from scipy.sparse.csgraph import connected_components, maximum_flow

from mbssa.arrays import Bools, Floats, Ints
from mbssa.decomposition.incidence import Incidence

Places = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Graph:
    """Slots of a mechanism, and arcs on which a body hands a unit of a joint on to another body."""

    incidence: Incidence

    @cached_property
    def slots(self) -> Ints:
        """Slots (J, K) of each joint, the last one repeated."""
        start = self.incidence.joint_start
        width = int(np.diff(start).max(initial=1))
        return np.minimum(start[:-1, None] + np.arange(width), start[1:, None] - 1)

    @cached_property
    def arcs(self) -> Ints:
        """Arcs (A, 2) from slot to slot of a joint, ascending by the body of the first, which can move."""
        start, body = self.incidence.joint_start.tolist(), self.incidence.slot_body
        pairs = [arc for a, b in pairwise(start) for arc in permutations(range(a, b), 2)]
        arcs = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        arcs = arcs[body[arcs[:, 0]] > 0]
        return arcs[np.argsort(body[arcs[:, 0]], kind="stable")]

    @cached_property
    def undriven(self) -> tuple[Ints, Ints] | None:
        """Units of each slot (S,), and what bodies still need (N,); None where some units have no place."""
        i = self.incidence
        n_joints, ends = len(i.units), 2 + len(i.units) + i.n_bodies
        joints, bodies = 1 + np.arange(n_joints), 1 + n_joints + np.arange(i.n_bodies)
        tails = np.concatenate([np.zeros(n_joints, dtype=np.int64), 1 + i.slot_joint, bodies])
        heads = np.concatenate([joints, bodies[i.slot_body], np.full(i.n_bodies, ends - 1)])
        amounts = np.concatenate([i.units, i.units[i.slot_joint], i.freedom_of_body]).astype(np.int32)
        if (i.units < 0).any():
            return None
        network = scipy.sparse.csr_array((amounts, (tails, heads)), shape=(ends, ends))
        flow = maximum_flow(network, 0, ends - 1)
        if flow.flow_value < i.units.sum():
            return None
        given = flow.flow.toarray()[1 + i.slot_joint, bodies[i.slot_body]].astype(np.int64)
        taken = np.bincount(i.slot_body, given, i.n_bodies).astype(np.int64)
        return given, i.freedom_of_body - taken


def prefixes(places: Places) -> Iterator[tuple[Ints, Ints]]:
    """First rows (P,) of equal beginnings, of each length, and the numbers (P,) of theirs one shorter."""
    new = np.zeros(len(places), dtype=bool)
    new[:1] = True
    number = np.zeros(len(places), dtype=np.int64)
    for column in places.T:
        new[1:] |= column[1:] != column[:-1]
        first = np.flatnonzero(new)
        yield first, number[first]
        number = np.cumsum(new) - 1


def assigned(graph: Graph, places: Places) -> tuple[Ints, Ints]:
    """Rows of ``places`` (D, n) with a complete assignment, ascending; and their units (S, D)."""
    base, body = graph.undriven, graph.incidence.slot_body
    none = np.zeros(0, dtype=np.int64), np.zeros((len(body), 0), dtype=np.int16)
    if base is None or base[1].sum() != places.shape[1]:
        return none
    given, need = (np.asarray(column[:, None], dtype=np.int16) for column in base)
    alive, rows = np.zeros(1, dtype=np.int64), np.arange(len(places))
    for k, (first, parent) in enumerate(prefixes(places)):
        lane = np.full(len(places) + 1, -1)
        lane[alive] = np.arange(len(alive))
        kept = np.flatnonzero(lane[parent] >= 0)
        rows, source = first[kept], lane[parent[kept]]
        given, need = given[:, source], need[:, source]
        slots = graph.slots[places[rows, k]].T
        taken, end = hand_on(graph, given, need > 0, body[slots])
        lanes = np.flatnonzero(end >= 0)
        given[slots[taken[lanes], lanes], lanes] += 1
        need[end[lanes], lanes] -= 1
        given, need, alive, rows = given[:, lanes], need[:, lanes], kept[lanes], rows[lanes]
    return rows, given


def hand_on(graph: Graph, given: Ints, goal: Bools, bodies: Ints) -> tuple[Ints, Ints]:
    """Hand one unit from the best of ``bodies`` (K, D) on to a goal (N, D) by a shortest way, in place."""
    # Returned are the number (D,) of the body that begins, and the body that ends; -1 where there is no way.
    n, n_lanes = goal.shape
    give, take = graph.arcs.T
    tail, head = graph.incidence.slot_body[give], graph.incidence.slot_body[take]
    tails, begin = np.unique(tail, return_index=True)
    number = np.arange(1, len(give) + 1, dtype=np.int16 if len(give) < 32_000 else np.int32)[:, None]
    far = np.where(goal, 0, n).astype(np.int16)
    hop = np.zeros((n, n_lanes), dtype=number.dtype)
    lanes = np.arange(n_lanes)
    usable = given[give] > 0
    for step in range(1, n if len(give) else 1):
        nearest = far[bodies, lanes].min(axis=0)
        if (nearest < step).all():
            break
        arc = np.maximum.reduceat((usable & (far[head] == step - 1)) * number, begin, axis=0)
        new = (arc > 0) & (far[tails] == n)
        if not new.any():
            break
        far[tails] = np.where(new, step, far[tails])
        hop[tails] = np.where(new, arc, hop[tails])
    choice = far[bodies, lanes].argmin(axis=0)
    at = bodies[choice, lanes]
    at = np.where(far[at, lanes] < n, at, -1)
    moving = np.flatnonzero((at >= 0) & (far[at, lanes] > 0))
    while len(moving):
        arc = hop[at[moving], moving] - 1
        given[give[arc], moving] -= 1
        given[take[arc], moving] += 1
        at[moving] = head[arc]
        moving = moving[far[at[moving], moving] > 0]
    return choice, at


@dataclass(frozen=True, eq=False)
class Groups:
    """Structural groups of schemes with a complete assignment."""

    graph: Graph
    given: Ints  # (S, D)
    label: Ints  # (D, N - 1) group of each body that moves; groups of all schemes are numbered together
    row: Ints  # (G,) scheme of each group
    size: Ints  # (G,) bodies
    arcs: Ints  # (2, E) groups, and those that they depend on
    level: Ints  # (G,) from 1


def groups_of(graph: Graph, given: Ints) -> Groups:
    """Structural groups: strong components of "takes a unit of a joint with"."""
    body = graph.incidence.slot_body
    n_moving, n_schemes = graph.incidence.n_bodies - 1, given.shape[1]
    arcs = graph.arcs[body[graph.arcs[:, 1]] > 0]
    scheme, arc = np.nonzero(given[arcs[:, 0]].T > 0)
    tail, head = (scheme * n_moving + body[arcs[arc, end]] - 1 for end in (0, 1))
    start = np.concatenate([[0], np.cumsum(np.bincount(tail, minlength=n_schemes * n_moving))])
    matrix = scipy.sparse.csr_array(
        (np.ones(len(head), dtype=np.int8), head, start), shape=2 * (len(start) - 1,)
    )
    count, label = connected_components(matrix, connection="strong")
    row = np.zeros(count, dtype=np.int64)
    row[label] = np.repeat(np.arange(n_schemes), n_moving)
    between = np.stack([label[tail], label[head]])
    between = between[:, between[0] != between[1]]
    level, before = np.ones(count, dtype=np.int64), np.zeros(0, dtype=np.int64)
    while not np.array_equal(level, before):
        before = level.copy()
        np.maximum.at(level, between[0], before[between[1]] + 1)
    return Groups(graph, given, label.reshape(n_schemes, n_moving), row, np.bincount(label), between, level)


def has_rigid_chain(groups: Groups) -> Bools:
    """Whether a sub-chain (D,) of some group holds more than B (n - 1) units among its own n bodies."""
    # Every set of bodies of a group must receive B units from outside the set. A body that can hand B units
    # on out of its group, or to bodies of which that is proven, proves it of each set around it. Where bodies
    # of a group have several B the least will do: ranks decide there.
    graph, label = groups.graph, np.vstack([np.full(len(groups.label), -1), groups.label.T])
    least = np.full(len(groups.size) + 1, np.iinfo(np.int64).max)
    freedom = graph.incidence.freedom_of_body
    np.minimum.at(least, label, np.broadcast_to(freedom[:, None], label.shape))
    proven = _proven_at_once(groups, label, least)
    rigid = np.zeros(len(groups.label), dtype=bool)
    for b in range(1, len(label)):
        lanes = np.flatnonzero(~proven[b] & ~rigid)
        if not len(lanes):
            continue
        given, own = groups.given[:, lanes], label[b, lanes]
        goal = proven[:, lanes] | (label[:, lanes] != own)
        at = np.full((1, len(lanes)), b)
        for unit in range(int(least[own].max())):
            _, end = hand_on(graph, given, goal, at)
            rigid[lanes] |= (end < 0) & (unit < least[own])
        proven[b, lanes] = True
    return rigid


def _proven_at_once(groups: Groups, label: Ints, least: Ints) -> Bools:
    """Bodies (N, D) that hand B units on in one step, out of their group or to others of these bodies."""
    give, take = groups.graph.arcs.T
    slot_body = groups.graph.incidence.slot_body
    tail, head = slot_body[give], slot_body[take]
    slot_begin = np.flatnonzero(np.diff(give, prepend=-1))
    body_begin = np.flatnonzero(np.diff(tail[slot_begin], prepend=-1))
    bodies = tail[slot_begin][body_begin]
    out, given = label[head] != label[tail], groups.given[give[slot_begin]]
    proven, before = np.zeros(label.shape, dtype=bool), -1
    proven[0] = True
    while np.count_nonzero(proven) > before and len(give):
        before = np.count_nonzero(proven)
        leaves = np.logical_or.reduceat(out | proven[head], slot_begin, axis=0)
        handed = np.add.reduceat(leaves * given, body_begin, axis=0)
        proven[bodies] |= handed >= least[label[bodies]]
    return proven


def joint_owners(groups: Groups, inputs: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Joints, schemes and groups to which joints belong: those that take their units."""
    # A joint without units belongs to the group with the highest number that it touches.
    graph = groups.graph
    body = graph.incidence.slot_body
    slot = graph.slots[:, 0][:, None] + np.zeros(groups.given.shape[1], dtype=np.int64)
    for column in graph.slots.T:
        slot = np.where(groups.given[column] > 0, column[:, None], slot)
    bound = graph.incidence.units[:, None] + inputs.T > 0
    joint, scheme = np.nonzero(bound)
    yield joint, scheme, groups.label[scheme, body[slot[joint, scheme]] - 1]
    joint, scheme = np.nonzero(~bound)
    touched = body[graph.slots[joint]]
    own = np.where(touched > 0, groups.label[scheme[:, None], touched - 1], -1)
    owner = own.max(axis=1)
    doubt = np.flatnonzero(((own >= 0) & (own != owner[:, None])).any(axis=1))
    for one in np.unique(scheme[doubt]).tolist():
        number = {-1: -1} | {group: k for k, group in enumerate(canonical_order(groups, one))}
        for k in doubt[scheme[doubt] == one].tolist():
            owner[k] = max(own[k].tolist(), key=number.__getitem__)
    yield joint, scheme, owner


def canonical_order(groups: Groups, scheme: int) -> list[int]:
    """Groups of one scheme: of those that are ready the smallest is next, then that of the lowest body."""
    label = groups.label[scheme].tolist()
    waits: dict[int, set[int]] = {group: set() for group in label}
    for group, other in groups.arcs[:, groups.row[groups.arcs[0]] == scheme].T.tolist():
        waits[group].add(other)
    ready = [(int(groups.size[g]), label.index(g), g) for g, others in waits.items() if not others]
    heapq.heapify(ready)
    order = []
    while ready:
        order.append(heapq.heappop(ready)[2])
        for group, others in waits.items():
            if order[-1] in others:
                others.remove(order[-1])
                if not others:
                    heapq.heappush(ready, (int(groups.size[group]), label.index(group), group))
    return order


def structure_keys(groups: Groups) -> npt.NDArray[np.uint64]:
    """Numbers (D,), equal for the same bodies in each group on the same levels."""
    bodies = np.random.default_rng(0).integers(0, 2**64, groups.label.shape[1], dtype=np.uint64)
    key = np.zeros(len(groups.size), dtype=np.uint64)
    np.add.at(key, groups.label, np.broadcast_to(bodies, groups.label.shape))
    key += groups.level.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    # The finaliser of splitmix64: sums of what it makes tell partitions apart.
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        key = (key ^ key >> np.uint64(shift)) * np.uint64(factor)
    keys = np.zeros(len(groups.label), dtype=np.uint64)
    np.add.at(keys, groups.row, key ^ key >> np.uint64(31))
    return keys


def costs_of(
    groups: Groups, inputs: Ints, codes: Ints, known: tuple[Ints, Ints, Floats], otherwise: float
) -> tuple[Ints, Floats]:
    """Groups in the library (D,), and the predicted costs (D,) of all."""
    # ``codes`` (J,) are numbers of the joints' types, negative for joints that are there only while driven;
    # ``known``: sums of codes ascending, whether the library has that type, and its cost or -1.
    names = np.zeros(len(groups.size), dtype=np.int64)
    (joint, _, owner), (free, _, free_owner) = joint_owners(groups, inputs)
    np.add.at(names, owner, np.abs(codes[joint]))
    np.add.at(names, free_owner, np.maximum(codes[free], 0))
    keys, closed, price = known
    cost = otherwise * groups.size.astype(np.float64) ** 2
    in_library = np.zeros(len(names), dtype=np.int64)
    if len(keys):
        at = np.minimum(np.searchsorted(keys, names), len(keys) - 1)
        there = keys[at] == names
        in_library = np.where(there, closed[at], 0)
        cost = np.where(there & (price[at] >= 0), price[at], cost)
    n = len(groups.label)
    return np.bincount(groups.row, in_library, n).astype(np.int64), np.bincount(groups.row, cost, n)
