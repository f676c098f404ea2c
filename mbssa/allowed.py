"""Files that a model names, read from its own folder and from folders that the user allows."""

# Others are allowed by mbssa.load(path, allow=[folder]), --allow FOLDER, or MBSSA_ALLOW in the environment.

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from mbssa.bounds import MAX_BYTES
from mbssa.files import read_bytes

#: The environment variable with folders that are allowed to every model, as PATH has them.
VARIABLE = "MBSSA_ALLOW"

#: In messages.
REMEDY = "put the file there, or allow its folder: --allow FOLDER (in Python allow=[folder])"

_ALLOWED: ContextVar[tuple[Path, ...]] = ContextVar("allowed", default=())


class Allowed(str):
    """The absolute path of a file in a folder that was allowed when the model was read."""

    __slots__ = ()


@contextmanager
def allowing(folders: Sequence[str | Path]) -> Iterator[None]:
    """Allow folders, and all below them, while models are read."""
    token = _ALLOWED.set((*_ALLOWED.get(), *(Path(folder).resolve() for folder in folders)))
    try:
        yield
    finally:
        _ALLOWED.reset(token)


def is_allowed(path: Path, folder: Path) -> bool:
    """Return whether a file, its links followed, is in the folder of the model or in an allowed one."""
    return any(path.resolve().is_relative_to(each.resolve()) for each in (folder, *_folders()))


def located(name: str, folder: str | Path) -> str:
    """A file that a model names: its path from the folder of the model, else an :class:`Allowed` one."""
    # A name is a path, package://PACKAGE/…, model://PACKAGE/… or file://…. A package is a folder of this
    # name, or one whose package.xml says it; the folder of the model and the allowed ones may be the package,
    # or contain it.
    home = Path(folder).resolve()
    scheme, _, rest = name.rpartition("://")
    if not name or "\0" in name or scheme not in ("", "package", "model", "file"):
        raise ValueError(f"{name[:60]!r} is no file; save it in the folder of the model")
    tried: list[Path]
    if scheme in ("package", "model"):
        package, _, rest = rest.partition("/")
        roots = [*_roots(home, package), *(root for each in _folders() for root in _roots(each, package))]
        tried = [root / rest for root in roots]
    else:
        tried = [home / (rest if scheme else name).replace("\\", "/")]
    found = [path.resolve() for path in tried if path.is_file()]
    inside = [path for path in found if is_allowed(path, home)]
    if not inside:
        what = f"{name} leaves" if found else f"there is no file {name} in"
        raise ValueError(f"{what} the folder of the model; {REMEDY}")
    path = inside[0]
    return path.relative_to(home).as_posix() if path.is_relative_to(home) else Allowed(path)


def _folders() -> tuple[Path, ...]:
    said = os.environ.get(VARIABLE, "")
    return (*_ALLOWED.get(), *(Path(each).resolve() for each in said.split(os.pathsep) if each))


def _roots(folder: Path, package: str) -> Iterator[Path]:
    """Folders that may be the package: inside this one, or this one itself."""
    yield folder / package
    description = folder / "package.xml"
    said = read_bytes(description, MAX_BYTES).decode("utf-8", "replace") if description.is_file() else ""
    if folder.name == package or re.search(rf"<name>\s*{re.escape(package)}\s*</name>", said):
        yield folder
