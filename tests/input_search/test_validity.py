"""Full rank by a small matrix against the singular values of the whole one."""

import numpy as np
import pytest

from mbssa.input_search import validity
from mbssa.input_search.validity import full_rank, split_system
from mbssa.singularities.ranks import rank_of


def system(seed, spins, tolerance):
    """Equations, some of them redundant, and coordinates that see the free motions by little or by much."""
    dice = np.random.default_rng(seed)
    unknowns, rank = 12, int(dice.integers(0, 11))
    equations = dice.normal(size=(rank, unknowns)) * 10.0 ** dice.uniform(-1, 0, (rank, 1))
    equations = np.vstack([equations, dice.normal(size=(3 * (rank > 0), rank)) @ equations])
    right = np.linalg.svd(np.vstack([equations, np.zeros(unknowns)]))[2]
    along = dice.normal(size=(20, unknowns))
    along[:, rank:] *= tolerance ** dice.uniform(0.0, 1.2)
    # No coordinate sees an passive rotation.
    along[:, unknowns - spins :] = 0.0
    return equations, along @ right, rank


@pytest.mark.parametrize("spins", [0, 1])
@pytest.mark.parametrize("tolerance", [1e-9, 1e-4, 1e-2])
def test_it_is_what_all_singular_values_say(spins, tolerance, monkeypatch):
    calls = []
    monkeypatch.setattr(validity, "rank_of", lambda *matrix: calls.append(1) or rank_of(*matrix))
    verdicts = []
    for seed in range(150):
        equations, coordinates, rank = system(seed, spins, tolerance)
        if rank_of(equations, tolerance).rank != rank:
            continue
        whole = split_system(equations, coordinates, rank, tolerance)
        n = 12 - rank - spins
        chosen = np.random.default_rng(seed).choice(20, n, replace=False)
        matrix = np.vstack([equations, coordinates[chosen]])
        full = rank_of(matrix, tolerance).rank >= 12 - spins
        assert full_rank(whole, chosen[None], spins).tolist() == [full]
        verdicts.append(full)
    assert sum(verdicts) > 15
    assert sum(verdicts) < len(verdicts) - 15
    # The whole matrix is asked only where the bound lies near a singular value.
    assert len(calls) < 0.35 * len(verdicts)
