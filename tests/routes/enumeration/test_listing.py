"""Routes one by one: all of them, once each, from sequential to parallel."""

from itertools import islice

import pytest
from brute_force import all_routes, automorphisms, dags, orbit, orbits
from hypothesis import given, settings
from synthetic import layered, random_dag, wide

from routes.dag import Dag
from routes.enumeration import TooLarge, count, enumerate_routes


@settings(max_examples=60, deadline=None)
@given(dags(most=6))
def test_one_route_of_each_orbit(dag):
    found = list(enumerate_routes(dag))
    images = automorphisms(dag)
    assert {frozenset(orbit(route, images)) for route in found} == orbits(dag)
    assert len(found) == len(orbits(dag))


@settings(max_examples=60, deadline=None)
@given(dags(most=5))
def test_all_routes_without_symmetry(dag):
    found = list(enumerate_routes(dag, symmetry=False))
    assert len(found) == len(set(found))
    assert set(found) == all_routes(dag)


@settings(max_examples=60, deadline=None)
@given(dags(most=6))
def test_from_the_sequential_to_the_parallel_route(dag):
    for symmetry in (True, False):
        found = list(enumerate_routes(dag, symmetry))
        assert found[0] == tuple((group + 1,) for group in dag.order)
        assert found[-1] == tuple(tuple(group + 1 for group in level) for level in dag.levels)


def test_as_many_as_are_counted():
    dags = {
        "ring of four": Dag(layered(2, 4)),
        "four legs of two": Dag(((),) * 4 + tuple((g,) for g in range(4))),
        "ring beside a fork": Dag((*layered(2, 3), (), (6,), (6,))),
        "twins": Dag(wide(12)),
    }
    for name, dag in dags.items():
        found = list(enumerate_routes(dag))
        assert len(found) == len(set(found)) == count(dag), name


def test_the_first_routes_come_at_once_where_all_are_too_many():
    dag = Dag(random_dag(60, 0.05))
    found = list(islice(enumerate_routes(dag), 200))
    assert len(set(found)) == 200
    for route in found:
        done = set()
        for stage in route:
            assert all(done.issuperset(dag.needs[g - 1]) for g in stage)
            done |= {g - 1 for g in stage}
        assert len(done) == 60


def test_no_groups_have_the_empty_route():
    assert list(enumerate_routes(Dag(()))) == [()]


def test_parts_nested_too_deep_are_refused():
    needs = [()]
    for k in range(200):
        needs += [(2 * k,), (2 * k,)]
    with pytest.raises(TooLarge, match=r"nested .* deep"):
        list(islice(enumerate_routes(Dag(tuple(needs))), 2))
