"""Graphs printed as Python source, for floats and for arrays."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from mbssa.graph.nodes import FUNCTIONS, Number, graph_of, is_node

#: Inputs that are arguments of their own; all others come in one list, in the order of first use.
ARGUMENTS = ("g", "q", "dq", "ddq")
#: The functions of floats and of arrays, and the inputs (name, number) of their first argument.
Printed: TypeAlias = tuple[list[Callable[..., tuple[Number, ...]]], list[tuple[str, Any]]]
#: Operations that are written as signs, and most operations one inside another.
_SIGNS, _DEEPEST = frozenset(("+", "-", "*", "/", "neg")), 20
#: Names of constants that have no literal.
CONSTANTS: dict[str, Any] = {"inf": math.inf, "nan": math.nan}


def functions(
    name: str, stages: Sequence[tuple[str, Sequence[Number]]], results: Sequence[Number]
) -> Printed:
    """The function ``name(i, g, q, dq, ddq)`` of floats and that of arrays, and the inputs in ``i``."""
    # Stages are (input name, nodes): what follows reads these nodes as those inputs, as with solved rates.
    writer = SourceWriter(name, [x for _, nodes in stages for x in nodes], results)
    for given, nodes in stages:
        writer.stage(given, nodes)
    writer.write(results)
    values = ", ".join(map(writer.value, results))
    text = "\n".join([*writer.lines, f"    return ({values}{',' if results else ''})"])
    code, made = compile(text, f"<{name}>", "exec"), []
    for life in (0, 1):
        names = {name: pair[life] for name, pair in FUNCTIONS.items()} | CONSTANTS | writer.foreign
        exec(code, names)
        made.append(names[name])
    return made, list(writer.inputs)


class SourceWriter:
    """Lines of a function's source; what is used once is written where it is used."""

    def __init__(self, name: str, staged: Sequence[Number], results: Sequence[Number]) -> None:
        self.lines = [f"def {name}(i, g, q=(), dq=(), ddq=()):"]
        self.text: dict[int, str] = {}
        self.depth: dict[int, int] = {}
        self.foreign: dict[str, Callable[..., Number]] = {}
        self.inputs: dict[tuple[str, Any], int] = {}
        self.sought: dict[tuple[str, int], str] = {}
        self.uses = _uses(staged, results)

    def value(self, x: Number) -> str:
        """Text of a number that has been written."""
        return self.text[x.i] if is_node(x) else repr(float(x))

    def stage(self, given: str, nodes: Sequence[Number]) -> None:
        """Write some nodes, which are inputs of what follows."""
        self.write(nodes)
        graph = graph_of(nodes)
        for k, x in enumerate(nodes):
            if graph is not None:
                self.text[graph.input(given, k).i] = self.value(x)
        if graph is None and nodes:
            self.lines.append(f"    {given} = ({', '.join(map(self.value, nodes))},)")

    def write(self, nodes: Sequence[Number]) -> None:
        """Write what some nodes need."""
        graph = graph_of(nodes)
        if graph is None:
            return
        text, depths = self.text, self.depth
        for i in graph.needed(nodes, text):
            op, operands, data = graph.nodes[i]
            if op == "const":
                text[i] = repr(data)
            elif op == "moved":
                text[i], depths[i] = text[operands[0]], depths.get(operands[0], 0)
            else:
                expression = self._expression(i, op, [text[k] for k in operands], data)
                if self.uses[i] == 1:
                    depth = depths[i] = 1 + max([depths.get(k, 0) for k in operands], default=0)
                    if depth < _DEEPEST:
                        text[i] = f"({expression})" if op in _SIGNS else expression
                        continue
                    depths[i] = 0
                self.lines.append(f"    x{i} = {expression}")
                text[i] = f"x{i}"

    def _expression(self, i: int, op: str, operands: list[str], data: Any) -> str:
        if op in _SIGNS:
            return f"{operands[0]} {op} {operands[1]}" if op != "neg" else f"-{operands[0]}"
        match op:
            case "in":
                return self.input(*data)
            case "curve":
                pieces, axis, order = data
                return self._on_curve(f"f{i}", operands[0], pieces(order, axis))
            case "user":
                function, order = data
                op, self.foreign[f"f{i}"] = f"f{i}", function.of(order)
        return f"{op}({', '.join(operands)})"

    def _on_curve(self, name: str, s: str, pieces: Any) -> str:
        """A value on a curve; curves with the same breaks share the search for a place."""
        key = s, id(pieces.breaks)
        if key not in self.sought:
            at = self.sought[key] = f"s{len(self.sought)}"
            self.foreign[f"{at}_of"] = pieces.place
            self.lines.append(f"    {at} = {at}_of({s})")
        self.foreign[name] = pieces.at
        return f"{name}(*{self.sought[key]})"

    def input(self, name: str, k: Any) -> str:
        """Text of an input."""
        own = name in ARGUMENTS
        return f"{name}[{k}]" if own else f"i[{self.inputs.setdefault((name, k), len(self.inputs))}]"


def _uses(staged: Sequence[Number], results: Sequence[Number]) -> Counter[int]:
    """Number of uses of each node's text; those of stages are used again as inputs."""
    uses, graph = Counter[int](), graph_of([*staged, *results])
    if graph is None:
        return uses
    needed = graph.needed([*staged, *results])
    uses.update(x.i for x in (*staged, *staged, *results) if is_node(x))
    uses.update(k for i in needed for k in graph.nodes[i][1])
    for i in reversed(needed):  # a moved node is its operand
        op, operands, _ = graph.nodes[i]
        if op == "moved":
            uses[operands[0]] += uses[i] - 1
    return uses
