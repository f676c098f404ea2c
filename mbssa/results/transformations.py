"""Results of input searches as a page, CSV, Markdown and JSON, and those of a database."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from mbssa.results.exports import csv_text, markdown_table
from mbssa.results.tables import counted, plain_table, plain_text

if TYPE_CHECKING:
    from rich.console import Console

    from mbssa.input_search.database import StoredRow, StoredSearch
    from mbssa.input_search.result import Transformation, Transformations
    from mbssa.mechanism import Mechanism

Format = Literal["table", "json", "csv", "markdown"]

COLUMNS = ("Row", "Inputs", "Groups", "Largest", "Levels", "Width", "Closed", "Cost, µs", "Sets", "Alike")

#: Columns of the searches of a database.
SEARCH_COLUMNS = ("Search", "Model", "Query", "Evaluated", "Valid sets", "Structures", "Best", "Inputs")


def headline(mechanism: Mechanism) -> str:
    """Name and title.

    >>> import mbssa
    >>> headline(mbssa.load("rotor"))
    'rotor: Helicopter rotor control, original inputs'
    """
    title = "".join(character for character in mechanism.title if character.isprintable())
    return f"{mechanism.name or 'mechanism'}: {title}" if title else mechanism.name or "mechanism"


def summary_lines(answer: Transformations) -> list[str]:
    """Query, numbers of schemes and of valid sets, present inputs and notes."""
    inputs = counted(answer.evaluated.n_inputs, "input")
    schemes = f"{counted(answer.n_sets, 'set')} in {counted(answer.n_distributions, 'actuation scheme')}"
    lines = [
        f"{inputs}: {schemes}; {_looked_at(answer)}",
        f"of these sets {answer.n_determined:,} are determined by the mobility count, {answer.n_valid:,} "
        f"valid ({_BASIS[answer.basis]}); {counted(answer.n_structures, 'kinematic structure')}",
    ]
    own = answer.own
    if own is not None:
        said = []
        if own.n_groups:
            groups = counted(own.n_groups, "group")
            said.append(
                f"{groups}, the largest of {counted(own.largest, 'body')}, {counted(own.levels, 'level')}"
            )
        said.append("valid" if own.valid else f"not valid: {own.verdict}")
        lines.append(f"its own inputs {', '.join(own.inputs)}: {'; '.join(said)}")
    return lines + [f"note: {note}" for note in answer.notes]


_BASIS = {
    "numeric": "full rank at the given geometry",
    "generic": "full rank at generic geometry",
}


def _looked_at(answer: Transformations) -> str:
    if answer.complete:
        return "all evaluated"
    left = answer.n_distributions - answer.looked_at
    return f"{answer.looked_at:,} evaluated, {left:,} not"


def cells(row: Transformation | StoredRow, number: int) -> tuple[str, ...]:
    """One row as texts, in the order of :data:`COLUMNS`."""
    return (
        str(number),
        ", ".join(row.inputs),
        *(str(value) for value in (row.n_groups, row.largest, row.levels, row.width, row.closed_forms)),
        f"{row.cost:.3g}",
        f"{row.valid_sets} of {row.sets}",
        f"{row.alike_valid} of {row.alike}",
    )


@dataclass(frozen=True, slots=True)
class Shown:
    """The rows that are printed, a sentence about them, and how many are not printed."""

    rows: Sequence[Transformation]
    heading: str
    left: int


def shown(answer: Transformations, top: int, pareto: tuple[str, str] | None = None) -> Shown:
    """The best rows, or the Pareto front of two criteria; not more than ``top``."""
    if pareto is None:
        heading, every = f"best by {answer.criterion.text}", answer.rows
    else:
        heading, every = f"Pareto front of {pareto[0]} and {pareto[1]}", answer.front(*pareto)
    return Shown(every[:top], heading, max(len(every) - top, 0))


def page(answer: Transformations, printed: Shown, console: Console) -> None:
    """Print the query, the numbers and the rows on a console."""
    console.print(headline(answer.mechanism), style="bold", markup=False)
    for line in summary_lines(answer):
        console.print(line, markup=False)
    if not printed.rows:
        console.print("no set of inputs is valid" if answer.complete else "no valid set of inputs was found")
        return
    console.print(f"{printed.heading}:", markup=False)
    print_rows(printed.rows, console)
    if printed.left:
        console.print(f"… and {printed.left:,} more rows; --top shows more")


def print_rows(rows: Sequence[Transformation | StoredRow], console: Console) -> None:
    """A table of rows; columns of pairs, searches and verdicts only where these differ."""
    header, body = table(rows)
    printed = plain_table(header, right=set(header) - {"Inputs", "Pairs", "Verdict"})
    for row in body:
        printed.add_row(*row)
    console.print(printed)


def table(
    rows: Sequence[Transformation | StoredRow],
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and rows as texts."""
    header: tuple[str, ...] = COLUMNS
    body = [cells(row, number) for number, row in enumerate(rows, 1)]
    for name, extra in (
        ("Search", [str(getattr(row, "search", "")) for row in rows]),
        ("Pairs", [row.pairs for row in rows]),
        ("Verdict", ["" if row.valid else str(getattr(row, "verdict", "not valid")) for row in rows]),
    ):
        if len(set(extra)) > 1 or (name != "Search" and any(extra)):
            header = (*header, name)
            body = [(*row, text) for row, text in zip(body, extra, strict=True)]
    return header, body


def to_dict(answer: Transformations, printed: Shown) -> dict[str, Any]:
    """The summary and the printed rows, ready for JSON."""
    rows = [row.to_dict() for row in printed.rows]
    return answer.to_dict(0) | {"order": printed.heading, "rows": rows}


def as_markdown(title: str, lines: Sequence[str], header: Sequence[str], body: Sequence[Any]) -> str:
    """A title, sentences and a table."""
    text = [f"# {title}", "", *(f"- {line}" for line in lines), *([""] if lines else [])]
    return "\n".join([*text, *markdown_table(tuple(header), body)]) + "\n"


def export(answer: Transformations, form: Format, printed: Shown) -> str:
    """The answer as text of one format."""
    if form == "json":
        return json.dumps(to_dict(answer, printed), ensure_ascii=False, indent=2) + "\n"
    if form == "csv":
        return csv_text(*table(printed.rows))
    if form == "markdown":
        lines = [*summary_lines(answer), printed.heading]
        return as_markdown(headline(answer.mechanism), lines, *table(printed.rows))
    return plain_text(lambda console: page(answer, printed, console)) + "\n"


# --- database      ----------------------------------------------------------------------------


def searches_table(searches: Sequence[StoredSearch]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and rows of the searches of a database, as texts."""
    body: list[tuple[str, ...]] = []
    for each in searches:
        best = each.best
        body.append(
            (
                str(each.number),
                each.name,
                each.query,
                f"{each.looked_at:,} of {each.n_distributions:,}"
                + ("" if each.way == "all" else ", best first"),
                f"{each.n_valid:,}",
                f"{each.n_structures:,}",
                "–" if best is None else f"{counted(best.n_groups, 'group')}, largest {best.largest}",
                "–" if best is None else ", ".join(best.inputs),
            )
        )
    return SEARCH_COLUMNS, body


def export_searches(searches: Sequence[StoredSearch], form: Format) -> str:
    """Searches of a database as text of one format."""
    if form == "json":
        return json.dumps([each.to_dict() for each in searches], ensure_ascii=False, indent=2) + "\n"
    if form == "csv":
        return csv_text(*searches_table(searches))
    if form == "markdown":
        return as_markdown("Searches over inputs", (), *searches_table(searches))
    return plain_text(lambda console: searches_page(searches, console)) + "\n"


def export_rows(rows: Sequence[StoredRow], form: Format) -> str:
    """Rows of a database as text of one format."""
    if form == "json":
        return json.dumps([row.to_dict() for row in rows], ensure_ascii=False, indent=2) + "\n"
    if form == "csv":
        return csv_text(*table(rows))
    if form == "markdown":
        return as_markdown("Inputs", (), *table(rows))
    return plain_text(lambda console: print_rows(rows, console)) + "\n"


def searches_page(searches: Sequence[StoredSearch], console: Console) -> None:
    """Print the searches of a database."""
    header, body = searches_table(searches)
    printed = plain_table(header, right=("Search", "Evaluated", "Valid sets", "Structures"))
    for row in body:
        printed.add_row(*row)
    console.print(printed)
