"""The command ``mbssa modes``."""

from __future__ import annotations

import sys
from pathlib import Path

from groups.assembly_modes import STARTS
from groups.assembly_modes import modes as modes_of
from groups.cli.options import CommonOptions, with_options
from groups.cli.running import solvable_model
from groups.reports.about import modes_report
from mbssa import load
from mbssa.cli import completion
from mbssa.cli.console import failing, present, refuse, stopping
from mbssa.cli.inputs import shown_in
from mbssa.cli.options import MODEL, UNITS, option
from mbssa.cli.outputs import STILL, target_faults, targets_of
from mbssa.progress import bar


@with_options()
def modes(
    model: str = MODEL,
    group: int | None = option(
        "N", "List the modes of this group, with their coordinates.", complete=completion.groups
    ),
    starts: int = option(
        "N", "Where Newton searches: end after N random starts in a row that find no new mode.", STARTS
    ),
    pictures: Path | None = option("FILE", "Draw the modes as thumbnails: .png, .svg or .pdf."),
    *,
    common: CommonOptions,
    units: str = UNITS,
) -> None:
    """List the assembly modes of the structural groups of MODEL where its reference stands.

    A group with several assembly modes keeps the reference's;
    mbssa solve --mode takes another. The answer says how the modes were searched for, and
    whether there can be more.

    Exit 0: listed; 1: the model cannot be solved as given; 2: bad input.

    Example: mbssa modes stewart --group 1 --pictures modes.svg
    """
    refuse(target_faults(targets_of(("--pictures", pictures, STILL)), [model], common.force))
    found = solvable_model(shown_in(load(model), units), model)
    ended = "a search shows its modes when it has ended; write fewer --starts"
    with failing(f"{model}: "), stopping(ended), bar() as show:
        if group is None:
            listed = modes_of(found, starts=starts, told=show)
        else:
            listed = (modes_of(found, group, starts=starts, told=show),)
    if pictures is not None:
        from groups.pictures import mode_pictures
        from mbssa.pictures import save

        with failing("--pictures: "):
            save(mode_pictures(found, [each for each in listed if len(each) > 1] or listed), pictures)
        print(f"written: {pictures}", file=sys.stderr)
    present(modes_report(found, listed, each=group is not None), common.form)
