"""Structural groups of many actuation schemes at once, by assignments of constraint units to bodies."""

# A driven coordinate is one unit more of its joint, and one augmenting path from the assignment without it.
# Schemes are lanes, the last axis; those with the same first inputs share their beginning. A *slot* is one
# (joint, body) incidence, as in mbssa.decomposition.incidence; ``given`` (S, D) are the units of slots.

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from mbssa.arrays import Bools, Ints
from mbssa.decomposition import flow
from mbssa.decomposition.incidence import Incidence
from mbssa.decomposition.sparsity import rigid_subchains
from mbssa.structure import canonical_order

Places = npt.NDArray[np.integer[Any]]

#: Units of each slot (S, D), or groups of each body.
Counts = npt.NDArray[np.integer[Any]]


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


def assigned(incidence: Incidence, undriven: Ints, places: Places) -> tuple[Ints, Counts]:
    """Rows of ``places`` (D, n) with a complete assignment, ascending; and their units (S, D)."""
    # ``undriven`` (S,) is an assignment without inputs.
    body, units = incidence.slot_body, incidence.units
    lacking = incidence.freedom_of_body - np.bincount(body, undriven, incidence.n_bodies).astype(np.int64)
    if (units < 0).any() or undriven.sum() < units.sum() or lacking.sum() != places.shape[1]:
        return np.zeros(0, dtype=np.int64), np.zeros((len(body), 0), dtype=np.int16)
    given, need = (np.asarray(column[:, None], dtype=np.int16) for column in (undriven, lacking))
    alive, rows = np.zeros(1, dtype=np.int64), np.arange(len(places))
    for k, (first, parent) in enumerate(prefixes(places)):
        lane = np.full(len(places) + 1, -1)
        lane[alive] = np.arange(len(alive))
        kept = np.flatnonzero(lane[parent] >= 0)
        rows, source = first[kept], lane[parent[kept]]
        given, need = given[:, source], need[:, source]
        slots = incidence.joint_slots[places[rows, k]].T
        taken, end = hand_on(incidence, given, need > 0, body[slots])
        lanes = np.flatnonzero(end >= 0)
        given[slots[taken[lanes], lanes], lanes] += 1
        need[end[lanes], lanes] -= 1
        given, need, alive, rows = given[:, lanes], need[:, lanes], kept[lanes], rows[lanes]
    return rows, given


def hand_on(incidence: Incidence, given: Counts, goal: Bools, bodies: Ints) -> tuple[Counts, Counts]:
    """Hand one unit from the best of ``bodies`` (K, D) on to a goal (N, D) by a shortest way, in place."""
    # Returned are the number (D,) of the body that begins, and the body that ends; -1 where there is no way.
    n, n_lanes = goal.shape
    give, take = incidence.arcs.T
    tail, head = incidence.slot_body[give], incidence.slot_body[take]
    tails, begin = np.unique(tail, return_index=True)
    number = np.arange(1, len(give) + 1, dtype=np.min_scalar_type(len(give)))[:, None]
    far = np.where(goal, 0, n).astype(np.min_scalar_type(n))
    hop = np.zeros((n, n_lanes), dtype=number.dtype)
    lanes = np.arange(n_lanes)
    usable = given[give] > 0
    for step in range(1, n if len(give) else 1):
        nearest = far[bodies, lanes].min(axis=0)
        if (nearest < step).all():
            break
        arc = np.maximum.reduceat((usable & (far == step - 1)[head]) * number, begin, axis=0)
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
        arc = hop[at[moving], moving].astype(np.int64) - 1
        given[give[arc], moving] -= 1
        given[take[arc], moving] += 1
        at[moving] = head[arc]
        moving = moving[far[at[moving], moving] > 0]
    return choice, at


@dataclass(frozen=True, eq=False)
class Groups:
    """Structural groups of schemes with a complete assignment."""

    incidence: Incidence
    given: Counts  # (S, D)
    # label: (D, N) group of each body, -1 for the frame; those of all schemes together, dependent ones later
    label: Ints
    row: Ints  # (G,) scheme of each group
    size: Ints  # (G,) bodies
    arcs: Ints  # (2, E) groups, and those that they depend on
    level: Ints  # (G,) from 1

    @cached_property
    def lowest(self) -> Ints:
        """First body (G,) of each group."""
        lowest = np.zeros(len(self.size), dtype=np.int64)
        for body in range(self.label.shape[1] - 1, 0, -1):
            lowest[self.label[:, body]] = body
        return lowest


def groups_of(incidence: Incidence, given: Counts) -> Groups:
    """Structural groups: strong components of "takes a unit of a joint with"."""
    body = incidence.slot_body
    n_moving, n_schemes = incidence.n_bodies - 1, given.shape[1]
    arcs = incidence.arcs[body[incidence.arcs[:, 1]] > 0]
    scheme, arc = np.nonzero(given[arcs[:, 0]].T > 0)
    tail, head = (scheme * n_moving + body[arcs[arc, end]] - 1 for end in (0, 1))
    label, count = flow.strong_components(n_schemes * n_moving, tail, head)
    row = np.zeros(count, dtype=np.int64)
    row[label] = np.repeat(np.arange(n_schemes), n_moving)
    between = np.stack([label[tail], label[head]])
    between = between[:, between[0] != between[1]]
    level, before = np.ones(count, dtype=np.int64), np.zeros(0, dtype=np.int64)
    while not np.array_equal(level, before):
        before = level.copy()
        np.maximum.at(level, between[0], before[between[1]] + 1)
    with_frame = np.pad(label.reshape(n_schemes, n_moving), ((0, 0), (1, 0)), constant_values=-1)
    return Groups(incidence, given, with_frame, row, np.bincount(label, minlength=count), between, level)


def has_rigid_chain(groups: Groups, schemes: Ints, inputs: Ints) -> Bools:
    """Whether a sub-chain (D,) of some group of these schemes holds more than B (n - 1) units."""
    i, n = groups.incidence, len(schemes)
    # Schemes side by side are one mechanism.
    slots, scheme = len(i.slot_body), np.arange(n)[:, None]
    whole = replace(
        i,
        joint_start=np.append(i.joint_start[:-1] + slots * scheme, n * slots),
        slot_body=(i.slot_body + i.n_bodies * scheme).ravel(),
        units=(i.units + inputs[schemes]).ravel(),
        freedom_of_body=np.tile(i.freedom_of_body, n),
    )
    given = groups.given[:, schemes].T.ravel().astype(np.int64)
    chains, _ = rigid_subchains(whole, given, groups.label[schemes].ravel(), len(groups.size))
    return np.asarray((chains.reshape(n, i.n_bodies) >= 0).any(axis=1))


def joint_owners(groups: Groups, free: Bools) -> Ints:
    """Groups (D, J) to which joints belong; ``free`` (D, J) are joints without units."""
    # Labels ascend with dependence, so a joint belongs to the highest that it touches; without units it makes
    # no dependence, and belongs to the group with the highest number.
    touched = groups.label[:, groups.incidence.slot_body[groups.incidence.joint_slots]]
    owner: Ints = touched.max(axis=2)
    if (free & ((touched >= 0) & (touched != owner[:, :, None])).any(axis=2)).any():
        after, before = np.unique(groups.arcs, axis=1)
        order, _ = canonical_order(groups.size, groups.lowest, before, after)
        number = np.full(len(order) + 1, -1)
        number[order] = np.arange(len(order))
        owner = np.where(free, order[number[touched].max(axis=2)], owner)
    return owner


def structure_keys(groups: Groups) -> npt.NDArray[np.uint64]:
    """Numbers (D,), equal for the same bodies in each group on the same levels."""
    label = groups.label[:, 1:]
    body = np.arange(label.shape[1])
    first, level = np.random.default_rng(0).integers(0, 2**64, (2, len(body), len(body) + 2), dtype=np.uint64)
    keys = first[body, groups.lowest[label]] + level[body, groups.level[label]]
    return np.asarray(keys.sum(axis=1, dtype=np.uint64))
