"""Algorithms on a memory of numbers, written once, and printed as Python source or as LLVM text."""

# All functions take the memory alone: numbers m and whole numbers p. A function is written by operations on
# values, loops and conditions of ``with``, and formulas: nodes of a graph, whose inputs have places in m.

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import reduce
from operator import add
from types import CodeType
from typing import Any, TypeAlias

from mbssa.graph.llvm import Code, Module, Writer
from mbssa.graph.nodes import FUNCTIONS, Number
from mbssa.graph.source import CONSTANTS, SourceWriter

#: Place of a number in the memory.
Place: TypeAlias = "int | Value"
#: Place of an input (name, k) of a formula.
Inputs: TypeAlias = Callable[[str, Any], Place]
#: Writes some nodes of a graph; shared operations are written once.
Formulas: TypeAlias = Callable[[Sequence[Number]], "list[Value]"]

#: Of Python, and of LLVM for numbers and for whole numbers or conditions: a whole text, in which ``kind`` is
#: the type of the last value, or an instruction for two values of the same kind.
_OPERATIONS = {
    "+": ("{} + {}", "fadd contract", "add"), "-": ("{} - {}", "fsub contract", "sub"),
    "*": ("{} * {}", "fmul contract", "mul"), "/": ("{} / {}", "fdiv", ""),
    "<": ("{} < {}", "fcmp olt", "icmp slt"), ">": ("{} > {}", "fcmp ogt", "icmp sgt"),
    "<=": ("{} <= {}", "fcmp ole", "icmp sle"), ">=": ("{} >= {}", "fcmp oge", "icmp sge"),
    "same": ("{} == {}", "fcmp oeq", "icmp eq"), "differ": ("{} != {}", "fcmp une", "icmp ne"),
    "and": ("{} and {}", "and", "and"), "or": ("{} or {}", "or", "or"),
    "size": ("abs({})", "call double @llvm.fabs.f64(double {})", ""),
    "root": ("sqrt({})", "call double @llvm.sqrt.f64(double {})", ""),
    "as number": ("float({})", "", "sitofp i64 {} to double"),
    "chosen": ("{1} if {0} else {2}", "select i1 {}, double {}, double {}",
               "select i1 {}, {kind} {}, {kind} {}"),
}  # fmt: skip
_RESULTS = dict.fromkeys(("<", ">", "<=", ">=", "same", "differ"), "condition") | {"as number": "number"}


class CallbackError(Exception):
    """An exception, its cause, of a function that a script calls."""


def _operator(op: str, *, swapped: bool = False) -> Callable[[Value, Value | float], Value]:
    """A method that writes an operation on a value and another one."""

    def operate(a: Value, b: Value | float) -> Value:
        b = a.script.value(b, a.kind)
        return a.script.operation(op, *((b, a) if swapped else (a, b)))

    return operate


class Value:
    """A number, a whole number or a condition while a script is written."""

    __slots__ = ("kind", "script", "text")

    def __init__(self, script: Script, kind: str, text: str) -> None:
        self.script, self.kind, self.text = script, kind, text

    __add__ = __radd__ = _operator("+")
    __mul__ = __rmul__ = _operator("*")
    __sub__, __rsub__ = _operator("-"), _operator("-", swapped=True)
    __truediv__, __rtruediv__ = _operator("/"), _operator("/", swapped=True)
    __lt__, __gt__, __le__, __ge__ = map(_operator, ("<", ">", "<=", ">="))
    __and__, __or__ = map(_operator, ("and", "or"))
    #: Whether two are the same, or differ; NaN differs from all.
    is_, is_not = map(_operator, ("same", "differ"))


class Variable:
    """A value that changes."""

    def __init__(self, script: Script, kind: str, place: str) -> None:
        self.script, self.kind, self.place = script, kind, place

    def get(self) -> Value:
        """Its value now."""
        return self.script.read(self.kind, self.place)

    def set(self, x: Value | float) -> None:
        """Give it another value."""
        self.script.write(self.kind, self.place, x)


class Script(ABC):
    """Functions f(m, p); kinds of values are ``number``, ``whole`` and ``condition``."""

    @abstractmethod
    def function(self, name: str, fault: int | None = None) -> AbstractContextManager[None]:
        """Write a function; where it cannot calculate, the number at ``fault`` is NaN."""

    @abstractmethod
    def call(self, name: str) -> None:
        """Call a function of the script."""

    @abstractmethod
    def ask(self) -> None:
        """Call the function from outside that writes what depends on time."""

    @abstractmethod
    def literal(self, x: float, kind: str) -> str:
        """Text of a constant."""

    @abstractmethod
    def operation(self, op: str, *operands: Value) -> Value:
        """An operation on some values."""

    @abstractmethod
    def at(self, array: str, k: Place, kind: str) -> str:
        """Place of an element of ``m`` or ``p``."""

    @abstractmethod
    def read(self, kind: str, place: str) -> Value:
        """The value at a place."""

    @abstractmethod
    def write(self, kind: str, place: str, x: Value | float) -> None:
        """Write the value at a place."""

    @abstractmethod
    def variable(self, x: Value) -> Variable:
        """A variable with a first value."""

    @abstractmethod
    def loop(self, count: Value | int, first: Value | int = 0) -> AbstractContextManager[Value]:
        """Index from ``first`` to below ``count``."""

    @abstractmethod
    def repeat(self) -> AbstractContextManager[None]:
        """A loop that :meth:`leave` ends."""

    @abstractmethod
    def leave(self, condition: Value) -> None:
        """End the innermost loop on a condition."""

    @abstractmethod
    def when(self, condition: Value) -> AbstractContextManager[None]:
        """A block on a condition."""

    @abstractmethod
    def formulas(self, inputs: Inputs, every: Sequence[Number]) -> Formulas:
        """Writer of nodes, which are all among those that ``every`` result needs."""

    def value(self, x: Value | float, kind: str) -> Value:
        """A constant; a value as it is."""
        return x if isinstance(x, Value) else Value(self, kind, self.literal(x, kind))

    def number(self, k: Place) -> Value:
        """The number at a place."""
        return self.read("number", self.at("m", k, "number"))

    def put(self, k: Place, x: Value | float) -> None:
        """Write the number at a place."""
        self.write("number", self.at("m", k, "number"), x)

    def whole(self, k: Place) -> Value:
        """The whole number at a place."""
        return self.read("whole", self.at("p", k, "whole"))

    def put_whole(self, k: Place, x: Value | int) -> None:
        """Write the whole number at a place."""
        self.write("whole", self.at("p", k, "whole"), x)

    def chosen(self, condition: Value, a: Value, b: Value) -> Value:
        """The first of two values on a condition, else the second."""
        return self.operation("chosen", condition, a, b)

    def size(self, x: Value) -> Value:
        """Absolute value of a number."""
        return self.operation("size", x)

    def root(self, x: Value) -> Value:
        """Square root of a number."""
        return self.operation("root", x)

    def as_number(self, x: Value) -> Value:
        """A whole number as a number."""
        return self.operation("as number", x)

    def sum(self, parts: Sequence[Value]) -> Value:
        """Sum of some numbers, 0 of none."""
        return reduce(add, parts) if parts else self.value(0.0, "number")

    def larger(self, a: Value, b: Value | float) -> Value:
        """The larger of two numbers; NaN if one of them is."""
        b = self.value(b, "number")
        return self.chosen((a < b) | b.is_not(b), b, a)

    def smaller(self, a: Value, b: Value | float) -> Value:
        """The smaller of two numbers; NaN if one of them is."""
        b = self.value(b, "number")
        return self.chosen((a > b) | b.is_not(b), b, a)

    def copy(self, to: Place, source: Place, count: int) -> None:
        """Copy some numbers."""
        with self.loop(count) as k:
            self.put(k + to, self.number(k + source))

    def copy_wholes(self, to: int, source: int, count: int) -> None:
        """Copy some whole numbers."""
        with self.loop(count) as k:
            self.put_whole(k + to, self.whole(k + source))

    def fill(self, to: Place, count: int, x: float = 0.0) -> None:
        """Write one number at some places."""
        with self.loop(count) as k:
            self.put(k + to, x)


# --- Python --------------------------------------------------------------------------------------------


def _outside(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose exceptions are no faults of the script's own numbers."""

    def call(*x: Any) -> Any:
        try:
            return function(*x)
        except Exception as error:
            raise CallbackError from error

    return call


class PythonScript(Script):
    """A script as source of Python on lists; ``names`` are those that the source needs."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._depth, self._count = 0, 0
        self._compiled: CodeType | None = None
        self.names: dict[str, Any] = {name: pair[0] for name, pair in FUNCTIONS.items()} | CONSTANTS

    def made(self, ask: Callable[[list[float], list[int]], None]) -> dict[str, Any]:
        """The functions by name."""
        names = self.names | {"ask": _outside(ask)}
        if self._compiled is None:
            self._compiled = compile("\n".join(self.lines), "<script>", "exec")
        exec(self._compiled, names)
        return names

    def count(self) -> int:
        """A number that no name has."""
        self._count += 1
        return self._count

    def line(self, text: str) -> None:
        """Write a line."""
        self.lines.append("    " * self._depth + text)

    @contextmanager
    def _block(self, head: str) -> Iterator[None]:
        self.line(head)
        self._depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.line("pass")
        self._depth -= 1

    @contextmanager
    def function(self, name: str, fault: int | None = None) -> Iterator[None]:
        with self._block(f"def {name}(m, p):"):
            if fault is None:
                yield
                return
            with self._block("try:"):
                yield
            with self._block("except (ArithmeticError, ValueError):"):
                self.line(f"m[{fault}] = nan")

    def call(self, name: str) -> None:
        self.line(f"{name}(m, p)")

    def ask(self) -> None:
        self.call("ask")

    def literal(self, x: float, kind: str) -> str:
        return repr(float(x) if kind == "number" else int(x))

    def operation(self, op: str, *operands: Value) -> Value:
        text = _OPERATIONS[op][0].format(*[x.text for x in operands])
        return self.read(_RESULTS.get(op, operands[-1].kind), text)

    def at(self, array: str, k: Place, kind: str) -> str:
        return f"{array}[{k.text if isinstance(k, Value) else k}]"

    def read(self, kind: str, place: str) -> Value:
        found = Value(self, kind, f"v{self.count()}")
        self.line(f"{found.text} = {place}")
        return found

    def write(self, kind: str, place: str, x: Value | float) -> None:
        self.line(f"{place} = {self.value(x, kind).text}")

    def variable(self, x: Value) -> Variable:
        found = Variable(self, x.kind, f"w{self.count()}")
        found.set(x)
        return found

    @contextmanager
    def loop(self, count: Value | int, first: Value | int = 0) -> Iterator[Value]:
        k = Value(self, "whole", f"k{self.count()}")
        start, end = (self.value(x, "whole").text for x in (first, count))
        with self._block(f"for {k.text} in range({start}, {end}):"):
            yield k

    def repeat(self) -> AbstractContextManager[None]:
        return self._block("while True:")

    def leave(self, condition: Value) -> None:
        self.line(f"if {condition.text}: break")

    def when(self, condition: Value) -> AbstractContextManager[None]:
        return self._block(f"if {condition.text}:")

    def formulas(self, inputs: Inputs, every: Sequence[Number]) -> Formulas:
        writer = _Sources(self, inputs, every)

        def write(numbers: Sequence[Number]) -> list[Value]:
            writer.write(numbers)
            for text in writer.lines:
                self.line(text.strip())
            writer.lines.clear()
            self.names |= {name: _outside(function) for name, function in writer.foreign.items()}
            writer.foreign.clear()
            return [self.read("number", writer.value(x)) for x in numbers]

        return write


class _Sources(SourceWriter):
    """Lines of formulas whose inputs are in the memory."""

    def __init__(self, script: PythonScript, inputs: Inputs, every: Sequence[Number]) -> None:
        super().__init__("", [], every)
        self.script, self.places = script, inputs
        self.lines.clear()

    def input(self, name: str, k: Any) -> str:
        return self.script.at("m", self.places(name, k), "number")


# --- LLVM ----------------------------------------------------------------------------------------------

_KINDS = {"number": "double", "whole": "i64", "condition": "i1"}
_ARGUMENTS = "ptr noalias %m, ptr noalias %p, ptr %ask, ptr %tables"


class MachineScript(Script):
    """A script as LLVM text; its functions take the address that :meth:`ask` calls, and those of tables."""

    # Python calls NAME_at, with the address of the four arguments: three more would take 0.14 µs.

    def __init__(self) -> None:
        self.module = Module(1)
        for function in ("fabs", "sqrt"):
            self.module.declare(f"double @llvm.{function}.f64(double)")
        #: Curves' tables by identity; the last argument is the array of their addresses.
        self.tables: dict[int, Any] = {}
        self._code: Code

    @property
    def text(self) -> str:
        """The whole text."""
        return self.module.text

    @contextmanager
    def function(self, name: str, fault: int | None = None) -> Iterator[None]:
        with self.module.function(name, _ARGUMENTS) as code:
            self._code = code
            yield
        with self.module.function(f"{name}_at", "ptr %at") as self._code:
            four = ", ".join(
                f"ptr {self._code.load(self._code.at('%at', k, 'ptr'), 'ptr')}" for k in range(4)
            )
            self._code.do(f"call void @{name}({four})")

    def call(self, name: str) -> None:
        self._code.do(f"call void @{name}(ptr %m, ptr %p, ptr %ask, ptr %tables)")

    def ask(self) -> None:
        self._code.do("call void %ask(ptr %m)")

    def literal(self, x: float, kind: str) -> str:
        return f"0x{struct.unpack('>Q', struct.pack('>d', x))[0]:016X}" if kind == "number" else str(int(x))

    def operation(self, op: str, *operands: Value) -> Value:
        kind, texts = operands[-1].kind, [x.text for x in operands]
        form = _OPERATIONS[op][1 if kind == "number" else 2]
        name = _KINDS[kind]
        text = form.format(*texts, kind=name) if "{" in form else f"{form} {name} {', '.join(texts)}"
        return Value(self, _RESULTS.get(op, kind), self._code(text))

    def at(self, array: str, k: Place, kind: str) -> str:
        return self._code.at(f"%{array}", k.text if isinstance(k, Value) else k, _KINDS[kind])

    def read(self, kind: str, place: str) -> Value:
        return Value(self, kind, self._code.load(place, _KINDS[kind]))

    def write(self, kind: str, place: str, x: Value | float) -> None:
        self._code.store(self.value(x, kind).text, place, _KINDS[kind])

    def variable(self, x: Value) -> Variable:
        return Variable(self, x.kind, self._code.cell(_KINDS[x.kind], x.text))

    @contextmanager
    def loop(self, count: Value | int, first: Value | int = 0) -> Iterator[Value]:
        texts = (self.value(x, "whole").text for x in (first, count))
        with self._code.loop(*texts) as k:
            yield Value(self, "whole", k)

    @contextmanager
    def repeat(self) -> Iterator[None]:
        with self._code.loop("0", None):
            yield

    def leave(self, condition: Value) -> None:
        self._code.leave_unless(self._code(f"xor i1 {condition.text}, true"))

    def when(self, condition: Value) -> AbstractContextManager[None]:
        return self._code.when(condition.text)

    def formulas(self, inputs: Inputs, every: Sequence[Number]) -> Formulas:
        code, number = self._code, self.module.number

        def load(name: str, k: Any) -> str:
            return code.load(self.at("m", inputs(name, k), "number"))

        writer = Writer(code, load, self._table)

        def write(numbers: Sequence[Number]) -> list[Value]:
            texts = writer.write(numbers)
            return [Value(self, "number", code(f"extractelement {number} {x}, i32 0")) for x in texts]

        return write

    def _table(self, numbers: Any) -> str:
        """Address of a table."""
        self.tables.setdefault(id(numbers), numbers)
        place = list(self.tables).index(id(numbers))
        return self._code.load(self._code.at("%tables", place, "ptr"), "ptr")
