"""Calling what is no kernel: functions of users, by their addresses.

A *foreign function* is ``void jet(const double *values, double *out)`` at an address of this process. What is
there may be machine code or Python behind a callback; who calls need not know. The address is data, so that
callers are compiled once, for all functions that there will ever be, and are kept on disk.

======================  =======================================================================
``values[0]``           1.0 for time derivatives too, 0.0 leaves ``out[1]`` and ``out[2]`` alone
``values[1 + 19 k:]``   of body k: position of its origin (3), rotation row by row (9), unwrapped
                        planar angle (1), velocity of its origin (3), angular velocity (3)
``out[0]``              value
``out[1]``              first time derivative
``out[2]``              second time derivative at zero accelerations
``out[3 + 6 k:]``       derivative by the twist of body k: velocity of its origin, then angular
======================  =======================================================================

m, rad, s, and world axes throughout. Where the function fails, all of ``out`` is NaN.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from mbssa.compiled import compiled_as

Array = Any

#: Numbers of a body, and before the first body, in ``values`` and in ``out``.
BODY_IN, HEAD_IN, BODY_OUT, HEAD_OUT = 19, 1, 6, 3


def _intrinsic() -> Any:
    """What a call of a foreign function is in compiled code: a jump to the address."""
    from llvmlite import ir
    from numba import types
    from numba.core.errors import TypingError
    from numba.extending import intrinsic

    @intrinsic
    def jump(typingctx: Any, address: Any, values: Any, out: Any) -> Any:
        if not isinstance(address, types.Number):
            raise TypingError("call_foreign: the address is a number")
        for array in (values, out):
            if not (isinstance(array, types.Array) and array.dtype == types.float64):
                raise TypingError("call_foreign: values and out are arrays of float64")
            if array.layout != "C":
                raise TypingError("call_foreign: values and out are contiguous")

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kinds = signature.args
            pointer = ir.DoubleType().as_pointer()
            jet = ir.FunctionType(ir.VoidType(), [pointer, pointer]).as_pointer()
            number = context.cast(builder, arguments[0], kinds[0], types.intp)
            data = [context.make_array(kinds[k])(context, builder, arguments[k]).data for k in (1, 2)]
            builder.call(builder.inttoptr(number, jet), data)
            return context.get_dummy_value()

        return types.void(address, values, out), generate

    return jump


@compiled_as(_intrinsic)
def call_foreign(address: Any, values: Array, out: Array) -> None:
    """Call the foreign function at an address of this process.

    Parameters
    ----------
    address : integer, or a float that holds it exactly
    values : (1 + 19 m,) float64, contiguous, see the head of this file
    out : (3 + 6 m,) float64, contiguous, the answer
    """
    for array in (values, out):
        if array.dtype != float or not array.flags.c_contiguous:
            raise TypeError("call_foreign: values and out are contiguous arrays of float64")
    _function(int(address))(values.ctypes.data, out.ctypes.data)


@cache
def _function(address: int) -> Any:
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)
