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
    left = np.nan_to_num(matrices, nan=0.0, posinf=0.0, neginf=0.0)
    (count, m, n), at = left.shape, np.arange(len(left))
    sizes = np.zeros((count, min(m, n)))
    taken = [np.full((count, k), m + n) for k in (m, n)]  # by row and column, the pivot that took it
    for k in range(min(m, n)):
        size = np.abs(left).reshape(count, -1)
        sizes[:, k] = size.max(axis=1)
        place = np.argmax(size >= (1 - _EQUAL) * sizes[:, k, None], axis=1)
        row, column = place // n, place % n
        for pivot, of in zip((row, column), taken, strict=True):
            of[at, pivot] = np.minimum(of[at, pivot], k)
        along, pivots = left[at, row], left[at, row, column]
        shares = left[at, :, column] / np.where(pivots == 0, 1.0, pivots)[:, None]
        left -= shares[:, :, None] * along[:, None]
        left[at, row], left[at, :, column] = 0.0, 0.0
    sizes[~np.isfinite(matrices).all(axis=(1, 2))] = np.nan
    rows, columns = (np.argsort(of, axis=1, kind="stable") for of in taken)
    return Pivots(rows, columns, sizes)


def _orthogonal(matrices: Floats) -> Pivots:
    from scipy.linalg import qr

    count, m, n = matrices.shape
    rows, columns = np.zeros((count, m), dtype=np.int64), np.zeros((count, n), dtype=np.int64)
    sizes = np.full((count, min(m, n)), np.nan)
    for t, matrix in enumerate(matrices):
        rows[t], columns[t] = np.arange(m), np.arange(n)
        if not (np.isfinite(matrix).all() and matrix.size):
            continue
        upper, columns[t] = qr(matrix, mode="r", pivoting=True)
        sizes[t] = np.abs(np.diag(upper))
        _, rows[t] = qr(matrix[:, columns[t, : sizes.shape[1]]].T, mode="r", pivoting=True)
    return Pivots(rows, columns, sizes)
