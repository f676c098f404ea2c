"""Quantities derived from joints, points and bodies by an expression, with their rates."""

# An expression is a node of a graph over the coordinates, points and axes that it names; the graph's forward
# derivatives are its rates, whose inputs are those of the operands.

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np

from groups.results.joints import CoordinateMotion, JointMotion, body_motion, carried, joint_motion, n_levels
from mbssa.arrays import Floats
from mbssa.expressions import WORDS, ExpressionError, Language, Value
from mbssa.graph.derivative import Direction, derivative
from mbssa.graph.evaluation import evaluated
from mbssa.graph.nodes import Graph, Number, is_node
from mbssa.joints.catalogue import coordinate_unit
from mbssa.joints.equations import Body
from mbssa.mechanism import FRAME

if TYPE_CHECKING:
    from groups.trajectory import Trajectory
    from mbssa import Mechanism

#: Coordinates and centres of joints that a text names by their bodies.
_BY_BODIES = r"\d+-\d+(?:#\d+)?\.[a-z_]\w*"


@dataclass(frozen=True, slots=True)
class Operand:
    """A coordinate or the centre of a joint, an axis or a point of a body."""

    kind: Literal["coordinate", "centre", "axis", "point"]
    index: int  # of the joint or the body
    part: str | int = ""  # coordinate, number of the axis, or point; "" for the origin of the body's frame

    def bodies(self, mechanism: Mechanism) -> tuple[int, ...]:
        """Indices of the bodies whose poses it takes."""
        if self.kind in ("axis", "point"):
            return (self.index,)
        return mechanism.joint_bodies(self.index)[1 if self.kind == "centre" else 0 :]


@dataclass(frozen=True, eq=False, slots=True)
class Expression:
    """Value, rate and acceleration as nodes, whose inputs are (level, operand, component)."""

    levels: tuple[Number, ...]
    unit: str  # SI, of the value
    operands: tuple[Operand, ...]

    def values(self, known: Mapping[Operand, list[Floats]], kept: int) -> list[Number]:
        """Value and the rates that were kept, of those of the operands; no rates where there is no value."""
        with np.errstate(all="ignore"):
            value, *rates = evaluated(self.levels[:kept], lambda _, key: known[key[1]][key[0]][:, key[2]])
        return [value, *(np.where(np.isnan(value), np.nan, rate) for rate in rates)]


class _Turning:
    """Function of a user node: an angle that counts its turns from one value to the next."""

    def of(self, order: int) -> Callable[..., Number]:
        return _unwrapped if order == 0 else lambda angle, *rates: rates[0] if order == 1 else 0.0 * rates[0]


_TURNING = _Turning()


def _unwrapped(angle: Floats) -> Floats:
    found = angle.copy()
    sound = np.isfinite(found)
    found[sound] = np.unwrap(found[sound])
    return found


def _with_turns(angle: Number) -> Number:
    return angle.graph.make("user", (angle.i,), (_TURNING, 0)) if is_node(angle) else angle


# --- names -------------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def names_of(mechanism: Mechanism) -> Mapping[str, Operand | None]:
    """Operands of a mechanism by name; None where a name has two meanings."""
    found: dict[str, Operand | None] = {}

    def add(owner: str, part: str, operand: Operand) -> None:
        name = f"{owner}.{part}" if part else owner
        found[name] = None if found.get(name, operand) != operand else operand

    for j, joint in enumerate(mechanism.joints):
        if joint.text != joint.id:  # a text by its bodies has to say which
            continue
        for name in joint.type.coordinates:
            add(joint.id, name, Operand("coordinate", j, name))
        add(joint.id, "centre", Operand("centre", j))
        if re.match(r"[^\W\d]", joint.id) and joint.id not in WORDS:
            add(joint.id, "", Operand("centre", j))
    for body in range(mechanism.n_bodies):
        geometry = mechanism.body_geometry.get(body)
        for label in dict.fromkeys([mechanism.body_name(body), *(("world", FRAME) if body == 0 else ())]):
            for k, axis in enumerate("xyz"):
                add(label, axis, Operand("axis", body, k))
            add(label, "origin", Operand("point", body))
            for point in geometry.points if geometry is not None else ():
                add(label, point, Operand("point", body, point))
    return found


def _operand(mechanism: Mechanism, text: str) -> Operand | None:
    """The operand of a name, if it is one."""
    names = names_of(mechanism)
    owner, _, part = text.rpartition(".")
    if text in names:
        found = names[text]
        if found is None:
            raise ExpressionError(
                f"{text!r} is of a joint and of a body {owner}; name the joint by its bodies"
            )
        return found
    try:
        joint = mechanism.joint(owner)
    except KeyError as error:
        if "ambiguous" in error.args[0]:
            raise ExpressionError(error.args[0]) from None
        return None
    if part == "centre":
        return Operand("centre", joint.index)
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

    with_turns = _with_turns if ordered else lambda angle: angle
    language = Language(find, names_of(mechanism), _BY_BODIES, mechanism.units, with_turns=with_turns)
    value = language.value(text)
    along = Direction(lambda name, key: graph.input(name, (key[0] + 1, *key[1:])))
    rate = derivative([value.number], along)
    return Expression((value.number, *rate, *derivative(rate, along)), value.si, tuple(used))


def expressions_of(
    mechanism: Mechanism, texts: Mapping[str, str], ordered: bool = True
) -> dict[str, Expression]:
    """Expressions by name; a ValueError has all that is wrong with them."""
    found, faults = {}, []
    for name, text in texts.items():
        try:
            found[name] = expression(mechanism, text, ordered)
        except ValueError as error:
            faults.append(_fault(name, text, error))
    if faults:
        raise ValueError("\n  ".join(faults))
    return found


def _fault(name: str, text: str, error: Exception) -> str:
    return f"{text if name == text else f'{name}={text}'}: {error.args[0]}"


# --- values ------------------------------------------------------------------------------------------


def derived(trajectory: Trajectory, texts: Mapping[str, str]) -> list[CoordinateMotion]:
    """Quantities by expression, by their names: (T,) values, and as many derivatives as were kept."""
    return evaluate(trajectory, expressions_of(trajectory.mechanism, texts), texts=texts)


def evaluate(
    trajectory: Trajectory,
    expressions: Mapping[str, Expression],
    near: Mapping[int, Floats] | None = None,
    texts: Mapping[str, str] = MappingProxyType({}),
) -> list[CoordinateMotion]:
    """The same of expressions that have been read, of a mechanism whose names are those of this one."""
    # `near` is given for poses that are no motion: coordinates (T, k) by joint, next to which angles are.
    mechanism, frames, kept = trajectory.mechanism, trajectory.reference, n_levels(trajectory)
    quantities, faults = [], []

    @cache
    def moving(body: int) -> Body:
        return body_motion(trajectory, body)

    @cache
    def coordinates(joint: int) -> JointMotion:
        nearest = None if near is None else near.get(joint, np.zeros((0, 0)))
        return joint_motion(trajectory, joint, near=nearest)

    @cache
    def levels(operand: Operand) -> list[Floats]:
        """(T, 1) of a coordinate, (T, 3) of a vector."""
        index, part, body = operand.index, operand.part, operand.bodies(mechanism)[0]
        if operand.kind == "coordinate":
            return [level[:, None] for level in coordinates(index)[str(part)].levels]
        if operand.kind == "axis":
            return carried(moving(body), np.eye(3)[int(part)])
        if operand.kind == "centre" and not frames.known[index]:
            raise ValueError(f"joint {mechanism.joint_ids[index]} has no centre: it has no geometry")
        arm = frames.origin[index, 1] if operand.kind == "centre" else np.zeros(3)
        if part:
            arm = frames.on_body(body, mechanism.body_geometry[body].points[str(part)])
        return carried(moving(body), arm, is_place=True)

    for name, one in expressions.items():
        try:
            known = {operand: levels(operand) for operand in one.operands}
        except (KeyError, ValueError) as error:
            faults.append(_fault(name, texts.get(name, name), error))
            continue
        found = [np.broadcast_to(x, trajectory.time.shape) for x in one.values(known, kept)]
        quantities.append(CoordinateMotion(name, one.unit, *found))
    if faults:
        raise ValueError("\n  ".join(faults))
    return quantities
