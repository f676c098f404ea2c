"""One door to Numba: small inputs run a kernel as plain Python, large ones compile it.

Importing Numba costs more than decomposing any mechanism that fits on a page, so a kernel is an
ordinary function until the work is worth it. A kernel may call only other kernels of its own file:
Numba's cache notices a change of that file and of no other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

#: Work (bodies + joints) from which kernels are compiled. Importing Numba and loading its cache takes
#: 0.4 s, which plain Python needs for a work of about 10,000; but the very first call, before anything
#: is in the cache, takes about 10 s, so small mechanisms are left to Python a little longer.
WORTH_COMPILING = 20_000


def kernel(function: Callable[P, R], work: int) -> Callable[P, R]:
    """``function`` itself for little ``work``, else its compiled twin: same arguments, same answer."""
    return function if work < WORTH_COMPILING else compiled(function)


@cache
def compiled(function: Callable[..., Any]) -> Any:
    """The compiled twin of a kernel: releases the GIL, is kept on disk where that can be written."""
    import numba

    twin = _with_compiled_callees(function)
    try:
        return numba.njit(nogil=True, cache=True)(twin)
    except RuntimeError:  # no directory where Numba could keep its cache: compile every time
        return numba.njit(nogil=True)(twin)


def _with_compiled_callees(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of a kernel that calls the compiled twins of the kernels it calls.

    Compiled code cannot call a plain function, and decorating the kernels would import Numba at once.
    """
    assert isinstance(function, FunctionType)
    scope = dict(function.__globals__)
    for name in function.__code__.co_names:
        callee = scope.get(name)
        if isinstance(callee, FunctionType) and callee.__module__ == function.__module__:
            scope[name] = compiled(callee)
    twin = FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
    twin.__module__ = function.__module__
    return twin
