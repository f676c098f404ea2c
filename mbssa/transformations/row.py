"""One distribution of inputs and its figures: what a search and a store both name."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """One distribution of the inputs over the joints, shown by the best set of coordinates that it has.

    Attributes
    ----------
    inputs : driven coordinates, as ``1-2.slide``
    n_groups, largest, levels, width : groups, bodies of the largest, levels, groups of the widest level;
        0 where the count does not determine the mechanism
    closed_forms : groups whose type is in the library
    cost : predicted time of one instant, µs
    valid : whether this set has full rank
    sets, valid_sets : sets of coordinates of the same joints, and how many of them are valid
    margin : smallest over largest singular value of what the set leaves free, 0 where it is not valid
    pairs : body numbers of the pairs that stand for the multiple joints; empty where there are none
    """

    inputs: tuple[str, ...]
    n_groups: int
    largest: int
    levels: int
    width: int
    closed_forms: int
    cost: float
    valid: bool
    sets: int
    valid_sets: int
    margin: float
    pairs: str

    def figures(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {each.name: _plain(getattr(self, each.name)) for each in fields(Row)}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
