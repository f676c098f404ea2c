"""Linear solves of many instants: dense ones in one call, sparse ones instant by instant."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, Literal

import numpy as np

from groups.global_solver.system import System
from mbssa.arrays import Floats, Ints

Method = Literal["dense", "sparse"]

#: Unknowns from which on sparse elimination is the faster one.
SPARSE_FROM = 100


class Factors(ABC):
    """Solutions with one matrix for each instant, in the sense of least squares."""

    @property
    @abstractmethod
    def condition(self) -> Floats:
        """(T,) estimates of the reciprocal condition number: 0 for a singular matrix."""

    @property
    @abstractmethod
    def sign(self) -> Floats:
        """(T,) signs of the determinants; 0 for a tall matrix, which has none."""

    @abstractmethod
    def solve(self, right: Floats) -> Floats:
        """Solutions (n, T) of right sides (m, T)."""


class Dense(Factors):
    """Dense matrices; they are inverted only if the condition number or a tall system requires it."""

    def __init__(self, system: System, entries: Floats) -> None:
        self._matrix, self._square = dense(system, entries), not system.redundant

    @cached_property
    def _inverted(self) -> tuple[Floats, Floats]:
        try:
            return _inverse(self._matrix)
        except np.linalg.LinAlgError:
            each = [_sound_inverse(one[None]) for one in self._matrix]
            inverse, condition = (np.concatenate(part) for part in zip(*each, strict=True))
            return inverse, condition

    @property
    def condition(self) -> Floats:
        return self._inverted[1]

    @property
    def sign(self) -> Floats:
        found: Floats = np.linalg.slogdet(self._matrix)[0] if self._square else np.zeros(len(self._matrix))
        return found

    def solve(self, right: Floats) -> Floats:
        columns = right.T[:, :, None]
        if self._square and "_inverted" not in self.__dict__:
            try:
                return np.ascontiguousarray(np.linalg.solve(self._matrix, columns)[:, :, 0].T)
            except np.linalg.LinAlgError:  # one of them is singular
                pass
        return np.ascontiguousarray((self._inverted[0] @ columns)[:, :, 0].T)


def dense(system: System, entries: Floats) -> Floats:
    """Matrices (T, m, n) of the entries (K, T)."""
    matrix = np.zeros(
        (entries.shape[1], system.m, system.n + 1)
    )  # the last column is of bodies that are given
    matrix[:, system.row, system.column] = entries.T
    return np.ascontiguousarray(matrix[:, :, :-1])


def _inverse(matrix: Floats) -> tuple[Floats, Floats]:
    found: Floats
    if matrix.shape[1] == matrix.shape[2]:
        found = np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    else:
        q, r = np.linalg.qr(matrix)
        found = np.asarray(np.linalg.inv(r) @ q.swapaxes(1, 2), dtype=np.float64)
    both: Floats = _norm(matrix) * _norm(found)
    return found, 1.0 / both


def _sound_inverse(matrix: Floats) -> tuple[Floats, Floats]:
    try:
        return _inverse(matrix)
    except np.linalg.LinAlgError:
        found: Floats = np.full_like(matrix.swapaxes(1, 2), np.nan)
        if np.isfinite(matrix).all():
            found = np.linalg.pinv(matrix).astype(np.float64)
        return found, np.zeros(1)


def _norm(matrix: Floats) -> Floats:
    found: Floats = np.abs(matrix).sum(axis=2).max(axis=1)
    return found


class Sparse(Factors):
    """SuperLU, instant by instant; tall matrices beside ones and their transpose, for least squares."""

    def __init__(self, system: System, entries: Floats) -> None:
        from scipy.sparse import csc_array
        from scipy.sparse.linalg import splu

        kept, one = np.flatnonzero(system.column < system.n), np.arange(system.m)
        row, column, numbers, size = system.row[kept], system.column[kept], entries[kept], system.n
        self._above, self._n, tall = system.m if system.redundant else 0, size, system.redundant > 0
        if tall:
            row, column = (
                np.concatenate([row, column + system.m, one]),
                np.concatenate([column + system.m, row, one]),
            )
            numbers, size = (
                np.concatenate([numbers, numbers, np.ones((system.m, numbers.shape[1]))]),
                size + system.m,
            )
        self._factors: list[Any] = []
        self._condition, self._sign = np.zeros((2, entries.shape[1]))
        for t, now in enumerate(np.ascontiguousarray(numbers.T)):
            try:
                factors = splu(csc_array((now, (row, column)), shape=(size, size)))
            except (RuntimeError, ValueError):  # SuperLU found a pivot of exactly zero, or a number is NaN
                self._factors.append(None)
                continue
            pivots = factors.U.diagonal()
            ratio = np.abs(pivots).min() / np.abs(pivots).max()
            self._condition[t] = ratio**0.5 if tall else ratio
            swaps = _swaps(factors.perm_r) + _swaps(factors.perm_c) + np.count_nonzero(pivots < 0.0)
            self._sign[t] = 0.0 if tall else -1.0 if swaps % 2 else 1.0
            self._factors.append(factors)

    @property
    def condition(self) -> Floats:
        return self._condition

    @property
    def sign(self) -> Floats:
        return self._sign

    def solve(self, right: Floats) -> Floats:
        found = np.full((self._n, right.shape[1]), np.nan)
        whole = np.concatenate([right, np.zeros((self._n if self._above else 0, right.shape[1]))])
        for t, factors in enumerate(self._factors):
            if factors is not None:
                found[:, t] = factors.solve(np.ascontiguousarray(whole[:, t]))[self._above :]
        return found


def _swaps(order: Ints) -> int:
    """Number of transpositions that make a permutation; its parity is what counts."""
    seen, swaps = np.zeros(len(order), dtype=bool), 0
    for k in range(len(order)):
        at, length = k, 0
        while not seen[at]:
            seen[at], at, length = True, int(order[at]), length + 1
        swaps += max(length - 1, 0)
    return swaps


def method_for(system: System) -> Method:
    """The faster elimination, by the number of unknowns."""
    return "sparse" if system.n >= SPARSE_FROM else "dense"


def factorised(system: System, method: Method, entries: Floats) -> Factors:
    """Factors of the derivative of the rows."""
    return (Dense if method == "dense" else Sparse)(system, entries)
