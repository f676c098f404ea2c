"""The paper's own search: its printed intermediate states, what it cannot see, and its time limit."""

import numpy as np
import pytest

import mbssa
from mbssa.decomposition import exhaustive
from mbssa.decomposition.incidence import initialise
from mbssa.joints.catalogue import joint_type
from mbssa.mechanism import Mechanism
from mbssa.structure import build_structure


def bare(space, n_bodies, rows):
    """A mechanism from rows ``(body indices, type, driven)``; a joint may have more than two bodies."""
    bodies, codes, driven = zip(*rows, strict=True)
    return Mechanism(
        space=space,
        n_bodies=n_bodies,
        joint_start=np.cumsum([0, *map(len, bodies)]),
        joint_body=np.concatenate([np.array(b, dtype=np.int64) for b in bodies]),
        joint_type=np.array([joint_type(code, space).index for code in codes]),
        driven=((1 << np.array(driven)) - 1).astype(np.uint8),
    )


def fresh_state(mechanism):
    return exhaustive.isolate_frame(initialise(mechanism))


def numbers(bodies):
    return [body + 1 for body in bodies]


def bodies_of(structure):
    return [group.bodies for group in structure.groups]


def chain_of(n_links, space="planar", code="R"):
    """A closed loop of links: frame, n_links bodies, frame."""
    links = range(1, n_links + 1)
    return mbssa.from_pairs(
        n_links + 1, [(i, i + 1, code, 0) for i in links] + [(n_links + 1, 1, code, 0)], space
    )


def ring_group(n_ring):
    """One planar group of 2 x n_ring bodies: a ring of ternary links, each held by a binary one."""
    ring = range(2, n_ring + 2)
    rows = [(i, 2 + (i - 1) % n_ring, "R", 0) for i in ring]
    rows += [(i, i + n_ring, "R", 0) for i in ring] + [(1, i + n_ring, "R", 0) for i in ring]
    return mbssa.from_pairs(1 + 2 * n_ring, rows, "planar")


class TestSpatialFourBar:
    """Section 3.4 follows the spatial four-bar through the functions; so does this class."""

    @pytest.fixture
    def mechanism(self):
        rows = [(1, 2, "R", 1), (2, 3, "S", 0), (3, 4, "C", 0), (1, 4, "P", 0)]
        return mbssa.from_pairs(4, rows, "spatial")

    @pytest.fixture
    def state(self, mechanism):
        return fresh_state(mechanism)

    def test_the_frame_gives_its_pairs_to_bodies_2_and_4(self, state):
        assert [sum(bodies == 1 << b for bodies, _ in state.active[b]) for b in range(4)] == [0, 1, 0, 1]
        assert state.active[1][0] == (0b0010, 6 - 1 + 1)
        assert state.active[3] == [(0b1000, 6 - 1)]

    def test_eq_7_candidates_after_the_frame(self, state):
        assert numbers(exhaustive.candidates(state)) == [2, 4]

    def test_eq_8_body_2_is_the_first_group(self, state):
        assert [exhaustive.groups(state, (body,)) for body in exhaustive.candidates(state)] == [True, False]
        assert np.array(state.label)[1:].tolist() == [0, -1, -1]
        assert numbers(state.left) == [3, 4]
        assert state.active[2:] == [[(0b1100, 6 - 2), (0b0100, 6 - 3)], [(0b1000, 6 - 1)]]

    def test_eqs_9_and_10_next_candidates_and_their_only_chain(self, state):
        assert [exhaustive.groups(state, (body,)) for body in exhaustive.candidates(state)] == [True, False]
        found = exhaustive.candidates(state)
        assert numbers(found) == [3, 4]
        assert not any(exhaustive.groups(state, (body,)) for body in found)
        assert [numbers(chain) for chain in exhaustive.seeker(state, found, 2)] == [[3, 4]]

    def test_eq_11_results(self, mechanism):
        structure = mbssa.decompose(mechanism, "exhaustive")
        expected = [[0, 1, 2, 2], [1, 0, 0, 0], [0, 2, 0, 0], [1, 0, 0, 0]]
        assert structure.results.tolist() == expected
        assert structure.determined
        assert structure.note == ""


class TestSeeker:
    def test_chains_come_in_lexicographic_order_connected_and_with_a_candidate(self):
        # 1-2-3-4-5-1 with 5 grounded: bodies 2 and 5 are candidates.
        state = fresh_state(chain_of(4))
        found = exhaustive.candidates(state)
        assert numbers(found) == [2, 5]
        chains = {k: [numbers(c) for c in exhaustive.seeker(state, found, k)] for k in (2, 3, 4)}
        assert chains == {2: [[2, 3], [4, 5]], 3: [[2, 3, 4], [3, 4, 5]], 4: [[2, 3, 4, 5]]}


class TestMoreThanThePapersMatricesHold:
    def test_joint_of_three_bodies_inside_a_chain(self):
        # The same with gear and carrier driven by nothing but the gear 2 and a slot: one group.
        rows = [((0, 1), "R", 1), ((0, 2), "R", 0), ((2, 3), "R", 0), ((1, 3, 2), "EPI", 0)]
        rows.append(((0, 3), "SLOT", 0))
        structure = mbssa.decompose(bare("planar", 4, rows), "exhaustive")
        assert bodies_of(structure) == [(2,), (3, 4)]

    def test_only_external_joint_of_a_pair_of_bodies_makes_both_candidates(self):
        rows = [((1, 2), "R", 0)] + [((0, 1, 2), "EPI", 0)] * 4
        state = fresh_state(bare("planar", 3, rows))
        assert numbers(exhaustive.candidates(state)) == [2, 3]
        assert state.active[1:] == [[(0b110, 2), *[(0b110, 1)] * 4], []]
        assert bodies_of(mbssa.decompose(bare("planar", 3, rows), "exhaustive")) == [(2, 3)]

    @pytest.mark.parametrize(("space", "code", "count"), [("spatial", "F", 6), ("planar", "FP", 3)])
    def test_driven_floating_body(self, space, code, count):
        mechanism = mbssa.from_pairs(2, [(1, 2, code, count)], space)
        assert bodies_of(mbssa.decompose(mechanism, "exhaustive")) == [(2,)]

    def test_joint_without_units_makes_no_candidate_and_no_chain(self):
        # Body 3 has a surplus, body 2 a shortage of the same size, and only an F joins them.
        rows = [(1, 2, "S", 0), (1, 3, "R", 1), (1, 3, "S", 0), (2, 3, "F", 0), (1, 4, "F", 0)]
        state = fresh_state(mbssa.from_pairs(4, rows, "spatial"))
        found = exhaustive.candidates(state)
        assert numbers(found) == [2, 3]
        assert list(exhaustive.seeker(state, found, 2)) == []


class TestWhereEq5IsFooled:
    """A surplus and a shortage cancel within one chain; the matching tells them apart."""

    @pytest.mark.parametrize(
        ("pairs", "groups", "parts"),
        [
            ([(1, 2, "R", 0), (1, 2, "P", 0), (2, 3, "R", 0)], [], [("over", 1, [2]), ("under", 1, [3])]),
            (
                [(1, 2, "R", 0), (2, 3, "R", 0), (2, 3, "R", 0)],
                [(2, 3)],
                [("over", 1, [2, 3]), ("under", 1, [2, 3])],
            ),
        ],
        ids=["surplus on body 2, shortage on body 3", "rigid sub-chain"],
    )
    def test_the_matching_finds_both(self, pairs, groups, parts):
        mechanism = mbssa.from_pairs(3, pairs, "planar")
        fooled, matched = mbssa.decompose(mechanism, "exhaustive"), mbssa.decompose(mechanism)
        assert (fooled.determined, bodies_of(fooled)) == (True, [(2, 3)])
        assert (matched.determined, bodies_of(matched)) == (False, groups)
        assert [(p.kind, p.units, numbers(p.rigid or p.bodies)) for p in matched.parts] == parts


class TestNoSolution:
    def test_open_chain_is_under_constrained(self):
        mechanism = mbssa.from_pairs(4, [(1, 2, "R", 1), (2, 3, "R", 0), (3, 4, "R", 0)], "planar")
        structure = mbssa.decompose(mechanism, "exhaustive")
        assert bodies_of(structure) == [(2,)]
        assert not structure.determined
        assert structure.unresolved == ()
        assert "Eq. (5) holds for no further chain" in structure.note
        assert [(p.kind, p.units, numbers(p.bodies)) for p in structure.parts] == [("under", 2, [3, 4])]
        assert structure.parts == mbssa.decompose(mechanism).parts
        assert structure.joint_group.tolist() == [1, 0, 0]

    def test_group_behind_an_over_constrained_body_stays_unresolved(self):
        # Body 3 has two units too many; body 4 would be sound once 3 were known.
        rows = [(1, 2, "R", 1), (2, 3, "R", 1), (2, 3, "P", 0), (3, 4, "R", 1)]
        structure = mbssa.decompose(mbssa.from_pairs(4, rows, "planar"), "exhaustive")
        assert bodies_of(structure) == [(2,)]
        assert [(p.kind, p.units, numbers(p.bodies), p.joints) for p in structure.parts] == [
            ("over", 2, [3], (1, 2))
        ]
        assert numbers(structure.unresolved) == [4]
        assert not structure.determined
        assert structure.joint_group.tolist() == [1, 0, 0, 0]

    def test_joint_of_three_bodies_that_waits_makes_no_dependency(self):
        # Bodies 2 and 3 are cranks; the relation with body 4, which floats, ties them to each other
        # only through body 4.
        rows = [((0, 1), "R", 1), ((0, 2), "R", 1), ((1, 2, 3), "EPI", 0)]
        mechanism = bare("planar", 4, rows)
        for method in ("exhaustive", "matching"):
            structure = mbssa.decompose(mechanism, method)
            assert [group.depends_on for group in structure.groups] == [(), ()]
            assert structure.joint_group.tolist() == [1, 2, 0]

    def test_body_that_only_floats_is_named(self):
        rows = [(1, 2, "R", 1), (1, 3, "F", 0)]
        structure = mbssa.decompose(mbssa.from_pairs(3, rows, "spatial"), "exhaustive")
        assert [(p.kind, p.units, numbers(p.bodies)) for p in structure.parts] == [("under", 6, [3])]


class TestTimeLimit:
    def test_nothing_is_searched_in_no_time(self):
        mechanism = ring_group(3)
        structure = mbssa.decompose(mechanism, "exhaustive", time_limit=-1.0)
        assert structure.n_groups == 0
        assert not structure.determined
        assert numbers(structure.unresolved) == [2, 3, 4, 5, 6, 7]
        assert structure.parts == ()
        assert not structure.joint_group.any()

    def test_what_was_found_is_kept(self, monkeypatch):
        # A crank, then a ring group; the clock jumps when chains of 3 bodies are reached.
        lengths, seek = [], exhaustive.seeker

        def jump(state, found, length):
            lengths.append(length)
            if length == 3:
                raise TimeoutError
            return seek(state, found, length)

        monkeypatch.setattr(exhaustive, "seeker", jump)
        ring = ring_group(4)
        rows = [(*joint.bodies, "R", 0) for joint in ring.joints] + [(1, 10, "R", 1)]
        mechanism = mbssa.from_pairs(10, rows, "planar")
        partition = exhaustive.search(initialise(mechanism), 60.0)
        structure = build_structure(mechanism, initialise(mechanism), partition, "exhaustive")
        assert max(lengths) == 3
        assert bodies_of(structure) == [(10,)]
        assert numbers(structure.unresolved) == [2, 3, 4, 5, 6, 7, 8, 9]
        assert structure.note == (
            "the exhaustive search stopped after 60 s at chains of length 3, "
            "undecided: bodies 2, 3, 4, 5, 6, 7, 8, 9"
        )

    def test_the_clock_is_looked_at_inside_the_loops(self):
        mechanism = ring_group(12)  # 24 bodies in one group: tens of millions of chains
        structure = mbssa.decompose(mechanism, "exhaustive", time_limit=0.05)
        assert not structure.determined
        assert len(structure.unresolved) == 24
        assert "and 12 more" in structure.note

    def test_without_a_limit_it_ends_with_the_answer(self):
        structure = mbssa.decompose(ring_group(6), "exhaustive")
        assert bodies_of(structure) == [tuple(range(2, 14))]
        assert structure.determined

    def test_too_many_bodies_are_refused_at_once(self):
        n = exhaustive.MOST_BODIES + 1
        mechanism = mbssa.from_pairs(
            n, (np.ones(n - 1, dtype=np.int64), np.arange(2, n + 1), "R", np.int64(1)), "planar"
        )
        with pytest.raises(ValueError, match="use method='matching'"):
            mbssa.decompose(mechanism, "exhaustive")
