"""Quantities derived from joints, points and bodies by an expression, with their rates."""

# Every node of an expression is a value with its first and second derivative by time, by the chain rule.
# Python's parser reads the text; nothing is evaluated but the nodes named here.

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.results.joints import CoordinateMotion, joint_motion, measurable, measured, n_levels
from groups.rotations import twist_in_space
from mbssa.arrays import Floats
from mbssa.faults import meant
from mbssa.mechanism import FRAME
from mbssa.units import ANGLES, LENGTHS, given_in

if TYPE_CHECKING:
    from groups.trajectory import Trajectory
    from mbssa import Mechanism


_AXES = "xyz"
_BY_BODIES = r"\d+-\d+(?:#\d+)?\.[a-z_]\w*"
#: Units that may follow a number: exponents of m and rad, and how much of them each is.
_UNITS = {name: (1, 0, size) for name, size in LENGTHS.items()} | {
    name: (0, 1, size) for name, size in ANGLES.items()
}
_WITH_UNIT = re.compile(
    rf"(?<![\w.])((?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*({'|'.join(_UNITS)})(?!\w|\s*\()"
)
#: Characters of an expression.
_LONGEST = 2_000


@dataclass(frozen=True, eq=False)
class Motion:
    """A number or a vector over time."""

    levels: tuple[Floats, ...]  # value and as many derivatives as were kept, (T,) or (T, 3) each
    length: int | None = 0  # exponent of m in its unit; None for a number of the expression's text
    angle: int | None = 0  # exponent of rad

    @property
    def is_vector(self) -> bool:
        return self.levels[0].ndim == 2

    @property
    def unit(self) -> str:
        """The SI unit of the value."""
        powers = (("m", self.length or 0), ("rad", self.angle or 0))
        return " ".join(name if power == 1 else f"{name}^{power}" for name, power in powers if power)


@dataclass(frozen=True, eq=False)
class Operands:
    """Operands of expressions, and functions that evaluate them."""

    named: Mapping[str, Callable[[], Motion]]
    called: Callable[[str], str]  # a coordinate's name in ``named``, of a text with the joint's bodies
    count: int  # values of each: instants, or cases
    levels: int  # 1 for values alone, 2 with rates, 3 with accelerations
    continuous: bool  # signed angles go on over turns from one value to the next
    units: tuple[str, str]  # of length and angle, in messages

    def evaluated(self, expressions: Mapping[str, str]) -> dict[str, Motion]:
        """Numbers that expressions stand for, by name."""
        found, faults = {}, []
        for name, text in expressions.items():
            try:
                with np.errstate(invalid="ignore", divide="ignore"):
                    motion = _Evaluator(self).motion(text)
            except ValueError as error:
                faults.append(f"{text if name == text else f'{name}={text}'}: {error}")
                continue
            levels = tuple(np.broadcast_to(level, (self.count,)) for level in motion.levels)
            found[name] = Motion(levels, motion.length, motion.angle)
        if faults:
            raise ValueError("\n  ".join(faults))
        return found

    def used(self, text: str) -> list[str]:
        """The operands that an expression names."""
        return re.findall(self.pattern, text)

    def operand(self, text: str) -> Motion | None:
        """Value of a name, if it is one."""
        make = self.named.get(text) or self.named.get(self.called(text))
        return make() if make else None

    @cached_property
    def pattern(self) -> str:
        """A regular expression for any operand, and for what may be a coordinate of a joint by its bodies."""
        names = "|".join(re.escape(name) for name in sorted(self.named, key=len, reverse=True))
        return rf"(?<![\w.])(?:{names}|{_BY_BODIES})(?!\w)"


def derived(trajectory: Trajectory, expressions: Mapping[str, str]) -> list[CoordinateMotion]:
    """Quantities by expression, by their names: (T,) values, and as many derivatives as were kept."""
    # A number has the unit behind it, 5 mm, or that of its function, deg(90), or none. angle(direction,
    # direction) is from 0 to π, angle(direction, direction, about) signed and continuous.
    return [
        CoordinateMotion(name, motion.unit, *motion.levels)
        for name, motion in _operands(trajectory).evaluated(expressions).items()
    ]


# --- operands ----------------------------------------------------------------------------------------


def named_operands(
    mechanism: Mechanism,
    bodies: Iterable[int],
    coordinates: Iterable[tuple[str, str]],
    *,
    coordinate: Callable[[str, str], Motion],
    direction: Callable[[int, int], Motion],
    point: Callable[[int, str | None], Motion],
) -> dict[str, Callable[[], Motion]]:
    """Operands by name: coordinates of joints, axes and points of these bodies and the frame."""
    # The functions make a joint's coordinate, a body's axis by its number, and a body's named point, or the
    # origin of its frame for None.
    found: dict[str, Callable[[], Motion]] = {
        f"{joint}.{name}": partial(coordinate, joint, name) for joint, name in coordinates
    }
    for body in dict.fromkeys([0, *bodies]):
        geometry = mechanism.body_geometry.get(body)
        points = geometry.points if geometry is not None else {}
        for label in [mechanism.body_name(body), *(("world", FRAME) if body == 0 else ())]:
            found |= {f"{label}.{axis}": partial(direction, body, k) for k, axis in enumerate(_AXES)}
            found[f"{label}.origin"] = partial(point, body, None)
            found |= {f"{label}.{name}": partial(point, body, name) for name in points}
    return found


def _operands(trajectory: Trajectory) -> Operands:
    spatial = trajectory.spatial()
    named = named_operands(
        trajectory.mechanism,
        trajectory.kept.tolist(),
        [(joint.id, name) for joint in measurable(trajectory) for name in measured(trajectory, joint)],
        coordinate=partial(_coordinate, trajectory),
        direction=partial(_direction, spatial),
        point=partial(_point, spatial),
    )
    called = trajectory.mechanism.called
    count, units = len(trajectory.time), trajectory.mechanism.units
    return Operands(named, called, count, n_levels(trajectory), continuous=True, units=units)


def _coordinate(trajectory: Trajectory, joint: str, name: str) -> Motion:
    one = joint_motion(trajectory, joint)[name]
    return Motion(one.levels, *((1, 0) if one.unit == "m" else (0, 1)))


def _direction(trajectory: Trajectory, body: int, k: int) -> Motion:
    """An axis of a body's own frame."""
    n = len(trajectory.time)
    if body == 0:
        still = np.zeros((n, 3))
        return Motion((np.broadcast_to(np.eye(3)[k], (n, 3)), still, still)[: n_levels(trajectory)])
    of = trajectory.body(body + 1)
    axis = of.rotation[:, :, k]
    levels = [axis]
    if trajectory.velocity is not None:
        spin = twist_in_space(of.velocity)[:, 3:]
        levels.append(np.cross(spin, axis))
        if trajectory.acceleration is not None:
            levels.append(np.cross(twist_in_space(of.acceleration)[:, 3:], axis) + np.cross(spin, levels[1]))
    return Motion(tuple(levels))


def _point(trajectory: Trajectory, body: int, name: str | list[float] | None) -> Motion:
    n = len(trajectory.time)
    if body == 0:
        geometry = trajectory.mechanism.body_geometry.get(0)
        at = geometry.points[name] if isinstance(name, str) and geometry is not None else (0.0, 0.0, 0.0)
        place, still = np.zeros((n, 3)), np.zeros((n, 3))
        place[:, : len(at)] = at
        return Motion((place, still, still)[: n_levels(trajectory)], 1)
    of = trajectory.body(body + 1)
    if name is None:
        # A point that the body's own frame has at its origin: at the reference, where that frame is.
        name = trajectory.reference.position[body].tolist()
    makers = (of.point, of.point_velocity, of.point_acceleration)[: n_levels(trajectory)]
    return Motion(tuple(make(name) for make in makers), 1)


# --- evaluation --------------------------------------------------------------------------------------


class _Evaluator:
    """One expression over some operands."""

    def __init__(self, operands: Operands) -> None:
        self.operands, self.used = operands, list[str]()

    def motion(self, text: str) -> Motion:
        """The number over time that a text stands for."""
        if len(text) > _LONGEST:
            raise ValueError(f"has {len(text):,} characters; write {_LONGEST:,} at most")
        if re.search(r"(?<!\w)_\d+_(?!\w)", text):
            raise ValueError("has a name of underscores and digits, which stands for nothing")
        marked = _WITH_UNIT.sub(self._mark, re.sub(self.operands.pattern, self._mark, text))
        try:
            tree = ast.parse(marked.strip().replace("^", "**"), mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ValueError("cannot be read; write such as distance(hub.tip, frame.origin)") from None
        try:
            found = self.of(tree.body)
        except RecursionError:
            raise ValueError("is nested too deeply") from None
        if found.is_vector:
            raise ValueError("is a vector; write norm(…), or a component such as .x")
        return found

    def _mark(self, match: re.Match[str]) -> str:
        self.used.append(match[0])
        return f"_{len(self.used) - 1}_"

    def of(self, node: ast.expr) -> Motion:
        """Value of a node; ValueError for any node that expressions have not."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return self._number(float(node.value))
        if isinstance(node, ast.Name) and re.fullmatch(r"_\d+_", node.id):
            return self._named(self.used[int(node.id[1:-1])])
        if isinstance(node, ast.Name) and node.id == "pi":
            return self._number(math.pi)
        if isinstance(node, ast.Attribute) and node.attr in _AXES and not _dotted(node):
            vector = _vector(self.of(node.value))
            k = _AXES.index(node.attr)
            return Motion(tuple(level[:, k] for level in vector.levels), vector.length, vector.angle)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            one = self.of(node.operand)
            sign = -1.0 if isinstance(node.op, ast.USub) else 1.0
            return Motion(tuple(sign * level for level in one.levels), one.length, one.angle)
        if isinstance(node, ast.BinOp):
            return self._binary(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            return self._call(node)
        raise ValueError(self._unknown(node))

    def _named(self, text: str) -> Motion:
        """Value of a name, or of a number with its unit."""
        if (number := _WITH_UNIT.fullmatch(text)) is not None:
            length, angle, size = _UNITS[number[2]]
            return _unit(size, length, angle, self._number(float(number[1])))
        found = self.operands.operand(text)
        if found is None:
            raise ValueError(self._there_is_no(text))
        return found

    def _unknown(self, node: ast.expr) -> str:
        name = _dotted(node)
        if not name:
            return f"{self._said(node)!r} is not allowed; write + - * / and functions of joints and points"
        return self._there_is_no(name)

    def _there_is_no(self, name: str) -> str:
        listed = ", ".join(list(self.operands.named)[:8])
        return (
            f"there is no {name!r}; {meant(name, self.operands.named).rstrip() or f'there are {listed}, …'}"
        )

    def _number(self, value: float) -> Motion:
        n = self.operands.count
        return Motion((np.full(n, value), np.zeros(n), np.zeros(n))[: self.operands.levels], None, None)

    def _binary(self, node: ast.BinOp) -> Motion:
        one, two = self.of(node.left), self.of(node.right)
        if isinstance(node.op, ast.Add | ast.Sub):
            combine = operator.add if isinstance(node.op, ast.Add) else operator.sub
            if one.is_vector != two.is_vector:
                raise ValueError(f"{self._said(node)}: a number and a vector have no sum")
            length, angle = self._common(node, one, two)
            pairs = zip(one.levels, two.levels, strict=True)
            return Motion(tuple(combine(a, b) for a, b in pairs), length, angle)
        if isinstance(node.op, ast.Mult):
            if one.is_vector and two.is_vector:
                raise ValueError(f"{self._said(node)}: of two vectors write dot(…) or cross(…)")
            return _product(one, two, _times)
        if isinstance(node.op, ast.Div):
            return _product(one, _chain(_scalar(two), _power(-1.0), -1), _times)
        if isinstance(node.op, ast.Pow):
            exponent = two.levels[0]
            if two.length is not None or not isinstance(node.right, ast.Constant | ast.UnaryOp):
                raise ValueError(f"{self._said(node)}: an exponent is a number")
            power = float(exponent[0]) if len(exponent) else 1.0
            if not power.is_integer() and (one.length or one.angle):
                raise ValueError(f"{self._said(node)}: write a whole exponent, or sqrt")
            return _chain(_scalar(one), _power(power), int(power) if power.is_integer() else 0)
        raise ValueError(self._unknown(node))

    def _common(self, node: ast.BinOp, one: Motion, two: Motion) -> tuple[int | None, int | None]:
        """Exponents of the unit of a sum."""
        for number, other, at in ((one, two, node.left), (two, one, node.right)):
            if number.length is None:
                if other.unit and number.levels[0].any():
                    raise ValueError(self._without_unit(node, at, other))
                return other.length, other.angle
        if (one.length, one.angle) != (two.length, two.angle):
            units = [self._unit_of(each) or "a number" for each in (one, two)]
            raise ValueError(f"{self._said(node)}: {units[0]} and {units[1]} have no sum")
        return one.length, one.angle

    def _without_unit(self, node: ast.BinOp | ast.Call, number: ast.expr, other: Motion) -> str:
        """Fault of a number without a unit in a sum with ``other``, or as an angle of a function."""
        where = "" if isinstance(node, ast.Call) else f", the other is in {self._unit_of(other)}"
        remedies = [self._said(_replaced(node, number, text)) for text in self._with_units(number, other)]
        what = f"{self._said(node)}: {self._said(number)} has no unit{where}"
        return f"{what}; write {' or '.join(remedies)}"

    def _with_units(self, number: ast.expr, other: Motion) -> list[str]:
        """A number in the unit of another as it may be meant: in that of the file, and in a usual one."""
        said, constant = self._said(number), isinstance(number, ast.Constant)
        which = {"m": 0, "rad": 1}.get(other.unit)
        if which is None:
            units = zip(self.operands.units, (other.length or 0, other.angle or 0), strict=True)
            factors = [
                f"(1 {name})" + ("" if power == 1 else f" ** {power}") for name, power in units if power
            ]
            return [" * ".join([said if constant else f"({said})", *factors])]
        if which and any(isinstance(part, ast.Name) and part.id == "pi" for part in ast.walk(number)):
            return [f"rad({said})"]
        names = dict.fromkeys([self.operands.units[which], *(("mm", "m"), ("deg", "rad"))[which]])
        return [f"{said} {name}" if constant else f"{name}({said})" for name in names]

    def _unit_of(self, one: Motion) -> str:
        """Unit of a value in the units of messages."""
        return given_in(one.unit, self.operands.units)[0]

    def _said(self, node: ast.expr) -> str:
        return re.sub(r"_(\d+)_", lambda mark: self.used[int(mark[1])], ast.unparse(node))

    def _call(self, node: ast.Call) -> Motion:
        name, given = _dotted(node.func), [self.of(one) for one in node.args]
        if name not in FUNCTIONS:
            raise ValueError(f"there is no function {name!r}; there are {', '.join(FUNCTIONS)}")
        counts, function = FUNCTIONS[name]
        if len(given) not in counts:
            raise ValueError(f"{name} takes {' or '.join(map(str, counts))} arguments, not {len(given)}")
        if name in _OF_ANGLES and given[0].length is None and given[0].levels[0].any():
            raise ValueError(self._without_unit(node, node.args[0], Motion((), 0, 1)))
        try:
            found: Motion = function(*given)
        except _Unfit as error:
            unit = self._unit_of(error.one) if error.one else ""
            raise ValueError(f"{name}: {f'in {unit}, where ' if unit else ''}{error}") from None
        if function is _angle and len(given) == 3 and self.operands.continuous:
            return _unwrapped(found)
        return found


class _Unfit(ValueError):
    """An argument that a function does not take; ``one`` where its unit is the reason."""

    def __init__(self, reason: str, one: Motion | None = None) -> None:
        super().__init__(reason)
        self.one = one


def _replaced(node: ast.BinOp | ast.Call, part: ast.expr, text: str) -> ast.expr:
    """A sum or a call with a text in place of a part."""
    new = ast.Name(text)
    if isinstance(node, ast.Call):
        return ast.Call(node.func, [new if one is part else one for one in node.args], [])
    left, right = (new if one is part else one for one in (node.left, node.right))
    return ast.BinOp(left, node.op, right)


def _dotted(node: ast.expr) -> str:
    """A name that is no operand, such as ``hub.tip``; empty for other nodes."""
    if isinstance(node, ast.Name):
        return "" if re.fullmatch(r"_\d+_", node.id) else node.id
    if isinstance(node, ast.Attribute) and (head := _dotted(node.value)):
        return f"{head}.{node.attr}"
    return ""


def _vector(one: Motion) -> Motion:
    if not one.is_vector:
        raise _Unfit("a number, where a point or a direction is needed")
    return one


def _scalar(one: Motion) -> Motion:
    if one.is_vector:
        raise _Unfit("a vector, where a number is needed")
    return one


def _plain(one: Motion) -> Motion:
    if one.length or one.angle not in (None, 0, 1):
        raise _Unfit("an angle or a plain number is needed", one)
    return _scalar(one)


def _product(one: Motion, two: Motion, multiply: Callable[[Floats, Floats], Floats]) -> Motion:
    """A product by Leibniz's rule, which any bilinear ``multiply`` obeys."""
    (a, *da), (b, *db) = one.levels, two.levels
    levels = [multiply(a, b)]
    if da:
        levels.append(multiply(da[0], b) + multiply(a, db[0]))
    if len(da) > 1:
        levels.append(multiply(da[1], b) + 2 * multiply(da[0], db[0]) + multiply(a, db[1]))
    if one.length is None and two.length is None:
        return Motion(tuple(levels), None, None)
    return Motion(tuple(levels), (one.length or 0) + (two.length or 0), (one.angle or 0) + (two.angle or 0))


def _times(a: Floats, b: Floats) -> Floats:
    found: Floats = (a[:, None] if a.ndim < b.ndim else a) * (b[:, None] if b.ndim < a.ndim else b)
    return found


def _dot(a: Floats, b: Floats) -> Floats:
    found: Floats = np.einsum("nk,nk->n", a, b)
    return found


#: A function's value and its first and second derivative.
Jet = Callable[[Floats], tuple[Floats, Floats, Floats]]


def _chain(one: Motion, jet: Jet, power: float | None = None) -> Motion:
    """A function of a number by the chain rule; ``power`` of its unit, None for a plain number."""
    value, *rates = one.levels
    f, first, second = jet(value)
    levels = [f]
    if rates:
        levels.append(first * rates[0])
    if len(rates) > 1:
        levels.append(second * rates[0] ** 2 + first * rates[1])
    if power is None:
        return Motion(tuple(levels))
    if one.length is None:
        return Motion(tuple(levels), None, None)
    return Motion(tuple(levels), int(one.length * power), int((one.angle or 0) * power))


def _power(n: float) -> Jet:
    if n in (0.0, 1.0):
        return lambda x: (x**n, np.full_like(x, n), np.zeros_like(x))
    return lambda x: (np.power(x, n), n * np.power(x, n - 1), n * (n - 1) * np.power(x, n - 2))


def _sqrt(one: Motion) -> Motion:
    if (one.length or 0) % 2 or (one.angle or 0) % 2:
        raise _Unfit("a unit with even exponents is needed", one)
    return _chain(_scalar(one), _power(0.5), 0.5)


def _norm(one: Motion) -> Motion:
    return _sqrt(_product(_vector(one), one, _dot))


def _cross(one: Motion, two: Motion) -> Motion:
    return _product(_vector(one), _vector(two), np.cross)


def _inner(one: Motion, two: Motion) -> Motion:
    return _product(_vector(one), _vector(two), _dot)


def _distance(one: Motion, two: Motion) -> Motion:
    if _vector(one).length != 1 or _vector(two).length != 1:
        raise _Unfit("is between two points, such as hub.tip")
    return _norm(Motion(tuple(a - b for a, b in zip(one.levels, two.levels, strict=True)), 1))


def _angle(one: Motion, two: Motion, about: Motion | None = None) -> Motion:
    if about is None:
        return _atan2(_norm(_cross(one, two)), _inner(one, two))
    # The components square to the axis of both directions count alone.
    axis = _product(_vector(about), _chain(_norm(about), _power(-1.0), -1), _times)
    axis = Motion(axis.levels)
    first, second = (_flattened(_vector(each), axis) for each in (one, two))
    return _atan2(_inner(_cross(first, second), axis), _inner(first, second))


def _unwrapped(one: Motion) -> Motion:
    value = one.levels[0].copy()
    sound = np.isfinite(value)
    value[sound] = np.unwrap(value[sound])
    return Motion((value, *one.levels[1:]), one.length, one.angle)


def _flattened(one: Motion, axis: Motion) -> Motion:
    along = _product(_inner(one, axis), axis, _times)
    return Motion(tuple(a - b for a, b in zip(one.levels, along.levels, strict=True)), one.length, one.angle)


def _atan2(y: Motion, x: Motion) -> Motion:
    if _scalar(y).unit != _scalar(x).unit:
        raise _Unfit("two numbers of one unit are needed")
    (b, *db), (a, *da) = y.levels, x.levels
    levels, square = [np.arctan2(b, a)], a * a + b * b
    if da:
        levels.append((a * db[0] - b * da[0]) / square)
    if len(da) > 1:
        levels.append((a * db[1] - b * da[1] - 2 * levels[1] * (a * da[0] + b * db[0])) / square)
    return Motion(tuple(levels), 0, 1)


def _of_number(jet: Jet, one: Motion) -> Motion:
    return _chain(_plain(one), jet)


def _arc(jet: Jet, one: Motion) -> Motion:
    return Motion(_of_number(jet, one).levels, 0, 1)


def _unit(scale: float, length: int, angle: int, one: Motion) -> Motion:
    if one.length is not None:
        raise _Unfit("takes a plain number, such as 5")
    return Motion(tuple(scale * level for level in one.levels), length, angle)


#: Values with first and second derivatives of functions of a plain number, and of those that give an angle.
_FUNCTIONS_OF_NUMBERS: dict[str, Jet] = {
    "sin": lambda x: (np.sin(x), np.cos(x), -np.sin(x)),
    "cos": lambda x: (np.cos(x), -np.sin(x), -np.cos(x)),
    "tan": lambda x: (np.tan(x), 1 + np.tan(x) ** 2, 2 * np.tan(x) * (1 + np.tan(x) ** 2)),
    "exp": lambda x: (np.exp(x), np.exp(x), np.exp(x)),
    "log": lambda x: (np.log(x), 1 / x, -1 / x**2),
}
_INVERSE_FUNCTIONS: dict[str, Jet] = {
    "asin": lambda x: (np.arcsin(x), (1 - x * x) ** -0.5, x * (1 - x * x) ** -1.5),
    "acos": lambda x: (np.arccos(x), -((1 - x * x) ** -0.5), -x * (1 - x * x) ** -1.5),
    "atan": lambda x: (np.arctan(x), 1 / (1 + x * x), -2 * x / (1 + x * x) ** 2),
}

#: Functions of an angle, which a number without a unit is not.
_OF_ANGLES = ("sin", "cos", "tan")

#: Functions of expressions by name: numbers of arguments, and what they do.
FUNCTIONS: dict[str, tuple[tuple[int, ...], Callable[..., Any]]] = {
    "distance": ((2,), _distance),
    "angle": ((2, 3), _angle),
    "dot": ((2,), _inner),
    "cross": ((2,), _cross),
    "norm": ((1,), _norm),
    "sqrt": ((1,), _sqrt),
    "abs": ((1,), lambda one: _chain(_scalar(one), lambda x: (np.abs(x), np.sign(x), np.zeros_like(x)), 1)),
    **{name: ((1,), partial(_of_number, jet)) for name, jet in _FUNCTIONS_OF_NUMBERS.items()},
    **{name: ((1,), partial(_arc, jet)) for name, jet in _INVERSE_FUNCTIONS.items()},
    "atan2": ((2,), _atan2),
    **{name: ((1,), partial(_unit, size, length, angle)) for name, (length, angle, size) in _UNITS.items()},
}
