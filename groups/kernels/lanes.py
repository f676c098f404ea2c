"""Loops over the instants of a block, with one source for vector instructions and for NumPy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mbssa.arrays import Floats
from mbssa.compiled import compiled, compiled_as

#: Instants that a row of :func:`room` may well hold.
LANES = 64
#: Instants from which NumPy's arrays are faster than Python's numbers.
_FEW = 6


def _lanes(n: int) -> Any:
    """Unsigned, because tests for a negative index would forbid vector instructions."""
    return range(np.uint64(n))


@compiled_as(lambda: compiled(_lanes))
def lanes(n: int) -> Iterable[Any]:
    """Instants 0 … ``n`` - 1 of a block: one after the other in compiled code, a slice in plain Python."""
    return range(n) if n < _FEW else (slice(0, n),)


def _after(begin: int, k: Any) -> Any:
    return np.uint64(begin) + k


@compiled_as(lambda: compiled(_after))
def after(begin: int, k: Any) -> Any:
    """Return the instant ``begin + k`` for ``k`` from :func:`lanes`."""
    return slice(begin + k.start, begin + k.stop) if isinstance(k, slice) else begin + k


def _select(condition: Any, one: Any, other: Any) -> Any:
    return one if condition else other


@compiled_as(lambda: compiled(_select))
def select(condition: Any, one: Any, other: Any) -> Any:
    """Return ``one`` where ``condition`` holds, else ``other``; both are evaluated."""
    if isinstance(condition, np.ndarray):
        return np.where(condition, one, other)
    return one if condition else other


def _on_the_stack() -> Any:
    """Rows in the function's own memory, with a length that the compiler can see."""
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.core.errors import TypingError
    from numba.extending import intrinsic
    from numba.np.arrayobj import populate_array

    pack: Any = cgutils.pack_array

    @intrinsic(prefer_literal=True)
    def rows_on_the_stack(typingctx: Any, rows: Any, columns: Any) -> Any:
        if not isinstance(rows, types.IntegerLiteral) or not isinstance(columns, types.IntegerLiteral):
            raise TypingError("room: its shape is constant")
        count, width, kind = rows.literal_value, columns.literal_value, types.Array(types.float64, 2, "C")

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            block = cgutils.alloca_once(  # type: ignore[no-untyped-call]
                builder, ir.ArrayType(ir.DoubleType(), count * width)
            )
            array, size = context.make_array(kind)(context, builder), context.get_value_type(types.intp)
            populate_array(  # type: ignore[no-untyped-call]
                array,
                data=builder.bitcast(block, ir.DoubleType().as_pointer()),
                shape=pack(builder, [size(count), size(width)]),
                strides=pack(builder, [size(8 * width), size(8)]),
                itemsize=size(8),
                meminfo=None,
            )
            return array._getvalue()

        return kind(rows, columns), generate

    return rows_on_the_stack


@compiled_as(_on_the_stack)
def room(rows: int, columns: int) -> Floats:
    """(``rows``, ``columns``) numbers to work in, undefined at first; not to be returned."""
    return np.empty((rows, columns))
