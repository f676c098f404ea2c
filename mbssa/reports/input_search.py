"""Reports of an input search, and of a database of input searches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mbssa.reports.table import Columns, Heading, Report, Table
from mbssa.reports.wording import headline
from mbssa.texts import counted

if TYPE_CHECKING:
    from mbssa.input_search.database import StoredRow, StoredSearch
    from mbssa.input_search.result import Transformation, Transformations

_FIGURES = {
    "Groups": "n_groups", "Largest": "largest", "Levels": "levels", "Widest": "width",
    "Closed": "closed_forms",
}  # fmt: skip


def summary_lines(answer: Transformations) -> list[str]:
    """Query, numbers of schemes and of valid sets, present inputs and notes."""
    left = answer.n_distributions - answer.n_evaluated
    lines = [
        f"{counted(answer.evaluated.places.shape[1], 'input')}: {counted(answer.n_sets, 'set')} in "
        f"{counted(answer.n_distributions, 'actuation scheme')}; "
        + ("all evaluated" if answer.complete else f"{answer.n_evaluated:,} evaluated, {left:,} not"),
        f"of these sets {answer.n_determined:,} are determined by the mobility count, {answer.n_valid:,} "
        f"valid (full rank at {'the given' if answer.basis == 'numeric' else 'generic'} geometry); "
        f"{counted(answer.n_structures, 'kinematic structure')}",
    ]
    own = answer.own
    if own is not None:
        groups, body = counted(own.n_groups, "group"), counted(own.largest, "body")
        facts = f"{groups}, the largest of {body}, {counted(own.levels, 'level')}; " if own.n_groups else ""
        verdict = "valid" if own.valid else f"not valid: {own.verdict}"
        lines.append(f"its own inputs {', '.join(own.inputs)}: {facts}{verdict}")
    return lines + [f"note: {note}" for note in answer.notes]


def search_report(answer: Transformations, top: int = 10, pareto: tuple[str, str] | None = None) -> Report:
    """Summary and best rows of a search, or the Pareto front of two criteria; at most ``top`` rows."""
    if pareto is None:
        order, rows = f"best by {answer.criterion.text}", answer.rows
    else:
        order, rows = f"Pareto front of {pareto[0]} and {pareto[1]}", answer.front(*pareto)
    printed = rows[:top]
    table = row_table(printed)
    parts: list[str | Table] = [Heading(headline(answer.mechanism)), *summary_lines(answer)]
    if printed:
        parts += [f"{order}:", table]
    else:
        parts.append("no set of inputs is valid" if answer.complete else "no valid set of inputs was found")
    if len(rows) > top:
        parts.append(f"… and {len(rows) - top:,} more rows; --top shows more")

    def record() -> dict[str, Any]:
        return answer.to_dict(0) | {"order": order, "rows": [row.to_dict() for row in printed]}

    return Report(parts, record, sheet=table)


def row_table(rows: Sequence[Transformation | StoredRow]) -> Table:
    """Rows; columns of pairs, searches and verdicts only where these differ."""
    columns = {
        "Row": [str(number) for number in range(1, len(rows) + 1)],
        "Inputs": [", ".join(row.inputs) for row in rows],
        **{title: [str(getattr(row, name)) for row in rows] for title, name in _FIGURES.items()},
        "Cost (µs)": [f"{row.cost:.3g}" for row in rows],
        "Valid sets": [f"{row.valid_sets} of {row.sets}" for row in rows],
        "Equivalent": [f"{row.alike_valid} of {row.alike}" for row in rows],
    }
    for title, cells in (
        ("Search", [str(getattr(row, "search", "")) for row in rows]),
        ("Pairs", [row.pairs for row in rows]),
        ("Verdict", ["" if row.valid else str(getattr(row, "verdict", "not valid")) for row in rows]),
    ):
        if len(set(cells)) > 1 or (title != "Search" and any(cells)):
            columns[title] = cells
    items = list(zip(*columns.values(), strict=True))
    return Table(tuple(columns), items, right=set(columns) - {"Inputs", "Pairs", "Verdict"})


def stored_rows_report(rows: Sequence[StoredRow]) -> Report:
    """Rows of a database."""
    table = row_table(rows)
    parts = (table,) if rows else ("no row meets the conditions",)
    return Report(parts, lambda: [row.to_dict() for row in rows], table, (Heading("Inputs"), *parts))


def searches_report(searches: Sequence[StoredSearch]) -> Report:
    """Searches of a database."""

    def evaluated(each: StoredSearch) -> str:
        order = "" if each.way == "all" else ", best first"
        return f"{each.looked_at:,} of {each.n_distributions:,}{order}"

    def best(each: StoredSearch) -> str | None:
        one = each.best
        return None if one is None else f"{counted(one.n_groups, 'group')}, largest {one.largest}"

    columns: Columns = {
        "Search": ("search", "d"), "Model": ("name", ""), "Query": ("question", ""),
        "Evaluated": (evaluated, ">"), "Valid sets": ("n_valid", ",d"), "Structures": ("n_structures", ",d"),
        "Best": (best, ""), "Inputs": (lambda each: each.best and each.best.inputs, ""),
    }  # fmt: skip
    table = Table.of(searches, columns)
    parts = (table,) if searches else ("no search is stored",)
    document = (Heading("Searches over inputs"), *parts)
    return Report(parts, lambda: [each.to_dict() for each in searches], table, document)
