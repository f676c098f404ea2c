"""Numbers that force elements read, and loads that they exert: arrays of a motion, nodes of a traced one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from groups.dynamics.state import State, Wrench
from groups.joint_jacobian import joint_rows
from groups.results.joints import coordinate_motion
from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.graph.frames import ZERO, Frame, Vector, cross, minus, plus
from mbssa.graph.nodes import Number
from mbssa.joints.axes import in_space
from mbssa.joints.catalogue import is_length
from mbssa.joints.frames import Frames

#: A function of arrays (T,), for what no formula gives: values (T,) each.
Called = Callable[..., Sequence[Floats]]


class At:
    """Bodies and coordinates at an instant, or at T of them, and the loads of elements there."""

    body: Callable[[int], Frame]
    twist: Callable[[int], tuple[Vector, Vector]]  # velocity of a body's origin, and its angular velocity
    coordinate: Callable[[str], tuple[Number, Number]]  # a joint coordinate and its rate
    called: Callable[..., list[Number]]  # a function of arrays at numbers, for as many values as are named
    push: Callable[..., None]  # load a body at a place of space by a force, and by a moment if any
    along: Callable[[str, Number], None]  # exert a force or torque along a joint coordinate

    def __init__(self, mechanism: Mechanism, frames: Frames, time: Number) -> None:
        self.mechanism, self.frames, self.time = mechanism, frames, time
        self.planar = mechanism.space == "planar"

    def point(self, b: int, given: Sequence[float]) -> list[Number]:
        """Place of a body's point, given in world coordinates at the reference."""
        frame = self.body(b)
        return plus(frame.place, frame.along(self.frames.on_body(b, tuple(given)).tolist()))

    def velocity(self, b: int, place: Vector) -> list[Number]:
        """Velocity of the body's point that is at a place."""
        linear, spin = self.twist(b)
        return plus(linear, cross(spin, minus(place, self.body(b).place)))

    def at_reference(self, name: str) -> float:
        """A joint coordinate at the mechanism's reference."""
        from groups.trajectory import at_rest

        still = self.frames.reference
        rest = at_rest(self.mechanism, still, np.arange(self.mechanism.n_bodies), 0, 1)
        return float(coordinate_motion(rest, name).value[0])


class Solved(At):
    """Of a solved motion; the loads are wrenches."""

    def __init__(self, state: State) -> None:
        super().__init__(state.mechanism, state.frames, state.trajectory.time)
        self.state, self.body = state, state.frame
        self.wrenches: list[Wrench] = []

    def twist(self, b: int) -> tuple[Vector, Vector]:
        rows = self.state.twist[b].T
        return rows[:3], rows[3:]

    def coordinate(self, name: str) -> tuple[Number, Number]:
        motion = coordinate_motion(self.state.trajectory, name)
        return motion.value, motion.rate

    def called(self, function: Called, count: int, *numbers: Number) -> list[Number]:
        return list(function(*(self._whole(x) for x in numbers)))

    def push(self, b: int, place: Vector, force: Vector, moment: Vector = ZERO) -> None:
        vectors = (np.array([self._whole(x) for x in v]) for v in (place, force, moment))
        self.wrenches.append(Wrench(b, *vectors))

    def along(self, name: str, effort: Number) -> None:
        joint, coordinate = self.mechanism.place_of(name)
        size = self.frames.size
        scaled = self._whole(effort) * (size if is_length(coordinate) else 1.0)
        for body, of in zip(*joint_rows(self.state, joint, (coordinate,)), strict=True):
            by = of[:, -1] * scaled
            self.wrenches.append(Wrench(body, self.state.point, by[:3] / size, by[3:]))

    def _whole(self, x: Number) -> Floats:
        return np.broadcast_to(x, (self.state.instants,))


def vector_of(given: float | Sequence[float] | None) -> list[float]:
    """Vector in space of a vector, of a planar moment or spin about z, or of nothing."""
    if given is None:
        return [0.0, 0.0, 0.0]
    return [0.0, 0.0, given] if isinstance(given, float) else in_space(np.array(given, dtype=float)).tolist()


def coordinate_fault(mechanism: Mechanism, name: str) -> str:
    """The fault of a text that is to name a coordinate of a joint; empty where it does."""
    joint, _, coordinate = name.rpartition(".") if "." in (name := str(name)) else (name, "", "")
    try:
        there = mechanism.joint(joint).type.drivable
    except KeyError as error:
        return str(error.args[0])
    names = " or ".join(f"{joint}.{each}" for each in there)
    return "" if coordinate in there else f"joint {joint} has {names or 'no coordinates'}"
