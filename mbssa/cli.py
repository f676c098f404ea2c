"""The command ``mbssa``: gathers the commands of every package and turns errors into sentences."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points, version
from typing import Annotated, NoReturn

import typer

from mbssa import ranks
from mbssa.gathering.faults import ModelError

#: Exit codes: determined, not determined, bad input, ended by Ctrl-C.
OK, NOT_DETERMINED, BAD_INPUT, STOPPED = 0, 1, 2, 130

#: Between two faults of one message.
BETWEEN = "\n  "


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"mbssa {version('mbssa')}")
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


def main() -> None:
    """Entry point of the command; exit 0 determined, 1 not determined, 2 bad input."""
    _prepare_output()
    try:
        application(next((word for word in sys.argv[1:] if not word.startswith("-")), None))()
    except ModelError as error:
        fail(str(error))
    except BrokenPipeError:
        # The reader of a pipe has seen enough; closing stdout again must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(OK) from None
    except OSError as error:
        fail(f"{error.filename or 'output'}: {error.strerror or error}")
    except MemoryError as error:
        fail(
            f"out of memory{f' ({error})' if str(error) else ''}; ask for fewer steps, cases, bodies or rows"
        )
    except RecursionError:
        fail("nested too deeply; write flatter tables or shorter formulas")


def _prepare_output() -> None:
    """A terminal that knows no dash gets a question mark; a closed one, and all ranks but one, nothing."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None or ranks.rank() > 0:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - open as long as the process
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def fail(message: str, code: int = BAD_INPUT) -> NoReturn:
    """One message on standard error, and the end."""
    print(f"error: {message}", file=sys.stderr)
    raise SystemExit(code)


def fail_all(faults: Sequence[str]) -> NoReturn:
    """Say all faults at once, and exit 2."""
    fail(faults[0] if len(faults) == 1 else BETWEEN.join([f"{len(faults)} faults", *faults]))


if __name__ == "__main__":
    main()
