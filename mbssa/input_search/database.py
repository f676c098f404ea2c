"""Database of input searches: an SQLite table of the evaluated actuation schemes."""

# A search is added in one transaction when it has ended, also by Ctrl-C or a time limit; it replaces an
# earlier one of the same query and model. Any SQLite client can read the columns, those of result.Row: SELECT
# inputs, n_groups, cost FROM input_sets_2 WHERE search = 1 AND valid ORDER BY cost. The search itself is the
# row without inputs at place -1, which alone has a summary and a model (JSON).

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from mbssa.input_search.criteria import (
    DEFAULT,
    DIRECTIONS,
    LARGEST,
    MOST_TERMS,
    Criterion,
    criterion,
    ordered,
)
from mbssa.input_search.query import Query, with_inputs
from mbssa.input_search.result import Row, Transformations
from mbssa.io.records import check_writable, from_record, to_record, with_multiple_joints
from mbssa.mechanism import Mechanism
from mbssa.store import decoding, reading, transaction

#: Columns that a condition or an order may name, in SQL.
COLUMNS = {
    **{name: name for name in DIRECTIONS},
    "groups": "n_groups",
    "closed": "closed_forms",
    "open": "(n_groups - closed_forms)",
    "sets": "sets",
    "valid": "valid_sets",
}

_FIGURES = tuple(each.name for each in fields(Row) if each.name not in ("inputs", "pairs"))
_KINDS = {name: "REAL" if name in ("cost", "margin") else "INTEGER" for name in _FIGURES}

_TABLE = f"""CREATE TABLE IF NOT EXISTS input_sets_2 (
    search INTEGER, place INTEGER, inputs TEXT, pairs TEXT, terminals TEXT,
    {", ".join(f"{name} {kind}" for name, kind in _KINDS.items())}, summary TEXT, model TEXT,
    PRIMARY KEY (search, place)
) STRICT, WITHOUT ROWID"""

_TABLES = (_TABLE,)

_CONDITION = re.compile(r"\s*([a-z_]+)\s*(>=|<=|!=|==|=|>|<)\s*([+-]?[0-9.]+(?:e[+-]?[0-9]+)?)\s*")

_VALID = "valid"

#: Figures of a search that its summary has under their own names.
_COUNTS = ("way", "complete", "n_distributions", "n_determined", "n_valid", "n_structures")


@dataclass(frozen=True, slots=True)
class StoredRow(Row):
    """An actuation scheme in the database, by the number of its search."""

    search: int
    terminals: tuple[int, ...]  # bodies whose fictitious pairs with the frame are driven

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {"search": self.search, **self.figures()}


@dataclass(frozen=True, slots=True)
class StoredSearch:
    """Input search in the database."""

    number: int
    name: str
    title: str
    query: str  # in the words of the command line
    way: str  # "all" (exhaustive) or "best-first"
    complete: bool
    n_distributions: int
    looked_at: int  # n_evaluated of ``Transformations``
    n_determined: int
    n_valid: int
    n_structures: int
    best: StoredRow | None  # valid row by the default criterion; None where there is none

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        plain = asdict(self)
        plain["best"] = None if self.best is None else self.best.to_dict()
        return {"search": plain.pop("number"), "question": plain.pop("query"), **plain}


# --- writing ---------------------------------------------------------------------------------------


def check(mechanism: Mechanism, place: str | Path) -> None:
    """Refuse a search whose result could not be stored, before it takes its time."""
    check_writable(mechanism)
    with transaction(_TABLES, place):
        pass


def save(answer: Transformations, place: str | Path) -> int:
    """Add the result of a search; return its number."""
    model = _as_text(answer.mechanism)
    summary = {
        "name": answer.mechanism.name,
        "title": answer.mechanism.title,
        "query": in_words(answer.query),
        "looked_at": answer.n_evaluated,
        **{name: getattr(answer, name) for name in _COUNTS},
    }
    with transaction(_TABLES, place) as store:
        earlier = store.execute(
            "SELECT search FROM input_sets_2 WHERE place = -1 AND (model, json_extract(summary, '$.query')) = (?, ?)",
            (model, summary["query"]),
        ).fetchone()
        number: int = (
            earlier or store.execute("SELECT 1 + coalesce(max(search), 0) FROM input_sets_2").fetchone()
        )[0]
        store.execute("DELETE FROM input_sets_2 WHERE search = ?", (number,))
        store.execute(
            "INSERT INTO input_sets_2 (search, place, summary, model) VALUES (?, -1, ?, ?)",
            (number, json.dumps(summary, ensure_ascii=False), model),
        )
        columns = f"search, place, inputs, pairs, terminals, {', '.join(_FIGURES)}"
        marks = ", ".join("?" * (5 + len(_FIGURES)))
        store.executemany(f"INSERT INTO input_sets_2 ({columns}) VALUES ({marks})", _records(answer, number))
    return number


def _records(answer: Transformations, number: int) -> Iterator[tuple[Any, ...]]:
    """Rows of the table in the order of the joints: a scheme for each orbit of equivalent ones."""
    every = answer.evaluated.take(answer.evaluated.alike > 0)
    every = every.take(ordered(every, Criterion("", (), lexicographic=True)))
    columns = every.figures()
    figures = zip(*(columns[name].tolist() for name in _FIGURES), strict=True)
    for place, (variant, places, bits, numbers) in enumerate(
        zip(every.variant.tolist(), every.places.tolist(), every.bits.tolist(), figures, strict=True)
    ):
        base = answer.undriven[variant]
        names = base.names(places, bits)
        terminals = ",".join(map(str, base.driven_terminals(places)))
        yield number, place, ", ".join(names), base.pairs, terminals, *numbers


def in_words(query: Query) -> str:
    """Query in the words of the command line."""
    parts = [] if query.inputs is None else [f"{query.inputs} input{'' if query.inputs == 1 else 's'}"]
    for key in ("allow", "forbid", "require"):
        names = getattr(query, key)
        parts += [f"{key} {','.join(names)}"] if names else []
    parts += [] if query.per_joint is None else [f"per joint {query.per_joint}"]
    parts += [f"terminal {','.join(map(str, query.terminals))}"] if query.terminals else []
    parts += [] if query.precision is None else [f"precision {query.precision:g} m"]
    parts += [] if query.spanning else ["no spanning"]
    return ", ".join(parts)


def _as_text(mechanism: Mechanism) -> str:
    """The undriven mechanism as JSON. The pairs of its multiple joints are written as they are."""
    bare = replace(mechanism, driven=np.zeros_like(mechanism.driven), motion=None)
    several = [
        {"bodies": [body + 1 for body in each.bodies], "joints": [j + 1 for j in each.joints]}
        for each in mechanism.multiple_joints
    ]
    tables = {
        "name": mechanism.name,
        "model": to_record(replace(bare, multiple_joints=())),
        "multiple_joints": several,
    }
    return json.dumps(tables, ensure_ascii=False, default=str)


# --- reading ---------------------------------------------------------------------------------------


def searches(place: str | Path | None) -> list[StoredSearch]:
    """List the searches of a database in the order of their numbers."""
    with decoding(place), reading(_TABLES, place) as store:
        listed = []
        for number, text in store.execute(
            "SELECT search, summary FROM input_sets_2 WHERE place = -1"
        ).fetchall():
            best = _rows(store, [number], [_VALID], _order(DEFAULT), 1)
            listed.append(StoredSearch(number=number, **json.loads(text), best=best[0] if best else None))
        return listed


def rows(
    place: str | Path | None,
    numbers: Sequence[int],
    *,
    where: Iterable[str] = (),
    sort: str = DEFAULT,
    top: int | None = None,
    every: bool = False,
) -> list[StoredRow]:
    """Rows of searches, best first; ``every``: with those without a valid set."""
    text, order = conditions(where), _order(sort)
    held = ([] if every else [_VALID]) + ([text] if text else [])
    with decoding(place), reading(_TABLES, place) as store:
        return _rows(store, numbers, held, order, top)


def mechanism_of(place: str | Path | None, row: StoredRow) -> Mechanism:
    """Mechanism of a row, with the row's inputs."""
    with decoding(place), reading(_TABLES, place) as store:
        (text,) = store.execute(
            "SELECT model FROM input_sets_2 WHERE (search, place) = (?, -1)", (row.search,)
        ).fetchone()
        return with_inputs(_from_text(text), row.inputs, row.terminals, row.pairs)


def _from_text(text: str) -> Mechanism:
    tables = json.loads(text)
    name, several = tables["name"], tables["multiple_joints"]
    source = name or "stored mechanism"
    mechanism = from_record(tables["model"], source, name)
    numbers = {j + 1: j for j in range(mechanism.n_joints)}
    if several:
        mechanism = with_multiple_joints(mechanism, several, numbers, "multiple joint", source)
    return mechanism


def conditions(texts: Iterable[str]) -> str:
    """SQL of conditions such as ``groups>=8`` or ``largest<=3 and closed>=6``; empty where there are none."""
    found, faults = [], []
    parts = [part for each in texts for part in re.split(r"\band\b|,", each)]
    if len(parts) > MOST_TERMS:
        raise ValueError(f"--where: {len(parts):,} conditions; write {MOST_TERMS} at most")
    for text in parts:
        match = _CONDITION.fullmatch(text)
        try:
            name, sign, number = match.groups() if match is not None else ("", "", "")
            if not abs(float(number)) <= LARGEST:
                raise ValueError
            found.append(f"{COLUMNS[name]} {sign.replace('==', '=')} {float(number):.15g}")
        except (KeyError, ValueError):
            faults.append(
                f"--where {text.strip()!r}: write a name of {', '.join(COLUMNS)}, one of >= <= > < = !=, and "
                f"a number up to {LARGEST:g}"
            )
    if faults:
        raise ValueError("\n  ".join(faults))
    return " AND ".join(found)


def _order(sort: str) -> str:
    """SQL of an order; ties in the order of the joints."""
    wanted = criterion(sort)
    if wanted.lexicographic:
        terms = [f"{COLUMNS[name]} {'DESC' if DIRECTIONS[name] > 0 else 'ASC'}" for _, name in wanted.terms]
    else:
        terms = [" + ".join(f"({weight!r}) * {COLUMNS[name]}" for weight, name in wanted.terms) + " DESC"]
    return ", ".join([*terms, f"{_VALID} DESC", "search", "place"])


def _rows(
    store: sqlite3.Connection, numbers: Sequence[int], held: Sequence[str], order: str, top: int | None
) -> list[StoredRow]:
    where = " AND ".join([f"search IN ({', '.join(map(str, numbers))})", "place >= 0", *held])
    found = store.execute(
        f"SELECT search, inputs, pairs, terminals, {', '.join(_FIGURES)} FROM input_sets_2 WHERE {where} "
        f"ORDER BY {order} LIMIT ?",
        (-1 if top is None else top,),
    )
    return [_row(*row) for row in found]


def _row(search: int, inputs: str, pairs: str, terminals: str, *numbers: Any) -> StoredRow:
    figures = dict(zip(_FIGURES, numbers, strict=True))
    figures["valid"] = bool(figures["valid"])
    if figures["margin"] is None:  # SQLite has no NaN
        figures["margin"] = float("nan")
    if not inputs or None in figures.values():
        raise ValueError(f"a row of search {search} is incomplete")
    return StoredRow(
        search=search,
        inputs=tuple(inputs.split(", ")),
        pairs=pairs,
        terminals=tuple(int(number) for number in terminals.split(",") if number),
        **figures,
    )
