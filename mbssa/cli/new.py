"""The command ``mbssa new``."""

from __future__ import annotations

import shlex
from importlib import resources
from pathlib import Path
from typing import Literal

import typer

from mbssa.cli.console import refuse
from mbssa.cli.options import FORCE
from mbssa.cli.outputs import STANDARD, Target, target_faults
from mbssa.files import write_whole

Template = Literal["four-bar", "slider-crank", "six-bar", "stewart", "delta", "suspension"]


def new(
    name: Path = typer.Argument(
        ..., metavar="NAME", help="The file to write; .toml is added if it has no ending."
    ),
    template: Template = typer.Option("four-bar", "--template", "-t", help="What to begin with."),
    force: bool = FORCE,
) -> None:
    """Write a commented model to begin with, which can be decomposed, checked and solved as it is.

    Exit 0: written; 2: bad input.

    Example: mbssa new crank --template slider-crank
    """
    path = name if name.suffix or name == STANDARD else name.with_name(f"{name.name}.toml")
    refuse(target_faults([Target("NAME", path, (".toml",))], [], force))
    write_whole(path, resources.files("mbssa.io.templates").joinpath(f"{template}.toml").read_bytes())
    shown = shlex.quote(str(path))
    print(f"wrote {path}; next:")
    for command, purpose in (
        (f"decompose {shown}", "structural groups, in the order in which they are solved"),
        (f"check {shown}", "can it be solved, and if not, what would help"),
        (f"solve {shown} --animate {shlex.quote(str(path.with_suffix('.html')))}", "move it, and watch it"),
    ):
        print(f"  mbssa {command}    # {purpose}")
