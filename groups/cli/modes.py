"""The command ``mbssa modes``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from groups.assembly_modes import STARTS, GroupModes
from groups.assembly_modes import modes as modes_of
from groups.cli.loading import solvable_model
from groups.model import Model
from groups.reports.modes import modes_report
from mbssa import load
from mbssa.cli import completion
from mbssa.cli.console import fail, fail_all, present, stopping
from mbssa.cli.inputs import shown_in
from mbssa.cli.options import AllowOption, ForceOption, FormatOption, ModelArgument, TrustOption, UnitsOption
from mbssa.cli.outputs import STILL, target_faults, targets_of
from mbssa.progress import bar


def modes(
    model: ModelArgument,
    group: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            autocompletion=completion.groups,
            help="List the modes of this group, with their coordinates.",
        ),
    ] = None,
    starts: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Where Newton searches: end after N random starts in a row that find no new mode; 500.",
        ),
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the modes as thumbnails: .png, .svg or .pdf.")
    ] = None,
    force: ForceOption = False,
    trust: TrustOption = False,
    allow: AllowOption = None,
    form: FormatOption = "table",
    units: UnitsOption = "file",
) -> None:
    """List the assembly modes of the structural groups of MODEL where its reference stands.

    A group with several assembly modes keeps the reference's;
    mbssa solve --mode takes another. The answer says how the modes were searched for, and
    whether there can be more.

    Exit 0: listed; 1: the model cannot be solved as given; 2: bad input.

    Example: mbssa modes stewart --group 1 --pictures modes.svg
    """
    faults = target_faults(targets_of(("--pictures", pictures, STILL)), [model], force)
    if faults:
        fail_all(faults)
    found = solvable_model(shown_in(load(model), units), model)
    most = STARTS if starts is None else starts
    try:
        with stopping("a search shows its modes when it has ended; write fewer --starts"), bar() as show:
            if group is None:
                listed = modes_of(found, starts=most, told=show)
            else:
                listed = (modes_of(found, group, starts=most, told=show),)
    except ValueError as error:
        fail(f"{model}: {error}")
    if pictures is not None:
        _draw(found, listed, pictures)
    present(modes_report(found, listed, each=group is not None), form)


def _draw(model: Model, listed: Sequence[GroupModes], path: Path) -> None:
    from groups.pictures import mode_pictures
    from mbssa.pictures import save

    try:
        save(mode_pictures(model, [found for found in listed if len(found) > 1] or listed), path)
    except ValueError as error:
        fail(f"--pictures: {error}")
    print(f"written: {path}", file=sys.stderr)
