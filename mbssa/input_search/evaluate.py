"""Evaluation of actuation schemes by mobility count and by rank, a row for each scheme."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, get_type_hints

import numpy as np
import numpy.typing as npt

from mbssa.arrays import Bools, Floats, Ints
from mbssa.group_library import COSTS, LIBRARIES
from mbssa.input_search.assignment import (
    Groups,
    assigned,
    groups_of,
    has_rigid_chain,
    joint_owners,
    structure_keys,
)
from mbssa.input_search.enumerate import inputs_by_joint, schemes
from mbssa.input_search.undriven import Undriven
from mbssa.input_search.validity import valid_sets
from mbssa.structure import Group

Column = npt.NDArray[Any]

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


@dataclass(frozen=True, eq=False)
class Evaluated:
    """Schemes (D,) of n inputs over the joints, evaluated by count and by rank."""

    places: Annotated[Column, np.int16]  # (D, n) joint of each input, ascending; w times for w inputs
    variant: Annotated[Column, np.int32]  # choice of pairs for the multiple joints; 0 where there are none
    determined: Annotated[Column, np.bool_]  # by count; after a treatment, by a valid set
    n_groups: Annotated[Column, np.int32]  # 0 where not determined, as the next three
    largest: Annotated[Column, np.int32]  # bodies of the largest group
    levels: Annotated[Column, np.int32]
    width: Annotated[Column, np.int32]  # groups of the widest level
    closed: Annotated[Column, np.int32]  # groups whose type is in the library
    cost: Annotated[Column, np.float64]  # predicted time of one time step, µs
    structure: Annotated[Column, np.uint64]  # equal for the same bodies in each group on the same levels
    sets: Annotated[Column, np.int64]  # sets of coordinates that the query allows
    valid: Annotated[Column, np.int64]  # number of these of full rank
    bits: Annotated[Column, np.int8]  # (D, n) coordinates of the best valid set, else of the first set
    margin: Annotated[Column, np.float64]  # least over largest singular value of the released motions, or 0
    alike: Annotated[Column, np.int32]  # schemes equivalent by symmetry; 0 where another row represents them
    alike_valid: Annotated[Column, np.int32]  # those with a valid set: ranks are of the geometry

    def __len__(self) -> int:
        return len(self.places)

    @property
    def open(self) -> Column:
        """Numbers (D,) of groups whose type is not in the library."""
        return np.asarray(self.n_groups - self.closed)

    def columns(self) -> dict[str, Column]:
        """Columns by name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def figures(self) -> dict[str, Column]:
        """Columns by the names of the attributes of :class:`~mbssa.input_search.result.Row`."""
        names = ("n_groups", "largest", "levels", "width", "cost", "sets", "alike", "alike_valid", "margin")
        own = {"closed_forms": self.closed, "valid": self.valid > 0, "valid_sets": self.valid}
        return own | {name: getattr(self, name) for name in names}

    def take(self, rows: Column) -> Evaluated:
        """Some of the rows, by index or mask."""
        return Evaluated(**{name: column[rows] for name, column in self.columns().items()})

    @staticmethod
    def empty(n_inputs: int, n_rows: int = 0) -> Evaluated:
        """Rows of zeros, ``alike`` and ``alike_valid`` of ones."""
        made = {
            name: np.zeros((n_rows, n_inputs) if name in ("places", "bits") else n_rows, hint.__metadata__[0])
            for name, hint in get_type_hints(Evaluated, include_extras=True).items()
        }
        made["alike"] += 1
        made["alike_valid"] += 1
        return Evaluated(**made)

    @staticmethod
    def joined(several: Iterable[Evaluated]) -> Evaluated:
        """Join the rows of several, at least one."""
        columns = zip(*(each.columns().values() for each in several), strict=True)
        return Evaluated(*map(np.concatenate, columns))


def evaluate(base: Undriven, places: npt.NDArray[np.integer[Any]], known: GroupLibrary) -> Evaluated:
    """Evaluate actuation schemes of inputs by count and by rank."""
    # ``places`` (D, n) are joint indices, ascending; neighbouring rows that begin alike cost less.
    if places.ndim != 2 or places.shape[1] != base.n_inputs:
        raise ValueError(f"places of shape {places.shape}; write {base.n_inputs} joints a row")
    evaluated = Evaluated.empty(base.n_inputs, len(places))
    evaluated.places[:] = places
    evaluated.variant[:] = base.variant
    evaluated.sets[:] = schemes(base).sets(evaluated.places)
    evaluated.bits[:] = _first_bits(base, evaluated.places)
    rows, given = assigned(base.incidence, base.given, evaluated.places)
    inputs = inputs_by_joint(evaluated.places[rows], base.mechanism.n_joints)
    # A passive rotation stays so if no input moves with it, and its joints are driven together.
    still = np.flatnonzero(((inputs <= base.usable) & (inputs >= base.locked)).all(axis=1))
    rows, given, inputs = rows[still], given[:, still], inputs[still]
    every, joints = base.coordinates.row, evaluated.places[rows]
    n_valid, best = valid_sets(
        joints, base.coordinates, base.low, base.volume, lambda sets: base.full_rank(every[sets])
    )
    some = np.flatnonzero(n_valid)
    evaluated.bits[rows[some]] = every[best[some]] - base.start[joints[some]]
    # A matrix of full rank has an assignment, and no sub-chain of it holds too much: a valid set needs no
    # second look at the count, unless that is treated (constraints left out, passive rotations locked).
    treated = base.treatment is not None
    groups = groups_of(base.incidence, given)
    doubt = np.flatnonzero((n_valid > 0) == treated)
    determined = np.ones(len(rows), dtype=bool)
    determined[doubt] = ~has_rigid_chain(groups, doubt, inputs)
    valid = np.where(determined & (not base.fault), n_valid, 0)
    if treated:  # constraints are left out and passive rotations locked only for independent inputs
        determined &= valid > 0
    evaluated.valid[rows], evaluated.determined[rows] = valid, determined
    for name, column in _figures(base, known, groups, inputs).items():
        getattr(evaluated, name)[rows] = np.where(determined, column, 0)
    for some in np.array_split(np.flatnonzero(evaluated.valid), 1 + len(rows) // 50_000):
        values = np.linalg.svd(base.moves[base.start[places[some]] + evaluated.bits[some]], compute_uv=False)
        evaluated.margin[some] = values[:, -1] / values[:, 0] if len(some) else 0.0
    if known.predicate is not None:
        _count_closed(base, evaluated, known.predicate)
    return evaluated


def _first_bits(base: Undriven, places: Column) -> Column:
    """Coordinates (D, n) of the first set of each scheme: those that are required, and the lowest others."""
    coordinates, n_joints, n = base.coordinates, base.mechanism.n_joints, places.shape[1]
    table = np.zeros((n_joints, n + 1, n), dtype=np.int64)
    for j, (start, stop) in enumerate(pairwise(coordinates.start.tolist())):
        bit, required = coordinates.row[start:stop] - base.start[j], coordinates.required[start:stop]
        for w in range(1, min(stop - start, n) + 1):
            table[j, w, :w] = np.sort(bit[np.argsort(~required, kind="stable")][:w])
    same = places[:, :, None] == places[:, None, :]
    return np.asarray(table[places, same.sum(axis=2), np.tril(same, -1).sum(axis=2)])


def _figures(base: Undriven, known: GroupLibrary, groups: Groups, inputs: Column) -> dict[str, Column]:
    """Columns of the structural groups of schemes."""
    n, row, space = len(inputs), groups.row, base.mechanism.space
    largest, levels = np.zeros((2, n), dtype=np.int64)
    np.maximum.at(largest, row, groups.size)
    np.maximum.at(levels, row, groups.level)
    depth = 1 + int(levels.max(initial=0))
    width = np.bincount(row * depth + groups.level, minlength=n * depth).reshape(n, depth).max(axis=1)
    free = base.incidence.units + inputs == 0
    codes = np.array([number_of_code(joint.type.code) for joint in base.mechanism.joints], dtype=np.int64)
    counted = np.where(free & np.isin(np.arange(len(codes)), base.fictitious), 0, codes)
    sums = np.zeros(len(groups.size), dtype=np.int64)
    np.add.at(sums, joint_owners(groups, free), counted)
    closed, cost = known.figures(sums, groups.size, space)
    # Groups come in any order: sums of equal costs differ by rounding.
    return {
        "n_groups": np.bincount(row, minlength=n), "largest": largest, "levels": levels, "width": width,
        "structure": structure_keys(groups), "closed": np.bincount(row, closed, n),
        "cost": np.round(np.bincount(row, cost, n), 9),
    }  # fmt: skip


def _count_closed(base: Undriven, evaluated: Evaluated, predicate: Callable[[Group], bool]) -> None:
    """Count groups with a closed form by a predicate, in place; once for each structure."""
    from mbssa.analysis.decompose import decompose

    chosen = np.flatnonzero(evaluated.determined)
    _, first, same = np.unique(evaluated.structure[chosen], return_index=True, return_inverse=True)
    counts = []
    for row in chosen[first].tolist():
        mechanism = base.driven_by(base.names(evaluated.places[row], evaluated.bits[row]))
        groups = decompose(mechanism, precision=base.query.precision).groups
        counts.append(sum(bool(predicate(group)) for group in groups))
    evaluated.closed[chosen] = np.array(counts, dtype=np.int32)[same]
