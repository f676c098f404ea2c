"""What is known of distributions of inputs once they are judged: one row a distribution, in columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Judged:
    """Distributions of n inputs over the joints, judged by count and by rank.

    Attributes
    ----------
    places : (D, n) int16, joint index of each input, ascending; a joint with w inputs appears w times
    variant : (D,) int32, which choice of pairs for the multiple joints; 0 where there are none
    determined : (D,) bool, whether the count determines every body
    n_groups, largest, levels : (D,) int32, groups, bodies of the largest one, levels; 0 where not determined
    width : (D,) int32, groups of the level that has most
    closed : (D,) int32, groups whose type is in the library
    cost : (D,) float64, predicted time of one instant, µs
    structure : (D,) uint64, equal for equal structures: the same bodies in each group, on the same level
    sets : (D,) int64, sets of coordinates that the question allows
    valid : (D,) int64, how many of them have full rank
    bits : (D, n) int8, coordinate of each input in the best valid set, the first set where none is valid
    margin : (D,) float64, smallest over largest singular value of what that set leaves free; 0 where it
        is not valid
    alike : (D,) int32, distributions that symmetry makes the same as this one, itself included
    """

    places: Column
    variant: Column
    determined: Column
    n_groups: Column
    largest: Column
    levels: Column
    width: Column
    closed: Column
    cost: Column
    structure: Column
    sets: Column
    valid: Column
    bits: Column
    margin: Column
    alike: Column

    def __len__(self) -> int:
        return len(self.places)

    @property
    def n_inputs(self) -> int:
        return int(self.places.shape[1])

    @property
    def open(self) -> Column:
        """(D,) groups whose type is not in the library."""
        return np.asarray(self.n_groups - self.closed)

    def columns(self) -> dict[str, Column]:
        """Columns by name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def take(self, rows: Column) -> Judged:
        """Some of the rows, by index or mask."""
        return Judged(**{name: column[rows] for name, column in self.columns().items()})

    @staticmethod
    def empty(n_inputs: int, n_rows: int = 0) -> Judged:
        """Rows of zeros, ``alike`` of ones.

        >>> len(Judged.empty(3))
        0
        """
        shapes = {name: ((n_rows, n_inputs) if name in _WIDE else (n_rows,)) for name in _TYPES}
        made = {name: np.zeros(shape, dtype=_TYPES[name]) for name, shape in shapes.items()}
        made["alike"] += 1
        return Judged(**made)

    @staticmethod
    def joined(several: Iterable[Judged]) -> Judged:
        """All rows of several, in their order; there must be one at least.

        >>> len(Judged.joined([Judged.empty(3, 2), Judged.empty(3, 5)]))
        7
        """
        every = [each.columns() for each in several]
        return Judged(**{name: np.concatenate([columns[name] for columns in every]) for name in _TYPES})


_WIDE = ("places", "bits")
_TYPES: dict[str, Any] = {
    "places": np.int16,
    "variant": np.int32,
    "determined": np.bool_,
    "n_groups": np.int32,
    "largest": np.int32,
    "levels": np.int32,
    "width": np.int32,
    "closed": np.int32,
    "cost": np.float64,
    "structure": np.uint64,
    "sets": np.int64,
    "valid": np.int64,
    "bits": np.int8,
    "margin": np.float64,
    "alike": np.int32,
}
