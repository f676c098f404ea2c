"""Linear solves of many instants in the sense of least squares: dense in one call, sparse one by one."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import Any, Literal

import numpy as np

from groups.global_solver.system import System
from mbssa.arrays import Floats

Method = Literal["dense", "sparse"]

#: Unknowns from which on sparse elimination is the faster one.
SPARSE_FROM = 100


class Dense:
    """Dense matrices; they are inverted only if the condition number or a tall system requires it."""

    def __init__(self, system: System, entries: Floats) -> None:
        self._matrix, self._square = system.dense(entries), not system.redundant

    @cached_property
    def _inverted(self) -> tuple[Floats, Floats]:
        return inverses(self._matrix)

    @property
    def condition(self) -> Floats:
        """(T,) estimates of the reciprocal condition number: 0 for a singular matrix."""
        return self._inverted[1]

    @property
    def sign(self) -> Floats:
        """(T,) signs of the determinants of square matrices."""
        return np.asarray(np.linalg.slogdet(self._matrix)[0])

    def solve(self, right: Floats) -> Floats:
        """Solutions (n, T) of right sides (m, T)."""
        found, columns = None, right.T[:, :, None]
        if self._square and "_inverted" not in self.__dict__:
            with suppress(np.linalg.LinAlgError):  # one of them is singular
                found = np.linalg.solve(self._matrix, columns)
        found = self._inverted[0] @ columns if found is None else found
        return np.ascontiguousarray(found[:, :, 0].T)


def inverses(matrix: Floats) -> tuple[Floats, Floats]:
    """Inverses (T, n, m) of matrices with independent columns, else pseudo-inverses, and conditions."""
    found: Any
    try:
        if matrix.shape[1] == matrix.shape[2]:
            found = np.linalg.inv(matrix)
        else:
            q, r = np.linalg.qr(matrix)
            found = np.linalg.inv(r) @ q.swapaxes(1, 2)
    except np.linalg.LinAlgError:  # one of them is singular
        if len(matrix) > 1:
            each, conditions = zip(*(inverses(one[None]) for one in matrix), strict=True)
            return np.concatenate(each), np.concatenate(conditions)
        sound = np.isfinite(matrix).all()
        found = np.linalg.pinv(matrix) if sound else np.full_like(matrix.swapaxes(1, 2), np.nan)
        return found, np.zeros(1)
    sizes = [np.linalg.norm(each, np.inf, axis=(1, 2)) for each in (matrix, found)]
    return found, 1.0 / (sizes[0] * sizes[1])


class Sparse:
    """SuperLU, instant by instant; tall matrices beside ones and their transpose, for least squares."""

    def __init__(self, system: System, entries: Floats) -> None:
        from scipy.sparse import csc_array
        from scipy.sparse.linalg import splu

        kept, one, T = np.flatnonzero(system.column < system.n), np.arange(system.m), entries.shape[1]
        row, column, numbers = system.row[kept], system.column[kept], entries[kept]
        self._above = system.m if system.redundant else 0
        self._size = system.n + self._above
        if self._above:
            row, column = np.r_[row, column + system.m, one], np.r_[column + system.m, row, one]
            numbers = np.concatenate([numbers, numbers, np.ones((system.m, T))])
        self._factors: list[Any] = []
        for now in np.ascontiguousarray(numbers.T):
            try:
                self._factors.append(splu(csc_array((now, (row, column)), shape=(self._size, self._size))))
            except (RuntimeError, ValueError):  # SuperLU found a pivot of exactly zero, or a number is NaN
                self._factors.append(None)

    @cached_property
    def condition(self) -> Floats:
        """(T,) ratios of the smallest and the largest pivot: 0 for a singular matrix."""
        pivots = [np.zeros(1) if each is None else np.abs(each.U.diagonal()) for each in self._factors]
        ratios = np.array([each.min() / max(each.max(), 1e-300) for each in pivots])
        return np.sqrt(ratios) if self._above else ratios

    @property
    def sign(self) -> Floats:
        """(T,) signs of the determinants of square matrices; 0 for a singular one."""
        from scipy.sparse import csc_array
        from scipy.sparse.csgraph import connected_components

        found, one, columns = np.zeros(len(self._factors)), np.ones(self._size), np.arange(self._size)
        for t, factors in enumerate(self._factors):
            if factors is not None:
                # A permutation is even or odd as its length less its cycles is.
                turned = csc_array((one, (columns, factors.perm_r[factors.perm_c])))
                odd = self._size - connected_components(turned)[0]
                found[t] = (-1.0) ** (odd + np.count_nonzero(factors.U.diagonal() < 0.0))
        return found

    def solve(self, right: Floats) -> Floats:
        """Solutions (n, T) of right sides (m, T)."""
        whole = np.zeros((self._size, right.shape[1]))
        whole[: len(right)] = right
        for t, factors in enumerate(self._factors):
            whole[:, t] = np.nan if factors is None else factors.solve(np.ascontiguousarray(whole[:, t]))
        return whole[self._above :]


Factors = Dense | Sparse


def factorised(system: System, method: Method | None, entries: Floats) -> Factors:
    """Factors of the derivative of the rows, by the faster method if none is named."""
    sparse = system.n >= SPARSE_FROM if method is None else method == "sparse"
    return (Sparse if sparse else Dense)(system, entries)
