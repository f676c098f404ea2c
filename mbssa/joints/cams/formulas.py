"""Formulas in text, read as a small language of numbers: nothing of Python can be reached through them."""

# 0.05 + 0.01*cos(3*s): numbers, + - * / ** and brackets, pi and e, the functions below, and the caller's
# variables. The text is parsed to Python's syntax tree, of which nested functions are built.

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mbssa.joints.cams.curves import Array

#: Value of a part of a formula by the values of the variables.
_Value = Callable[[Mapping[str, Array]], Any]

#: Longest formula, in characters.
MOST_LETTERS = 2_000

_CONSTANTS = {"pi": np.pi, "e": np.e}

_FUNCTIONS: dict[str, tuple[Callable[..., Any], int]] = {
    "sin": (np.sin, 1),
    "cos": (np.cos, 1),
    "tan": (np.tan, 1),
    "asin": (np.arcsin, 1),
    "acos": (np.arccos, 1),
    "atan": (np.arctan, 1),
    "atan2": (np.arctan2, 2),
    "sinh": (np.sinh, 1),
    "cosh": (np.cosh, 1),
    "tanh": (np.tanh, 1),
    "exp": (np.exp, 1),
    "log": (np.log, 1),
    "sqrt": (np.sqrt, 1),
    "abs": (np.abs, 1),
}

_OPERATORS: dict[type[ast.operator], Callable[..., Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
}


def formula(text: str, variables: tuple[str, ...] = ("s",)) -> Callable[..., Array]:
    """Function of ``variables``, arrays or numbers, from a formula; angles in rad."""
    # Outside a formula's domain its values are NaN or infinite, without a warning.
    if len(text) > MOST_LETTERS:
        raise ValueError(f"has {len(text)} characters; a formula has at most {MOST_LETTERS}")
    try:
        value = _built(ast.parse(text.strip(), mode="eval").body, variables)
    except SyntaxError as error:
        hint = "; a power is written **" if "^" in text else ""
        raise ValueError(f"{text!r} is not a formula: {error.msg}{hint}") from None
    except (RecursionError, MemoryError):
        raise ValueError("is nested too deeply; write a shorter formula") from None

    def evaluate(*values: Array | float) -> Array:
        known = dict(zip(variables, (np.asarray(value) for value in values), strict=True))
        with np.errstate(all="ignore"):
            return np.asarray(value(known))

    return evaluate


def _built(node: ast.expr, variables: tuple[str, ...]) -> _Value:
    """The value of a part of a formula as a function of the variables; ValueError where it is no formula."""
    match node:
        case ast.Constant(value=bool()):
            raise ValueError("a formula is made of numbers; write 1 or 0 instead of True or False")
        case ast.Constant(value=int() | float() as number):
            if isinstance(number, int) and number.bit_length() > 1_000:
                raise ValueError("has a number with hundreds of digits; write it as 1e100")
            constant = np.float64(number)
            return lambda _: constant
        case ast.Name(id=name):
            if name in _FUNCTIONS:
                raise ValueError(f"{name} is a function; write {name}(…)")
            if name in variables:
                return lambda known: known[name]
            if name not in _CONSTANTS:
                raise _unknown(name, (*variables, *_CONSTANTS), "name")
            constant = np.float64(_CONSTANTS[name])
            return lambda _: constant
        case ast.UnaryOp(op=ast.UAdd() | ast.USub() as sign, operand=operand):
            inner = _built(operand, variables)
            return inner if isinstance(sign, ast.UAdd) else lambda known: -inner(known)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            operate = _OPERATORS[type(operator)]
            first, second = _built(left, variables), _built(right, variables)
            return lambda known: operate(first(known), second(known))
        case ast.BinOp(op=ast.BitXor()):
            raise ValueError("^ is no power here; write **")
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            if name not in _FUNCTIONS:
                raise _unknown(name, tuple(_FUNCTIONS), "function")
            function, takes = _FUNCTIONS[name]
            if len(arguments) != takes:
                raise ValueError(f"{name} takes {takes} {'value' if takes == 1 else 'values'}")
            parts = [_built(argument, variables) for argument in arguments]
            return lambda known: function(*(part(known) for part in parts))
    raise ValueError(
        f"{ast.unparse(node)!r} is none of numbers, + - * / **, brackets, "
        f"{', '.join((*variables, *_CONSTANTS))}, and {', '.join(_FUNCTIONS)}"
    )


def _unknown(name: str, known: tuple[str, ...], what: str) -> ValueError:
    # A name written out, such as cosine, is nearer to its beginning than to a word as long.
    longer = [word for word in known if len(word) > 2 and name.lower().startswith(word)]
    near = [max(longer, key=len)] if longer else difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    return ValueError(f"{name!r} is no {what} of a formula; {hint}{what}s are {', '.join(known)}")
