"""SQLite file of results that are kept between runs: measured costs, searches."""

# Each table belongs to the module that writes it, which hands its CREATE TABLE IF NOT EXISTS to
# :func:`transaction`. The file is mbssa.sqlite in the user's cache folder, or that of MBSSA_STORE;
# MBSSA_STORE=:memory: keeps nothing beyond the process, and so does a cache folder that cannot be written.

from __future__ import annotations

import atexit
import os
import sqlite3
import threading
import time
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


class StoreError(ValueError):
    """A file that is no store of ours, is damaged, was written by a newer version, or cannot be written."""


@contextmanager
def transaction(tables: Sequence[str] = (), path: str | Path | None = None) -> Iterator[sqlite3.Connection]:
    """Connection whose reads and writes are one: all of them are kept, or after an exception none."""
    # StoreError also if another process has held the file for longer than 30 s.
    place = str(store_path() if path is None else path)
    if place == MEMORY:
        with _TURN, _transaction(_in_memory(), tables, place) as store:
            yield store
        return
    with closing(_opened(place)) as connection, _transaction(connection, tables, place) as store:
        yield store


@contextmanager
def reading(tables: Sequence[str] = (), path: str | Path | None = None) -> Iterator[sqlite3.Connection]:
    """Connection that reads the store at one moment, and writes nothing."""
    # A file that cannot be written will do. Tables that it does not have are empty.
    place = str(store_path() if path is None else path)
    if place == MEMORY:
        with transaction(tables, place) as store:
            yield store
        return
    with _said(place), closing(_opened_to_read(place)) as connection:
        _application(connection, place)
        _check_tables(connection, tables, place)
        there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        for table in tables:
            if _table_name(table) not in there:
                connection.execute(table.replace("CREATE TABLE", "CREATE TEMPORARY TABLE", 1))
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")
        yield connection


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


@contextmanager
def _transaction(
    connection: sqlite3.Connection, tables: Sequence[str], place: str
) -> Iterator[sqlite3.Connection]:
    with _said(place):
        connection.execute("BEGIN IMMEDIATE")
        try:
            if _application(connection, place) == 0:
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


def _application(connection: sqlite3.Connection, place: str) -> int:
    """Application number of the file: ours, or 0 for a new file; StoreError for any other."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application == 0 and version == 0 and tables == 0:
        return 0
    if application != APPLICATION:
        raise StoreError(f"{place} is another program's SQLite file; name another one in MBSSA_STORE")
    if version != VERSION:
        which = "a newer" if version > VERSION else "an older"
        raise StoreError(
            f"{place} was written by {which} version (layout {version}, here {VERSION}); remove it, or name "
            "another one in MBSSA_STORE"
        )
    return APPLICATION


def _table_name(table: str) -> str:
    return table.partition("(")[0].split()[-1]


def _check_tables(connection: sqlite3.Connection, tables: Sequence[str], place: str) -> None:
    """Refuse views and triggers, and tables of these names that were made otherwise."""
    wanted = {_table_name(table): table.replace("IF NOT EXISTS ", "", 1) for table in tables}
    for kind, name, text in connection.execute("SELECT type, name, sql FROM sqlite_master"):
        if kind in ("view", "trigger") or wanted.get(name, text) != text:
            raise StoreError(
                f"{place}: its {kind} {name!r} was not made by this version; remove the file, or name "
                "another one in MBSSA_STORE"
            )


def _opened(place: str) -> sqlite3.Connection:
    try:
        Path(place).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{place} cannot be written: {error.strerror}") from None
    with _said(place):
        connection = sqlite3.connect(place, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        try:
            _application(connection, place)  # before anything is written to a file that is not ours
            _write_ahead(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            connection.close()
            raise
        return connection


def _opened_to_read(place: str) -> sqlite3.Connection:
    """Connection that writes nothing to a file that must be there."""
    # Beside a file that is written ahead SQLite keeps two others, even for readers; who may write the file
    # takes them away at the end. Where SQLite can make none and there are none, no process is writing, and
    # the file is read as if it could not change.
    try:
        return _looked_into(place, "mode=rw")
    except sqlite3.OperationalError as error:
        no_companion = error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
        if not no_companion or Path(f"{place}-wal").exists() or not Path(place).is_file():
            raise
    return _looked_into(place, "mode=ro&immutable=1")


def _looked_into(place: str, how: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{Path(place).absolute().as_uri()}?{how}", timeout=PATIENCE, isolation_level=None,
        check_same_thread=False, uri=True,
    )  # fmt: skip
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Readers and a writer at once. Two processes that make a new file do not wait here by themselves."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
        time.sleep(0.01)


@cache
def _in_memory() -> sqlite3.Connection:
    connection = sqlite3.connect(MEMORY, isolation_level=None, check_same_thread=False)
    atexit.register(connection.close)
    return connection


#: Exceptions of decoding rows that this version would not have written.
_UNDECODABLE = (
    sqlite3.Error, ArithmeticError, AttributeError, LookupError, RecursionError, StopIteration, TypeError,
    ValueError,
)  # fmt: skip


@contextmanager
def decoding(path: str | Path | None) -> Iterator[None]:
    """Report rows of the store at ``path`` that do not decode as damage of the file."""
    try:
        yield
    except StoreError:
        raise
    except _UNDECODABLE as error:
        raise StoreError(
            f"{store_path() if path is None else path} holds rows that cannot be read "
            f"({type(error).__name__}: {error}); remove it, or name another file in MBSSA_STORE"
        ) from None


@contextmanager
def _said(place: str) -> Iterator[None]:
    """Convert SQLite's errors into messages with a remedy."""
    try:
        yield
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
