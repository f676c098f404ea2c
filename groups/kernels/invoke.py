"""Calling the kernel of a group, which differs from group to group: a function in Python, else an address."""

from __future__ import annotations

from functools import cache
from typing import Any

from mbssa.compiled import compiled_as


@cache
def signature() -> Any:
    """Numba's signature of the kernel of a group."""
    from numba import float64, int8, int64, types

    floats, ints, table = float64[::1], int64[::1], float64[:, ::1]
    make: Any = types
    quality = make.Tuple((int8[:, ::1], table, int64[:, ::1], table))
    inputs = make.UniTuple(table, 3)
    return types.void(
        int64, ints, floats, float64[:, :, ::1], int64, int64, inputs, floats, floats, floats, quality, int64
    )


def _call() -> Any:
    """A call by address, in Numba's own convention."""
    from llvmlite import ir
    from numba import types
    from numba.core.errors import TypingError
    from numba.extending import intrinsic

    @intrinsic
    def call(
        typingctx: Any, kernel: Any, group: Any, ints: Any, floats: Any, S: Any, first: Any, count: Any,
        inputs: Any, time: Any, memory: Any, work: Any, quality: Any, level: Any,
    ) -> Any:  # fmt: skip
        expected = signature().args
        given = (group, ints, floats, S, first, count, inputs, time, memory, work, quality, level)
        for kind, wanted in zip(given, expected, strict=True):
            if not isinstance(wanted, types.Integer) and kind != wanted:
                raise TypingError(f"invoke: {kind} where the kernel of a group takes {wanted}")

        def generate(context: Any, builder: Any, typed: Any, arguments: Any) -> Any:
            convention = context.call_conv
            kind = convention.get_function_type(types.none, expected)
            place = builder.inttoptr(arguments[0], ir.PointerType(kind))
            values = [
                context.cast(builder, value, own, wanted)
                for value, own, wanted in zip(arguments[1:], typed.args[1:], expected, strict=True)
            ]
            convention.call_function(builder, place, types.none, expected, values)
            return context.get_dummy_value()

        return types.void(kernel, *given), generate

    return call


@compiled_as(_call)
def invoke(
    kernel: Any, group: int, ints: Any, floats: Any, S: Any, first: int, count: int, inputs: Any, time: Any,
    memory: Any, work: Any, quality: Any, level: int,
) -> None:  # fmt: skip
    """Call the kernel of a group; compiled, ``kernel`` is its address in this process."""
    kernel(group, ints, floats, S, first, count, inputs, time, memory, work, quality, level)
