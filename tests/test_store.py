"""The store keeps what was written whole, whoever writes beside, and refuses what is not its own."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from mbssa import store
from mbssa.store import StoreError, reading, store_path, transaction

TABLE = "CREATE TABLE IF NOT EXISTS counts (name TEXT PRIMARY KEY, n INTEGER) STRICT"

ADDS = f"""
import sys
from mbssa.store import transaction
for _ in range(100):
    with transaction([{TABLE!r}], sys.argv[1]) as store:
        row = store.execute("SELECT n FROM counts WHERE name = 'all'").fetchone()
        store.execute("INSERT OR REPLACE INTO counts VALUES ('all', ?)", (1 + (row[0] if row else 0),))
"""


def read(path):
    with transaction([TABLE], path) as opened:
        return opened.execute("SELECT name, n FROM counts ORDER BY name").fetchall()


def put(path, name, n):
    with transaction([TABLE], path) as opened:
        opened.execute("INSERT INTO counts VALUES (?, ?)", (name, n))


class TestTransactions:
    def test_what_was_written_is_there_later(self, tmp_path):
        put(tmp_path / "new folder" / "store", "a", 1)
        assert read(tmp_path / "new folder" / "store") == [("a", 1)]

    @pytest.mark.parametrize("place", ["file", "memory"])
    def test_after_an_exception_nothing_was_written(self, tmp_path, place):
        path = tmp_path / "store" if place == "file" else ":memory:"
        table = TABLE.replace("counts", "halves")
        with pytest.raises(StoreError, match="UNIQUE"), transaction([table], path) as opened:
            opened.executemany("INSERT INTO halves VALUES (?, 1)", [("a",), ("b",), ("a",)])
        with transaction([table], path) as opened:
            assert opened.execute("SELECT * FROM halves").fetchall() == []

    def test_what_the_rows_there_do_not_allow_is_a_sentence(self, tmp_path):
        put(tmp_path / "store", "a", 1)
        with pytest.raises(StoreError, match="store holds what this version does not write") as caught:
            put(tmp_path / "store", "a", 2)
        assert isinstance(caught.value.__cause__, sqlite3.IntegrityError)
        assert read(tmp_path / "store") == [("a", 1)]

    def test_two_processes_that_make_it_and_count_in_it_lose_nothing(self, tmp_path):
        path = str(tmp_path / "store")
        both = [subprocess.Popen([sys.executable, "-c", ADDS, path]) for _ in range(2)]
        assert [one.wait() for one in both] == [0, 0]
        assert read(path) == [("all", 200)]

    def test_a_reader_does_not_wait_for_a_writer_for_ever(self, tmp_path, monkeypatch):
        monkeypatch.setattr(store, "PATIENCE", 0.05)
        path = tmp_path / "store"
        with (
            transaction([TABLE], path),
            pytest.raises(StoreError, match="another process has held"),
            transaction([TABLE], path),
        ):
            pass


def seen(path):
    with reading([TABLE], path) as opened:
        return opened.execute("SELECT name, n FROM counts ORDER BY name").fetchall()


class TestReading:
    def test_nothing_is_written(self, tmp_path):
        put(tmp_path / "store", "a", 1)
        before = (tmp_path / "store").read_bytes()
        assert seen(tmp_path / "store") == [("a", 1)]
        assert (tmp_path / "store").read_bytes() == before
        with reading([TABLE], tmp_path / "store") as opened, pytest.raises(sqlite3.OperationalError):
            opened.execute("INSERT INTO counts VALUES ('b', 2)")

    def test_what_another_one_has_just_written_is_seen(self, tmp_path):
        put(tmp_path / "store", "a", 1)
        with transaction([TABLE], tmp_path / "store") as opened:
            opened.execute("INSERT INTO counts VALUES ('b', 2)")
            assert seen(tmp_path / "store") == [("a", 1)]
        assert seen(tmp_path / "store") == [("a", 1), ("b", 2)]

    def test_a_table_that_is_not_there_is_empty(self, tmp_path):
        with transaction([TABLE.replace("counts", "others")], tmp_path / "store"):
            pass
        assert seen(tmp_path / "store") == []

    def test_memory_can_be_read(self):
        put(":memory:", "read", 3)
        assert ("read", 3) in seen(":memory:")

    @pytest.mark.parametrize("text", [None, "a" * 5000])
    def test_what_is_no_store_is_refused(self, tmp_path, text):
        if text is not None:
            (tmp_path / "store").write_text(text)
        with pytest.raises(StoreError):
            seen(tmp_path / "store")
        assert (tmp_path / "store").exists() == (text is not None)


class TestFilesThatAreNotItsOwn:
    def test_a_file_that_is_no_database_is_left_alone(self, tmp_path):
        path = tmp_path / "store"
        path.write_bytes(b"notes of mine " * 100)
        with pytest.raises(StoreError, match="no store"):
            read(path)
        assert path.read_bytes() == b"notes of mine " * 100

    def test_a_damaged_store_is_said_to_be_one(self, tmp_path):
        path = tmp_path / "store"
        for k in range(50):
            put(path, f"{k:0200}", k)
        whole = path.read_bytes()
        path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
        with pytest.raises(StoreError, match="damaged"):
            put(path, "one more", 1)

    def test_another_programs_database_is_left_alone(self, tmp_path):
        path = tmp_path / "store"
        other = sqlite3.connect(path)
        other.execute("CREATE TABLE theirs (a)")
        other.commit()
        other.close()
        before = path.read_bytes()
        with pytest.raises(StoreError, match="another program's"):
            read(path)
        assert path.read_bytes() == before

    @pytest.mark.parametrize(
        ("statement", "what"),
        [
            ("DROP TABLE counts; CREATE VIEW counts AS SELECT 'a' name, 1 n", "view 'counts'"),
            ("DROP TABLE counts; CREATE TABLE counts (name)", "table 'counts'"),
            ("CREATE TRIGGER more AFTER INSERT ON counts BEGIN DELETE FROM counts; END", "trigger 'more'"),
        ],
    )
    @pytest.mark.parametrize("use", [read, seen])
    def test_tables_that_were_made_otherwise_are_refused(self, tmp_path, statement, what, use):
        path = tmp_path / "store"
        put(path, "a", 1)
        other = sqlite3.connect(path)
        other.executescript(statement)
        other.close()
        with pytest.raises(StoreError, match=f"{what} was not made by this version; remove"):
            use(path)

    @pytest.mark.parametrize(("version", "which"), [(store.VERSION + 1, "newer"), (0, "older")])
    def test_another_version_is_named(self, tmp_path, version, which):
        path = tmp_path / "store"
        put(path, "a", 1)
        other = sqlite3.connect(path)
        other.execute(f"PRAGMA user_version = {version}")
        other.close()
        with pytest.raises(StoreError, match=f"{which} version.*MBSSA_STORE"):
            read(path)

    def test_a_place_that_cannot_be_written_is_an_error_where_it_was_named(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(StoreError, match="cannot be written"):
            read(tmp_path / "file" / "store")


class TestPlace:
    def test_the_variable_names_it(self, monkeypatch):
        monkeypatch.setenv("MBSSA_STORE", "elsewhere.sqlite")
        assert store_path() == "elsewhere.sqlite"

    def test_by_default_it_is_in_the_users_cache(self, tmp_path, monkeypatch):
        monkeypatch.delenv("MBSSA_STORE", raising=False)
        monkeypatch.setattr(store, "user_cache", lambda: tmp_path / "cache")
        assert store_path() == str(tmp_path / "cache" / "mbssa.sqlite")

    def test_of_a_user_without_a_home_it_is_in_memory(self, monkeypatch):
        def no_home():
            raise RuntimeError("Could not determine home directory.")

        for name in ("MBSSA_STORE", "XDG_CACHE_HOME"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(Path, "home", no_home)
        assert store_path() == ":memory:"

    def test_where_nothing_can_be_written_it_is_in_memory(self, tmp_path, monkeypatch):
        monkeypatch.delenv("MBSSA_STORE", raising=False)
        (tmp_path / "file").write_text("")
        monkeypatch.setattr(store, "user_cache", lambda: tmp_path / "file" / "cache")
        assert store_path() == ":memory:"
        with transaction([TABLE]) as opened:
            opened.execute("INSERT OR REPLACE INTO counts VALUES ('b', 2)")
        with transaction([TABLE]) as opened:
            assert ("b", 2) in opened.execute("SELECT name, n FROM counts").fetchall()
