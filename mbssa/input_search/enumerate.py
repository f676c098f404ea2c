"""Actuation schemes (numbers of inputs of each joint): their numbers and enumeration."""

# The mobility count depends on the number of driven coordinates of each joint, not on which they are: sets of
# inputs fall into schemes. Both are counted by products of polynomials before any is listed, and schemes are
# numbered in lexicographic order of the joints of their inputs.

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import comb, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from mbssa.arrays import Ints
from mbssa.input_search.undriven import Undriven

#: Schemes up to which they have numbers that fit a machine word.
MOST = 1 << 62


@dataclass(frozen=True, eq=False)
class Schemes:
    """Actuation schemes of ``n_inputs`` inputs that a query allows."""

    n_inputs: int
    # ways: (J, W) object, sets of w coordinates that joint j may have; 0 where it may not have w inputs
    ways: npt.NDArray[np.object_]

    @cached_property
    def later(self) -> npt.NDArray[np.object_]:
        """Numbers (J + 1, n + 1) of schemes of k inputs over the joints j and after."""
        return _products((self.ways > 0).astype(object), self.n_inputs)

    @property
    def count(self) -> int:
        """Number of schemes."""
        return int(self.later[0, self.n_inputs])

    @cached_property
    def n_sets(self) -> int:
        """Number of sets of coordinates in all schemes."""
        return int(_products(self.ways, self.n_inputs)[0, self.n_inputs])

    def places(self, first: int = 0, stop: int | None = None) -> npt.NDArray[np.int16]:
        """Joint index (D, n) of each input of the schemes ``first`` to ``stop`` (excluded)."""
        if self.count >= MOST:
            raise ValueError(f"{self.count} schemes are too many to be numbered")
        numbers = np.arange(first, self.count if stop is None else min(stop, self.count), dtype=np.int64)
        return self.numbered(numbers)

    def numbered(self, numbers: Ints) -> npt.NDArray[np.int16]:
        """Joint index (D, n) of each input of the schemes with these numbers."""
        later = self.later.astype(np.int64)
        rest, left = numbers.copy(), np.full(len(numbers), self.n_inputs)
        inputs = np.zeros((len(numbers), len(self.ways)), dtype=np.int64)
        for j, ways in enumerate(self.ways):
            undecided = np.ones(len(numbers), dtype=bool)
            # More inputs on an earlier joint come first.
            for w in np.flatnonzero(ways[: self.n_inputs + 1] > 0)[::-1].tolist():
                here = np.where(left >= w, later[j + 1, left - w], 0)
                taken = undecided & (rest < here)
                inputs[taken, j] = w
                undecided &= ~taken
                rest[undecided] -= here[undecided]
            left -= inputs[:, j]
        every = np.broadcast_to(np.arange(len(self.ways), dtype=np.int16), inputs.shape)
        return np.repeat(every.ravel(), inputs.ravel()).reshape(len(numbers), self.n_inputs)

    def sets(self, places: npt.NDArray[np.int16]) -> Ints:
        """Numbers (D,) of sets of coordinates of each scheme; 0 for one that is not allowed."""
        if self.n_sets >= MOST and prod(self.ways.max(axis=1, initial=1)) >= MOST:
            raise ValueError("sets of coordinates are too many to be counted in a machine word")
        inputs = inputs_by_joint(places, len(self.ways))
        most = self.ways.shape[1]
        ways = np.hstack([self.ways, np.zeros((len(self.ways), 1), dtype=object)]).astype(np.int64)
        return np.asarray(ways[np.arange(len(ways)), np.minimum(inputs, most)].prod(axis=1))


@lru_cache(maxsize=256)
def schemes(base: Undriven) -> Schemes:
    """The schemes that the query of an undriven mechanism allows."""
    ways = np.zeros((base.mechanism.n_joints, 1 + max(int(base.most.max(initial=0)), 1)), dtype=object)
    allowed, required = (base.by_joint(mask).tolist() for mask in (base.allowed, base.required))
    for j in range(len(ways)):
        for w in range(int(base.least[j]), int(base.most[j]) + 1):
            ways[j, w] = comb(allowed[j] - required[j], w - required[j])
    return Schemes(base.n_inputs, ways)


def inputs_by_joint(places: npt.NDArray[np.integer[Any]], n_joints: int) -> Ints:
    """Number of inputs (D, J) of each joint."""
    cells = places + n_joints * np.arange(len(places))[:, None]
    return np.bincount(cells.ravel(), minlength=len(places) * n_joints).reshape(len(places), n_joints)


def _products(ways: npt.NDArray[np.object_], n: int) -> npt.NDArray[np.object_]:
    """Coefficients (J + 1, n + 1) of the products of these polynomials, of the last joints."""
    later = np.zeros((len(ways) + 1, n + 1), dtype=object)
    later[-1, 0] = 1
    for j in range(len(ways) - 1, -1, -1):
        for w in range(min(ways.shape[1] - 1, n) + 1):
            if ways[j, w]:
                later[j, w:] += ways[j, w] * later[j + 1, : n + 1 - w]
    return later
