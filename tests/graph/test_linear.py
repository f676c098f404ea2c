"""Linear solves on any numbers agree with NumPy: cofactors, elimination, least squares."""

import numpy as np
import pytest

from mbssa.graph.linear import factorised, least_squares, pivot_order
from mbssa.graph.nodes import Graph, is_node
from mbssa.graph.source import functions


def system(n, seed=0):
    """A matrix that is sparse and regular, and a right side."""
    random = np.random.default_rng(seed)
    A = random.normal(size=(n, n)) * (random.random((n, n)) < 0.4)
    A[np.arange(n), random.permutation(n)] += 3.0
    return A, random.normal(size=n)


def traced(A):
    """Numbers that are not 0 as inputs."""
    graph = Graph()
    return [
        [graph.input("q", r * A.shape[1] + c) if x else 0.0 for c, x in enumerate(row)]
        for r, row in enumerate(A)
    ]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 12])
def test_solves_are_numpys_on_floats_and_as_source(n):
    A, b = system(n, n)
    order = pivot_order(A)
    assert sorted(r for r, _ in order) == sorted(c for _, c in order) == list(range(n))
    solve, pivots = factorised(A.tolist(), order)
    np.testing.assert_allclose(solve(b.tolist()), np.linalg.solve(A, b), rtol=1e-11, atol=1e-12)
    assert abs(np.prod(pivots)) == pytest.approx(abs(np.linalg.det(A)), rel=1e-11)
    solve, _ = factorised(traced(A), order)
    (floats, arrays), _ = functions("solve", [], solve(b.tolist()))
    np.testing.assert_allclose(
        floats([], [], A.ravel().tolist()), np.linalg.solve(A, b), rtol=1e-11, atol=1e-12
    )
    found = arrays([], [], np.stack([A.ravel(), 2.0 * A.ravel()], axis=1))
    found = np.array([np.broadcast_to(x, 2) for x in found])
    np.testing.assert_allclose(found, np.linalg.solve(A, b)[:, None] * [1.0, 0.5], rtol=1e-11, atol=1e-12)


def test_least_squares_are_numpys():
    random = np.random.default_rng(5)
    J, b = random.normal(size=(9, 5)), random.normal(size=9)
    normal, projected = least_squares(J.tolist())
    np.testing.assert_allclose(normal, J.T @ J, atol=1e-13)
    solve, _ = factorised(normal, pivot_order(normal))
    wanted = np.linalg.lstsq(J, b, rcond=None)[0]
    np.testing.assert_allclose(solve(projected(b.tolist())), wanted, rtol=1e-11, atol=1e-12)


def test_pivots_are_large_enough():
    """A small number is no pivot, however few operations it would cost."""
    A = np.array([[1e-9, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 2.0, 1.0], [0.0, 1.0, 1.0, 3.0]])
    assert (0, 0) not in pivot_order(A)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_a_pivot_that_is_zero_by_structure_is_said_and_printed(n):
    A = system(n)[0]
    A[:, 0] = 0.0
    with np.errstate(all="ignore"):
        order = pivot_order(A)
    solve, pivots = factorised(traced(A), order)
    assert any(not is_node(p) and p == 0.0 for p in pivots)
    (_, arrays), _ = functions("solve", [], [*solve([1.0] * n), *pivots])
    with np.errstate(all="ignore"):
        found = arrays([], [], A.ravel())
    assert not np.isfinite(found[:n]).all()
