"""The command ``mbssa``: gathers the commands of every package and turns errors into sentences."""

from __future__ import annotations

import os
import sys
from importlib.metadata import entry_points, version
from typing import Annotated

import typer

from mbssa.gathering.faults import ModelError

#: Exit codes: determined, not determined, bad input.
OK, NOT_DETERMINED, BAD_INPUT = 0, 1, 2


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"mbssa {version('mbssa')}")
        raise typer.Exit


def application() -> typer.Typer:
    """The command line with the commands that installed packages bring (``mbssa.commands``)."""
    app = typer.Typer(
        name="mbssa",
        help="Take a mechanism apart: structural groups, their order, and what is wrong with it.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for entry in sorted(entry_points(group="mbssa.commands"), key=lambda entry: entry.name):
        entry.load()(app)
    return app


def _options(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Entry point of the command; exit 0 determined, 1 not determined, 2 bad input."""
    _prepare_output()
    try:
        application()()
    except ModelError as error:
        fail(str(error))
    except BrokenPipeError:
        # The reader of a pipe has seen enough; closing stdout again must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(OK) from None
    except OSError as error:
        fail(f"{error.filename or 'output'}: {error.strerror or error}")


def _prepare_output() -> None:
    """A terminal that knows no dash gets a question mark; a closed one gets nothing."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - open as long as the process
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def fail(message: str) -> None:
    """One message on standard error, exit 2."""
    print(f"error: {message}", file=sys.stderr)
    raise SystemExit(BAD_INPUT)


if __name__ == "__main__":
    main()
