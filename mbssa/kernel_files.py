"""Compiled kernels on disk: a file for each signature, with a check sum, in a folder of the user's own.

Numba keeps what it compiled as pickles behind an index that is one, too: a damaged file ends the process, and
one that another user wrote runs as this one. Here a file is loaded only where its check sum is right and its
folder can be written by its owner alone, who is the user; anything else is compiled anew.

This rests on Numba's caches and compile results, which are not part of its documented interface, from version
0.60 on.
"""

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

#: Ending of the files.
ENDING = ".kernel"

_SUM = hashlib.sha256().digest_size


def distrusted(folder: Path) -> str | None:
    """Why what is in a folder must not be loaded; None where only the user can have written it."""
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
            from mbssa.files import write_whole

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
