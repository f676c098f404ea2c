"""Small dense systems: factors by elimination with row pivots, in place, and used again for every level.

The matrix and the order of its rows are parts of one flat array.
"""

from __future__ import annotations

from typing import Any

Array = Any


def factorise(work: Array, matrix: Any, order: Any, size: Any) -> tuple[float, float]:
    """Replace the matrix that begins at ``work[matrix]``, row by row, by its factors L and U.

    ``work[order]`` … takes the row that went to each place. Returns the determinant's sign and the
    smallest pivot's magnitude, both 0 for a matrix that has none (NaN too).
    """
    sign, smallest = 1.0, 1e300
    for k in range(size):
        at = matrix + k * size
        pivot = k
        for i in range(k + 1, size):
            if abs(work[matrix + i * size + k]) > abs(work[matrix + pivot * size + k]):
                pivot = i
        work[order + k] = pivot
        if pivot != k:
            sign = -sign
            other = matrix + pivot * size
            for j in range(size):
                work[at + j], work[other + j] = work[other + j], work[at + j]
        leading = work[at + k]
        if not abs(leading) > 0.0:
            return 0.0, 0.0
        if leading < 0.0:
            sign = -sign
        smallest = min(smallest, abs(leading))
        over = 1.0 / leading
        for i in range(k + 1, size):
            row = matrix + i * size
            factor = work[row + k] * over
            work[row + k] = factor
            if factor != 0.0:
                for j in range(k + 1, size):
                    work[row + j] -= factor * work[at + j]
    return sign, smallest


def substitute(work: Array, matrix: Any, order: Any, size: Any, right: Any) -> None:
    """Solve for the right side that begins at ``work[right]``, in place, with the factors."""
    for k in range(size):
        pivot = int(work[order + k])
        if pivot != k:
            work[right + k], work[right + pivot] = work[right + pivot], work[right + k]
    for k in range(size):
        total = work[right + k]
        for j in range(k):
            total -= work[matrix + k * size + j] * work[right + j]
        work[right + k] = total
    for k in range(size - 1, -1, -1):
        total = work[right + k]
        for j in range(k + 1, size):
            total -= work[matrix + k * size + j] * work[right + j]
        work[right + k] = total / work[matrix + k * size + k]
