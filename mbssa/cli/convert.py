"""The command ``mbssa convert``."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from mbssa.cli import completion
from mbssa.cli.console import BETWEEN, refuse
from mbssa.cli.options import ALLOW, FORCE, flag
from mbssa.cli.outputs import Target, target_faults
from mbssa.files import write_whole
from mbssa.io import load, save, written_text
from mbssa.io.formats import ALL_ENDINGS

_ENDINGS = f"A path in {', '.join(ALL_ENDINGS)}."


def convert(
    source: str = typer.Argument(
        ..., metavar="FROM", autocompletion=completion.models, help="A built-in model or a file."
    ),
    target: Path = typer.Argument(..., metavar="TO", help=_ENDINGS),
    approximate: bool = flag("--approximate", "Leave out joints that a robot's format cannot say."),
    allow: list[Path] | None = ALLOW,
    force: bool = FORCE,
) -> None:
    """Write FROM in the format that the ending of TO says.

    .toml and .npz (arrays) keep everything; a model that is TOML stays as it is
    written, with its comments and units, others are in m and rad. .m (the
    paper's script User_Data.m) and .csv (its matrices as a sheet) keep the
    topology. .urdf (with a side file .yaml for loops and motors), .sdf and .xml
    (MJCF) keep bodies, masses, and joints that are turns and shifts. What a file
    does not keep is named on standard error.

    Exit 0: written; 2: bad input.

    Example: mbssa convert stewart stewart.urdf
    """
    targets = [Target("TO", target, ALL_ENDINGS)]
    if target.suffix.lower() == ".urdf":
        targets.append(Target("TO, its side file", target.with_suffix(".yaml"), (".yaml",)))
    refuse(target_faults(targets, [source], force))
    mechanism = load(source)
    text = written_text(source, target) if target.suffix.lower() == ".toml" else None
    if text is not None:
        write_whole(target, text.encode())
        return
    lost = save(mechanism, target, force=True, approximate=approximate)
    if lost:
        print(BETWEEN.join([f"{target} does not keep:", *lost]), file=sys.stderr)
