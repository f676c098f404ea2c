"""Options that several commands have."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import Any

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


def _units(text: str) -> str:
    try:
        chosen_units(text, SI)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--units") from None
    return text


#: Completions of values by the metavars of their options, without what stands behind them.
_COMPLETIONS: dict[str, Any] = {
    "BODY": completion.bodies, "BODY.POINT": completion.points, "COORDINATE": completion.coordinates,
    "COORDINATE=": completion.coordinate_values, "GROUP=": completion.group_values,
    "JOINT": completion.joints, "PAIR": completion.joints,
}  # fmt: skip


def _listed(texts: list[str] | str | None) -> list[str] | str | None:
    """Names of several texts, each with commas between them; one text as it is."""
    if not isinstance(texts, list):
        return texts
    names = [name.strip() for text in texts for name in text.split(",") if name.strip()]
    if texts and not names:
        raise typer.BadParameter("names nothing; write names with commas between them, or leave it out")
    return names


def option(
    metavar: str, text: str, default: Any = None, *names: str, complete: Any = None, **more: Any
) -> Any:
    """Option of a command with a value; its metavar says what completes it, and whether it is a list."""
    if metavar.endswith(",..."):
        more.setdefault("callback", _listed)
    complete = complete or _COMPLETIONS.get(re.findall(r"[A-Z.]+=?", metavar)[0].rstrip("."))
    return typer.Option(default, *names, metavar=metavar, help=text, autocompletion=complete, **more)


def flag(name: str, text: str) -> Any:
    """Option of a command that is given or not."""
    return typer.Option(False, name, help=text)


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


MODEL: Any = typer.Argument(
    ..., metavar="MODEL", autocompletion=completion.models, help="A built-in model or a file."
)
OUTPUT: Any = option("FILE", "Write to FILE instead of the terminal.", None, "--output", "-o")
#: Takes effect by its callback: a command only declares it.
TRUST: Any = typer.Option(
    False, "--trust", callback=_trust, help="Run the Python functions that MODEL names."
)
#: Takes effect by its callback.
ALLOW: Any = option(
    "FOLDER", "Read files that MODEL names from this folder too (meshes, package://); may be repeated.",
    None, "--allow", callback=_allow,
)  # fmt: skip
#: Carried out by ``mbssa.cli.application``; a command only declares it.
WATCH: Any = flag("--watch", "Repeat at each save of MODEL, until Ctrl-C.")
FORCE: Any = flag("--force", "Replace files that exist.")


def _format(known: str) -> Any:
    """Option ``--format`` of a report that has these formats."""
    names = known.replace(",", "").replace("or ", "").split()

    def check(form: str) -> str:
        if form not in names:
            raise typer.BadParameter(f"{form!r}; write {known}", param_hint="--format")
        return form

    complete = completion.words(*names)
    return option("FORMAT", known, "table", "--format", "-f", complete=complete, callback=check)


def units_option(text: str) -> Any:
    """Option ``--units``, whose value is for ``mbssa.units.chosen_units``."""
    known = completion.words("file", "SI", *LENGTHS, *ANGLES)
    return option("UNITS", text, "file", "--units", complete=known, callback=_units)


UNITS: Any = units_option("Units of printed and written numbers: file (MODEL's), SI, or such as mm,deg.")

#: Formats of a report: two, three, or all.
FORMAT, SHEET, REPORT = map(_format, ("table or json", "table, json or csv", "table, json, csv or markdown"))

INPUTS: Any = option("COORDINATE,...", "Drive these instead of what MODEL drives: 1-2.slide,13-15.")
TERMINALS: Any = option(
    "BODY", "Give this body a fictitious F pair with the frame, for --inputs; may be repeated."
)
PAIRS: Any = option("PAIR,...", "Pairs that stand for joints of several bodies, for --inputs: 3-4,4-5.")

MOTION: Any = option(
    "FILE",
    "Laws (.toml) or columns (.csv) of the driven coordinates; the model's own if not given.",
    complete=completion.motions,
)
STEPS: Any = option("N", "Instants, both ends included.", min=1)
DURATION: Any = option("S", "Seconds, from the beginning.")
