"""Modular decomposition of a partial order: parallel, series and prime parts."""

# Sets of groups are bit masks. Two groups are comparable where one has to be solved before the other.

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from routes.dag import Dag


@dataclass(frozen=True, eq=False)
class Closure:
    """All predecessors (``below``) and successors (``above``) of each group, transitively."""

    below: tuple[int, ...]
    above: tuple[int, ...]

    @staticmethod
    def of(dag: Dag) -> Closure:
        """Transitive closure of a DAG."""
        below, above = [0] * len(dag), [0] * len(dag)
        for group in dag.order:
            for other in dag.needs[group]:
                below[group] |= below[other] | 1 << other
        for group in reversed(dag.order):
            for other in dag.needed_by[group]:
                above[group] |= above[other] | 1 << other
        return Closure(tuple(below), tuple(above))


def members(mask: int) -> Iterator[int]:
    """Elements of a set, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def side_by_side(closure: Closure, mask: int) -> list[int]:
    """The parallel parts of a set, which are not comparable, by their lowest group."""
    return _pieces(mask, lambda x: closure.below[x] | closure.above[x])


def in_series(closure: Closure, mask: int) -> list[int]:
    """The series parts of a set, in order: each group of a part needs all groups of the part before."""
    pieces = _pieces(mask, lambda x: ~(closure.below[x] | closure.above[x]))
    return sorted(pieces, key=lambda part: (closure.below[part.bit_length() - 1] & mask).bit_count())


def modules(closure: Closure, mask: int) -> list[int]:
    """Maximal proper modules of a set: each group outside relates alike to all groups of one."""
    # Only for a set that is neither side by side nor in series: there they are disjoint (Gallai).
    found: list[int] = []
    left = mask
    while left:
        first = left & -left
        largest, others = first, left ^ first
        while others:
            other = others & -others
            together = _smallest_module(closure, mask, largest | other)
            if together != mask:
                largest = together
                others &= ~together
            others &= ~other
        found.append(largest)
        left &= ~largest
    return found


def _smallest_module(closure: Closure, mask: int, seed: int) -> int:
    """The smallest module that contains a set: add every group that relates differently to two members."""
    module = 0
    common_below = common_above = mask
    any_below = any_above = 0
    new = seed
    while new:
        for x in members(new):
            common_below &= closure.below[x]
            common_above &= closure.above[x]
            any_below |= closure.below[x]
            any_above |= closure.above[x]
        module |= new
        apart = (any_below & ~common_below) | (any_above & ~common_above)
        new = apart & mask & ~module
    return module


def _pieces(mask: int, beside: Callable[[int], int]) -> list[int]:
    pieces = []
    while mask:
        piece, new = 0, mask & -mask
        while new:
            x = new.bit_length() - 1
            piece |= 1 << x
            mask ^= 1 << x
            new = (new | beside(x)) & mask
        pieces.append(piece)
    return pieces
