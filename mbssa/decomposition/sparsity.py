"""Rigid sub-chains: bodies of a component that hold more than B(n - 1) units among them."""

from __future__ import annotations

import numpy as np

from mbssa.arrays import Bools, Ints
from mbssa.decomposition.flow import Flow
from mbssa.decomposition.incidence import Incidence

#: Times that bodies with few units are taken off before single components are searched.
_ROUNDS = 3


def rigid_subchains(incidence: Incidence, taken: Ints, label: Ints, count: int) -> tuple[Ints, list[int]]:
    """Violating sub-chain (N,) of each body, -1: none; and the surplus of each, ``units - B(n - 1)``."""
    # In a (B, B)-sparse component every set X of bodies receives at least B units from outside X. A body that
    # can pass B units on to proven bodies proves it for each X around it; else the bodies reached violate it.
    # Units received are submodular: the smallest such sets are disjoint and unique.
    bad = np.full(incidence.n_bodies, -1, dtype=np.int64)
    surplus: list[int] = []
    # A milder test where a component has several B: ranks decide there.
    members = label >= 0
    least = np.full(count, 1 << 40, dtype=np.int64)
    np.minimum.at(least, label[members], incidence.freedom_of_body[members])
    suspects = np.flatnonzero(_suspects(incidence, label, least))
    if not len(suspects):
        return bad, surplus
    flow = Flow.of(incidence, taken)
    proven, closed = bytearray([1]) * incidence.n_bodies, bytearray(incidence.n_bodies)

    moves: list[tuple[int, int]] = []

    def release(root: int, most: int) -> tuple[int, list[int]]:
        """Pass ``most`` units of a body on to proven ones; how many, and if fewer the bodies reached."""
        for units in range(most):
            _, stuck = flow.pass_on(root, proven, closed, moves)
            if stuck:
                return units, stuck
        return most, []

    def smallest(root: int, units: int, chain: list[int]) -> tuple[int, list[int]]:
        """Units received by the smallest violating set in ``chain``, and its bodies."""
        # A body that can pass one unit more than ``units`` on to ``root`` has its least set around it. If
        # all can, the set is the smallest; a body that cannot has reached a smaller one.
        tested, place = [root], 0
        proven[root] = 1
        while place < len(chain):
            body, place = chain[place], place + 1
            if not proven[body]:
                fewer, reached = release(body, units + 1)
                proven[body] = 1
                tested.append(body)
                if reached:
                    units, chain, place = fewer, reached, 0
        for body in tested:
            proven[body] = 0
        return units, chain

    suspects = suspects[np.argsort(label[suspects], kind="stable")]
    for component in np.split(suspects, np.flatnonzero(np.diff(label[suspects])) + 1):
        most = int(least[label[component[0]]])
        queue = component[::-1].tolist()
        for body in queue:
            proven[body] = 0
        while queue:
            body = queue.pop()
            if proven[body]:
                continue
            moves.clear()
            units, done = release(body, most)
            if units < most:
                units, done = smallest(body, units, done)
                # Bodies that are not in the sub-chain are tried again, from where they were.
                for giving, taking in moves:
                    flow.taken[giving] += 1
                    flow.taken[taking] -= 1
                bad[done] = len(surplus)
                surplus.append(most - units)
                queue.append(body)
            else:
                done = [body]
            for each in done:
                proven[each] = 1
            # Next to proven bodies first: their units have a short way to go.
            queue += [
                near
                for each in done
                for slot in flow.slots[each]
                for other in flow.others[slot]
                if not proven[near := flow.body[other]]
            ]
    return bad, surplus


def _suspects(incidence: Incidence, label: Ints, least: Ints) -> Bools:
    """Bodies (N,) that a violating sub-chain may have, by counts alone; mostly none."""
    # A body of a smallest one has more units in its joints than B, else it could be left out. In one of three
    # or more bodies some body has at least the mean, 2 (B (n - 1) + 1) / n >= (4 B + 2) / 3; a pair has
    # parallel joints.
    first, slot_body = incidence.joint_start[:-1], incidence.slot_body
    sizes = np.diff(incidence.joint_start)
    inside = label >= 0
    for _ in range(_ROUNDS):
        key = np.where(inside, label, -1)[slot_body]
        within = np.minimum.reduceat(key, first)
        joints = (within >= 0) & (within == np.maximum.reduceat(key, first)) & (sizes > 1)
        units = np.where(joints, incidence.units, 0)
        held = np.bincount(slot_body, np.repeat(units, sizes), incidence.n_bodies).astype(np.int64)
        inside = inside & (held > incidence.freedom_of_body)
        if not inside.any():
            return inside
    doubtful = np.zeros(len(least), dtype=bool)
    rich = np.flatnonzero(inside)
    rich = rich[3 * held[rich] >= 4 * least[label[rich]] + 2]
    doubtful[label[rich]] = True
    double = np.flatnonzero(joints & (sizes == 2))
    one, other = slot_body[first[double]], slot_body[first[double] + 1]
    pairs, of_pair = np.unique(
        np.minimum(one, other) * incidence.n_bodies + np.maximum(one, other), return_inverse=True
    )
    pair_label = label[pairs // incidence.n_bodies]
    doubtful[pair_label[np.bincount(of_pair, units[double]) > least[pair_label]]] = True
    return inside & doubtful[label]
