"""Expressions in text as nodes of a graph, with their units; nothing else of Python can be reached."""

# One language for derived quantities, formulas of cams and laws of time. Python's parser reads the text;
# nothing is evaluated but the nodes named here, so that rates are the graph's derivatives.

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from mbssa.arrays import Floats
from mbssa.faults import meant
from mbssa.graph.evaluation import evaluated
from mbssa.graph.frames import cross, dot, minus, plus, times
from mbssa.graph.nodes import (
    Graph,
    Number,
    absolute,
    atan2,
    cos,
    exp,
    is_node,
    is_zero,
    log,
    power,
    sin,
    sqrt,
)
from mbssa.texts import counted
from mbssa.units import ANGLES, LENGTHS, SI, given_in

#: Exponents of m and rad.
Unit = tuple[int, int]
_AXES = "xyz"
_CONSTANTS = {"pi": math.pi, "e": math.e}
#: Units that may follow a number, and how much of them each is.
_UNITS: dict[str, tuple[Unit, float]] = {name: ((1, 0), size) for name, size in LENGTHS.items()} | {
    name: ((0, 1), size) for name, size in ANGLES.items()
}
_WITH_UNIT = rf"(?<![\w.])((?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*({'|'.join(_UNITS)})(?!\w|\s*\()"
#: Characters of an expression.
_LONGEST = 2_000


@dataclass(frozen=True, eq=False)
class Value:
    """A number, or a vector of three, with its unit."""

    number: Any
    unit: Unit | None = (0, 0)  # None: a number of the text, which has none
    is_point: bool = False
    has_sign: bool = False  # an angle that may count turns

    @property
    def is_vector(self) -> bool:
        """Whether it is one of three numbers."""
        return isinstance(self.number, list)

    @property
    def si(self) -> str:
        """The SI unit."""
        powers = zip(SI, self.unit or (0, 0), strict=True)
        return " ".join(name if k == 1 else f"{name}^{k}" for name, k in powers if k)


class ExpressionError(ValueError):
    """A fault of an expression, with its remedy."""


class _Unfit(ExpressionError):
    """An argument that a function does not take; ``one`` where its unit is the reason."""

    def __init__(self, reason: str, one: Value | None = None) -> None:
        super().__init__(reason)
        self.one = one


@dataclass(frozen=True, eq=False)
class Language:
    """Names that expressions may use, and their treatment."""

    find: Callable[[str], Value | None]  # the value of a name
    names: Collection[str]
    pattern: str = r"(?!)"  # of texts that may be names too
    units: tuple[str, str] = SI  # of length and angle, in messages
    radians: bool = False  # a number without a unit is an angle in rad, too
    #: makes a signed angle count its turns from one value to the next
    counted: Callable[[Number], Number] = lambda angle: angle

    def value(self, text: str) -> Value:
        """The number that a text stands for; a ValueError says what is wrong with it, and the remedy."""
        if len(text) > _LONGEST:
            raise ExpressionError(f"has {len(text):,} characters; write {_LONGEST:,} at most")
        found = _Reader(self, text).whole()
        if found.is_vector:
            raise ExpressionError("is a vector; write norm(…), or a component such as .x")
        return found


def function_of(
    text: str, variables: tuple[str, ...] = ("s",), unit: str = "", scale: float = 1.0
) -> Callable[..., Floats]:
    """Function of plain numbers in SI, from an expression; what has no unit counts ``scale`` of ``unit``."""
    # Angles are in rad. Outside of its domain the values are NaN or infinite, without a warning.
    graph = Graph()
    inputs = {name: graph.input(name, 0) for name in variables}
    found = Language(lambda name: Value(inputs[name]), variables, radians=True).value(text)
    if found.si not in ("", unit):
        raise ExpressionError(
            f"is in {found.si}; write numbers without units" + f", or in {unit}" * bool(unit)
        )
    size = 1.0 if found.si else scale

    def values(*given: Floats | float) -> Floats:
        shape = np.broadcast_shapes(*map(np.shape, given))
        arrays = {name: np.broadcast_to(x, shape or (1,)) for name, x in zip(variables, given, strict=True)}
        with np.errstate(all="ignore"):
            (value,) = evaluated([found.number], lambda name, _: arrays[name])
        return size * np.broadcast_to(value, shape or (1,)).reshape(shape)

    return values


# --- reading -----------------------------------------------------------------------------------------


class _Reader:
    """One text, whose names and numbers with units are marked before Python's parser reads it."""

    def __init__(self, language: Language, text: str) -> None:
        self.language, self.text, self.used = language, text, list[str]()

    def whole(self) -> Value:
        if re.search(r"(?<!\w)_\d+_(?!\w)", self.text):
            raise ExpressionError("has a name of underscores and digits, which stands for nothing")
        here = sorted((name for name in self.language.names if name in self.text), key=len, reverse=True)
        words = "|".join([*map(re.escape, here), self.language.pattern])
        marked = re.sub(rf"(?<![\w.])(?:{words})(?!\w)|{_WITH_UNIT}", self._mark, self.text)
        try:
            read = re.sub(r"(?<!\w)in(?=\s*\()", "in_", marked.strip().replace("^", "**"))  # a word of Python
            tree = ast.parse(read, mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ExpressionError("cannot be read; write such as 2 * (1 + sin(30 deg))") from None
        try:
            return self.of(tree.body)
        except RecursionError:
            raise ExpressionError("is nested too deeply") from None

    def _mark(self, match: re.Match[str]) -> str:
        self.used.append(match[0])
        return f"_{len(self.used) - 1}_"

    def of(self, node: ast.expr) -> Value:
        """Value of a node; ValueError for any node that expressions have not."""
        try:
            found = self._of(node)
        except ExpressionError:
            raise
        except (ArithmeticError, ValueError):
            raise ExpressionError(f"{self._said(node)} is no finite number") from None
        for number in found.number if found.is_vector else [found.number]:
            if not is_node(number) and not math.isfinite(number):
                raise ExpressionError(f"{self._said(node)} is no finite number")
        if found.unit and self.language.radians:
            return replace(found, unit=(found.unit[0], 0))
        return found

    def _of(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=bool()):
                pass
            case ast.Constant(value=int() | float() as number):
                return Value(float(number), None)
            case ast.Name(id=name) if re.fullmatch(r"_\d+_", name):
                return self._named(self.used[int(name[1:-1])])
            case ast.Name(id=name) if name in _CONSTANTS:
                return Value(_CONSTANTS[name], None)
            case ast.Attribute(value=inner, attr=axis) if axis in _AXES and not _dotted(inner):
                vector = _vector(self.of(inner))
                return Value(vector.number[_AXES.index(axis)], vector.unit)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=inner):
                one = self.of(inner)
                return one if isinstance(sign, ast.UAdd) else _product(Value(-1.0, None), one)
            case ast.BinOp():
                return self._binary(node)
            case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]):
                return self._call(node, name.removesuffix("_"), [self.of(part) for part in parts])
        raise ExpressionError(self._unknown(node))

    def _named(self, text: str) -> Value:
        """Value of a name, or of a number with its unit."""
        if (number := re.fullmatch(_WITH_UNIT, text)) is not None:
            return _with_unit(number[2], Value(float(number[1]), None))
        found = self.language.find(text)
        if found is None:
            raise ExpressionError(self._there_is_no(text))
        return found

    def _unknown(self, node: ast.expr) -> str:
        name = _dotted(node)
        if name in FUNCTIONS:
            return f"{name} is a function; write {name}(…)"
        if name or (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
            return self._there_is_no(self._said(node))
        return (
            f"{self._said(node)!r} is not allowed; write numbers, + - * / **, brackets, names and functions"
        )

    def _there_is_no(self, name: str) -> str:
        names = [*self.language.names, *_CONSTANTS]
        listed = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        return f"there is no {name!r}; {meant(name, names).rstrip() or f'there are {listed}'}"

    def _said(self, node: ast.expr) -> str:
        text = re.sub(r"_(\d+)_", lambda mark: self.used[int(mark[1])], ast.unparse(node))
        return text.replace("in_(", "in(")

    # --- operators and functions ---

    def _binary(self, node: ast.BinOp) -> Value:
        one, two = self.of(node.left), self.of(node.right)
        match node.op:
            case ast.Add() | ast.Sub():
                if one.is_vector != two.is_vector:
                    raise ExpressionError(f"{self._said(node)}: a number and a vector have no sum")
                return replace(
                    _sum(one, two, isinstance(node.op, ast.Sub)), unit=self._common(node, one, two)
                )
            case ast.Mult():
                if one.is_vector and two.is_vector:
                    raise ExpressionError(f"{self._said(node)}: of two vectors write dot(…) or cross(…)")
                return _product(one, two)
            case ast.Div():
                return _product(one, _raised(_scalar(two), -1.0))
            case ast.Pow():
                if _scalar(two).si or (_scalar(one).si and is_node(two.number)):
                    raise ExpressionError(f"{self._said(node)}: an exponent is a number")
                if one.si and not two.number.is_integer():
                    raise ExpressionError(f"{self._said(node)}: write a whole exponent, or sqrt")
                return _raised(one, two.number)
        raise ExpressionError(self._unknown(node))

    def _common(self, node: ast.BinOp, one: Value, two: Value) -> Unit | None:
        """Unit of a sum."""
        for number, other, at in ((one, two, node.left), (two, one, node.right)):
            if number.unit is None:
                if other.si and not is_zero(number.number):
                    raise ExpressionError(self._without_unit(node, at, other))
                return other.unit
        if one.unit != two.unit:
            units = [self._unit_of(each) or "a number" for each in (one, two)]
            raise ExpressionError(f"{self._said(node)}: {units[0]} and {units[1]} have no sum")
        return one.unit

    def _call(self, node: ast.Call, name: str, given: list[Value]) -> Value:
        if name not in FUNCTIONS:
            # A name written out, such as cosine, is nearer to its beginning than to a word as long.
            begun = [
                f"did you mean {word!r}?"
                for word in FUNCTIONS
                if len(word) > 2 and name.lower().startswith(word)
            ]
            near = begun[-1] if begun else meant(name, FUNCTIONS).rstrip()
            listed = f"there are {', '.join(FUNCTIONS)}"
            raise ExpressionError(f"there is no function {name!r}; {near or listed}")
        counts, function = FUNCTIONS[name]
        if len(given) not in counts:
            takes = counted(counts[-1], "argument") if len(counts) == 1 else "2 or 3 arguments"
            raise ExpressionError(f"{name} takes {takes}, not {len(given)}")
        if (
            name in _OF_ANGLES
            and given[0].unit is None
            and not self.language.radians
            and not is_zero(given[0].number)
        ):
            raise ExpressionError(self._without_unit(node, node.args[0], Value(0.0, (0, 1))))
        try:
            found: Value = function(*given)
        except _Unfit as error:
            unit = self._unit_of(error.one) if error.one else ""
            raise ExpressionError(f"{name}: {f'in {unit}, where ' if unit else ''}{error}") from None
        return replace(found, number=self.language.counted(found.number)) if found.has_sign else found

    # --- messages about units ---

    def _without_unit(self, node: ast.BinOp | ast.Call, number: ast.expr, other: Value) -> str:
        """Fault of a number without a unit in a sum with ``other``, or as an angle of a function."""
        where = "" if isinstance(node, ast.Call) else f", the other is in {self._unit_of(other)}"
        remedies = [self._said(_replaced(node, number, text)) for text in self._with_units(number, other)]
        what = f"{self._said(node)}: {self._said(number)} has no unit{where}"
        return f"{what}; write {' or '.join(remedies)}"

    def _with_units(self, number: ast.expr, other: Value) -> list[str]:
        """A number in the unit of another as it may be meant: in that of the file, and in a usual one."""
        said, constant, units = self._said(number), isinstance(number, ast.Constant), self.language.units
        if other.si not in SI:
            powers = zip(units, other.unit or (), strict=True)
            factors = [f"(1 {name})" + ("" if k == 1 else f" ** {k}") for name, k in powers if k]
            return [" * ".join([said if constant else f"({said})", *factors])]
        which = SI.index(other.si)
        if which and any(isinstance(part, ast.Name) and part.id == "pi" for part in ast.walk(number)):
            return [f"rad({said})"]
        names = dict.fromkeys([units[which], *(("mm", "m"), ("deg", "rad"))[which]])
        return [f"{said} {name}" if constant else f"{name}({said})" for name in names]

    def _unit_of(self, one: Value) -> str:
        """Unit of a value in the units of messages."""
        return given_in(one.si, self.language.units)[0]


def _replaced(node: ast.BinOp | ast.Call, part: ast.expr, text: str) -> ast.expr:
    """A sum or a call with a text in place of a part."""
    new = ast.Name(text)
    if isinstance(node, ast.Call):
        return ast.Call(node.func, [new if one is part else one for one in node.args], [])
    left, right = (new if one is part else one for one in (node.left, node.right))
    return ast.BinOp(left, node.op, right)


def _dotted(node: ast.expr) -> str:
    """A name that is not marked, such as ``hub.tip``; empty for other nodes."""
    if isinstance(node, ast.Name):
        return "" if re.fullmatch(r"_\d+_", node.id) else node.id
    if isinstance(node, ast.Attribute) and (head := _dotted(node.value)):
        return f"{head}.{node.attr}"
    return ""


# --- values ------------------------------------------------------------------------------------------


def _vector(one: Value) -> Value:
    if not one.is_vector:
        raise _Unfit("a number, where a point or a direction is needed")
    return one


def _scalar(one: Value) -> Value:
    if one.is_vector:
        raise _Unfit("a vector, where a number is needed")
    return one


def _multiplied(one: Value, two: Value) -> Unit | None:
    """Unit of a product."""
    if one.unit is None and two.unit is None:
        return None
    (a, b), (c, d) = one.unit or (0, 0), two.unit or (0, 0)
    return a + c, b + d


def _product(one: Value, two: Value) -> Value:
    if two.is_vector:
        one, two = two, one
    number = times(two.number, one.number) if one.is_vector else one.number * two.number
    return Value(number, _multiplied(one, two))


def _sum(one: Value, two: Value, less: bool = False) -> Value:
    """Sum or difference, with the first one's unit; of a point and a vector, a point."""
    if one.is_vector:
        number: Any = minus(one.number, two.number) if less else plus(one.number, two.number)
        return Value(number, one.unit, one.is_point is not two.is_point)
    return Value(one.number - two.number if less else one.number + two.number, one.unit)


def _raised(one: Value, n: Number) -> Value:
    """A power; a whole one of what has a unit."""
    number = power(one.number, n) if is_node(one.number) or is_node(n) else math.pow(one.number, n)
    return Value(number, one.unit and (int(one.unit[0] * n), int(one.unit[1] * n)) if one.si else one.unit)


def _sqrt(one: Value) -> Value:
    if any(k % 2 for k in _scalar(one).unit or ()):
        raise _Unfit("a unit with even exponents is needed", one)
    return Value(sqrt(one.number), one.unit and (one.unit[0] // 2, one.unit[1] // 2))


def _norm(one: Value) -> Value:
    return _sqrt(_inner(one, one))


def _cross(one: Value, two: Value) -> Value:
    return Value(cross(_vector(one).number, _vector(two).number), _multiplied(one, two))


def _inner(one: Value, two: Value) -> Value:
    return Value(dot(_vector(one).number, _vector(two).number), _multiplied(one, two))


def _distance(one: Value, two: Value) -> Value:
    if _vector(one).unit != (1, 0) or _vector(two).unit != (1, 0):
        raise _Unfit("is between two points, such as hub.tip")
    return _norm(_sum(one, two, less=True))


def _angle(one: Value, two: Value, third: Value | None = None) -> Value:
    """Angle between directions, with a sign about a third one; of three points, that at the second."""
    if third is None or all(each.is_point for each in (one, two, third)):
        first, second = (one, two) if third is None else (_sum(one, two, True), _sum(third, two, True))
        return _atan2(_norm(_cross(first, second)), _inner(first, second))
    # The components square to the axis of both directions count alone.
    axis = _product(_vector(third), _raised(_norm(third), -1.0))
    along = _product(_inner(one, axis), _inner(two, axis))
    sine, cosine = _inner(_cross(one, two), axis), _sum(_inner(one, two), along, less=True)
    return Value(atan2(sine.number, cosine.number), (0, 1), has_sign=True)


def _atan2(y: Value, x: Value) -> Value:
    if _scalar(y).si != _scalar(x).si:
        raise _Unfit("two numbers of one unit are needed")
    return Value(atan2(y.number, x.number), (0, 1))


def _of_number(function: Callable[[Number], Number], unit: Unit, one: Value) -> Value:
    """A function of an angle or a plain number."""
    if one.unit not in (None, (0, 0), (0, 1)):
        raise _Unfit("an angle or a plain number is needed", one)
    return Value(function(_scalar(one).number), unit)


def _with_unit(name: str, one: Value) -> Value:
    if _scalar(one).si:
        raise _Unfit("takes a plain number, such as 5")
    unit, size = _UNITS[name]
    return Value(size * one.number, unit)


def _root_beside(x: Number) -> Number:
    """√(1 - x²)."""
    return sqrt((1.0 - x) * (1.0 + x))


#: Functions of an angle, which a number without a unit is not.
_OF_ANGLES = ("sin", "cos", "tan")
_FUNCTIONS_OF_NUMBERS: dict[str, Callable[[Number], Number]] = {
    "sin": sin,
    "cos": cos,
    "tan": lambda x: sin(x) / cos(x),
    "sinh": lambda x: 0.5 * (exp(x) - exp(-x)),
    "cosh": lambda x: 0.5 * (exp(x) + exp(-x)),
    "tanh": lambda x: 1.0 - 2.0 / (exp(2.0 * x) + 1.0),
    "exp": exp,
    "log": log,
}
_INVERSE_FUNCTIONS: dict[str, Callable[[Number], Number]] = {
    "asin": lambda x: atan2(x, _root_beside(x)),
    "acos": lambda x: atan2(_root_beside(x), x),
    "atan": lambda x: atan2(x, 1.0),
}

#: Functions of expressions by name: numbers of arguments, and the function.
FUNCTIONS: dict[str, tuple[tuple[int, ...], Callable[..., Value]]] = {
    "distance": ((2,), _distance),
    "angle": ((2, 3), _angle),
    "dot": ((2,), _inner),
    "cross": ((2,), _cross),
    "norm": ((1,), _norm),
    "sqrt": ((1,), _sqrt),
    "abs": ((1,), lambda one: Value(absolute(_scalar(one).number), one.unit)),
    "atan2": ((2,), _atan2),
    **{name: ((1,), partial(_of_number, one, (0, 0))) for name, one in _FUNCTIONS_OF_NUMBERS.items()},
    **{name: ((1,), partial(_of_number, one, (0, 1))) for name, one in _INVERSE_FUNCTIONS.items()},
    **{name: ((1,), partial(_with_unit, name)) for name in _UNITS},
}

#: Words that stand for themselves wherever a name might stand.
WORDS = frozenset((*FUNCTIONS, *_CONSTANTS))
