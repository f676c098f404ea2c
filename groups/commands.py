"""Commands of the package ``groups``: solve, solvers, modes."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from groups import draw_command
from groups.model import Model, build
from groups.motion import Motion, default_motion, driven_coordinates, read_motion
from groups.motion.sampling import usual_motion
from groups.refusal import RefusedError, motion_to_write, solvable_model
from groups.requests import (
    bodies_asked,
    memory_fault,
    modes_asked,
    picture_faults,
    points_asked,
    solvers_asked,
    through_asked,
    through_faults,
)
from groups.results import summary as results
from groups.results.listings import (
    library_page,
    modes_page,
    modes_record,
    solvers_page,
    solvers_record,
)
from groups.runner import Request, solver_by
from groups.trajectory import Branch, Level
from mbssa import Mechanism, ModelError, load, ranks
from mbssa.cli import BETWEEN, NOT_DETERMINED, OK, STOPPED, fail, fail_all
from mbssa.commands import deliver, show
from mbssa.options import ForceOption, ModelArgument, TrustOption
from mbssa.targets import MOVING, STILL, TRAJECTORY, Target, target_faults

FormatOption = Annotated[str, typer.Option("--format", "-f", metavar="FORMAT", help="table or json")]
ThroughOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COORDINATE,...|auto",
        help="Solve by the groups for these inputs, found so that MODEL's own are met; auto takes the best.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add this package's commands to the command line."""
    app.command("solve")(solve)
    app.command("solvers")(solvers)
    app.command("modes")(modes)
    draw_command.register(app)
    from groups.partitioning import commands as partitioning  # which takes options from this module

    partitioning.register(app)


def solve(
    model: ModelArgument,
    motion: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Laws (.toml) or columns (.csv) of the driven coordinates; the model's own if not given.",
        ),
    ] = None,
    steps: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Instants, both ends included.")
    ] = None,
    duration: Annotated[float | None, typer.Option(metavar="S", help="Seconds, from the beginning.")] = None,
    mode: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GROUP=NUMBER",
            help="Assembly mode of a group, as mbssa modes numbers them; may be repeated.",
        ),
    ] = None,
    solver: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GROUP=NAME",
            help="Solver of a group, as mbssa solvers --all names them; may be repeated.",
        ),
    ] = None,
    through: ThroughOption = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="BODY,...", help="Keep these bodies alone, by name or number."),
    ] = None,
    level: Annotated[Level, typer.Option(help="The last level that is wanted.")] = "acceleration",
    branch: Annotated[
        Branch | None,
        typer.Option(
            help="How branches are held: checked (faster), proven, or smooth (on through crossings).",
            show_default="proven, but where compiled kernels solve fine steps",
        ),
    ] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write poses and rates: .npz, .csv or .nc; may be repeated.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw coordinates over time, or the paths of --points: .png, .svg or .pdf.",
        ),
    ] = None,
    points: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BODY.POINT,...", help="Draw the paths of these points, or centres of these joints."
        ),
    ] = None,
    animate: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Animate: .gif, or .html to play and turn in a browser."),
    ] = None,
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
    compiled: Annotated[
        bool | None,
        typer.Option(
            "--compiled/--no-compiled",
            help="Solve by compiled kernels, or in plain Python; by default what is faster. Same bits.",
            show_default=False,
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Keep what is done, so that --resume can go on from it."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from what --checkpoint keeps.")] = False,
    force: ForceOption = False,
    trust: TrustOption = False,
    form: FormatOption = "table",
) -> None:
    """Solve position, velocity and acceleration of MODEL over a motion, group by group.

    Ctrl-C stops a run and keeps what it has. Under mpiexec, ranks share the run.

    Exit 0: every group was solved at every instant; 1: the model cannot be
    solved as given, or not at every instant; 2: bad input; 130: stopped.

    Example: mbssa solve rotor --output rotor.csv --animate rotor.html
    """
    check_format(form)
    request = Request(workers, executor, plan, checkpoint, resume)
    if ranks.size() > 1 and executor is None:
        request = replace(request, executor="mpi")
    try:
        targets = [Target("--output", path, TRAJECTORY) for path in output or []]
        if plot is not None:
            targets.append(Target("--plot", plot, STILL))
        if animate is not None:
            targets.append(Target("--animate", animate, MOVING))
        faults = target_faults(targets, [model, motion, plan], force)
        named = points_asked(points or [])
        if points and plot is None and animate is None:
            faults.append("--points: is for pictures; write --plot FILE or --animate FILE too")
        if points and named is None:
            faults.append("--points: names no point")
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
            named,
            request,
            through,
            form,
        )
    except KeyboardInterrupt:
        print("stopped by Ctrl-C; nothing more was written", file=sys.stderr)
        raise typer.Exit(STOPPED) from None


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
    points: list[str] | None,
    request: Request,
    through: Sequence[str] | None,
    form: str,
) -> None:
    mechanism = load(name)
    model = model_asked(mechanism, name)
    model, kept, modes = _chosen(model, keep, mode, solver, through)
    motion = motion_asked(model, name, motion_file, steps, duration, kept, level)
    still = next((target.path for target in targets if target.option == "--plot"), None)
    moving = next((target.path for target in targets if target.option == "--animate"), None)
    if still is not None or moving is not None:
        faults = picture_faults(model, kept, level, still, moving, points)
        if faults:
            fail_all(faults)
    from groups.watched import solve_watched

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
    written, faults = _write(run.trajectory, targets, points)
    summary = results.Summary(model, motion, run, written)
    if form == "json":
        deliver(results.as_json(summary), None)
    else:
        show(lambda screen: results.page(summary, screen))
    if faults:
        fail_all(faults)
    if run.stopped:
        raise typer.Exit(STOPPED)
    raise typer.Exit(OK if run.trajectory.ok else NOT_DETERMINED)


def model_asked(mechanism: Mechanism, name: str) -> Model:
    """The model of a mechanism that can be solved; else the reasons, and exit 1."""
    try:
        return solvable_model(mechanism, name)
    except RefusedError as error:
        fail(str(error), NOT_DETERMINED)


def through_others(model: Model, through: Sequence[str], solvers: Mapping[int, str] | None = None) -> Model:
    """The model solved by the groups for other inputs, which ``solvers`` name; or why not, and exit 2."""
    try:
        found = build(model.structure, solvers, borrow=through_asked(through))
    except ValueError as error:
        fail(f"--through: {error}")
    if found.borrowed is None and solvers is None:
        said = "no other inputs leave fewer groups without a closed form; MODEL's own are taken"
        print(f"--through auto: {said}", file=sys.stderr)
    return found


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


def motion_asked(
    model: Model,
    name: str,
    path: Path | None,
    steps: int | None,
    duration: float | None,
    kept: list[int] | None,
    level: Level,
) -> Motion:
    """The motion asked for, or the model's own; what is wrong with it is exit 2."""
    mechanism = model.mechanism
    carried = mechanism.motion or usual_motion(mechanism)
    if path is None and carried is None:
        names = driven_coordinates(mechanism)
        columns = f"\n\nor give columns, --motion FILE.csv, with the header\n\n{','.join(('time', *names))}"
        fail(
            f"{name} carries no motion. Write one into its file, or into a file of its own for "
            f"--motion FILE.toml:\n\n{motion_to_write(mechanism)}{columns if names else ''}"
        )
    if path is None and mechanism.motion is None and carried is not None:
        ((coordinate, law),) = carried.inputs.items()
        range_ = "one turn" if law.name == "speed" else "the range of its limits"
        print(f"{name} carries no motion: {coordinate} goes through {range_} in 1 s", file=sys.stderr)
    instants = steps or (carried.steps if path is None and carried is not None else 1)
    fault = memory_fault(model, instants, kept, level)
    if fault is not None:
        fail(fault)
    try:
        if path is None:
            motion = default_motion(mechanism, steps=steps, duration=duration)
        else:
            motion = read_motion(mechanism, path, steps=steps, duration=duration)
    except ModelError:
        raise  # says its place itself
    except ValueError as error:
        fail(f"{path or name}: {error}")
    fault = memory_fault(model, len(motion.time), kept, level)
    if fault is not None:
        fail(fault)
    return motion


def _write(
    trajectory: Any, targets: Sequence[Target], points: list[str] | None
) -> tuple[list[Path], list[str]]:
    """Write the files; those that were, and what kept others from it."""
    written, faults = [], []
    for target in targets:
        try:
            if target.endings is TRAJECTORY:
                trajectory.write(target.path)
            else:
                from groups.pictures import write

                paths = points is not None
                write(trajectory, target.path, picture="paths" if paths else "coordinates", points=points)
        except OSError as error:
            faults.append(f"{target.option} {target.path}: {error.strerror or error}")
        except (ValueError, ModuleNotFoundError) as error:
            faults.append(f"{target.option} {target.path}: {error}")
        else:
            written.append(target.path)
    return written, faults


def solvers(
    model: Annotated[
        str | None,
        typer.Argument(metavar="MODEL", help="A built-in model or a file; without it, all group types."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Name the other solvers that each group can have, too.")
    ] = False,
    through: ThroughOption = None,
    trust: TrustOption = False,
    form: FormatOption = "table",
) -> None:
    """Say which solver each structural group of MODEL gets, and why.

    Without MODEL: which solver each type of group gets, and how many modes it can have.
    mbssa solve --solver takes another than the one that a group gets.

    Exit 0: every group has one; 1: the model cannot be solved as given; 2: bad input.

    Example: mbssa solvers rotor
    """
    check_format(form)
    if model is None and every:
        fail("--all: is for the groups of a model; name one")
    if model is None and through is not None:
        fail("--through: is for the groups of a model; name one")
    if model is None:
        from groups.library import table

        rows = table()
        if form == "json":
            _deliver_json([asdict(row) for row in rows])
        else:
            show(lambda screen: library_page(rows, screen))
        return
    faults = through_faults(through, Request(), []) if through is not None else []
    if faults:
        fail_all(faults)
    found = model_asked(load(model), model)
    if through is not None:
        found = through_others(found, through)
    if form == "json":
        _deliver_json(solvers_record(found, every=every))
        return
    show(lambda screen: solvers_page(found, screen, every=every))
    if found.borrowed is not None:
        print(f"\n{found.borrowed}")


def modes(
    model: ModelArgument,
    group: Annotated[
        int | None, typer.Option(metavar="N", help="List the modes of this group, with their coordinates.")
    ] = None,
    starts: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Where Newton searches: end after N random starts in a row that find no new mode; 500.",
        ),
    ] = None,
    trust: TrustOption = False,
    form: FormatOption = "table",
) -> None:
    """List the assembly modes of the structural groups of MODEL where its reference stands.

    A group that goes together in several ways keeps the reference's;
    mbssa solve --mode takes another. The answer says how the modes were searched for, and
    whether there can be more.

    Exit 0: listed; 1: the model cannot be solved as given; 2: bad input.

    Example: mbssa modes stewart --group 1
    """
    check_format(form)
    from groups.assembly_modes import STARTS
    from groups.assembly_modes import modes as modes_of
    from mbssa.bar import bar

    found = model_asked(load(model), model)
    most = STARTS if starts is None else starts
    try:
        with bar() as told:
            if group is None:
                listed = modes_of(found, starts=most, told=told)
            else:
                listed = (modes_of(found, group, starts=most, told=told),)
    except ValueError as error:
        fail(f"{model}: {error}")
    if form == "json":
        _deliver_json(modes_record(found, listed))
        return
    show(lambda screen: modes_page(found, listed, screen, each=group is not None))


def check_format(form: str) -> None:
    """Exit 2 if there is no such format."""
    if form not in ("table", "json"):
        raise typer.BadParameter(f"{form!r}; write table or json", param_hint="--format")


def _deliver_json(record: Any) -> None:
    deliver(json.dumps(record, ensure_ascii=False, indent=2) + "\n", None)
