"""Equations of motion in the coordinates of all bodies, every joint cut, as nodes of one graph."""

# Inputs "x" are places and orientations of the movable bodies, angles or quaternions, then further unknowns
# of joints: places on curves, angles that count turns. Inputs "v" are the bodies' twists, then their rates.

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.dynamics.forward.traced import Traced, along
from groups.engine.kinematics import Group
from groups.rotations import quaternion_of
from groups.tree import GroupTree
from mbssa.graph.derivative import Direction, Twist
from mbssa.graph.frames import UNIT, Frame, Motion, Vector, carried, cross, dot, plus, times
from mbssa.graph.nodes import Node, Number, cos, is_zero, sin
from mbssa.graph.source import functions

if TYPE_CHECKING:
    from groups.setting import Setting
    from mbssa.arrays import Floats


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


class Bodies(Traced):
    """Rows of all joints by the bodies, with their derivatives, and the balance of masses and forces."""

    def _begin(self, setting: Setting, inputs: Floats) -> None:
        mechanism = self.mechanism
        self.law_rows = []
        #: Numbers of a body's pose and of its twist.
        self.wide, self.degrees = (3, 3) if self.planar else (7, 6)
        pose = setting.reference
        self.start += self.posed(
            pose.position, pose.angle if self.planar else quaternion_of(pose.rotation)
        ).tolist()
        #: Numbers of all poses, and of all twists: those of further unknowns follow.
        self.poses, self.twists = len(self.start), self.degrees * (mechanism.n_bodies - 1)
        self.first = self.poses

    def drive(self, row: int) -> Node:
        return self.graph.input("law", 3 * row)

    def body(self, b: int) -> Frame:
        if b in self.bodies:
            return self.bodies[b]
        first, motion = (b - 1) * self.wide, Motion(None, body=b)
        x: list[Number] = [self.graph.input("x", first + k) for k in range(self.wide)]
        if self.planar:
            c, s = cos(x[2]), sin(x[2])
            place, axes, angle = [*x[:2], 0.0], [[c, s, 0.0], [-s, c, 0.0], UNIT[2]], x[2]
        else:
            place, axes, angle = x[:3], [_turned(x[3:], e) for e in UNIT], 0.0
        # Carried twice: a rate is made of what the vectors are themselves, and has a rate again.
        place = carried(motion, carried(motion, place, True), True)
        return Frame(place, [carried(motion, carried(motion, e)) for e in axes], angle, motion)

    def made(self, setting: Setting) -> list[Group]:
        """The mechanism as one group."""
        places = [self.mechanism.place_of(name) for name in self.laws]
        inputs = np.array([setting.inputs[setting.drives[place]] for place in places])
        setting = replace(setting, drives={place: i for i, place in enumerate(places)}, inputs=inputs)
        group = self.group = Group(setting, GroupTree(1, (0,), (), tuple(range(self.mechanism.n_joints)), ()))
        group.own, group.spins = [*range(1, self.mechanism.n_bodies)], list(setting.spins)
        group.find_reference(closed_forms=False)
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

        def moving(rate: Callable[[int], Number], more: dict[str, Callable[[Any], Number]]) -> Direction:
            def body(b: int) -> Twist:
                x = [rate((b - 1) * self.degrees + k) for k in range(self.degrees)]
                linear, spin = ([*x[:2], 0.0], [0.0, 0.0, x[2]]) if self.planar else (x[:3], x[3:])
                return plus(linear, cross(self.bodies[b].place, spin)), spin

            # Of a body the angle in the plane alone is no vector that is carried.
            return along({"x": lambda k: rate(k - self.poses + self.twists)} | more, body)

        v, law, pose = partial(make, "v"), self._law(), (1 << self.wide) - 1
        self.steady, self.moving = moving(v, law), moving(v, law | {"v": partial(make, "a")})
        self.columns = [moving(partial(_unit, k), {}) for k in range(self.w)]
        bits = [pose << k // self.degrees * self.wide for k in range(self.twists)]
        bits += [1 << k for k in range(self.poses, self.n)]
        self.units = list(zip(self.columns, bits, strict=True))

    @cached_property
    def scale(self) -> Floats:
        """(m,) one over the size of rows that are lengths, which go with places; else 1."""
        linear = {r for r, k in self.jacobian if k < self.twists and self.unit[k] != 1.0}
        return np.array([1.0 / self.frames.size if r in linear else 1.0 for r in range(self.m)])

    @cached_property
    def motion(self) -> Callable[[Mapping[str, Sequence[float]], Floats], tuple[Any, ...]]:
        """A function of the inputs and of turns (m,) in the rows."""
        # It gives rows (4, m): residuals, rates, second rates, rates by the laws; J, masses, forces, power.
        masses = {(k, i): x for k, row in enumerate(self.mass) for i, x in enumerate(row) if not is_zero(x)}
        rows = [*self.rows, *self.rates, *self.bias, *self.moved, *self.jacobian.values()]
        results = [*rows, *self.force, self.power, *masses.values()]
        (function, _), inputs = functions("motion", [], results)
        ends = np.cumsum([4 * self.m, len(self.jacobian), self.w, 1]).tolist()
        places = tuple(np.array([*self.jacobian], dtype=np.int64).reshape(-1, 2).T)
        k, i = np.array([*masses], dtype=np.int64).reshape(-1, 2).T
        body, row, column = k // self.degrees, k % self.degrees, i % self.degrees

        def motion(given: Mapping[str, Sequence[float]], turns: Floats) -> tuple[Any, ...]:
            values = np.array(function([given[name][k] for name, k in inputs], ()), dtype=np.float64)
            every, slopes, force, power, masses = np.split(values, ends)
            rows = every.reshape(4, self.m)
            rows[0] -= turns
            J = np.zeros((self.m, self.w))
            M = np.zeros((self.twists // self.degrees, self.degrees, self.degrees))
            J[places] = slopes
            M[body, row, column] = M[body, column, row] = masses
            return rows * self.scale, J * self.scale[:, None], M, force, float(power[0])

        return motion
