"""The command ``mbssa partition``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import typer

from groups.cli.options import CommonOptions, with_options
from groups.cli.running import motion_to_solve, solvable_model
from groups.motion import constant_speed, driven_coordinates
from groups.partitioning import Partitioning, sweep_partition
from groups.partitioning import partition as divide
from groups.partitioning.choice import CannotAssembleError, Method
from groups.reports.partitioning import partition_report, sweep_report
from groups.trajectory import Trajectory
from mbssa import ModelError, load, with_inputs
from mbssa.cli.console import NOT_DETERMINED, OK, draw, fail, fail_all, failing, present, refuse
from mbssa.cli.inputs import shown_in
from mbssa.cli.options import DURATION, MODEL, MOTION, OUTPUT, SHEET, STEPS, UNITS, flag, option
from mbssa.cli.outputs import STILL, target_faults, targets_of
from mbssa.joints.catalogue import is_length
from mbssa.progress import bar


@with_options("force", "trust", "allow")
def partition(
    model: str = MODEL,
    method: Method = option("NAME", "complete (Gaussian elimination, complete pivoting) or qr.", "complete"),
    cut: list[str] | None = option(
        "JOINT,...", "Cut these joints; those with the most freedom if not given."
    ),
    independent: list[str] | None = option(
        "COORDINATE,...",
        "Independent coordinates, all others dependent; or all. With --sweep, what is chosen once.",
    ),
    dependent: list[str] | None = option("COORDINATE,...", "Dependent coordinates, all others independent."),
    driven: list[str] | None = option(
        "COORDINATE,...", "Driven coordinates instead of the model's; or none."
    ),
    tolerance: float = option("SHARE", "A pivot below this share of the largest entry is none.", 1e-9),
    sweep: bool = flag("--sweep", "Follow the choices, and the groups' conditions, along a motion."),
    motion: Path | None = MOTION,
    steps: int | None = STEPS,
    duration: float | None = DURATION,
    drive: list[str] | None = option(
        "COORDINATE,...", "With --sweep: drive these instead, past what the model's inputs cannot pass."
    ),
    at: float | None = option("S", "Partition at this time of the motion."),
    form: str = SHEET,
    output: Path | None = OUTPUT,
    plot: Path | None = option("FILE", "With --sweep: draw the conditions over time, .png, .svg or .pdf."),
    *,
    common: CommonOptions,
    units: str = UNITS,
) -> None:
    """Cut MODEL open and divide its coordinates into independent and dependent ones.

    Joints with the most freedom are cut; the Jacobian of the cuts says which
    coordinates depend on the others, and which equations are redundant. --sweep
    follows this numerical choice and the structural one along a motion.

    Exit 0: done; 1: the driven coordinates cannot all be prescribed, the model cannot be
    assembled, or with --sweep cannot be solved; 2: bad input.

    Example: mbssa partition pendulum_four_bar --sweep --drive 1-3.angle
    """
    given = {
        "--dependent": dependent, "--driven": driven, "--at": at, "--drive": drive, "--plot": plot,
        "--motion": motion, "--steps": steps, "--duration": duration,
    }  # fmt: skip
    unfit = dict.fromkeys(list(given)[:3], "is for one configuration; leave --sweep out")
    if not sweep:
        timed = "is for a motion; write --sweep, or --at SECONDS, too"
        unfit = dict.fromkeys(list(given)[5:], timed) if at is None else {}
        unfit |= dict.fromkeys(("--drive", "--plot"), "is for a motion; write --sweep too")
    faults = [f"{name}: {why}" for name, why in unfit.items() if given[name] is not None]
    if not 0 <= tolerance < 1:
        faults.append(f"--tolerance {tolerance}: write a share of the largest entry, from 0 to below 1")
    files = targets_of(("--output", output, ()), ("--plot", plot, STILL))
    refuse(faults + target_faults(files, [model, motion], common.force))

    mechanism = load(model)
    options: dict[str, Any] = {"cuts": cut, "method": method, "tolerance": tolerance}
    chosen = "all" if independent == ["all"] else independent
    if sweep or at is not None:
        solvable = solvable_model(mechanism, model)
        if drive is None:
            path = motion_to_solve(solvable, model, motion, steps, duration, level="position")
    if at is not None:
        first, last = path.time[[0, -1]].tolist()
        if not first <= at <= last:
            fail(f"--at {at}: the motion lasts from {first:.6g} to {last:.6g} s")
        nearest = int(np.argmin(np.abs(path.time - at)))
        options["at"] = solvable.solve(path, level="position").instants(slice(nearest, nearest + 1))
    moved: Trajectory | None = None
    if drive is not None:
        try:
            led = with_inputs(mechanism, drive)
        except ModelError as error:
            fail_all([f"--drive: {fault.message}" for fault in error.faults])
        name = f"{model}, driven by {', '.join(drive)},"
        mover, slides = solvable_model(led, name), [n for n in driven_coordinates(led) if is_length(n)]
        if motion is not None:
            path = motion_to_solve(mover, model, motion, steps, duration, level="velocity")
        elif slides:
            fail(f"--drive {', '.join(slides)}: a slide has no turn to make; write its motion, --motion FILE")
        else:  # one turn of each
            path = constant_speed(led, duration=1.0 if duration is None else duration, steps=steps or 361)
        moved = mover.solve(path, level="velocity")
        if not moved.ok:
            fail(f"{name} cannot be moved so far: {'; '.join(moved.faults(path))}", NOT_DETERMINED)
    if sweep:
        with failing(f"{model}: "):
            swept = sweep_partition(solvable, path if moved is None else moved, independent=chosen, **options)
        if plot is not None:
            from groups.pictures.partitioning import conditions

            draw((plot, lambda: conditions(swept)))
        present(sweep_report(swept), form, output)
        return
    own: dict[str, Any] = {
        "independent": chosen,
        "dependent": dependent,
        "driven": [] if driven == ["none"] else driven,
    }
    # The structural choice, and numerical ones with nothing driven.
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("structural: what the model drives", {}),
        ("complete pivoting", {"method": "complete", "driven": ()}),
        ("pivoted QR", {"method": "qr", "driven": ()}),
    ]
    rivals = list[tuple[str, Partitioning]]()
    with failing(f"{model}: "), bar() as show:
        show("choosing coordinates", 0.0)
        try:
            found = divide(shown_in(mechanism, units), **own, **options)
        except CannotAssembleError as error:
            fail(f"{model}: {error}", NOT_DETERMINED)
        for k, (title, kind) in enumerate(kinds if mechanism.n_driven else ()):
            show(title, 0.25 + 0.25 * k)
            rival = divide(mechanism, **options | kind)
            rivals.append((title + ", and pivots" * (not k and rival.independent != ()), rival))
    present(partition_report(found, rivals), form, output)
    raise typer.Exit(NOT_DETERMINED if found.bound else OK)
