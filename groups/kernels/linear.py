"""Small dense systems: factors by elimination with row pivots, in place, and used again for every level."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mbssa.compiled import merged

Floats = npt.NDArray[np.float64]


@merged
def factorise(matrix: Floats, order: Floats) -> tuple[float, float]:
    """Replace a matrix (n, n) by its factors L and U, pivots by their reciprocals.

    ``order`` (n,) takes the row that went to each place. Returns the determinant's sign and the smallest
    pivot's magnitude, both 0 for a matrix that has none (NaN too).
    """
    size = len(order)
    sign, smallest = 1.0, 1e300
    for k in range(size):
        pivot = k
        for i in range(k + 1, size):
            if abs(matrix[i, k]) > abs(matrix[pivot, k]):
                pivot = i
        order[k] = pivot
        if pivot != k:
            sign = -sign
            for j in range(size):
                matrix[k, j], matrix[pivot, j] = matrix[pivot, j], matrix[k, j]
        leading = matrix[k, k]
        if not abs(leading) > 0.0:
            return 0.0, 0.0
        if leading < 0.0:
            sign = -sign
        smallest = min(smallest, abs(leading))
        over = 1.0 / leading
        matrix[k, k] = over
        for i in range(k + 1, size):
            factor = matrix[i, k] * over
            matrix[i, k] = factor
            if factor != 0.0:
                for j in range(k + 1, size):
                    matrix[i, j] -= factor * matrix[k, j]
    return sign, smallest


@merged
def substitute(matrix: Floats, order: Floats, right: Floats) -> None:
    """Solve for a right side (n,), in place, with the factors."""
    size = len(order)
    for k in range(size):
        pivot = int(order[k])
        if pivot != k:
            right[k], right[pivot] = right[pivot], right[k]
    for k in range(size):
        total = right[k]
        for j in range(k):
            total -= matrix[k, j] * right[j]
        right[k] = total
    for k in range(size - 1, -1, -1):
        total = right[k]
        for j in range(k + 1, size):
            total -= matrix[k, j] * right[j]
        right[k] = total * matrix[k, k]
