"""Criteria: how they are written, how they order, and the Pareto front against its definition."""

import numpy as np
import pytest

from mbssa.input_search.criteria import CRITERIA, criterion, front, ordered, values_of
from mbssa.input_search.evaluate import Evaluated


def some(seed=1, rows=60):
    dice = np.random.default_rng(seed)
    evaluated = Evaluated.empty(2, rows)
    evaluated.determined[:] = True
    for name in ("n_groups", "largest", "levels", "width", "closed"):
        getattr(evaluated, name)[:] = dice.integers(1, 6, rows)
    evaluated.cost[:] = dice.uniform(1, 9, rows).round(1)
    evaluated.valid[:] = dice.integers(0, 2, rows)
    evaluated.places[:] = np.sort(dice.integers(0, 9, (rows, 2)))
    return evaluated


class TestReading:
    def test_criteria_alone_go_in_their_good_direction_and_sums_have_weights(self):
        for text, sums in [
            ("groups, largest", (((1.0, "groups"),), ((-1.0, "largest"),))),
            ("2*groups-1*largest+0.5*closed", (((2.0, "groups"), (-1.0, "largest"), (0.5, "closed")),)),
            ("groups-largest", (((1.0, "groups"), (-1.0, "largest")),)),
            ("-1e-1*cost + width", (((-0.1, "cost"), (1.0, "width")),)),
            ("groups-largest,cost", (((1.0, "groups"), (-1.0, "largest")), ((-1.0, "cost"),))),
        ]:
            assert criterion(text).sums == sums, text

    def test_what_is_none_is_refused_with_what_to_write(self):
        for text, message in [
            ("group,largst", "unknown 'group', 'largst'; did you mean 'groups' and 'largest'"),
            ("2*groups-1*lagest", "did you mean 'largest'"),
            ("2 groups", "neither a list"),
            ("groups;largest", "neither a list"),
            ("", "neither a list"),
            ("groups,", "neither a list"),
            ("2*groups--1*cost", "neither a list"),
            ("1e400*groups", "neither a list"),
            ("9" * 400 + "*groups", "neither a list"),
            ("+".join(["groups"] * 5_001), "35,006 characters; write 1,000 at most"),
        ]:
            with pytest.raises(ValueError, match=r"neither|write|criteria are") as caught:
                criterion(text)
            assert message in str(caught.value), text


class TestOrder:
    def test_each_criterion_goes_in_its_good_direction(self):
        for name, (direction, _) in CRITERIA.items():
            evaluated = some()
            values = values_of(evaluated, name)[ordered(evaluated, criterion(name))]
            steps = np.diff(values) * direction
            assert (steps <= 0).all(), name

    def test_the_second_criterion_decides_where_the_first_does_not(self):
        evaluated = some()
        rows = ordered(evaluated, criterion("groups,cost"))
        pairs = [(-int(evaluated.n_groups[row]), float(evaluated.cost[row])) for row in rows]
        assert pairs == sorted(pairs)

    def test_a_sum_is_what_it_says(self):
        evaluated = some()
        rows = ordered(evaluated, criterion("2*groups-0.5*cost"))
        total = 2 * evaluated.n_groups - 0.5 * evaluated.cost
        assert (np.diff(total[rows]) <= 1e-12).all()

    def test_does_not_hang_on_the_order_of_the_rows(self):
        evaluated = some()
        # Rows that differ in nothing that is compared may change places.
        evaluated = evaluated.take(np.unique(evaluated.places, axis=0, return_index=True)[1])
        mixed = evaluated.take(np.random.default_rng(3).permutation(len(evaluated)))
        first = evaluated.take(ordered(evaluated, criterion("groups,largest")))
        second = mixed.take(ordered(mixed, criterion("groups,largest")))
        assert np.array_equal(first.places, second.places)


class TestFront:
    def test_against_its_definition(self):
        for pair in [("groups", "largest"), ("cost", "levels"), ("closed", "open")]:
            for seed in range(3):
                evaluated = some(seed)
                values = np.array([CRITERIA[name][0] * values_of(evaluated, name) for name in pair]).T
                best = {
                    tuple(v)
                    for v in values.tolist()
                    if not any((w >= v).all() and (w > v).any() for w in values)
                }
                rows = front(evaluated, *pair)
                assert {tuple(values[row].tolist()) for row in rows} == best, (seed, pair)
                assert len(rows) == len(best), (seed, pair)

    def test_sums_that_differ_by_rounding_are_one_point(self):
        evaluated = Evaluated.empty(1, 4)
        evaluated.n_groups[:] = [5, 4, 5, 4]
        evaluated.cost[:] = [0.3, 0.2, 0.1 + 0.2, 0.2 * (1 + 1e-14)]
        assert evaluated.cost[2] != evaluated.cost[0]
        assert front(evaluated, "groups", "cost").tolist() == [0, 1]
        assert front(evaluated, "cost", "groups").tolist() == [1, 0]
        evaluated.cost[2] -= 1e-6
        assert front(evaluated, "groups", "cost").tolist() == [2, 1]

    def test_of_no_rows_is_empty(self):
        assert front(Evaluated.empty(1), "groups", "cost").tolist() == []

    def test_an_unknown_criterion_is_refused(self):
        with pytest.raises(ValueError, match="unknown 'size'"):
            front(some(), "groups", "size")
