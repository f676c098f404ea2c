"""Compiled kernels on disk: a file for each signature, with a check sum, in a folder of the user's own."""

# Numba's own cache is of pickles: a damaged file ends the process, and one that another user wrote runs as
# this one. Here a file is loaded only if its check sum is right and the user alone can write its folder. This
# rests on Numba's caches and compile results, which are not documented interface, from version 0.62 on.

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from mbssa.files import user_cache, write_whole

#: Packages whose functions are kernels when a kernel calls them.
OURS = ("mbssa", "groups", "routes")

#: Ending of the files.
ENDING = ".kernel"

_SUM = hashlib.sha256().digest_size


@cache
def cache_folder() -> Path | None:
    """Folder of the compiled kernels, one for each state of all kernel sources; None if none can be kept."""
    # Numba notices a change of a kernel's own file, not of the files that it calls into.
    name, refused = f"compiled-{kernel_state()}", []
    for home in _kernel_homes():
        folder = home / name
        try:
            home.mkdir(parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            why = distrusted(folder) or (None if os.access(folder, os.W_OK) else "cannot be written")
        except OSError as error:
            why = error.strerror or str(error)
        if why is None:
            return folder
        refused.append(f"{folder}: {why}")
    _refused.extend(refused)
    return None


#: Folders that were refused, and why, where none is left.
_refused: list[str] = []


def kernels_kept() -> str:
    """Folder of the compiled kernels, or the reason for having none, in one line."""
    folder = cache_folder()
    if folder is not None:
        return f"compiled kernels are kept in {folder}"
    advice = "name a folder of your own in NUMBA_CACHE_DIR"
    return f"compiled kernels are not kept ({'; '.join(_refused) or 'there is no home'}); {advice}"


def _kernel_homes() -> list[Path]:
    """Folders in which kernels may be kept, the first that is fit for it first."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return [Path(given)]
    own = user_cache()
    return [Path(__file__).parent.parent / "__pycache__", *([own] if own is not None else [])]


def kernel_state() -> str:
    """A number of all kernel sources that changes when any of them does, in 16 hexadecimal digits."""
    state = hashlib.sha256()
    for path in _kernel_sources():
        state.update(path.read_bytes())
    return state.hexdigest()[:16]


def _kernel_sources() -> list[Path]:
    """Files named …kernels.py, and all files of folders named kernels, in the packages that are here."""
    top = Path(__file__).parent.parent.parent
    return sorted(
        path
        for package in OURS
        for pattern in ("**/*kernels.py", "**/kernels/*.py")
        for path in (top / package).glob(pattern)
    )


def is_kept(function: Callable[..., Any]) -> bool:
    """Return whether a compiled kernel is on disk."""
    folder = cache_folder()
    return folder is not None and any(folder.glob(f"*.{function.__name__}[.-]*{ENDING}"))


def distrusted(folder: Path) -> str | None:
    """Reason for not loading the files of a folder; None where only the user can have written them."""
    if os.name != "posix":
        return None
    found = folder.stat()
    if found.st_uid != os.geteuid():
        return "belongs to another user"
    return "can be written by others" if found.st_mode & 0o022 else None


@cache
def cache_in(folder: Path) -> Callable[[FunctionType], Any]:
    """Return the factory of a kernel's cache in a folder, in the form that Numba takes."""
    import numba
    from numba.core.caching import Cache
    from numba.core.compiler import CompileResult
    from numba.core.serialize import dumps

    numba_cache: Any = Cache

    class Kept(numba_cache):  # type: ignore[misc]
        """The files of one kernel; of Numba's cache only the key is used."""

        def __init__(self, function: FunctionType) -> None:
            self._py_func = function
            here = f"{function.__module__}.{function.__qualname__}-{function.__code__.co_firstlineno}"
            version = f"{sys.version_info[0]}{sys.version_info[1]}{getattr(sys, 'abiflags', '')}"
            self._name = f"{here}.py{version}".replace("<", "").replace(">", "")

        @property
        def cache_path(self) -> str:
            return str(folder)

        def enable(self) -> None: ...

        def disable(self) -> None: ...

        def flush(self) -> None: ...

        def load_overload(self, signature: Any, context: Any) -> Any:
            context.refresh()
            key = self._index_key(signature, context.codegen())
            path = self._path(key)
            try:
                content = path.read_bytes()
            except OSError:  # most often there is none
                return None
            if hashlib.sha256(content[_SUM:]).digest() != content[:_SUM]:
                return _drop(path, "its check sum is wrong")
            try:
                kept, data = pickle.loads(content[_SUM:])
                return CompileResult._rebuild(context, *data) if kept == key else None  # type: ignore[no-untyped-call]
            except Exception as error:
                return _drop(path, f"{type(error).__name__}: {error}")

        def save_overload(self, signature: Any, result: Any) -> None:
            if result.library.has_dynamic_globals or not all(each.can_cache for each in result.lifted):
                return
            key = self._index_key(signature, result.codegen)
            content = dumps((key, result._reduce()))  # type: ignore[no-untyped-call]
            try:
                write_whole(self._path(key), hashlib.sha256(content).digest() + content)
            except OSError as error:
                why = error.strerror or error
                warnings.warn(
                    f"compiled kernels are not kept in {folder}: {why}", RuntimeWarning, stacklevel=2
                )

        def _path(self, key: object) -> Path:
            state = hashlib.sha256(f"{numba.__version__} {key!r}".encode()).hexdigest()[:16]
            return folder / f"{self._name}.{state}{ENDING}"

    return Kept


def _drop(path: Path, why: str) -> None:
    with suppress(OSError):
        path.unlink()
    warnings.warn(
        f"{path}: damaged compiled kernel ({why}); it was removed and is compiled anew", RuntimeWarning,
        stacklevel=2,
    )  # fmt: skip
