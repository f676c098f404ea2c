"""Evaluation of actuation schemes by mobility count and by rank, a row for each scheme."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from mbssa.arrays import Bools, Ints
from mbssa.input_search.assignment import (
    Graph,
    Groups,
    assigned,
    costs_of,
    groups_of,
    has_rigid_chain,
    structure_keys,
)
from mbssa.input_search.enumerate import Schemes, inputs_by_joint, schemes
from mbssa.input_search.group_library import OTHERWISE, GroupLibrary, number_of_code
from mbssa.input_search.undriven import Undriven
from mbssa.input_search.validity import Coordinates, valid_sets
from mbssa.structure import Group

Column = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Evaluated:
    """Schemes of n inputs over the joints, evaluated by count and by rank."""

    places: Column  # (D, n) int16, joint of each input, ascending; a joint with w inputs appears w times
    variant: Column  # (D,) choice of pairs for the multiple joints; 0 where there are none
    determined: Column  # (D,) whether the count determines every body (after a treatment: for a valid set)
    n_groups: Column  # (D,) 0 where not determined, as the next three
    largest: Column  # (D,) bodies of the largest group
    levels: Column  # (D,)
    width: Column  # (D,) groups of the widest level
    closed: Column  # (D,) groups whose type is in the library
    cost: Column  # (D,) predicted time of one time step, µs
    structure: Column  # (D,) uint64, equal for the same bodies in each group on the same levels
    sets: Column  # (D,) sets of coordinates that the query allows
    valid: Column  # (D,) number of these of full rank
    bits: Column  # (D, n) coordinate of each input in the best valid set, the first set where none is valid
    margin: Column  # (D,) smallest over largest singular value of the released motions; 0 if not valid
    alike: Column  # (D,) schemes equivalent by symmetry, with this one; 0 where another row represents them
    alike_valid: Column  # (D,) those with a valid set: ranks are of the geometry, symmetry of the structure

    def __len__(self) -> int:
        return len(self.places)

    @property
    def n_inputs(self) -> int:
        return int(self.places.shape[1])

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
        shapes = {name: ((n_rows, n_inputs) if name in _WIDE else (n_rows,)) for name in _TYPES}
        made = {name: np.zeros(shape, dtype=_TYPES[name]) for name, shape in shapes.items()}
        made["alike"] += 1
        made["alike_valid"] += 1
        return Evaluated(**made)

    @staticmethod
    def joined(several: Iterable[Evaluated]) -> Evaluated:
        """Join the rows of several, at least one."""
        every = [each.columns() for each in several]
        return Evaluated(**{name: np.concatenate([columns[name] for columns in every]) for name in _TYPES})


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
    "alike_valid": np.int32,
}


def evaluate(base: Undriven, places: npt.NDArray[np.integer[Any]], known: GroupLibrary) -> Evaluated:
    """Evaluate actuation schemes of inputs by count and by rank."""
    # ``places`` (D, n) are joint indices, ascending; neighbouring rows that begin alike cost less.
    if places.ndim != 2 or places.shape[1] != base.n_inputs:
        raise ValueError(f"places of shape {places.shape}; write {base.n_inputs} joints a row")
    evaluated = Evaluated.empty(base.n_inputs, len(places))
    evaluated.places[:] = places
    evaluated.variant[:] = base.variant
    ready = _ready(base)
    evaluated.sets[:] = ready.room.sets(evaluated.places)
    evaluated.bits[:] = _first_bits(base, ready.coordinates, evaluated.places)
    rows, given = assigned(ready.graph, evaluated.places)
    inputs = inputs_by_joint(evaluated.places[rows], base.mechanism.n_joints)
    # A passive rotation stays so if no input moves with it, and its joints are driven together.
    still = np.flatnonzero(((inputs <= ready.usable) & (inputs >= base.locked)).all(axis=1))
    rows, given, inputs = rows[still], given[:, still], inputs[still]
    _valid_sets(base, ready, evaluated, rows)
    groups = groups_of(ready.graph, given)
    # A matrix of full rank has an assignment, and no sub-chain of it holds too much: a valid set needs no
    # second look at the count, unless that is treated (constraints left out, passive rotations locked).
    treated = base.treatment is not None
    doubt = np.flatnonzero((evaluated.valid[rows] > 0) == treated)
    determined = np.ones(len(rows), dtype=bool)
    determined[doubt] = ~has_rigid_chain(groups_of(ready.graph, given[:, doubt]))
    evaluated.valid[rows[~determined]] = 0
    if base.fault:
        evaluated.valid[:] = 0
    if treated:  # constraints are left out and passive rotations locked only for independent inputs
        determined &= evaluated.valid[rows] > 0
    _enter_structures(base, ready, known, evaluated, rows, groups, inputs)
    for column in _STRUCTURE:
        getattr(evaluated, column)[rows[~determined]] = 0
    _margins(base, evaluated)
    if known.predicate is not None:
        _count_closed(base, evaluated, known.predicate)
    return evaluated


#: Decimals of costs in µs: groups come in any order, and sums of equal costs would differ by rounding.
_DIGITS = 9

_STRUCTURE = ("determined", "n_groups", "largest", "levels", "width", "closed", "cost", "structure")


@dataclass(frozen=True, eq=False)
class _Ready:
    """An undriven mechanism in the form of the searches."""

    room: Schemes
    graph: Graph
    coordinates: Coordinates
    usable: Column  # (J,) coordinates of a joint that stop no passive rotation
    singular: float  # a least singular value above it is regular
    volume: float  # so is a volume above it


@lru_cache(maxsize=256)
def _ready(base: Undriven) -> _Ready:
    moving = np.abs(base.moves).any(axis=1).astype(np.int64)
    usable = np.add.reduceat(moving, base.start[:-1]) if base.n_passive else base.mechanism.grade
    return _Ready(schemes(base), Graph(base.incidence), _coordinates(base), usable, *_bounds(base))


def _coordinates(base: Undriven) -> Coordinates:
    """The coordinates that the query allows."""
    joint = np.repeat(np.arange(base.mechanism.n_joints), base.mechanism.grade)
    bit = np.arange(len(joint)) - base.start[joint]
    row = np.flatnonzero(base.allowed[joint] >> bit & 1)
    return Coordinates(
        start=np.concatenate([[0], np.cumsum(np.bitwise_count(base.allowed), dtype=np.int64)]),
        row=row,
        required=(base.required[joint] >> bit & 1)[row].astype(np.int64),
        moves=base.moves[row],
    )


def _first_bits(base: Undriven, coordinates: Coordinates, places: Column) -> Column:
    """Coordinates (D, n) of the first set of each scheme: those that are required, and the lowest others."""
    n_joints, n = len(coordinates.start) - 1, places.shape[1]
    table = np.zeros((n_joints, n + 1, n), dtype=np.int64)
    for j, (start, stop) in enumerate(pairwise(coordinates.start.tolist())):
        bit, required = coordinates.row[start:stop] - base.start[j], coordinates.required[start:stop]
        for w in range(1, min(stop - start, n) + 1):
            table[j, w, :w] = np.sort(bit[np.argsort(-required, kind="stable")][:w])
    same = places[:, :, None] == places[:, None, :]
    return table[places, same.sum(axis=2), np.tril(same, -1).sum(axis=2)]


def _valid_sets(base: Undriven, ready: _Ready, evaluated: Evaluated, rows: Column) -> None:
    """Numbers of valid sets of these rows, and the coordinates of the best, in place."""
    every = ready.coordinates.row

    def regular(sets: Ints) -> Bools:
        least = np.linalg.svd(base.moves[every[sets]], compute_uv=False)[:, -1]
        valid: Bools = least > ready.singular
        for k in np.flatnonzero((least > base.low) & ~valid).tolist():
            valid[k] = base.full_rank(every[sets[k]])
        return valid

    places = evaluated.places[rows]
    found = valid_sets(places, ready.coordinates, base.low, ready.volume, regular)
    evaluated.valid[rows] = found.count
    some = np.flatnonzero(found.count)
    evaluated.bits[rows[some]] = every[found.best[some]] - base.start[places[some]]


def _enter_structures(
    base: Undriven,
    ready: _Ready,
    known: GroupLibrary,
    evaluated: Evaluated,
    rows: Column,
    groups: Groups,
    inputs: Column,
) -> None:
    """Figures of the structural groups of these rows, in place."""
    n = len(rows)
    evaluated.determined[rows] = True
    evaluated.n_groups[rows] = np.bincount(groups.row, minlength=n)
    per_level = np.bincount(groups.row * (groups.level.max(initial=0) + 1) + groups.level)
    for column, row, value in (
        (evaluated.largest, groups.row, groups.size),
        (evaluated.levels, groups.row, groups.level),
        (evaluated.width, np.arange(len(per_level)) // (groups.level.max(initial=0) + 1), per_level),
    ):
        most = np.zeros(n, dtype=np.int64)
        np.maximum.at(most, row, value)
        column[rows] = most
    evaluated.structure[rows] = structure_keys(groups)
    space = base.mechanism.space
    codes = np.array([number_of_code(joint.type.code) for joint in base.mechanism.joints], dtype=np.int64)
    codes[base.fictitious] *= -1
    closed, cost = costs_of(groups, inputs, codes, known.arrays(space), OTHERWISE[space])
    evaluated.closed[rows], evaluated.cost[rows] = closed, np.round(cost, _DIGITS)


def _bounds(base: Undriven) -> tuple[float, float]:
    """Least singular value and volume of ``moves`` beyond which a set is regular by the whole matrix A."""
    # With equations C and coordinates D, |A x| for x = N y + z is at least |C z| >= c |z| and |M y| - |D|
    # |z|: the least singular value of A is at most that of M, at least that over 3 max(1, |D| / c). That of M
    # is at most the distance of a row from the others, at least its volume times ((n-1) / |M|²)^((n-1) / 2).
    n = base.n_inputs
    whole = base.systems[0]
    inputs = float(np.sort((whole.coordinates**2).sum(axis=1))[-n:].sum())
    largest, least = (float(value) for value in whole.values[[0, -1]]) if len(whole.values) else (0.0, 1.0)
    seen = float(np.sort((base.moves**2).sum(axis=1))[-n:].sum())
    singular = whole.tolerance * np.hypot(largest, np.sqrt(inputs)) * 3.0 * max(1.0, np.sqrt(inputs) / least)
    volume = singular * (seen / (n - 1)) ** ((n - 1) / 2) if n > 1 else singular
    return float(singular), float(volume)


def _margins(base: Undriven, evaluated: Evaluated) -> None:
    """Margin of the best valid set of each row, in place."""
    valid = np.flatnonzero(evaluated.valid > 0)
    for some in np.array_split(valid, max(1, -(-len(valid) // 50_000))):
        rows = base.start[evaluated.places[some]] + evaluated.bits[some]
        values = np.linalg.svd(base.moves[rows], compute_uv=False)
        evaluated.margin[some] = values[:, -1] / values[:, 0] if len(some) else 0.0


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
