"""The command ``mbssa simulate``."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from groups.building import build
from groups.cli.options import (
    AnimateOption,
    ApplyOption,
    BodiesOption,
    CompiledOption,
    CurvesOption,
    FpsOption,
    FramesOption,
    InitialOption,
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
    names_asked,
    number_asked,
    picture_faults,
    standing,
    values_asked,
)
from groups.cli.solve import columns_asked, write_solution
from groups.cli.watched import stop_wanted
from groups.dynamics.forward import Event, Method, Simulation
from groups.dynamics.forward import simulate as simulate_by
from groups.dynamics.forward.choice import structure_of
from groups.dynamics.forward.integration import Integrator
from groups.model import Model
from groups.reports.simulation import SimulationSummary, simulation_report
from groups.results.table import Choice, chosen_columns
from groups.trajectory import Trajectory, load_trajectory
from mbssa import ModelError, load
from mbssa.cli import completion
from mbssa.cli.console import BETWEEN, NOT_DETERMINED, OK, STOPPED, fail, fail_all, present, stopping
from mbssa.cli.options import AllowOption, ForceOption, FormatOption, ModelArgument, StepsOption, TrustOption
from mbssa.cli.outputs import MOVING, STILL, TABLES, TRAJECTORY, Target, target_faults, written
from mbssa.film import Film
from mbssa.progress import bar
from mbssa.units import SI


@dataclass(frozen=True)
class Asked:
    """Arguments of a simulation as texts, and by what it is computed."""

    duration: float | None
    steps: int | None
    method: Method
    tolerance: float
    integrator: Integrator | None
    largest_step: float
    initial: Sequence[str]
    rate: Sequence[str]
    drive: Sequence[str]
    apply: Sequence[str]
    until: Sequence[str]
    restart: Path | None
    limits: str
    stiffness: float
    damping: float
    compiled: bool | None


@stopping("nothing more was written")
def simulate(
    model: ModelArgument,
    duration: Annotated[
        float | None, typer.Option(metavar="S", help="Seconds.", show_default="of MODEL's motion, or 1")
    ] = None,
    steps: StepsOption = None,
    method: Annotated[
        Method,
        typer.Option(
            metavar="NAME",
            help="How the equations of motion are written: groups, partitioning, lagrange, penalty or dae.",
        ),
    ] = "groups",
    tolerance: Annotated[float, typer.Option(metavar="X", help="Relative, of the integrator.")] = 1e-8,
    integrator: Annotated[
        Integrator | None,
        typer.Option(
            metavar="NAME",
            help="Of SciPy: DOP853, RK45, RK23, Radau, BDF or LSODA.",
            show_default="DOP853; Radau for penalty",
        ),
    ] = None,
    largest_step: Annotated[
        float,
        typer.Option(
            metavar="S",
            help="Seconds that a step may take: less than the shortest contact lasts.",
            show_default="any",
        ),
    ] = math.inf,
    initial: InitialOption = None,
    rate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            autocompletion=completion.coordinates,
            help="Rate of a released coordinate at the start, per second; may be repeated.",
        ),
    ] = None,
    drive: Annotated[
        str | None,
        typer.Option(
            metavar="COORDINATE,...",
            autocompletion=completion.coordinates,
            help="Coordinates that keep the law of MODEL's motion; all others are released.",
        ),
    ] = None,
    apply: ApplyOption = None,
    until: Annotated[
        list[str] | None,
        typer.Option(
            metavar="QUANTITY=VALUE",
            help='End where a quantity passes a value: "1-2.angle=90"; may be repeated.',
        ),
    ] = None,
    restart: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Go on from the last instant of a run that was written as .npz."),
    ] = None,
    limits: Annotated[
        Literal["note", "stop"],
        typer.Option(help="What happens where a joint coordinate reaches a limit of MODEL."),
    ] = "note",
    stiffness: Annotated[float, typer.Option(metavar="X", help="Of joints by --method penalty, N/m.")] = 1e7,
    damping: Annotated[
        float, typer.Option(metavar="X", help="Of joints by --method penalty, N s/m.")
    ] = 200.0,
    output: OutputOption = None,
    energies: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Write energies and errors over time: .csv or .parquet."),
    ] = None,
    reactions: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Write reactions of all joints over time: .csv or .parquet."),
    ] = None,
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
    compiled: CompiledOption = None,
    force: ForceOption = False,
    trust: TrustOption = False,
    allow: AllowOption = None,
    form: FormatOption = "table",
) -> None:
    """Simulate MODEL under its masses, gravity and forces: forward dynamics.

    MODEL's driven coordinates are released and move as the forces have it, from
    the reference at rest, or from --initial and --rate; --drive keeps some on
    their motion law. Ctrl-C stops a run and keeps what it has.

    Exit 0: the run came to its end, or to --until; 1: the model cannot be
    simulated as given, or not to the end; 2: bad input; 130: stopped.

    Example: mbssa simulate slider_crank --duration 2 --animate fall.html

    Example: mbssa simulate slider_crank --output first.npz, and then mbssa simulate
    slider_crank --restart first.npz --output second.npz
    """
    targets = [Target("--output", path, TRAJECTORY) for path in output or []]
    targets += [Target("--energies", path, TABLES) for path in energies or []]
    targets += [Target("--reactions", path, TABLES) for path in reactions or []]
    targets += [Target("--plot", path, STILL) for path in plot or []]
    targets += [Target("--animate", path, MOVING) for path in animate or []]
    faults = target_faults(targets, [model, restart], force)
    choice = columns_asked(quantities, joints, bodies, units, quantity or [], faults)
    pictures = pictures_asked(plot, animate, curves, points, Film(frames, fps, width), faults)
    if faults:
        fail_all(faults)
    asked = Asked(
        duration, steps, method, tolerance, integrator, largest_step, initial or [], rate or [],
        names_asked([drive or ""]), apply or [], until or [], restart, limits,
        stiffness, damping, compiled,
    )  # fmt: skip
    _simulate(model, asked, targets, pictures, choice, form)


def _simulate(
    name: str, asked: Asked, targets: Sequence[Target], pictures: Pictures, choice: Choice, form: str
) -> None:
    mechanism = load(name)
    try:
        model = build(structure_of(mechanism))
    except ModelError:
        raise  # says its place itself
    except ValueError as error:
        fail(str(error), NOT_DETERMINED)
    _try_outputs(model, targets, pictures, choice)
    units = mechanism.units
    faults: list[str] = []
    given: dict[str, Any] = {
        "initial": values_asked("--initial", asked.initial, units, SI, faults),
        "rates": values_asked("--rate", asked.rate, units, ("m/s", "rad/s"), faults),
        "applied": values_asked("--apply", asked.apply, units, ("N", "N m"), faults),
        "events": _events(asked.until, units, faults),
        "start": _before(asked.restart, faults),
    }
    motion = model.mechanism.motion
    duration = asked.duration
    if duration is None:
        duration = 1.0 if motion is None else motion.duration
    if faults:
        fail_all(faults)
    try:
        with stop_wanted() as wanted, bar() as told:

            def progress(share: float) -> bool:
                told(f"simulating {duration:g} s", share)
                return not wanted.is_set()

            found = simulate_by(
                model, duration, method=asked.method, tolerance=asked.tolerance,
                steps=asked.steps or 201, prescribed=asked.drive, integrator=asked.integrator,
                stiffness=asked.stiffness, damping=asked.damping, compiled=asked.compiled,
                largest_step=asked.largest_step, stop_at_limits=asked.limits == "stop", progress=progress,
                **given,
            )  # fmt: skip
    except (ValueError, ModuleNotFoundError) as error:
        fail_all(str(error).split(BETWEEN))
    if found.status == "stopped":
        print("stopped by Ctrl-C; what was computed is kept", file=sys.stderr)
    done, wrong = written(targets, lambda target: _write(found, target, pictures, choice))
    shown = units if choice["units"] == "file" else SI
    present(simulation_report(SimulationSummary(found, done, shown)), form)
    if wrong:
        fail_all(wrong)
    raise typer.Exit(STOPPED if found.status == "stopped" else OK if found.ok else NOT_DETERMINED)


def _try_outputs(model: Model, targets: Sequence[Target], pictures: Pictures, choice: Choice) -> None:
    """Refuse what cannot be drawn or tabulated before anything is simulated."""
    still = any(target.option == "--plot" for target in targets)
    moving = [target.path for target in targets if target.option == "--animate"]
    faults = []
    if still or moving:
        faults = picture_faults(model, None, "acceleration", still, moving, pictures, choice.get("derived"))
    if any(target.option == "--output" for target in targets) or "derived" in choice:
        try:
            chosen_columns(standing(model, None, "acceleration"), **choice)
        except (KeyError, ValueError) as error:
            faults += str(error.args[0]).split(BETWEEN)
    if faults:
        fail_all(faults)


def _events(texts: Sequence[str], units: tuple[str, str], faults: list[str]) -> list[Event]:
    """Events that end a run, from ``QUANTITY=VALUE``."""
    found = []
    for text in texts:
        quantity, equals, number = (part.strip() for part in text.rpartition("="))
        value = number_asked(number)
        if not equals or not quantity or value is None:
            faults.append(f"--until {text}: write QUANTITY=VALUE, such as 1-2.angle=90")
            continue
        found.append(Event(text, quantity, value, units=units))
    return found


def _before(path: Path | None, faults: list[str]) -> Trajectory | None:
    """The run that is to go on."""
    if path is None:
        return None
    try:
        return load_trajectory(path)
    except ValueError as error:
        faults.append(f"--restart: {error}")
    except OSError as error:
        faults.append(f"--restart {path}: {error.strerror or error}")
    return None


def _write(found: Simulation, target: Target, pictures: Pictures, choice: Choice) -> None:
    tables: dict[str, Callable[[], Any]] = {"--energies": lambda: found, "--reactions": lambda: found.forces}
    if target.option in tables:
        tables[target.option]().write(target.path, force=True, units=choice["units"])
        return
    write_solution(found.trajectory, target, pictures, choice)
