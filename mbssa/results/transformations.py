"""The answer of a search over inputs as a page, CSV, Markdown and JSON; and what a store has of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from mbssa.reports.table import csv_text, markdown_table, plain_table, plain_text
from mbssa.reports.wording import counted

if TYPE_CHECKING:
    from rich.console import Console

    from mbssa.mechanism import Mechanism
    from mbssa.transformations.querying import KeptRow, KeptSearch
    from mbssa.transformations.result import Transformation, Transformations

Format = Literal["table", "json", "csv", "markdown"]

COLUMNS = ("Row", "Inputs", "Groups", "Largest", "Levels", "Width", "Closed", "Cost, µs", "Sets", "Alike")

#: Columns of the searches of a store.
SEARCH_COLUMNS = ("Search", "Model", "Question", "Looked at", "Valid sets", "Structures", "Best", "Inputs")


def headline(mechanism: Mechanism) -> str:
    """Name and title.

    >>> import mbssa
    >>> headline(mbssa.load("rotor"))
    'rotor: Helicopter rotor control, original inputs'
    """
    title = "".join(character for character in mechanism.title if character.isprintable())
    return f"{mechanism.name or 'mechanism'}: {title}" if title else mechanism.name or "mechanism"


def summary_lines(answer: Transformations) -> list[str]:
    """What was asked, what was looked at, and what became of it."""
    inputs = counted(answer.judged.n_inputs, "input")
    rooms = f"{counted(answer.n_sets, 'set')} in {counted(answer.n_distributions, 'distribution')}"
    lines = [
        f"{inputs}: {rooms} over the joints; {_looked_at(answer)}",
        f"of these sets {answer.n_determined:,} are determined by the count, {answer.n_valid:,} valid "
        f"({_BASIS[answer.basis]}); {counted(answer.n_structures, 'kinematic structure')}",
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
    "generic": "full rank for almost every geometry: the model has none that decides",
}


def _looked_at(answer: Transformations) -> str:
    if answer.complete:
        return "all were looked at"
    left = answer.n_distributions - answer.looked_at
    return f"{answer.looked_at:,} were looked at, {left:,} not"


def cells(row: Transformation | KeptRow, number: int) -> tuple[str, ...]:
    """One row as texts, in the order of :data:`COLUMNS`; a row of a store does not know what is alike."""
    numbers = [getattr(row, name, None) for name in ("alike_valid", "alike")]
    alike = [] if None in numbers else [f"{numbers[0]} of {numbers[1]}"]
    return (
        str(number),
        ", ".join(row.inputs),
        *(str(value) for value in (row.n_groups, row.largest, row.levels, row.width, row.closed_forms)),
        f"{row.cost:.3g}",
        f"{row.valid_sets} of {row.sets}",
        *alike,
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
    """Print the whole answer on a console: what was asked and looked at, and rows."""
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


def print_rows(rows: Sequence[Transformation | KeptRow], console: Console) -> None:
    """A table of rows; pairs of multiple joints, searches and verdicts where they say something."""
    header, body = table(rows)
    printed = plain_table(header, right=set(header) - {"Inputs", "Pairs", "Verdict"})
    for row in body:
        printed.add_row(*row)
    console.print(printed)


def table(
    rows: Sequence[Transformation | KeptRow],
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and rows as texts."""
    header = COLUMNS if all(hasattr(row, "alike") for row in rows) else COLUMNS[:-1]
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


# --- what a store holds ----------------------------------------------------------------------------


def searches_table(searches: Sequence[KeptSearch]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and rows of the searches of a store, as texts."""
    body: list[tuple[str, ...]] = []
    for kept in searches:
        best, progress = kept.best, kept.progress
        body.append(
            (
                str(kept.search.number),
                kept.name,
                kept.question,
                f"{progress.looked_at:,} of {progress.n_distributions:,}"
                + ("" if kept.search.way == "all" else ", best first")
                + ("" if kept.current else ", by another version"),
                f"{progress.n_valid:,}",
                f"{kept.n_structures:,}",
                "–" if best is None else f"{counted(best.n_groups, 'group')}, largest {best.largest}",
                "–" if best is None else ", ".join(best.inputs),
            )
        )
    return SEARCH_COLUMNS, body


def export_searches(searches: Sequence[KeptSearch], form: Format) -> str:
    """What a store holds as text of one format."""
    if form == "json":
        return json.dumps([kept.to_dict() for kept in searches], ensure_ascii=False, indent=2) + "\n"
    if form == "csv":
        return csv_text(*searches_table(searches))
    if form == "markdown":
        return as_markdown("Searches over inputs", (), *searches_table(searches))
    return plain_text(lambda console: searches_page(searches, console)) + "\n"


def export_rows(rows: Sequence[KeptRow], form: Format) -> str:
    """Rows of a store as text of one format."""
    if form == "json":
        return json.dumps([row.to_dict() for row in rows], ensure_ascii=False, indent=2) + "\n"
    if form == "csv":
        return csv_text(*table(rows))
    if form == "markdown":
        return as_markdown("Inputs", (), *table(rows))
    return plain_text(lambda console: print_rows(rows, console)) + "\n"


def searches_page(searches: Sequence[KeptSearch], console: Console) -> None:
    """Print what a store holds."""
    header, body = searches_table(searches)
    printed = plain_table(header, right=("Search", "Looked at", "Valid sets", "Structures"))
    for row in body:
        printed.add_row(*row)
    console.print(printed)
