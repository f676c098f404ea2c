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
from typing import Any, Generic, TypeAlias, TypeVar, cast

import numpy as np

from groups.engine.curves import Pieces, derivatives
from mbssa.arrays import Floats
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
    neg,
    sin,
    sqrt,
)

#: Relative error that is charged to what enters.
ROUNDING = 4e-14
#: Error of Hermite's interpolation over the Taylor coefficient of order 4.
HERMITE = 24.0 / 384.0
#: Largest of a Hermite cubic's basis function of a rate, and of the sum of both.
OF_RATE, OF_RATES = 4.0 / 27.0, 1.0 / 4.0
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
    """Bounds by node of a graph; ``known`` gives those of inputs but for the geometry, which is exact."""

    def __init__(self, graph: Graph, known: Callable[[str, Any], _Bound]) -> None:
        self.graph, self.known, self.memo = graph, known, dict[int, _Bound]()

    @abstractmethod
    def constant(self, x: Number) -> _Bound:
        """Of an exact number."""

    def of(self, numbers: Sequence[Number]) -> list[_Bound]:
        for i in self.graph.needed(numbers, self.memo):
            self.memo[i] = self._bound(Node(self.graph, i), *self.graph.nodes[i])
        return [self.memo[x.i] if is_node(x) else self.constant(x) for x in numbers]

    def _bound(self, node: Node, op: str, operands: tuple[int, ...], data: Any) -> _Bound:
        if op == "in":
            return self.constant(node) if data[0] == "g" else self.known(*data)
        if op == "const":
            return self.constant(data)
        given = [self.memo[i] for i in operands]
        if op == "moved":
            return given[0]
        if op not in _RULES:
            raise UnboundedError("a user's function" if op == "user" else op)
        more = {"curve": [data], "sin": [False], "cos": [True]}.get(op, [])
        found: _Bound = getattr(self, _RULES[op])(*given, *more, *(Node(self.graph, i) for i in operands))
        return found


#: Methods by operation.
_RULES = {
    "+": "add", "-": "subtract", "*": "multiply", "/": "quotient", "neg": "negative", "sqrt": "root",
    "sin": "wave", "cos": "wave", "atan2": "angle", "curve": "on_curve",
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
            half = 0.5 * (a.d * a.d)  # s² is from 0 to 1
            return Enclosure(a.c * a.c + half, 2.0 * (a.c * a.d), a.r * (2.0 * a.size + a.r) + half)
        if b.is_exact:
            a, b = b, a
        if a.is_exact:
            return Enclosure(a.c * b.c, a.c * b.d, magnitude(a.c) * b.r)
        half = 0.5 * (a.d * b.d)
        r = a.size * b.r + a.r * (b.size + b.r) + magnitude(half)
        return Enclosure(a.c * b.c + half, a.c * b.d + a.d * b.c, r)

    def quotient(self, a: Enclosure, b: Enclosure, *_: Node) -> Enclosure:
        """By 1 / (c + x) = f - f² x + f² x² / (c + x)."""
        inverse = Enclosure(div(1.0, b.c))
        if not b.is_exact:
            square, w = inverse.c * inverse.c, b.wide
            r = square * (w * w / _positive(b.least) + b.r)
            inverse = Enclosure(inverse.c, neg(square * b.d), r)
        return self.multiply(a, inverse)

    def root(self, a: Enclosure, *_: Node) -> Enclosure:
        """Taylor's formula, with the rest x² / (8 (c + x)^1.5)."""
        f = sqrt(a.c)
        if a.is_exact:
            return Enclosure(f)
        slope, low, w = div(0.5, f), sqrt(a.low), a.wide  # not a number where it may be below zero
        return Enclosure(f, slope * a.d, slope * a.r + 0.125 * (w * w) / (low * low * low))

    def wave(self, a: Enclosure, turn: bool, *_: Node) -> Enclosure:
        """Sine, or the cosine, by Taylor's formula of second order, its square centred."""
        f, slope = (cos(a.c), neg(sin(a.c))) if turn else (sin(a.c), cos(a.c))
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
        """Taylor's formula of second order on the middle's piece, and what its neighbours are off that."""
        at, (off,) = _on_piece(a, data, 1)
        f = _sizes(at, a.wide, 3)
        r = f[1] * a.r + 0.5 * f[2] * (a.wide * a.wide) + ROUNDING * f[0] + off
        return Enclosure(at[0], (at[1] if len(at) > 1 else 0.0) * a.d, r)


# --- piecewise polynomials ---------------------------------------------------------------------------


def _on_piece(a: Enclosure, data: Any, count: int) -> tuple[list[Number], list[Number]]:
    """Derivatives of a curve in the middle of an enclosure, and what it is off that piece's polynomial."""
    # That, and its derivatives below the order ``count``, is bounded by the jumps of all derivatives at the
    # breaks, one to either side, and what these come to up to the ends of the enclosure.
    pieces, axis, order = data
    first: Any = pieces(0, axis)
    numbers, widths, *jumps = _near(pieces)
    far = above(a.wide - curve(a.c, widths, 0), NO_BOUND, 0.0)  # there may be two breaks
    off: list[Number] = [far] * count
    for end, jump in zip((a.c - a.wide, a.c + a.wide), jumps, strict=True):
        broken = above(magnitude(curve(end, numbers, 0) - curve(a.c, numbers, 0)) - 0.5, 1.0, 0.0)
        off = [x + broken * magnitude(curve(end, jump, axis, order + k)) for k, x in enumerate(off)]
    return [curve(a.c, pieces, axis, k) for k in range(order, first.coefficients.shape[1])], off


def _sizes(at: Sequence[Number], w: Number, count: int) -> list[Number]:
    """Largest sizes of derivatives of a polynomial within w of a point, by all of them there."""
    found = list[Number]()
    for k in range(count):
        rest: Number = 0.0
        for n in range(len(at) - 1, k - 1, -1):  # Σ f⁽ᵏ⁺ʲ⁾ wʲ / j!
            rest = magnitude(at[n]) + rest * w * (1.0 / (n - k + 1))
        found.append(rest)
    return found


@cache
def _near(pieces: nodes.Pieces) -> list[nodes.Pieces]:
    """Functions of s: the number of its piece, the least width near that, what it is off both neighbours."""
    # The last two are polynomials whose derivatives bound those of what a piece is off the polynomial of the
    # next one, and of the one before it: by the jumps at its end, and at its beginning.
    first: Any = pieces(0, 0)
    h, period = np.diff(first.breaks), first.period
    if len(h) == 1 and period:
        raise UnboundedError("a closed curve of one piece")
    least_width = np.minimum(h, np.minimum(np.roll(h, 1), np.roll(h, -1)))
    steps = [[Pieces(first.breaks, of[:, None], period)] for of in (np.arange(float(len(h))), least_width)]
    both = list[Pieces](), list[Pieces]()
    for axis in (0, 1):
        ahead, behind = list[Floats](), list[Floats]()
        for k in range(cast("Pieces", pieces(0, axis)).coefficients.shape[1]):
            c = cast("Pieces", pieces(k, axis)).coefficients.T[::-1]
            ends = c * h ** np.arange(len(c))[:, None]
            before, size = (np.roll(of.sum(axis=0), 1) for of in (ends, np.abs(ends)))
            jump = np.abs(c[0] - before) + ROUNDING * (np.abs(c[0]) + size)
            behind.append(jump / math.factorial(k))
            ahead.append(np.roll(behind[-1], -1))
        for found, powers in zip(both, (_from_the_end(ahead, h), behind), strict=True):
            found.append(Pieces(first.breaks, np.stack(powers[::-1], axis=1), period))
    return [derivatives(of) for of in (*steps, *both)]


def _from_the_end(powers: Sequence[Floats], h: Floats) -> list[Floats]:
    """Coefficients by powers of u of polynomials by powers of h - u."""
    return [
        np.sum(
            [(-1.0) ** n * math.comb(k, n) * h ** (k - n) * powers[k] for k in range(n, len(powers))], axis=0
        )
        for n in range(len(powers))
    ]


# --- majorants -----------------------------------------------------------------------------------------


class Majorants(Bounds[Majorant]):
    """Majorants of nodes; ``boxes`` are enclosures of the same path, for denominators."""

    # ``cubics`` are majorants of cubics through the ends of roots, quotients and squared sums, and lower
    # bounds of their sizes, by node. By the rules alone the bounds of these are far too large where what is
    # below is a small difference, or constant in truth; the equations v² = a, v b = a and v = a + b have no
    # such trouble.

    def __init__(
        self,
        graph: Graph,
        known: Callable[[str, Any], Majorant],
        boxes: Enclosures,
        cubics: dict[int, tuple[Majorant, Number]],
    ) -> None:
        super().__init__(graph, known)
        self.boxes, self.cubics = boxes, cubics

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

    subtract = add

    def negative(self, a: Majorant, *_: Node) -> Majorant:
        return a

    def multiply(self, a: Majorant, b: Majorant, *_: Node) -> Majorant:
        off = a[0] * b[ORDERS] + a[ORDERS] * (b[0] + b[ORDERS])
        return [total([a[i] * b[k - i] for i in range(k + 1)]) for k in range(ORDERS)] + [off]

    def quotient(self, a: Majorant, b: Majorant, x: Node, y: Node) -> Majorant:
        cubic, _ = self.cubics[self.graph.make("/", (x.i, y.i)).i]
        slope = self.boxes.of([y])[0].least - b[ORDERS]
        return self._along(cubic, self.add(self.multiply(cubic, b), a), slope)

    def root(self, a: Majorant, x: Node) -> Majorant:
        cubic, low = self.cubics[self.graph.make("sqrt", (x.i,)).i]
        slope = low + above(low, sqrt(_positive(self.boxes.of([x])[0].low)), 0.0)
        return self._along(cubic, self.add(self.multiply(cubic, cubic), a), slope)

    def _along(self, cubic: Majorant, left: Majorant, slope: Number) -> Majorant:
        """Of a number near a cubic, by what is left of its equation there and the slope of that."""
        off = off_cubic(left)
        return [*cubic[:ORDERS], off / _positive(slope) if is_node(slope) else off]

    def wave(self, a: Majorant, *_: Any) -> Majorant:
        """Sine or cosine: no derivative is above one."""
        return _composed([1.0, 1.0, 1 / 2, 1 / 6, 1 / 24], a)

    def angle(self, y: Majorant, x: Majorant, *nodes: Node) -> Majorant:
        """From its rate, (x y' - y x') / (x² + y²)."""
        square = self.add(self.multiply(x, x), self.multiply(y, y))
        b, a = self.boxes.of(nodes)
        low = self.boxes.add(self.boxes.multiply(a, a), self.boxes.multiply(b, b)).least
        f = div(1.0, _positive(low))
        rates, orders = [[*(k * v[k] for k in range(1, ORDERS)), 0.0, 0.0] for v in (x, y)], range(1, ORDERS)
        top, rate = self.add(self.multiply(x, rates[1]), self.multiply(y, rates[0])), list[Number]()
        for k in range(ORDERS - 1):
            rate.append(f * total([top[k], *(square[i] * rate[k - i] for i in range(1, k + 1))]))
        off = 0.5 * math.pi * (x[ORDERS] + y[ORDERS]) / sqrt(_positive(low))
        return [math.pi, *(rate[k - 1] * (1.0 / k) for k in orders), off]

    def on_curve(self, a: Majorant, data: Any, x: Node) -> Majorant:
        """Of the polynomial of one piece, and of the cubic through the ends of what others are off it."""
        # What is left of that has no value and no rate at either end: it is off the smooth path.
        (box,) = self.boxes.of([x])
        at, (off, slope) = _on_piece(box, data, 2)
        f = [size * (1.0 / math.factorial(k)) for k, size in enumerate(_sizes(at, box.wide, ORDERS))]
        # A break is behind the middle for one end only, if the ends are on either side of that.
        v = slope * a[1]
        of_rates = above(magnitude(box.d) - box.r, OF_RATE, OF_RATES) * v
        cubic = [off + of_rates, 3.0 * off + v, 6.0 * off + 3.0 * v, 4.0 * off + 2.0 * v, 0.0]
        return self.add(_composed(f, a), [*cubic, 2.0 * off + of_rates])


def off_cubic(f: Majorant) -> Number:
    """Distance of a number from the cubic through its computed ends, by Hermite's interpolation."""
    return HERMITE * f[4] + f[ORDERS] + ROUNDING * (f[0] + f[1])


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
