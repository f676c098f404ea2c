"""The command ``mbssa forces``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from groups.cli import options
from groups.cli.running import motion_to_solve, solvable_model, solve_interactively
from groups.dynamics import forces as forces_of
from groups.dynamics.inverse import driven_elsewhere
from groups.reports.dynamics import forces_report
from mbssa import load
from mbssa.cli.console import fail_all, failing, refuse, stopping
from mbssa.cli.options import DURATION, MODEL, MOTION, STEPS, UNITS, flag, option
from mbssa.cli.outputs import PAGES, STILL, TABLES, Target, target_faults, targets_of


@stopping("nothing more was written")
@options.with_options()
def forces(
    model: str = MODEL,
    motion: Path | None = MOTION,
    steps: int | None = STEPS,
    duration: float | None = DURATION,
    drives: list[str] | None = option(
        "NAME,...",
        "Give the drives to these coordinates; the motion stays.",
        show_default="the inputs of MODEL",
    ),
    minimum_norm: bool = flag(
        "--minimum-norm", "Give reactions that are not determined those of least norm."
    ),
    output: options.Files = options.files_option(
        "Write the numbers: .csv or .parquet, - prints CSV", "--output", "-o"
    ),
    units: str = UNITS,
    plot: options.Files = options.files_option("Draw forces over time: .png, .svg or .pdf"),
    animate: options.Files = options.files_option("Play the motion with arrows of joint forces: .html"),
    curves: list[str] | None = option(
        "NAME,...",
        "What --plot draws: joints (2-3), columns (2-3.Fx), driven coordinates, frame.",
        show_default="the drives, frame",
    ),
    *,
    common: options.CommonOptions,
) -> None:
    """Find driving forces and reactions of MODEL over a motion, group by group.

    Inverse dynamics: what the drives must give, what every joint and the frame
    receive, and the powers, with the masses, gravity and forces of MODEL.

    Exit 0: every group is balanced at every instant; 1: the model cannot be
    solved as given, or not at every instant; 2: bad input; 130: stopped.

    Example: mbssa forces slider_crank --output forces.csv --plot forces.png

    Example: mbssa forces rotor --animate rotor.html

    Example: mbssa forces slider_crank --drives 1-4.slide
    """
    targets = targets_of(("--output", output, TABLES), ("--plot", plot, STILL), ("--animate", animate, PAGES))
    faults = target_faults(targets, [model, motion], common.force, common.form)
    if curves is not None and not plot:
        faults.append("--curves: are for pictures; write --plot FILE too")
    refuse(faults)

    solvable = solvable_model(load(model), model)
    path = motion_to_solve(solvable, model, motion, steps, duration)

    still, structure = options.at_reference(solvable), solvable.structure
    if drives is not None:
        try:
            still, structure = driven_elsewhere(still, drives)
        except ValueError as error:  # a ModelError has several
            fail_all([f"--{fault}" for fault in getattr(error, "faults", [error])])
    if plot or animate:
        from groups.pictures import forces_over_time, page
        from mbssa.pictures import save
    if plot:
        with failing("--plot: "):
            forces_over_time(forces_of(still, structure), curves)

    run = solve_interactively(solvable, path)
    with failing(f"{model}: "):
        own = structure if drives is None else None
        found = forces_of(run.trajectory, own, drives=drives, minimum_norm=minimum_norm)
    found = replace(found, trajectory=options.shown_in(found.trajectory, units))

    def write(target: Target) -> None:
        if target.endings is TABLES:
            found.write(target.path, force=True)  # whether it may be replaced is checked before
        elif target.endings is PAGES:
            page(found.trajectory, target.path, forces=found)
        else:
            save(forces_over_time(found, curves, units="file"), target.path)

    stopped = "forces are those of what was computed" * run.stopped
    options.conclude(targets, write, forces_report(found, path), common.form, found.ok, stopped)
