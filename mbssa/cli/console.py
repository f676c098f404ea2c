"""Printing for all commands: errors, warnings, texts and reports."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from typing import TYPE_CHECKING, Literal, NoReturn

from mbssa.faults import BETWEEN as BETWEEN
from mbssa.faults import ModelError
from mbssa.texts import folded, printable, shortened

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure
    from rich.console import Console

    from mbssa.mechanism import Mechanism
    from mbssa.reports.table import Report
    from mbssa.structure import Structure

#: Exit codes: determined, not determined, bad input, ended by Ctrl-C.
OK, NOT_DETERMINED, BAD_INPUT, STOPPED = 0, 1, 2, 130

#: Bodies up to which a decomposition is followed by ranks: half a second's work.
_WARNED = 2_000


def fail(message: str, code: int = BAD_INPUT) -> NoReturn:
    """One message on standard error, and the end."""
    say("error", message)
    raise SystemExit(code)


@contextmanager
def stopping(saved: str = "") -> Iterator[None]:
    """End the command after Ctrl-C with a sentence on saved results; a decorator or a context."""
    try:
        yield
    except KeyboardInterrupt:
        print(f"stopped by Ctrl-C{saved and '; '}{saved}", file=sys.stderr)
        raise SystemExit(STOPPED) from None


@contextmanager
def failing(place: str = "", code: int = BAD_INPUT) -> Iterator[None]:
    """End the command with a fault of its input, or a missing package, behind the name of a place."""
    try:
        yield
    except ModelError:
        raise  # names its place itself
    except (ValueError, ModuleNotFoundError) as error:
        fail_all([f"{place}{fault}" for fault in str(error).split(BETWEEN)], code)


def warn(message: str) -> None:
    """One warning on standard error."""
    say("warning", message)


def say(kind: Literal["error", "warning"], message: str) -> None:
    """A text on standard error, its kind in colour on a terminal unless ``NO_COLOR`` is set."""
    text = shortened(printable(f"{kind}: {message}"))
    if not sys.stderr.isatty():
        print(text if (width := _columns()) is None else folded(text, width), file=sys.stderr)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    line = Text(folded(text, console.width))
    line.stylize("bold red" if kind == "error" else "yellow", 0, len(kind) + 1)
    console.print(line, soft_wrap=True)


def fail_all(faults: Sequence[str], code: int = BAD_INPUT) -> NoReturn:
    """Say all faults at once, and the end."""
    fail(faults[0] if len(faults) == 1 else BETWEEN.join([f"{len(faults)} faults", *faults]), code)


def refuse(faults: Sequence[str]) -> None:
    """Say all faults at once, and exit 2; go on where there are none."""
    if faults:
        fail_all(faults)


def present(
    report: Report, form: str = "table", output: Path | None = None, beside: Sequence[Path] = ()
) -> None:
    """Print a report, or write it to a file, in one of its formats."""
    # Where one of the files ``beside`` it is standard output, the report is on standard error.
    with redirect_stdout(sys.stderr) if any(str(path) == "-" for path in beside) else nullcontext():
        if form == "table" and output is None:
            show(report.print_on)
        else:
            deliver(report.export(form), output)


def show(print_on: Callable[[Console], None]) -> None:
    """Print with colours on a terminal, as wide as it is; else plain text, as wide as ``COLUMNS`` says."""
    if sys.stdout.isatty():
        from rich.console import Console

        print_on(Console(highlight=False))
        return
    from mbssa.reports.table import WIDE, plain_text

    deliver(plain_text(print_on, _columns() or WIDE) + "\n", None)


def _columns() -> int | None:
    """Width that ``COLUMNS`` says, at least 20; None if it says none, or 0 as some terminals do."""
    columns = os.environ.get("COLUMNS", "").lstrip("0")
    return max(int(columns), 20) if columns.isdecimal() and len(columns) < 6 else None


def deliver(text: str, output: Path | None) -> None:
    """Print a text, or write it to a file that is either whole or not there."""
    if output is None or str(output) == "-":
        sys.stdout.write(printable(text))
        sys.stdout.flush()
        return
    from mbssa.files import write_whole

    write_whole(output, text.encode())


def draw(*pictures: tuple[Path | None, Callable[[], Figure]]) -> None:
    """Write the pictures that have a path, all drawn before the first is written; a fault is exit 2."""
    from mbssa.pictures import save

    with failing():
        for path, figure in [(path, make()) for path, make in pictures if path is not None]:
            save(figure, path)


def warn_of_ranks(structure: Structure, model: str) -> None:
    """Warn of rank-deficient groups, where ranks are cheap, a line each; and of code not run."""
    say_untrusted(structure.mechanism)
    if structure.mechanism.n_bodies > _WARNED:
        return
    from mbssa.analysis.check import rank_warnings

    warnings = rank_warnings(structure)
    for text in warnings:
        warn(text)
    if warnings:
        warn(f"see mbssa check {model}")


def say_untrusted(mechanism: Mechanism) -> None:
    """Warn of joints that count by their equations, since the code that they name is not trusted."""
    if mechanism.untrusted:
        from mbssa.analysis.check import untrusted_text

        warn(untrusted_text(mechanism))
