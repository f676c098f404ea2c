"""The command ``mbssa linearise``."""

from __future__ import annotations

from typing import Annotated

import typer

from groups.building import build
from groups.cli.options import AnimateOption, FpsOption, FramesOption, WidthOption
from groups.cli.values import ApplyOption, InitialOption, numbers_asked
from groups.dynamics.forward.choice import structure_of
from groups.dynamics.forward.small_motions import equilibrium
from groups.dynamics.forward.small_motions import linearise as linearise_at
from groups.pictures import write
from groups.reports.linearisation import LinearisationSummary, linearisation_report
from mbssa import ModelError, load
from mbssa.cli.console import BETWEEN, NOT_DETERMINED, OK, fail, fail_all, present
from mbssa.cli.options import AllowOption, ForceOption, FormatOption, ModelArgument, TrustOption
from mbssa.film import Film
from mbssa.reports.wording import counted
from mbssa.targets import MOVING, Target, target_faults, written
from mbssa.units import SI


def linearise(
    model: ModelArgument,
    initial: InitialOption = None,
    apply: ApplyOption = None,
    here: Annotated[
        bool, typer.Option("--here", help="Linearise at the reference, or at --initial; seek no equilibrium.")
    ] = False,
    mode: Annotated[int, typer.Option(metavar="N", min=1, help="The mode that --animate shows.")] = 1,
    amplitude: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Of the coordinate that moves most, m or rad.",
            show_default="0.1 rad or 5 % of size",
        ),
    ] = None,
    animate: AnimateOption = None,
    frames: FramesOption = None,
    fps: FpsOption = None,
    width: WidthOption = None,
    force: ForceOption = False,
    trust: TrustOption = False,
    allow: AllowOption = None,
    form: FormatOption = "table",
) -> None:
    """Find where MODEL rests under its forces, and how it swings about that state.

    Eigenfrequencies, damping ratios and mode shapes of small motions in the
    independent coordinates. The search for the state begins at the reference, or
    at --initial, and goes downhill in potential energy.

    Exit 0: found, and stable; 1: no equilibrium is found, it is not stable, or
    MODEL is not determined; 2: bad input, or no masses.

    Example: mbssa linearise andrews --animate mode.html
    """
    targets = [Target("--animate", path, MOVING) for path in animate or []]
    faults = target_faults(targets, [model], force)
    mechanism = load(model)
    try:
        structure = build(structure_of(mechanism)).structure
    except ModelError:
        raise  # says its place itself
    except ValueError as error:
        fail(str(error), NOT_DETERMINED)
    start = numbers_asked("--initial", initial or [], mechanism.units, SI, faults)
    applied = numbers_asked("--apply", apply or [], mechanism.units, ("N", "N m"), faults)
    if faults:
        fail_all(faults)
    try:
        rest = None if here else equilibrium(structure, initial=start, applied=applied)
        found = linearise_at(structure, at=start if rest is None else rest.coordinates, applied=applied)
        summary = LinearisationSummary(found, rest, mechanism.units)
        if targets and mode > len(found.frequency):
            fail(f"--mode {mode}: MODEL has {counted(len(found.frequency), 'mode')}")
        if targets and not found.frequency[mode - 1] > 0.0:
            fail(f"--mode {mode}: does not swing; its eigenvalue is {found.eigenvalues[mode - 1]:.4g}")
        moving = found.mode(mode - 1, amplitude or summary.amplitude(mode - 1)) if targets else None
    except ValueError as error:
        fail_all(str(error).split(BETWEEN))

    def draw(target: Target) -> None:
        assert moving is not None
        write(moving, target.path, film=Film(frames, fps, width))

    done, wrong = written(targets, draw)
    present(linearisation_report(summary, done), form)
    if wrong:
        fail_all(wrong)
    raise typer.Exit(OK if summary.stable and (rest is None or rest.found) else NOT_DETERMINED)
