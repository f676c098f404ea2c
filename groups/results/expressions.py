"""Quantities derived from joints, points and bodies by an expression, with their rates."""

# An expression is a node of a graph over the coordinates, points and axes that it names; the graph's forward
# derivatives are its rates, whose inputs are those of the operands.

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

from groups.results.joints import CoordinateMotion, JointMotion, body_motion, carried, joint_motion, n_levels
from mbssa.arrays import Floats
from mbssa.expressions import WORDS, ExpressionError, Language, Value
from mbssa.graph.derivative import Direction, derivative
from mbssa.graph.evaluation import evaluated
from mbssa.graph.nodes import Graph, Number, is_node
from mbssa.joints.catalogue import coordinate_unit
from mbssa.mechanism import FRAME

if TYPE_CHECKING:
    from groups.trajectory import Trajectory
    from mbssa import Mechanism

K = TypeVar("K")
T = TypeVar("T")

#: Coordinates and centres of joints that a text names by their bodies.
_BY_BODIES = r"\d+-\d+(?:#\d+)?\.[a-z_]\w*"


@dataclass(frozen=True, slots=True)
class Operand:
    """A coordinate of a joint, an axis or a point of a body."""

    kind: Literal["coordinate", "axis", "point"]
    index: int  # of the joint or the body
    # Coordinate; number of the axis; point, "" for the body's origin, or index of the joint with this centre.
    part: str | int = ""

    def bodies(self, mechanism: Mechanism) -> tuple[int, ...]:
        """Indices of the bodies whose poses it takes."""
        return mechanism.joint_bodies(self.index) if self.kind == "coordinate" else (self.index,)


@dataclass(frozen=True, eq=False, slots=True)
class Expression:
    """Value, rate and acceleration as nodes, whose inputs are (level, operand, component)."""

    levels: tuple[Number, ...]
    unit: str  # SI, of the value
    operands: tuple[Operand, ...]


class _Turning:
    """Data of a node: an angle that counts its turns from one value to the next."""

    @staticmethod
    def of(order: int) -> Callable[..., Number]:
        """The angle with its turns, or its derivative."""

        def unwrapped(angle: Floats) -> Floats:
            found, sound = angle.copy(), np.isfinite(angle)
            found[sound] = np.unwrap(found[sound])
            return found

        return (unwrapped, lambda _, rate: rate, lambda _, rate, along: 0.0 * rate)[order]


@lru_cache(maxsize=8)
def _names_of(mechanism: Mechanism) -> Mapping[str, Operand | None]:
    """Operands of a mechanism by name; None where a name has two meanings."""
    named: list[tuple[str, Operand]] = []
    for j, joint in enumerate(mechanism.joints):
        if joint.text != joint.id:  # a text by its bodies has to say which
            continue
        named += [(f"{joint.id}.{name}", Operand("coordinate", j, name)) for name in joint.type.coordinates]
        centre = Operand("point", mechanism.joint_bodies(j)[1], j)
        own = re.match(r"[^\W\d]", joint.id) and joint.id not in WORDS
        named += [(name, centre) for name in (f"{joint.id}.centre", *([joint.id] if own else ()))]
    for body in range(mechanism.n_bodies):
        parts = [(axis, Operand("axis", body, k)) for k, axis in enumerate("xyz")]
        parts += [("origin", Operand("point", body))]
        points = mechanism.geometry_of(body).points
        parts += [(point, Operand("point", body, point)) for point in points]
        for label in dict.fromkeys([mechanism.body_name(body), *(("world", FRAME) if body == 0 else ())]):
            named += [(f"{label}.{part}", one) for part, one in parts]
    found: dict[str, Operand | None] = {}
    for name, operand in named:
        found[name] = operand if found.get(name, operand) == operand else None
    return found


def _operand(mechanism: Mechanism, text: str) -> Operand | None:
    """The operand of a name, if it is one."""
    names = _names_of(mechanism)
    owner, _, part = text.rpartition(".")
    if text in names:
        if names[text] is None:
            remedy = "name the joint by its bodies"
            raise ExpressionError(f"{text!r} is of a joint and of a body {owner}; {remedy}")
        return names[text]
    try:
        joint = mechanism.joint(owner)
    except KeyError as error:
        if "ambiguous" in error.args[0]:
            raise ExpressionError(error.args[0]) from None
        return None
    if part == "centre":
        return Operand("point", mechanism.joint_bodies(joint.index)[1], joint.index)
    return Operand("coordinate", joint.index, part) if part in joint.type.coordinates else None


@lru_cache(maxsize=64)
def expression(mechanism: Mechanism, text: str, ordered: bool = True) -> Expression:
    """The nodes of an expression; angles with a sign count their turns if instants are ``ordered``."""
    graph, used = Graph(), dict[Operand, None]()

    def find(name: str) -> Value | None:
        operand = _operand(mechanism, name)
        if operand is None:
            return None
        used[operand] = None
        numbers = [graph.input("operand", (0, operand, k)) for k in range(3)]
        if operand.kind == "coordinate":
            return Value(numbers[0], (1, 0) if coordinate_unit(str(operand.part)) == "m" else (0, 1))
        return Value(numbers, (0, 0)) if operand.kind == "axis" else Value(numbers, (1, 0), is_point=True)

    def with_turns(angle: Number) -> Number:
        return graph.make("user", (angle.i,), (_Turning, 0)) if ordered and is_node(angle) else angle

    language = Language(find, _names_of(mechanism), _BY_BODIES, mechanism.units, with_turns=with_turns)
    value = language.value(text)
    along = Direction(lambda name, key: graph.input(name, (key[0] + 1, *key[1:])))
    rate = derivative([value.number], along)
    return Expression((value.number, *rate, *derivative(rate, along)), value.si, tuple(used))


def expressions_of(
    mechanism: Mechanism, texts: Mapping[str, str], ordered: bool = True
) -> dict[str, Expression]:
    """Expressions by name; a ValueError has all that is wrong with them."""
    return _each(texts, lambda text: expression(mechanism, text, ordered))


def _each(expressions: Mapping[str, K], value: Callable[[K], T]) -> dict[str, T]:
    """Values by name; all faults at once, each behind the name and the text of its expression."""
    found, faults = {}, []
    for name, one in expressions.items():
        try:
            found[name] = value(one)
        except (KeyError, ValueError) as error:
            text = f"{name}={one}" if isinstance(one, str) and one != name else name
            faults.append(f"{text}: {error.args[0]}")
    if faults:
        raise ValueError("\n  ".join(faults))
    return found


def derived(
    trajectory: Trajectory,
    expressions: Mapping[str, str | Expression],
    near: Mapping[int, Floats] | None = None,
) -> list[CoordinateMotion]:
    """Quantities by their names: (T,) values of expressions, and as many derivatives as were kept."""
    # Expressions that have been read are of a mechanism whose names are those of this one.
    # `near` is given for poses that are no motion: coordinates (T, k) by joint, next to which angles are. A
    # value that is NaN has no rates.
    mechanism, frames = trajectory.mechanism, trajectory.reference

    moving = cache(partial(body_motion, trajectory))

    @cache
    def coordinates(joint: int) -> JointMotion:
        nearest = None if near is None else near.get(joint, np.zeros((0, 0)))
        return joint_motion(trajectory, joint, near=nearest)

    @cache
    def levels(operand: Operand) -> Sequence[Floats]:
        """(T, 1) of a coordinate, (T, 3) of a vector."""
        index, part = operand.index, operand.part
        if operand.kind == "coordinate":
            return [level[:, None] for level in coordinates(index)[str(part)].levels]
        if operand.kind == "axis":
            return carried(moving(index), np.eye(3)[int(part)])
        if isinstance(part, str):
            arm = np.zeros(3)
            if part:
                arm = frames.on_body(index, mechanism.body_geometry[index].points[part])
        elif frames.known[part]:
            arm = frames.origin[part, 1]
        else:
            raise ValueError(f"joint {mechanism.joint_ids[part]} has no centre: it has no geometry")
        return carried(moving(index), arm, is_place=True)

    def motion(one: str | Expression) -> tuple[str, list[Floats]]:
        one = expression(mechanism, one) if isinstance(one, str) else one
        known = {operand: levels(operand) for operand in one.operands}
        with np.errstate(all="ignore"):
            kept = one.levels[: n_levels(trajectory)]
            value, *rates = evaluated(kept, lambda _, key: known[key[1]][key[0]][:, key[2]])
        found = (value, *(np.where(np.isnan(value), np.nan, rate) for rate in rates))
        return one.unit, [np.broadcast_to(x, trajectory.time.shape) for x in found]

    return [CoordinateMotion(name, unit, *of) for name, (unit, of) in _each(expressions, motion).items()]
