"""Expressions in text as nodes of a graph, with their units; nothing else of Python can be reached."""

# One language for derived quantities, formulas of cams and laws of time. Python's parser reads the text;
# nothing is evaluated but the nodes named here, so that rates are the graph's derivatives.

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from mbssa.faults import meant
from mbssa.graph import nodes
from mbssa.graph.evaluation import evaluated
from mbssa.graph.frames import cross, dot, plus, times
from mbssa.graph.nodes import Graph, Number, is_node, is_zero
from mbssa.texts import counted
from mbssa.units import ANGLES, LENGTHS, SI, given_in

#: Exponents of m and rad.
Unit = tuple[int, int]
_CONSTANTS = {"pi": math.pi, "e": math.e}
#: Units that may follow a number, and how much of them each is.
_UNITS: dict[str, tuple[Unit, float]] = {name: ((1, 0), size) for name, size in LENGTHS.items()} | {
    name: ((0, 1), size) for name, size in ANGLES.items()
}
_WITH_UNIT = rf"(?<![\w.])((?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*({'|'.join(_UNITS)})(?!\w|\s*\()"
#: Characters of an expression.
_LONGEST = 2_000


class ExpressionError(ValueError):
    """A fault of an expression, with its remedy."""


class _Unfit(Exception):
    """Operands that have no value: the reason, and values whose units stand in its brackets."""


class _Bare(Exception):
    """The k-th operand is a number without a unit, beside one that has a unit."""


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


def function_of(
    text: str, variables: Sequence[str], unit: str = "", scale: float = 1.0
) -> Callable[..., Number]:
    """Function of plain numbers in SI, from an expression; what has no unit counts ``scale`` of ``unit``."""
    # Of floats, arrays or nodes. Angles are plain numbers in rad, but for a function in rad. Outside of its
    # domain the values are NaN or infinite.
    graph = Graph()
    inputs = {name: Value(graph.input(name, 0)) for name in variables}
    found = Language(inputs.get, variables, radians=unit != "rad", lengths=unit == "m").value(text)
    if found.si not in ("", unit):
        remedy = f"write numbers without units{f', or in {unit}' * bool(unit)}"
        raise ExpressionError(f"is in {found.si}; {remedy}")
    size = 1.0 if found.si else scale

    def value(*given: Number) -> Number:
        traced = any(map(is_node, given))
        known = dict(zip(variables, given if traced else map(np.atleast_1d, given), strict=True))
        with np.errstate(all="ignore"):
            (result,) = evaluated([found.number], lambda name, _: known[name])
        if traced:
            return size * result
        shape = np.broadcast_shapes(*map(np.shape, given))
        return size * np.broadcast_to(result, shape or (1,)).reshape(shape)

    return value


# --- reading -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Language:
    """Names that expressions may use, and their treatment."""

    find: Callable[[str], Value | None]  # the value of a name
    names: Collection[str]
    pattern: str = r"(?!)"  # of texts that may be names too
    units: tuple[str, str] = SI  # of length and angle, in messages
    radians: bool = False  # angles are plain numbers
    lengths: bool = False  # a number without a unit is a length, to which no angle is added
    #: makes a signed angle count its turns from one value to the next
    with_turns: Callable[[Number], Number] = lambda angle: angle

    def value(self, text: str) -> Value:
        """The number that a text stands for; an :class:`ExpressionError` has what is wrong with it."""
        if len(text) > _LONGEST:
            raise ExpressionError(f"has {len(text):,} characters; write {_LONGEST:,} at most")
        found = _Reader(self).whole(text)
        if found.is_vector:
            raise ExpressionError("is a vector; write norm(…), or a component such as .x")
        return found


class _Reader:
    """One text, whose names and numbers with units are marked before Python's parser reads it."""

    def __init__(self, language: Language) -> None:
        self.language, self.used = language, list[str]()
        self.calls = 0  # functions around the present node

    def whole(self, text: str) -> Value:
        if re.search(r"(?<!\w)_\d+_(?!\w)", text):
            raise ExpressionError("has a name of underscores and digits, which stands for nothing")
        here = sorted((name for name in self.language.names if name in text), key=len, reverse=True)
        words = "|".join([*map(re.escape, here), self.language.pattern])
        marked = re.sub(rf"(?<![\w.])(?:{words})(?!\w)|{_WITH_UNIT}", self._mark, text)
        marked = re.sub(r"(?<!\w)in(?=\s*\()", "in_", marked.strip().replace("^", "**"))  # a word of Python
        try:
            tree = ast.parse(marked, mode="eval")
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
        """Value of a node."""
        try:
            found = self._of(node)
            if not all(is_node(x) or math.isfinite(x) for x in np.ravel(found.number)):
                raise ArithmeticError
        except ExpressionError:
            raise
        except _Bare as error:
            raise ExpressionError(self._without_unit(node, *error.args)) from None
        except _Unfit as error:
            units = (self._unit_of(one) or "a number" for one in error.args[1:])
            raise ExpressionError(f"{self._said(node)}: {error.args[0].format(*units)}") from None
        except (ArithmeticError, ValueError):
            raise ExpressionError(f"{self._said(node)} is no finite number") from None
        # Beside lengths, an angle with its unit stays one up to a function, or a sum with a variable.
        is_call = isinstance(node, ast.Call) and self._said(node.func) not in ANGLES
        if self.language.lengths and (found.unit is None or (found.unit == (0, 1) and not is_call)):
            return found
        return _in_radians(found) if self.language.radians else found

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
            case ast.Attribute(value=inner, attr="x" | "y" | "z" as axis) if not _dotted(inner):
                vector = self.of(inner)
                if vector.is_vector:
                    return Value(vector.number["xyz".index(axis)], vector.unit)
            case ast.UnaryOp(op=ast.UAdd(), operand=inner):
                return self.of(inner)
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return _times(_MINUS, self.of(inner))
            case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
                one, two = self.of(left), self.of(right)
                is_sum = isinstance(sign, ast.Add | ast.Sub)
                if self.language.lengths and is_sum and (self.calls or None not in (one.unit, two.unit)):
                    one, two = _in_radians(one), _in_radians(two)
                return _OPERATORS[type(sign)](one, two)
            case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]):
                self.calls += 1
                given = [self.of(part) for part in parts]
                self.calls -= 1
                if self.language.lengths:
                    given = [_in_radians(each) for each in given]
                return self._call(name.removesuffix("_"), given)
        raise ExpressionError(self._unknown(node))

    def _named(self, text: str) -> Value:
        """Value of a name, or of a number with its unit."""
        if (number := re.fullmatch(_WITH_UNIT, text)) is not None:
            return _with_unit(*_UNITS[number[2]], Value(float(number[1]), None))
        found = self.language.find(text)
        if found is None:
            raise ExpressionError(self._there_is_no(text))
        return found

    def _call(self, name: str, given: list[Value]) -> Value:
        if name not in FUNCTIONS:
            # A name written out, such as cosine, is nearer to its beginning than to a word as long.
            begun = [word for word in FUNCTIONS if len(word) > 2 and name.lower().startswith(word)]
            near = f"did you mean {begun[-1]!r}?" if begun else meant(name, FUNCTIONS).rstrip()
            remedy = near or f"there are {', '.join(FUNCTIONS)}"
            raise ExpressionError(f"there is no function {name!r}; {remedy}")
        of_vectors, least, most, function = FUNCTIONS[name]
        if not least <= len(given) <= most:
            number = counted(most, "argument") if least == most else f"{least} or {most} arguments"
            raise ExpressionError(f"{name} takes {number}, not {len(given)}")
        if any(each.is_vector is not of_vectors for each in given):
            kinds = "a number, where a point or a direction is", "a vector, where a number is"
            raise _Unfit(f"{kinds[not of_vectors]} needed")
        found: Value = function(*given)
        return replace(found, number=self.language.with_turns(found.number)) if found.has_sign else found

    # --- messages ---

    def _said(self, node: ast.expr) -> str:
        text = re.sub(r"(?<!\w)_(\d+)_(?!\w)", lambda mark: self.used[int(mark[1])], ast.unparse(node))
        return text.replace("in_(", "in(")

    def _unknown(self, node: ast.expr) -> str:
        said = self._said(node)
        if said in FUNCTIONS:
            return f"{said} is a function; write {said}(…)"
        if _dotted(node) or (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
            return self._there_is_no(said)
        return f"{said!r} is not allowed; write numbers, + - * / **, brackets, names and functions"

    def _there_is_no(self, name: str) -> str:
        names = [*self.language.names, *_CONSTANTS]
        listed = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        return f"there is no {name!r}; {meant(name, names).rstrip() or f'there are {listed}'}"

    def _without_unit(self, node: Any, k: int, other: Value) -> str:
        """Fault of a number without a unit in a sum with ``other``, or as an angle of a function."""
        is_call, whole = isinstance(node, ast.Call), self._said(node)
        key = "args" if is_call else ("left", "right")[k]
        number, remedies = node.args[0] if is_call else getattr(node, key), []
        for text in self._with_units(number, other):
            setattr(node, key, [ast.Name(text)] if is_call else ast.Name(text))
            remedies.append(self._said(node))
        where = "" if is_call else f", the other is in {self._unit_of(other)}"
        return f"{whole}: {self._said(number)} has no unit{where}; write {' or '.join(remedies)}"

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


def _dotted(node: ast.expr) -> str:
    """A name that is not marked, such as ``hub.tip``; empty for other nodes."""
    if isinstance(node, ast.Name):
        return "" if re.fullmatch(r"_\d+_", node.id) else node.id
    return f"{head}.{node.attr}" if isinstance(node, ast.Attribute) and (head := _dotted(node.value)) else ""


# --- values ------------------------------------------------------------------------------------------

_MINUS = Value(-1.0, None)


def _in_radians(one: Value) -> Value:
    """The same with its angles as plain numbers."""
    return replace(one, unit=((one.unit or (0, 0))[0], 0))


def _multiplied(one: Value, two: Value) -> Unit | None:
    """Unit of a product."""
    if one.unit is None and two.unit is None:
        return None
    (a, b), (c, d) = one.unit or (0, 0), two.unit or (0, 0)
    return a + c, b + d


def _times(one: Value, two: Value) -> Value:
    if one.is_vector and two.is_vector:
        raise _Unfit("of two vectors write dot(…) or cross(…)")
    if two.is_vector:
        one, two = two, one
    number = times(two.number, one.number) if one.is_vector else one.number * two.number
    return Value(number, _multiplied(one, two))


def _plus(one: Value, two: Value) -> Value:
    """Sum; of a point and a vector, a point."""
    if one.is_vector is not two.is_vector:
        raise _Unfit("a number and a vector have no sum")
    for k, (bare, other) in enumerate(((one, two), (two, one))):
        if bare.unit is None and other.si and not is_zero(bare.number):
            raise _Bare(k, other)
    if one.unit != two.unit and None not in (one.unit, two.unit):
        raise _Unfit("{} and {} have no sum", one, two)
    number = plus(one.number, two.number) if one.is_vector else one.number + two.number
    return Value(number, one.unit or two.unit, one.is_point is not two.is_point)


def _minus(one: Value, two: Value) -> Value:
    return _plus(one, replace(_times(_MINUS, two), is_point=two.is_point))


def _over(one: Value, two: Value) -> Value:
    return _times(one, _raised(two, _MINUS))


def _raised(one: Value, two: Value) -> Value:
    """A power; a whole one of what has a unit."""
    n = two.number
    if one.is_vector or two.is_vector:
        raise _Unfit("a vector, where a number is needed")
    if two.si or (one.si and (is_node(n) or not n.is_integer())):
        raise _Unfit("an exponent is a number, and a whole one of what has a unit; or write sqrt")
    number = nodes.power(one.number, n) if is_node(one.number) or is_node(n) else math.pow(one.number, n)
    return Value(number, (int(one.unit[0] * n), int(one.unit[1] * n)) if one.unit and one.si else one.unit)


_OPERATORS = {ast.Add: _plus, ast.Sub: _minus, ast.Mult: _times, ast.Div: _over, ast.Pow: _raised}


def _sqrt(one: Value) -> Value:
    if any(k % 2 for k in one.unit or ()):
        raise _Unfit("in {}, where a unit with even exponents is needed", one)
    return Value(nodes.sqrt(one.number), one.unit and (one.unit[0] // 2, one.unit[1] // 2))


def _norm(one: Value) -> Value:
    return _sqrt(_dot(one, one))


def _product(function: Callable[[Any, Any], Any], one: Value, two: Value) -> Value:
    return Value(function(one.number, two.number), _multiplied(one, two))


_cross, _dot = partial(_product, cross), partial(_product, dot)


def _distance(one: Value, two: Value) -> Value:
    if one.unit != (1, 0) or two.unit != (1, 0):
        raise _Unfit("is between two points, such as hub.tip")
    return _norm(_minus(one, two))


def _angle(one: Value, two: Value, third: Value | None = None) -> Value:
    """Angle between directions, with a sign about a third one; of three points, that at the second."""
    if third is not None and all(each.is_point for each in (one, two, third)):
        one, two, third = _minus(one, two), _minus(third, two), None
    if third is None:
        return _atan2(_norm(_cross(one, two)), _dot(one, two))
    # The components square to the axis of both directions count alone.
    axis = _over(third, _norm(third))
    along = _times(_dot(one, axis), _dot(two, axis))
    return replace(_atan2(_dot(_cross(one, two), axis), _minus(_dot(one, two), along)), has_sign=True)


def _atan2(y: Value, x: Value) -> Value:
    if y.si != x.si:
        raise _Unfit("two numbers of one unit are needed")
    return Value(nodes.atan2(y.number, x.number), (0, 1))


def _of_number(function: Callable[[Number], Number], name: str, one: Value) -> Value:
    """A function of an angle or a plain number."""
    if one.unit not in (None, (0, 0), (0, 1)):
        raise _Unfit("in {}, where an angle or a plain number is needed", one)
    if one.unit is None and name in _OF_ANGLES and not is_zero(one.number):
        raise _Bare(0, Value(0.0, (0, 1)))
    return Value(function(one.number), (0, int(name in _ANGLES)))


def _with_unit(unit: Unit, size: float, one: Value) -> Value:
    if one.si:
        raise _Unfit("takes a plain number, such as 5")
    return Value(size * one.number, unit)


def _beside(x: Number) -> Number:
    """√(1 - x²)."""
    return nodes.sqrt((1.0 - x) * (1.0 + x))


#: Functions of an angle, which a number without a unit is not; and those that give an angle.
_OF_ANGLES, _ANGLES = ("sin", "cos", "tan"), ("asin", "acos", "atan")
_OF_NUMBERS: dict[str, Callable[[Number], Number]] = {
    "sin": nodes.sin,
    "cos": nodes.cos,
    "tan": lambda x: nodes.sin(x) / nodes.cos(x),
    "sinh": lambda x: 0.5 * (nodes.exp(x) - nodes.exp(-x)),
    "cosh": lambda x: 0.5 * (nodes.exp(x) + nodes.exp(-x)),
    "tanh": lambda x: 1.0 - 2.0 / (nodes.exp(2.0 * x) + 1.0),
    "exp": nodes.exp,
    "log": nodes.log,
    "asin": lambda x: nodes.atan2(x, _beside(x)),
    "acos": lambda x: nodes.atan2(_beside(x), x),
    "atan": lambda x: nodes.atan2(x, 1.0),
}

#: Functions of expressions by name: whether of vectors, least and most arguments, and the function.
FUNCTIONS: dict[str, tuple[bool, int, int, Callable[..., Value]]] = {
    "distance": (True, 2, 2, _distance),
    "angle": (True, 2, 3, _angle),
    "dot": (True, 2, 2, _dot),
    "cross": (True, 2, 2, _cross),
    "norm": (True, 1, 1, _norm),
    "sqrt": (False, 1, 1, _sqrt),
    "abs": (False, 1, 1, lambda one: Value(nodes.absolute(one.number), one.unit)),
    "atan2": (False, 2, 2, _atan2),
    **{name: (False, 1, 1, partial(_of_number, one, name)) for name, one in _OF_NUMBERS.items()},
    **{name: (False, 1, 1, partial(_with_unit, *one)) for name, one in _UNITS.items()},
}

#: Words that stand for themselves wherever a name might stand.
WORDS = frozenset((*FUNCTIONS, *_CONSTANTS))
