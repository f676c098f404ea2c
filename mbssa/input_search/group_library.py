"""Closed forms and costs of group types, as arrays."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from mbssa.arrays import Bools, Floats, Ints
from mbssa.group_library import COSTS, LIBRARIES
from mbssa.structure import Group

#: Type names with a closed form, or a predicate of a group.
Library = Collection[str] | Callable[[Group], bool]

#: µs of a group of n bodies whose type has no known cost, over n: ``benchmarks/other_costs.py`` fits it.
OTHERWISE = {"planar": 0.015, "spatial": 0.033}


@dataclass(frozen=True, eq=False)
class GroupLibrary:
    """Types of groups that have closed forms, or a predicate, and costs."""

    types: frozenset[str]
    costs: Mapping[str, float]  # µs a time step, by type
    # predicate: of a group, in place of the types; None where these decide
    predicate: Callable[[Group], bool] | None = None

    def figures(self, sums: Ints, sizes: Ints, space: str) -> tuple[Bools, Floats]:
        """Whether groups are in the library, and their costs, by the sums of their joints' numbers."""
        form = re.compile(rf"(?:\d{{1,4}}[A-Z]+)+{2 if space == 'planar' else 3}D")
        names = {*self.types, *self.costs}
        known = dict(sorted((_number_of_type(name), name) for name in names if form.fullmatch(name)))
        numbers = np.array([*known, -1])
        row = np.searchsorted(numbers[:-1], sums)
        row[numbers[row] != sums] = len(known)
        closed = np.array([*(name in self.types for name in known.values()), False])
        costs = np.array([*(self.costs.get(name, np.nan) for name in known.values()), np.nan])[row]
        return closed[row], np.where(np.isnan(costs), OTHERWISE[space] * sizes, costs)


def group_library(library: Library | None = None, costs: Mapping[str, float] | None = None) -> GroupLibrary:
    """The library and costs given, by default those of :mod:`mbssa.group_library`."""
    known = COSTS if costs is None else costs
    types = frozenset().union(*LIBRARIES.values()) if library is None else library
    if callable(types):
        return GroupLibrary(frozenset(), known, types)
    return GroupLibrary(frozenset(types), known)


@cache
def number_of_code(code: str) -> int:
    """A number for a type of joint; sums of them identify types of groups."""
    return int.from_bytes(hashlib.sha256(code.encode()).digest()[:6], "big")


def _number_of_type(name: str) -> int:
    """Sum for a type name such as ``1P1U1S3D``."""
    return sum(int(n) * number_of_code(code) for n, code in re.findall(r"(\d+)([A-Z]+)", name[:-2]))
