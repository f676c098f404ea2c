"""Database of input searches: its rows are those of the result, and mechanisms come back from it alone."""

import sqlite3

import pytest

import mbssa
from mbssa.input_search import database, search
from mbssa.input_search.database import conditions, mechanism_of, rows, searches
from mbssa.input_search.search import transform
from mbssa.store import StoreError

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
        (stored,) = searches(place)
        found = rows(place, [stored.search])
        assert [row.figures() for row in found] == [row.figures() for row in answer.rows]
        assert len({row.pairs for row in found}) > 1
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


class TestSearches:
    def test_rows_are_those_of_the_result(self, tmp_path):
        place = tmp_path / "store"
        answer = transform(mbssa.load("rotor"), store=place, every=True)
        for found, every in ((rows(place, [1], every=True), True), (rows(place, [1]), False)):
            expected = [row for row in answer.rows if row.valid or every]
            assert [row.figures() for row in found] == [row.figures() for row in expected]
        (stored,) = searches(place)
        assert stored.best.figures() == answer.best.figures()
        assert stored.looked_at == answer.n_evaluated
        for name in ("complete", "n_distributions", "n_determined", "n_valid", "n_structures"):
            assert getattr(stored, name) == getattr(answer, name)

    def test_an_equal_query_replaces_its_search_and_others_are_added(self, tmp_path):
        place = tmp_path / "store"
        bar = mbssa.load("planar_four_bar")
        transform(bar, store=place)
        transform(mbssa.load("slider_crank"), store=place)
        transform(bar, store=place, forbid=["1-2"])
        before = searches(place)
        transform(mbssa.with_inputs(bar, ["2-3"]), store=place)  # driven elsewhere: the same query
        assert searches(place) == before
        transform(bar, store=place, most=1)  # it evaluates fewer
        assert searches(place) == before
        assert [(each.search, each.name) for each in before] == [
            (1, "planar_four_bar"), (2, "slider_crank"), (3, "planar_four_bar")
        ]  # fmt: skip
        assert len(rows(place, [1, 2, 3])) == sum(len(rows(place, [number])) for number in (1, 2, 3))

    def test_the_result_of_a_search_that_is_interrupted_is_stored(self, tmp_path):
        def interrupted(n_evaluated, total):
            raise KeyboardInterrupt

        place = tmp_path / "store"
        answer = transform(mbssa.load("rotor"), store=place, progress=interrupted, most=100)
        (stored,) = searches(place)
        assert (stored.complete, stored.way, stored.looked_at) == (False, "best-first", answer.n_evaluated)
        assert [row.inputs for row in rows(place, [1])] == [row.inputs for row in answer.rows]

    def test_the_tables_can_be_read_without_this_package(self, tmp_path):
        place = tmp_path / "store"
        answer = transform(mbssa.load("planar_four_bar"), store=place)
        with sqlite3.connect(place) as connection:
            found = connection.execute(
                "SELECT inputs, n_groups, cost FROM input_sets_3 WHERE valid_sets ORDER BY n_groups DESC"
            ).fetchall()
        connection.close()
        assert found == [(", ".join(row.inputs), row.n_groups, row.cost) for row in answer.rows]

    def test_what_cannot_be_stored_is_refused_before_the_search(self, tmp_path, monkeypatch):
        monkeypatch.setattr(search, "undriven_mechanisms", None)
        (tmp_path / "store").write_text("a" * 5000)
        with pytest.raises(StoreError, match="no store"):
            transform(mbssa.load("rotor"), store=tmp_path / "store")

    def test_a_library_that_is_a_function_may_be_stored(self, tmp_path):
        transform(mbssa.load("planar_four_bar"), library=lambda group: True, store=tmp_path / "store")
        (first, *_) = rows(tmp_path / "store", [1])
        assert first.closed_forms == first.n_groups

    def test_a_mechanism_comes_back_from_its_text(self):
        for name in mbssa.builtin_names():
            mechanism = mbssa.load(name)
            back = database._from_text(database._as_text(mechanism))
            assert (back.joint_ids, back.multiple_joints) == (
                mechanism.joint_ids,
                mechanism.multiple_joints,
            ), name
            assert database._as_text(back) == database._as_text(mechanism), name


class TestConditions:
    def test_they_are_of_the_criteria_in_sql(self, tmp_path):
        place = tmp_path / "store"
        every = transform(mbssa.load("rotor"), store=place).rows
        for where, holds in [
            ([], lambda row: True),
            (["groups >= 8"], lambda row: row.n_groups >= 8),
            (["cost<1.5,margin>1e-3"], lambda row: row.cost < 1.5 and row.margin > 1e-3),
            (["valid==3", "levels!=2"], lambda row: row.valid_sets == 3 and row.levels != 2),
            (["open=0 or largest=2"], lambda row: row.closed_forms == row.n_groups or row.largest == 2),
            (["groups = closed and width > 1e-999"], lambda row: row.closed_forms == row.n_groups),
        ]:
            found = rows(place, [1], where=where)
            assert [row.inputs for row in found] == [row.inputs for row in every if holds(row)], where

    def test_all_that_are_none_are_named(self):
        wrong = ["grups>1", "groups~2", "levels=1.2.3", "groups>=8; DROP TABLE x", "", "a\0b", "\ud800"]
        wrong.append(" and ".join(["groups>=1"] * 5_001))
        wrong += [
            "1) OR (1=1",
            "load_extension('x')=1",
            "groups MATCH 'x'",
            "EXISTS (SELECT 1 FROM sqlite_master)",
        ]
        with pytest.raises(ValueError, match="--where 'grups>1': no such column: grups; write") as caught:
            conditions([*wrong, "groups>=8"])
        assert str(caught.value).count("--where") == len(wrong)


class TestDamage:
    """Rows that this version would not have written: a sentence that names the store."""

    def test_every_kind_is_told(self, pinned, tmp_path):
        place = tmp_path / "store"
        transform(pinned, store=place)
        whole = place.read_bytes()
        for column, value in [
            ("model", "{"),
            ("model", "{}"),
            ("summary", "{"),
            ("summary", "{}"),
            ("terminals", "x"),
            ("terminals", "99"),
            ("inputs", ""),
            ("inputs", "1-99.angle"),
            ("pairs", "1-2"),
            ("n_groups", None),
        ]:
            place.write_bytes(whole)
            with sqlite3.connect(place) as connection:
                connection.execute(f"UPDATE input_sets_3 SET {column} = ?", (value,))
            connection.close()
            with pytest.raises(StoreError, match="cannot be read"):
                mechanism_of(place, rows(place, [searches(place)[0].search], every=True)[0])

    def test_a_table_of_another_layout_is_refused_and_left_alone(self, tmp_path):
        place = tmp_path / "store"
        transform(mbssa.load("planar_four_bar"), store=place)
        with sqlite3.connect(place) as connection:
            connection.execute("ALTER TABLE input_sets_3 DROP COLUMN cost")
        connection.close()
        before = place.read_bytes()
        for use in (searches, lambda place: transform(mbssa.load("slider_crank"), store=place)):
            with pytest.raises(StoreError, match=r"input_sets_3.*remove"):
                use(place)
        assert place.read_bytes() == before
