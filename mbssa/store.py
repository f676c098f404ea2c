"""SQLite file of results that are kept between runs: measured costs, searches."""

# Each table belongs to the module that writes it, which hands its CREATE TABLE IF NOT EXISTS to
# :func:`transaction`. The file is mbssa.sqlite in the user's cache folder, or that of MBSSA_STORE;
# MBSSA_STORE=:memory: keeps nothing beyond the process, and so does a cache folder that cannot be written.

from __future__ import annotations

import atexit
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

from mbssa.files import user_cache

#: Layout of the store as a whole. A table that changes its columns changes its name, and this stays.
VERSION = 1

#: SQLite's ``application_id`` of a store: "mbsS".
APPLICATION = 0x6D627353

#: Timeout for the transaction of another process, s.
PATIENCE = 30.0

MEMORY = ":memory:"

#: Threads of one process take turns at what is in memory: SQLite does not make them wait there.
_TURN = threading.RLock()

#: Exceptions of decoding rows that this version would not have written.
_UNDECODABLE = (
    sqlite3.Error, ArithmeticError, AttributeError, LookupError, RecursionError, StopIteration, TypeError,
    ValueError,
)  # fmt: skip


class StoreError(ValueError):
    """A file that is no store of ours, is damaged, was written by a newer version, or cannot be written."""


@contextmanager
def transaction(tables: Sequence[str] = (), path: str | Path | None = None) -> Iterator[sqlite3.Connection]:
    """Connection whose reads and writes are one: all of them are kept, or after an exception none."""
    # StoreError also if another process has held the file for longer than 30 s.
    place = str(store_path() if path is None else path)
    if place != MEMORY:
        try:
            Path(place).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"{place} cannot be written: {error.strerror}") from None
    with _connected(place, "rwc") as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            if _is_new(connection, place):
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                connection.execute(f"PRAGMA user_version = {VERSION}")
            _check_tables(connection, tables, place)
            for table in tables:
                connection.execute(table)
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


@contextmanager
def reading(tables: Sequence[str] = (), path: str | Path | None = None) -> Iterator[sqlite3.Connection]:
    """Connection that reads the store at one moment, and writes nothing; StoreError for undecodable rows."""
    # A file that cannot be written will do. Tables that it does not have are empty.
    place = str(store_path() if path is None else path)
    try:
        if place == MEMORY:
            with transaction(tables, place) as store:
                yield store
            return
        with _connected(place, "rw") as connection:
            _is_new(connection, place)
            there = _check_tables(connection, tables, place)
            for table in tables:
                if _table_name(table) not in there:
                    connection.execute(table.replace("CREATE TABLE", "CREATE TEMPORARY TABLE", 1))
            connection.execute("PRAGMA query_only = ON")
            connection.execute("BEGIN")
            yield connection
    except StoreError:
        raise
    except _UNDECODABLE as error:
        raise StoreError(
            f"{place} holds rows that cannot be read ({type(error).__name__}: {error}); remove it, or name "
            "another file in MBSSA_STORE"
        ) from None


def store_path() -> str:
    """Path of the store: ``MBSSA_STORE``, else the user's cache folder, else ``:memory:``."""
    given = os.environ.get("MBSSA_STORE")
    if given:
        return given
    home = user_cache()
    if home is None:
        return MEMORY
    path = home / "mbssa.sqlite"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        return MEMORY
    writable = os.access(path.parent, os.W_OK) and (not path.exists() or os.access(path, os.W_OK))
    return str(path) if writable else MEMORY


def _is_new(connection: sqlite3.Connection, place: str) -> bool:
    """Return whether the file is empty; StoreError for one that is not ours."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application == 0 and version == 0 and tables == 0:
        return True
    if application != APPLICATION:
        raise StoreError(f"{place} is another program's SQLite file; name another one in MBSSA_STORE")
    if version != VERSION:
        which = "a newer" if version > VERSION else "an older"
        raise StoreError(
            f"{place} was written by {which} version (layout {version}, here {VERSION}); remove it, or name "
            "another one in MBSSA_STORE"
        )
    return False


def _table_name(table: str) -> str:
    return table.partition("(")[0].split()[-1]


def _check_tables(connection: sqlite3.Connection, tables: Sequence[str], place: str) -> set[str]:
    """Names in the file; StoreError for views, triggers, and tables of other columns."""
    wanted = {_table_name(table): table.replace("IF NOT EXISTS ", "", 1) for table in tables}
    there = set()
    for kind, name, text in connection.execute("SELECT type, name, sql FROM sqlite_master"):
        if kind in ("view", "trigger") or wanted.get(name, text) != text:
            raise StoreError(
                f"{place}: its {kind} {name!r} was not made by this version; remove the file, or name "
                "another one in MBSSA_STORE"
            )
        there.add(name)
    return there


@cache
def _in_memory() -> sqlite3.Connection:
    connection = sqlite3.connect(MEMORY, isolation_level=None, check_same_thread=False)
    atexit.register(connection.close)
    return connection


@contextmanager
def _connected(place: str, mode: str) -> Iterator[sqlite3.Connection]:
    """Connection to a file, or to the memory; SQLite's errors become messages with a remedy."""
    try:
        if place == MEMORY:
            with _TURN:
                yield _in_memory()
            return
        address = f"{Path(place).absolute().as_uri()}?mode={mode}"
        opened = sqlite3.connect(
            address, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        with closing(opened) as connection:
            yield connection
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        other = "name another file in MBSSA_STORE"
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            said = f"another process has held {place} for {PATIENCE:g} s; end it, or {other}"
        elif code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            said = f"{place} is no store, or a damaged one ({error}); {other}"
        elif code in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH):
            said = f"{place} holds what this version does not write ({error}); remove it, or {other}"
        else:
            said = f"{place} cannot be used ({error}); make room or give leave to write it, or {other}"
        raise StoreError(said) from error
