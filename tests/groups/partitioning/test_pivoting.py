"""Pivots of many matrices at once against textbook eliminations of one, and against singular values."""

import numpy as np
import pytest

from groups.partitioning.choice import METHODS, pivots_of


def textbook(matrix):
    """Complete pivoting with swaps, one matrix."""
    left = matrix.copy()
    m, n = left.shape
    rows, columns, sizes = list(range(m)), list(range(n)), []
    for k in range(min(m, n)):
        i, j = np.unravel_index(np.abs(left[k:, k:]).argmax(), (m - k, n - k))
        left[[k, k + i]] = left[[k + i, k]]
        left[:, [k, k + j]] = left[:, [k + j, k]]
        rows[k], rows[k + i] = rows[k + i], rows[k]
        columns[k], columns[k + j] = columns[k + j], columns[k]
        sizes.append(abs(left[k, k]))
        left[k + 1 :] -= np.outer(left[k + 1 :, k] / left[k, k], left[k])
    return rows[: len(sizes)], columns[: len(sizes)], sizes


def test_complete_pivoting_is_the_textbooks():
    for shape in ((3, 5), (5, 3), (4, 4), (1, 3)):
        matrices = np.random.default_rng(1).normal(size=(10, *shape))
        found = pivots_of(matrices, "complete")
        for t, matrix in enumerate(matrices):
            rows, columns, sizes = textbook(matrix)
            assert found.rows[t, : len(rows)].tolist() == rows, (shape, t)
            assert found.columns[t, : len(columns)].tolist() == columns, (shape, t)
            np.testing.assert_allclose(found.sizes[t], sizes, err_msg=f"{shape} {t}")


def test_one_matrix_is_eliminated_as_many_are():
    """Entries of -1, 0 and 1: many equal pivots, many zeros, and ranks that fall short."""
    for shape in ((5, 7), (7, 5), (6, 6)):
        matrices = np.random.default_rng(3).integers(-1, 2, (30, *shape)).astype(float)
        matrices[0] = 0.0
        many = pivots_of(matrices, "complete")
        for t, matrix in enumerate(matrices):
            one = pivots_of(matrix[None], "complete")
            for name in ("rows", "columns", "sizes"):
                np.testing.assert_array_equal(getattr(one, name)[0], getattr(many, name)[t], f"{shape} {t}")


@pytest.mark.parametrize("method", METHODS)
def test_rank_is_that_of_singular_values_and_what_is_taken_has_it(method):
    for rank in range(4):
        rng = np.random.default_rng(rank)
        matrices = rng.normal(size=(30, 4, rank)) @ rng.normal(size=(30, rank, 6))
        found = pivots_of(matrices, method)
        assert ((found.sizes > 1e-9).sum(axis=1) == rank).all(), rank
        for t, matrix in enumerate(matrices):
            taken = matrix[np.ix_(found.rows[t, :rank], found.columns[t, :rank])]
            assert np.linalg.matrix_rank(taken, tol=1e-9) == rank, (rank, t)
            assert sorted(found.rows[t]) == list(range(4)), (rank, t)
            assert sorted(found.columns[t]) == list(range(6)), (rank, t)
    for shape in ((0, 3), (2, 0)):
        found = pivots_of(np.zeros((2, *shape)), method)
        assert found.sizes.shape == (2, 0)
        assert found.columns.tolist() == [list(range(shape[1]))] * 2


@pytest.mark.parametrize("method", METHODS)
def test_a_matrix_that_is_not_finite_spoils_no_other(method):
    matrices = np.random.default_rng(2).normal(size=(3, 2, 4))
    alone = pivots_of(matrices[[0, 2]], method)
    matrices[1, 0, 0] = np.nan
    found = pivots_of(matrices, method)
    assert np.isnan(found.sizes[1]).all()
    np.testing.assert_array_equal(found.columns[[0, 2]], alone.columns)
    np.testing.assert_array_equal(found.sizes[[0, 2]], alone.sizes)


def test_of_entries_that_differ_by_rounding_the_first_is_taken():
    found = pivots_of(np.array([[[1.0, 1.0 + 1e-15, -1.0 - 1e-15]]]), "complete")
    assert found.columns[0, 0] == 0
