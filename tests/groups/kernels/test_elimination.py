"""Elimination of systems that are mostly zeros."""

import numpy as np
import pytest
from lives import life_of

from groups.kernels import elimination

pytestmark = pytest.mark.usefixtures("life")


def solved(matrix, right):
    factors, order, x = matrix.copy(), np.zeros(matrix.shape[1], dtype=np.int64), right.copy()
    ratio = life_of(elimination.factorise)(factors, order)
    life_of(elimination.arrange)(order, x)
    life_of(elimination.substitute)(factors, x)
    return x[: matrix.shape[1]], ratio


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("n", [1, 7, 60])
def test_it_is_the_inverse(n, share):
    rng = np.random.default_rng(n)
    matrix = rng.normal(size=(n, n)) * (rng.random((n, n)) < share)
    matrix[np.arange(n), rng.permutation(n)] += 3.0  # zeros on the diagonal, and an inverse
    right = rng.normal(size=n)
    x, ratio = solved(matrix, right)
    assert np.abs(x - np.linalg.solve(matrix, right)).max() < 1e-10
    assert 0 < ratio <= 1


def test_rows_that_follow_from_others_are_left_out():
    """The first row is zero but for rounding: chosen, it would spoil every digit."""
    rng = np.random.default_rng(5)
    matrix = np.concatenate([np.full((1, 20), 1e-17), rng.normal(size=(20, 20))])
    matrix = np.concatenate([matrix, matrix[3:6] + matrix[7:10]])
    expected = rng.normal(size=20)
    x, ratio = solved(matrix, matrix @ expected)
    assert np.abs(x - expected).max() < 1e-11
    assert ratio > 1e-3


def test_a_matrix_without_inverse_has_the_ratio_zero():
    factorise, order = life_of(elimination.factorise), np.zeros(3, dtype=np.int64)
    assert factorise(np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 1.0]]), order) < 1e-15
    assert factorise(np.zeros((3, 3)), order) == 0
    assert factorise(np.full((3, 3), np.nan), order) == 0
