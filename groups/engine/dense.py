"""Linear solves of large groups as nodes of a graph: NumPy solves, so that pivots are free."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mbssa.arrays import Floats
from mbssa.graph.nodes import Graph, Number, is_zero

#: Unknowns from which on a group is solved so: unrolled elimination takes longer to print than it saves.
MANY = 32


class Function(NamedTuple):
    """Data of a node: a function without derivatives."""

    call: Callable[..., Any]

    def of(self, _: int) -> Callable[..., Any]:
        return self.call


class _Inverse(NamedTuple):
    """Inverses (…, n, m), of least squares if m > n, and sign of the determinant times their condition."""

    matrix: Floats
    pivot: Number


class Dense:
    """A Jacobian (m, n) of nodes, more rows than unknowns in the sense of least squares."""

    def __init__(self, graph: Graph, matrix: Sequence[Sequence[Number]], scale: Sequence[float]) -> None:
        self.graph, self.shape = graph, (len(matrix), len(scale))
        self.scale: Floats = np.array(scale)
        places = [(r, c) for r, row in enumerate(matrix) for c, x in enumerate(row) if not is_zero(x)]
        self.entries = [matrix[r][c] for r, c in places]
        self.places = np.array(places, dtype=np.intp).reshape(-1, 2).T
        self._inverse = self._node(lambda *x: inverse_of(self._matrix(x), self.scale), *self.entries)
        #: Small where the Jacobian is singular, with the sign of its determinant.
        self.pivots = [self._node(lambda inverse: _plain(inverse.pivot), self._inverse)]

    def _node(self, call: Callable[..., Any], *operands: Number) -> Any:
        return self.graph.make("user", tuple(self.graph.node(x).i for x in operands), (Function(call), 0))

    def _components(self, call: Callable[..., Any], *operands: Number) -> list[Number]:
        vector = self._node(call, *operands)
        return [self._node(lambda x, k=k: _plain(x[..., k, 0]), vector) for k in range(self.shape[1])]

    def solve(self, b: Sequence[Number]) -> list[Number]:
        """Unknowns of one right side."""
        return self._components(self._solution_of, *self.entries, *b)

    def apply_inverse(self, b: Sequence[Number]) -> list[Number]:
        """Unknowns of one of several right sides."""
        return self._components(lambda inverse, *b: inverse.matrix @ _columns(b), self._inverse, *b)

    def _matrix(self, entries: Sequence[Number]) -> Floats:
        """Jacobians (…, m, n)."""
        columns = _columns(entries)[..., 0]
        J = np.zeros((*columns.shape[:-1], *self.shape))
        J[..., self.places[0], self.places[1]] = columns
        return J

    def _solution_of(self, *numbers: Number) -> Floats:
        count = len(self.entries)
        A, b = self._matrix(numbers[:count]) * self.scale, _columns(numbers[count:])
        if A.shape[-1] < A.shape[-2]:
            transposed = np.swapaxes(A, -1, -2)
            A, b = transposed @ A, transposed @ b
        try:
            x = np.linalg.solve(A, b)
        except np.linalg.LinAlgError:
            x = inverse_of(A, np.ones(self.shape[1])).matrix @ b
        return np.asarray(x * self.scale[:, None])


def inverse_of(J: Floats, scale: Floats) -> _Inverse:
    """Inverses of Jacobians (…, m, n) by unknowns of these scales; NaN where they are singular."""
    A = J * scale
    transposed = np.swapaxes(A, -1, -2)
    is_square = A.shape[-1] == A.shape[-2]
    A = A if is_square else transposed @ A
    with np.errstate(all="ignore"):
        sign, logarithm = np.linalg.slogdet(A)
        usable = np.isfinite(logarithm)
        B = np.linalg.inv(np.where(usable[..., None, None], A, np.eye(len(scale))))
        pivot = sign / (np.linalg.norm(A, axis=(-2, -1)) * np.linalg.norm(B, axis=(-2, -1)))
    B = np.where(usable[..., None, None], B if is_square else B @ transposed, np.nan)
    return _Inverse(B * scale[:, None], np.where(usable, pivot, 0.0))


def _columns(numbers: Sequence[Number]) -> Floats:
    """Numbers as columns (…, m, 1)."""
    return np.asarray(np.moveaxis(np.array(np.broadcast_arrays(*numbers)), 0, -1)[..., None])


def _plain(x: Any) -> Number:
    """An array, or a float of Python's."""
    return x if np.ndim(x) else float(x)
