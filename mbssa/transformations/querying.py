"""What a store holds of searches over inputs: which there are, and their rows, filtered and sorted by it."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np

from mbssa.io.multiple import spanning_choices
from mbssa.mechanism import Mechanism
from mbssa.store import decoding, reading
from mbssa.transformations.base import pairs_of
from mbssa.transformations.canonical import from_text, judging_version
from mbssa.transformations.criteria import DEFAULT, DIRECTIONS, LARGEST, MOST_TERMS, criterion
from mbssa.transformations.keeping import TABLES, Progress, Search, progress_in
from mbssa.transformations.keys import Way
from mbssa.transformations.question import name_of, with_inputs, with_terminals
from mbssa.transformations.row import Row

#: Columns that a condition or an order may name, as SQL says them.
COLUMNS = {
    **{name: name for name in DIRECTIONS},
    "groups": "n_groups",
    "open": "(n_groups - closed)",
    "sets": "sets",
    "valid": "valid",
}

_CONDITION = re.compile(r"\s*([a-z_]+)\s*(>=|<=|!=|==|=|>|<)\s*([+-]?[0-9.]+(?:e[+-]?[0-9]+)?)\s*")


@dataclass(frozen=True, slots=True)
class KeptRow(Row):
    """A distribution of inputs as a store holds it; ``search`` is the number of its search."""

    search: int

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {"search": self.search, **self.figures()}


@dataclass(frozen=True, slots=True)
class KeptSearch:
    """A search as a store holds it.

    Attributes
    ----------
    search : by which its rows are found
    name, title : of the mechanism
    mechanism : number of its topology and geometry, in 16 hexadecimal digits
    question : in words
    progress : how far it has come
    current : whether the code that judged it is the one that is here
    n_structures : different kinematic structures among the valid rows
    best : the best valid row, None where there is none
    """

    search: Search
    name: str
    title: str
    mechanism: str
    question: str
    progress: Progress
    current: bool
    n_structures: int
    best: KeptRow | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "search": self.search.number,
            "name": self.name,
            "title": self.title,
            "mechanism": self.mechanism,
            "question": self.question,
            "way": self.search.way,
            "current": self.current,
            "complete": self.progress.complete,
            "looked_at": self.progress.looked_at,
            "n_distributions": self.progress.n_distributions,
            "n_determined": self.progress.n_determined,
            "n_valid": self.progress.n_valid,
            "n_structures": self.n_structures,
            "best": None if self.best is None else self.best.to_dict(),
        }


def conditions(texts: Iterable[str]) -> str:
    """SQL of conditions such as ``groups>=8`` or ``largest<=3 and closed>=6``; empty where there are none.

    Raises
    ------
    ValueError
        Every one that is no condition.

    Examples
    --------
    >>> conditions(["groups>=8 and open=0"])
    'n_groups >= 8 AND (n_groups - closed) = 0'
    """
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


def searches(place: str | Path | None) -> list[KeptSearch]:
    """All searches of a store, in the order in which they were begun.

    Raises
    ------
    mbssa.store.StoreError
        The store cannot be used.
    """
    with decoding(place), reading(TABLES, place) as store:
        found = store.execute(
            "SELECT number, name, title, mechanism, question, way, block, about "
            "FROM transformation_searches_1 ORDER BY number"
        ).fetchall()
        structures = dict(
            store.execute(
                "SELECT search, count(DISTINCT structure) FROM transformation_rows_1 "
                "WHERE valid > 0 GROUP BY 1"
            )
        )
        listed = []
        for number, name, title, mechanism, question, way, block, text in found:
            if None in (name, title, mechanism, question) or way not in get_args(Way):
                raise ValueError(f"search {number} does not say what it is of")
            about = json.loads(text)
            search = Search(place, number, tuple(about["totals"]), about["n_inputs"], way, block)
            best = _rows(store, [number], [_VALID], _order(DEFAULT), 1)
            listed.append(
                KeptSearch(
                    search, name, title, mechanism, question, progress_in(store, search),
                    about["version"] == judging_version(), structures.get(number, 0),
                    best[0] if best else None,
                )
            )  # fmt: skip
    return listed


def rows(
    place: str | Path | None,
    numbers: Sequence[int],
    *,
    where: Iterable[str] = (),
    sort: str = DEFAULT,
    top: int | None = None,
    every: bool = False,
) -> list[KeptRow]:
    """Rows of searches, best first.

    Parameters
    ----------
    numbers : of the searches
    where : conditions, as :func:`conditions` reads them
    sort : a criterion, as for a search
    top : so many at most
    every : those without a valid set too

    Raises
    ------
    ValueError
        A condition or a criterion that is none.
    mbssa.store.StoreError
        The store cannot be used.
    """
    text, order = conditions(where), _order(sort)
    asked = ["n_groups > 0" if every else _VALID, *([text] if text else [])]
    with decoding(place), reading(TABLES, place) as store:
        return _rows(store, numbers, asked, order, top)


#: What rows must be to be listed by default.
_VALID = "valid > 0"


def _rows(
    store: sqlite3.Connection, numbers: Sequence[int], asked: Sequence[str], order: str, top: int | None
) -> list[KeptRow]:
    """Rows of searches for which some SQL holds, in an order in SQL."""
    held = " AND ".join([f"search IN ({', '.join(map(str, numbers))})", *asked])
    found = store.execute(
        "SELECT search, variant, places, bits, n_groups, largest, levels, width, closed, cost, sets, valid, "
        f"margin FROM transformation_rows_1 WHERE {held} ORDER BY {order} LIMIT ?",
        (-1 if top is None else top,),
    ).fetchall()
    variants = _variants(store, numbers)
    return [_row(variants, row) for row in found]


def mechanism_of(place: str | Path | None, row: KeptRow) -> Mechanism:
    """The mechanism of a row with its inputs, from the store alone.

    Raises
    ------
    mbssa.store.StoreError
        The store cannot be used.
    """
    with decoding(place):
        with reading(TABLES, place) as store:
            model, text = store.execute(
                "SELECT model, about FROM transformation_searches_1 WHERE number = ?", (row.search,)
            ).fetchone()
        return _with_inputs_of(row, from_text(model), json.loads(text)["terminals"])


def _with_inputs_of(row: KeptRow, mechanism: Mechanism, terminals: Sequence[int]) -> Mechanism:
    if row.pairs != pairs_of(mechanism):
        still = replace(mechanism, driven=np.zeros_like(mechanism.driven))
        mechanism = next(other for other in spanning_choices(still) if pairs_of(other) == row.pairs)
    whole = with_terminals(mechanism, terminals)
    used = {name.rpartition(".")[0] for name in row.inputs}
    fictitious = range(mechanism.n_joints, whole.n_joints)
    driven = [whole.joint_bodies(joint)[1] + 1 for joint in fictitious if name_of(whole, joint) in used]
    return with_inputs(mechanism, row.inputs, driven)


def _order(sort: str) -> str:
    """SQL of an order, ties by the order of the joints."""
    wanted = criterion(sort)
    if wanted.lexicographic:
        terms = [f"{COLUMNS[name]} {'DESC' if DIRECTIONS[name] > 0 else 'ASC'}" for _, name in wanted.terms]
    else:
        terms = [" + ".join(f"({weight!r}) * {COLUMNS[name]}" for weight, name in wanted.terms) + " DESC"]
    return ", ".join([*terms, "valid = 0", "search", "variant", "places"])


def _variants(store: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    """What each search needs to name its inputs."""
    return {
        number: json.loads(text)["variants"]
        for number, text in store.execute("SELECT number, about FROM transformation_searches_1")
        if number in numbers
    }


def _row(variants: dict[int, list[dict[str, Any]]], row: tuple[Any, ...]) -> KeptRow:
    search, variant, places, bits, groups, largest, levels, width, closed, cost, sets, valid, margin = row
    said = variants[search][variant]
    joints = np.frombuffer(places, dtype=">i2").tolist()
    if None in row[:-1] or variant < 0 or min(joints, default=0) < 0:  # the margin may have no value
        raise ValueError(f"a row of search {search} is incomplete")
    inputs = tuple(
        f"{said['coordinates'][joint][0]}.{said['coordinates'][joint][1 + bit]}"
        for joint, bit in zip(joints, bits, strict=True)
    )
    return KeptRow(
        search=search, inputs=inputs, n_groups=groups, largest=largest, levels=levels, width=width,
        closed_forms=closed, cost=cost, valid=valid > 0, sets=sets, valid_sets=valid, margin=margin,
        pairs=said["pairs"],
    )  # fmt: skip
