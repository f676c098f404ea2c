"""Elimination with row pivots, of full systems and of those that are mostly zeros."""

import numpy as np

from groups.kernels import linear


def solved(matrix, right):
    factors, order, x = matrix.copy(), np.zeros(matrix.shape[1], dtype=np.int64), right.copy()
    pivots = linear.factorise(factors, order)
    linear.substitute(factors, order, x)
    return x[: matrix.shape[1]], *pivots


def test_it_is_the_inverse_with_the_sign_of_the_determinant():
    signs = set()
    for n, share in ((1, 1.0), (2, 1.0), (7, 0.1), (7, 0.5), (12, 1.0), (40, 0.1)):
        for seed in range(4):
            rng = np.random.default_rng(seed)
            matrix = rng.normal(size=(n, n)) * (rng.random((n, n)) < share)
            if share < 1.0:
                matrix[np.arange(n), rng.permutation(n)] += 3.0  # zeros on the diagonal, and an inverse
            right = rng.normal(size=n)
            x, sign, smallest, largest = solved(matrix, right)
            assert np.abs(x - np.linalg.solve(matrix, right)).max() < 1e-10, (n, share, seed)
            assert sign == np.linalg.slogdet(matrix)[0], (n, share, seed)
            assert 0 < smallest <= largest
            signs.add(float(sign))
    assert signs == {1.0, -1.0}


def test_rows_that_follow_from_others_are_left_out():
    """The first row is zero but for rounding: chosen, it would spoil every digit."""
    rng = np.random.default_rng(5)
    matrix = np.concatenate([np.full((1, 20), 1e-17), rng.normal(size=(20, 20))])
    matrix = np.concatenate([matrix, matrix[3:6] + matrix[7:10]])
    expected = rng.normal(size=20)
    x, sign, smallest, largest = solved(matrix, matrix @ expected)
    assert np.abs(x - expected).max() < 1e-11
    assert smallest > 1e-3 * largest
    assert sign == 0.0  # a tall matrix has no determinant


def test_a_matrix_without_inverse_has_no_smallest_pivot():
    order = np.zeros(3, dtype=np.int64)
    dependent = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 1.0]])
    assert linear.factorise(dependent, order)[1] < 1e-15
    assert linear.factorise(np.zeros((3, 3)), order) == (0, 0, 0)
    assert linear.factorise(np.full((3, 3), np.nan), order) == (0, 0, 0)
