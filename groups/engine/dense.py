"""Linear solves of large groups as nodes of a graph: NumPy solves, so that pivots are free."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbssa.graph.nodes import is_zero

if TYPE_CHECKING:
    from mbssa.arrays import Floats
    from mbssa.graph.nodes import Graph, Number

#: Unknowns from which on a group is solved so: unrolled elimination takes longer to print than it saves.
MANY = 32


class Function:
    """Data of a node: a function without derivatives."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self.call = call

    def of(self, order: int) -> Callable[..., Any]:
        assert not order
        return self.call


class _Inverse(NamedTuple):
    """Inverses (…, n, m), of least squares if m > n, and sign of the determinant times their condition."""

    matrix: Floats
    pivot: Number


class Dense:
    """A Jacobian (m, n) of nodes, more rows than unknowns in the sense of least squares."""

    def __init__(self, graph: Graph, matrix: Sequence[Sequence[Number]], scale: Sequence[float]) -> None:
        entries = {(r, c): x for r, row in enumerate(matrix) for c, x in enumerate(row) if not is_zero(x)}
        self.graph, self.entries, self.n = graph, list(entries.values()), len(scale)
        self._matrix = partial(_matrix, (len(matrix), self.n), list(entries), np.array(scale))
        self._inverse = self._node(self._inverse_of, *self.entries)
        #: Small where the Jacobian is singular, with the sign of its determinant.
        self.pivots = [self._node(_pivot, self._inverse)]

    def _node(self, call: Callable[..., Any], *operands: Number) -> Any:
        return self.graph.make("user", tuple(self.graph.node(x).i for x in operands), (Function(call), 0))

    def _components(self, vector: Any) -> list[Number]:
        return [self._node(partial(_component, k), vector) for k in range(self.n)]

    def solve(self, b: Sequence[Number]) -> list[Number]:
        """Unknowns of one right side."""
        return self._components(self._node(self._solution_of, *self.entries, *b))

    def apply_inverse(self, b: Sequence[Number]) -> list[Number]:
        """Unknowns of one of several right sides."""
        return self._components(self._node(_product, self._inverse, *b))

    def _inverse_of(self, *entries: Number) -> _Inverse:
        return inverse_of(*self._matrix(entries))

    def _solution_of(self, *numbers: Number) -> Floats:
        J, scale = self._matrix(numbers[: len(self.entries)])
        A, b = J * scale, _columns(numbers[len(self.entries) :])
        if A.shape[-1] < A.shape[-2]:
            transposed = np.swapaxes(A, -1, -2)
            A, b = transposed @ A, transposed @ b
        try:
            x = np.linalg.solve(A, b)
        except np.linalg.LinAlgError:
            x = inverse_of(A, np.ones(self.n)).matrix @ b
        return np.moveaxis(x[..., 0] * scale, -1, 0)


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


def _matrix(
    shape: tuple[int, int], places: Sequence[tuple[int, int]], scale: Floats, entries: Sequence[Number]
) -> tuple[Floats, Floats]:
    """Jacobians (…, m, n), and the scales."""
    J = np.zeros((*_shape(entries), *shape))
    for (r, c), x in zip(places, entries, strict=True):
        J[..., r, c] = x
    return J, scale


def _columns(b: Sequence[Number]) -> Floats:
    """Right sides (…, m, 1)."""
    found = np.empty((*_shape(b), len(b), 1))
    for k, x in enumerate(b):
        found[..., k, 0] = x
    return found


def _shape(numbers: Sequence[Number]) -> tuple[int, ...]:
    return next((x.shape for x in numbers if isinstance(x, np.ndarray)), ())


def _product(inverse: _Inverse, *b: Number) -> Floats:
    return np.moveaxis((inverse.matrix @ _columns(b))[..., 0], -1, 0)


def _component(k: int, vector: Floats) -> Number:
    return vector[k] if vector.ndim > 1 else float(vector[k])


def _pivot(inverse: _Inverse) -> Number:
    return inverse.pivot if np.ndim(inverse.pivot) else float(inverse.pivot)
