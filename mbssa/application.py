"""The command line with the commands of every package that is installed."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points, version
from typing import Annotated

import typer


def _print_version(wanted: bool) -> None:
    if wanted:
        from mbssa.compiled import kernels_kept

        print(f"mbssa {version('mbssa')}\n{kernels_kept()}")
        raise typer.Exit


def application(asked: str | None = None) -> typer.Typer:
    """The command line with the commands that installed packages bring (``mbssa.commands``).

    Parameters
    ----------
    asked : the command that is wanted; no package is loaded after the one that has it. None loads all.
    """
    app = typer.Typer(
        name="mbssa",
        help="Take a mechanism apart into structural groups, find what is wrong with it, and move it.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for entry in sorted(entry_points(group="mbssa.commands"), key=_lowest_first):
        if asked not in [command.name for command in app.registered_commands]:
            entry.load()(app)
    return app


def _lowest_first(entry: EntryPoint) -> tuple[bool, str]:
    """This package's own commands come first: most of the others' packages take longer to load."""
    return entry.name != "mbssa", entry.name


def _options(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass
