"""The command ``mbssa solve``."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from groups.building import build
from groups.cli import arguments
from groups.cli.loading import motion_to_solve, solvable_model
from groups.cli.options import CompiledOption, OutputOptions, shown_in, with_outputs
from groups.cli.running import Request, solve_interactively
from groups.reports.solution import solution_report
from groups.trajectory import Branch, Level
from mbssa import load, mpi_rank
from mbssa.cli import completion
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
from mbssa.cli.outputs import dash_faults, written


@stopping("nothing more was written")
@with_outputs()
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
            help="How branches are held: proven, smooth (on through crossings), or checked (faster).",
            show_default="proven",
        ),
    ] = None,
    *,
    outputs: OutputOptions,
    workers: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Solve on so many cores, by the plan predicted fastest."),
    ] = None,
    executor: Annotated[
        str | None, typer.Option(metavar="NAME", help="threads, processes, mpi or cluster, for --workers.")
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
    faults = outputs.faults([model, motion, plan], force, form)
    faults += dash_faults("--checkpoint", checkpoint, "a folder")
    if faults:
        fail_all(faults)

    solvable = solvable_model(load(model), model)
    kept = arguments.body_indices(solvable.mechanism, keep, faults)
    modes = arguments.modes(solvable, mode, faults)
    solvers = arguments.solvers(solvable, solver, faults)
    if faults:
        fail_all(faults)
    if solvers:
        solvable = build(solvable.structure, solvers)
    path = motion_to_solve(solvable, model, motion, steps, duration, kept, level)
    if faults := outputs.faults_at_reference(solvable, kept, level):
        fail_all(faults)

    try:
        run = solve_interactively(
            solvable,
            path,
            bodies=None if kept is None else [body + 1 for body in kept],
            level=level,
            modes=modes,
            branch=branch,
            compiled=compiled,
            request=request,
        )
    except ValueError as error:
        fail(str(error))
    except RuntimeError as error:
        more = (
            "" if checkpoint is None else f"\nwhat is done is kept: add --resume to --checkpoint {checkpoint}"
        )
        fail(f"{error}{more}", NOT_DETERMINED)
    except MemoryError:
        fail(f"{len(path.time):,} instants need more memory than there is; write fewer --steps or --keep")
    if run.stopped:
        more = "" if checkpoint is None else f": add --resume to --checkpoint {checkpoint}"
        print(f"stopped by Ctrl-C; what was computed is kept{more}", file=sys.stderr)

    reached = run.reached
    targets = outputs.targets if len(reached.time) else []
    files, faults = written(targets, lambda target: outputs.write(reached, target))
    run = replace(run, trajectory=shown_in(run.trajectory, outputs.units))
    units = run.trajectory.mechanism.units
    present(solution_report(solvable, path, run, files, units), form, beside=files)
    if faults:
        fail_all(faults)
    raise typer.Exit(STOPPED if run.stopped else OK if run.trajectory.ok else NOT_DETERMINED)
