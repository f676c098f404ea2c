"""The DAG of labelled groups, from structures, models and by hand."""

import pytest

import groups
import mbssa
from routes.dag import Dag


def test_levels_are_those_of_the_structure():
    for name in ["rotor", "nine_bar", "stewart_inverse", "theo_jansen"]:
        structure = mbssa.decompose(mbssa.load(name))
        dag = Dag.of(structure)
        assert tuple(tuple(g + 1 for g in level) for level in dag.levels) == structure.levels, name
        assert dag.height == len(structure.levels), name
        assert [tuple(g + 1 for g in needs) for needs in dag.needs] == [
            g.depends_on for g in structure.groups
        ], name


def test_a_model_has_the_dag_of_its_structure_and_tells_at_least_as_much_apart():
    for name in ["rotor", "stewart_inverse"]:
        structure = mbssa.decompose(mbssa.load(name))
        coarse, fine = Dag.of(structure), Dag.of(groups.build(structure))
        assert coarse.needs == fine.needs, name
        assert len(set(zip(coarse.labels, fine.labels, strict=True))) == len(set(fine.labels)), name


def test_legs_of_one_kind_have_one_label():
    labels = Dag.of(groups.build(mbssa.decompose(mbssa.load("stewart_inverse")))).labels
    assert len(set(labels[1:])) == 1
    assert labels[0] not in labels[1:]


def test_groups_of_one_type_that_hang_differently_are_told_apart():
    """A bar on a hinge of the frame with a slider between, against a bar on a slider with a hinge between."""
    mechanism = mbssa.from_pairs(
        5,
        [(1, 2, "R", 0), (2, 3, "R", 0), (3, 1, "P", 0), (1, 4, "R", 0), (4, 5, "P", 0), (5, 1, "R", 0)],
        "planar",
    )
    structure = mbssa.decompose(mechanism)
    assert [group.type_name for group in structure.groups] == ["2R1P2D", "2R1P2D"]
    assert len(set(Dag.of(structure).labels)) == 2


def test_the_order_of_solution_takes_the_lowest_group_that_is_ready():
    assert Dag(((2,), (), (), (0, 1))).order == (1, 2, 0, 3)


def test_all_faults_at_once():
    with pytest.raises(ValueError, match=r"2 labels for 3 groups.*group 1 needs \[7\].*0 to 2"):
        Dag(((), (7,), ()), ("a", "b"))


def test_a_ring_is_named():
    with pytest.raises(ValueError, match=r"groups \[1, 2\] .* ring"):
        Dag(((), (2,), (1,)))
