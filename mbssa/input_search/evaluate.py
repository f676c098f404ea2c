"""Evaluation of actuation schemes by mobility count and by rank, a row for each scheme."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt

from mbssa.input_search import kernels
from mbssa.input_search.count_kernels import Graph, assign, kernel
from mbssa.input_search.enumerate import Schemes, schemes
from mbssa.input_search.group_library import OTHERWISE, GroupLibrary, number_of_code, numbers_of_body
from mbssa.input_search.undriven import Undriven
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
    # ``places`` (D, n) are joint indices, ascending; rows that begin like the row before cost less.
    if places.ndim != 2 or places.shape[1] != base.n_inputs:
        raise ValueError(f"places of shape {places.shape}; write {base.n_inputs} joints a row")
    evaluated = Evaluated.empty(base.n_inputs, len(places))
    evaluated.places[:] = places
    evaluated.variant[:] = base.variant
    ready = _ready(base, known)
    evaluated.sets[:] = ready.room.sets(evaluated.places)
    if not len(places):
        return evaluated
    if ready.count is None:
        kernel(kernels.first_sets, places.size)(places.astype(np.int64), ready.coordinates, evaluated.bits)
        return evaluated
    numbers = np.zeros((len(places), kernels.NUMBERS), dtype=np.int64)
    size = base.incidence.n_bodies + len(base.incidence.units)
    work = len(places) * size + int(evaluated.sets.sum()) * base.n_inputs**2
    kernel(kernels.evaluate_rows, work)(
        places.astype(np.int64),
        ready.graph,
        ready.count,
        ready.coordinates,
        ready.names,
        ready.limits,
        base.low,
        ready.volume,
        int(base.treatment is not None),
        (numbers, evaluated.cost, evaluated.bits),
    )
    evaluated.determined[:] = numbers[:, kernels.DETERMINED] == 1
    for name, column in _COLUMNS:
        getattr(evaluated, name)[:] = numbers[:, column]
    # Groups come in any order, and sums of equal costs would differ by rounding.
    np.round(evaluated.cost, _DIGITS, out=evaluated.cost)
    if base.fault:
        evaluated.valid[:] = 0
    else:
        for row in np.flatnonzero(numbers[:, kernels.DOUBTFUL]).tolist():
            evaluated.valid[row] = _settled(base, ready, evaluated.places[row], evaluated.bits[row])
    if base.treatment is not None:
        # Constraints are left out and passive rotations locked only for independent inputs.
        refused = evaluated.determined & (evaluated.valid == 0)
        for column in (
            evaluated.determined,
            evaluated.cost,
            *(getattr(evaluated, name) for name, _ in _COLUMNS),
        ):
            column[refused] = 0
    _margins(base, evaluated)
    if known.predicate is not None:
        _count_closed(base, evaluated, known.predicate)
    return evaluated


#: Decimals of costs in µs.
_DIGITS = 9

_COLUMNS = (
    ("n_groups", kernels.GROUPS),
    ("largest", kernels.LARGEST),
    ("levels", kernels.LEVELS),
    ("width", kernels.WIDTH),
    ("closed", kernels.CLOSED),
    ("structure", kernels.STRUCTURE),
    ("valid", kernels.VALID),
)


@dataclass(frozen=True, eq=False)
class _Ready:
    """Arguments of the kernel for one undriven mechanism."""

    room: Schemes
    graph: Graph
    count: kernels.Count | None  # None where constraint units cannot be assigned whatever is driven
    coordinates: kernels.Coordinates
    names: kernels.Names
    limits: kernels.Limits
    singular: float  # a least singular value above it is regular
    volume: float  # so is a volume above it


@lru_cache(maxsize=256)
def _ready(base: Undriven, known: GroupLibrary) -> _Ready:
    i = base.incidence
    graph = (i.joint_start, i.slot_body, i.slot_joint, i.body_start, i.body_slot)
    usable = _usable(base) if base.n_passive else base.mechanism.grade
    return _Ready(
        schemes(base),
        graph,
        _count(base, graph),
        _coordinates(base),
        _names(base, known),
        (usable, base.locked),
        *_bounds(base),
    )


def _count(base: Undriven, graph: Graph) -> kernels.Count | None:
    """The units without inputs, assigned."""
    i = base.incidence
    if i.units.sum() + base.n_inputs != i.freedom_of_body.sum() or (i.units < 0).any():
        return None
    given = np.zeros(len(i.slot_body), dtype=np.int64)
    rest, need = i.units.copy(), i.freedom_of_body.copy()
    kernel(assign, i.n_bodies + len(i.units))(graph, given, rest, need)
    return None if rest.any() else (i.units, given, need, i.freedom_of_body)


def _coordinates(base: Undriven) -> kernels.Coordinates:
    """The coordinates that the query allows."""
    bits = [
        (j, bit)
        for j, mask in enumerate(base.allowed.tolist())
        for bit in range(int(base.mechanism.grade[j]))
        if mask >> bit & 1
    ]
    start = np.zeros(base.mechanism.n_joints + 1, dtype=np.int64)
    np.cumsum(np.bitwise_count(base.allowed), out=start[1:])
    rows = np.array([base.coordinate(j, bit) for j, bit in bits], dtype=np.int64)
    required = np.array([base.required[j] >> bit & 1 for j, bit in bits], dtype=np.int64)
    return start, np.array([bit for _, bit in bits], dtype=np.int64), required, base.moves[rows]


def _usable(base: Undriven) -> Column:
    """Coordinates (J,) of a joint that stop no passive rotation."""
    moving = np.abs(base.moves).any(axis=1)
    return np.add.reduceat(moving.astype(np.int64), base.start[:-1])


def _names(base: Undriven, known: GroupLibrary) -> kernels.Names:
    mechanism = base.mechanism
    fictitious = np.zeros(mechanism.n_joints, dtype=np.int64)
    fictitious[base.fictitious] = 1
    codes = [number_of_code(joint.type.code) for joint in mechanism.joints]
    bodies = [numbers_of_body(b, kernels.PRIMES) for b in range(mechanism.n_bodies)]
    return (
        np.array(codes, dtype=np.int64),
        fictitious,
        np.array(bodies, dtype=np.int64),
        *known.arrays(mechanism.space),
        np.array([OTHERWISE[mechanism.space]]),
    )


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


def sets_of_row(base: Undriven, places: Column) -> Iterator[tuple[int, ...]]:
    """Sets of coordinate numbers that a scheme allows, in lexicographic order."""
    choices = []
    for j in dict.fromkeys(places.tolist()):
        allowed, required = int(base.allowed[j]), int(base.required[j])
        bits = [bit for bit in range(int(base.mechanism.grade[j])) if allowed >> bit & 1]
        w = int((places == j).sum())
        sets = combinations(bits, w)
        choices.append([each for each in sets if sum(1 << bit for bit in each) & required == required])
    for chosen in product(*choices):
        yield tuple(bit for bits in chosen for bit in bits)


def _settled(base: Undriven, ready: _Ready, places: Column, bits: Column) -> int:
    """Valid sets of a scheme where some were in doubt; ``bits`` becomes the best, in place."""
    sets = np.array(list(sets_of_row(base, places)), dtype=np.int64)
    rows = base.start[places] + sets
    matrices = base.moves[rows]
    volume = np.abs(np.linalg.det(matrices))
    least = np.linalg.svd(matrices, compute_uv=False)[:, -1]
    valid = least > ready.singular
    for k in np.flatnonzero((least > base.low) & ~valid).tolist():
        valid[k] = base.full_rank(rows[k])
    if valid.any():
        # A tie within rounding goes to the first set.
        bits[:] = sets[np.flatnonzero(valid & (volume >= volume[valid].max() * (1.0 - 1e-9)))[0]]
    return int(valid.sum())


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
