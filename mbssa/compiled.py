"""One door to Numba: small inputs run a kernel as plain Python, large ones compile it.

Importing Numba costs more than decomposing any mechanism that fits on a page, so a kernel is an
ordinary function until the work is worth it. A kernel may call only other kernels of its own file:
Numba's cache notices a change of that file and of no other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

#: Work (bodies + joints) from which compiled code is faster than Python, Numba's import included.
WORTH_COMPILING = 20_000


def kernel(function: Callable[P, R], work: int) -> Callable[P, R]:
    """``function`` itself for little ``work``, else its compiled twin: same arguments, same answer."""
    return function if work < WORTH_COMPILING else _compile(function)


@cache
def _compile(function: Callable[..., Any]) -> Any:
    import numba

    try:
        return numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:  # no directory where Numba could keep its cache: compile every time
        return numba.njit(nogil=True)(function)
