"""The command ``mbssa solve``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from groups.building import build
from groups.cli.options import (
    AnimateOption,
    BodiesOption,
    CompiledOption,
    CurvesOption,
    FpsOption,
    FramesOption,
    JointsOption,
    OutputOption,
    PlotOption,
    PointsOption,
    QuantitiesOption,
    QuantityOption,
    UnitsOption,
    WidthOption,
    pictures_asked,
)
from groups.cli.requests import (
    Pictures,
    bodies_asked,
    expressions_asked,
    model_asked,
    modes_asked,
    motion_asked,
    names_asked,
    picture_faults,
    solvers_asked,
    standing,
    through_faults,
    through_others,
)
from groups.cli.runner import Request, solver_by
from groups.model import Model
from groups.reports.solution import Summary, solution_report
from groups.results.table import Choice, chosen_columns
from groups.trajectory import Branch, Level
from mbssa import load, mpi_rank
from mbssa.cli import completion
from mbssa.cli.console import BETWEEN, NOT_DETERMINED, OK, STOPPED, fail, fail_all, present, stopping
from mbssa.cli.options import (
    AllowOption,
    DurationOption,
    ForceOption,
    FormatOption,
    ModelArgument,
    MotionOption,
    StepsOption,
    ThroughOption,
    TrustOption,
)
from mbssa.cli.outputs import MOVING, STILL, TRAJECTORY, Target, target_faults, written
from mbssa.film import Film
from mbssa.units import SI


@stopping("nothing more was written")
def solve(
    model: ModelArgument,
    motion: MotionOption = None,
    steps: StepsOption = None,
    duration: DurationOption = None,
    mode: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GROUP=NUMBER",
            autocompletion=completion.group_values,
            help="Assembly mode of a group, as mbssa modes numbers them; may be repeated.",
        ),
    ] = None,
    solver: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GROUP=NAME",
            autocompletion=completion.group_values,
            help="Solver of a group, as mbssa solvers --all names them; may be repeated.",
        ),
    ] = None,
    through: ThroughOption = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BODY,...",
            autocompletion=completion.bodies,
            help="Keep these bodies alone, by name or number.",
        ),
    ] = None,
    level: Annotated[
        Level, typer.Option(metavar="LEVEL", help="The last one wanted: position, velocity or acceleration.")
    ] = "acceleration",
    branch: Annotated[
        Branch | None,
        typer.Option(
            metavar="HOW",
            help="How branches are held: checked (faster), proven, or smooth (on through crossings).",
            show_default="proven where steps are coarse",
        ),
    ] = None,
    output: OutputOption = None,
    quantities: QuantitiesOption = None,
    joints: JointsOption = None,
    bodies: BodiesOption = None,
    quantity: QuantityOption = None,
    units: UnitsOption = "file",
    plot: PlotOption = None,
    curves: CurvesOption = None,
    points: PointsOption = None,
    animate: AnimateOption = None,
    frames: FramesOption = None,
    fps: FpsOption = None,
    width: WidthOption = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Solve on so many cores, by the plan predicted fastest."),
    ] = None,
    executor: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="threads, processes, mpi, or a joblib backend, for --workers."),
    ] = None,
    plan: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Solve by this plan, as mbssa routes --save wrote it.")
    ] = None,
    compiled: CompiledOption = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Keep what is done, so that --resume can go on from it."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from what --checkpoint keeps.")] = False,
    force: ForceOption = False,
    trust: TrustOption = False,
    allow: AllowOption = None,
    form: FormatOption = "table",
) -> None:
    """Solve position, velocity and acceleration of MODEL over a motion, group by group.

    Ctrl-C stops a run and keeps what it has. Under mpiexec, ranks share the run.

    Exit 0: every group was solved at every instant; 1: the model cannot be
    solved as given, or not at every instant; 2: bad input; 130: stopped.

    Example: mbssa solve rotor --output rotor.csv --animate rotor.html
    """
    request = Request(workers, executor, plan, checkpoint, resume)
    if mpi_rank.size() > 1 and executor is None:
        request = replace(request, executor="mpi")
    targets = [Target("--output", path, TRAJECTORY) for path in output or []]
    targets += [Target("--plot", path, STILL) for path in plot or []]
    targets += [Target("--animate", path, MOVING) for path in animate or []]
    faults = target_faults(targets, [model, motion, plan], force)
    choice = columns_asked(quantities, joints, bodies, units, quantity or [], faults)
    columns = any(has_columns(target.path) for target in targets)
    if not columns and {"quantities", "joints", "bodies"} & choice.keys():
        faults.append("--quantities, --joints, --bodies: are for columns; write --output FILE.csv too")
    if not columns and not plot and "derived" in choice:
        faults.append("--quantity: is for columns and curves; write --output FILE.csv or --plot FILE too")
    pictures = pictures_asked(plot, animate, curves, points, Film(frames, fps, width), faults)
    if through is not None:
        faults += through_faults(through, request, mode or [])
    if faults:
        fail_all(faults)
    groups = mode or [], solver or [], keep or []
    _solve(
        model,
        motion,
        steps,
        duration,
        *groups,
        level,
        branch,
        compiled,
        targets,
        pictures,
        choice,
        request,
        through,
        form,
    )


def _solve(
    name: str,
    motion_file: Path | None,
    steps: int | None,
    duration: float | None,
    mode: Sequence[str],
    solver: Sequence[str],
    keep: Sequence[str],
    level: Level,
    branch: Branch | None,
    compiled: bool | None,
    targets: Sequence[Target],
    pictures: Pictures,
    choice: Choice,
    request: Request,
    through: Sequence[str] | None,
    form: str,
) -> None:
    mechanism = load(name)
    model = model_asked(mechanism, name)
    model, kept, modes = _chosen(model, keep, mode, solver, through)
    motion = motion_asked(model, name, motion_file, steps, duration, kept, level)
    still = any(target.option == "--plot" for target in targets)
    moving = [target.path for target in targets if target.option == "--animate"]
    if still or moving:
        faults = picture_faults(model, kept, level, still, moving, pictures, choice.get("derived"))
        if faults:
            fail_all(faults)
    if any(has_columns(target.path) for target in targets):
        try:
            chosen_columns(standing(model, kept, level), **choice)
        except (KeyError, ValueError) as error:
            fail_all(str(error.args[0]).split(BETWEEN))
    from groups.cli.watched import solve_watched

    bodies = None if kept is None else [body + 1 for body in kept]
    try:
        solve = solver_by(request, model, motion, level) if request else None
        run = solve_watched(
            model,
            motion,
            bodies=bodies,
            level=level,
            modes=modes,
            branch=branch,
            compiled=compiled,
            solve=solve,
        )
    except ValueError as error:
        fail(str(error))
    except RuntimeError as error:
        folder = request.checkpoint
        more = "" if folder is None else f"\nwhat is done is kept: add --resume to --checkpoint {folder}"
        fail(f"{error}{more}", NOT_DETERMINED)
    except MemoryError:
        fail(f"{len(motion.time):,} instants need more memory than there is; write fewer --steps or --keep")
    if run.stopped:
        more = "" if request.checkpoint is None else f": add --resume to --checkpoint {request.checkpoint}"
        print(f"stopped by Ctrl-C; what was computed is kept{more}", file=sys.stderr)
    reached = run.reached
    if not len(reached.time):
        targets = []
    done, faults = written(targets, lambda target: write_solution(reached, target, pictures, choice))
    shown = model.mechanism.units if choice["units"] == "file" else SI
    present(solution_report(Summary(model, motion, run, done, shown)), form)
    if faults:
        fail_all(faults)
    if run.stopped:
        raise typer.Exit(STOPPED)
    raise typer.Exit(OK if run.trajectory.ok else NOT_DETERMINED)


def _chosen(
    driven: Model,
    keep: Sequence[str],
    mode: Sequence[str],
    solver: Sequence[str],
    through: Sequence[str] | None,
) -> tuple[Model, list[int] | None, dict[int, int]]:
    """The model with its inputs and solvers, bodies to keep, and modes; or all that is wrong with them."""
    model = driven if through is None else through_others(driven, through)
    faults = []
    kept: list[int] | None = None
    modes: dict[int, int] = {}
    solvers: dict[int, str] = {}
    try:
        kept = bodies_asked(model.mechanism, keep)
    except ValueError as error:
        faults += str(error).split(BETWEEN)
    try:
        modes = modes_asked(model, mode)
    except ValueError as error:
        faults += str(error).split(BETWEEN)
    try:
        solvers = solvers_asked(model, solver)
    except ValueError as error:
        faults += str(error).split(BETWEEN)
    if faults:
        fail_all(faults)
    if solvers and through is None:
        model = build(driven.structure, solvers)
    elif solvers:
        model = through_others(driven, through or (), solvers)
    return model, kept, modes


def has_columns(path: Path) -> bool:
    """Whether a file of numbers is a table, whose columns are chosen."""
    return path.suffix.lower() in (".csv", ".parquet")


def columns_asked(
    quantities: str | None,
    joints: str | None,
    bodies: str | None,
    units: Literal["file", "si"],
    derived: Sequence[str],
    faults: list[str],
) -> Choice:
    """Columns to write, by names between commas; faults are added to ``faults``."""
    choice = Choice(units=units)
    if quantities is not None:
        choice["quantities"] = names_asked([quantities])
    if joints is not None:
        choice["joints"] = joints if joints in ("all", "driven") else names_asked([joints])
    if bodies is not None:
        choice["bodies"] = names_asked([bodies])
    if expressions := expressions_asked(derived, faults):
        choice["derived"] = expressions
    return choice


def write_solution(trajectory: Any, target: Target, pictures: Pictures, choice: Choice) -> None:
    """Write a motion as numbers or as a picture, as its target has it."""
    if target.endings is TRAJECTORY:
        trajectory.write(target.path, force=True, **choice)  # what may be replaced was settled before
        return
    from groups.pictures import write

    write(
        trajectory,
        target.path,
        picture="coordinates" if pictures.points is None else "paths",
        points=pictures.points,
        curves=pictures.curves,
        film=pictures.film,
        derived=choice.get("derived"),
        units=choice["units"],
    )
