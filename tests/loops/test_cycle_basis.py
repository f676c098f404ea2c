"""The minimum cycle basis: as light as networkx's, independent, made of closed loops, and always the same."""

import random

import networkx as nx

from mbssa.loops.cycle_basis import in_order, independent, minimum_cycle_basis, n_loops


def random_multigraph(seed, n=9, more=8):
    dice = random.Random(seed)
    ends = [tuple(sorted((k, dice.randrange(k)))) for k in range(1, n)]
    ends += [tuple(sorted(dice.sample(range(n), 2))) for _ in range(more)]
    return n, ends, [dice.randint(0, 3) for _ in ends]


def weight_by_networkx(n, ends, weights):
    """Every edge gets a vertex in its middle, so that parallel edges stay apart."""
    graph = nx.Graph()
    for edge, (a, b) in enumerate(ends):
        graph.add_edge(a, ("middle", edge), weight=weights[edge])
        graph.add_edge(("middle", edge), b, weight=0)
    loops = nx.minimum_cycle_basis(graph, weight="weight")
    return sum(weights[v[1]] for loop in loops for v in loop if isinstance(v, tuple))


def test_it_is_a_basis_as_light_as_that_of_networkx():
    for seed in range(20):
        n, ends, weights = random_multigraph(seed)
        basis = minimum_cycle_basis(n, ends, weights)
        assert len(basis) == n_loops(n, ends) == len(ends) - n + 1, seed
        pivots = {}
        assert all(independent(sum(1 << edge for edge in loop), pivots) for loop in basis), seed
        assert sum(weights[edge] for loop in basis for edge in loop) == weight_by_networkx(
            n, ends, weights
        ), seed


def test_every_loop_closes():
    for seed in range(10):
        n, ends, weights = random_multigraph(seed)
        for loop in minimum_cycle_basis(n, ends, weights):
            vertices, edges = in_order(loop, ends)
            assert sorted(edges) == sorted(loop), seed
            assert len(set(vertices)) == len(vertices), seed
            for k, edge in enumerate(edges):
                assert set(ends[edge]) == {vertices[k], vertices[(k + 1) % len(vertices)]}, seed


def test_the_order_of_the_edges_does_not_matter():
    for seed in range(10):
        n, ends, _ = random_multigraph(seed)
        ends = sorted(set(ends))
        basis = {frozenset(ends[e] for e in loop) for loop in minimum_cycle_basis(n, ends, [1] * len(ends))}
        random.Random(seed).shuffle(ends)
        assert basis == {
            frozenset(ends[e] for e in loop) for loop in minimum_cycle_basis(n, ends, [1] * len(ends))
        }, seed


def test_between_equal_loops_the_one_of_lower_vertices_is_taken():
    """Three ways of the same length from 0 to 1; the one through 4 closes the second loop, not the first."""
    ends = [(0, 4), (1, 4), (0, 3), (1, 3), (0, 2), (1, 2)]
    first, second = minimum_cycle_basis(5, ends, [1] * 6)
    assert {*ends[first[0]], *ends[first[1]], *ends[first[2]], *ends[first[3]]} == {0, 1, 2, 3}
    assert 0 in second
    assert 4 in second


def test_parts_that_hang_apart_have_their_own_loops():
    ends = [(0, 1), (1, 2), (0, 2), (3, 4), (3, 4)]
    assert minimum_cycle_basis(6, ends, [1] * 5) == [(3, 4), (0, 1, 2)]
    assert minimum_cycle_basis(3, [(0, 1), (1, 2)], [1, 1]) == []
