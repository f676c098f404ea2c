"""Graphs printed as LLVM text: numbers are vectors of neighbouring instants, a lane for each."""

# What a processor has no instruction for is written in operations of the graph, so that the text has no
# symbol of a library: it compiles for any machine.

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from math import factorial, log, perm, pi
from typing import Any

import numpy as np

from mbssa.graph.nodes import (
    Graph,
    Node,
    Number,
    above,
    absolute,
    graph_of,
    is_node,
    largest,
    least,
    polynomial,
)

#: Adding it and taking it away again leaves the nearest whole number; its last bits are that number.
MAGIC = 1.5 * 2.0**52
#: Bits of 1.0, of the mantissa, and of 2.0**52.
ONE, MANTISSA, SHIFTED = 0x3FF << 52, (1 << 52) - 1, 0x433 << 52

_BITS = {
    "two_to": (("shl", 52), ("add", ONE)),
    "mantissa": (("and", MANTISSA), ("or", ONE)),
    "exponent": (("lshr", 52), ("or", SHIFTED)),
}
_BINARY = {"+": "fadd contract", "-": "fsub contract", "*": "fmul contract", "/": "fdiv"}
_INTRINSIC = {"sqrt": "sqrt", "abs": "fabs"}


class Module:
    """Functions over vectors of so many lanes."""

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        self.number, self.mask, self.whole = (f"<{lanes} x {kind}>" for kind in ("double", "i1", "i64"))
        self._functions: list[str] = []
        self._declared: dict[str, None] = {}

    @property
    def text(self) -> str:
        """The whole text; on Windows a large frame of the stack would ask for a library's symbol."""
        ends = 'attributes #0 = { nounwind "no-stack-arg-probe" }'
        return "\n\n".join([*self._declared, *self._functions, ends])

    @contextmanager
    def function(self, name: str, arguments: str) -> Iterator[Code]:
        """Write a function of these arguments."""
        code = Code(self)
        yield code
        lines = [*code.entry, "  br label %begin", "begin:", *code.lines, "  ret void", "}"]
        self._functions.append("\n".join([f"define void @{name}({arguments}) #0 {{", "entry:", *lines]))

    def declare(self, declaration: str) -> None:
        """Declare a function of LLVM's own."""
        self._declared[f"declare {declaration}"] = None


class Code:
    """Instructions of a function, with loops and conditions of ``with``; operands are texts."""

    def __init__(self, module: Module) -> None:
        self.module, self.number, self.mask, self.whole = module, module.number, module.mask, module.whole
        self.lanes = module.lanes
        self.entry: list[str] = []
        self.lines: list[str] = []
        self._count, self._block, self._ends = 0, "begin", list[str]()

    def __call__(self, instruction: str, *, first: bool = False) -> str:
        """Write an instruction, perhaps before all others; the name of its result."""
        self._count += 1
        (self.entry if first else self.lines).append(f"  %v{self._count} = {instruction}")
        return f"%v{self._count}"

    def do(self, instruction: str) -> None:
        """Write an instruction without a result."""
        self.lines.append(f"  {instruction}")

    # --- flow ----------------------------------------------------------------------------------------

    def _label(self, name: str) -> None:
        self.lines.append(f"{name}:")
        self._block = name

    @contextmanager
    def loop(self, first: str, end: str | None, step: str = "1") -> Iterator[str]:
        """Index from ``first`` to below ``end``; without an end only :meth:`leave_unless` ends it."""
        self._count += 1
        name = f"loop{self._count}"
        self._ends.append(f"{name}.end")
        self.do(f"br label %{name}")
        before, self._block = self._block, name
        self.lines.append(f"{name}:")
        self.do(f"%{name}.i = phi i64 [{first}, %{before}], [%{name}.j, %{name}.next]")
        if end is None:
            self.do(f"br label %{name}.body")
        else:
            more = self(f"icmp slt i64 %{name}.i, {end}")
            self.do(f"br i1 {more}, label %{name}.body, label %{name}.end")
        self._label(f"{name}.body")
        yield f"%{name}.i"
        self._ends.pop()
        self.do(f"br label %{name}.next")
        self._label(f"{name}.next")
        self.do(f"%{name}.j = add i64 %{name}.i, {step}")
        self.do(f"br label %{name}")
        self._label(f"{name}.end")

    @contextmanager
    def blocks(self, first: str, end: str, wide: int) -> Iterator[tuple[str, str]]:
        """First index and end of each block of so many, or fewer at last."""
        with self.loop(first, end, str(wide)) as begin:
            yield begin, self.smaller("i64", self(f"add i64 {begin}, {wide}"), end)

    def leave_unless(self, condition: str) -> None:
        """End the innermost loop where a condition does not hold."""
        self._count += 1
        name = f"on{self._count}"
        self.do(f"br i1 {condition}, label %{name}, label %{self._ends[-1]}")
        self._label(name)

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """A block that is executed on a condition."""
        self._count += 1
        name = f"when{self._count}"
        self.do(f"br i1 {condition}, label %{name}, label %{name}.end")
        self._label(name)
        yield
        self.do(f"br label %{name}.end")
        self._label(f"{name}.end")

    def cell(self, kind: str, value: str) -> str:
        """A variable with a first value."""
        at = self(f"alloca {kind}", first=True)
        self.do(f"store {kind} {value}, ptr {at}")
        return at

    def smaller(self, kind: str, a: str, b: str) -> str:
        """The smaller of two scalars of a kind."""
        how = "fcmp olt" if kind == "double" else "icmp slt"
        return self(f"select i1 {self(f'{how} {kind} {a}, {b}')}, {kind} {a}, {kind} {b}")

    # --- memory --------------------------------------------------------------------------------------

    def at(self, pointer: str, k: str | int, kind: str = "double", *, first: bool = False) -> str:
        """Pointer to an element."""
        return self(f"getelementptr {kind}, ptr {pointer}, i64 {k}", first=first)

    def load(self, pointer: str, kind: str = "", *, first: bool = False) -> str:
        """The value at a pointer, a vector unless another kind is given."""
        return self(f"load {kind or self.number}, ptr {pointer}, align 8", first=first)

    def store(self, x: str, pointer: str, kind: str = "") -> None:
        """Write a value at a pointer."""
        self.do(f"store {kind or self.number} {x}, ptr {pointer}, align 8")

    def splat(self, x: str, *, first: bool = False) -> str:
        """A scalar in all lanes."""
        one = self(f"insertelement {self.number} poison, double {x}, i32 0", first=first)
        order = f"<{self.lanes} x i32> zeroinitializer"
        return self(f"shufflevector {self.number} {one}, {self.number} poison, {order}", first=first)

    def gather(self, table: str, index: str) -> str:
        """Elements of a table, one for each lane."""
        at = self(f"getelementptr double, ptr {table}, {self.whole} {index}")
        of = f"llvm.masked.gather.v{self.lanes}f64.v{self.lanes}p0"
        pointers = f"<{self.lanes} x ptr>"
        self.module.declare(f"{self.number} @{of}({pointers}, i32, {self.mask}, {self.number})")
        given = f"{pointers} {at}, i32 8, {self.mask} splat (i1 true), {self.number} poison"
        return self(f"call {self.number} @{of}({given})")

    # --- numbers -------------------------------------------------------------------------------------

    def constant(self, x: float) -> str:
        """A number in all lanes."""
        return f"splat (double 0x{struct.unpack('>Q', struct.pack('>d', x))[0]:016X})"

    def compare(self, how: str, a: str, b: str) -> str:
        """Mask of a comparison."""
        return self(f"fcmp {how} {self.number} {a}, {b}")

    def both(self, a: str, b: str) -> str:
        """Mask of lanes that are in two."""
        return self(f"and {self.mask} {a}, {b}")

    def choose(self, mask: str, a: str, b: str) -> str:
        """The first where the mask is set, else the second."""
        return self(f"select {self.mask} {mask}, {self.number} {a}, {self.number} {b}")

    def binary(self, op: str, a: str, b: str) -> str:
        """Operation on two vectors, by its sign."""
        return self(f"{_BINARY[op]} {self.number} {a}, {b}")

    def intrinsic(self, name: str, x: str) -> str:
        """A function of one vector that processors have."""
        of = f"llvm.{name}.v{self.lanes}f64"
        self.module.declare(f"{self.number} @{of}({self.number})")
        return self(f"call {self.number} @{of}({self.number} {x})")

    def bits(self, mask: str) -> str:
        """A mask as a whole number of as many bits as there are lanes."""
        return self(f"bitcast {self.mask} {mask} to i{self.lanes}")

    def extreme(self, a: str, b: str, *, smallest: bool) -> str:
        """The smaller or larger of two; NaN if one of them is."""
        how = "olt" if smallest else "ogt"
        if b.startswith("splat"):
            a, b = b, a
        first = self.compare(how, a, b)
        if not a.startswith("splat"):
            first = self(f"or {self.mask} {first}, {self.compare('uno', a, a)}")
        return self.choose(first, a, b)


class Writer:
    """Writes nodes as instructions; ``load(name, k)`` gives the text of an input."""

    def __init__(self, code: Code, load: Callable[[str, Any], str], table: Callable[[Any], str]) -> None:
        self.code, self.load, self.table = code, load, table
        self.value: dict[int, str] = {}
        self._sought: dict[Any, Any] = {}

    def text(self, x: Number) -> str:
        """Text of a number that has been written."""
        return self.value[x.i] if is_node(x) else self.code.constant(float(x))

    def write(self, numbers: Sequence[Number]) -> list[str]:
        """Write what some numbers need; their texts."""
        graph = graph_of(numbers)
        if graph is not None:
            for i in graph.needed(numbers, self.value):
                op, operands, data = graph.nodes[i]
                self.value[i] = self._written(op, [self.value[k] for k in operands], data)
        return [self.text(x) for x in numbers]

    def stage(self, graph: Graph, given: str, numbers: Sequence[Number]) -> list[str]:
        """Write some numbers, which are inputs of what follows in a graph."""
        texts = self.write(numbers)
        for k, text in enumerate(texts):
            self.value[graph.input(given, k).i] = text
        return texts

    def _written(self, op: str, x: list[str], data: Any) -> str:
        code = self.code
        if op in _BINARY:
            return code.binary(op, *x)
        if op in _INTRINSIC:
            return code.intrinsic(_INTRINSIC[op], *x)
        match op:
            case "const":
                return code.constant(data)
            case "in":
                return self.load(*data)
            case "moved":
                return x[0]
            case "neg":
                return code(f"fneg {code.number} {x[0]}")
            case "above":
                return code.choose(code.compare("ogt", x[0], "zeroinitializer"), x[1], x[2])
            case "min" | "max":
                return code.extreme(*x, smallest=op == "min")
            case "rint":
                return self._rounded(x[0])
            case "curve":
                return self._curve(x[0], *data)
            case "two_to" | "exponent" | "mantissa":
                return self._bits(op, x[0])
        return self._expanded(op, x)

    def _rounded(self, x: str) -> str:
        magic = self.code.constant(MAGIC)  # not contracted: the sum is rounded
        return self.code(
            f"fsub {self.code.number} {self.code(f'fadd {self.code.number} {x}, {magic}')}, {magic}"
        )

    def _bits(self, op: str, x: str) -> str:
        """Powers of two, and the two parts of a number."""
        code, whole = self.code, self.code.whole
        if op == "two_to":
            x = code(f"fadd {code.number} {x}, {code.constant(MAGIC)}")
        bits = code(f"bitcast {code.number} {x} to {whole}")
        for instruction, number in _BITS[op]:
            bits = code(f"{instruction} {whole} {bits}, splat (i64 {number})")
        found = code(f"bitcast {whole} {bits} to {code.number}")
        return code.binary("-", found, code.constant(2.0**52 + 1023)) if op == "exponent" else found

    def _expanded(self, op: str, x: list[str]) -> str:
        """A function by operations of the graph; sine and cosine of a number are written together."""
        key = ("sin" if op == "cos" else op), *x
        if key not in self._sought:
            inside = Writer(self.code, lambda _, k: x[k], self.table)
            self._sought[key] = inside.write(_EXPANSIONS[key[0]]())
        return str(self._sought[key][op == "cos"])

    # --- curves --------------------------------------------------------------------------------------

    def _curve(self, s: str, pieces: Any, axis: int, order: int) -> str:
        """A derivative by Horner's scheme; pieces are sought, and their coefficients read, once."""
        code, base = self.code, pieces(0, axis)
        key = s, id(base.breaks)
        if key not in self._sought:
            self._sought[key] = self._piece(s, base)
        u, piece = self._sought[key]
        of = key, id(base.coefficients)  # several curves may have the same breaks
        if of not in self._sought:
            self._sought[of] = self._coefficients(piece, base)
        found = code.constant(0.0)
        for k, c in enumerate(self._sought[of]):
            power = base.coefficients.shape[1] - 1 - k
            if power >= order:
                c = code.binary("*", c, code.constant(perm(power, order)))
                found = code.binary("+", code.binary("*", found, u), c)
        return found

    def _piece(self, s: str, base: Any) -> tuple[str, str]:
        """The way into its piece, and the piece's number, of each lane: a search by halves."""
        code, count = self.code, len(base.breaks) - 1
        start = code.constant(base.breaks[0])
        if base.period:
            turns = code.binary("*", code.binary("-", s, start), code.constant(1.0 / base.period))
            near = self._rounded(turns)
            ahead = code.choose(code.compare("ogt", near, turns), code.constant(1.0), "zeroinitializer")
            whole = code.binary("*", code.binary("-", near, ahead), code.constant(base.period))
            s = code.binary("-", s, whole)
        half = 1 << max(count - 1, 0).bit_length()
        breaks = np.full(half, np.inf)
        breaks[:count] = base.breaks[:-1]
        table, low = self.table(breaks), "zeroinitializer"
        while half > 1:
            half //= 2
            middle = code(f"add {code.whole} {low}, splat (i64 {half})")
            right = code.compare("oge", s, code.gather(table, middle))
            low = code(f"select {code.mask} {right}, {code.whole} {middle}, {code.whole} {low}")
        return code.binary("-", s, code.gather(table, low)), low

    def _coefficients(self, piece: str, base: Any) -> list[str]:
        """Of the pieces of all lanes, highest power first."""
        code, width = self.code, base.coefficients.shape[1]
        table = self.table(base.coefficients)
        row = code(f"mul {code.whole} {piece}, splat (i64 {width})")
        places = [code(f"add {code.whole} {row}, splat (i64 {k})") for k in range(width)]
        return [code.gather(table, at) for at in places]


# --- functions ---------------------------------------------------------------------------------------


def _inputs(count: int) -> tuple[Graph, list[Node]]:
    graph = Graph()
    return graph, [graph.input("x", k) for k in range(count)]


def _rounded(x: Node) -> Node:
    return x.graph.make("rint", (x.i,))


@cache
def _sine_and_cosine() -> list[Number]:
    """Both by reduction modulo a right angle and polynomials (Cephes, sin.c)."""
    graph, (x,) = _inputs(1)
    k = _rounded(x * (2 / pi))
    r = x - k * 1.5707963267341256 - k * 6.077100506303966e-11 - k * 2.0222662487959506e-21
    z = r * r
    s = r + r * z * polynomial(z, [
        -1.6666666666666632e-1, 8.333333333322118e-3, -1.984126982958954e-4, 2.7557313621385722e-6,
        -2.5050747762857807e-8, 1.5896230157221844e-10,
    ])  # fmt: skip
    c = 1.0 - 0.5 * z + z * z * polynomial(z, [
        4.16666666666666e-2, -1.388888888888741e-3, 2.480158728947673e-5, -2.7557314351390663e-7,
        2.087572321298175e-9, -1.1359647557788195e-11,
    ])  # fmt: skip
    quarter, odd = k - 4.0 * _rounded(k * 0.25), k * 0.5 - _rounded(k * 0.5)
    odd = odd * odd * 4.0 - 0.5  # positive where sine and cosine change places
    one, minus = graph.node(1.0), graph.node(-1.0)
    sine = above(odd, c, s) * above((quarter + 0.5) * (1.5 - quarter), one, minus)
    return [sine, above(odd, s, c) * above((quarter + 1.5) * (0.5 - quarter), one, minus)]


@cache
def _arctangent() -> list[Number]:
    """Angle of a sine and a cosine (Cephes, atan.c)."""
    graph, (y, x) = _inputs(2)
    high, low = largest(absolute(x), absolute(y)), least(absolute(x), absolute(y))
    steep = low - (2**0.5 - 1) * high
    u = above(steep, low - high, low) / above(steep, low + high, high)
    z = u * u
    p = polynomial(z, [
        -6.485021904942025371773e1, -1.228866684490136173410e2, -7.500855792314704667340e1,
        -1.615753718733365076637e1, -8.750608600031904122785e-1,
    ])  # fmt: skip
    q = polynomial(z, [
        1.945506571482613964425e2, 4.853903996359136964868e2, 4.328810604912902668951e2,
        1.650270098316988542046e2, 2.485846490142306297962e1, 1.0,
    ])  # fmt: skip
    angle = u + u * z * p / q + above(steep, graph.node(pi / 4), graph.node(0.0))
    angle = above(absolute(y) - absolute(x), pi / 2 - angle, angle)
    angle = above(-x, pi - angle, angle)
    return [above(-y, -angle, angle)]


@cache
def _exponential() -> list[Number]:
    """By powers of two and Taylor's series up to half of the logarithm of 2."""
    graph, (x,) = _inputs(1)
    k = _rounded(x * (1 / log(2)))
    r = x - k * 6.93147180369123816490e-1 - k * 1.90821492927058770002e-10
    series = polynomial(r, [1 / factorial(n) for n in range(14)])
    half = _rounded(k * 0.5)  # in two factors: the last powers of two are no numbers alone
    found = series * graph.make("two_to", (half.i,)) * graph.make("two_to", ((k - half).i,))
    small = above(x + 746.0, found, graph.node(0.0))
    return [above(x - 709.79, graph.node(np.inf), small)]


@cache
def _logarithm() -> list[Number]:
    """By the exponent, and the series of the area tangent of what is left; NaN up to zero."""
    graph, (x,) = _inputs(1)
    m, e = (graph.make(op, (x.i,)) for op in ("mantissa", "exponent"))
    wide = m - 2**0.5
    m, e = above(wide, 0.5 * m, m), above(wide, e + 1.0, e)
    s = (m - 1.0) / (m + 1.0)
    series = 2.0 * s * polynomial(s * s, [1 / (2 * n + 1) for n in range(12)])
    found = e * 6.93147180369123816490e-1 + (series + e * 1.90821492927058770002e-10)
    return [above(x, found, graph.node(np.nan))]


_EXPANSIONS = {
    "sin": _sine_and_cosine, "atan2": _arctangent, "exp": _exponential, "log": _logarithm,
}  # fmt: skip
