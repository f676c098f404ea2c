"""Closed form of a leg between two points: universal joint, slide or none, ball; it leaves a row or none."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from groups.setting import LockedRotation
from groups.tree import Strut
from mbssa.graph.frames import UNIT, ZERO, Frame, Matrix, Vector, dot, minus, transposed
from mbssa.graph.nodes import Number, div, sqrt
from mbssa.joints.axes import axes_of
from mbssa.joints.equations import SWAP

if TYPE_CHECKING:
    from groups.engine.kinematics import Group, Numbers, Reference

#: Frames by body.
Bodies: TypeAlias = MutableMapping[int, Frame]
#: Origin and axes by rows of a joint's frame on a body.
Side: TypeAlias = tuple[Vector, Matrix]


def place_strut(group: Group, numbers: Numbers, bodies: Bodies, strut: Strut) -> list[Number]:
    """Add the leg's bodies, and return the row of its length where that is known."""
    # D is the line between the points in the axes of the base's pin (z), r the same line in those of the
    # leg's pin (z). A turn about the first pin brings the second to x, a turn about the second brings r to D.
    leg, A = _Leg(group, numbers, strut), _base(group, numbers, bodies, strut)
    D = A.seen(minus(bodies[strut.tip].end(leg.tip_centre, UNIT).place, A.place))
    square, x = dot(D, D), 0.0
    slide, lean = numbers.given(("mode", strut.bodies), group.modes[strut])
    if strut.slide_driven:
        x = numbers.drive(group.setting.drives[strut.slide, "slide"])
    elif strut.slide >= 0:  # |r + x a|^2 = D^2, on the side of the reference
        r = leg.line(0.0)
        half = dot(r, minus(leg.line(1.0), r))
        root = half * half + square - dot(r, r)
        group.reach.append(div(root, square))
        x = slide * sqrt(root) - half
    r = leg.line(x)
    flat, round_ = D[0] * D[0] + D[1] * D[1], r[0] * r[0] + r[1] * r[1]
    root = flat - r[2] * r[2]
    group.gimbal.append(div(root, square))
    v = -lean * sqrt(root)
    frame = A.turn(2, ((r[2] * D[0] + v * D[1]) / flat, (r[2] * D[1] - v * D[0]) / flat))
    frame = Frame(frame.place, frame.turned(SWAP), frame.angle, frame.motion)
    frame = frame.turn(2, ((r[0] * D[2] - r[1] * v) / round_, (-r[0] * v - r[1] * D[2]) / round_))
    bodies[strut.bodies[0]], bodies[strut.bodies[-1]], _ = leg.placed(frame, x)
    return [sqrt(square) - sqrt(dot(r, r))] if strut.is_rod else []


def squares_of(group: Group, numbers: Numbers, bodies: Bodies, strut: Strut) -> tuple[Number, Number]:
    """Squares of the distance of a leg's ends and of its length, which is known."""
    leg, A = _Leg(group, numbers, strut), _base(group, numbers, bodies, strut)
    D = minus(bodies[strut.tip].end(leg.tip_centre, UNIT).place, A.place)
    is_driven = strut.slide_driven
    r = leg.line(numbers.drive(group.setting.drives[strut.slide, "slide"]) if is_driven else 0.0)
    return dot(D, D), dot(r, r)


def mode_of(group: Group, numbers: Reference, bodies: Bodies, strut: Strut) -> tuple[float, float]:
    """Signs of slide and lean with which the leg stands as at the reference, by trial."""
    reference, misses = group.setting.reference, dict[tuple[float, float], float]()
    for signs in ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)):
        group.modes[strut] = signs
        numbers.uses.given.pop(("mode", strut.bodies), None)
        group.reach, group.gimbal = [], []
        placed = {**bodies, 0: group.ground, strut.base: bodies[strut.base], strut.tip: bodies[strut.tip]}
        try:
            place_strut(group, numbers, placed, strut)
        except (ZeroDivisionError, ValueError):
            continue
        misses[signs] = sum(
            np.abs(np.array(placed[b].axes).T - reference.rotation[b]).max()
            + np.abs(np.array(placed[b].place) - reference.position[b]).max() / group.frames.size
            for b in strut.bodies
        )
    numbers.uses.given.pop(("mode", strut.bodies), None)
    return min(misses, key=lambda signs: misses[signs]) if misses else (1.0, 1.0)


def _side(group: Group, numbers: Numbers, j: int, body: int) -> Side:
    return group.side(numbers, j, group.mechanism.joint_bodies(j)[:2].index(body))


def _spin(group: Group, strut: Strut) -> LockedRotation:
    return next(spin for spin in group.setting.spins if spin.body in strut.bodies)


def _base(group: Group, numbers: Numbers, bodies: Bodies, strut: Strut) -> Frame:
    """Frame of the first pin, z along it."""
    A = bodies[strut.base].end(*_side(group, numbers, strut.pin, strut.base))
    if not strut.held:
        return A
    # The pins of the convention for passive rotations: moves with the point, turns with the frame.
    pin = numbers.given(("pin", strut.pin), axes_of(_spin(group, strut).in_frame))
    at = Frame(ZERO, UNIT).shift(0, A.place[0]).shift(1, A.place[1]).shift(2, A.place[2])
    return at.end(ZERO, transposed(group.ground.turned(pin)))


class _Leg:
    """A leg by itself, from the frame of its pin."""

    def __init__(self, group: Group, numbers: Numbers, strut: Strut) -> None:
        first, last = strut.bodies[0], strut.bodies[-1]
        self.strut = strut
        self.foot, self.pin = _side(group, numbers, strut.pin, first)
        self.tip = _side(group, numbers, strut.ball, last)[0]
        self.tip_centre = _side(group, numbers, strut.ball, strut.tip)[0]
        if strut.slide >= 0:
            self.near = group.mechanism.joint_bodies(strut.slide)[:2].index(first)
            self.sides = [group.side(numbers, strut.slide, k) for k in (self.near, 1 - self.near)]
        if strut.held:
            spin, axes = _spin(group, strut), group.frames.axes
            turned = spin.body != first
            turn = axes[strut.slide, self.near] @ axes[strut.slide, 1 - self.near].T if turned else np.eye(3)
            self.pin = numbers.given(("own", strut.pin), axes_of(turn @ spin.in_body))

    def placed(self, frame: Frame, x: Number) -> tuple[Frame, Frame, Vector]:
        """First and last body and the ball's centre, from the frame of the leg's pin and the slide."""
        first = last = frame.back(self.foot, self.pin)
        if self.strut.slide >= 0:
            slid = first.end(*self.sides[0]).shift(2, -x if self.near else x)
            last = slid.back(*self.sides[1])
        return first, last, last.end(self.tip, UNIT).place

    def line(self, x: Number) -> Vector:
        """From the pin to the ball, in the axes of the leg's pin."""
        return self.placed(Frame(ZERO, UNIT), x)[2]
