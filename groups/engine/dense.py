"""Linear solves of large groups as nodes of a graph: NumPy solves, so that pivots are free."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbssa.graph.nodes import is_node, is_zero

if TYPE_CHECKING:
    from mbssa.arrays import Floats
    from mbssa.graph.nodes import Number

#: Unknowns from which on a group is solved so: unrolled elimination costs more to print than it gains.
MANY = 24


class _Function:
    """Data of a node: a function without derivatives."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self.call = call

    def of(self, _: Any) -> Callable[..., Any]:
        return self.call


class _Inverse(NamedTuple):
    """Inverses (…, n, m), of least squares if m > n, and sign of the determinant times their condition."""

    matrix: Floats
    pivot: Number


def inverted(
    matrix: Sequence[Sequence[Number]], scale: Sequence[float]
) -> tuple[Callable[[Sequence[Number]], list[Number]], list[Number]]:
    """``solve(b)`` of a Jacobian (m, n) of unknowns of these scales, and a pivot that is 0 where it is singular."""
    entries = {(r, c): x for r, row in enumerate(matrix) for c, x in enumerate(row) if not is_zero(x)}
    graph = next(x.graph for x in entries.values() if is_node(x))

    def node(call: Callable[..., Any], *operands: Number) -> Any:
        return graph.make("user", tuple(graph.node(x).i for x in operands), (_Function(call), ()))

    places = tuple(np.array(list(entries)).T)
    inverse = node(partial(_inverse, (len(matrix), len(scale)), places, np.array(scale)), *entries.values())

    def solve(b: Sequence[Number]) -> list[Number]:
        product = node(_product, inverse, *b)
        return [node(partial(_component, k), product) for k in range(len(scale))]

    return solve, [node(_pivot, inverse)]


def inverse_of(J: Floats, scale: Floats) -> _Inverse:
    """Inverses of Jacobians (…, m, n); NaN where they are singular."""
    A = J * scale
    transposed = np.swapaxes(A, -1, -2)
    is_square = A.shape[-1] == A.shape[-2]
    A = A if is_square else transposed @ A
    with np.errstate(all="ignore"):
        sign, logarithm = np.linalg.slogdet(A)
        usable = np.isfinite(logarithm)
        B = np.linalg.inv(np.where(usable[..., None, None], A, np.eye(len(scale))))
        pivot = sign / (_norm(A) * _norm(B))
    B = np.where(usable[..., None, None], B if is_square else B @ transposed, np.nan)
    return _Inverse(B * scale[:, None], np.where(usable, pivot, 0.0))


def _norm(A: Floats) -> Any:
    return np.sqrt(np.einsum("...ij,...ij->...", A, A))


def _inverse(shape: tuple[int, int], places: tuple[Any, Any], scale: Floats, *entries: Number) -> _Inverse:
    J = np.zeros((*_shape(entries), *shape))
    for r, c, x in zip(*places, entries, strict=True):
        J[..., r, c] = x
    return inverse_of(J, scale)


def _shape(numbers: Sequence[Number]) -> tuple[int, ...]:
    return next((x.shape for x in numbers if isinstance(x, np.ndarray) and x.ndim), ())


def _product(inverse: _Inverse, *b: Number) -> Floats:
    A = inverse.matrix
    if A.ndim == 2:
        return A @ np.array(b)
    columns = np.array([np.broadcast_to(x, len(A)) for x in b])
    return np.einsum("kij,jk->ik", A, columns)


def _component(k: int, product: Floats) -> Number:
    return product[k] if product.ndim > 1 else float(product[k])


def _pivot(inverse: _Inverse) -> Number:
    return inverse.pivot if np.ndim(inverse.pivot) else float(inverse.pivot)
