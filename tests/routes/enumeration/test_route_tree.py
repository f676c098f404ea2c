"""The tree of routes: its leaves are the routes, and no beginning is a duplicate."""

import networkx as nx
import pytest
from brute_force import dags
from hypothesis import given, settings
from synthetic import wide

import mbssa
from routes.dag import Dag
from routes.enumeration import count, enumerate_routes, tree, tree_of


def leaves(found):
    return [node for node, following in found.out_degree() if not following]


@settings(max_examples=60, deadline=None)
@given(dags(most=5))
def test_leaves_are_the_routes(dag):
    found = tree(dag)
    assert nx.is_arborescence(found)
    assert sorted(leaves(found)) == sorted(enumerate_routes(dag))
    assert [data["number"] for _, data in found.nodes(data=True)] == list(range(len(found)))
    for node in found:
        if node:
            assert found.nodes[node]["stage"] == node[-1]
            assert list(found.predecessors(node)) == [node[:-1]]


@settings(max_examples=60, deadline=None)
@given(dags(most=5))
def test_one_sequential_and_one_parallel_route(dag):
    found = tree(dag)
    for mark, place in (("sequential", 0), ("parallel", -1)):
        assert [node for node in found if found.nodes[node][mark]] == [leaves(found)[place]]


def test_the_tree_of_figure_7():
    """One group, then six equal legs: 32 compositions of six, and all their 64 beginnings with the group."""
    found = tree(mbssa.decompose(mbssa.load("stewart_inverse")))
    assert (len(leaves(found)), len(found)) == (32, 1 + 64)


def test_too_many_are_refused_with_their_number():
    with pytest.raises(ValueError, match=r"32 routes.* 31"):
        tree(Dag(wide(7)), most=31)
    with pytest.raises(ValueError, match=r"some 10\^29 routes"):
        tree(Dag(wide(101)))


def test_a_tree_of_some_routes():
    dag = Dag(wide(12), tuple(map(str, range(12))))
    some = [route for route, _ in zip(enumerate_routes(dag), range(20), strict=False)]
    assert leaves(tree_of(dag, some)) == some
    assert count(dag) > 1_000_000_000


def test_what_is_no_route_is_named():
    dag = Dag(((), (0,), (0,)))
    with pytest.raises(ValueError, match=r"group 2 in stage 1 .*\[1\].* 3 groups"):
        tree_of(dag, [((1, 2), (3,)), ((1,), (2,))])
    with pytest.raises(ValueError, match="no group 4"):
        tree_of(dag, [((1,), (2, 3, 4))])
