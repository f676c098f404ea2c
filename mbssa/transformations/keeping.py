"""Searches over inputs in the store: what was asked, which blocks are done, and what was found.

Distributions are judged block by block, on a grid that is laid when a search begins. A block's rows and its
mark are one transaction, so a search that was killed goes on where it was; processes that search the same
take turns at claiming blocks, and a block that nobody finished is claimed again. Distributions that the
count determines have a row each; of the others a block has only the number.

A search from best to best (:mod:`mbssa.transformations.best_first`) has no blocks: it remembers what it has
judged, and finds it again when it goes the same way.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sqlite3
import sys
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mbssa.mechanism import Mechanism
from mbssa.store import MEMORY, StoreError, decoding, store_path, transaction
from mbssa.transformations.base import pairs_of
from mbssa.transformations.canonical import as_text, canonical, judging_version
from mbssa.transformations.judged import Judged
from mbssa.transformations.keys import Way, in_words
from mbssa.transformations.question import Question, name_of

#: Distributions of a block: a fraction of a second's work, and a transaction costs a millisecond.
BLOCK = 4096

#: s after which a block that was claimed and not finished is anybody's; at once where its process is gone.
LEASE = 60.0

#: s between two looks at blocks that others hold.
_LOOK = 0.05

_SEARCHES = """CREATE TABLE IF NOT EXISTS transformation_searches_1 (
    number INTEGER PRIMARY KEY, key TEXT UNIQUE, mechanism TEXT, model TEXT, name TEXT, title TEXT,
    question TEXT, way TEXT, block INTEGER, about TEXT
) STRICT"""

_BLOCKS = """CREATE TABLE IF NOT EXISTS transformation_blocks_1 (
    search INTEGER, block INTEGER, done INTEGER, owner TEXT, until REAL, looked_at INTEGER,
    determined INTEGER, sets INTEGER, valid INTEGER, PRIMARY KEY (search, block)
) STRICT, WITHOUT ROWID"""

_ROWS = """CREATE TABLE IF NOT EXISTS transformation_rows_1 (
    search INTEGER, variant INTEGER, places BLOB, bits BLOB, n_groups INTEGER, largest INTEGER,
    levels INTEGER, width INTEGER, closed INTEGER, cost REAL, structure INTEGER, sets INTEGER,
    valid INTEGER, margin REAL, PRIMARY KEY (search, variant, places)
) STRICT, WITHOUT ROWID"""

TABLES = (_SEARCHES, _BLOCKS, _ROWS)

#: Columns of :class:`~mbssa.transformations.judged.Judged` after places and bits, as they are kept.
_COLUMNS: dict[str, Any] = {
    "variant": np.int32,
    "n_groups": np.int32,
    "largest": np.int32,
    "levels": np.int32,
    "width": np.int32,
    "closed": np.int32,
    "cost": np.float64,
    "structure": np.int64,
    "sets": np.int64,
    "valid": np.int64,
    "margin": np.float64,
}

#: Rows that are taken out of the store at once.
_AT_ONCE = 50_000


@dataclass(frozen=True, slots=True)
class Search:
    """A search in the store.

    Attributes
    ----------
    place : file of the store, ``:memory:``, or None for the user's own
    number : of the search there
    totals : distributions of each variant (choice of pairs for multiple joints)
    n_inputs : inputs of a distribution
    way : how the search goes
    block : distributions of a block; every variant begins a new one
    """

    place: str | Path | None
    number: int
    totals: tuple[int, ...]
    n_inputs: int
    way: Way
    block: int

    @property
    def blocks_of(self) -> tuple[int, ...]:
        """Blocks of each variant."""
        return tuple(-(-total // self.block) for total in self.totals)

    def __post_init__(self) -> None:
        whole = [self.n_inputs, self.block, *self.totals]
        if not all(type(number) is int for number in whole) or self.block < 1 or min(whole) < 0:
            raise StoreError(
                f"search {self.number} of the store is damaged; remove the store, or name another"
            )

    def bounds(self, block: int) -> Block:
        """What a block is of."""
        for variant, (total, number) in enumerate(zip(self.totals, self.blocks_of, strict=True)):
            if block < number:
                return Block(variant, block * self.block, min((block + 1) * self.block, total))
            block -= number
        raise IndexError(f"the search has no block {block}")


@dataclass(frozen=True, slots=True)
class Block:
    """Distributions ``first`` to ``stop`` (excluded) of a variant, by rank."""

    variant: int
    first: int
    stop: int


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search has come, all processes together: distributions, and sets of inputs."""

    looked_at: int
    n_distributions: int
    n_determined: int
    n_valid: int
    complete: bool


def begin(
    place: str | Path | None,
    key: str,
    mechanism: Mechanism,
    question: Question,
    *,
    variants: Sequence[Mechanism],
    totals: Sequence[int],
    n_inputs: int,
    way: Way = "all",
    block: int = BLOCK,
) -> Search:
    """The search with this key, which is begun if it is not there.

    Parameters
    ----------
    key : from :func:`mbssa.transformations.keys.key_of`
    variants : the mechanism with its terminals, once for each choice of pairs for its multiple joints
    totals : distributions of each variant
    block : distributions of a block, if the search is begun

    Raises
    ------
    mbssa.store.StoreError
        The store cannot be used.

    Examples
    --------
    >>> import mbssa
    >>> from mbssa.transformations.question import Question
    >>> bar = mbssa.load("planar_four_bar")
    >>> search = begin(":memory:", "key", bar, Question(), variants=[bar], totals=[4], n_inputs=1, block=3)
    >>> search.blocks_of, search.bounds(1)
    ((2,), Block(variant=0, first=3, stop=4))
    """
    about = {
        "totals": list(totals),
        "n_inputs": n_inputs,
        "version": judging_version(),
        "terminals": list(question.terminals),
        "variants": [_described(variant) for variant in variants],
    }
    with transaction(TABLES, place) as store:
        found = store.execute(
            "SELECT number, block, about FROM transformation_searches_1 WHERE key = ?", (key,)
        ).fetchone()
        if found is not None:
            with decoding(place):
                number, block, text = found
                there = json.loads(text)
                return Search(place, number, tuple(there["totals"]), there["n_inputs"], way, block)
        fingerprint = hashlib.sha256(canonical(mechanism).encode()).hexdigest()[:16]
        cursor = store.execute(
            "INSERT INTO transformation_searches_1 (key, mechanism, model, name, title, question, way, block,"
            " about) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                key, fingerprint, as_text(mechanism), mechanism.name, mechanism.title,
                in_words(question, n_inputs), way, block, json.dumps(about, ensure_ascii=False),
            ),
        )  # fmt: skip
        number = cursor.lastrowid
    assert number is not None
    return Search(place, number, tuple(totals), n_inputs, way, block)


def _described(variant: Mechanism) -> dict[str, Any]:
    """What the store needs to name the inputs of a variant: its coordinates, and the pairs of its pins."""
    return {
        "pairs": pairs_of(variant),
        "coordinates": [[name_of(variant, joint.index), *joint.type.coordinates] for joint in variant.joints],
    }


@contextmanager
def held_open(search: Search | None) -> Iterator[None]:
    """Keep the store's file open, if there is one: who closes it last waits for the disk.

    Raises
    ------
    mbssa.store.StoreError
        The store cannot be used.
    """
    place = MEMORY if search is None else str(store_path() if search.place is None else search.place)
    if place == MEMORY:
        yield
        return
    with transaction(TABLES, place):
        connection = sqlite3.connect(place, isolation_level=None, check_same_thread=False)
    with closing(connection):
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        yield


# --- blocks ----------------------------------------------------------------------------------------


def blocks(search: Search, deadline: float = float("inf")) -> Generator[Block, None, None]:
    """Blocks to be judged, each claimed for this process, until all are done by whomever.

    Every block is to be kept before the next one is asked for. Waits where the last blocks are others'. A
    block at which the iteration is left is left to others.

    Parameters
    ----------
    deadline : of ``time.monotonic``, beyond which others are not waited for

    Raises
    ------
    mbssa.store.StoreError
        The store cannot be used.
    """
    while True:
        number = _claim(search)
        if number is None:
            if _all_done(search) or time.monotonic() >= deadline:
                return
            time.sleep(_LOOK)
            continue
        try:
            yield search.bounds(number)
        except BaseException:
            _release(search, number)
            raise


def keep(search: Search, block: Block, judged: Judged) -> None:
    """Keep what was found of a block, and that it is done: both or neither. What is kept already stays.

    Raises
    ------
    mbssa.store.StoreError
        The store cannot be used.
    """
    number = sum(search.blocks_of[: block.variant]) + block.first // search.block
    determined = judged.take(judged.determined)
    rows = _as_rows(search, determined)
    told = (len(judged), len(rows), int(determined.sets.sum()), int(determined.valid.sum()))
    with transaction(TABLES, search.place) as store:
        done = store.execute(
            "SELECT done FROM transformation_blocks_1 WHERE (search, block) = (?, ?)", (search.number, number)
        ).fetchone()
        if done is not None and done[0]:
            return
        _insert(store, rows)
        store.execute(
            "INSERT OR REPLACE INTO transformation_blocks_1 VALUES (?, ?, 1, '', 0, ?, ?, ?, ?)",
            (search.number, number, *told),
        )


def _claim(search: Search) -> int | None:
    """Take the first block that nobody has, or that somebody has left; None if there is none now."""
    now, me = time.time(), _me()
    with decoding(search.place), transaction(TABLES, search.place) as store:
        open_ones = store.execute(
            "SELECT block, owner, until FROM transformation_blocks_1 WHERE search = ? AND done = 0 "
            "ORDER BY block",
            (search.number,),
        ).fetchall()
        left = [block for block, owner, until in open_ones if until < now or _gone(owner)]
        (last,) = store.execute(
            "SELECT max(block) FROM transformation_blocks_1 WHERE search = ?", (search.number,)
        ).fetchone()
        following = 0 if last is None else last + 1
        if left:
            number = left[0]
        elif following < sum(search.blocks_of):
            number = following
        else:
            return None
        store.execute(
            "INSERT OR REPLACE INTO transformation_blocks_1 VALUES (?, ?, 0, ?, ?, 0, 0, 0, 0)",
            (search.number, number, me, now + LEASE),
        )
    return int(number)


def _release(search: Search, number: int) -> None:
    """Leave a block to others, unless it is done."""
    with transaction(TABLES, search.place) as store:
        store.execute(
            "UPDATE transformation_blocks_1 SET until = 0 WHERE (search, block, done, owner) = (?, ?, 0, ?)",
            (search.number, number, _me()),
        )


def _all_done(search: Search) -> bool:
    with transaction(TABLES, search.place) as store:
        (done,) = store.execute(
            "SELECT count(*) FROM transformation_blocks_1 WHERE search = ? AND done = 1", (search.number,)
        ).fetchone()
    return bool(done == sum(search.blocks_of))


def _me() -> str:
    return f"{os.getpid()} {socket.gethostname()}"


def _gone(owner: str) -> bool:
    """Whether a process of this machine has ended. (Windows would end it to find out: the lease tells.)"""
    process, _, host = owner.partition(" ")
    if host != socket.gethostname() or sys.platform == "win32":
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False


# --- rows ------------------------------------------------------------------------------------------


def remember(search: Search, judged: Judged) -> None:
    """Keep distributions that a search from best to best has judged, those that are not determined too.

    Raises
    ------
    mbssa.store.StoreError
        The store cannot be used.
    """
    rows = _as_rows(search, judged)
    with transaction(TABLES, search.place) as store:
        _insert(store, rows)


def kept(search: Search) -> Judged:
    """What is kept of a search, in the order of variants and distributions; ``alike`` is 1.

    Raises
    ------
    mbssa.store.StoreError
        The store cannot be used.
    """
    parts = [Judged.empty(search.n_inputs)]
    with decoding(search.place), transaction(TABLES, search.place) as store:
        cursor = store.execute(
            f"SELECT places, bits, {', '.join(_COLUMNS)} FROM transformation_rows_1 "
            "WHERE search = ? ORDER BY variant, places",
            (search.number,),
        )
        while rows := cursor.fetchmany(_AT_ONCE):
            parts.append(_from_rows(search, rows))
    return Judged.joined(parts)


def progress(search: Search) -> Progress:
    """How far a search has come, whoever worked at it.

    Raises
    ------
    mbssa.store.StoreError
        The store cannot be used.
    """
    with decoding(search.place), transaction(TABLES, search.place) as store:
        return progress_in(store, search)


def progress_in(store: sqlite3.Connection, search: Search) -> Progress:
    """:func:`progress` by a connection to the store."""
    if search.way == "all":
        done, *counts = store.execute(
            "SELECT count(*), coalesce(sum(looked_at), 0), coalesce(sum(sets), 0), "
            "coalesce(sum(valid), 0) FROM transformation_blocks_1 WHERE search = ? AND done = 1",
            (search.number,),
        ).fetchone()
        complete = done == sum(search.blocks_of)
    else:
        counts = store.execute(
            "SELECT count(*), coalesce(sum(CASE WHEN n_groups > 0 THEN sets END), 0), "
            "coalesce(sum(valid), 0) FROM transformation_rows_1 WHERE search = ?",
            (search.number,),
        ).fetchone()
        complete = counts[0] == sum(search.totals)
    looked_at, determined, valid = counts
    return Progress(looked_at, sum(search.totals), determined, valid, complete)


def _as_rows(search: Search, judged: Judged) -> list[tuple[Any, ...]]:
    """Rows of the table; places as big-endian numbers, which SQLite sorts as the distributions are sorted."""
    n, number = search.n_inputs, len(judged)
    places = judged.places.astype(">i2").tobytes()
    bits = judged.bits.astype(np.int8).tobytes()
    columns = [_signed(getattr(judged, name)).tolist() for name in _COLUMNS]
    return list(
        zip(
            [search.number] * number,
            [places[2 * n * k : 2 * n * (k + 1)] for k in range(number)],
            [bits[n * k : n * (k + 1)] for k in range(number)],
            *columns,
            strict=True,
        )
    )


def _signed(column: Any) -> Any:
    """SQLite's numbers have a sign."""
    return column.view(np.int64) if column.dtype == np.uint64 else column


def _insert(store: sqlite3.Connection, rows: list[tuple[Any, ...]]) -> None:
    columns = ", ".join(["search", "places", "bits", *_COLUMNS])
    values = ", ".join("?" * (len(_COLUMNS) + 3))
    store.executemany(f"INSERT OR IGNORE INTO transformation_rows_1 ({columns}) VALUES ({values})", rows)


def _from_rows(search: Search, rows: Sequence[tuple[Any, ...]]) -> Judged:
    places, bits, *columns = zip(*rows, strict=True)
    shape = (len(rows), search.n_inputs)
    found = {
        name: np.array(column, dtype=kind)
        for (name, kind), column in zip(_COLUMNS.items(), columns, strict=True)
    }
    return Judged(
        places=np.frombuffer(b"".join(places), dtype=">i2").astype(np.int16).reshape(shape),
        bits=np.frombuffer(b"".join(bits), dtype=np.int8).reshape(shape),
        determined=found["n_groups"] > 0,
        alike=np.ones(len(rows), dtype=np.int32),
        alike_valid=np.ones(len(rows), dtype=np.int32),
        **found | {"structure": found["structure"].view(np.uint64)},
    )
