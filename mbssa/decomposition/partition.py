"""Result of a search: bodies of each group, in any order, and parts that are not determined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mbssa.arrays import Ints

PartKind = Literal["over", "under"]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a mechanism that the count leaves over- or under-constrained.

    ``units`` is its surplus (over) or shortage (under) of constraint units. ``bodies`` are body
    indices, ``joints`` joint indices: for an over-constrained part the joints among its bodies and
    known ones, that is those that bind it; for an under-constrained part the joints that touch it.
    ``rigid`` names the sub-chain that holds more units than it has freedoms among its own bodies:
    it is over-constrained in itself and moves as one body.

    >>> import mbssa
    >>> twice = [(1, 2, "R", 1), (1, 2, "R", 0), (2, 3, "R", 1)]
    >>> mbssa.decompose(mbssa.from_pairs(3, twice, "planar")).parts
    (Part(kind='over', units=2, bodies=(1,), joints=(0, 1), rigid=()),)
    """

    kind: PartKind
    units: int
    bodies: tuple[int, ...]
    joints: tuple[int, ...]
    rigid: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Partition:
    """Result of a search method before it is numbered."""

    label: Ints  # (N,) group of each body, 0 … n_groups - 1; -1 for the frame and for bodies of parts
    n_groups: int
    parts: tuple[Part, ...] = ()  # not determined, over-constrained first
    note: str = ""  # remark on the search itself, such as a time limit
    unresolved: tuple[int, ...] = ()  # bodies in no group and no part, not reached by the search; label -1
