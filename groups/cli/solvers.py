"""The command ``mbssa solvers``."""

from __future__ import annotations

from pathlib import Path

import typer

from groups.cli.running import solvable_model
from groups.reports.about import library_report, solvers_report
from groups.solvers.library import table
from mbssa import load
from mbssa.cli import completion
from mbssa.cli.console import fail, present
from mbssa.cli.options import ALLOW, FORMAT, TRUST, flag


def solvers(
    model: str | None = typer.Argument(
        None,
        metavar="MODEL",
        autocompletion=completion.models,
        help="A built-in model or a file; without it, all group types.",
    ),
    every: bool = flag("--all", "Name the other solvers that each group can have, too."),
    trust: bool = TRUST,
    allow: list[Path] | None = ALLOW,
    form: str = FORMAT,
) -> None:
    """Say which solver each structural group of MODEL gets, and why.

    Without MODEL: which solver each type of group gets, and how many modes it can have.
    mbssa solve --solver takes another than the one that a group gets.

    Exit 0: every group has one; 1: the model cannot be solved as given; 2: bad input.

    Example: mbssa solvers rotor
    """
    if model is None:
        if every:
            fail("--all: is for the groups of a model; name one")
        present(library_report(table()), form)
        return
    present(solvers_report(solvable_model(load(model), model), every=every), form)
