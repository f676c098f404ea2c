"""Output files of a command: obstacles are found before any work is done."""

# One rule holds for all commands: an output is never an input, and replaces an existing file by --force
# alone. --output - is standard output; the report is then on standard error.

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

from mbssa import mpi_rank
from mbssa.film import FILMS

#: Endings of the files that an option writes.
TRAJECTORY = (".npz", ".csv", ".nc", ".parquet")
STILL = (".png", ".svg", ".pdf")
TABLES = (".csv", ".parquet")
PAGES = (".html", ".htm")
MOVING = (*FILMS, *PAGES)

#: Packages that files with these endings need, and what is said where they are missing.
_PACKAGES = (
    ("xarray", (".nc",), 'netCDF needs xarray: pip install -e ".[xarray]" in the clone'),
    ("pyarrow", (".parquet",), 'Parquet needs PyArrow: pip install -e ".[sweeps]" in the clone'),
    ("matplotlib", (*STILL, ".gif"), 'pictures need Matplotlib: pip install -e ".[pictures]" in the clone'),
)

#: The path that is standard output, and the format of pictures there.
STANDARD, _DRAWN = Path("-"), (".svg",)


@dataclass(frozen=True, slots=True)
class Target:
    """File to be written: its option, its path, its endings (any where there are none)."""

    option: str
    path: Path
    endings: tuple[str, ...] = ()

    @property
    def is_standard(self) -> bool:
        """Whether it is standard output."""
        return self.path == STANDARD

    @contextmanager
    def place(self) -> Iterator[Path]:
        """Path to write to; of standard output a temporary file, which is printed at the end."""
        if not self.is_standard:
            yield self.path
            return
        with TemporaryDirectory() as folder:
            path = Path(folder) / f"output{next(end for end in (*TABLES, *_DRAWN) if end in self.endings)}"
            yield path
            sys.stdout.write(path.read_text(encoding="utf-8"))
            sys.stdout.flush()


def targets_of(*options: tuple[str, Path | Sequence[Path] | None, tuple[str, ...]]) -> list[Target]:
    """Targets of options with their endings; none of an option without a file."""
    return [
        Target(option, path, endings)
        for option, given, endings in options
        for path in ([given] if isinstance(given, Path) else given or ())
    ]


def written(targets: Sequence[Target], write: Callable[[Target], object]) -> tuple[list[Path], list[str]]:
    """Write each file by itself; return those that were written, and the faults of others."""
    done, faults = [], []
    for target in targets:
        try:
            with target.place() as path:
                write(replace(target, path=path))
        except OSError as error:
            faults.append(f"{target.option} {target.path}: {error.strerror or error}")
        except (KeyError, ValueError, ModuleNotFoundError) as error:
            what = str(error.args[0] if isinstance(error, KeyError) else error)
            faults.append(f"{target.option} {target.path}: {what.removeprefix(f'{target.path}: ')}")
        else:
            done.append(target.path)
    return done, faults


def target_faults(
    targets: Sequence[Target], read: Iterable[str | Path | None], force: bool, form: str = "table"
) -> list[str]:
    """Obstacles to writing files: ending, folder, permission, a missing package, an existing file."""
    # ``read`` names the models and files that the run reads, which it never replaces; ``form`` is the format
    # of the report that is printed beside the files.
    faults = []
    taken = {
        Path(os.path.realpath(path)): f"{path} is read by this run"
        for path in read
        if path is not None and (isinstance(path, Path) or Path(path).exists())  # or a built-in model
    }
    for target in targets:
        place = STANDARD if target.is_standard else Path(os.path.realpath(target.path))
        if target.is_standard and target.option != "--output":
            faults += dash_faults(target.option, target.path, "a file")
        elif (why := _obstacle(target, place, taken, force, form)) is not None:
            faults.append(f"{target.option} {target.path}: {why}")
        taken.setdefault(place, f"{target.option} writes to it already")
    return faults


def _obstacle(target: Target, place: Path, taken: Mapping[Path, str], force: bool, form: str) -> str | None:
    """Why a file cannot be written, found out by beginning to; None if it can."""
    ending = target.path.suffix.lower()
    if target.is_standard:
        if form != "table":
            return f"--format {form} is printed there too; name a file, or leave --format out"
        return taken.get(STANDARD)
    if target.path.is_dir():
        return "is a folder; name a file in it"
    if target.endings and ending not in target.endings:
        return f"ends in none of {', '.join(target.endings)}"
    if not place.parent.is_dir():
        return f"there is no folder {target.path.parent}"
    try:
        if not place.exists() or place.is_file():
            TemporaryFile(dir=place.parent).close()
        elif not os.access(place, os.W_OK):  # a pipe or a device, which is written to itself
            return "cannot be written there: permission denied"
    except OSError as error:
        return f"cannot be written there: {error.strerror or error}"
    if place in taken:
        return f"{taken[place]}; name another file"
    if place.is_file() and not force and mpi_rank.rank() == 0:  # which others may find written already
        return "exists; write --force to replace it"
    missing = (text for package, endings, text in _PACKAGES if ending in endings and not find_spec(package))
    return next(missing, None)


def dash_faults(option: str, path: Path | None, instead: str) -> list[str]:
    """The fault of an option that is not for standard output."""
    dash = f"{option} -: only --output writes to standard output; name {instead}"
    return [dash] if path == STANDARD else []
