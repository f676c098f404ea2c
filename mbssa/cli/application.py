"""The command line; each command is imported at its first use."""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import typer
import typer.core
import typer.main

from mbssa.cli import COMMANDS
from mbssa.cli.console import say, stopping
from mbssa.faults import ModelError

#: Seconds between two checks of a file that is watched.
_PAUSE = 0.2


def application() -> Any:
    """Command line with all commands of :data:`mbssa.cli.COMMANDS`."""
    app = _typer(completion=True)
    app.callback(invoke_without_command=True)(_options)
    group: Any = typer.main.get_command(app)
    group.commands = _Commands()
    return group


#: Beginnings of the parser's messages about a wrong value, and their replacements.
_REMEDIES = {
    "Input should be a valid integer": "write a whole number",
    "Input should be a valid number": "write a number",
    "Value error, ": "",
}


class _Command(typer.core.TyperCommand):
    """A command whose help fits 80 columns, whose errors say what to write, and that ``--watch`` repeats."""

    def get_help(self, context: Any) -> str:
        """Help with arguments by their names alone: ``MODEL``, not ``{MODEL}`` and ``MODEL <str>``."""
        arguments: Any = (each for each in self.params if isinstance(each, typer.core.TyperArgument))
        for argument in arguments:
            argument.display_type_rich = _nothing
        return re.sub(r"\{([A-Z]+)\}", r"\1", super().get_help(context))

    def get_short_help_str(self, limit: int = 45) -> str:
        """The first sentence, which the list of commands wraps."""
        return super().get_short_help_str(limit=1_000)

    def parse_args(self, context: Any, arguments: list[str]) -> list[str]:
        try:
            return super().parse_args(context, arguments)
        except typer.BadParameter as error:
            for begins, remedy in _REMEDIES.items():
                if error.message.startswith(begins):
                    error.message = remedy or error.message.removeprefix(begins)
            raise

    @stopping()  # Typer makes an exit without a word of Ctrl-C
    def invoke(self, context: Any) -> Any:
        if not context.params.get("watch"):
            return super().invoke(context)
        invoke, path, seen = super().invoke, Path(context.params["model"]), None
        if not path.is_file():
            raise typer.BadParameter(f"{path} is no file; name a model file", param_hint="--watch")
        while True:
            stamp = _stamp(path)
            if stamp is None or stamp == seen:  # an editor may be just replacing it
                time.sleep(_PAUSE)
                continue
            if seen is not None:
                print(f"\n{path} was saved at {time.strftime('%H:%M:%S')}", flush=True)
            seen = stamp
            try:
                invoke(context)
            except (typer.Exit, SystemExit):
                pass  # its code is that of one round
            except (ModelError, OSError) as error:
                say("error", str(error))
            context.params["force"] = True  # what it wrote itself


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _nothing(ctx: Any) -> None:
    """Leave out the type of an argument in the help."""


class _Commands(Mapping[str, Any]):
    """Commands by name."""

    def __getitem__(self, name: str) -> Any:
        app = _typer()
        function = resolve_name(COMMANDS[name])
        # Paragraphs are broken where the terminal ends, not where the docstring does.
        help = re.sub(r"(?<=\S)\n(?=\S)", " ", inspect.getdoc(function) or "")
        app.command(name, cls=_Command, help=help)(function)
        return typer.main.get_command(app)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


def _typer(completion: bool = False) -> typer.Typer:
    return typer.Typer(
        name="mbssa",
        help="Take a mechanism apart into structural groups, find what is wrong with it, and move it.",
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        add_completion=completion,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"mbssa {version('mbssa')}")
        raise typer.Exit


def _options(
    context: typer.Context,
    _version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())
