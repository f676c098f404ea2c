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
        rows = {}
        for name in sorted({*self.types, *self.costs}):
            number = number_of_type(name, space)
            if number is not None:
                rows[number] = (int(name in self.types), float(self.costs.get(name, -1.0)))
        numbers = sorted(rows)
        return (
            np.array(numbers, dtype=np.int64),
            np.array([rows[number][0] for number in numbers], dtype=np.int64),
            np.array([rows[number][1] for number in numbers], dtype=np.float64),
        )


def group_library(library: Library | None = None, cost: Mapping[str, float] | None = None) -> GroupLibrary:
    """The library and costs given, by default those of :mod:`mbssa.group_library`."""
    known = dict(COSTS if cost is None else cost)
    if library is None:
        return GroupLibrary(frozenset().union(*LIBRARIES.values()), known)
    if isinstance(library, Collection):
        return GroupLibrary(frozenset(library), known)
    return GroupLibrary(frozenset(), known, library)


@cache
def number_of_code(code: str) -> int:
    """A number for a type of joint; sums of them identify types of groups."""
    return int.from_bytes(hashlib.sha256(code.encode()).digest()[:6], "big")


def number_of_type(name: str, space: str) -> int | None:
    """Sum for a type name such as ``1P1U1S3D``; None for one of the other space, or no type name."""
    if name[-2:] != ("2D" if space == "planar" else "3D"):
        return None
    parts = re.findall(r"(\d+)([A-Z]+)", name[:-2])
    if "".join(n + code for n, code in parts) != name[:-2]:
        return None
    if any(code not in {row.code for row in CATALOGUE} for _, code in parts):
        return None
    return sum(int(n) * number_of_code(code) for n, code in parts)
