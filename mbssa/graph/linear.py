"""Linear solves on any numbers: cofactors for two and three unknowns, unrolled elimination, least squares."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from mbssa.graph.frames import Matrix, Vector, cross, total, transposed
from mbssa.graph.nodes import Number, div, is_zero

#: Unknowns or equations of a right side.
Solve: TypeAlias = Callable[[Vector], list[Number]]
#: (row, column) of each pivot.
Order: TypeAlias = Sequence[tuple[int, int]]

#: A pivot is large enough if it is this share of the largest number in its row and column.
THRESHOLD = 0.1
#: Most unknowns that are solved by cofactors, without an order of pivots.
BY_COFACTORS = 3


def pivot_order(matrix: npt.ArrayLike) -> list[tuple[int, int]]:
    """Order of (row, column) by numbers: few operations first (Markowitz), among large enough pivots."""
    A, order = np.array(matrix, dtype=np.float64), []
    rows, columns = list(range(len(A))), list(range(len(A)))
    while rows:
        B = np.abs(A[np.ix_(rows, columns)])
        there = 1e-12 * B.max() < B
        cost = (there.sum(1)[:, None] - 1) * (there.sum(0)[None] - 1)
        large = THRESHOLD * np.maximum(B.max(1)[:, None], B.max(0)[None]) <= B
        k = int(np.where(large & there, cost - B / B.max(), np.inf).argmin())
        r, c = rows[k // len(columns)], columns[k % len(columns)]
        order.append((r, c))
        rows.remove(r)
        columns.remove(c)
        for i in rows:
            A[i] -= A[i, c] / A[r, c] * A[r]
    return order


def factorised(matrix: Matrix, order: Order) -> tuple[Solve, list[Number]]:
    """``solve(b)`` of a square matrix, and its pivots, which are small where it is singular."""
    if 1 < len(matrix) <= BY_COFACTORS:
        return _by_cofactors(matrix)
    return _by_elimination(matrix, order)


def _by_cofactors(J: Matrix) -> tuple[Solve, list[Number]]:
    if len(J) == 2:
        (a, b), (c, d) = J
        adjugate = [[d, -b], [-c, a]]
    else:
        adjugate = transposed([cross(J[1], J[2]), cross(J[2], J[0]), cross(J[0], J[1])])
    determinant = total([x * row[0] for x, row in zip(J[0], adjugate, strict=True)])
    inverse = _inverse(determinant)

    def solve(b: Vector) -> list[Number]:
        return [total([x * y for x, y in zip(row, b, strict=True)]) * inverse for row in adjugate]

    return solve, [determinant]


def _by_elimination(matrix: Matrix, order: Order) -> tuple[Solve, list[Number]]:
    A, steps = [list(row) for row in matrix], []
    for k, (r, c) in enumerate(order):
        inverse, factors = _inverse(A[r][c]), {}
        for i, _ in order[k + 1 :]:
            if is_zero(A[i][c]):
                continue
            factors[i] = A[i][c] * inverse
            for _, j in order[k + 1 :]:
                if not is_zero(A[r][j]):
                    A[i][j] = A[i][j] - factors[i] * A[r][j]
        steps.append((r, c, inverse, factors))

    def solve(b: Vector) -> list[Number]:
        b, x = list(b), [0.0] * len(b)
        for r, _, _, factors in steps:
            for i, factor in factors.items():
                b[i] = b[i] - factor * b[r]
        for k in reversed(range(len(steps))):
            r, c, inverse, _ = steps[k]
            known = [A[r][j] * x[j] for _, j in order[k + 1 :] if not is_zero(A[r][j])]
            x[c] = (b[r] - total(known)) * inverse
        return x

    return solve, [A[r][c] for r, c in order]


def _inverse(pivot: Number) -> Number:
    return math.inf if is_zero(pivot) else div(1.0, pivot)


def least_squares(J: Matrix) -> tuple[list[list[Number]], Solve]:
    """Normal equations of more rows than unknowns: the matrix, and the right side of a right side."""
    columns = transposed(J)

    def projected(b: Vector) -> list[Number]:
        return [total([x * y for x, y in zip(column, b, strict=True)]) for column in columns]

    return [projected(column) for column in columns], projected
