"""Bounds of numbers of a graph over a time step, as nodes of the same graph: every printer prints them."""

# Two kinds, along a path of the inputs, s from -1 to 1. An enclosure c + d s + [-r, r]: what turns with the
# step is in the slope d, so that r is of second order. A majorant: sizes of the Taylor coefficients of
# order 0 … 4 by the step, anywhere on it, and by how much the number may be off that smooth path. Where
# there is no bound a radius is infinite or not a number, never too small; no minimum is taken that would
# lose it.
#
# Rounding: the computed sums, products, quotients and roots are the exact ones of inputs that are a few
# roundings off (backward error of the expression as a tree, of less than some hundred operations). So
# inputs get a radius of ROUNDING times their size, and sines, cosines and constants in sums are charged
# where they are met. One rounding is 1.1e-16. The geometry is taken as exact, and so is what is computed of
# it alone.

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np

from groups.engine.curves import Pieces
from mbssa.graph import nodes
from mbssa.graph.frames import total
from mbssa.graph.nodes import (
    Graph,
    Node,
    Number,
    above,
    absolute,
    atan2,
    cos,
    curve,
    div,
    is_node,
    is_zero,
    largest,
    least,
    neg,
    sin,
    sqrt,
)

#: Relative error that is charged to what enters.
ROUNDING = 4e-14
#: Error of Hermite's interpolation over the Taylor coefficient of order 4.
HERMITE = 24.0 / 384.0
#: Instead of infinity: its square is.
NO_BOUND = 1e200
#: Orders of a majorant, behind which stands what the true number is off.
ORDERS = 5
#: Largest of s (1 - s) (1 - 2 s) / 2.
_SKEW = 0.0482

#: Taylor coefficients of order 0 … 4, and what the number is off.
Majorant: TypeAlias = list[Number]
_Bound = TypeVar("_Bound")


class UnboundedError(Exception):
    """A group that cannot be proven, by the operation of which there are no bounds; it stays checked."""


def magnitude(x: Number) -> Number:
    """The size of a number; x and -x have one node."""
    if not is_node(x):
        return abs(x)
    if x.op == "neg":
        return magnitude(x.operand(0))
    if x.op == "-" and x.operand(0).i > x.operand(1).i:
        return absolute(x.operand(1) - x.operand(0))
    return x if x.op in ("abs", "sqrt") else absolute(x)


def _positive(x: Number) -> Number:
    """Zero instead of what is not positive, so that dividing by it gives infinity."""
    return above(x, x, 0.0) if is_node(x) else max(x, 0.0)


class Bounds(ABC, Generic[_Bound]):
    """Bounds by node of a graph; ``known`` gives those of inputs, None of an exact one."""

    def __init__(self, graph: Graph, known: Callable[[str, Any], _Bound | None]) -> None:
        self.graph, self.known, self.memo = graph, known, dict[int, _Bound]()

    def of(self, numbers: Sequence[Number]) -> list[_Bound]:
        for i in self.graph.needed(numbers, self.memo):
            self.memo[i] = self._bound(Node(self.graph, i), *self.graph.nodes[i])
        return [self.memo[x.i] if is_node(x) else self.constant(x) for x in numbers]

    @abstractmethod
    def constant(self, x: Number) -> _Bound:
        """Of an exact number."""

    def _bound(self, node: Node, op: str, operands: tuple[int, ...], data: Any) -> _Bound:
        match op:
            case "in":
                known = self.known(*data)
                return self.constant(node) if known is None else known
            case "const":
                return self.constant(data)
            case "moved":
                return self.memo[operands[0]]
        rule: Callable[..., _Bound] | None = getattr(self, _RULES.get(op, ""), None)
        if rule is None:
            raise UnboundedError("a user's function" if op == "user" else op)
        given = [self.memo[i] for i in operands]
        return rule(*given, *([data] if op == "curve" else []), *(Node(self.graph, i) for i in operands))


#: Methods by operation.
_RULES = {
    "+": "add", "-": "subtract", "*": "multiply", "/": "quotient", "neg": "negative", "sqrt": "root",
    "sin": "sine", "cos": "cosine", "atan2": "angle", "curve": "on_curve",
}  # fmt: skip


# --- enclosures ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, slots=True)
class Enclosure:
    """``c + d s + [-r, r]``, s from -1 to 1."""

    c: Number
    d: Number = 0.0
    r: Number = 0.0

    @property
    def size(self) -> Number:
        """Largest of ``c + d s``."""
        return magnitude(self.c) + magnitude(self.d)

    @property
    def wide(self) -> Number:
        """Distance of the number from the centre at most."""
        return magnitude(self.d) + self.r

    @property
    def is_exact(self) -> bool:
        return is_zero(self.d) and is_zero(self.r)

    @property
    def least(self) -> Number:
        """Lower bound of the size."""
        return magnitude(self.c) - self.wide

    @property
    def low(self) -> Number:
        return self.c - self.wide

    @property
    def charged(self) -> Number:
        """The radius, with the rounding of a product that an exact number enters."""
        return ROUNDING * magnitude(self.c) if self.is_exact else self.r


class Enclosures(Bounds[Enclosure]):
    """Enclosures of nodes."""

    def constant(self, x: Number) -> Enclosure:
        return Enclosure(x)

    def add(self, a: Enclosure, b: Enclosure, *_: Node) -> Enclosure:
        r = a.r + b.r
        if a.is_exact != b.is_exact:
            r = r + ROUNDING * magnitude(a.c if a.is_exact else b.c)
        return Enclosure(a.c + b.c, a.d + b.d, r)

    def negative(self, a: Enclosure, *_: Node) -> Enclosure:
        return Enclosure(-a.c, -a.d, a.r)

    def subtract(self, a: Enclosure, b: Enclosure, *_: Node) -> Enclosure:
        return self.add(a, self.negative(b))

    def multiply(self, a: Enclosure, b: Enclosure, *_: Node) -> Enclosure:
        if a is b:
            return self.square(a)
        if b.is_exact:
            a, b = b, a
        if a.is_exact:
            return Enclosure(a.c * b.c, a.c * b.d, magnitude(a.c) * b.r)
        half = 0.5 * (a.d * b.d)  # s² is from 0 to 1
        r = a.size * b.r + a.r * (b.size + b.r) + magnitude(half)
        return Enclosure(a.c * b.c + half, a.c * b.d + a.d * b.c, r)

    def square(self, a: Enclosure) -> Enclosure:
        half = 0.5 * (a.d * a.d)
        return Enclosure(a.c * a.c + half, 2.0 * (a.c * a.d), a.r * (2.0 * a.size + a.r) + half)

    def quotient(self, a: Enclosure, b: Enclosure, *_: Node) -> Enclosure:
        return self.multiply(a, self._inverse(b))

    @staticmethod
    def _inverse(b: Enclosure) -> Enclosure:
        """1 / (c + x) = f - f² x + f² x² / (c + x)."""
        f = div(1.0, b.c)
        if b.is_exact:
            return Enclosure(f)
        square, w = f * f, b.wide
        return Enclosure(f, neg(square * b.d), square * (w * w / _positive(b.least) + b.r))

    def root(self, a: Enclosure, *_: Node) -> Enclosure:
        """Taylor's formula, with the rest x² / (8 (c + x)^1.5)."""
        f = sqrt(a.c)
        if a.is_exact:
            return Enclosure(f)
        slope, low, w = div(0.5, f), sqrt(a.low), a.wide  # not a number where it may be below zero
        return Enclosure(f, slope * a.d, slope * a.r + 0.125 * (w * w) / (low * low * low))

    def sine(self, a: Enclosure, *_: Node) -> Enclosure:
        return self._wave(a, sin(a.c), cos(a.c))

    def cosine(self, a: Enclosure, *_: Node) -> Enclosure:
        return self._wave(a, cos(a.c), neg(sin(a.c)))

    @staticmethod
    def _wave(a: Enclosure, f: Number, slope: Number) -> Enclosure:
        """Taylor's formula of second order, its square centred."""
        if a.is_exact:
            return Enclosure(f)
        w = a.wide
        half, middle = 0.5 * (w * w), 0.25 * (a.d * a.d)
        rest = magnitude(slope) * a.r + magnitude(f) * (half - middle) + (1 / 3) * (w * half) + ROUNDING
        return Enclosure(f - f * middle, slope * a.d, rest)

    def angle(self, y: Enclosure, x: Enclosure, *_: Node) -> Enclosure:
        """An offset of ρ turns the angle by asin(ρ / distance) at most."""
        distance, off = sqrt(x.c * x.c + y.c * y.c), x.wide + y.wide
        return Enclosure(atan2(y.c, x.c), 0.0, 0.5 * math.pi * off / _positive(distance - off) + ROUNDING)

    def on_curve(self, a: Enclosure, data: Any, *_: Node) -> Enclosure:
        """Taylor's formula of second order; of a lower one where a break between pieces is near."""
        pieces, axis, order = data
        f, broken = _derivatives_on(a, data, 3)
        w = a.wide
        value, slope = (curve(a.c, pieces, axis, order + k) for k in (0, 1))
        r = f[1] * a.r + 0.5 * f[2] * (w * w) + ROUNDING * f[0]
        if order + 1 > _smoothness(pieces):
            r = r + broken * (3.0 * f[1] * w)
        if order > _smoothness(pieces):
            first, last = (curve(a.c + x, pieces, axis, order) for x in (-w, w))
            r = r + broken * magnitude(last - first)
        return Enclosure(value, slope * a.d, r)


# --- piecewise polynomials ---------------------------------------------------------------------------


def _derivatives_on(a: Enclosure, data: Any, count: int) -> tuple[list[Number], Number]:
    """Largest sizes of the first derivatives of a curve over an enclosure, and 1 where a break is in it."""
    # Two neighbouring pieces at most are bounded together: derivatives that break have a bound in either.
    pieces, axis, order = data
    w, numbers = a.wide, _numbers_of(pieces)
    ends, degree = (a.c - w, a.c + w), pieces(0, axis).coefficients.shape[1]
    at = [[magnitude(curve(x, pieces, axis, k)) for k in range(order, degree)] for x in ends]
    apart = magnitude(curve(ends[1], numbers, 0) - curve(ends[0], numbers, 0))
    across = len(pieces(0, 0).coefficients) - 1.5  # from the last piece to the first of a closed curve
    far = above(apart - 1.5, above(across - apart, NO_BOUND, 0.0), 0.0)
    found = [largest(_taylor(at[0], k, 2.0 * w), _taylor(at[1], k, 2.0 * w)) + far for k in range(count)]
    return found, above(apart - 0.5, 1.0, 0.0)


def _taylor(at: list[Number], k: int, w: Number) -> Number:
    """Largest of the k-th derivative within w of a point, by the sizes of all derivatives there."""
    rest: Number = at[-1] if k < len(at) else 0.0
    for n in range(len(at) - 2, k - 1, -1):  # Σ f⁽ᵏ⁺ʲ⁾ wʲ / j!
        rest = at[n] + rest * w * (1.0 / (n - k + 1))
    return rest


@cache
def _numbers_of(pieces: nodes.Pieces) -> nodes.Pieces:
    """The function of s that says in which piece it is, in the form of the pieces."""
    first: Any = pieces(0, 0)
    numbers = np.arange(float(len(first.coefficients)))[:, None]
    found = Pieces(first.breaks, np.ascontiguousarray(numbers), first.period)
    return lambda order, axis: found


@cache
def _smoothness(pieces: nodes.Pieces) -> int:
    """Up to which order the derivatives of a curve are continuous."""
    both: list[Any] = [pieces(0, axis) for axis in (0, 1)]
    degree = max(of.coefficients.shape[1] for of in both)
    for k in range(degree):
        if not all(map(_is_continuous, (pieces(k, 0), pieces(k, 1)))):
            return k - 1
    return int(degree)


def _is_continuous(pieces: Any) -> bool:
    widths, c = np.diff(pieces.breaks), pieces.coefficients.T
    after = sum(row * widths**k for k, row in enumerate(c[::-1]))
    jumps = np.abs(after - np.roll(c[-1], -1))[: None if pieces.period else -1]
    size = max(1e-300, np.abs(c[-1]).max(), np.abs(after).max())
    return bool(jumps.max(initial=0.0) <= 1e-9 * size)


# --- majorants -----------------------------------------------------------------------------------------


class Majorants(Bounds[Majorant]):
    """Majorants of nodes; ``boxes`` are enclosures of the same path, for denominators."""

    # ``cubics`` are majorants of cubics through the ends of some roots, quotients and squared sums, and lower
    # bounds of their sizes, by node. By the rules alone the bounds of these are far too large where what is
    # below is a small difference, or constant in truth; the equations v² = a, v b = a and v = a + b have no
    # such trouble.

    def __init__(
        self,
        graph: Graph,
        known: Callable[[str, Any], Majorant | None],
        boxes: Enclosures,
        cubics: dict[int, tuple[Majorant, Number]],
        curved: bool,
    ) -> None:
        super().__init__(graph, known)
        self.boxes, self.cubics, self.curved = boxes, cubics, curved

    def _bound(self, node: Node, op: str, operands: tuple[int, ...], data: Any) -> Majorant:
        found = super()._bound(node, op, operands, data)
        if op in ("+", "-") and node.i in self.cubics:
            cubic, _ = self.cubics[node.i]
            return self._along(cubic, self.add(cubic, found), 1.0)
        return found

    def constant(self, x: Number) -> Majorant:
        return [magnitude(x)] + [0.0] * ORDERS

    def add(self, a: Majorant, b: Majorant, *_: Node) -> Majorant:
        return [x + y for x, y in zip(a, b, strict=True)]

    def subtract(self, a: Majorant, b: Majorant, *_: Node) -> Majorant:
        return self.add(a, b)

    def negative(self, a: Majorant, *_: Node) -> Majorant:
        return a

    def multiply(self, a: Majorant, b: Majorant, *_: Node) -> Majorant:
        off = a[0] * b[ORDERS] + a[ORDERS] * (b[0] + b[ORDERS])
        return [total([a[i] * b[k - i] for i in range(k + 1)]) for k in range(ORDERS)] + [off]

    def quotient(self, a: Majorant, b: Majorant, x: Node, y: Node) -> Majorant:
        low, node = self.boxes.of([y])[0].least, self.graph.make("/", (x.i, y.i))
        if node.i in self.cubics:
            cubic, _ = self.cubics[node.i]
            return self._along(cubic, self.add(self.multiply(cubic, b), a), low - b[ORDERS])
        return self.multiply(a, self._inverse(b, low))

    @staticmethod
    def _inverse(b: Majorant, low: Number) -> Majorant:
        f = div(1.0, _positive(low))
        found = [f]
        for k in range(1, ORDERS):
            found.append(f * total([b[i] * found[k - i] for i in range(1, k + 1)]))
        off = b[ORDERS]
        return [*found, 0.0 if is_zero(off) else off * f / _positive(low - off)]

    def root(self, a: Majorant, x: Node) -> Majorant:
        node = self.graph.make("sqrt", (x.i,))
        if node.i in self.cubics:
            cubic, low = self.cubics[node.i]
            return self._along(cubic, self.add(self.multiply(cubic, cubic), a), low)
        f = sqrt(self.boxes.of([x])[0].low)
        half, found = div(0.5, f), [sqrt(a[0])]
        for k in range(1, ORDERS):
            found.append(half * total([a[k], *(found[i] * found[k - i] for i in range(1, k))]))
        return [*found, a[ORDERS] / f]

    def _along(self, cubic: Majorant, left: Majorant, slope: Number) -> Majorant:
        """Of a number near a cubic, by what is left of its equation there and the slope of that."""
        off = off_cubic(left, self.curved) + left[ORDERS] + ROUNDING * (left[0] + left[1])
        return [*cubic[:ORDERS], off / _positive(slope) if is_node(slope) else off]

    def sine(self, a: Majorant, *_: Node) -> Majorant:
        """Sine or cosine: no derivative is above one."""
        return _composed([1.0, 1.0, 1 / 2, 1 / 6, 1 / 24], a)

    cosine = sine

    def angle(self, y: Majorant, x: Majorant, *nodes: Node) -> Majorant:
        """From its rate, (x y' - y x') / (x² + y²)."""
        square = self.add(self.multiply(x, x), self.multiply(y, y))
        b, a = self.boxes.of(nodes)
        low = self.boxes.add(self.boxes.square(a), self.boxes.square(b)).least
        rates = [[(k + 1) * v[k + 1] for k in range(ORDERS - 1)] + [0.0, 0.0] for v in (x, y)]
        top = self.add(self.multiply(x, rates[1]), self.multiply(y, rates[0]))
        rate = self.multiply(top, self._inverse(square, low))
        off = 0.5 * math.pi * (x[ORDERS] + y[ORDERS]) / sqrt(_positive(low))
        return [math.pi, *(rate[k] * (1.0 / (k + 1)) for k in range(ORDERS - 1)), off]

    def on_curve(self, a: Majorant, data: Any, x: Node) -> Majorant:
        """No derivative where a break is near that is not continuous, and not the one before it."""
        sizes, broken = _derivatives_on(self.boxes.of([x])[0], data, ORDERS)
        last = _smoothness(data[0]) + 1 - data[2]
        f = [size + NO_BOUND * broken if k > last else size for k, size in enumerate(sizes)]
        return _composed([x * (1.0 / math.factorial(k)) for k, x in enumerate(f)], a)


def off_cubic(f: Majorant, curved: bool) -> Number:
    """Distance of a number from the cubic through its ends at most, by Hermite's interpolation."""
    # By its derivative of order 4, or where curves break by that of order 2 or 1.
    smooth = HERMITE * f[4]
    return least(smooth, least(0.25 * f[2], 0.5 * f[1])) if curved else smooth


def _composed(f: Sequence[Number], a: Majorant) -> Majorant:
    """Of a function of a, by the sizes of its own Taylor coefficients (Faà di Bruno)."""
    _, a1, a2, a3, a4, off = a
    square = a1 * a1
    third = f[1] * a3 + 2.0 * f[2] * (a1 * a2) + f[3] * (square * a1)
    fourth = f[1] * a4 + f[2] * (2.0 * (a1 * a3) + a2 * a2)
    fourth = fourth + 3.0 * f[3] * (square * a2) + f[4] * (square * square)
    return [f[0], f[1] * a1, f[1] * a2 + f[2] * square, third, fourth, f[1] * off]


def along_cubic(x0: Any, x1: Any, v0: Any, v1: Any) -> tuple[Any, ...]:
    """Of the Hermite cubic through values, and rates times the step: centre, slope, radius; orders 0 to 3."""
    # From 0 to 1 it is x0 + D s + (v0 - v1) / 2 s (1 - s) + skew / 2 s (1 - s) (1 - 2 s).
    D = x1 - x0
    off, skew = 0.0625 * (v0 - v1), v0 + v1 - 2.0 * D
    bend, third = abs(off), abs(skew)
    centre, slope, radius = 0.5 * (x0 + x1) + off, 0.5 * D, bend + _SKEW * third
    first, second = abs(D) + 8.0 * bend + 0.5 * third, 8.0 * bend + 1.5 * third
    size = abs(centre) + abs(slope) + radius
    return centre, slope, radius + ROUNDING * size, size, first, second, third
