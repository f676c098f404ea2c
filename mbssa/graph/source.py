"""Graphs printed as Python source, for floats and for arrays."""

from __future__ import annotations

import math

import numpy as np

from mbssa.graph.nodes import is_node

_FLOATS = {
    "sqrt": math.sqrt, "sin": math.sin, "cos": math.cos, "atan2": math.atan2, "abs": abs, "min": min,
    "max": max, "exp": math.exp, "log": math.log, "rint": round,
    "above": lambda test, a, b: a if test > 0 else b,
}  # fmt: skip
_ARRAYS = {
    "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "atan2": np.arctan2, "abs": np.abs, "min": np.fmin,
    "max": np.fmax, "exp": np.exp, "log": np.log, "rint": np.rint,
    "above": lambda test, a, b: np.where(test > 0, a, b),
}  # fmt: skip
#: Inputs that are arguments of their own; all others come in one list, in the order of first use.
ARGUMENTS = ("g", "q", "dq", "ddq")


def functions(name, stages, results):
    """The function ``name(i, g, q, dq, ddq)`` of floats and that of arrays, and the inputs in ``i``.

    Stages are (input name, nodes): those inputs are these results, so that rates that were solved for are
    inputs of what comes after them.
    """
    writer = _Writer(name)
    for given, nodes in stages:
        writer.stage(given, nodes)
    writer.write(results)
    made = ", ".join(map(writer.value, results))
    text = "\n".join([*writer.lines, f"    return ({made}{',' if results else ''})"])
    code, found = compile(text, f"<{name}>", "exec"), []
    for space in (_FLOATS, _ARRAYS):
        names = space | writer.curves
        exec(code, names)
        found.append(names[name])
    return found, list(writer.inputs)


class _Writer:
    def __init__(self, name):
        self.lines = [f"def {name}(i, g, q=(), dq=(), ddq=()):"]
        self.text, self.curves, self.inputs = {}, {}, {}

    def value(self, x):
        return self.text[x.i] if is_node(x) else repr(float(x))

    def stage(self, given, nodes):
        self.write(nodes)
        graph = next((x.graph for x in nodes if is_node(x)), None)
        for k, x in enumerate(nodes):
            if graph is not None:
                self.text[graph.input(given, k).i] = self.value(x)
        if graph is None and nodes:
            self.lines.append(f"    {given} = ({', '.join(map(self.value, nodes))},)")

    def write(self, nodes):
        graph = next((x.graph for x in nodes if is_node(x)), None)
        if graph is None:
            return
        for i in graph.needed(nodes, self.text):
            op, operands, data = graph.nodes[i]
            if op == "const":
                self.text[i] = repr(data)
                continue
            if op == "moved":
                self.text[i] = self.text[operands[0]]
                continue
            self.lines.append(f"    x{i} = {self._expression(i, op, [self.text[k] for k in operands], data)}")
            self.text[i] = f"x{i}"

    def _expression(self, i, op, operands, data):
        if op == "in":
            name, k = data
            return (
                f"{name}[{k}]"
                if name in ARGUMENTS
                else f"i[{self.inputs.setdefault(data, len(self.inputs))}]"
            )
        if op == "curve":
            pieces, axis, order = data
            self.curves[f"curve{i}"] = pieces(order, axis)
            return f"curve{i}({operands[0]})"
        if op == "user":
            function, orders = data
            self.curves[f"user{i}"] = function.of(orders)
            return f"user{i}({', '.join(operands)})"
        if op in ("+", "-", "*", "/"):
            return f"{operands[0]} {op} {operands[1]}"
        return f"-{operands[0]}" if op == "neg" else f"{op}({', '.join(operands)})"
