"""Closed forms and costs of group types, as arrays for the kernels."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from mbssa.arrays import Floats, Ints
from mbssa.group_library import COSTS, LIBRARIES
from mbssa.joints.catalogue import CATALOGUE
from mbssa.structure import Group

#: Type names with a closed form, or a predicate of a group.
Library = Collection[str] | Callable[[Group], bool]

#: µs of a group of n bodies whose type has no known cost, over n²: ``benchmarks/other_costs.py`` fits it.
OTHERWISE = {"planar": 0.07, "spatial": 0.15}


@dataclass(frozen=True, eq=False)
class GroupLibrary:
    """Types of groups in the form of the kernels."""

    types: frozenset[str]
    costs: Mapping[str, float]  # µs a time step, by type
    # predicate: of a group, in place of the types; None where these decide
    predicate: Callable[[Group], bool] | None = None

    def arrays(self, space: str) -> tuple[Ints, Ints, Floats]:
        """Ascending numbers of type names, whether each is in the library, and its cost; -1 if not known."""
        names = {number_of_type(name, space): name for name in {*self.types, *self.costs}}
        numbers = sorted(number for number in names if number is not None)
        closed = [names[number] in self.types for number in numbers]
        costs = [self.costs.get(names[number], -1.0) for number in numbers]
        return (
            np.array(numbers, dtype=np.int64),
            np.array(closed, dtype=np.int64),
            np.array(costs, dtype=float),
        )


def group_library(library: Library | None = None, cost: Mapping[str, float] | None = None) -> GroupLibrary:
    """The library and costs given, by default those of :mod:`mbssa.group_library`."""
    known = dict(COSTS if cost is None else cost)
    if library is None:
        return GroupLibrary(frozenset().union(*LIBRARIES.values()), known)
    if isinstance(library, Collection):
        return GroupLibrary(frozenset(library), known)
    return GroupLibrary(frozenset(), known, library)


_CODES = {row.code for row in CATALOGUE}


@cache
def number_of_code(code: str) -> int:
    """A number for a type of joint; sums of them identify types of groups."""
    return int.from_bytes(hashlib.sha256(code.encode()).digest()[:6], "big")


def number_of_type(name: str, space: str) -> int | None:
    """Sum for a type name such as ``1P1U1S3D``; None for one of the other space, or no type name."""
    if name[-2:] != ("2D" if space == "planar" else "3D"):
        return None
    parts = re.findall(r"(\d+)([A-Z]+)", name[:-2])
    if "".join(map("".join, parts)) != name[:-2] or not {code for _, code in parts} <= _CODES:
        return None
    return sum(int(n) * number_of_code(code) for n, code in parts)
