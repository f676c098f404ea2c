"""Choice between plain Python and Numba: small work runs a kernel as it is, large work compiles it."""

# Importing Numba and loading a compiled kernel take half a second, compiling one up to a minute; both give
# the same bits. The choice is that of the ski-rental problem: Python runs until the time spent on it, or the
# time that the call at hand would take, reaches that of loading the compiled kernel (:func:`chosen`).

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

from mbssa.compiled.kernel_cache import OURS, cache_folder, cache_in, is_kept
from mbssa.compiled.linking import compilers, for_any_value

P = ParamSpec("P")
R = TypeVar("R")

#: Seconds that it takes to import Numba with its registries, and to load one compiled kernel from disk.
IMPORTING, LOADING = 0.55, 0.04
#: Share of the seconds that compiling takes which counts in the price of a kernel that is not kept on disk:
#: it is paid once, and serves all later processes.
SHARE = 1.0 / 8.0
#: By kernel, seconds of plain Python in this process; None from where the compiled kernel was chosen.
_rented: dict[Callable[..., Any], float | None] = {}


def _is_worth_compiling(function: Callable[..., Any], seconds: float, compiling: float) -> bool:
    """Return whether a compiled kernel pays: it is loaded, or Python has cost as much as it would."""
    rented = _rented.get(function, 0.0)
    if rented is None:
        return True
    price = LOADING + (0.0 if "numba" in sys.modules else IMPORTING)
    if rented + seconds >= price and not is_kept(function):
        price += SHARE * compiling
    worth = rented + seconds >= price
    _rented[function] = None if worth else rented + seconds
    return worth


def chosen(
    function: Callable[P, R], seconds: float = 0.0, *, compiling: float = 0.0, ask: bool | None = None
) -> Callable[P, R]:
    """Kernel for some work: ``function`` itself if it is little, else its compiled twin; same bits."""
    # ``seconds`` of plain Python for the work at hand, and of ``compiling``, are estimates; ``ask`` decides
    # whatever the work.
    if ask is None:
        ask = _is_worth_compiling(function, seconds, compiling)
    if not ask:
        return function
    _rented[function] = None  # later work uses it, too, however little
    twin: Callable[P, R] = compiled(function)
    return twin


@cache
def compiled(function: Callable[..., Any]) -> Any:
    """The compiled twin of a kernel: releases the GIL, is kept on disk where that can be written."""
    numba = _numba()
    twin = _with_compiled_callees(function)
    dispatcher = numba.njit(**_options(function, entry=True))(twin)
    _keep_on_disk(dispatcher, twin)
    return dispatcher


@cache
def _inner(function: Callable[..., Any]) -> Any:
    """The twin of a kernel that kernels call: compiled with them."""
    options = {**_options(function, entry=False), "no_cpython_wrapper": True}
    return for_any_value(_numba().njit(**options)(_with_compiled_callees(function)))


def _options(function: Callable[..., Any], entry: bool) -> dict[str, Any]:
    return {
        "nogil": True, "error_model": "numpy", "_nrt": _may_make_arrays(function), "no_cfunc_wrapper": True,
        "pipeline_class": compilers()[0 if entry else 1],
    }  # fmt: skip


@cache
def _numba() -> Any:
    """Numba, imported now."""
    import numba

    _without_blas()
    return numba


def _without_blas() -> None:
    """Import Numba's array functions without the check for a BLAS, which imports SciPy's linear algebra."""
    # Half of the time of loading kernels. Products of a user's function still find the BLAS when they are
    # compiled.
    from numba.np import linalg

    check, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        linalg.ensure_blas = check


def _keep_on_disk(made: Any, twin: Any) -> None:
    """Let what Numba makes of a kernel be loaded from disk, and written there."""
    folder = cache_folder()
    if folder is not None:
        made._cache = cache_in(folder)(twin)


def _may_make_arrays(function: Callable[..., Any]) -> bool:
    """Return whether a kernel may make arrays of its own: those in folders named kernels may not."""
    # They are spared the counting of references, an atomic operation for every array handed over: a third of
    # their time. All kernels of an entry are alike in this: where one counts and its callee does not, the
    # count of a view that the callee returns is wrong.
    return "kernels" not in function.__module__.split(".")[:-1]


def _with_compiled_callees(function: Callable[..., Any]) -> Callable[..., Any]:
    """Copy of a kernel that calls the compiled twins of the kernels it calls."""
    # Compiled code cannot call a plain function, and decorating the kernels would import Numba at once.
    assert isinstance(function, FunctionType)
    scope = dict(function.__globals__)
    for name in function.__code__.co_names:
        callee = scope.get(name)
        if isinstance(callee, FunctionType) and callee.__module__.split(".")[0] in OURS:
            scope[name] = _inner(callee)
    twin = FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
    twin.__module__ = function.__module__
    return twin
