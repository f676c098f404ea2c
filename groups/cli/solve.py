"""The command ``mbssa solve``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from groups.cli import options
from groups.cli.running import Request, motion_to_solve, solvable_model, solve_interactively
from groups.model import build
from groups.reports.solution import solution_report
from groups.status import NOT_COMPUTED
from groups.trajectory import Branch, Level, body_index
from mbssa import load, mpi_rank
from mbssa.cli.console import NOT_DETERMINED, fail, refuse, stopping
from mbssa.cli.options import DURATION, MODEL, MOTION, STEPS, option
from mbssa.cli.outputs import dash_faults


@stopping("nothing more was written")
@options.with_options()
def solve(
    model: str = MODEL,
    motion: Path | None = MOTION,
    steps: int | None = STEPS,
    duration: float | None = DURATION,
    mode: list[str] | None = option(
        "GROUP=NUMBER,...", "Assembly mode of a group, as mbssa modes numbers them; may be repeated."
    ),
    solver: list[str] | None = option(
        "GROUP=NAME,...", "Solver of a group, as mbssa solvers --all names them; may be repeated."
    ),
    keep: list[str] | None = option("BODY,...", "Keep these bodies alone, by name or number."),
    level: Level = option(
        "LEVEL", "The last one wanted: position, velocity or acceleration.", "acceleration"
    ),
    branch: Branch | None = option(
        "HOW",
        "How branches are held: proven, smooth (on through crossings), or checked (faster).",
        show_default="proven",
    ),
    *,
    outputs: options.OutputOptions,
    request: Request,
    compiled: bool | None = options.COMPILED,
    common: options.CommonOptions,
) -> None:
    """Solve position, velocity and acceleration of MODEL over a motion, group by group.

    Ctrl-C stops a run and keeps what it has. Under mpiexec, ranks share the run.

    Exit 0: every group was solved at every instant; 1: the model cannot be
    solved as given, or not at every instant; 2: bad input; 130: stopped.

    Example: mbssa solve rotor --output rotor.csv --animate rotor.html
    """
    if mpi_rank.size() > 1 and request.executor is None:
        request = replace(request, executor="mpi")
    faults = outputs.faults([model, motion, request.plan], common.force, common.form)
    faults += dash_faults("--checkpoint", request.checkpoint, "a folder")
    refuse(faults)

    solvable, kept = solvable_model(load(model), model), set[int]()
    for name in keep or ():
        try:
            kept.add(body_index(solvable.mechanism, name))
        except KeyError as error:
            faults.append(f"--keep: {error.args[0]}")
    modes = options.by_group(solvable, "mode", mode, faults)
    solvers = options.by_group(solvable, "solver", solver, faults)
    refuse(faults)
    bodies = sorted(kept) or None
    if solvers:
        solvable = build(solvable.structure, solvers)
    path = motion_to_solve(solvable, model, motion, steps, duration, bodies, level)
    refuse(outputs.faults_at_reference(options.at_reference(solvable, bodies, level)))
    resuming = "" if request.checkpoint is None else f": add --resume to --checkpoint {request.checkpoint}"
    try:
        more = {"bodies": keep, "modes": modes, "branch": branch}
        run = solve_interactively(solvable, path, level, compiled, request, **more)
    except ValueError as error:
        fail(str(error))
    except RuntimeError as error:
        fail(str(error) + f"\nwhat is done is kept{resuming}" * bool(resuming), NOT_DETERMINED)
    except MemoryError:
        fail(f"{len(path.time):,} instants need more memory than there is; write fewer --steps or --keep")

    reached = run.trajectory
    if run.stopped:  # without the instants that no group was computed at
        computed = (reached.status != NOT_COMPUTED).any(axis=1)
        reached = reached.instants(np.flatnonzero(computed))
    run = run._replace(trajectory=options.shown_in(run.trajectory, outputs.units))
    targets, report = outputs.targets if len(reached.time) else [], solution_report(solvable, path, run)
    stopped, write = f"what was computed is kept{resuming}" * run.stopped, partial(outputs.write, reached)
    options.conclude(targets, write, report, common.form, run.trajectory.ok, stopped)
