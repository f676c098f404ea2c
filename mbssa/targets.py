"""Files that a command is to write: what would keep it from that, found before any work is done."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path


def target_faults(targets: Sequence[tuple[str, Path | None]], used: Sequence[Path]) -> list[str]:
    """A sentence for each file that cannot or must not be written.

    Parameters
    ----------
    targets : option and file; None and ``-``, the terminal, are no files; ``--plot`` is a picture
    used : files that the command reads, which it must not replace

    >>> target_faults([("--output", Path("a.csv")), ("--plot", Path("a.csv"))], [])
    ['--plot a.csv: a picture is written as .svg, .png or .pdf', '--plot a.csv: is what --output writes; name another file']
    """  # noqa: E501 - the line is what is printed
    faults = []
    taken = {os.path.realpath(path): "is used by this command" for path in used}
    for option, path in targets:
        if path is None or str(path) == "-":
            continue
        if option == "--plot":
            faults += _picture_faults(path)
        place = os.path.realpath(path)
        if path.is_dir():
            faults.append(f"{option} {path}: is a folder; name a file in it")
        elif not Path(place).parent.is_dir():
            faults.append(f"{option} {path}: there is no folder {path.parent}")
        elif place in taken:
            faults.append(f"{option} {path}: {taken[place]}; name another file")
        taken.setdefault(place, f"is what {option} writes")
    return faults


def _picture_faults(path: Path) -> list[str]:
    from mbssa.pictures import ending_of
    from mbssa.pictures.limits import require_matplotlib

    try:
        ending_of(path)
        require_matplotlib()
    except (ValueError, ModuleNotFoundError) as error:
        return [f"--plot {error}"]
    return []
