"""Equilibrium of one block of bodies: singular instants, self-stresses, and bodies without support."""

import numpy as np

from groups.dynamics.inverse import balance


def test_instants_that_lose_rank_are_singular_and_no_others():
    random = np.random.default_rng(0)
    matrix, loads = random.normal(size=(6, 3, 3)), random.normal(size=(6, 3, 1))
    matrix[2, :, 2] = matrix[2, :, 0] + matrix[2, :, 1]
    matrix[4] = np.nan
    found = balance(matrix, loads)
    assert found.singular.tolist() == [False, False, True, False, False, False]
    assert np.isnan(found.multipliers[[2, 4]]).all()
    regular = [0, 1, 3, 5]
    np.testing.assert_allclose(matrix[regular] @ found.multipliers[regular], -loads[regular], atol=1e-12)


def test_redundant_equations_leave_self_stresses():
    random = np.random.default_rng(1)
    matrix, loads = random.normal(size=(4, 3, 5)), random.normal(size=(4, 3, 2))
    found = balance(matrix, loads)
    assert found.multipliers.shape == (4, 5, 4)
    product = matrix @ found.multipliers
    np.testing.assert_allclose(product[:, :, :2], -loads, atol=1e-12)
    np.testing.assert_allclose(product[:, :, 2:], 0.0, atol=1e-12)
    assert (np.linalg.matrix_rank(found.multipliers[:, :, 2:]) == 2).all()


def test_bodies_that_nothing_holds_are_counted():
    random = np.random.default_rng(2)
    thin = random.normal(size=(4, 3, 2))
    found = balance(thin @ random.normal(size=(4, 2, 3)), np.zeros((4, 3, 1)))
    assert found.deficient == 1
