"""Order of solution of loops, and the coordinates that each computes."""

# Equations are matched to unknown coordinates; a loop needs the loops that compute a coordinate of its
# joints, and those in a ring are solved together: the fine Dulmage-Mendelsohn decomposition, of loops instead
# of bodies. It does not depend on the matching.

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Literal, NamedTuple

import numpy as np

from mbssa.arrays import Ints
from mbssa.decomposition.flow import reached, strong_components
from mbssa.structure import canonical_order

State = Literal["sound", "over", "under"]


class Block(NamedTuple):
    """Loops that are not torn apart: their equations, and their joints in order."""

    equations: int
    joints: tuple[int, ...]


class Part(NamedTuple):
    """Blocks that are solved together (places in the given list), in the order of solution."""

    blocks: tuple[int, ...]
    joints: tuple[int, ...]  # those with unknown coordinates that the part determines
    state: State
    depends_on: tuple[int, ...]  # numbers from 1
    level: int


def match(blocks: Sequence[Block], unknowns: Mapping[int, int]) -> list[Counter[int]]:
    """Maximum matching: unknowns of each joint that are assigned to the equations of each block."""
    # An equation that has found an unknown keeps one, so where equations are too many it is the last blocks
    # that get none.
    given, room = [Counter[int]() for _ in blocks], Counter(unknowns)
    users: dict[int, list[int]] = {}
    for place, block in enumerate(blocks):
        for joint in block.joints:
            users.setdefault(joint, []).append(place)

    def augment(start: int) -> bool:
        """Give one more unknown to a block; others may have to take a different one."""
        came, queue = {start: (start, -1)}, [start]
        for place in queue:
            for joint in blocks[place].joints:
                if room[joint]:
                    room[joint] -= 1
                    given[place][joint] += 1
                    while place != start:
                        before, gives = came[place]
                        given[place][gives] -= 1
                        given[before][gives] += 1
                        place = before
                    return True
                for other in users[joint]:
                    if other not in came and given[other][joint]:
                        came[other] = (place, joint)
                        queue.append(other)
        return False

    for place, block in enumerate(blocks):
        while given[place].total() < block.equations and augment(place):
            pass
    return given


def order_of_solution(blocks: Sequence[Block], unknowns: Mapping[int, int]) -> list[Part]:
    """Parts of the blocks that can be solved one after another; of those that are ready the smallest."""
    n, given = len(blocks), match(blocks, unknowns)
    holders, taken = [set(+mine) for mine in given], sum(given, Counter[int]())
    missed = [{j for j in block.joints if unknowns.get(j, 0) > taken[j]} for block in blocks]
    pairs = list(permutations(range(n), 2))
    needs = [(k, m) for k, m in pairs if not holders[m].isdisjoint(blocks[k].joints)]
    short = [mine.total() < block.equations for mine, block in zip(given, blocks, strict=True)]
    tail, head = _columns(needs)
    over = reached(n, np.array(short, dtype=bool), tail, head)
    under = reached(n, np.array(missed, dtype=bool), head, tail)
    # Over- or under-determined parts have no order inside: connected loops stay together.
    back = [(m, k) for k, m in needs if (over[k] and over[m]) or (under[k] and under[m])]
    near = [(k, m) for k, m in pairs if not missed[k].isdisjoint(missed[m])]
    label, count = strong_components(n, *_columns([*needs, *back, *near]))
    members = [np.flatnonzero(label == part).tolist() for part in range(count)]
    size = [sum(blocks[k].equations for k in mine) for mine in members]
    arcs = np.unique(label[np.stack([head, tail])], axis=1)
    before, after = arcs[:, arcs[0] != arcs[1]]
    order, levels = canonical_order(np.array(size), np.array([mine[0] for mine in members]), before, after)
    number = {part: place for place, part in enumerate(order.tolist(), 1)}
    parts = []
    for part, level in zip(order.tolist(), levels.tolist(), strict=True):
        mine, first = members[part], members[part][0]
        joints = {joint for k in mine for joint in holders[k]}
        if under[first]:  # coordinates without an equation are listed where they are needed
            joints |= {j for k in mine for j in blocks[k].joints if unknowns.get(j, 0) and not taken[j]}
        state: State = "over" if over[first] else "under" if under[first] else "sound"
        depends_on = tuple(sorted(number[other] for other in before[after == part].tolist()))
        parts.append(Part(tuple(mine), tuple(sorted(joints)), state, depends_on, level))
    return parts


def _columns(arcs: list[tuple[int, int]]) -> Ints:
    return np.array(arcs, dtype=np.int64).reshape(-1, 2).T
