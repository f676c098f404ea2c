"""Options that several commands have."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from mbssa.trust import VARIABLE


def _trust(context: typer.Context, wanted: bool) -> bool:
    """Let the run, and the processes that it starts, trust what files name."""
    if wanted:
        before = os.environ.get(VARIABLE)
        os.environ[VARIABLE] = "1"

        def restore() -> None:
            os.environ.pop(VARIABLE)
            if before is not None:
                os.environ[VARIABLE] = before

        context.call_on_close(restore)
    return wanted


ModelArgument = Annotated[str, typer.Argument(metavar="MODEL", help="A built-in model or a file.")]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write to FILE instead of the terminal."),
]
#: Acts as it is read: a command has it among its parameters, and need not look at it.
TrustOption = Annotated[
    bool,
    typer.Option("--trust", callback=_trust, help="Run the Python functions that MODEL names."),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
