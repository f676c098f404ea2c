"""The command ``mbssa partition``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import typer

from groups.cli.options import CommonOptions, with_options
from groups.cli.running import motion_to_solve, solvable_model
from groups.motion import Motion, constant_speed, driven_coordinates
from groups.partitioning import Partitioning, sweep_partition
from groups.partitioning import partition as divide
from groups.partitioning.choice import CannotAssembleError
from groups.partitioning.pivoting import Method
from groups.reports.partitioning import partition_report, sweep_report
from groups.trajectory import Trajectory
from mbssa import Mechanism, ModelError, load, with_inputs
from mbssa.cli.console import NOT_DETERMINED, OK, fail, fail_all, failing, present, refuse
from mbssa.cli.inputs import shown_in
from mbssa.cli.options import DURATION, MODEL, MOTION, OUTPUT, SHEET, STEPS, UNITS, flag, option
from mbssa.cli.outputs import STILL, target_faults, targets_of
from mbssa.joints.catalogue import is_length
from mbssa.progress import Progress, bar


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
    faults = []
    if not 0 <= tolerance < 1:
        faults.append(f"--tolerance {tolerance}: write a share of the largest entry, from 0 to below 1")
    one = {"--dependent": dependent, "--driven": driven, "--at": at}
    several = {"--drive": drive, "--plot": plot}
    timed = {"--motion": motion, "--steps": steps, "--duration": duration}
    if sweep:
        faults += [f"{name}: is for one configuration; leave --sweep out" for name in _given(one)]
    else:
        faults += [f"{name}: is for a motion; write --sweep too" for name in _given(several)]
        why = "is for a motion; write --sweep, or --at SECONDS, too"
        faults += [f"{name}: {why}" for name in _given(timed) if at is None]
    faults += target_faults(
        targets_of(("--output", output, ()), ("--plot", plot, STILL)), [model, motion], common.force
    )
    refuse(faults)

    mechanism = load(model)
    options: dict[str, Any] = {"cuts": cut, "method": method, "tolerance": tolerance}
    chosen = "all" if independent == ["all"] else independent
    driven = [] if driven == ["none"] else driven
    path: Motion | Trajectory
    if sweep or at is not None:
        solvable = solvable_model(mechanism, model)
        if drive is not None:
            path = _driven_path(mechanism, model, drive, motion, steps, duration)
        else:
            path = motion_to_solve(solvable, model, motion, steps, duration, level="position")
    if sweep:
        with failing(f"{model}: "):
            swept = sweep_partition(solvable, path, independent=chosen, **options)
        if plot is not None:
            from groups.pictures.partitioning import conditions
            from mbssa.pictures import save

            save(conditions(swept), plot)
        present(sweep_report(swept), form, output)
        return
    if at is not None:
        first, last = float(path.time[0]), float(path.time[-1])
        if not first <= at <= last:
            fail(f"--at {at}: the motion lasts from {first:.6g} to {last:.6g} s")
        nearest = int(np.argmin(np.abs(path.time - at)))
        solved = solvable.solve(cast(Motion, path), level="position")
        options["at"] = solved.instants(slice(nearest, nearest + 1))
    own: dict[str, Any] = {"independent": chosen, "dependent": dependent, "driven": driven}
    try:
        with bar() as show:
            show("choosing coordinates", 0.0)
            found = divide(shown_in(mechanism, units), **(own | options))
            structural = found if method == "complete" and not _given(own) else None
            rivals = _rivals(mechanism, options, structural, show)
    except CannotAssembleError as error:
        fail(f"{model}: {error}", NOT_DETERMINED)
    except ValueError as error:
        fail(f"{model}: {error}")
    present(partition_report(found, rivals), form, output)
    raise typer.Exit(NOT_DETERMINED if found.bound else OK)


def _given(options: Mapping[str, Any]) -> list[str]:
    return [name for name, value in options.items() if value is not None]


def _rivals(
    mechanism: Mechanism, options: dict[str, Any], structural: Partitioning | None, show: Progress
) -> list[tuple[str, Partitioning]]:
    """The structural choice, found if None, and numerical ones with nothing driven; none without drives."""
    if not mechanism.n_driven:
        return []
    show("the structural choice", 0.25)
    if structural is None:
        structural = divide(mechanism, **options)
    rivals = [
        (f"structural: what the model drives{', and pivots' if structural.independent else ''}", structural)
    ]
    for share, title, method in ((0.5, "complete pivoting", "complete"), (0.75, "pivoted QR", "qr")):
        show(title, share)
        rivals.append((title, divide(mechanism, **{**options, "driven": (), "method": method})))
    return rivals


def _driven_path(
    mechanism: Mechanism,
    name: str,
    drive: list[str],
    motion_file: Path | None,
    steps: int | None,
    duration: float | None,
) -> Trajectory:
    """The mechanism moved by other inputs: by a motion of theirs, or one turn of each."""
    try:
        other = with_inputs(mechanism, drive)
    except ModelError as error:
        fail_all([f"--drive: {fault.message}" for fault in error.faults])
    model = solvable_model(other, f"{name}, driven by {', '.join(drive)},")
    if motion_file is not None:
        motion = motion_to_solve(model, name, motion_file, steps, duration, level="velocity")
    else:
        slides = [n for n in driven_coordinates(other) if is_length(n)]
        if slides:
            fail(f"--drive {', '.join(slides)}: a slide has no turn to make; write its motion, --motion FILE")
        motion = constant_speed(other, duration=1.0 if duration is None else duration, steps=steps or 361)
    path = model.solve(motion, level="velocity")
    if not path.ok:
        why = "; ".join(path.faults(motion))
        fail(f"{name}, driven by {', '.join(drive)}, cannot be moved so far: {why}", NOT_DETERMINED)
    return path
