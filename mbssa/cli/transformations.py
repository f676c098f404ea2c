"""The command ``mbssa transformations``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mbssa.cli.console import NOT_DETERMINED, OK, fail, fail_all, present
from mbssa.cli.options import ForceOption, OutputOption, ReportOption, option
from mbssa.cli.transform import (
    EveryOption,
    RowOption,
    SaveOption,
    TopOption,
    criterion_faults,
    named_store,
    save_mechanism,
    search_target_faults,
)

if TYPE_CHECKING:
    from mbssa.input_search.database import StoredSearch


def transformations(
    store: Annotated[
        Path, typer.Argument(metavar="FILE", help="A database written by mbssa transform --store.")
    ],
    model: Annotated[str | None, option("NAME", "Rows of the searches of this model.")] = None,
    search: Annotated[int | None, option("N", "Rows of this search.", min=1)] = None,
    where: Annotated[
        list[str] | None, option("CONDITION", "groups>=8, largest<=3 and open=0; may be repeated.")
    ] = None,
    sort: Annotated[str | None, option("CRITERION", "As for mbssa transform.")] = None,
    top: TopOption = 10,
    every: EveryOption = False,
    form: ReportOption = "table",
    output: OutputOption = None,
    row: RowOption = None,
    save_to: SaveOption = None,
    force: ForceOption = False,
) -> None:
    """List the searches of a database, or with --model or --search their rows.

    The database filters and sorts the rows; nothing is evaluated again. Without
    --model and --search, conditions and criteria are for the rows of all searches.

    Exit 0: rows were found; 1: none; 2: bad input.

    Example: mbssa transformations searches.sqlite

    Example: mbssa transformations searches.sqlite --model rotor --where "groups>=8" --sort largest,cost
    """
    from mbssa.input_search.criteria import DEFAULT
    from mbssa.input_search.database import conditions, mechanism_of, rows, searches
    from mbssa.reports.input_search import searches_report, stored_rows_report
    from mbssa.store import StoreError

    faults = [] if store.is_file() else [f"{store}: there is no such file; mbssa transform --store writes it"]
    faults += criterion_faults(sort or DEFAULT, None, "--sort")
    faults += search_target_faults(output, save_to, row, None, [store], force)
    try:
        conditions(where or [])
    except ValueError as error:
        faults += str(error).split("\n  ")
    if faults:
        fail_all(faults)
    try:
        listed = searches(store)
        if model is None and search is None and not where and sort is None and row is None:
            present(searches_report(listed), form, output)
            raise typer.Exit(OK if listed else NOT_DETERMINED)
        chosen = _chosen(store, listed, model, search)
        found = rows(
            store, chosen, where=where or [], sort=sort or DEFAULT, top=max(top, row or 0), every=every
        )
        present(stored_rows_report(found[:top]), form, output)
        if row is not None and save_to is not None:
            if row > len(found):
                fail(f"--row {row}: there are {len(found)} rows")
            save_mechanism(mechanism_of(store, found[row - 1]), save_to)
    except StoreError as error:
        fail(named_store(error))
    raise typer.Exit(OK if found else NOT_DETERMINED)


def _chosen(store: Path, listed: list[StoredSearch], model: str | None, search: int | None) -> list[int]:
    """Numbers of the searches of a model, or of one search."""
    numbers = [each.number for each in listed if model in (None, each.name) and search in (None, each.number)]
    if not numbers:
        there = ", ".join(f"{each.number} ({each.name})" for each in listed) or "none"
        fail(f"{store}: no such search; the searches are {there}")
    return numbers
