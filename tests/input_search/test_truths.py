"""Statements of the paper on inputs, found by the search."""

import numpy as np
import pytest

import mbssa
from mbssa.input_search.query import make_query
from mbssa.input_search.search import transform
from mbssa.input_search.undriven import undriven_mechanisms

TRANSFORMED = ("1-2.slide", "1-13.slide", "13-15.angle")


@pytest.fixture(scope="module")
def rotor():
    return transform(mbssa.load("rotor"))


class TestRotor:
    def test_all_sets_of_the_paper_are_evaluated(self, rotor):
        assert (rotor.n_distributions, rotor.n_sets, rotor.complete) == (1_576, 9_139, True)

    def test_the_paper_s_transformation_has_the_most_groups_all_in_the_library(self, rotor):
        most = int(rotor.evaluated.n_groups.max())
        best = {row.inputs: row for row in rotor.rows if row.n_groups == most}
        found = best[TRANSFORMED]
        assert (most, found.closed_forms, found.valid) == (9, 9, True)
        assert found.mechanism().driven.tolist() == mbssa.load("rotor_transformed").driven.tolist()
        assert sorted(found.structure().types.items()) == sorted(
            mbssa.decompose(mbssa.load("rotor_transformed")).types.items()
        )

    def test_none_is_better_by_groups_and_then_the_largest(self, rotor):
        ranks = {row.inputs: (-row.n_groups, row.largest) for row in rotor.rows if row.valid}
        assert ranks[TRANSFORMED] == min(ranks.values())
        assert TRANSFORMED in list(ranks)[:3]

    def test_its_own_inputs_are_among_the_valid_ones(self, rotor):
        assert (rotor.own.n_groups, rotor.own.valid, rotor.own.verdict) == (7, True, "valid")


class TestStewart:
    def test_the_inverse_structure_is_found_where_the_terminal_may_be_driven(self):
        for name in ["stewart", "six_sps"]:
            mechanism = mbssa.load(name)
            slides = [joint.id for joint in mechanism.joints if joint.type.code == "P"]
            answer = transform(
                mechanism, terminals=["14"], allow=[*slides, "1-14"], criterion="groups,largest"
            )
            assert answer.best.n_groups == 7, name
            assert {name.partition(".")[0] for name in answer.best.inputs} == {"1-14"}, name
            groups = {group.bodies for group in answer.best.structure().groups}
            assert groups == {(14,), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11), (12, 13)}, name
            assert answer.own.largest == 13, name


class TestMicromanipulator:
    def test_its_own_inputs_are_refused_with_the_reason_and_it_gets_valid_ones(self):
        """Those that its authors' text drives, and many more."""
        mechanism = mbssa.load("micromanipulator")
        names = ["4-5", "10-15", "1-20", "3-5", "9-10", "17-18", "10-14"]
        answer = transform(mechanism, allow=[*names, "5-21", "1-7"])
        assert answer.n_valid > 0
        assert mbssa.check(answer.best.mechanism()).solvable
        assert not answer.own.valid
        assert "SG-4{21} 2S3D has rank 5 of 6 for every geometry" in answer.own.verdict

    @pytest.mark.slow
    def test_of_generic_sets_some_survive_the_actuators_axes(self):
        """DESIGN: 125 of 831 random sets that are valid for almost every geometry are so at the given one."""
        mechanism = mbssa.load("micromanipulator")
        base = undriven_mechanisms(mechanism, make_query(mechanism))[0][0]
        loose = mbssa.from_pairs(
            mechanism.n_bodies, [(*joint.bodies, joint.type.code, 0) for joint in mechanism.joints], "spatial"
        )
        generic = undriven_mechanisms(loose, make_query(loose, inputs=6))[0][0]
        assert (generic.basis, base.basis) == ("generic", "numeric")
        dice = np.random.default_rng(1)
        grades = np.repeat(np.arange(mechanism.n_joints), mechanism.grade)
        places, bits = [], []
        first = np.concatenate([[0], np.cumsum(mechanism.grade)])
        while len(places) < 1_000:
            chosen = np.sort(dice.choice(len(grades), 6, replace=False))
            places.append(grades[chosen])
            bits.append(chosen - first[grades[chosen]])
        rows = first[np.array(places)] + np.array(bits)

        def regular(moves):
            values = np.linalg.svd(moves[rows], compute_uv=False)
            return values[:, -1] > 1e-7 * values[:, 0]

        good, survives = regular(generic.moves), regular(base.moves)
        assert not (survives & ~good).any()
        assert 0.1 < survives.sum() / good.sum() < 0.2
