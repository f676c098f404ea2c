"""The command ``mbssa joints``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mbssa.cli import fail, fail_all
from mbssa.joints.catalogue import Space
from mbssa.options import ForceOption, OutputOption
from mbssa.targets import target_faults, targets_of

if TYPE_CHECKING:
    from rich.console import Console

Form = Literal["table", "json", "csv", "markdown"]


def register(app: typer.Typer) -> None:
    """Add this folder's command to the command line."""
    app.command("joints")(joints)


def joints(
    code: Annotated[
        str | None, typer.Argument(metavar="TYPE", help="All of one type: its fields, signs, an example.")
    ] = None,
    space: Annotated[Space | None, typer.Option(help="Types of this space alone.")] = None,
    form: Annotated[Form, typer.Option("--format", "-f", help="What to print.")] = "table",
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """List the joint types: equations, what can be driven, geometry, solver, built-in models.

    Exit 0: listed; 2: no such type.

    Example: mbssa joints U
    """
    from mbssa.commands import deliver, show
    from mbssa.results import coverage
    from mbssa.results.tables import plain_text

    if faults := target_faults(targets_of(("--output", output, ())), [], force):
        fail_all(faults)
    try:
        kinds = None if code is None else coverage.rows_of(code, space)
    except KeyError as error:
        fail(str(error.args[0]))
    rows = coverage.coverage(space) if kinds is None else [coverage.coverage_of(kind) for kind in kinds]
    if form != "table":
        written = {"json": coverage.as_json, "csv": coverage.as_csv, "markdown": coverage.as_markdown}
        deliver(written[form](rows), output)
        return

    def page(screen: Console) -> None:
        if kinds is None:
            coverage.print_table(rows, screen)
        for number, row in enumerate(rows if kinds is not None else ()):
            if number:
                screen.print()
            coverage.print_page(row, screen)

    if output is None:
        show(page)
    else:
        deliver(plain_text(page) + "\n", output)
