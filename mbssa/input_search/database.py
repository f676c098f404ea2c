"""Database of input searches: an SQLite table of the evaluated actuation schemes."""

# A search is added in one transaction when it has ended, also by Ctrl-C or a time limit; it replaces an
# earlier one of the same query and model. Any SQLite client can read the columns, those of result.Row: SELECT
# inputs, n_groups, cost FROM input_sets_3 WHERE search = 1 AND valid_sets ORDER BY cost. The search itself is
# the row without inputs at place -1, which alone has a summary and a model (JSON).

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from mbssa.input_search.criteria import CRITERIA, DEFAULT, Criterion, criterion, ordered
from mbssa.input_search.query import Query, with_inputs
from mbssa.input_search.result import Row, Transformations
from mbssa.io.graph import from_networkx, to_networkx
from mbssa.io.records import check_writable
from mbssa.mechanism import Mechanism
from mbssa.store import MEMORY, reading, transaction

_FIGURES = tuple(each.name for each in fields(Row) if each.name not in ("inputs", "pairs", "valid"))
_COLUMNS = ("search", "inputs", "pairs", "terminals", *_FIGURES)

_TABLE = f"""CREATE TABLE IF NOT EXISTS input_sets_3 (
    search INTEGER, place INTEGER, inputs TEXT, pairs TEXT, terminals TEXT,
    {", ".join(f"{name} {'REAL' if name in ('cost', 'margin') else 'INTEGER'}" for name in _FIGURES)},
    summary TEXT, model TEXT, PRIMARY KEY (search, place)
) STRICT, WITHOUT ROWID"""

#: The schemes, with criteria and numbers of sets under the names that conditions and orders have.
_SCHEMES = """(SELECT *, n_groups AS groups, closed_forms AS closed, n_groups - closed_forms AS open,
    valid_sets AS valid FROM input_sets_3 WHERE place >= 0)"""


@dataclass(frozen=True, slots=True)
class StoredRow(Row):
    """An actuation scheme in the database, by the number of its search."""

    search: int
    terminals: str  # numbers of bodies whose fictitious pairs with the frame are driven

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {"search": self.search, **self.figures()}


@dataclass(frozen=True, slots=True)
class StoredSearch:
    """Input search in the database."""

    search: int
    question: str
    name: str
    title: str
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
        return {**asdict(self), "best": self.best and self.best.to_dict()}


# --- writing ---------------------------------------------------------------------------------------


def check(mechanism: Mechanism, place: str | Path) -> None:
    """Refuse a search whose result could not be stored, before it takes its time."""
    check_writable(mechanism)
    with transaction([_TABLE], place):
        pass


def save(answer: Transformations, place: str | Path) -> None:
    """Add the result of a search, in place of one of the same query and model unless that evaluated more."""
    model, default = _as_text(answer.mechanism), Query()
    said = {each.name: getattr(answer.query, each.name) for each in fields(Query)}
    question = ", ".join(
        f"{name.replace('_', ' ')} {','.join(map(str, value)) if isinstance(value, tuple) else value}"
        for name, value in said.items()
        if value != getattr(default, name)
    )
    about = {"question": question, "looked_at": answer.n_evaluated}
    about |= {name: getattr(answer.mechanism, name) for name in ("name", "title")}
    for name in ("way", "complete", "n_distributions", "n_determined", "n_valid", "n_structures"):
        about[name] = getattr(answer, name)
    with transaction([_TABLE], place) as store:
        same = "model = ? AND json_extract(summary, '$.question') = ?"
        more = f"SELECT 1 FROM input_sets_3 WHERE {same} AND json_extract(summary, '$.looked_at') > ?"
        if store.execute(more, (model, question, answer.n_evaluated)).fetchone():
            return
        (number,) = store.execute(
            f"SELECT coalesce(max(search) FILTER (WHERE {same}), max(search) + 1, 1) FROM input_sets_3",
            (model, question),
        ).fetchone()
        store.execute("DELETE FROM input_sets_3 WHERE search = ?", (number,))
        store.execute(
            "INSERT INTO input_sets_3 (search, place, summary, model) VALUES (?, -1, ?, ?)",
            (number, json.dumps(about, ensure_ascii=False), model),
        )
        store.executemany(
            f"INSERT INTO input_sets_3 (place, {', '.join(_COLUMNS)}) VALUES (?{', ?' * len(_COLUMNS)})",
            _records(answer, number),
        )


def _records(answer: Transformations, number: int) -> Iterator[tuple[Any, ...]]:
    """Rows of the table in the order of the joints: a scheme for each orbit of equivalent ones."""
    shown = answer.evaluated.take(answer.evaluated.alike > 0)
    shown = shown.take(ordered(shown, Criterion("", ())))
    figures = shown.figures()
    pairs = [each.pairs for each in answer.undriven]
    columns = (shown.variant, shown.places, shown.bits, *(figures[name] for name in _FIGURES))
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for place, (variant, places, bits, *numbers) in enumerate(rows):
        base = answer.undriven[variant]
        terminals = ",".join(map(str, base.driven_terminals(places)))
        yield place, number, ", ".join(base.names(places, bits)), pairs[variant], terminals, *numbers


def _as_text(mechanism: Mechanism) -> str:
    """The undriven mechanism as the JSON of its graph."""
    graph = to_networkx(replace(mechanism, driven=np.zeros_like(mechanism.driven), motion=None))
    whole = [graph.graph, list(graph.nodes(data=True)), list(graph.edges(keys=True, data=True))]
    return json.dumps(whole, ensure_ascii=False, default=str)


def _from_text(text: str) -> Mechanism:
    import networkx as nx

    about, nodes, edges = json.loads(text)
    graph: nx.MultiGraph[int] = nx.MultiGraph(**about)
    graph.add_nodes_from(nodes)
    graph.add_edges_from(edges)
    return from_networkx(graph)


# --- reading ---------------------------------------------------------------------------------------


def searches(place: str | Path | None) -> list[StoredSearch]:
    """List the searches of a database in the order of their numbers."""
    with reading([_TABLE], place) as store:
        found = store.execute("SELECT search, summary FROM input_sets_3 WHERE place = -1").fetchall()
        best = {number: _rows(store, [number], "valid", DEFAULT, 1) for number, _ in found}
        return [
            StoredSearch(search=number, best=next(iter(best[number]), None), **json.loads(text))
            for number, text in found
        ]


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
    held = conditions([*where, *([] if every else ["valid"])])
    with reading([_TABLE], place) as store:
        return _rows(store, numbers, held, sort, top)


def mechanism_of(place: str | Path | None, row: StoredRow) -> Mechanism:
    """Mechanism of a row, with the row's inputs."""
    with reading([_TABLE], place) as store:
        (text,) = store.execute(
            "SELECT model FROM input_sets_3 WHERE (search, place) = (?, -1)", (row.search,)
        ).fetchone()
        terminals = [int(number) for number in row.terminals.split(",") if number]
        return with_inputs(_from_text(text), row.inputs, terminals, row.pairs)


def conditions(texts: Iterable[str]) -> str:
    """One condition in SQL of several such as ``groups>=8`` or ``largest<=3 and open=0, cost<1``."""
    found, faults = ["TRUE"], []
    with closing(sqlite3.connect(MEMORY)) as empty:
        empty.execute(_TABLE)
        empty.set_authorizer(_may)
        for text in texts:
            alone = text.replace(",", " AND ")
            found.append(f"({alone}\n)")
            try:
                for each in (alone, found[-1]):
                    empty.execute(f"SELECT 1 FROM {_SCHEMES} WHERE {each}")
            except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
                names = ", ".join([*CRITERIA, "sets", "valid"])
                faults.append(f"--where {text!r}: {error}; write such as groups>=8 of the names {names}")
    if faults:
        raise ValueError("\n  ".join(faults))
    return " AND ".join(found)


def _may(action: int, name: str | None, function: str | None, *_: str | None) -> int:
    """Leave for conditions to read the table, and to call functions that only compute."""
    fine = action == sqlite3.SQLITE_SELECT or (action == sqlite3.SQLITE_READ and name != "sqlite_master")
    fine |= action == sqlite3.SQLITE_FUNCTION and function in ("abs", "glob", "like", "max", "min", "round")
    return sqlite3.SQLITE_OK if fine else sqlite3.SQLITE_DENY


def _rows(
    store: sqlite3.Connection, numbers: Sequence[int], held: str, sort: str, top: int | None
) -> list[StoredRow]:
    sums = (" + ".join(f"{weight!r} * {name}" for weight, name in terms) for terms in criterion(sort).sums)
    order = "".join(f"{each} DESC, " for each in sums)
    found = store.execute(
        f"SELECT {', '.join(_COLUMNS)} FROM {_SCHEMES} WHERE search IN ({', '.join(map(str, numbers))}) "
        f"AND {held} ORDER BY {order}valid > 0 DESC, search, place LIMIT ?",
        (-1 if top is None else top,),
    )
    answer = []
    for values in (dict(zip(_COLUMNS, row, strict=True)) for row in found):
        if not values["inputs"] or None in values.values():
            raise ValueError(f"a row of search {values['search']} is incomplete")
        inputs = tuple(values.pop("inputs").split(", "))
        answer.append(StoredRow(inputs=inputs, valid=values["valid_sets"] > 0, **values))
    return answer
