"""Options that several commands have."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from mbssa import allowed, trust
from mbssa.cli import completion
from mbssa.units import ANGLES, LENGTHS, SI, UnitError, chosen_units, given_in, numbers_in_si


def _trust(context: typer.Context, wanted: bool) -> bool:
    """Let the run, and the processes that it starts, trust what files name."""
    if wanted:
        _set(context, trust.VARIABLE, "1")
    return wanted


def _allow(context: typer.Context, folders: list[Path] | None) -> list[Path] | None:
    """Let the run, and the processes that it starts, read files in these folders."""
    for folder in folders or ():
        if not folder.is_dir():
            raise typer.BadParameter(f"{folder} is no folder")
    if folders:
        _set(context, allowed.VARIABLE, os.pathsep.join(map(str, folders)))
    return folders


def _set(context: typer.Context, variable: str, value: str) -> None:
    """Set a variable of the environment until the command ends."""
    before = os.environ.get(variable)
    os.environ[variable] = value

    def restore() -> None:
        os.environ.pop(variable)
        if before is not None:
            os.environ[variable] = before

    context.call_on_close(restore)


def _one_of(known: str) -> Callable[[str], str]:
    names = known.replace(",", "").replace("or ", "").split()

    def check(form: str) -> str:
        if form not in names:
            raise typer.BadParameter(f"{form!r}; write {known}", param_hint="--format")
        return form

    return check


def _units(text: str) -> str:
    try:
        chosen_units(text, SI)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--units") from None
    return text


def option(
    metavar: str, text: str, complete: Callable[..., Any] | None = None, *names: str, **more: Any
) -> Any:
    """An option of a command that takes a value, with the completion of its values in a shell."""
    return typer.Option(*names, metavar=metavar, help=text, autocompletion=complete, **more)


def number_of(option: str, text: str, si: str, units: tuple[str, str], faults: list[str]) -> float:
    """A number in SI of a quantity in the unit ``si``; bare it is in ``units``. NaN after a fault."""
    try:
        return numbers_in_si([text], si, units)[0]
    except UnitError as error:
        faults.append(f"{option}: {error}")
    except ValueError as error:
        faults.append(f"{option}: {error}; write it in {given_in(si, units)[0] or 'no unit'}")
    return math.nan


def precision_in_si(text: str | None, units: tuple[str, str], faults: list[str]) -> float | None:
    """Length of ``--precision`` in m, from 0 to 1; None if it is not given, or after a fault."""
    if text is None:
        return None
    found = number_of(f"--precision {text}", text, "m", units, faults)
    if 0.0 <= found <= 1.0:
        return found
    if not math.isnan(found):
        faults.append(f"--precision {text}: write a length from 0 to 1 m")
    return None


ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", autocompletion=completion.models, help="A built-in model or a file.")
]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to FILE instead of the terminal.")
]
#: Takes effect by its callback: a command only declares it.
TrustOption = Annotated[
    bool, typer.Option("--trust", callback=_trust, help="Run the Python functions that MODEL names.")
]
#: Takes effect by its callback.
AllowOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--allow",
        metavar="FOLDER",
        callback=_allow,
        help="Read files that MODEL names from this folder too (meshes, package://); may be repeated.",
    ),
]
#: Carried out by ``mbssa.cli.application``; a command only declares it.
WatchOption = Annotated[bool, typer.Option("--watch", help="Repeat at each save of MODEL, until Ctrl-C.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]


def units_option(words: str) -> Any:
    """Option ``--units``, whose text is for ``mbssa.units.chosen_units``."""
    return typer.Option(
        "--units",
        metavar="UNITS",
        callback=_units,
        autocompletion=completion.words("file", "SI", *LENGTHS, *ANGLES),
        help=words,
    )


UnitsOption = Annotated[
    str, units_option("Units of printed and written numbers: file (MODEL's), SI, or such as mm,deg.")
]

#: Formats of a report: two, three, or all.
FormatOption = Annotated[
    str,
    typer.Option("--format", "-f", metavar="FORMAT", callback=_one_of("table or json"), help="table or json"),
]
SheetOption = Annotated[
    str,
    typer.Option(
        "--format", "-f", metavar="FORMAT", callback=_one_of("table, json or csv"), help="table, json or csv"
    ),
]
ReportOption = Annotated[
    Literal["table", "json", "csv", "markdown"],
    typer.Option("--format", "-f", metavar="FORMAT", help="table, json, csv or markdown"),
]

InputsOption = Annotated[
    str | None,
    option(
        "COORDINATE,...", "Drive these instead of what MODEL drives: 1-2.slide,13-15.", completion.coordinates
    ),
]
TerminalsOption = Annotated[
    list[str] | None,
    option(
        "BODY",
        "Give this body a fictitious F pair with the frame, for --inputs; may be repeated.",
        completion.bodies,
    ),
]
PairsOption = Annotated[
    str | None,
    option(
        "PAIR,...", "Pairs that stand for joints of several bodies, for --inputs: 3-4,4-5.", completion.joints
    ),
]

MotionOption = Annotated[
    Path | None,
    option(
        "FILE",
        "Laws (.toml) or columns (.csv) of the driven coordinates; the model's own if not given.",
        completion.motions,
    ),
]
StepsOption = Annotated[int | None, option("N", "Instants, both ends included.", min=1)]
DurationOption = Annotated[float | None, option("S", "Seconds, from the beginning.")]
