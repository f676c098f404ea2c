"""The command ``mbssa sweep``."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar, cast

import typer

from groups.cli import options
from groups.cli.running import solvable_model
from groups.dynamics.forward import Method
from groups.motion import Motion, read_motion
from groups.trajectory import Branch
from mbssa import load
from mbssa.cli import completion
from mbssa.cli.console import BETWEEN, NOT_DETERMINED, OK, fail, fail_all, present, stopping
from mbssa.cli.options import ALLOW, FORMAT, MODEL, TRUST, flag, option, units_option
from mbssa.cli.outputs import STILL, Target, dash_faults, target_faults
from mbssa.progress import bar
from mbssa.units import chosen_units

if TYPE_CHECKING:
    from routes.sweep.block import Setup
    from routes.sweep.cases import Method as SamplingMethod

_OWN = Path("own")

Made = TypeVar("Made")


@stopping("cases that are written are kept, --resume goes on")
def sweep(
    model: str = MODEL,
    store: Path = option("FOLDER", "Write the cases there, as Parquet files.", ...),
    grid: list[str] | None = option(
        "NAME=LOW:HIGH:NUMBER",
        "Every combination; or NAME=VALUE,VALUE,...",
        complete=completion.coordinate_values,
    ),
    sample: list[str] | None = option(
        "NAME=LOW:HIGH",
        "Spread over ranges; or NAME=normal:MEAN:DEVIATION.",
        complete=completion.coordinate_values,
    ),
    number: int | None = option("N", "Cases of the sample.", min=1),
    method: str = option("NAME", "sobol, halton or latin", "sobol"),
    seed: int = option("N", "Random seed of the sample.", 0, min=0),
    cases: Path | None = option("FILE", "One by one: .csv, a column for each NAME."),
    record: list[str] | None = option(
        "NAME,...", "Joints, coordinates, bodies, points, residual, condition.", complete=completion.recorded
    ),
    quantity: list[str] | None = options.QUANTITY,
    limit: list[str] | None = option(
        "NAME=LOW:HIGH",
        "Limits of a joint coordinate, for the column within.",
        complete=completion.coordinate_values,
    ),
    mode: list[str] | None = option("GROUP=NUMBER,...", "Assembly mode of a group in every case."),
    branch: Branch | None = typer.Option(
        None, help="How branches are held: proven, or checked (faster).", show_default="proven"
    ),
    motion: Path | None = option("FILE", "Solve a motion for each case: a file, or own for the model's."),
    steps: int | None = option("N", "Instants of the motion.", min=1),
    duration: float | None = option("S", "Seconds of the motion."),
    simulate: Method | None = option(
        "NAME", "Simulate each case from rest, by groups, partitioning, lagrange, penalty or dae."
    ),
    tolerance: float = option("X", "Relative tolerance of the integrator of --simulate.", 1e-8),
    workers: int | None = option("N", "Processes or threads; all cores if not given.", min=1),
    executor: str | None = option("NAME", "processes, threads, sequential, cluster; under mpiexec its ranks"),
    block: int | None = option("N", "Cases of a file.", min=1),
    resume: bool = flag("--resume", "Go on with the sweep in FOLDER."),
    plot: Path | None = option("FILE", "Draw curves, a map or three views: .png, .svg, .pdf."),
    axes: list[str] | None = option("NAME,...", "Columns that the picture is drawn over."),
    force: bool = flag("--force", "Replace the sweep in FOLDER, and files that exist."),
    trust: bool = TRUST,
    allow: list[Path] | None = ALLOW,
    form: str = FORMAT,
    units: str = units_option(
        "Units of the picture: file (MODEL's), SI, or such as mm,deg; columns of FOLDER are SI."
    ),
) -> None:
    """Solve many cases of MODEL: poses, designs, modes, a motion or a simulation of each.

    NAME is an input (2-3.slide), geometry (2-3.point.x, crank.origin.z, 4-5.length)
    or "mode 3"; NAME+ adds to what is there. Numbers are in MODEL's units, or have
    one: 1-2.angle=0:90deg:19.

    Exit 0: all cases were run; 1: the model cannot be solved as given, or a block
    failed; 2: bad input; 130: stopped. What is written is kept, --resume goes on.

    Example: mbssa sweep stewart_inverse --sample 1-14.x=-1:1 --sample 1-14.z=0.5:1.6
    --number 100000 --record platform.centre --store reach --plot reach.png

    Example: mpiexec -n 2 mbssa sweep planar_four_bar --grid 2-3.point.x+=-0.1:0.1:101
    --motion own --record 1-4.angle --store bars

    Example: mbssa sweep andrews --grid 1-2.angle+=-0.1:0.1:21 --simulate groups
    --duration 0.01 --store starts
    """
    from routes.cli.sweep_cases import read_cases, read_limits
    from routes.executors import launched_executor
    from routes.reports.sweep import sweep_report
    from routes.sweep.run import prepare, run
    from routes.sweep.store import SweepError

    built = solvable_model(load(model), model)
    faults = dash_faults("--store", store, "a folder")

    def attempt(make: Callable[[], Made]) -> Made | None:
        try:
            return make()
        except ValueError as error:
            faults.extend(str(error).split(BETWEEN))
            return None

    which = attempt(
        lambda: read_cases(
            built, grid or [], sample or [], cases, number, cast("SamplingMethod", method), seed
        )
    )
    limits = attempt(lambda: read_limits(built, limit or []))
    modes = options.by_group(built, "mode", mode, faults)
    quantities = options.expressions(quantity, faults)
    moved: Motion | Literal["own"] | None = None
    if motion == _OWN:
        moved = "own"
    elif motion is not None:
        moved = attempt(lambda: read_motion(built.mechanism, motion, steps=steps, duration=duration))
        steps = duration = None
    if plot is not None:
        faults += target_faults([Target("--plot", plot, STILL)], [model, motion, cases], force)
    elif axes is not None:
        faults.append("--axes: is for pictures; write --plot FILE too")
    if faults or which is None:
        fail_all(faults)
    try:
        setup = prepare(
            built, which, store=store, record=record, quantities=quantities, limits=limits, modes=modes,
            branch=branch, motion=moved, steps=steps, duration=duration, simulate=simulate,
            tolerance=tolerance, block=block,
        )  # fmt: skip
        if plot is not None:
            _check_axes(setup, axes)
        launched = launched_executor()
        with bar() as report:
            found = run(
                setup,
                workers=workers or os.cpu_count() or 1,
                executor=executor or (launched.name if launched else "processes"),
                resume=resume,
                force=force,
                progress=lambda share: report(f"solving {which.number:,} cases", share),
            )
        files = []
        if plot is not None:
            from routes.plots.sweep import draw_sweep

            draw_sweep(found, plot, axes=axes, units=chosen_units(units, built.mechanism.units))
            files.append(plot)
    except (ValueError, ModuleNotFoundError) as error:
        fail_all(str(error).split(BETWEEN))
    except SweepError as error:
        fail(str(error), NOT_DETERMINED)
    title = built.mechanism.title
    present(sweep_report(found, f"{model}: {title}" if title else model).with_files(files), form)
    raise typer.Exit(OK)


def _check_axes(setup: Setup, axes: Sequence[str] | None) -> None:
    """Check the axes of a picture before anything is solved."""
    from routes.plots.sweep import axes_of, curves_of, shows_deviations
    from routes.sweep.block import columns_written

    columns, parameters = columns_written(setup), setup.cases.names
    if shows_deviations(setup.cases.definition["kind"], setup.motion is not None, axes):
        curves_of(columns, parameters, "")
        return
    over = axes_of(columns, parameters, axes)
    if len(over) == 1:
        curves_of(columns, parameters, over[0])
