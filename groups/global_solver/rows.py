"""Equations by type of joint, written on the poses of its bodies, derived and printed once for the type."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from groups.engine.curves import contact_of
from groups.engine.users import traced
from groups.setting import LockedRotation, Setting
from mbssa.arrays import Floats
from mbssa.graph.derivative import Direction, Twist, derivative
from mbssa.graph.frames import UNIT, Frame, Motion, carried, cross, dot, minus, relative, times, total
from mbssa.graph.nodes import Graph, above, atan2, cos, is_node
from mbssa.graph.source import Printed, functions
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.equations import Elementary, differs, sine_cosine, value
from mbssa.joints.frames import Frames
from mbssa.joints.relations import JointRelations, Relation, Term

#: Input of a function: name, and index k of the body, drive or unknown, and component or order i.
Input = tuple[str, tuple[int, int]]
#: Pose of a body in a state: x, y, cosine, sine and angle in the plane; in space place, then axes by columns.
PLANAR, SPATIAL = 5, 12
#: Components of the twist of a body, of its origin, that a space has.
COLUMNS = {True: (0, 1, 5), False: (0, 1, 2, 3, 4, 5)}
#: Inputs whose rates are inputs too.
_RATES = {"s": "ds", "v": "a", "ds": "dds"}


class Numbers:
    """Numbers of one joint, by floats at its reference; notes its geometry and the starts of its unknowns."""

    def __init__(self, bodies: Sequence[Frame], inputs: Sequence[float]) -> None:
        self.bodies, self.inputs = bodies, inputs
        self.given: list[float] = []
        self.starts: list[float] = []

    def body(self, k: int) -> Frame:
        return self.bodies[k]

    def number(self, x: Any) -> Any:
        self.given.append(float(x))
        return x

    def vector(self, x: Any) -> Any:
        return [self.number(v) for v in x]

    def drive(self, k: int) -> Any:
        return self.inputs[k]

    def unknown(self, start: Callable[[], float]) -> Any:
        self.starts.append(float(start()))
        return self.starts[-1]

    def end(self, k: int, origin: Floats, axes: Floats) -> Frame:
        """Frame of a joint on its body number k."""
        return self.body(k).end(self.vector(origin), [self.vector(row) for row in axes])


class Nodes(Numbers):
    """The same by nodes of a graph; numbers are constants where all joints of the type have that 0 or ±1."""

    def __init__(self, planar: bool, constant: Sequence[float | None]) -> None:
        super().__init__((), ())
        self.graph, self.columns, self._constant = Graph(), COLUMNS[planar], iter(constant)
        self._frames: dict[int, Frame] = {}
        #: Rates of all inputs: the bodies' origins have twists, the unknowns rates.
        self.time = Direction(self._rate, self._about)

    def body(self, k: int) -> Frame:
        if k not in self._frames:
            motion, x = Motion(None, body=k), [self._input("b", k, i) for i in range(SPATIAL)]
            if len(self.columns) == 3:
                c, s = x[2], x[3]
                place, axes, angle = [x[0], x[1], 0.0], [[c, s, 0.0], [-s, c, 0.0], UNIT[2]], x[4]
            else:
                place, axes, angle = x[:3], [x[3:6], x[6:9], x[9:]], 0.0
            # Carried twice: a rate is made of what the vectors are themselves, and has a rate again.
            place = carried(motion, carried(motion, place, True), True)
            axes = [carried(motion, carried(motion, axis)) for axis in axes]
            self._frames[k] = Frame(place, axes, angle, motion)
        return self._frames[k]

    def number(self, x: Any) -> Any:
        known = next(self._constant)
        self.given.append(0.0)
        return self.graph.input("g", len(self.given) - 1) if known is None else known

    def drive(self, k: int) -> Any:
        return self._input("u", k, 0)

    def unknown(self, start: Callable[[], float]) -> Any:
        self.starts.append(0.0)
        return self._input("s", len(self.starts) - 1, 0)

    def _input(self, name: str, k: int, i: int) -> Any:
        return self.graph.input(name, (k, i))

    def _about(self, body: int) -> Twist:
        v: list[Any] = [0.0] * 6
        for k, column in enumerate(self.columns):
            v[column] = self._input("v", body, k)
        return minus(v[:3], cross(v[3:], self.body(body).place)), v[3:]

    def _rate(self, name: str, k: Any) -> Any:
        if name == "b":  # the angle in the plane alone is no vector that is carried
            return self._input("v", k[0], 2)
        if name == "u":
            return self._input("u", k[0], k[1] + 1)
        return self._input(_RATES[name], *k) if name in _RATES else 0.0


class Written(NamedTuple):
    """Equations of a joint on its bodies, and the rows of its inputs."""

    key: Hashable  # joints of the same one share their kind; None of one that shares with none
    bodies: Sequence[int]
    rows: Callable[[Numbers], list[Any]]
    drives: Sequence[int]
    gaps: Sequence[bool]  # of the first rows, whether each is the gap of a contact


class Kind(NamedTuple):
    """Printed rows of a type, and which of their derivatives there are: row, and twist or rate."""

    rows: int
    entries: list[tuple[int, Input]]
    #: Functions ``step``: rows, then entries; ``rate`` and ``second`` derivative of the rows by time.
    functions: Mapping[str, Printed]


#: Kinds by what their joints have in common, for this process; those of curves and functions are not kept.
_kinds: dict[Hashable, Kind] = {}


def kind_of(joint: Written, planar: bool, numbers: Floats) -> Kind:
    """The type of some joints like this one with these numbers (joints, n), which is printed once."""
    constant = tuple(
        float(column[0]) if column[0] in (-1.0, 0.0, 1.0) and (column == column[0]).all() else None
        for column in numbers.T
    )
    whole = joint.key, planar, constant
    if joint.key is not None and whole in _kinds:
        return _kinds[whole]
    nodes = Nodes(planar, constant)
    rows = joint.rows(nodes)
    rate = derivative(rows, nodes.time)
    moved = [("v", (b, k)) for b in range(len(joint.bodies)) for k in range(len(nodes.columns))]
    entries = dict[tuple[int, Input], Any]()
    for one in [*moved, *(("ds", (k, 0)) for k in range(len(nodes.starts)))]:
        # A rate is linear in twists and rates, and its derivative by one is the entry of that.
        slopes = enumerate(derivative(rate, Direction(lambda *key, one=one: float(key == one))))
        entries |= {(r, one): slope for r, slope in slopes if is_node(slope) or slope != 0.0}
    results = {"step": [*rows, *entries.values()], "rate": rate, "second": derivative(rate, nodes.time)}
    printed = {which: functions("rows", [], found) for which, found in results.items()}
    kind = Kind(len(rows), list(entries), printed)
    if joint.key is not None:
        _kinds[whole] = kind
    return kind


# --- joints ------------------------------------------------------------------------------------------


def joint_of(setting: Setting, j: int) -> Written:
    """Equations of a joint, and of its driven coordinates."""
    mechanism, frames = setting.mechanism, setting.frames
    row, relations = type_of_joint(mechanism, j), frames.relations.get(j)
    driven = tuple(name for name in row.coordinates if (j, name) in setting.drives)
    drives = tuple(setting.drives[j, name] for name in driven)
    if relations is None:
        assert row.pair is not None
        gaps = [name == row.gap for name, _ in row.pair.constraints]
        chosen = [row.pair.coordinates[row.coordinates.index(name)] for name in driven]
        rows = partial(pair_rows, [*row.pair.functions], chosen, frames, j)
        return Written((row, driven), mechanism.joint_bodies(j)[:2], rows, drives, gaps)
    for name in driven:
        if name not in relations.coordinates:
            raise ValueError(f"coordinate {name!r} of a joint cannot be driven: it has no equation")
    leading, key = [relations.coordinates[name] for name in driven], None
    if not relations.curves and relations.function is None:
        pairs = [tuple(relations.bodies.index(b) for b in pair.bodies) for pair in relations.pairs]
        every = [*relations.constraints, *leading]
        terms = [[(t.kind, pairs[t.pair], t.numbers) for t in relation.terms] for relation in every]
        key = row, driven, len(relations.bodies), repr(terms)
    rows = partial(relation_rows, relations, leading, frames.size, mechanism.joint_ids[j])
    gaps = [row.gap != "" and of.name.startswith(row.gap) for of in relations.constraints]
    return Written(key, relations.bodies, rows, drives, gaps)


def spin_of(setting: Setting, spin: LockedRotation) -> Written:
    """Equation that locks a passive rotation: a line of the body stays square to one of the world."""
    in_frame = setting.frames.rotation[0] @ spin.in_frame

    def rows(numbers: Numbers) -> list[Any]:
        return [dot(numbers.vector(in_frame), numbers.body(0).along(numbers.vector(spin.in_body)))]

    return Written("spin", (spin.body,), rows, (), ())


def pair_rows(
    constraints: Sequence[Elementary], driven: Sequence[Elementary], frames: Frames, j: int, numbers: Numbers
) -> list[Any]:
    """Rows of a joint on the relative pose of two bodies."""
    size, found = frames.size, []
    d, C = relative(*(numbers.end(k, frames.origin[j, k] / size, frames.axes[j, k]) for k in (0, 1)))
    for e in constraints:
        given = numbers.number(frames.parameters[e.parameter][j] / size) if e.parameter else None
        found.append(value(e, d, C, given))
    for k, e in enumerate(driven):
        angle, u = sine_cosine(e, d, C), numbers.drive(k)
        if angle and e.kind in ("cardan", "elevation"):  # the cosine is negative beyond a quarter turn
            angle = angle[0] * above(cos(u), 1.0, -1.0), angle[1]
        found.append(differs(*angle, u) if angle else value(e, d, C) - u)
    return found


def relation_rows(
    relations: JointRelations, driven: Sequence[Relation], size: float, joint: str, numbers: Numbers
) -> list[Any]:
    """Rows of sums of terms, constraints first, then driven ones; those of unknowns come behind them."""
    found, more = [], list[Any]()

    def term_of(term: Term) -> Any:
        pair = relations.pairs[term.pair]
        places = [relations.bodies.index(b) for b in pair.bodies]
        if term.kind == "turned":
            return numbers.body(places[1]).angle
        if term.kind == "user":
            assert relations.function is not None  # it is called at every instant, traced or not
            bodies = map(numbers.body, range(len(relations.bodies)))
            scaled = [Frame(times(size, body.place), body.axes, body.angle) for body in bodies]
            return traced(relations.function, scaled, None, joint)
        A, B = (numbers.end(k, pair.origin[s] / size, pair.axes[s]) for s, k in enumerate(places))
        d, C = relative(A, B)
        parameter = numbers.number(term.parameter / size)
        if term.kind == "contact":
            curves = [profile.scaled(1.0 / size) for profile in relations.curves]
            gap, rows = contact_of(
                term.numbers[0], curves, d, C, 1.0, lambda _, start: numbers.unknown(start)
            )
            more.extend(rows)
            return gap - parameter
        x = minus(B.place, A.place)
        angle = (x[1], x[0]) if term.kind == "line" else sine_cosine(term.elementary, d, C)
        if angle is None:
            return value(term.elementary, d, C, parameter)
        near = term.near
        theta = numbers.unknown(lambda: near + (atan2(*angle) - near + np.pi) % (2 * np.pi) - np.pi)
        more.append(differs(*angle, theta))
        return theta

    for n, relation in enumerate([*relations.constraints, *driven], -len(relations.constraints)):
        scale = size if relation.is_length else 1.0
        terms = [
            numbers.number(term.factor / (scale if term.is_angle or term.kind == "user" else 1.0))
            * term_of(term)
            for term in relation.terms
        ]
        row = total(terms) - numbers.number(relation.constant / scale)
        found.append(row - numbers.drive(n) if n >= 0 else row)
    return found + more
