"""Formats: each says the same as the structure, and machine formats are bytes a machine can read."""

import csv
import io
import json

import networkx as nx
import pytest

import mbssa
from mbssa.reports.structure import export


@pytest.fixture
def rotor():
    return mbssa.decompose(mbssa.load("rotor"))


@pytest.fixture
def loose():
    """Body 2 is held twice, bodies 3 and 4 not enough."""
    pairs = [(1, 2, "R", 1), (1, 2, "R", 0), (2, 3, "R", 0), (3, 4, "R", 0), (1, 5, "R", 1)]
    return mbssa.decompose(mbssa.from_pairs(5, pairs, "planar"))


def test_json_has_the_whole_answer(rotor):
    data = json.loads(export(rotor, "json"))
    assert data == rotor.to_dict()
    assert data["determined"] is True
    assert [group["bodies"] for group in data["groups"]] == [list(group.bodies) for group in rotor.groups]
    assert data["groups"][3]["depends_on"] == [1, 2]
    known = {"mbdsbeg": False, "groups": True}
    assert data["types"][0] == {"type_name": "1R1P1U1S3D", "count": 1, "in_library": known}
    assert sum(len(group["driven"]) for group in data["groups"]) == data["mechanism"]["n_driven"] == 3


def test_csv_is_the_table(rotor):
    table = list(csv.reader(io.StringIO(export(rotor, "csv"))))
    assert len(table) == 1 + rotor.n_groups
    assert table[1][1] == "9,10,13"
    assert table[1][6] == "9&6S.9&8R.9&11R.13&15R."


def test_markdown_is_a_table_of_equal_rows(rotor):
    lines = [line for line in export(rotor, "markdown").splitlines() if line.startswith("|")]
    assert len(lines) == (2 + rotor.n_groups) + (2 + len(rotor.types))
    assert {line.count(" | ") for line in lines[: 2 + rotor.n_groups]} == {9}


def test_graphml_is_the_dag(rotor):
    read = nx.parse_graphml(export(rotor, "graphml"), node_type=int)
    assert set(read.edges) == set(rotor.dag.edges)
    assert {n: d["type_name"] for n, d in read.nodes(data=True)} == {
        group.number: group.type_name for group in rotor.groups
    }


def test_dot_has_every_group_and_every_arrow(rotor):
    text = export(rotor, "dot")
    from_frame = [group for group in rotor.groups if any(1 in pair.others for pair in group.external)]
    assert text.count("->") == rotor.dag.number_of_edges() + len(from_frame)
    assert text.count("tooltip=") == rotor.n_groups
    assert '"(3,1)"' in text  # (N_m, n_c) of the first group, as in Fig. 13b


def test_the_dag_is_acyclic_and_its_levels_are_the_structures(rotor):
    assert [tuple(sorted(level)) for level in nx.topological_generations(rotor.dag)] == list(rotor.levels)


def test_print_is_the_table(rotor):
    text = str(rotor)
    assert "determined: 7 structural groups in 5 levels" in text
    assert "9&6S.9&8R.9&11R.13&15R." in text
    assert "\x1b" not in text


def test_what_is_not_determined_names_parts_bodies_joints_and_units(loose):
    assert not loose.determined
    assert [group.bodies for group in loose.groups] == [(5,)]
    data = loose.to_dict()
    assert data["parts"] == [
        {"kind": "over", "units": 2, "bodies": [2], "joints": ["1-2", "1-2#2"], "rigid": []},
        {"kind": "under", "units": 2, "bodies": [3, 4], "joints": ["2-3", "3-4"], "rigid": []},
    ]
    text = str(loose)
    assert "over-constrained by 2: body 2, bound by 1-2 R (driven: angle), 1-2#2 R" in text
    assert "under-constrained by 2: bodies 3, 4, held by 2-3 R, 3-4 R" in text
    for form in ("json", "csv", "markdown", "dot", "graphml"):
        assert export(loose, form)


def test_a_rigid_subchain_is_over_and_under():
    pairs = [(1, 2, "R", 0), (2, 3, "R", 0), (2, 3, "R", 0)]
    answer = mbssa.decompose(mbssa.from_pairs(3, pairs, "planar"))
    assert not answer.determined
    assert [(part.kind, part.units, part.bodies, part.rigid) for part in answer.parts] == [
        ("over", 1, (1, 2), (1, 2)),
        ("under", 1, (1, 2), (1, 2)),
    ]
    assert "hold each other more than rigidly, through 2-3 R, 2-3#2 R" in str(answer)


def test_results_matrix_is_sparse_when_large_and_says_the_same(np, monkeypatch):
    mechanism = mbssa.load("assur:II-4")
    dense = mbssa.decompose(mechanism).results
    monkeypatch.setattr("mbssa.structure.DENSE_RESULTS", 5)
    sparse = mbssa.decompose(mechanism).results
    assert (sparse.toarray() == dense).all()


def test_an_undriven_floating_pair_binds_nothing_but_is_listed():
    pairs = [(1, 2, "R", 1), (1, 3, "R", 1), (2, 3, "FP", 0)]
    answer = mbssa.decompose(mbssa.from_pairs(3, pairs, "planar"))
    assert [group.depends_on for group in answer.groups] == [(), ()]
    assert [str(pair) for pair in answer.groups[1].external] == ["3&1R", "3&2FP"]


def test_driven_floating_body_is_a_group_of_its_own():
    answer = mbssa.decompose(mbssa.from_pairs(2, [(1, 2, "F", 6)], "spatial"))
    assert answer.groups[0].type_name == "1F3D"
    assert len(answer.groups[0].driven) == 6


def test_a_gear_pair_on_a_carrier_depends_on_carrier_and_wheel(tmp_path):
    """The unit of a relation of three bodies goes to one of them, which then needs the other two."""
    (tmp_path / "gear.toml").write_text(
        """
format = 1
space = "planar"
bodies = 4
[[joint]]
bodies = [1, 2]
type = "R"
driven = true
[[joint]]
bodies = [1, 3]
type = "R"
driven = true
[[joint]]
bodies = [2, 4]
type = "R"
[[joint]]
bodies = [3, 4, 2]
type = "EO"
"""
    )
    answer = mbssa.decompose(mbssa.load(tmp_path / "gear.toml"))
    assert answer.determined
    assert [group.bodies for group in answer.groups] == [(2,), (3,), (4,)]
    assert answer.groups[2].depends_on == (1, 2)
    assert [str(pair) for pair in answer.groups[2].external] == ["4&2R", "4&2&3EO"]


def test_unknown_format():
    with pytest.raises(ValueError, match="json"):
        export(mbssa.decompose(mbssa.load("rotor")), "pdf")
