"""The command ``mbssa sweep``."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar, cast

import typer

from groups.cli import arguments
from groups.cli.loading import solvable_model
from groups.cli.options import QuantityOption
from groups.dynamics.forward import Method
from groups.motion import Motion, read_motion
from groups.trajectory import Branch
from mbssa import load
from mbssa.cli import completion
from mbssa.cli.console import BETWEEN, NOT_DETERMINED, OK, fail, fail_all, present, stopping
from mbssa.cli.options import AllowOption, FormatOption, ModelArgument, TrustOption, option, units_option
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
    model: ModelArgument,
    store: Annotated[Path, option("FOLDER", "Write the cases there, as Parquet files.")],
    grid: Annotated[
        list[str] | None,
        option(
            "NAME=LOW:HIGH:NUMBER", "Every combination; or NAME=VALUE,VALUE,...", completion.coordinate_values
        ),
    ] = None,
    sample: Annotated[
        list[str] | None,
        option(
            "NAME=LOW:HIGH",
            "Spread over ranges; or NAME=normal:MEAN:DEVIATION.",
            completion.coordinate_values,
        ),
    ] = None,
    number: Annotated[int | None, option("N", "Cases of the sample.", min=1)] = None,
    method: Annotated[str, option("NAME", "sobol, halton or latin")] = "sobol",
    seed: Annotated[int, option("N", "Of the sample.", min=0)] = 0,
    cases: Annotated[Path | None, option("FILE", "One by one: .csv, a column for each NAME.")] = None,
    record: Annotated[
        list[str] | None,
        option("NAME,...", "Joints, coordinates, bodies, points, residual, condition.", completion.recorded),
    ] = None,
    quantity: QuantityOption = None,
    limit: Annotated[
        list[str] | None,
        option(
            "NAME=LOW:HIGH",
            "Limits of a joint coordinate, for the column within.",
            completion.coordinate_values,
        ),
    ] = None,
    mode: Annotated[
        list[str] | None,
        option("GROUP=NUMBER", "Assembly mode of a group in every case.", completion.group_values),
    ] = None,
    branch: Annotated[
        Branch | None,
        typer.Option(help="How branches are held: proven, or checked (faster).", show_default="proven"),
    ] = None,
    motion: Annotated[
        Path | None, option("FILE", "Solve a motion for each case: a file, or own for the model's.")
    ] = None,
    steps: Annotated[int | None, option("N", "Instants of the motion.", min=1)] = None,
    duration: Annotated[float | None, option("S", "Seconds of the motion.")] = None,
    simulate: Annotated[
        Method | None,
        option("NAME", "Simulate each case from rest, by groups, partitioning, lagrange, penalty or dae."),
    ] = None,
    tolerance: Annotated[float, option("X", "Of --simulate, relative, of the integrator.")] = 1e-8,
    workers: Annotated[
        int | None, option("N", "Processes or threads; all cores if not given.", min=1)
    ] = None,
    executor: Annotated[
        str | None, option("NAME", "processes, threads, sequential, cluster; under mpiexec its ranks")
    ] = None,
    block: Annotated[int | None, option("N", "Cases of a file.", min=1)] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the sweep in FOLDER.")] = False,
    plot: Annotated[
        Path | None, option("FILE", "Draw curves, a map or three views: .png, .svg, .pdf.")
    ] = None,
    axes: Annotated[str | None, option("NAME,...", "Columns that the picture is drawn over.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the sweep in FOLDER, and files that exist.")
    ] = False,
    trust: TrustOption = False,
    allow: AllowOption = None,
    form: FormatOption = "table",
    units: Annotated[
        str,
        units_option(
            "Units of the picture: file (MODEL's), SI, or such as mm,deg; columns of FOLDER are SI."
        ),
    ] = "file",
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
    modes = arguments.modes(built, mode, faults)
    quantities = arguments.expressions(quantity, faults)
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
    names = None if record is None else arguments.names(record)
    try:
        setup = prepare(
            built, which, store=store, record=names, quantities=quantities, limits=limits, modes=modes,
            branch=branch, motion=moved, steps=steps, duration=duration, simulate=simulate,
            tolerance=tolerance, block=block,
        )  # fmt: skip
        drawn = arguments.names(axes) if axes is not None else None
        if plot is not None:
            _check_axes(setup, drawn)
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

            draw_sweep(found, plot, axes=drawn, units=chosen_units(units, built.mechanism.units))
            files.append(plot)
    except (ValueError, ModuleNotFoundError) as error:
        fail_all(str(error).split(BETWEEN))
    except SweepError as error:
        fail(str(error), NOT_DETERMINED)
    title = built.mechanism.title
    present(sweep_report(found, f"{model}: {title}" if title else model, files), form)
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
