"""Dense linear systems: factors by elimination with row pivots, in place, used again for every level."""

from __future__ import annotations

from typing import Any

from mbssa.compiled import merged

Array = Any


@merged
def factorise(matrix: Array, order: Array) -> tuple[float, float, float]:
    """Replace a matrix (m, n), m at least n, by its factors L and U, pivots by their reciprocals."""
    m, n = matrix.shape
    sign, smallest, largest = 1.0, 1e300, 0.0
    for k in range(n):
        pivot, best = k, abs(matrix[k, k])
        for i in range(k + 1, m):
            if abs(matrix[i, k]) > best:
                pivot, best = i, abs(matrix[i, k])
        order[k] = pivot
        if not best > 0.0:
            return 0.0, 0.0, 0.0
        smallest, largest = min(smallest, best), max(largest, best)
        # Whole rows, so that the compiler sees plain strips of memory.
        top = matrix[k]
        if pivot != k:
            sign, other = -sign, matrix[pivot]
            for j in range(n):
                top[j], other[j] = other[j], top[j]
        if top[k] < 0.0:
            sign = -sign
        over = 1.0 / top[k]
        top[k] = over
        for i in range(k + 1, m):
            row = matrix[i]
            factor = row[k] * over
            row[k] = factor
            if factor != 0.0:
                for j in range(k + 1, n):
                    row[j] -= factor * top[j]
    return sign if m == n else 0.0, smallest, largest


@merged
def substitute(matrix: Array, order: Array, right: Array) -> None:
    """Solve for a right side (m,), in place, with the factors: its first n numbers become the answer."""
    for k in range(len(order)):
        pivot = int(order[k])
        if pivot != k:
            right[k], right[pivot] = right[pivot], right[k]
    n = matrix.shape[1]
    for k in range(n):
        total = right[k]
        for j in range(k):
            total -= matrix[k, j] * right[j]
        right[k] = total
    for k in range(n - 1, -1, -1):
        total = right[k]
        for j in range(k + 1, n):
            total -= matrix[k, j] * right[j]
        right[k] = total * matrix[k, k]
