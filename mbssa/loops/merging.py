"""Wehage's partition of a spanning tree with cut joints into kinematic substructures."""

# K. T. Wehage, R. A. Wehage and B. Ravani, Mechanism and Machine Theory 92 (2015) 464-483. When loops are
# merged is printed nowhere: the rule is that of kinematic_substructuring.py in kriswehage/kinematic-
# substructuring (2015, two-clause BSD); the code is ours. Loops that begin at the frame are never merged.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Substructure:
    """Loops that are solved together.

    ``loops`` are their numbers, 1 for the first pair of terminators; ``members`` the bodies of each, the
    base first, then from both sides in turn to the terminators.

    >>> from mbssa.loops import wehage
    >>> print(wehage([0, 1, 2, 1, 4], [[3, 5]])[0])
    1: loop 1 {1, 2, 4, 3, 5}
    """

    number: int
    loops: tuple[int, ...]
    members: tuple[tuple[int, ...], ...]

    def __str__(self) -> str:
        loops = zip(self.loops, self.members, strict=True)
        return f"{self.number}: " + ", ".join(
            f"loop {number} {{{', '.join(map(str, bodies))}}}" for number, bodies in loops
        )


def wehage(parents: Sequence[int], terminators: Sequence[Sequence[int]]) -> tuple[Substructure, ...]:
    """Substructures of a mechanism that is given as in Tables 1, 4 and 6 of the paper.

    Parameters
    ----------
    parents : P, the parent of body 1, 2, …; 0 for body 1, the frame; virtual bodies are numbered too
    terminators : two bodies of each loop, one of them virtual: they coincide when the loop is closed

    Raises
    ------
    ValueError
        Not a tree, or terminators that are no two bodies of it; every fault is named.

    Examples
    --------
    The rotor, Table 4 with the parent 4 of body 7, which the table prints as 3, gives Table 5:

    >>> P = [0, 1, 1, 1, 2, 3, 4, 9, 13, 1, 9, 8, 1, 11, 13, 15, 5, 10, 6, 7, 16, 12]
    >>> for each in wehage(P, [[9, 18], [9, 19], [14, 21], [11, 20], [16, 22], [8, 17]]):
    ...     print(each)
    1: loop 1 {1, 13, 10, 9, 18}
    2: loop 2 {1, 13, 3, 6, 9, 19}
    3: loop 4 {1, 13, 4, 9, 7, 11, 20}
    4: loop 6 {1, 13, 2, 9, 5, 8, 17}
    5: loop 3 {13, 9, 15, 11, 16, 14, 21}, loop 5 {13, 15, 9, 8, 12, 16, 22}
    """
    if faults := _faults(parents, terminators):
        raise ValueError("; ".join(faults))
    loops = [(number, _members(parents, *pair)) for number, pair in enumerate(terminators, 1)]
    merged: list[list[tuple[int, tuple[int, ...]]]] = []
    for number, (base, *others) in sorted(loops, key=lambda loop: loop[1][0]):
        # A loop joins a substructure if a base there is its own or on its way to the frame, the frame not
        # counted, and the two share a body besides their bases.
        above = set(way_to_frame(parents, base)[:-1])
        fits = [
            each
            for each in merged
            if any(members[0] in above and not {*others}.isdisjoint(members[1:]) for _, members in each)
        ]
        # The script puts a loop that fits several into each; here it joins them to one, as substructures
        # shall not overlap.
        if not fits:
            merged.append([])
        chosen, *rest = fits or merged[-1:]
        for each in rest:
            chosen += each
            merged.remove(each)
        chosen.append((number, (base, *others)))
    return tuple(
        Substructure(number, tuple(loop for loop, _ in each), tuple(members for _, members in each))
        for number, each in enumerate(merged, 1)
    )


def way_to_frame(parents: Sequence[int], body: int) -> list[int]:
    """Path from the body over its parents to the frame."""
    way = [body]
    while parents[way[-1] - 1]:
        way.append(parents[way[-1] - 1])
    return way


def _members(parents: Sequence[int], first: int, second: int) -> tuple[int, ...]:
    """Bodies of a loop, from the base outwards, the first terminator's side before the second's."""
    up, other = way_to_frame(parents, first), way_to_frame(parents, second)
    lead, lag = max(len(up) - len(other), 0), max(len(other) - len(up), 0)
    inwards = [second, first, *up[1 : 1 + lead], *other[1 : 1 + lag]]
    # Where one terminator lies on the other's way to the frame, the next body is the base: peculiar to the
    # script, but printed in Table 7 (loop ii, where Table 6 has [1, 4] instead of [1, 18]).
    for a, b in zip(up[lead:], other[lag:], strict=True):
        if a == b:
            break
        inwards += [parents[b - 1], parents[a - 1]]
    # The base has been written twice: by both sides, or as a terminator and by the other side.
    return tuple(reversed(inwards[:-1]))


def _faults(parents: Sequence[int], terminators: Sequence[Sequence[int]]) -> list[str]:
    """Faults of the lists; empty where there are none."""
    n = len(parents)
    if n == 0 or parents[0] != 0:
        return ["the first parent is that of body 1, the frame; write 0"]
    faults = [
        f"the parent of body {body} is {parent}; write one of 1 to {n}"
        for body, parent in enumerate(parents[1:], 2)
        if not 1 <= parent <= n
    ]
    for number, pair in enumerate(terminators, 1):
        if len(pair) != 2 or pair[0] == pair[1] or not all(1 <= body <= n for body in pair):
            faults.append(f"terminators {number} are {list(pair)}; write two different bodies of 1 to {n}")
    if faults:
        return faults
    above = list(range(1, n + 1))
    for _ in parents:
        above = [body and parents[body - 1] for body in above]
    lost = ", ".join(str(body) for body, rest in enumerate(above, 1) if rest)
    return [f"the parents of the bodies {lost} do not lead to the frame"] if lost else []
