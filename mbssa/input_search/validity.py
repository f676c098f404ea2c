"""Rank of equations with inputs, for all sets of many schemes."""

# With singular values σ, right vectors V and free motions N of the equations and n coordinates D, A =
# [equations; D] has as many singular values up to s as motions that D leaves free, and n less those of L⁻¹ D
# N beyond s; L Lᵀ = I + E Eᵀ, E = D V / √(σ² - s²): two Schur complements of [[AᵀA - s², Dᵀ], [D, -1]].

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mbssa.arrays import Bools, Floats, Ints, ranges
from mbssa.input_search.assignment import Places, prefixes
from mbssa.singularities.ranks import rank_of

#: Size of coordinates over the least singular value of equations, squared, from which the small matrix is
#: inexact; and the part of its singular values that may be rounding up to there.
_ILL = 1e8
_ROUNDING = 1e-6

#: Numbers in the projections of the sets that are evaluated at a time.
_AT_A_TIME = 1 << 20


@dataclass(frozen=True, eq=False)
class SplitSystem:
    """Equations and coordinates, the latter also along the row space and null space of the former."""

    equations: Floats  # (E, U)
    coordinates: Floats  # (C, U)
    values: Floats  # (r,) singular values of the equations above the tolerance, descending
    held: Floats  # (C, r) coordinates along the right vectors of these values
    motions: Floats  # (U, U - r) orthonormal, the free motions
    free: Floats  # (C, U - r) coordinates along them
    tolerance: float  # ratio of singular values below which numbers count as dependent


def split_system(equations: Floats, coordinates: Floats, rank: int, tolerance: float) -> SplitSystem:
    """Take equations (E, U) of a known rank apart."""
    values, right = np.zeros(0), np.eye(equations.shape[1])
    if len(equations):
        _, values, right = np.linalg.svd(equations)
    held, motions = right[:rank].T, right[rank:].T
    return SplitSystem(
        equations, coordinates, values[:rank], coordinates @ held, motions, coordinates @ motions, tolerance
    )


def full_rank(whole: SplitSystem, sets: Ints, passive: int) -> Bools:
    """Return whether the equations and these coordinates (K, n) leave only ``passive`` rotations free."""
    # The largest singular value of the whole matrix is somewhere between that of the equations and ``most``.
    least, most = whole.tolerance * float(whole.values.max(initial=0.0)), _most(whole, sets.shape[1])
    valid = _regular(whole, sets, most * (1.0 + _ROUNDING), sure=True)
    doubt = np.flatnonzero(~valid)
    for k in doubt[_regular(whole, sets[doubt], least * (1.0 - _ROUNDING), sure=False)].tolist():
        matrix = np.vstack([whole.equations, whole.coordinates[sets[k]]])
        valid[k] = rank_of(matrix, whole.tolerance).rank >= matrix.shape[1] - passive
    return valid


def regular_volume(whole: SplitSystem, moves: Floats) -> float:
    """Volume of rows of ``moves`` (C, n) beyond which their coordinates have full rank."""
    # The least singular value of L⁻¹ D N is at least that of D N over |L|, and the latter at least the volume
    # of D N times ((n - 1) / |D N|²)^((n - 1) / 2).
    n, bound = moves.shape[1], _most(whole, moves.shape[1])
    least = float(whole.values.min(initial=np.inf))
    if least <= bound:
        return np.inf
    inputs, seen = (np.sort((rows**2).sum(axis=1))[-n:].sum() for rows in (whole.coordinates, moves))
    singular = bound * np.sqrt(1.0 + inputs / (least**2 - bound**2))
    return float(singular * (seen / max(n - 1, 1)) ** ((n - 1) / 2))


def _most(whole: SplitSystem, n: int) -> float:
    """Singular value up to which ones of the equations with any n coordinates may count as 0."""
    inputs = np.sort((whole.coordinates**2).sum(axis=1))[-n:].sum()
    return float(whole.tolerance * np.sqrt(whole.values.max(initial=0.0) ** 2 + inputs))


def _regular(whole: SplitSystem, sets: Ints, bound: float, *, sure: bool) -> Bools:
    """Whether all singular values but those of passive rotations exceed a bound; in doubt ``not sure``."""
    if len(whole.values) and whole.values[-1] <= bound:
        return np.zeros(len(sets), dtype=bool)
    seen = whole.held / np.sqrt(whole.values**2 - bound**2)
    gram = seen @ seen.T
    if np.trace(gram) > _ILL:
        return np.full(len(sets), not sure)
    triangle = np.linalg.cholesky(np.eye(sets.shape[1]) + gram[sets[:, :, None], sets[:, None, :]])
    values = np.linalg.svd(np.linalg.solve(triangle, whole.free[sets]), compute_uv=False)
    return np.asarray(values[:, -1] > bound)


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The coordinates that a query allows, by joint."""

    start: Ints  # (J + 1,) those of joint j are start[j] … start[j + 1] - 1
    row: Ints  # (C,) number of each among all coordinates
    required: Bools  # (C,) whether every set has it
    moves: Floats  # (C, n) how it moves with the free motions


@dataclass(frozen=True, eq=False)
class _Sets:
    """Beginnings of sets, in lexicographic order."""

    scheme: Ints  # (P,) number of the beginning of the scheme
    chosen: Ints  # (P, k) coordinates
    volume: Floats  # (P,)
    across: Floats  # (P, n, n) projection on what is left; (P, n) the last direction

    def take(self, rows: Ints | slice) -> _Sets:
        return _Sets(self.scheme[rows], self.chosen[rows], self.volume[rows], self.across[rows])


def valid_sets(
    places: Places, coordinates: Coordinates, low: float, sure: float, regular: Callable[[Ints], Bools]
) -> tuple[Ints, Ints]:
    """Numbers (D,) of valid sets of the schemes ``places`` (D, n), which ascend; and the best (D, n)."""
    # Each row is made orthogonal to those before it, so a set shares the work of its beginning with others. A
    # row shorter than ``low`` beyond the others is dependent, a volume above ``sure`` regular; ``regular``
    # decides on the sets (K, n) between. The best set has the greatest volume of the rows of ``moves``.
    n_schemes, n = places.shape
    count, volume = np.zeros(n_schemes, dtype=np.int64), np.zeros(n_schemes)
    best = np.zeros((n_schemes, n), dtype=np.int64)
    levels = [(places[first], parent) for first, parent in prefixes(places)]
    root = np.zeros(1, dtype=np.int64)
    whole = np.eye(n)[None] if n > 1 else np.ones((1, 1))
    pending = [_Sets(root, root[:, None][:, :0], np.ones(1), whole)]
    while pending:
        sets = pending.pop()
        k = sets.chosen.shape[1]
        rows, parent = levels[k]
        longer = _longer(sets, rows[:, : k + 1], parent, coordinates, low)
        if k == n - 1:
            valid = coordinates.required[longer.chosen].sum(axis=1) == coordinates.required.sum()
            doubt = np.flatnonzero(valid & (longer.volume <= sure))
            if len(doubt):
                valid[doubt] = regular(longer.chosen[doubt])
            longer = longer.take(np.flatnonzero(valid))
            count += np.bincount(longer.scheme, minlength=n_schemes)
            top = np.zeros(n_schemes)
            np.maximum.at(top, longer.scheme, longer.volume)
            # A tie within rounding goes to the first set.
            good = np.flatnonzero(longer.volume >= top[longer.scheme] * (1.0 - 1e-9))
            scheme, first = np.unique(longer.scheme[good], return_index=True)
            better = np.flatnonzero(top[scheme] > volume[scheme] * (1.0 + 1e-9))
            scheme = scheme[better]
            volume[scheme], best[scheme] = top[scheme], longer.chosen[good[first[better]]]
            continue
        size = max(1, _AT_A_TIME // (n * n) // 8)
        pieces = range(0, len(longer.volume), size)
        pending += [longer.take(slice(at, at + size)) for at in pieces][::-1]
    return count, best


def _longer(sets: _Sets, places: Places, parent: Ints, coordinates: Coordinates, low: float) -> _Sets:
    """Sets with one coordinate more; ``places`` (Q, k + 1) begin schemes, ``parent`` (Q,) are theirs."""
    start, moves = coordinates.start, coordinates.moves
    begin, stop = (np.searchsorted(parent, sets.scheme, side) for side in ("left", "right"))
    row, scheme = ranges(begin, stop)
    first, stop = start[places[scheme, -1]], start[places[scheme, -1] + 1]
    if places.shape[1] > 1:
        same = places[scheme, -2] == places[scheme, -1]
        first = np.where(same, sets.chosen[row, -1] + 1, first)
    pair, coordinate = ranges(first, np.maximum(first, stop))
    row, scheme = row[pair], scheme[pair]
    last = sets.across.ndim == 2
    if last:
        beyond = np.einsum("ij,ij->i", sets.across[row], moves[coordinate])[:, None]
    else:
        beyond = np.einsum("ijk,ik->ij", sets.across[row], moves[coordinate])
    size = np.sqrt((beyond**2).sum(axis=1))
    kept = np.flatnonzero(size > low)
    row, beyond, size = row[kept], beyond[kept], size[kept]
    chosen = np.column_stack([sets.chosen[row], coordinate[kept]])
    across = np.zeros((len(row), 0))
    if not last:
        unit = beyond / size[:, None]
        across = sets.across[row] - unit[:, :, None] * unit[:, None, :]
        if places.shape[1] == moves.shape[1] - 1:
            every, largest = np.arange(len(row)), np.einsum("ijj->ij", across).argmax(axis=1)
            across = across[every, :, largest] / np.sqrt(across[every, largest, largest])[:, None]
    return _Sets(scheme[kept], chosen, sets.volume[row] * size, across)
