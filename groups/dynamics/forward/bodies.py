"""Equations of motion in the coordinates of all bodies, every joint cut, as nodes of one graph."""

# Inputs "x" are places and orientations of the movable bodies, angles or quaternions, then further unknowns
# of joints: places on curves, angles that count turns. Inputs "v" are the bodies' twists, then their rates.

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.dynamics.forward.traced import Coordinates, Traced
from groups.engine.kinematics import Closure, Group
from groups.engine.numbers import Known, Numbers
from groups.rotations import quaternion_of
from groups.tree import GroupTree, Link
from mbssa.graph.derivative import Direction, Twist
from mbssa.graph.frames import UNIT, Frame, Motion, Vector, carried, cross, dot, plus, times
from mbssa.graph.nodes import Graph, Number, cos, is_zero, sin
from mbssa.graph.source import Printed, functions

if TYPE_CHECKING:
    from groups.setting import Setting
    from mbssa.arrays import Floats
    from mbssa.joints.relations import Relation


class _Free(Coordinates):
    """Bodies as inputs "x": place, and an angle or a quaternion; prescribed coordinates are those of laws."""

    def __init__(self, graph: Graph, first: int, planar: bool) -> None:
        super().__init__(graph, first, {})
        self.planar, self.wide = planar, 3 if planar else 7

    def drive(self, row: int) -> Number:
        return self.graph.input("law", 3 * row)

    def body(self, b: int) -> Frame:
        first, motion = (b - 1) * self.wide, Motion(None, body=b)
        x: list[Number] = [self.graph.input("x", first + k) for k in range(self.wide)]
        if self.planar:
            c, s = cos(x[2]), sin(x[2])
            place, axes, angle = [*x[:2], 0.0], [[c, s, 0.0], [-s, c, 0.0], UNIT[2]], x[2]
        else:
            place, axes, angle = x[:3], [_turned(x[3:], e) for e in UNIT], 0.0
        return Frame(carried(motion, place, True), [carried(motion, e) for e in axes], angle, motion)


def _turned(quaternion: Vector, e: Vector) -> list[Number]:
    """A vector turned by a unit quaternion."""
    twice = times(2.0, cross(quaternion[1:], e))
    return plus(e, times(quaternion[0], twice), cross(quaternion[1:], twice))


def turning(quaternion: Vector, spin: Vector) -> list[Number]:
    """Rate of a unit quaternion by an angular velocity."""
    (w, *axis), half = quaternion, times(0.5, spin)
    return [-1.0 * dot(half, axis), *plus(times(w, half), cross(half, axis))]


def _unit(k: int, i: int) -> Number:
    return float(i == k)


class _Cut(Group):
    """All bodies as one group without a tree."""

    def placed(self, numbers: Numbers, values: Mapping[Any, Number]) -> dict[int, Frame]:
        self.values = values
        return Known(numbers, self.ground)

    def evaluate(self, numbers: Numbers) -> tuple[dict[int, Frame], list[Number]]:
        self.gaps, self.ends = [], []
        closure = _Further(self, numbers, self.placed(numbers, {}))
        #: Joint of each row, -1 of a passive rotation.
        self.source: list[int] = []
        for j in self.cuts:
            closure.close(j)
            self.source += [j] * (len(closure.rows) - len(self.source))
        closure.rows += map(closure.held, self.spins)
        self.source += [-1] * len(self.spins)
        self.further = closure.further
        return closure.bodies, closure.rows


@dataclass(eq=False)
class _Further(Closure):
    """Rows of joints, and which of them determine further unknowns."""

    further: list[int] = field(default_factory=list)

    def sum(self, j: int, relation: Relation) -> Number:
        first = len(self.rows)
        found = super().sum(j, relation)
        self.further += range(first, len(self.rows))
        return found


class Bodies(Traced):
    """Rows of all joints by the bodies, with their derivatives, and the balance of masses and forces."""

    def _begin(self, setting: Setting, inputs: Floats) -> Coordinates:
        mechanism = self.mechanism
        self.law_rows = []
        #: Numbers of a body's pose and of its twist.
        self.wide, self.degrees = (3, 3) if self.planar else (7, 6)
        pose = setting.reference
        self.start += self.posed(
            pose.position, pose.angle if self.planar else quaternion_of(pose.rotation)
        ).tolist()
        for _ in range(1, mechanism.n_bodies):
            self.lengths += [k < (2 if self.planar else 3) for k in range(self.wide)]
        #: Numbers of all poses, and of all twists: those of further unknowns follow.
        self.poses, self.twists = len(self.start), self.degrees * (mechanism.n_bodies - 1)
        return _Free(self.graph, self.poses, self.planar)

    def made(self, setting: Setting) -> list[Group]:
        """The mechanism as one group."""
        places = [self.mechanism.place_of(name) for name in self.laws]
        inputs = np.array([setting.inputs[setting.drives[place]] for place in places])
        setting = replace(setting, drives={place: i for i, place in enumerate(places)}, inputs=inputs)
        links = tuple(Link(0, b, -1, True) for b in range(1, self.mechanism.n_bodies))
        joints = tuple(range(self.mechanism.n_joints))
        group = _Cut(setting, GroupTree(1, (0,), links, joints, ()), None, {}, 0)
        group.find_reference(closed_forms=False)
        self.group = group
        return [group]

    def posed(self, position: Floats, orientation: Floats) -> Floats:
        """Places and orientations of the movable bodies, one body after another."""
        at = position[1:, : 2 if self.planar else 3]
        return np.concatenate([at, orientation[1:].reshape(len(at), -1)], axis=1).ravel()

    def _direct(self) -> None:
        self.free = self.w = self.twists + self.n - self.poses
        make = self.graph.input
        k, linear = np.arange(self.w), 2 if self.planar else 3
        self.unit = np.where((k < self.twists) & (k % self.degrees < linear), self.frames.size, 1.0)

        def along(rate: Callable[[int], Number], of: Callable[[str, Any], Number]) -> Direction:
            def rates(name: str, k: Any) -> Number:
                if name != "x":
                    return of(name, k)
                b, i = divmod(k, self.wide)
                if self.planar or k >= self.poses:
                    return rate(k - self.poses + self.twists)
                if i < 3:
                    return rate(6 * b + i)
                quaternion = [make("x", 7 * b + i) for i in range(3, 7)]
                return turning(quaternion, [rate(6 * b + i) for i in range(3, 6)])[i - 3]

            def body(b: int) -> Twist:
                x = [rate((b - 1) * self.degrees + k) for k in range(self.degrees)]
                linear, spin = ([*x[:2], 0.0], [0.0, 0.0, x[2]]) if self.planar else (x[:3], x[3:])
                return plus(linear, cross(self.bodies[b].place, spin)), spin

            return Direction(rates, body)

        def second(name: str, k: Any) -> Number:
            return make("a", k) if name == "v" else self._of_law(name, k)

        self.columns = [along(partial(_unit, k), lambda *_: 0.0) for k in range(self.w)]
        self.steady = along(partial(make, "v"), self._of_law)
        self.time = along(partial(make, "v"), second)

    @cached_property
    def scale(self) -> Floats:
        """(m,) one over the size of rows that are lengths, which go with places; else 1."""
        linear = {r for r, k in self.jacobian if k < self.twists and self.unit[k] != 1.0}
        return np.array([1.0 / self.frames.size if r in linear else 1.0 for r in range(self.m)])

    @cached_property
    def _masses(self) -> dict[tuple[int, int], Number]:
        """Entries of the lower triangle of the mass matrix."""
        return {(k, i): x for k, row in enumerate(self.mass) for i, x in enumerate(row) if not is_zero(x)}

    @cached_property
    def _printed(self) -> Printed:
        rows = [*self.rows, *self.rates, *self.bias, *self.moved, *self.jacobian.values()]
        return functions("motion", [], [*rows, *self.force, self.power, *self._masses.values()])

    @cached_property
    def _places(self) -> list[tuple[Any, ...]]:
        """Places of slopes by row and column, and of masses by body, row and column."""
        row, column = np.array([*self.jacobian], dtype=np.int64).reshape(-1, 2).T
        k, i = np.array([*self._masses], dtype=np.int64).reshape(-1, 2).T
        return [(row, column), (k // self.degrees, k % self.degrees, i % self.degrees)]

    def motion(
        self, given: Mapping[str, Sequence[float]], turns: Floats
    ) -> tuple[Floats, Floats, Floats, Floats, float]:
        """Rows (4, m): residuals, rates, second rates, rates by the laws; J, masses, forces, power."""
        (of_floats, _), inputs = self._printed
        values = np.array(of_floats([given[name][k] for name, k in inputs], ()), dtype=np.float64)
        ends = np.cumsum([4 * self.m, len(self.jacobian), self.w, 1]).tolist()
        every, slopes, force, power, masses = np.split(values, ends)
        rows = every.reshape(4, self.m)
        rows[0] -= turns
        rows[3] *= -1.0
        J, M = np.zeros((self.m, self.w)), np.zeros((self.twists // self.degrees, self.degrees, self.degrees))
        J[self._places[0]] = slopes
        body, row, column = self._places[1]
        M[body, row, column] = M[body, column, row] = masses
        return rows * self.scale, J * self.scale[:, None], M, force, float(power[0])

    def _units(self) -> Iterator[tuple[Direction, int]]:
        body = (1 << self.wide) - 1
        for k, by in enumerate(self.columns):
            if k < self.twists:
                yield by, body << k // self.degrees * self.wide
            else:
                yield by, 1 << self.poses + k - self.twists
