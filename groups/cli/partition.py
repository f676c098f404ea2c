"""The command ``mbssa partition``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groups.cli.requests import model_asked, motion_asked
from groups.reports.partitioning import partition_report, sweep_report
from mbssa import Mechanism, ModelError, load, with_inputs
from mbssa.cli import completion
from mbssa.cli.console import NOT_DETERMINED, OK, fail, fail_all, present
from mbssa.cli.options import (
    AllowOption,
    DurationOption,
    ForceOption,
    ModelArgument,
    MotionOption,
    OutputOption,
    SheetOption,
    StepsOption,
    TrustOption,
)
from mbssa.cli.outputs import STILL, target_faults, targets_of

if TYPE_CHECKING:
    from groups.model import Model
    from groups.partitioning import Partitioning
    from groups.trajectory import Trajectory
    from mbssa.progress import Told

METHODS = ("complete", "qr")


def partition(
    model: ModelArgument,
    method: Annotated[
        str, typer.Option(metavar="NAME", help="complete (Gaussian elimination, complete pivoting) or qr.")
    ] = "complete",
    cut: Annotated[
        str | None,
        typer.Option(
            metavar="JOINT,...",
            autocompletion=completion.joints,
            help="Cut these joints; those with the most freedom if not given.",
        ),
    ] = None,
    independent: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            autocompletion=completion.coordinates,
            help="Independent coordinates, all others dependent; or all. With --sweep, what is chosen once.",
        ),
    ] = None,
    dependent: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            autocompletion=completion.coordinates,
            help="Dependent coordinates, all others independent.",
        ),
    ] = None,
    driven: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            autocompletion=completion.coordinates,
            help="Driven coordinates instead of the model's; or none.",
        ),
    ] = None,
    tolerance: Annotated[
        float, typer.Option(metavar="SHARE", help="A pivot below this share of the largest entry is none.")
    ] = 1e-9,
    sweep: Annotated[
        bool, typer.Option("--sweep", help="Follow the choices, and the groups' conditions, along a motion.")
    ] = False,
    motion: MotionOption = None,
    steps: StepsOption = None,
    duration: DurationOption = None,
    drive: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            autocompletion=completion.coordinates,
            help="With --sweep: drive these instead, past what the model's inputs cannot pass.",
        ),
    ] = None,
    at: Annotated[
        float | None, typer.Option(metavar="S", help="Partition at this time of the motion.")
    ] = None,
    form: SheetOption = "table",
    output: OutputOption = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With --sweep: draw the conditions over time, .png, .svg or .pdf."),
    ] = None,
    force: ForceOption = False,
    trust: TrustOption = False,
    allow: AllowOption = None,
) -> None:
    """Cut MODEL open and divide its coordinates into independent and dependent ones.

    Joints with the most freedom are cut; the Jacobian of the cuts says which
    coordinates depend on the others, and which equations are redundant. --sweep
    follows this numerical choice and the structural one along a motion.

    Exit 0: done; 1: what is driven cannot all be prescribed, the model cannot be
    assembled, or with --sweep cannot be solved; 2: bad input.

    Example: mbssa partition pendulum_four_bar --sweep --drive 1-3.angle
    """
    one = {"--dependent": dependent, "--driven": driven, "--at": at}
    several = {"--drive": drive, "--plot": plot}
    timed = {"--motion": motion, "--steps": steps, "--duration": duration}
    faults = _faults(method, tolerance, sweep, at is not None, one, several, timed)
    targets = targets_of(("--output", output, ()), ("--plot", plot, STILL))
    faults += target_faults(targets, [model, motion], force)
    if drive is not None and not _names(drive):
        faults.append("--drive: names no coordinate")
    if faults:
        fail_all(faults)
    mechanism = load(model)
    options: dict[str, Any] = {"cuts": _names(cut), "method": method, "tolerance": tolerance}
    if sweep:
        options["independent"] = _chosen(independent)
        _sweep(mechanism, model, motion, steps, duration, _names(drive), options, form, output, plot)
        return
    from groups.partitioning import partition as divide
    from groups.partitioning.choice import CannotAssembleError
    from mbssa.progress import bar

    options["at"] = _instant(mechanism, model, motion, steps, duration, at)
    try:
        with bar() as told:
            told("choosing coordinates", 0.0)
            found = divide(
                mechanism,
                independent=_chosen(independent),
                dependent=_names(dependent),
                driven=[] if driven == "none" else _names(driven),
                **options,
            )
            own = method == "complete" and independent is dependent is driven is None
            rivals = _rivals(mechanism, options, found if own else None, told)
    except CannotAssembleError as error:
        fail(f"{model}: {error}", NOT_DETERMINED)
    except ValueError as error:
        fail(f"{model}: {error}")
    present(partition_report(found, rivals), form, output)
    raise typer.Exit(NOT_DETERMINED if found.bound else OK)


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def _chosen(text: str | None) -> list[str] | str | None:
    names = _names(text)
    return "all" if names == ["all"] else names


def _faults(
    method: str,
    tolerance: float,
    sweep: bool,
    at: bool,
    one: dict[str, Any],
    several: dict[str, Any],
    timed: dict[str, Any],
) -> list[str]:
    """Faults: unknown methods, and options of one configuration given for a motion or the reverse."""
    faults = []
    if method not in METHODS:
        faults.append(f"--method {method}: write {' or '.join(METHODS)}")
    if not 0 <= tolerance < 1:
        faults.append(f"--tolerance {tolerance}: write a share of the largest entry, from 0 to below 1")
    if sweep:
        said = dict.fromkeys(one, "is for one configuration; leave --sweep out")
    else:
        said = dict.fromkeys(several, "is for a motion; write --sweep too")
        if not at:
            said |= dict.fromkeys(timed, "is for a motion; write --sweep, or --at SECONDS, too")
    given = {name for name, value in (one | several | timed).items() if value is not None}
    return faults + [f"{name}: {why}" for name, why in said.items() if name in given]


def _instant(
    mechanism: Mechanism,
    name: str,
    motion: Path | None,
    steps: int | None,
    duration: float | None,
    at: float | None,
) -> Trajectory | None:
    """The solved instant nearest to a time; None: the reference."""
    if at is None:
        return None
    import numpy as np

    model = model_asked(mechanism, name)
    asked = motion_asked(model, name, motion, steps, duration, None, "position")
    first, last = float(asked.time[0]), float(asked.time[-1])
    if not first <= at <= last:
        fail(f"--at {at}: the motion lasts from {first:.6g} to {last:.6g} s")
    nearest = int(np.argmin(np.abs(asked.time - at)))
    return model.solve(asked, level="position").instants(slice(nearest, nearest + 1))


def _rivals(
    mechanism: Mechanism, options: dict[str, Any], structural: Partitioning | None, told: Told
) -> list[tuple[str, Partitioning]]:
    """The structural choice, if it is not yet known, and the numerical ones with nothing driven.

    None where nothing is driven.
    """
    if not mechanism.n_driven:
        return []
    from groups.partitioning import partition as divide

    told("the structural choice", 0.25)
    if structural is None:
        structural = divide(mechanism, **options)
    rivals = [
        (f"structural: what the model drives{', and pivots' if structural.independent else ''}", structural)
    ]
    for share, (said, method) in zip(
        (0.5, 0.75), (("complete pivoting", "complete"), ("pivoted QR", "qr")), strict=True
    ):
        told(said, share)
        rivals.append((said, divide(mechanism, **{**options, "driven": (), "method": method})))
    return rivals


# --- along a motion --------------------------------------------------------------------------------


def _sweep(
    mechanism: Mechanism,
    name: str,
    motion: Path | None,
    steps: int | None,
    duration: float | None,
    drive: list[str] | None,
    options: dict[str, Any],
    form: str,
    output: Path | None,
    plot: Path | None,
) -> None:
    from groups.partitioning import sweep_partition

    model = model_asked(mechanism, name)
    if drive is None:
        path: Any = motion_asked(model, name, motion, steps, duration, None, "position")
    else:
        path = _driven_path(mechanism, name, motion, steps, duration, drive)
    try:
        swept = sweep_partition(model, path, **options)
    except ValueError as error:
        fail(f"{name}: {error}")
    if plot is not None:
        from groups.pictures.partitioning import conditions
        from mbssa.pictures.files import save

        save(conditions(swept), plot)
    present(sweep_report(swept), form, output)


def _driven_path(
    mechanism: Mechanism,
    name: str,
    motion: Path | None,
    steps: int | None,
    duration: float | None,
    drive: list[str],
) -> Trajectory:
    """The mechanism moved by other inputs: by a motion of theirs, or one turn of each."""
    from groups.motion import constant_speed, driven_coordinates
    from mbssa.joints.catalogue import is_length

    try:
        other = with_inputs(mechanism, drive)
    except ModelError as error:
        fail_all([f"--drive: {fault.what}" for fault in error.faults])
    model: Model = model_asked(other, f"{name}, driven by {', '.join(drive)},")
    if motion is not None:
        asked = motion_asked(model, name, motion, steps, duration, None, "velocity")
    else:
        slides = [n for n in driven_coordinates(other) if is_length(n)]
        if slides:
            fail(f"--drive {', '.join(slides)}: a slide has no turn to make; write its motion, --motion FILE")
        asked = constant_speed(other, duration=1.0 if duration is None else duration, steps=steps or 361)
    path = model.solve(asked, level="velocity")
    if not path.ok:
        why = "; ".join(path.faults())
        fail(f"{name}, driven by {', '.join(drive)}, cannot be moved so far: {why}", NOT_DETERMINED)
    return path
