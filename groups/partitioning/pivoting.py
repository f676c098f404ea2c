"""Independent rows and columns of matrices, by pivots of falling size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mbssa.arrays import Floats, Ints

#: Choice of dependent coordinates: Gaussian elimination with complete pivoting, or a pivoted QR.
Method = Literal["complete", "qr"]
METHODS: tuple[Method, ...] = ("complete", "qr")

#: Candidates within this share of the largest are equal and the first is taken: independent of rounding.
_EQUAL = 1e-9


@dataclass(frozen=True, eq=False)
class Pivots:
    """Pivots of T matrices (m, n): rows and columns in the order in which they were taken."""

    rows: Ints  # (T, m), the rest after those taken
    columns: Ints  # (T, n)
    sizes: Floats  # (T, min(m, n)); NaN of a matrix that is not finite


def pivots_of(matrices: Floats, method: Method) -> Pivots:
    """Pivots of T matrices (T, m, n)."""
    # `complete` eliminates with the largest entry of what is left; `qr` takes the column that is farthest
    # from those before, and then the rows of these columns in the same way.
    return _complete(matrices) if method == "complete" else _orthogonal(matrices)


def _complete(matrices: Floats) -> Pivots:
    if len(matrices) == 1:
        return _complete_of_one(matrices[0])
    left = np.nan_to_num(matrices, nan=0.0)
    count, m, n = left.shape
    at = np.arange(count)
    free_row, free_column = np.ones((count, m), dtype=bool), np.ones((count, n), dtype=bool)
    rows, columns = np.zeros((count, 0), dtype=np.int64), np.zeros((count, 0), dtype=np.int64)
    sizes = np.zeros((count, min(m, n)))
    for k in range(min(m, n)):
        size = np.where(free_row[:, :, None] & free_column[:, None, :], np.abs(left), -1.0).reshape(count, -1)
        largest = size.max(axis=1)
        place = np.argmax(size >= (1 - _EQUAL) * largest[:, None], axis=1)
        row, column = place // n, place % n
        rows, columns = np.column_stack([rows, row]), np.column_stack([columns, column])
        free_row[at, row], free_column[at, column] = False, False
        sizes[:, k] = largest
        pivot = left[at, row, column]
        factor = left[at, :, column] / np.where(pivot == 0, 1.0, pivot)[:, None]
        left = left - np.where(free_row, factor, 0.0)[:, :, None] * left[at, row][:, None, :]
    sizes[~np.isfinite(matrices).all(axis=(1, 2))] = np.nan
    return Pivots(_with_rest(rows, m), _with_rest(columns, n), sizes)


def _complete_of_one(matrix: Floats) -> Pivots:
    """The same of one matrix, which may be large and sparse: only its nonzeros are eliminated."""
    left = np.nan_to_num(matrix, nan=0.0, posinf=0.0, neginf=0.0)
    m, n = left.shape
    size = np.abs(left)
    of_row = size.max(axis=1, initial=0.0)
    free = np.ones(n, dtype=bool)
    rows: list[int] = []
    columns: list[int] = []
    sizes = np.zeros(min(m, n))
    for k in range(min(m, n)):
        sizes[k] = of_row.max()
        enough = (1 - _EQUAL) * sizes[k]
        row = int(np.argmax(of_row >= enough))
        column = int(np.argmax(size[row] >= enough))
        rows.append(row)
        columns.append(column)
        size[row], size[:, column] = -1.0, -1.0
        of_row[row], free[column] = -1.0, False
        those = np.flatnonzero((left[:, column] != 0) & (of_row >= 0))
        mine = np.flatnonzero((left[row] != 0) & free)
        block = np.ix_(those, mine)
        left[block] -= (left[those, column] / left[row, column])[:, None] * left[row, mine]
        size[block] = np.abs(left[block])
        of_row[those] = size[those].max(axis=1)
    if not np.isfinite(matrix).all():
        sizes[:] = np.nan
    taken_rows, taken_columns = (np.array([each], dtype=np.int64) for each in (rows, columns))
    return Pivots(_with_rest(taken_rows, m), _with_rest(taken_columns, n), sizes[None])


def _orthogonal(matrices: Floats) -> Pivots:
    from scipy.linalg import qr

    count, m, n = matrices.shape
    rows, columns = np.zeros((count, m), dtype=np.int64), np.zeros((count, n), dtype=np.int64)
    sizes = np.full((count, min(m, n)), np.nan)
    for t in range(count):
        matrix = matrices[t]
        rows[t], columns[t] = np.arange(m), np.arange(n)
        if not (np.isfinite(matrix).all() and matrix.size):
            continue
        upper, columns[t] = qr(matrix, mode="r", pivoting=True)
        sizes[t] = np.abs(np.diag(upper))
        _, rows[t] = qr(matrix[:, columns[t, : sizes.shape[1]]].T, mode="r", pivoting=True)
    return Pivots(rows, columns, sizes)


def _with_rest(taken: Ints, number: int) -> Ints:
    """Indices that were chosen, then all others in their order."""
    left = np.ones((len(taken), number), dtype=bool)
    np.put_along_axis(left, taken, False, axis=1)
    rest = np.nonzero(left)[1].reshape(len(taken), number - taken.shape[1])
    return np.concatenate([taken, rest], axis=1)
