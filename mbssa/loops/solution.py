"""Order of solution of loops, and the coordinates that each computes."""

# Equations are matched to unknown coordinates; a loop needs the loops that compute a coordinate of its
# joints, and those in a ring are solved together: the fine Dulmage-Mendelsohn decomposition, of loops instead
# of bodies. It does not depend on the matching.

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

State = Literal["sound", "over", "under"]


@dataclass(frozen=True, slots=True)
class Block:
    """Loops that are not torn apart: their equations, and their joints in order."""

    equations: int
    joints: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """Blocks that are solved together (places in the given list), in the order of solution."""

    blocks: tuple[int, ...]
    joints: tuple[int, ...]  # those with unknown coordinates that the part determines
    state: State
    depends_on: tuple[int, ...]
    level: int


def match(blocks: Sequence[Block], unknowns: Mapping[int, int]) -> list[dict[int, int]]:
    """Maximum matching: unknowns of each joint that are assigned to the equations of each block."""
    # An equation that has found an unknown keeps one, so where equations are too many it is the last blocks
    # that get none.
    given: list[dict[int, int]] = [{} for _ in blocks]
    room = dict(unknowns)
    holders: dict[int, list[int]] = {}
    for place, block in enumerate(blocks):
        for joint in block.joints:
            holders.setdefault(joint, []).append(place)
    for place, block in enumerate(blocks):
        for _ in range(block.equations):
            if not _augment(place, blocks, given, room, holders):
                break
    return given


def _augment(
    start: int,
    blocks: Sequence[Block],
    given: list[dict[int, int]],
    room: dict[int, int],
    holders: Mapping[int, Sequence[int]],
) -> bool:
    """Give one more unknown to a block; others may have to take a different one."""
    came: dict[int, tuple[int, int]] = {start: (-1, -1)}
    queue = [start]
    for place in queue:
        for joint in blocks[place].joints:
            if room.get(joint, 0):
                room[joint] -= 1
                while place >= 0:
                    given[place][joint] = given[place].get(joint, 0) + 1
                    before, gives = came[place]
                    if before >= 0:
                        given[place][gives] -= 1
                    place, joint = before, gives
                return True
            for other in holders[joint]:
                if other not in came and given[other].get(joint, 0):
                    came[other] = (place, joint)
                    queue.append(other)
    return False


def order_of_solution(blocks: Sequence[Block], unknowns: Mapping[int, int]) -> tuple[Part, ...]:
    """Parts of the blocks that can be solved one after another; of those that are ready the smallest."""
    given = match(blocks, unknowns)
    holders = [{joint for joint, n in mine.items() if n} for mine in given]
    left = {joint: unknowns.get(joint, 0) for block in blocks for joint in block.joints}
    for mine in given:
        for joint, n_given in mine.items():
            left[joint] -= n_given
    n = len(blocks)
    needs = [[m for m in range(n) if m != k and holders[m] & set(blocks[k].joints)] for k in range(n)]
    short = [k for k in range(n) if sum(given[k].values()) < blocks[k].equations]
    over = _reached(short, needs.__getitem__)
    wanting = [k for k in range(n) if any(left[j] for j in blocks[k].joints)]
    under = _reached(wanting, lambda k: [m for m in range(n) if m != k and k in needs[m]])
    missed = [{j for j in blocks[k].joints if left[j]} for k in range(n)]
    label = _together(needs, over, under, missed)
    return _ordered(blocks, unknowns, holders, needs, label, {"over": over, "under": under})


def _reached(start: Iterable[int], leads: Callable[[int], Sequence[int]]) -> set[int]:
    found = list(start)
    seen = set(found)
    for each in found:
        for other in leads(each):
            if other not in seen:
                seen.add(other)
                found.append(other)
    return seen


def _together(
    needs: Sequence[Sequence[int]], over: set[int], under: set[int], missed: Sequence[set[int]]
) -> list[int]:
    """A label for each block: the lowest block that is solved together with it."""
    label = list(range(len(needs)))
    reach = [_reached([k], needs.__getitem__) for k in label]
    for k in range(len(needs)):
        for m in range(k):
            there, back = m in reach[k], k in reach[m]
            # Over- or under-determined parts have no order inside: connected loops stay together.
            odd = {k, m} <= over and (there or back)
            odd |= {k, m} <= under and (there or back or not missed[k].isdisjoint(missed[m]))
            if label[k] != label[m] and (odd or (there and back)):
                new, old = sorted((label[k], label[m]))
                label = [new if each == old else each for each in label]
    return label


def _ordered(
    blocks: Sequence[Block],
    unknowns: Mapping[int, int],
    holders: Sequence[set[int]],
    needs: Sequence[Sequence[int]],
    label: Sequence[int],
    odd: Mapping[State, set[int]],
) -> tuple[Part, ...]:
    members = {lead: [k for k, each in enumerate(label) if each == lead] for lead in sorted(set(label))}
    before = {lead: {label[m] for k in mine for m in needs[k]} - {lead} for lead, mine in members.items()}
    joints = {lead: set[int]().union(*(holders[k] for k in mine)) for lead, mine in members.items()}
    for lead, mine in members.items():
        if mine[0] in odd["under"]:
            # Coordinates without an equation are listed where they are needed.
            all_given = set[int]().union(*holders)
            free = {j for k in mine for j in blocks[k].joints if unknowns.get(j, 0) and j not in all_given}
            joints[lead] |= free
    place: dict[int, int] = {}
    parts: list[Part] = []
    while len(parts) < len(members):
        ready = [lead for lead in members if lead not in place and before[lead] <= place.keys()]
        lead = min(ready, key=lambda each: (sum(blocks[k].equations for k in members[each]), each))
        place[lead] = len(parts)
        first = members[lead][0]
        state: State = next((name for name, which in odd.items() if first in which), "sound")
        after = tuple(sorted(place[each] for each in before[lead]))
        parts.append(
            Part(
                tuple(members[lead]),
                tuple(sorted(joints[lead])),
                state,
                after,
                1 + max((parts[each].level for each in after), default=0),
            )
        )
    return tuple(parts)
