"""Memory as a new process finds it, before every run that is timed."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cache
from typing import Any


def give_back_memory() -> None:
    """Return to the system what was freed, where the C library can be told to (glibc).

    A run of 10⁴ instants can take half as long again where its arrays come in pages that were never
    touched, as those of a new process do. In a process that repeats runs, glibc sometimes gives them the
    pages of the last one instead, and nobody can foresee when.

    >>> give_back_memory()
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], Any] | None:
    if os.name != "posix":
        return None
    found: Callable[[int], Any] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return found
