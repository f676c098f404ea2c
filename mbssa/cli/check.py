"""The command ``mbssa check``."""

from __future__ import annotations

from pathlib import Path
from pkgutil import resolve_name

import typer

from mbssa.cli import SINGULAR_POSITIONS, options
from mbssa.cli.console import NOT_DETERMINED, OK, present, refuse, warn
from mbssa.cli.inputs import loaded, shown_in
from mbssa.cli.options import option, precision_in_si
from mbssa.cli.outputs import target_faults, targets_of


def check(
    model: str = options.MODEL,
    inputs: str | None = options.INPUTS,
    terminal: list[str] | None = options.TERMINALS,
    pairs: str | None = options.PAIRS,
    form: str = options.FORMAT,
    output: Path | None = options.OUTPUT,
    force: bool = options.FORCE,
    trust: bool = options.TRUST,
    allow: list[Path] | None = options.ALLOW,
    watch: bool = options.WATCH,
    precision: str | None = option(
        "LENGTH", "Precision of the geometry's numbers, such as 1e-6 m; found from their digits if not given."
    ),
    units: str = options.UNITS,
) -> None:
    """Find out whether MODEL can be solved as given, and if not, why and what would help.

    Count, generic rank (the joint types) and numeric rank (the geometry) are reported apart; redundant
    constraints, passive rotations, singular poses and dependent inputs are named; standard error warns of
    singular poses on the way of the model's motion.

    Exit 0: can be solved; 1: it cannot as given, or the file was not read to the end; 2: bad input.

    Example: mbssa check spatial_4r
    """
    from mbssa.analysis.check import check as examined
    from mbssa.reports.check import check_report

    faults = target_faults(targets_of(("--output", output, ())), [model], force)
    mechanism = loaded(model, inputs, terminal, pairs)
    length = precision_in_si(precision, mechanism.units, faults)
    refuse(faults)
    result = examined(shown_in(mechanism, units), length)
    present(check_report(result), form, output)
    if result.solvable and result.structure.mechanism.has_geometry:
        for one in resolve_name(SINGULAR_POSITIONS)(result.structure.mechanism):
            warn(one)
    raise typer.Exit(OK if result.solvable else NOT_DETERMINED)
