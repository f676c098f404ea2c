"""Calls of functions of users by their addresses."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from mbssa.compiled import compiled_as
from mbssa.joints.kernels import analytic_jet, given_jet

Array = Any

#: Numbers before the first body, and of a body, in ``values`` and in ``out``.
HEAD_IN, BODY_IN, HEAD_OUT, BODY_OUT = 1, 19, 3, 6

#: Places in a record: the jet; then, of both jets below, functions as :func:`mbssa.joints.kernels.ask` takes
#: them, whether they are planar, how many bodies there are, and the mechanism's size in m.
JET, FUNCTION, DERIVATIVE, PLANAR, BODIES, SIZE, RECORD = range(7)


#: Jets in Python by their addresses, for kernels that are not compiled.
in_python: dict[float, Callable[[Array, Array], None]] = {}


def _jump() -> Any:
    """Call of a foreign function in compiled code: a jump to its jet."""
    from llvmlite import ir
    from numba import types
    from numba.core.errors import TypingError
    from numba.extending import intrinsic

    @intrinsic
    def jump(typingctx: Any, address: Any, values: Any, out: Any) -> Any:
        if not isinstance(address, types.Number):
            raise TypingError("call_foreign: the address is a number")
        for array in (values, out):
            if not (isinstance(array, types.Array) and array.dtype == types.float64 and array.layout == "C"):
                raise TypingError("call_foreign: values and out are contiguous arrays of float64")

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kinds = signature.args
            pointer = ir.DoubleType().as_pointer()
            jet = ir.FunctionType(ir.VoidType(), [pointer] * 3).as_pointer()
            place = context.cast(builder, arguments[0], kinds[0], types.intp)
            data = [context.make_array(kinds[k])(context, builder, arguments[k]).data for k in (1, 2)]
            with builder.if_else(builder.icmp_unsigned("==", place, place.type(0))) as (absent, present):
                with absent:
                    builder.store(ir.DoubleType()(math.nan), data[1])
                with present:
                    record = builder.inttoptr(place, pointer)
                    code = builder.fptosi(builder.load(record), place.type)
                    builder.call(builder.inttoptr(code, jet), [record, *data])
            return context.get_dummy_value()

        return types.void(address, values, out), generate

    return jump


@compiled_as(_jump)
def call_foreign(address: Any, values: Array, out: Array) -> None:
    """Call the foreign function at an address of this process."""
    for array in (values, out):
        if array.dtype != float or not array.flags.c_contiguous:
            raise TypeError("call_foreign: values and out are contiguous arrays of float64")
    if address == 0:
        out[0] = math.nan
        return
    if address in in_python:
        in_python[address](values, out)
        return
    record = ctypes.c_double.from_address(int(address))
    _function(int(record.value))(int(address), values.ctypes.data, out.ctypes.data)


@cache
def _function(code: int) -> Any:
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(code)


def compiled_numbers() -> Any:
    """Compiled form of :func:`numbers`."""
    import numba

    return vars(numba)["carray"]


@compiled_as(compiled_numbers)
def numbers(pointer: Any, count: int) -> Array:
    """The float64 numbers that a pointer points to, as an array."""
    return np.ctypeslib.as_array(pointer, (count,))


def analytic(record: Any, values: Any, out: Any) -> None:
    """The jet of a record whose function takes complex numbers."""
    own = numbers(record, RECORD)
    m = int(own[BODIES])
    analytic_jet(
        int(own[FUNCTION]),
        own[PLANAR] != 0.0,
        own[SIZE],
        numbers(values, HEAD_IN + BODY_IN * m),
        numbers(out, HEAD_OUT + BODY_OUT * m),
    )


def given(record: Any, values: Any, out: Any) -> None:
    """The jet of a record whose function comes with its derivative."""
    own = numbers(record, RECORD)
    m = int(own[BODIES])
    given_jet(
        int(own[FUNCTION]),
        int(own[DERIVATIVE]),
        own[PLANAR] != 0.0,
        own[SIZE],
        numbers(values, HEAD_IN + BODY_IN * m),
        numbers(out, HEAD_OUT + BODY_OUT * m),
    )
