"""Evaluation of a graph node by node, for results that are needed only once."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mbssa.graph.nodes import (
    above,
    absolute,
    atan2,
    cos,
    curve,
    exp,
    graph_of,
    is_node,
    largest,
    least,
    log,
    rounded,
    sin,
    sqrt,
)

if TYPE_CHECKING:
    from mbssa.graph.nodes import Number

_OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "neg": operator.neg,
    "sqrt": sqrt, "sin": sin, "cos": cos, "exp": exp, "log": log, "atan2": atan2, "abs": absolute,
    "min": least, "max": largest, "rint": rounded, "above": above, "moved": operator.pos,
}  # fmt: skip


def evaluated(results: Sequence[Number], of: Callable[[str, Any], Number]) -> list[Number]:
    """Values of some numbers, floats or arrays, where the inputs have the values ``of(name, k)``."""
    graph = graph_of(results)
    if graph is None:
        return list(results)
    values: dict[int, Number] = {}
    for i in graph.needed(results):
        op, operands, data = graph.nodes[i]
        x = [values[k] for k in operands]
        if op == "in":
            values[i] = of(*data)
        elif op == "const":
            values[i] = data
        elif op == "curve":
            pieces, axis, order = data
            values[i] = curve(x[0], pieces, axis, order)
        elif op == "user":
            function, orders = data
            values[i] = function.of(orders)(*x)
        else:
            values[i] = _OPERATIONS[op](*x)
    return [values[x.i] if is_node(x) else x for x in results]
