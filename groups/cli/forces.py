"""The command ``mbssa forces``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from groups.cli.options import UnitsOption
from groups.cli.requests import model_asked, motion_asked, names_asked, standing
from groups.dynamics import Forces
from groups.dynamics import forces as forces_of
from groups.reports.forces import ForcesSummary, forces_report
from mbssa import load
from mbssa.cli.console import NOT_DETERMINED, OK, STOPPED, fail, fail_all, present, stopping
from mbssa.cli.options import (
    AllowOption,
    DurationOption,
    ForceOption,
    FormatOption,
    ModelArgument,
    MotionOption,
    StepsOption,
    TrustOption,
)
from mbssa.cli.outputs import PAGES, STILL, TABLES, Target, target_faults, written
from mbssa.units import SI


@stopping("nothing more was written")
def forces(
    model: ModelArgument,
    motion: MotionOption = None,
    steps: StepsOption = None,
    duration: DurationOption = None,
    minimum_norm: Annotated[
        bool,
        typer.Option("--minimum-norm", help="Give reactions that are not determined those of least norm."),
    ] = False,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write the numbers: .csv or .parquet; may be repeated."
        ),
    ] = None,
    units: UnitsOption = "file",
    plot: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Draw forces over time: .png, .svg or .pdf; may be repeated."),
    ] = None,
    animate: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Play the motion with arrows of joint forces: .html; may be repeated.",
        ),
    ] = None,
    curves: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            help="What --plot draws: joints (2-3), columns (2-3.Fx), drives, frame.",
            show_default="drives, frame",
        ),
    ] = None,
    force: ForceOption = False,
    trust: TrustOption = False,
    allow: AllowOption = None,
    form: FormatOption = "table",
) -> None:
    """Find driving forces and reactions of MODEL over a motion, group by group.

    Inverse dynamics: what the drives must give, what every joint and the frame
    receive, and the powers, with the masses, gravity and forces of MODEL.

    Exit 0: every group is balanced at every instant; 1: the model cannot be
    solved as given, or not at every instant; 2: bad input; 130: stopped.

    Example: mbssa forces slider_crank --output forces.csv --plot forces.png

    Example: mbssa forces rotor --animate rotor.html
    """
    targets = [Target("--output", path, TABLES) for path in output or []]
    targets += [Target("--plot", path, STILL) for path in plot or []]
    targets += [Target("--animate", path, PAGES) for path in animate or []]
    faults = target_faults(targets, [model, motion], force)
    if curves is not None and not plot:
        faults.append("--curves: are for pictures; write --plot FILE too")
    if faults:
        fail_all(faults)
    _forces(
        model, motion, steps, duration, minimum_norm, targets, units,
        None if curves is None else names_asked([curves]), form,
    )  # fmt: skip


def _forces(
    name: str,
    motion_file: Path | None,
    steps: int | None,
    duration: float | None,
    minimum_norm: bool,
    targets: Sequence[Target],
    units: Literal["file", "si"],
    curves: list[str] | None,
    form: str,
) -> None:
    mechanism = load(name)
    model = model_asked(mechanism, name)
    motion = motion_asked(model, name, motion_file, steps, duration, None, "acceleration")
    if any(target.endings is STILL for target in targets):
        try:
            from groups.pictures import forces_over_time

            forces_over_time(forces_of(standing(model, None, "acceleration"), model.structure), curves)
        except (ValueError, ModuleNotFoundError) as error:
            fail(f"--plot: {error}")
    from groups.cli.watched import solve_watched

    run = solve_watched(model, motion)
    if run.stopped:
        print("stopped by Ctrl-C; forces are those of what was computed", file=sys.stderr)
    try:
        found = forces_of(run.trajectory, model.structure, minimum_norm=minimum_norm)
    except ValueError as error:
        fail(f"{name}: {error}")
    done, faults = written(targets, lambda target: _write(found, target, curves, units))
    shown = mechanism.units if units == "file" else SI
    present(forces_report(ForcesSummary(model.structure, found, done, shown)), form)
    if faults:
        fail_all(faults)
    raise typer.Exit(STOPPED if run.stopped else OK if found.ok else NOT_DETERMINED)


def _write(found: Forces, target: Target, curves: list[str] | None, units: Literal["file", "si"]) -> None:
    if target.endings is TABLES:
        found.write(target.path, force=True, units=units)  # what may be replaced was settled before
        return
    if target.endings is PAGES:
        from groups.pictures import page

        page(found.trajectory, target.path, forces=found)
        return
    from groups.pictures import forces_over_time
    from mbssa.pictures import save

    save(forces_over_time(found, curves, units=units), target.path)
