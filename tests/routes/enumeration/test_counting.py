"""Numbers of routes: against listing everything, and against numbers that are known otherwise."""

import time
from itertools import combinations
from math import comb, factorial

import pytest
from brute_force import all_routes, dags, orbits
from hypothesis import given, settings
from synthetic import deep, layered, random_dag, wide

import mbssa
from routes.dag import Dag
from routes.enumeration import TooLarge, count


def every_dag(groups):
    pairs = list(combinations(range(groups), 2))
    for chosen in range(1 << len(pairs)):
        arcs = [pair for k, pair in enumerate(pairs) if chosen >> k & 1]
        yield Dag(tuple(tuple(a for a, b in arcs if b == group) for group in range(groups)))


def test_every_small_dag():
    for groups in [1, 2, 3, 4]:
        for dag in every_dag(groups):
            assert (count(dag, symmetry=False), count(dag)) == (len(all_routes(dag)), len(orbits(dag))), (
                groups
            )


@settings(max_examples=60, deadline=None)
@given(dags(most=6))
def test_random_labelled_dags(dag):
    assert (count(dag, symmetry=False), count(dag)) == (len(all_routes(dag)), len(orbits(dag)))


def ring(places):
    return Dag(layered(2, places))


def test_awkward_dags():
    """Prime orders that turn, have twins in them, and needs that follow from others: given, or not."""
    awkward = {
        "ring": ring(3),
        "ring and one": Dag((*layered(2, 3), (0, 1, 2, 3, 4, 5))),
        "N with twins": Dag(((), (), (0,), (0, 1), (1,), (0,))),
        "N that turns": Dag(((), (), (0,), (0, 1), (0, 1), (1,)), ("a", "a", "b", "c", "c", "b")),
        "twice a chain": Dag(((), (0,), (0, 1), (), (3,), (3, 4))),
        "needs that say no more": Dag(((), (0,), (0, 1), (), (3,), (4,))),
    }
    for name, dag in awkward.items():
        numbers = count(dag, symmetry=False), count(dag)
        assert numbers == (len(all_routes(dag)), len(orbits(dag))), name


def test_needs_that_follow_from_others_tell_groups_apart():
    plain = Dag(((), (0,), (1,), (), (3,), (4,)))
    reports = Dag(((), (0,), (1, 0), (), (3,), (4,)))
    assert count(plain, symmetry=False) == count(reports, symmetry=False) == count(reports)
    assert count(plain) < count(reports)


def test_legs_of_the_platform():
    stewart = mbssa.decompose(mbssa.load("stewart_inverse"))
    assert (count(stewart, symmetry=False), count(stewart)) == (4683, 32)


def test_twins_have_compositions_and_ordered_set_partitions():
    for twins in range(1, 9):
        fubini = sum((-1) ** (k - j) * comb(k, j) * j**twins for k in range(twins + 1) for j in range(k + 1))
        dag = Dag(((),) * twins)
        assert (count(dag), count(dag, symmetry=False)) == (2 ** (twins - 1), fubini), twins


def test_four_thousand_twins():
    start = time.process_time()
    assert count(Dag(wide(4_001))) == 2**3_999
    assert time.process_time() - start < 4.0


def test_a_chain_has_one_route():
    assert count(Dag(deep(500))) == 1


def test_two_chains_side_by_side_merge_as_delannoy_numbers():
    for length in range(1, 9):
        dag = Dag((*deep(length), *((g + length - 1,) if g else () for g in range(length))))
        delannoy = sum(comb(length, k) ** 2 * 2**k for k in range(length + 1))
        assert count(dag, symmetry=False) == delannoy
        # Exchanging the chains keeps the one route that takes them hand in hand.
        assert count(dag) == (delannoy + 1) // 2


def test_symmetry_divides_no_further_than_by_all_its_ways():
    for seed in range(5):
        dag = Dag(random_dag(14, 0.12, seed))
        assert count(dag) <= count(dag, symmetry=False) <= factorial(14) * count(dag)


def test_labels_of_their_own_leave_no_symmetry():
    for needs in (layered(3, 5), random_dag(16, 0.1), wide(7)):
        apart = Dag(needs, tuple(map(str, range(len(needs)))))
        assert count(apart) == count(Dag(needs), symmetry=False)


def test_no_groups_have_one_way_to_be_solved():
    assert count(Dag(())) == 1


def test_too_large_says_how_large():
    with pytest.raises(TooLarge, match=r"4,000 groups"):
        count(Dag(((),) * 2000 + tuple((g,) for g in range(2000))))


def test_too_irregular_says_so():
    with pytest.raises(TooLarge, match=r"30 groups in 30 parts"):
        count(Dag(layered(3, 10)), symmetry=False, effort=1000)
