"""Code that a model file names: it runs only where the user says that it may."""

# A file is data. Functions given in Python and those of the built-in models run; what a file names runs with
# mbssa.load(path, trust=True), --trust, or MBSSA_TRUST=1 in the environment.

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

#: The environment variable that trusts every file.
VARIABLE = "MBSSA_TRUST"

#: In messages.
REMEDY = f"read it, then write --trust (in Python trust=True), or {VARIABLE}=1 in the environment"


class Trusted(str):
    """Name of a function, as "file.py:name", that may be imported."""

    __slots__ = ()


def may_run(source: str | Callable[..., Any] | None) -> bool:
    """Return whether a function may be imported and called: a callable, None, or a name that is trusted."""
    return not isinstance(source, str) or isinstance(source, Trusted) or trusts_all()


def trusts_all() -> bool:
    """Return whether the environment trusts the code of every file."""
    return os.environ.get(VARIABLE, "0").strip().lower() not in ("", "0", "no", "false")
