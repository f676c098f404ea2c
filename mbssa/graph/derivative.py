"""Forward derivatives of a graph along a direction; a rigid body's rule stands for what a motion carries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from mbssa.graph.nodes import (
    Graph,
    Node,
    Number,
    Vector,
    above,
    add,
    cos,
    curve,
    div,
    graph_of,
    is_node,
    is_zero,
    mul,
    neg,
    sin,
)

#: Velocity of the point at the world's origin, and angular velocity.
Twist = tuple[Vector, Vector]


class Direction:
    """Direction of a derivative: ``of(name, k)`` is the rate of an input, ``body(b)`` the twist of a body."""

    def __init__(self, of: Callable[[str, Any], Number], body: Callable[[Any], Twist] | None = None) -> None:
        self.of, self.body = of, body
        #: Rates by index of the node, and twists by motion.
        self.memo: dict[Any, Any] = {}


class Rule(Protocol):
    """Data of a ``moved`` node: its derivatives, which replace those of its operand's expression."""

    def rate(self, by: Direction) -> Sequence[Number]:
        """Rates along a direction, by component."""


class Foreign(Protocol):
    """Data of a ``user`` node: a function of n numbers, and its derivatives along given directions."""

    def of(self, order: int) -> Callable[..., Number]:
        """Function of n numbers and, one after another, ``order`` directions of n numbers."""


def derivative(results: Vector, by: Direction) -> list[Number]:
    """Forward derivatives of some numbers along a direction, which keeps those of all nodes on the way."""
    graph = graph_of(results)
    if graph is not None:
        need, stack = set(), [x.i for x in results if is_node(x)]
        while stack:
            i = stack.pop()
            if i not in need and i not in by.memo:
                need.add(i)
                op, operands, _ = graph.nodes[i]
                stack += operands if op != "moved" else ()
        for i in sorted(need):
            if i not in by.memo:  # a rigid body's rule may have come first
                by.memo[i] = _rate(graph, i, by)
    return [by.memo[x.i] if is_node(x) else 0.0 for x in results]


def _rate(graph: Graph, i: int, by: Direction) -> Number:
    op, operands, data = graph.nodes[i]
    if op == "const":
        return 0.0
    if op == "in":
        return by.of(*data)
    if op == "moved":
        rule, k = data
        return rule.rate(by)[k]
    rates = [by.memo[a] for a in operands]
    if all(map(is_zero, rates)):
        return 0.0
    if op == "user":
        return _along(graph, operands, data, rates)
    x, total = [Node(graph, a) for a in operands], 0.0
    for k, rate in enumerate(rates):
        if not is_zero(rate):
            total = add(total, mul(_partial(op, k, x, Node(graph, i), data), rate))
    return total


def _along(graph: Graph, operands: tuple[int, ...], data: Any, rates: list[Number]) -> Number:
    """Derivative of a user's function, or of a derivative of it, which is linear in each direction."""
    function, order = data
    n = len(operands) // (order + 1)

    def node(order: int, *parts: Sequence[Number]) -> Node:
        return graph.make("user", tuple(graph.node(v).i for part in parts for v in part), (function, order))

    x = [Node(graph, a) for a in operands]
    parts = [x[k : k + n] for k in range(0, len(x), n)]
    total: Number = 0.0
    if not all(map(is_zero, rates[:n])):
        total = node(order + 1, *parts, rates[:n])
    for k in range(1, order + 1):
        rate = rates[k * n : (k + 1) * n]
        if not all(map(is_zero, rate)):
            total = add(total, node(order, *parts[:k], rate, *parts[k + 1 :]))
    return total


def _partial(op: str, k: int, x: Sequence[Node], y: Node, data: Any) -> Number:
    """Derivative of an operation by its k-th operand; x are the operands, y the node itself."""
    match op:
        case "+":
            return 1.0
        case "-":
            return (1.0, -1.0)[k]
        case "*":
            return x[1 - k]
        case "/":
            over = div(1.0, x[1])  # one quotient for all derivatives
            return over if k == 0 else neg(mul(y, over))
        case "neg":
            return -1.0
        case "sqrt":
            return mul(0.5, div(1.0, y))
        case "sin":
            return cos(x[0])
        case "cos":
            return neg(sin(x[0]))
        case "exp":
            return y
        case "log":
            return div(1.0, x[0])
        case "atan2":
            return mul((x[1], neg(x[0]))[k], div(1.0, x[0] * x[0] + x[1] * x[1]))
        case "abs":
            return above(x[0], 1.0, -1.0)
        case "min":
            return above(x[1] - x[0], *((1.0, 0.0), (0.0, 1.0))[k])
        case "max":
            return above(x[0] - x[1], *((1.0, 0.0), (0.0, 1.0))[k])
        case "above":
            return 0.0 if k == 0 else above(x[0], *((1.0, 0.0), (0.0, 1.0))[k - 1])
        case "rint":
            return 0.0
        case "curve":
            pieces, axis, order = data
            return curve(x[0], pieces, axis, order + 1)
    raise NotImplementedError(f"the derivative of {op}")
