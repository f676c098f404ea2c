"""Formats by the endings of file names. Readers and writers are imported when they are needed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from mbssa.faults import Fault, ModelError
from mbssa.files import write_together
from mbssa.mechanism import Mechanism

#: Reader and writer of each ending that keeps a mechanism, or its topology, by module and name.
_FORMATS = {
    ".toml": (("toml_file", "read_toml"), ("toml_writer", "write_toml")),
    ".m": (("user_data", "read_user_data"), ("user_data", "write_user_data")),
    ".csv": (("sheet", "read_sheet"), ("sheet", "write_sheet")),
    ".npz": (("npz_file", "read_npz"), ("npz_file", "write_npz")),
}
ENDINGS = tuple(_FORMATS)

#: Robots' descriptions, which say other things than a mechanism is made of.
_FORMATS |= {
    ".urdf": (("urdf", "read_urdf"), ("robots.urdf_writer", "write_urdf")),
    ".sdf": (("sdf", "read_sdf"), ("robots.sdf_writer", "write_sdf")),
    ".xml": (("mjcf", "read_mjcf"), ("robots.mjcf_writer", "write_mjcf")),
    ".mjcf": (("mjcf", "read_mjcf"), ("robots.mjcf_writer", "write_mjcf")),
}
ALL_ENDINGS = tuple(_FORMATS)


def known_ending(path: Path, endings: tuple[str, ...] = ENDINGS) -> str | None:
    """Ending of a path if it is one of these formats, in small letters."""
    ending = path.suffix.lower()
    return ending if ending in endings else None


def no_format(path: Path, endings: tuple[str, ...] = ENDINGS) -> ModelError:
    """The error for a path whose ending is none of these formats."""
    ending = f"the ending {path.suffix!r} is not a supported format" if path.suffix else "has no ending"
    files = f"{', '.join(endings[:-1])} or {endings[-1]}"
    return ModelError(str(path), [Fault("", f"{ending}; model files end in {files}", "file")])


def reader(ending: str) -> Callable[[Path], Mechanism]:
    """The reader of one format."""
    return _imported(*_FORMATS[ending][0])


def writer(ending: str) -> Callable[..., tuple[Any, ...]]:
    """The writer of one format: of the bytes, for robots those of files beside, and what they cannot keep."""
    return _imported(*_FORMATS[ending][1])


def _imported(module: str, name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(import_module(f"mbssa.io.{module}"), name)
    return found


def save(
    mechanism: Mechanism, path: str | Path, *, force: bool = False, approximate: bool = False
) -> list[str]:
    """Write a mechanism to a file whose ending says the format; ``force`` replaces one that exists.

    ``.toml``, in the mechanism's ``units``, and ``.npz`` keep everything but the name, which
    :func:`mbssa.load` takes from the file; numbers come back the same, in ``.toml`` to an ulp at least;
    ``.m`` (the paper's script) and ``.csv`` keep the topology. ``.urdf``, with a side file ``.yaml`` for
    loops and motors, ``.sdf`` and ``.xml`` (MJCF) keep bodies, masses and joints that are turns and shifts;
    ``approximate`` leaves out other joints.

    Returns
    -------
    What the file cannot keep, a sentence each; empty if nothing is lost.

    Raises
    ------
    ModelError
        No such format, or the mechanism has something that it cannot express (joints of three bodies; in
        robots' descriptions gears, cams and joints without geometry): all of a kind.
    FileExistsError
        There is a file, and it was not forced.
    OSError
        The file cannot be written. It is then as it was before.

    Examples
    --------
    >>> import mbssa, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "crank.m"
    ...     mbssa.save(mbssa.load("planar_four_bar"), path)[0]
    ...     mbssa.load(path)
    'names of the bodies'
    <Mechanism crank: planar, 4 bodies with the frame, 4 joints, 1 driven coordinate>
    """
    path = Path(path)
    ending = known_ending(path, ALL_ENDINGS)
    if ending is None:
        raise no_format(path, ALL_ENDINGS)
    beside: dict[str, bytes] = {}
    if ending not in ENDINGS:
        data, beside, lost = writer(ending)(mechanism, approximate=approximate)
    else:
        data, lost = writer(ending)(mechanism)
    files = {path: data} | {path.with_suffix(suffix): content for suffix, content in beside.items()}
    for target in files:
        if target.is_file() and not force:
            raise FileExistsError(f"{target}: exists; write force=True to replace it")
    write_together(files)
    return list(lost)
