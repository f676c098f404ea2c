"""Made-up mechanisms of any number of groups have the shape that they are asked for, and can be solved."""

import numpy as np
import pytest
from synthetic import dyads

import groups
import mbssa


def test_it_has_exactly_that_many_groups_levels_and_columns():
    for n, width, cranks in ((1, 1, 1), (2, 3, 2), (30, 1, 1), (30, 29, 1), (40, 6, 3), (100, 10, 1)):
        structure = mbssa.decompose(dyads(n, width, cranks=cranks))
        assert structure.determined, (n, width, cranks)
        full, rest = divmod(n - cranks, width)
        levels = [cranks] + [width] * full + [rest] * bool(rest)
        assert [len(level) for level in structure.levels] == levels, (n, width, cranks)


@pytest.mark.parametrize(("n", "width"), [(60, 10), (30, 1), (30, 29)])
def test_it_closes_over_the_whole_turn_far_from_any_dead_point(n, width):
    model = groups.build(mbssa.decompose(dyads(n, width, cranks=min(width, 2), seed=1)))
    assert {solver.form for solver in model.solvers} == {"driven", "closed form"}
    trajectory = model.solve(branch="checked", compiled=False)
    assert trajectory.ok, trajectory.faults()
    assert trajectory.residual.max() < 1e-12
    assert trajectory.condition.min() > 0.3
    # The turn ends as it began, and every body has moved.
    assert np.abs(trajectory.position[0] - trajectory.position[-1]).max() < 1e-9
    way = np.ptp(trajectory.position[:, 1:], axis=0).max(axis=1)
    assert np.maximum(way, np.ptp(trajectory.orientation[:, 1:], axis=0)).min() > 0.02


def test_all_faults_are_told_at_once():
    with pytest.raises(ValueError, match=r"cranks = 5.*width = 4.*groups = 3.*slots = 2"):
        dyads(3, 4, cranks=5, slots=2)
