"""Calls of functions of users, in Python alone: kernels that call one are not compiled."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mbssa.compiled import compiled_as
from mbssa.faults import Fault
from mbssa.joints.user import UserFunction, jet
from mbssa.joints.user_sources import error_line

Array = Any

#: Numbers before the first body, and of a body, in ``values`` and in ``out``.
HEAD_IN, BODY_IN, HEAD_OUT, BODY_OUT = 1, 19, 3, 6

#: Jets by the numbers that stand for them in tables.
_jets: dict[float, Callable[[Array, Array], None]] = {}
_number: dict[UserFunction, float] = {}


def number_of(function: UserFunction) -> float:
    """The number of a function in tables, 1 or more; it is imported now."""
    if function not in _number:
        resolved, number = function.resolve(), float(1 + len(_number))

        def call(values: Array, out: Array) -> None:
            try:
                jet(function, resolved, values, out)
            except (Exception, SystemExit) as error:
                raise ValueError(str(Fault(function.name, error_line(error), "function"))) from error

        _jets[number], _number[function] = call, number
    return _number[function]


def _nothing() -> Any:
    """Compiled form of :func:`call_foreign`, which no compiled kernel comes to."""
    import numba

    def call(number: Any, values: Any, out: Any) -> None:
        out[0] = math.nan

    return numba.njit(call)


@compiled_as(_nothing)
def call_foreign(number: Any, values: Array, out: Array) -> None:
    """Call the function of a number."""
    _jets[number](values, out)
