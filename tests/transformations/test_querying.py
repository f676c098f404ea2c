"""What a store is asked: its rows, mechanisms had back from it alone, searches of other versions."""

import json
import sqlite3

import pytest

import mbssa
from mbssa.store import StoreError
from mbssa.transformations.criteria import criterion
from mbssa.transformations.querying import conditions, mechanism_of, rows, searches
from mbssa.transformations.transforming import transform

#: A four-bar whose coupler carries a dyad, three bodies on one pin.
PINNED = """
format = 1
space = "planar"
bodies = 6
joint = [
  { bodies = [1, 2], type = "R", point = [0, 0], driven = true },
  { bodies = [2, 3, 5], type = "R", point = [0.1, 0.3] },
  { bodies = [3, 4], type = "R", point = [0.9, 0.6] },
  { bodies = [1, 4], type = "R", point = [0.8, 0] },
  { bodies = [5, 6], type = "R", point = [-0.5, 0.5] },
  { bodies = [1, 6], type = "R", point = [-0.6, -0.1] },
]
"""


def figures(structure):
    sizes = [len(group.bodies) for group in structure.groups]
    return structure.n_groups, max(sizes), len(structure.levels), max(map(len, structure.levels))


@pytest.fixture
def pinned(tmp_path):
    path = tmp_path / "pinned.toml"
    path.write_text(PINNED)
    return mbssa.load(path)


class TestMechanisms:
    def test_every_row_is_had_back_with_its_pairs(self, pinned, tmp_path):
        place = tmp_path / "store"
        answer = transform(pinned, store=place)
        (kept,) = searches(place)
        found = rows(place, [kept.search.number])
        assert {row.pairs for row in found} == {base.pairs for base in answer.bases}
        assert len({row.pairs for row in found}) == 3
        for row in found:
            structure = mbssa.decompose(mechanism_of(place, row))
            assert figures(structure) == (row.n_groups, row.largest, row.levels, row.width)

    def test_a_terminal_has_its_pair_where_it_is_driven(self, tmp_path):
        place = tmp_path / "store"
        transform(mbssa.load("planar_3rrr"), terminals=[4], store=place)
        found = rows(place, [1], sort="levels")
        used = [any(name.startswith("1-4#2.") for name in row.inputs) for row in found]
        assert any(used)
        assert not all(used)
        for row in found[:: max(len(found) // 20, 1)]:
            structure = mbssa.decompose(mechanism_of(place, row))
            assert figures(structure) == (row.n_groups, row.largest, row.levels, row.width)

    def test_the_first_askers_names_are_kept(self, tmp_path):
        text = PINNED.replace("point = [0, 0], driven = true", 'point = [0, 0], driven = true, id = "motor"')
        path = tmp_path / "named.toml"
        path.write_text(text)
        transform(mbssa.load(path), allow=["motor"], store=tmp_path / "store")
        (row,) = rows(tmp_path / "store", [1], top=1)
        assert row.inputs == ("motor.angle",)
        assert mechanism_of(tmp_path / "store", row).joint("motor").driven == ("angle",)


class TestOtherVersions:
    def test_they_are_named_and_left_out_of_the_rows_of_a_model(self, run_mbssa, tmp_path):
        place = tmp_path / "store"
        for question in ({}, {"forbid": ["1-2"]}):
            transform(mbssa.load("planar_four_bar"), store=place, **question)
        connection = sqlite3.connect(place)
        connection.execute(
            "UPDATE transformation_searches_1 SET about = json_set(about, '$.version', 'old') "
            "WHERE number = 2"
        )
        connection.commit()
        connection.close()
        assert [kept.current for kept in searches(place)] == [True, False]
        assert "by another version" in run_mbssa("transformations", str(place)).stdout
        asked = ("transformations", str(place), "--format", "json")
        found = json.loads(run_mbssa(*asked, "--model", "planar_four_bar").stdout)
        assert {row["search"] for row in found} == {1}
        assert {row["search"] for row in json.loads(run_mbssa(*asked, "--search", "2").stdout)} == {2}


class TestConditions:
    @pytest.mark.parametrize(
        ("texts", "sql"),
        [
            ([], ""),
            (["groups >= 8"], "n_groups >= 8"),
            (["cost<1.5,margin>1e-3"], "cost < 1.5 AND margin > 0.001"),
            (["valid==3", "levels!=2"], "valid = 3 AND levels != 2"),
        ],
    )
    def test_they_are_sql(self, texts, sql):
        assert conditions(texts) == sql

    def test_all_that_are_none_are_named(self):
        with pytest.raises(ValueError, match=r"(?s)'grups>1'.*'8<groups'.*'levels=1\.2\.3'"):
            conditions(["grups>1 and groups>2", "8<groups", "levels=1.2.3"])


class TestDamage:
    """Rows that this version would not have written: a sentence that names the store."""

    @pytest.mark.parametrize(
        ("table", "column", "value"),
        [
            ("searches", "about", "{"),
            ("searches", "about", "{}"),
            ("searches", "about", "[]"),
            ("searches", "about", '{"totals": 3, "n_inputs": "x", "version": "", "variants": []}'),
            ("searches", "way", "x"),
            ("searches", "name", None),
            ("searches", "block", 0),
            ("searches", "model", "{}"),
            ("rows", "places", b"\x00"),
            ("rows", "places", b"\x7f\xff"),
            ("rows", "bits", b""),
            ("rows", "bits", b"\xff"),
            ("rows", "n_groups", None),
            ("rows", "variant", 99),
        ],
    )
    def test_every_kind_is_told(self, pinned, tmp_path, table, column, value):
        place = tmp_path / "store"
        transform(pinned, store=place)
        with sqlite3.connect(place) as connection:
            connection.execute(f"UPDATE OR IGNORE transformation_{table}_1 SET {column} = ?", (value,))
        connection.close()

        def read():
            found = rows(place, [searches(place)[0].search.number], every=True)
            return mechanism_of(place, found[0])

        with pytest.raises(StoreError, match=r"rows that cannot be read|is damaged"):
            read()


class TestBounds:
    @pytest.mark.parametrize("number", ["1e999", "1e400", "9" * 400])
    def test_a_condition_takes_no_infinity(self, number):
        with pytest.raises(ValueError, match=r"a number up to 1e\+15"):
            conditions([f"groups>={number}"])

    def test_a_condition_or_an_order_has_a_hundred_terms(self, tmp_path):
        with pytest.raises(ValueError, match=r"5,001 conditions; write 100 at most"):
            conditions([" and ".join(["groups>=1"] * 5_001)])
        with pytest.raises(ValueError, match="write 100 terms at most"):
            criterion("+".join(["groups"] * 5_001))
        with pytest.raises(ValueError, match=r"101 terms; write 100 at most"):
            criterion("+".join(["groups"] * 101))
        with pytest.raises(ValueError, match="a weight above"):
            criterion("1e400*groups")
