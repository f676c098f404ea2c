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
    """A place on the way at which a group's branch could not be proven to go on.

    Attributes
    ----------
    group : its number
    from_time, to_time : s, of the piece that is not proven: the group is up to its beginning; where two
        branches cross they do so some 1e-6 of an input's way (rad, or of the size) from there. Both are the
        first instant if it is on the way there from the reference
    kind : whether two branches cross, the path ends, or steps ran out
    condition : smallest over largest singular value of the group's Jacobian at ``from_time``

    >>> str(SingularPosition(2, 0.375, 0.375, "path ends", 1e-7))
    'near t = 0.375 s: the branch turns back there (workspace limit)'
    """

    group: int
    from_time: float
    to_time: float
    kind: Kind
    condition: float

    def __str__(self) -> str:
        return f"near t = {self.from_time:.5g} s: {_SAID[self.kind]}"
