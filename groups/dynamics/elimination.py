"""Order of elimination of sparse matrices whose places of zeros do not change."""

# Markowitz' rule (Duff, Erisman & Reid, Direct Methods for Sparse Matrices): of the pivots of at least a
# tenth of the largest number in their column, the one that fills the least.

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from mbssa.arrays import Bools, Floats, Ints

#: Share of the largest number in a column that a pivot must have.
_SHARE = 0.1


def elimination_of(
    matrices: Sequence[Floats], patterns: Sequence[Bools]
) -> tuple[list[Ints], tuple[Ints, ...]] | None:
    """Places (n, n) of matrices' numbers in one array, -1 for zeros, and their elimination; else None."""
    places: list[Ints] = []
    entries: list[tuple[int, int, int]] = []
    counts: list[int] = []
    pivots: list[tuple[int, int, int]] = []
    lows: list[list[tuple[int, int]]] = []
    ups: list[list[tuple[int, int]]] = []
    changes: list[list[int]] = []
    numbers = 0
    for matrix, pattern in zip(matrices, patterns, strict=True):
        place = np.full(matrix.shape, -1, dtype=np.int64)
        place[pattern] = numbers + np.arange(int(pattern.sum()))
        places.append(place.copy())
        mine = [(int(place[i, j]), i, j) for i, j in np.argwhere(pattern).tolist()]
        entries += mine
        counts.append(len(mine))
        numbers += len(mine)
        left = np.where(pattern, matrix, 0.0)
        rows, columns = (np.ones(len(matrix), dtype=bool) for _ in range(2))
        for _ in range(len(matrix)):
            chosen = _pivot(left, place >= 0, rows, columns)
            if chosen is None:
                return None
            i, j = chosen
            rows[i] = columns[j] = False
            below = np.flatnonzero(rows & (place[:, j] >= 0)).tolist()
            beside = np.flatnonzero(columns & (place[i] >= 0)).tolist()
            for r in below:
                for c in beside:
                    if place[r, c] < 0:
                        place[r, c] = numbers
                        numbers += 1
                left[r, beside] -= left[r, j] / left[i, j] * left[i, beside]
            pivots.append((int(place[i, j]), i, j))
            lows.append([(int(place[r, j]), r) for r in below])
            ups.append([(int(place[i, c]), c) for c in beside])
            changes.append([int(place[r, c]) for r in below for c in beside])
    return places, (
        _starts(counts),
        *_columns(entries, 3),
        *_columns(pivots, 3),
        *_listed(lows),
        *_listed(ups),
        _starts([len(each) for each in changes]),
        np.array([to for each in changes for to in each], dtype=np.int64),
    )


def _pivot(left: Floats, full: Bools, rows: Bools, columns: Bools) -> tuple[int, int] | None:
    """The pivot that fills the least; of equals the largest."""
    active = full & rows[:, None] & columns
    size = np.where(active, np.abs(left), 0.0)
    large = active & (size >= _SHARE * size.max(axis=0)) & (size > 0.0)
    if not large.any():
        return None
    fill = (active.sum(axis=1) - 1)[:, None] * (active.sum(axis=0) - 1)
    least = large & (fill == fill[large].min())
    i, j = np.unravel_index(int(np.argmax(np.where(least, size, -1.0))), size.shape)
    return int(i), int(j)


def _starts(counts: Sequence[int]) -> Ints:
    return np.array([0, *accumulate(counts)], dtype=np.int64)


def _columns(rows: Sequence[tuple[int, ...]], count: int) -> tuple[Ints, ...]:
    table = np.array(rows, dtype=np.int64).reshape(-1, count)
    return tuple(np.ascontiguousarray(column) for column in table.T)


def _listed(rows: Sequence[Sequence[tuple[int, int]]]) -> tuple[Ints, ...]:
    return _starts([len(each) for each in rows]), *_columns([pair for each in rows for pair in each], 2)
