"""One door to Numba: small inputs run a kernel as plain Python, large ones compile it.

Importing Numba costs more than decomposing any mechanism that fits on a page, so a kernel is an
ordinary function until the work is worth it. A kernel may call other kernels, of its own file or of
another, by the name under which its file knows them.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

#: Work (bodies + joints) from which kernels are compiled. Importing Numba and loading its cache takes
#: 0.4 s, which plain Python needs for a work of about 10,000; but the very first call, before anything
#: is in the cache, takes about 10 s, so small mechanisms are left to Python a little longer.
WORTH_COMPILING = 20_000

#: Packages whose functions are kernels when a kernel calls them.
_OURS = ("mbssa", "groups", "routes")


#: What kernels are compiled to instead of themselves, by kernel: makers of something Numba can call.
_INSTEAD: dict[Callable[..., Any], Callable[[], Any]] = {}

#: What makes an array.
_MAKERS = ("zeros", "ones", "empty", "full", "copy", "arange", "array")


def kernel(function: Callable[P, R], work: int) -> Callable[P, R]:
    """``function`` itself for little ``work``, else its compiled twin: same arguments, same answer."""
    return function if work < WORTH_COMPILING else compiled(function)


def compiled_as(make: Callable[[], Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Name another implementation of a kernel for compilation: what ``make`` returns, an intrinsic say.

    Uncompiled the kernel is itself. ``make`` is called once, when a kernel that calls this one is compiled,
    and may import Numba; what it makes can be called by compiled code alone.
    """

    def note(function: Callable[P, R]) -> Callable[P, R]:
        _INSTEAD[function] = make
        return function

    return note


@cache
def compiled(function: Callable[..., Any]) -> Any:
    """The compiled twin of a kernel: releases the GIL, is kept on disk where that can be written."""
    if function in _INSTEAD:
        return _INSTEAD[function]()
    import numba

    twin = _with_compiled_callees(function)
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": _makes_arrays(function)}
    return _kept_on_disk(lambda cache: numba.njit(cache=cache, **options)(twin))


@cache
def compiled_for_c(function: Callable[..., None]) -> Any:
    """A kernel of pointers to float64 as a C function: ``address`` is its place in this process."""
    import numba

    twin = _with_compiled_callees(function)
    pointer: Any = numba.types.CPointer
    signature = numba.types.void(*[pointer(numba.types.float64)] * function.__code__.co_argcount)
    return _kept_on_disk(lambda cache: numba.cfunc(signature, cache=cache, error_model="numpy")(twin))


def _kept_on_disk(make: Callable[[bool], Any]) -> Any:
    """What ``make`` compiles, told whether that can be kept."""
    import numba

    folder = _cache_folder()
    if folder is None:
        return make(False)
    config: Any = numba.config
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder)  # read once, when the dispatcher is made
    try:
        return make(True)
    finally:
        config.CACHE_DIR = before


def _makes_arrays(function: Callable[..., Any]) -> bool:
    """Whether a kernel may make arrays of its own.

    Those in folders named kernels that do not are spared the counting of references, an atomic operation
    for every array that they are handed: a third of their time. Numba refuses to compile one that does.
    """
    module, names = function.__module__.split("."), function.__code__.co_names
    return "kernels" not in module[:-1] or any(name in names for name in _MAKERS)


def _with_compiled_callees(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of a kernel that calls the compiled twins of the kernels it calls.

    Compiled code cannot call a plain function, and decorating the kernels would import Numba at once.
    """
    assert isinstance(function, FunctionType)
    scope = dict(function.__globals__)
    for name in function.__code__.co_names:
        callee = scope.get(name)
        if isinstance(callee, FunctionType) and callee.__module__.split(".")[0] in _OURS:
            scope[name] = compiled(callee)
    twin = FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
    twin.__module__ = function.__module__
    return twin


@cache
def _cache_folder() -> Path | None:
    """Where compiled kernels are kept: a folder of their own for each state of all kernel sources.

    Numba notices a change of a kernel's own file, not of the files that it calls into. None where
    nothing can be written: then every process compiles anew.
    """
    name = f"kernels-{kernel_state()}"
    given = os.environ.get("NUMBA_CACHE_DIR")
    homes = [Path(given)] if given else [Path(__file__).parent / "__pycache__", user_cache()]
    for home in homes:
        folder = home / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return None


def kernel_state() -> str:
    """A number of all kernel sources that changes when any of them does, in 16 hexadecimal digits."""
    state = hashlib.sha256()
    for path in _kernel_sources():
        state.update(path.read_bytes())
    return state.hexdigest()[:16]


def _kernel_sources() -> list[Path]:
    """Files named kernels.py, and all files of folders named kernels, in the packages that are here."""
    top = Path(__file__).parent.parent
    return sorted(
        path
        for package in _OURS
        for pattern in ("**/kernels.py", "**/kernels/*.py")
        for path in (top / package).glob(pattern)
    )


def user_cache() -> Path:
    """The user's own cache folder, by the habits of the system."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "mbssa" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "mbssa"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "mbssa"
