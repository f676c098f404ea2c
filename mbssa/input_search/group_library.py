"""Closed forms and costs of group types, as arrays."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from mbssa.arrays import Floats, Ints
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

    def arrays(self, space: str) -> tuple[Ints, Ints, Floats]:
        """Ascending numbers of type names, whether each is in the library, and its cost; -1 if not known."""
        form = re.compile(rf"(\d{{1,4}}[A-Z]+)+{2 if space == 'planar' else 3}D")
        rows = sorted(
            (number_of_type(name), name in self.types, self.costs.get(name, -1.0))
            for name in {*self.types, *self.costs}
            if form.fullmatch(name)
        )
        numbers, closed, costs = np.array(rows, dtype=object).reshape(-1, 3).T
        return numbers.astype(np.int64), closed.astype(np.int64), costs.astype(np.float64)


def group_library(library: Library | None = None, costs: Mapping[str, float] | None = None) -> GroupLibrary:
    """The library and costs given, by default those of :mod:`mbssa.group_library`."""
    known = COSTS if costs is None else costs
    types = frozenset().union(*LIBRARIES.values()) if library is None else library
    return (
        GroupLibrary(frozenset(), known, types) if callable(types) else GroupLibrary(frozenset(types), known)
    )


@cache
def number_of_code(code: str) -> int:
    """A number for a type of joint; sums of them identify types of groups."""
    return int.from_bytes(hashlib.sha256(code.encode()).digest()[:6], "big")


def number_of_type(name: str) -> int:
    """Sum for a type name such as ``1P1U1S3D``."""
    return sum(int(n) * number_of_code(code) for n, code in re.findall(r"(\d+)([A-Z]+)", name[:-2]))
