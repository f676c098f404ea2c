"""Best routes first, against sorting all of them."""

import itertools
from itertools import islice

import numpy as np
import pytest
from brute_force import all_routes, automorphisms, dags, orbit
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import deep, layered, random_dag, wide

from routes.dag import Dag
from routes.enumeration import best_first, count
from routes.enumeration import search as one_by_one
from routes.simulate import simulate

SECONDS = st.sampled_from([0.0, 0.3, 1.0, 1.0, 1.0, 2.0, np.pi])


def predicted(route, seconds, workers, stage, call):
    costs = [[seconds[g - 1] + call for g in groups] for groups in route]
    return sum(stage + max(max(one), sum(one) / workers) for one in costs)


def ordered(*given, **named):
    """All routes as the search finds them, and whether their order is exact."""
    routes = best_first(*given, **named)
    return list(routes), routes.exact


class TestExact:
    @settings(max_examples=50, deadline=None)
    @given(
        dags(most=5, labels="a"),
        st.data(),
        st.sampled_from([1, 2, 3, 8]),
        st.sampled_from([0.0, 0.1, 1.0, 5.0]),
        st.sampled_from([0.0, 0.2]),
    )
    def test_all_routes_ascending(self, dag, data, workers, stage, call):
        seconds = [data.draw(SECONDS) for _ in range(len(dag))]
        found, exact = ordered(dag, seconds, workers, stage=stage, call=call, symmetry=False)
        assert exact
        assert len(found) == len(all_routes(dag))
        assert {route for _, route in found} == all_routes(dag)
        times = [time for time, _ in found]
        assert times == sorted(times)
        np.testing.assert_allclose(
            times, [predicted(route, seconds, workers, stage, call) for _, route in found], rtol=1e-12
        )

    @settings(max_examples=50, deadline=None)
    @given(dags(most=6, labels="a"), st.data(), st.sampled_from([1, 2, 3]))
    def test_symmetric_copies_once(self, dag, data, workers):
        seconds = [data.draw(st.sampled_from([1.0, 1.0, 2.0])) for _ in range(len(dag))]
        found = [route for _, route in ordered(dag, seconds, workers, stage=0.5)[0]]
        images = automorphisms(Dag(dag.needs, tuple(map(str, seconds))))
        copies = [frozenset(orbit(route, images)) for route in found]
        assert len(set(copies)) == len(copies)
        assert set().union(*copies) == all_routes(dag)

    def test_larger_symmetric_dags(self):
        for needs in [layered(2, 4), ((),) * 3 + ((0,), (1,), (2,)), wide(9)]:
            dag = Dag(needs)
            found = [route for _, route in ordered(dag, np.ones(len(dag)), 2, stage=0.1)[0]]
            assert len(found) == len(set(found)) == count(dag), needs


def test_larger_dags_ascend_without_repetition():
    for needs, workers in itertools.product([deep(30), wide(30), layered(6, 5), random_dag(30, 0.2)], [2, 8]):
        seconds = np.random.default_rng(0).uniform(1.0, 3.0, 30)
        found = list(islice(best_first(Dag(needs), seconds, workers, stage=0.3), 50))
        times = [time for time, _ in found]
        assert times == sorted(times), (workers, needs)
        assert len({route for _, route in found}) == len(found), (workers, needs)
        np.testing.assert_allclose(
            times, [predicted(route, seconds, workers, 0.3, 0.0) for _, route in found], rtol=1e-12
        )


def test_a_prediction_is_between_half_of_a_simulated_makespan_and_the_whole():
    dag, workers = Dag(layered(3, 5)), 3
    seconds = np.random.default_rng(1).uniform(1.0, 3.0, len(dag))
    for time, route in islice(best_first(dag, seconds, workers), 50):
        real = 0.0
        for stage in route:
            costs = seconds[[g - 1 for g in stage]]
            none = np.zeros(len(costs) + 1, dtype=np.int64)
            real += simulate(costs, none, none[:0], workers).makespan
        assert 0.5 * real <= time <= real * (1 + 1e-12)


class TestGivingUp:
    """Good routes still come after the order is given up, which is recorded."""

    @pytest.fixture
    def routes(self, monkeypatch):
        monkeypatch.setattr(one_by_one, "PATIENCE", 50)
        monkeypatch.setattr(one_by_one, "MORE", 0)
        monkeypatch.setattr(one_by_one, "LAST_PATIENCE", 500)
        seconds = np.random.default_rng(2).uniform(1.0, 3.0, 14)
        return best_first(Dag(random_dag(14, 0.1, 3)), seconds, 8, stage=0.01)

    def test_it_says_so(self, routes):
        assert routes.exact
        found = list(routes)
        assert not routes.exact
        assert found

    def test_what_comes_is_ascending_and_different(self, routes):
        found = list(routes)
        times = [time for time, _ in found]
        assert times == sorted(times)
        assert len({route for _, route in found}) == len(found)

    def test_it_is_hardly_worse_than_the_best(self, routes, monkeypatch):
        given_up = next(routes)[0]
        monkeypatch.undo()
        seconds = np.random.default_rng(2).uniform(1.0, 3.0, 14)
        best = next(best_first(Dag(random_dag(14, 0.1, 3)), seconds, 8, stage=0.01))[0]
        assert best <= given_up <= 1.15 * best


def test_groups_of_different_seconds_are_no_copies():
    dag = Dag(((), ()))
    assert len(list(best_first(dag, [1.0, 1.0], 2))) == 2
    assert len(list(best_first(dag, [1.0, 2.0], 2))) == 3


def test_no_groups():
    assert list(best_first(Dag(()), [], 1)) == [(0.0, ())]


def test_all_faults_at_once():
    with pytest.raises(ValueError, match=r"groups \[2\].*0 workers.*stage = -1") as caught:
        best_first(Dag(((), ())), [1.0, -1.0], 0, stage=-1.0, call=np.nan)
    assert "call = nan" in str(caught.value)
    with pytest.raises(ValueError, match=r"\(3,\).* 2 groups"):
        best_first(Dag(((), ())), [1.0, 2.0, 3.0], 1)
