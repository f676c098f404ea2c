"""A singular position between two time steps: where it is, and what becomes of the path there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["branches cross", "path ends", "unresolved"]
_SAID = {
    "branches cross": "two branches cross there; the group is proven up to it",
    "path ends": "the branch turns back there (workspace limit)",
    "unresolved": "no shorter step could be proven; give more instants there",
}


@dataclass(frozen=True)
class SingularPosition:
    """Position of a motion at which a group's branch could not be proven to go on."""

    group: int  # number
    # Time (s) up to which the group is proven; equal to to_time on the way there from the reference.
    from_time: float
    to_time: float  # s, end of the piece that is not proven
    # Branches that cross do so some 1e-6 of an input's way (rad, or over the size) from from_time.
    kind: Kind
    condition: float  # smallest over largest singular value of the group's Jacobian at from_time

    def __str__(self) -> str:
        return f"near t = {self.from_time:.5g} s: {_SAID[self.kind]}"
