"""The command ``mbssa decompose``."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import typer

from mbssa.analysis.decompose import Method
from mbssa.analysis.decompose import decompose as structure_of
from mbssa.cli.console import NOT_DETERMINED, OK, deliver, draw, present, refuse, warn_of_ranks
from mbssa.cli.inputs import loaded
from mbssa.cli.options import ALLOW, FORCE, INPUTS, MODEL, OUTPUT, PAIRS, TERMINALS, TRUST, WATCH, option
from mbssa.cli.outputs import STILL, target_faults, targets_of
from mbssa.reports.structure import Format, export, structure_report, summary_lines


def decompose(
    model: str = MODEL,
    method: Method = typer.Option("matching", help="matching is fast; exhaustive is the paper's own search."),
    inputs: str | None = INPUTS,
    terminal: list[str] | None = TERMINALS,
    pairs: str | None = PAIRS,
    form: Format = typer.Option("table", "--format", "-f", help="What to print."),
    output: Path | None = OUTPUT,
    time_limit: float | None = option("SECONDS", "Stop the exhaustive search after this time.", min=0.0),
    picture: Path | None = option("FILE", "Draw the structural graph to FILE: .svg, .png or .pdf."),
    diagram: Path | None = option("FILE", "Draw the structural diagram to FILE: .svg, .png or .pdf."),
    force: bool = FORCE,
    trust: bool = TRUST,
    allow: list[Path] | None = ALLOW,
    watch: bool = WATCH,
) -> None:
    """Find the structural groups of MODEL, in the order in which they can be solved.

    Exit 0: determined; 1: not determined (the answer is printed all the same); 2: bad input.

    Example: mbssa decompose rotor
    """
    targets = targets_of(
        ("--output", output, ()), ("--picture", picture, STILL), ("--diagram", diagram, STILL)
    )
    refuse(target_faults(targets, [model], force))
    structure = structure_of(loaded(model, inputs, terminal, pairs), method, time_limit)
    if picture or diagram:
        from mbssa.pictures import structural_diagram, structural_graph

        draw((picture, lambda: structural_graph(structure)), (diagram, lambda: structural_diagram(structure)))
    if form == "table" and output is None:
        present(structure_report(structure))
    else:
        deliver(export(structure, form), output)
        if not structure.determined:
            print("\n".join(summary_lines(structure)[2:]), file=sys.stderr)
    warn_of_ranks(structure, shlex.join([model, *_again(inputs, terminal, pairs)]))
    raise typer.Exit(OK if structure.determined else NOT_DETERMINED)


def _again(inputs: str | None, terminals: list[str] | None, pairs: str | None) -> list[str]:
    """The options that name the inputs, to be written once more."""
    return [
        *(["--inputs", inputs] if inputs is not None else []),
        *(word for body in terminals or () for word in ("--terminal", body)),
        *(["--pairs", pairs] if pairs is not None else []),
    ]
