"""Made-up DAGs have the shape that they are asked for; made-up mechanisms too, and they can be solved."""

import numpy as np
import pytest
from synthetic import costs, deep, dyads, in_chunks, layered, random_dag, wide

import groups
import mbssa


def depth(needs):
    levels = []
    for before in needs:
        levels.append(1 + max((levels[need] for need in before), default=0))
    return max(levels, default=0)


@pytest.mark.parametrize("n", [1, 10, 1000, 10_000])
def test_every_shape_has_its_size_and_needs_only_lower_groups(n):
    for needs in (wide(n), deep(n), layered(n, 1), random_dag(n, min(1, 5 / n), 4)):
        assert len(needs) == n
        for group, before in enumerate(needs):
            assert list(before) == sorted(set(before))
            assert all(0 <= need < group for need in before)


def test_depths():
    assert depth(wide(50)) == 2
    assert depth(deep(50)) == 50
    assert depth(layered(7, 5)) == 7
    assert depth(layered(7, 1)) == 7


def test_a_random_dag_is_as_dense_as_asked_and_the_same_for_the_same_seed():
    needs = random_dag(400, 0.1, 5)
    pairs = 400 * 399 / 2
    assert sum(map(len, needs)) == pytest.approx(0.1 * pairs, abs=4 * np.sqrt(0.1 * 0.9 * pairs))
    assert needs == random_dag(400, 0.1, 5) != random_dag(400, 0.1, 6)
    assert random_dag(20, 0.0) == ((),) * 20
    assert random_dag(20, 1.0) == tuple(tuple(range(group)) for group in range(20))


def test_costs_lie_between_their_bounds():
    times = costs(1000, 7, least=1e-4, most=1e-2)
    assert 1e-4 <= times.min() < 2e-4
    assert 5e-3 < times.max() <= 1e-2


@pytest.mark.parametrize("carried", [True, False])
def test_chunks_repeat_the_needs_and_carry_on(carried):
    needs = random_dag(9, 0.3, 1)
    start, before = in_chunks(needs, 3, carried=carried)
    for chunk in range(3):
        for group in range(9):
            task = 9 * chunk + group
            expected = {9 * chunk + need for need in needs[group]}
            if carried and chunk:
                expected.add(task - 9)
            assert set(before[start[task] : start[task + 1]].tolist()) == expected
    assert start[-1] == len(before)


class TestDyads:
    @pytest.mark.parametrize(
        ("n", "width", "cranks"),
        [(1, 1, 1), (2, 3, 2), (30, 1, 1), (30, 29, 1), (40, 6, 3), (100, 10, 1), (1000, 50, 5)],
    )
    def test_it_has_exactly_that_many_groups_levels_and_columns(self, n, width, cranks):
        structure = mbssa.decompose(dyads(n, width, cranks=cranks))
        assert structure.determined
        assert structure.n_groups == n
        full, rest = divmod(n - cranks, width)
        assert [len(level) for level in structure.levels] == [cranks] + [width] * full + [rest] * bool(rest)

    @pytest.mark.parametrize("seed", range(6))
    def test_it_closes_over_the_whole_turn_far_from_any_dead_point(self, seed):
        mechanism = dyads(100, 10, cranks=1 + seed % 3, seed=seed)
        model = groups.build(mbssa.decompose(mechanism))
        trajectory = model.solve()
        assert trajectory.ok, trajectory.faults()
        assert trajectory.residual.max() < 1e-12
        assert trajectory.condition.min() > 0.3
        # The turn ends as it began, and every body has moved.
        assert np.abs(trajectory.position[0] - trajectory.position[-1]).max() < 1e-9
        way = np.ptp(trajectory.position[:, 1:], axis=0).max(axis=1)
        assert np.maximum(way, np.ptp(trajectory.orientation[:, 1:], axis=0)).min() > 0.02

    @pytest.mark.parametrize("width", [1, 299])
    def test_chains_and_fans_of_300_groups_close(self, width):
        trajectory = groups.build(mbssa.decompose(dyads(300, width, seed=1))).solve()
        assert trajectory.ok, trajectory.faults()

    def test_all_groups_have_a_closed_form_and_some_need_two_others(self):
        structure = mbssa.decompose(dyads())
        model = groups.build(structure)
        assert {solver.form for solver in model.solvers} == {"driven", "closed form"}
        types = [group.type_name for group in structure.groups]
        assert types.count("1R2D") == 1
        assert 10 < types.count("1R1SLOT2D") < 40
        assert types.count("3R2D") == 99 - types.count("1R1SLOT2D")
        assert sum(len(group.depends_on) == 2 for group in structure.groups) > 10

    def test_without_slots_and_with_nothing_else(self):
        for share, code in ((0.0, "3R2D"), (1.0, "1R1SLOT2D")):
            types = [group.type_name for group in mbssa.decompose(dyads(20, 4, slots=share)).groups]
            assert types.count(code) == 19

    def test_the_same_seed_gives_the_same_mechanism(self, tmp_path):
        for name, seed in (("one", 3), ("same", 3), ("other", 4)):
            mbssa.save(dyads(30, 5, seed=seed), tmp_path / f"{name}.toml")
        texts = [(tmp_path / f"{name}.toml").read_text() for name in ("one", "same", "other")]
        assert texts[0] == texts[1] != texts[2]

    def test_all_faults_are_told_at_once(self):
        with pytest.raises(ValueError, match=r"cranks = 5 with width = 4.*groups = 3.*slots = 2"):
            dyads(3, 4, cranks=5, slots=2)
