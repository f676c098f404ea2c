"""The command ``mbssa linearise``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from groups.cli.options import (
    AnimateOption,
    ApplyOption,
    FpsOption,
    FramesOption,
    InitialOption,
    PointsOption,
    UnitsOption,
    WidthOption,
    pictures_asked,
)
from groups.cli.requests import Pictures, picture_faults, values_asked
from groups.cli.solve import write_solution
from groups.dynamics.forward.small_motions import Linearisation, equilibrium
from groups.dynamics.forward.small_motions import linearise as linearise_about
from groups.reports.small_motions import SmallMotions, small_motions_report
from groups.trajectory import Trajectory
from mbssa import ModelError, load
from mbssa.cli.console import BETWEEN, NOT_DETERMINED, OK, deliver, fail, fail_all, present
from mbssa.cli.options import AllowOption, ForceOption, ModelArgument, SheetOption, TrustOption
from mbssa.cli.outputs import MOVING, Target, target_faults, written
from mbssa.film import Film
from mbssa.joints.catalogue import is_length
from mbssa.units import SI, given_in

#: Formats of the table by the endings of files.
_FORMATS = {".csv": "csv", ".json": "json"}


def linearise(
    model: ModelArgument,
    here: Annotated[
        bool, typer.Option("--here", help="Linearise where MODEL stands; search for no equilibrium.")
    ] = False,
    initial: InitialOption = None,
    apply: ApplyOption = None,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write the modes: .csv or .json; may be repeated."
        ),
    ] = None,
    animate: AnimateOption = None,
    mode: Annotated[
        int, typer.Option(min=1, metavar="N", help="Mode that --animate shows, from the table.")
    ] = 1,
    amplitude: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Of the coordinate that moves most, for --animate, in MODEL's units.",
            show_default="0.1 rad, or 0.1 of the size",
        ),
    ] = None,
    points: PointsOption = None,
    frames: FramesOption = None,
    fps: FpsOption = None,
    width: WidthOption = None,
    units: UnitsOption = "file",
    force: ForceOption = False,
    trust: TrustOption = False,
    allow: AllowOption = None,
    form: SheetOption = "table",
) -> None:
    """Find the static equilibrium of MODEL, its eigenfrequencies and mode shapes.

    MODEL's driven coordinates are released, and the state of rest under weight
    and forces is searched for from the reference, or from --initial, downhill.
    About it the equations of motion are linearised. Frequencies are those of
    damped oscillations; amplitudes are by m and rad, the largest is 1.

    Exit 0: found; 1: no equilibrium was found, or the mode to be animated does
    not swing; 2: bad input, or a search that leaves the workspace.

    Example: mbssa linearise slider_crank --animate swing.html
    """
    targets = [Target("--output", path, tuple(_FORMATS)) for path in output or []]
    targets += [Target("--animate", path, MOVING) for path in animate or []]
    faults = target_faults(targets, [model], force)
    pictures = pictures_asked(None, animate, None, points, Film(frames, fps, width), faults)
    mechanism = load(model)
    start = values_asked("--initial", initial or [], mechanism.units, SI, faults)
    applied = values_asked("--apply", apply or [], mechanism.units, ("N", "N m"), faults)
    if faults:
        fail_all(faults)
    try:
        rest = None if here else equilibrium(mechanism, initial=start, applied=applied)
        found = linearise_about(mechanism, at=start if rest is None else rest.coordinates, applied=applied)
    except ModelError:
        raise  # says its place itself
    except ValueError as error:
        fail_all(str(error).split(BETWEEN))
    shown = mechanism.units if units == "file" else SI
    played = _played(found, mode, amplitude, animate or [], pictures)

    def write(target: Target) -> None:
        if played is not None and target.endings is MOVING:
            write_solution(played, target, pictures, {"units": units})
        else:
            report = small_motions_report(SmallMotions(found, rest, (), shown))
            deliver(report.export(_FORMATS[target.path.suffix.lower()]), target.path)

    done, wrong = written(targets, write)
    present(small_motions_report(SmallMotions(found, rest, done, shown)), form)
    if wrong:
        fail_all(wrong)
    raise typer.Exit(OK if rest is None or rest.found else NOT_DETERMINED)


def _played(
    found: Linearisation, mode: int, amplitude: float | None, paths: list[Path], pictures: Pictures
) -> Trajectory | None:
    """One period of the mode that is to be animated; None if none is."""
    if not paths:
        return None
    faults = picture_faults(found.model, None, "acceleration", False, paths, pictures, None)
    modes = len(found.frequency)
    if mode > modes:
        faults.append(f"--mode {mode}: there are {modes} modes, from 1")
    if amplitude is not None and not 0.0 < abs(amplitude) < float("inf"):
        faults.append(f"--amplitude {amplitude:g}: must be a finite number other than 0")
    if faults:
        fail_all(faults)
    if amplitude is not None:
        most = found.moved_most(mode - 1)
        amplitude *= given_in("m" if is_length(most) else "rad", found.model.mechanism.units)[1]
    try:
        played = found.mode(mode - 1, amplitude)
    except ValueError as error:
        fail(f"--mode {mode}: {str(error).partition(' ')[2].partition(' ')[2]}", NOT_DETERMINED)
    if not played.ok:
        fail(f"--amplitude: mode {mode} leaves the workspace at this amplitude; write a smaller one")
    return played
