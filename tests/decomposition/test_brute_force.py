"""The search against brute force, on small random mechanisms with every kind of fault.

Joints of two to four bodies, several between the same bodies, drives at random, too many and too few
constraints.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

import mbssa
from mbssa.decomposition import matching
from mbssa.decomposition.incidence import Incidence
from mbssa.decomposition.partition import Partition

SEEDS = range(60)


def incidence_of(joints: list[list[int]], units: list[int], n_bodies: int, freedom: int) -> Incidence:
    sizes = [len(bodies) for bodies in joints]
    slot_body = np.array([body for bodies in joints for body in bodies], dtype=np.int64)
    return Incidence(
        joint_start=np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]),
        slot_body=slot_body,
        slot_joint=np.repeat(np.arange(len(joints)), sizes),
        body_start=np.concatenate([[0], np.cumsum(np.bincount(slot_body, minlength=n_bodies))]),
        body_slot=np.argsort(slot_body, kind="stable"),
        units=np.array(units, dtype=np.int64),
        freedom_of_body=np.where(np.arange(n_bodies) > 0, freedom, 0),
        freedom=freedom,
        n_bodies=n_bodies,
    )


def random_joints(seed: int, largest: int = 8) -> tuple[list[list[int]], list[int], int, int]:
    """A connected mechanism near the balance of units and freedoms."""
    rng = np.random.default_rng(seed)
    freedom = (3, 6)[seed % 2]
    n_bodies = int(rng.integers(2, largest + 1))
    joints = [[int(rng.integers(body)), body] for body in range(1, n_bodies)]
    while len(joints) < n_bodies * rng.uniform(1.2, 1.9):
        size = int(rng.choice([2, 2, 2, 3, 4]))
        if size <= n_bodies:
            joints.append(rng.choice(n_bodies, size, replace=False).tolist())
    units = rng.integers(0, freedom + 1, len(joints))
    balance = freedom * (n_bodies - 1) + rng.integers(-1, 2)
    for _ in range(200):
        joint = rng.integers(len(joints))
        step = np.sign(balance - units.sum())
        if 0 <= units[joint] + step <= freedom:
            units[joint] += step
    return joints, units.tolist(), n_bodies, freedom


def largest_flow(incidence: Incidence, roomier: int = 0) -> int:
    """Units that can find a place, by SciPy: source, joints, bodies, sink.

    ``roomier`` is a movable body that may take one unit more than the others.
    """
    n_joints, n_bodies = len(incidence.units), incidence.n_bodies
    sink = n_joints + n_bodies + 1
    capacity = np.zeros((sink + 1, sink + 1), dtype=np.int32)
    capacity[0, 1 : n_joints + 1] = incidence.units
    capacity[1 + incidence.slot_joint, 1 + n_joints + incidence.slot_body] = 100
    capacity[n_joints + 2 : sink, sink] = incidence.freedom
    if roomier:
        capacity[n_joints + 1 + roomier, sink] += 1
    return int(maximum_flow(csr_array(capacity), 0, sink).flow_value)


def named(partition: Partition) -> tuple[frozenset, frozenset]:
    """Groups and parts as sets of bodies, whatever their order."""
    groups = frozenset(
        frozenset(np.flatnonzero(partition.label == label).tolist()) for label in range(partition.n_groups)
    )
    parts = frozenset(
        (part.kind, part.units, part.bodies, part.joints, part.rigid) for part in partition.parts
    )
    return groups, parts


def as_new_numbers(joints: list[list[int]], units: list[int], n_bodies: int, seed: int):
    """The same mechanism renumbered, its joints in another order, and the old numbers."""
    rng = np.random.default_rng(seed)
    new = np.concatenate([[0], 1 + rng.permutation(n_bodies - 1)])
    order = rng.permutation(len(joints))
    renumbered = [[int(new[body]) for body in rng.permutation(joints[j])] for j in order]
    old = np.argsort(new)
    return renumbered, [units[j] for j in order], old, order


def test_the_coarse_parts_are_those_that_the_flow_names():
    """Over-constrained: room for one unit more is used. Under-constrained: one unit more finds room.

    And as many units are too many, or missing, as find no place.
    """
    for seed in SEEDS:
        joints, units, n_bodies, freedom = random_joints(seed, largest=6)
        incidence = incidence_of(joints, units, n_bodies, freedom)
        parts = matching.match(incidence).parts
        over = {body for part in parts if part.kind == "over" and not part.rigid for body in part.bodies}
        under = {body for part in parts if part.kind == "under" and not part.rigid for body in part.bodies}
        flow = largest_flow(incidence)
        for body in range(1, n_bodies):
            helped = incidence_of([*joints, [body]], [*units, 1], n_bodies, freedom)
            assert (body in under) == (largest_flow(helped) > flow), (seed, body)
            assert (body in over) == (largest_flow(incidence, roomier=body) > flow), (seed, body)
        lost = {
            kind: sum(part.units for part in parts if part.kind == kind and not part.rigid)
            for kind in ("over", "under")
        }
        assert lost == {"over": sum(units) - flow, "under": freedom * (n_bodies - 1) - flow}, seed


def test_a_rigid_sub_chain_is_found_exactly_where_one_exists():
    """Over all subsets X of each component: units within X against B(|X| - 1)."""
    for seed in SEEDS:
        joints, units, n_bodies, freedom = random_joints(seed)
        incidence = incidence_of(joints, units, n_bodies, freedom)
        partition = matching.match(incidence)
        for label in range(partition.n_groups):
            group = np.flatnonzero(partition.label == label).tolist()
            violated = any(
                sum(count for bodies, count in zip(joints, units, strict=True) if set(bodies) <= set(chosen))
                > freedom * (size - 1)
                for size in range(1, len(group) + 1)
                for chosen in combinations(group, size)
            )
            found = [part for part in partition.parts if part.rigid and set(part.rigid) <= set(group)]
            assert bool(found) == violated, seed
            for part in found:
                if part.kind == "over":
                    inside = sum(units[j] for j in part.joints)
                    assert part.units == inside - freedom * (len(part.rigid) - 1) > 0, seed


def test_groups_and_coarse_parts_do_not_depend_on_the_numbering():
    for seed in SEEDS:
        joints, units, n_bodies, freedom = random_joints(seed, largest=12)
        groups, parts = named(matching.match(incidence_of(joints, units, n_bodies, freedom)))
        others, counts, old, order = as_new_numbers(joints, units, n_bodies, seed)
        theirs = matching.match(incidence_of(others, counts, n_bodies, freedom))
        their_groups, their_parts = named(theirs)
        assert frozenset(frozenset(int(old[b]) for b in group) for group in their_groups) == groups, seed
        back = frozenset(
            (
                kind,
                surplus,
                *(
                    tuple(sorted(int(number[k]) for k in which))
                    for number, which in zip((old, order, old), named_in, strict=True)
                ),
            )
            for kind, surplus, *named_in in their_parts
        )
        assert back == parts, seed


def chain_of_dyads(n_bodies: int) -> mbssa.Mechanism:
    """A crank and a chain of RRR dyads on the frame, the joints listed class by class."""
    dyads = range((n_bodies - 2) // 2)
    pairs = [(1, 2, "R", 1)]
    pairs += [(2 + 2 * k, 3 + 2 * k, "R", 0) for k in dyads]
    pairs += [(3 + 2 * k, 4 + 2 * k, "R", 0) for k in dyads]
    pairs += [(1, 4 + 2 * k, "R", 0) for k in dyads]
    return mbssa.from_pairs(n_bodies, pairs, "planar")


def test_long_chains_of_repairs_come_to_an_end() -> None:
    """A unit that must come along a chain longer than a search's effort is found all the same."""
    for n_bodies in (*range(50, 200, 12), 600, 3000):
        structure = mbssa.decompose(chain_of_dyads(n_bodies), by_count=True)
        assert structure.determined, n_bodies
        assert structure.n_groups == 1 + (n_bodies - 2) // 2, n_bodies


def test_regular_linkages_in_any_order_of_joints_come_to_an_end() -> None:
    """Chains and ladders, joints shuffled: the groups are those of the tidy listing."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        mechanism = chain_of_dyads(2 * int(rng.integers(30, 150)))
        order = rng.permutation(mechanism.n_joints)
        ends = mechanism.joint_body.reshape(-1, 2)[order] + 1
        driven = mechanism.driven[order].astype(np.int64)
        shuffled = mbssa.from_pairs(mechanism.n_bodies, (ends[:, 0], ends[:, 1], "R", driven), "planar")
        one, two = (mbssa.decompose(m, by_count=True) for m in (mechanism, shuffled))
        assert (one.group_of_body == two.group_of_body).all(), seed
