"""``transform``: rows, notes and refusals."""

import json

import numpy as np
import pytest

import mbssa
from mbssa.faults import ModelError
from mbssa.input_search.best_first import Clock
from mbssa.input_search.enumerate import schemes
from mbssa.input_search.evaluate import evaluate, group_library
from mbssa.input_search.query import Query
from mbssa.input_search.search import block_size, exhaustive, transform
from mbssa.input_search.undriven import undriven_mechanisms


@pytest.fixture(scope="module")
def rotor():
    return transform(mbssa.load("rotor"))


class TestRows:
    def test_are_valid_and_best_first(self, rotor):
        groups = [row.n_groups for row in rotor.rows]
        assert all(row.valid for row in rotor.rows)
        assert groups == sorted(groups, reverse=True)
        assert len(rotor.rows) == ((rotor.evaluated.valid > 0) & (rotor.evaluated.alike > 0)).sum()
        assert (rotor.n_determined, rotor.n_valid) == (6_209, 1_062)

    def test_with_every_those_without_a_valid_set_are_named_too(self, rotor):
        every = transform(mbssa.load("rotor"), every=True)
        assert len(every.rows) == (every.evaluated.alike > 0).sum() > len(rotor.rows)
        refused = next(row for row in every.rows if not row.valid)
        assert "rank" in refused.verdict or "depend" in refused.verdict
        assert not mbssa.check(refused.mechanism()).solvable

    def test_what_is_alike_is_counted_with_and_without_rank(self, rotor):
        """Left and right blades of the rotor are alike as joints; its geometry gives some twins no rank."""
        evaluated = rotor.evaluated
        assert evaluated.alike.sum() == len(evaluated) > len(rotor.rows)
        assert (
            evaluated.alike_valid.sum()
            == (evaluated.valid > 0).sum()
            == sum(r.alike_valid for r in rotor.rows)
        )
        assert (rotor.best.alike, rotor.best.alike_valid) == (2, 2)
        odd = next(row for row in rotor.rows if row.alike_valid < row.alike)
        assert (odd.alike, odd.alike_valid) == (2, 1)

    def test_a_row_is_what_its_mechanism_is(self, rotor, tmp_path):
        for which in [0, 100, 300]:
            row = rotor.rows[which]
            mbssa.save(row.mechanism(), tmp_path / "row.toml", force=True)
            again = mbssa.load(tmp_path / "row.toml")
            structure = mbssa.decompose(again)
            assert structure.n_groups == row.n_groups == row.structure().n_groups, which
            assert mbssa.check(again).solvable, which
            record = json.loads(json.dumps(row.to_dict()))
            assert record["groups"] == [list(group.bodies) for group in structure.groups], which
            assert record["types"] == [group.type_name for group in structure.groups], which
            assert {"inputs", "n_groups", "largest", "levels", "width", "valid", "cost"} <= set(record), which

    def test_slices_and_iteration_say_the_same(self, rotor):
        assert [row.inputs for row in rotor.rows[3:6]] == [rotor.rows[k].inputs for k in (3, 4, 5)]
        assert rotor.rows[-1] == list(rotor.rows)[-1]

    def test_another_criterion_changes_the_order_alone(self, rotor):
        other = transform(mbssa.load("rotor"), criterion="cost")
        costs = [row.cost for row in other.rows]
        assert costs == sorted(costs)
        assert {row.inputs for row in other.rows} == {row.inputs for row in rotor.rows}

    def test_the_front_has_no_row_that_another_beats(self, rotor):
        front = rotor.front("groups", "cost")
        for one in front:
            assert not any(
                row.n_groups >= one.n_groups
                and row.cost <= one.cost
                and (row.n_groups, row.cost) != (one.n_groups, one.cost)
                for row in rotor.rows
            )

    def test_a_library_changes_what_is_closed(self):
        none = transform(mbssa.load("rotor"), library=[], costs={})
        assert {row.closed_forms for row in none.rows} == {0}


class TestQuestions:
    def test_what_is_required_is_in_every_row(self):
        answer = transform(mbssa.load("rotor"), require=["1-2", "13-15.angle"], forbid=["1-13"])
        assert answer.rows
        for row in answer.rows:
            assert {"1-2.slide", "13-15.angle"} < set(row.inputs)
            assert not any(name.startswith("1-13.") for name in row.inputs)

    def test_it_is_a_part_of_the_whole_search(self, rotor):
        some = transform(mbssa.load("rotor"), per_joint=1, forbid=["8-9"]).evaluated
        whole = {tuple(places): row for row, places in enumerate(rotor.evaluated.places.tolist())}
        rows = rotor.evaluated.take(np.array([whole[tuple(places)] for places in some.places.tolist()]))
        for name in ("n_groups", "largest", "levels", "width", "structure", "sets", "valid", "bits", "cost"):
            assert np.array_equal(getattr(some, name), getattr(rows, name)), name
        assert 0 < len(some) < len(rotor.evaluated)

    def test_a_terminal_is_an_input_only_where_it_is_driven(self):
        answer = transform(mbssa.load("rssr"), terminals=["4"])
        for row in answer.rows:
            fictitious = any(joint.type.code == "F" for joint in row.mechanism().joints)
            assert fictitious == any(name.startswith("1-4#2") for name in row.inputs)
            assert mbssa.check(row.mechanism()).solvable
        assert any("#2" in name for row in answer.rows for name in row.inputs)

    def test_what_cannot_be_answered_is_refused(self):
        for options, message in [
            ({"allow": ["1-2", "1-13"]}, "3 inputs.* 2 coordinates"),
            ({"require": ["1-2", "1-3", "1-4", "1-13"]}, "4 inputs.* 3 are needed"),
            ({"inputs": 4}, "4 inputs for 3"),
            ({"criterion": "size"}, "unknown 'size'"),
            ({"most": 0}, "most: 0"),
            ({"time_limit": -1.0}, "time_limit: -1.0"),
            ({"time_limit": float("nan")}, "time_limit: nan"),
            (
                {"most": True, "criterion": "size", "allow": ["9-99"], "per_joint": 0},
                r"(?s)4 faults.*'9-99'.*per_joint: 0.*most: True.*'size'",
            ),
        ]:
            with pytest.raises(ValueError, match=message):
                transform(mbssa.load("rotor"), **options)


class TestBlocks:
    """The time is looked at between blocks, which are sized for it."""

    @staticmethod
    def searched(limit=None, block=4096):
        """An exhaustive search of the rotor, on a clock that moves by 10 ms for each scheme evaluated."""
        now, sizes = [0.0], []
        bases, _ = undriven_mechanisms(mbssa.load("rotor"), Query())

        def evaluated(variant, places):
            sizes.append(len(places))
            now[0] += 0.01 * len(places)
            return evaluate(bases[variant], places, group_library())

        clock = Clock(limit, lambda: now[0])
        return (
            exhaustive(evaluated, [schemes(base) for base in bases], block=block, clock=clock),
            now[0],
            sizes,
        )

    def test_they_get_smaller_as_the_time_runs_out(self):
        outcome, now, sizes = self.searched(limit=8.0)
        assert outcome.stop == "time"
        assert 7.8 < now < 8.2
        assert 0.01 * outcome.n_evaluated == pytest.approx(now)
        assert sizes[-1] < 5 < max(sizes)

    def test_without_a_limit_they_are_whole(self):
        outcome, _, sizes = self.searched(block=1000)
        assert (outcome.stop, outcome.n_evaluated, sizes) == ("", 1576, [1000, 576])

    def test_schemes_of_many_sets_are_evaluated_a_few_at_a_time(self):
        assert [block_size(1576, 9139 * times) for times in (1, 1000, 10**6)] == [4096, 86, 1]


class TestGeneric:
    def test_the_answer_says_that_generic_rank_decided(self):
        four_bar = mbssa.from_pairs(
            4, [(1, 2, "R", 1), (2, 3, "R", 0), (3, 4, "R", 0), (1, 4, "R", 0)], "planar"
        )
        answer = transform(four_bar)
        assert answer.basis == "generic"
        assert any("generic rank" in note for note in answer.notes)
        assert answer.n_valid == 4


class TestOwn:
    def test_is_evaluated_though_the_query_forbids_it(self):
        answer = transform(mbssa.load("rotor"), forbid=["13-15"])
        assert answer.own.valid
        assert answer.own.inputs == ("9-13.angle", "13-15.angle", "11-14.angle_1")

    def test_none_where_nothing_is_driven(self):
        assert transform(mbssa.with_inputs(mbssa.load("rotor"), [])).own is None

    def test_inputs_that_the_count_refuses_have_its_reason(self):
        bad = mbssa.with_inputs(mbssa.load("rotor"), ["1-2", "2-5.angle_1", "2-5.angle_2"])
        own = transform(bad, allow=["1-2", "1-3", "1-4"]).own
        assert own.n_groups == 0
        assert "count" in own.verdict


def test_mechanisms_too_large_for_ranks_are_refused():
    n = 450
    pairs = [(1, 2, "R", 1)] + [(b, b + 1, "R", 0) for b in range(2, n)]
    with pytest.raises(ModelError, match="1,200"):
        transform(mbssa.from_pairs(n, pairs, "planar"))


def test_all_values_are_finite(rotor):
    assert np.isfinite(rotor.evaluated.cost).all()
    assert np.isfinite(rotor.evaluated.margin).all()
