"""The command ``mbssa joints``."""

from __future__ import annotations

from pathlib import Path

import typer

from mbssa.cli.console import fail, present, refuse
from mbssa.cli.options import FORCE, OUTPUT, REPORT
from mbssa.cli.outputs import target_faults, targets_of
from mbssa.joints.catalogue import Space


def joints(
    code: str | None = typer.Argument(
        None, metavar="TYPE", help="All of one type: its fields, signs, an example."
    ),
    space: Space | None = typer.Option(None, help="Types of this space alone."),
    form: str = REPORT,
    output: Path | None = OUTPUT,
    force: bool = FORCE,
) -> None:
    """List the joint types: equations, what can be driven, geometry, solver, built-in models.

    Exit 0: listed; 2: no such type.

    Example: mbssa joints U
    """
    from mbssa.reports.joints import coverage, coverage_of, joint_report, joints_report, rows_of

    refuse(target_faults(targets_of(("--output", output, ())), [], force))
    if code is None:
        report = joints_report(coverage(space))
    else:
        try:
            report = joint_report([coverage_of(kind) for kind in rows_of(code, space)])
        except KeyError as error:
            fail(str(error.args[0]))
    present(report, form, output)
