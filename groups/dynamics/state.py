"""Motion of all bodies in one form: spatial, body by body, world axes; their masses and loads of inertia."""

# Arrays have the time last in memory, and with it first as views. What is computed of vectors has the
# components first, so that the formulas of ``mbssa.graph.frames`` take it.

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from groups.joint_jacobian import PosesOverTime
from groups.rotations import plane_rotation, rotation_of, twist_in_space
from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.graph.frames import Frame, Matrix, Vector, cross, dot, minus, plus, times
from mbssa.graph.nodes import Number
from mbssa.joints.axes import in_space
from mbssa.joints.frames import Frames

if TYPE_CHECKING:
    from groups.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class State(PosesOverTime):
    """Poses, twists and accelerations of N bodies at T instants."""

    twist: Floats  # (N, T, 6) linear of the origin, then angular
    acceleration: Floats  # (N, T, 6)
    trajectory: Trajectory

    @staticmethod
    def of(trajectory: Trajectory, bodies: Sequence[int] | None = None) -> State:
        """State of a trajectory; of some bodies only if they are named, the others are zero."""
        if len(trajectory.kept) < trajectory.mechanism.n_bodies:
            raise ValueError("forces need all bodies; solve without bodies=…")
        if trajectory.velocity is None or trajectory.acceleration is None:
            raise ValueError('forces need accelerations; solve with level="acceleration"')
        mechanism, planar = trajectory.mechanism, trajectory.planar
        which = slice(None) if bodies is None else list(bodies)
        arrays = (trajectory.position, trajectory.orientation, trajectory.velocity, trajectory.acceleration)
        place, flat, *rates = (array.swapaxes(0, 1)[which] for array in arrays)
        rotation = plane_rotation(flat) if planar else rotation_of(flat)
        angle = flat if planar else np.zeros(flat.shape[:2])

        def laid(array: Floats) -> Floats:
            found = np.zeros((mechanism.n_bodies, *array.shape[2:], array.shape[1]))
            found[which] = np.moveaxis(array, 1, -1)
            return np.moveaxis(found, -1, 1)

        motion = (in_space(place), rotation, angle, *map(twist_in_space, rates))
        position, rotation, angle, twist, acceleration = map(laid, motion)
        poses = mechanism, trajectory.reference, position, rotation, angle
        return State(*poses, twist, acceleration, trajectory)

    @cached_property
    def scale(self) -> Floats:
        """(6, 1): size, m, of forces, 1 of moments."""
        return np.array([self.frames.size] * 3 + [1.0] * 3)[:, None]

    def motion(self, body: int) -> Floats:
        """Velocity over the size of a body's point at the point of all loads, angular velocity: (6, T)."""
        linear, spin = np.split(self.twist[body].T, 2)
        moved = np.array(plus(linear, cross(spin, minus(self.point, self.position[body].T))))
        return np.concatenate([moved / self.frames.size, spin])


class Wrench(NamedTuple):
    """A load on a body: ``force`` (3, T) N at ``point`` (3, T) m, and ``moment`` (3, T) N m, world axes."""

    body: int
    point: Floats
    force: Floats
    moment: Floats

    def about(self, centre: Floats) -> Floats:
        """Wrench (6, T) about another point (3, T): force, then moment."""
        return np.concatenate([self.force, self.moment + cross(self.point - centre, self.force)])

    def power(self, state: State) -> Floats:
        """Power (T,) on its body, W."""
        found: Floats = (self.about(state.point) * state.scale * state.motion(self.body)).sum(axis=0)
        return found


#: Mass properties of a body in its own axes: index, mass, kg, centre of mass (3,) m from the body's origin,
#: moment of inertia (3, 3) kg m² about it.
Mass: TypeAlias = tuple[int, float, list[float], list[list[float]]]


def bodies_with_mass(mechanism: Mechanism, frames: Frames) -> list[Mass]:
    """Mass properties of the movable bodies that have any, in their order."""
    return [
        (body, inertia.mass, frames.on_body(body, inertia.centre).tolist(), inertia.matrix.tolist())
        for body, geometry in sorted(mechanism.body_geometry.items())
        if (inertia := geometry.inertia) is not None and body > 0
    ]


def gravity_of(mechanism: Mechanism) -> list[float]:
    """Acceleration (3,) of gravity, m/s²."""
    return [0.0] * 3 if mechanism.gravity is None else in_space(np.array(mechanism.gravity)).tolist()


def massless(mechanism: Mechanism) -> tuple[int, ...]:
    """Indices of the movable bodies without mass."""
    heavy = {body for body, geometry in mechanism.body_geometry.items() if geometry.inertia is not None}
    return tuple(body for body in range(1, mechanism.n_bodies) if body not in heavy)


def masses(
    state: State, bodies: Container[int] | None = None
) -> tuple[list[Wrench], tuple[Floats, Floats, Floats]]:
    """Weight m g, inertia force -m a and moment -(I α + ω × I ω); energy, J, its rate, power of weight, W."""
    kinetic, change, fall = (np.zeros(state.instants) for _ in range(3))
    loads, gravity = [], gravity_of(state.mechanism)
    for body, mass, centre, moment in bodies_with_mass(state.mechanism, state.frames):
        if bodies is not None and body not in bodies:
            continue
        frame, spin = state.frame(body), state.twist[body].T[3:]
        arm, second = frame.along(centre), state.acceleration[body].T
        velocity = plus(state.twist[body].T[:3], cross(spin, arm))
        force = times(mass, plus(second[:3], cross(second[3:], arm), cross(spin, cross(spin, arm))))
        momentum = inertia_times(frame, moment, spin)
        turn = plus(inertia_times(frame, moment, second[3:]), cross(spin, momentum))
        weight, place = times(mass, gravity), np.array(plus(frame.place, arm))
        loads.append(Wrench(body, place, np.array(minus(weight, force)), -np.array(turn)))
        kinetic += 0.5 * (mass * dot(velocity, velocity) + dot(spin, momentum))
        change += dot(force, velocity) + dot(spin, turn)
        fall += dot(weight, velocity)
    return loads, (kinetic, change, fall)


def inertia_times(frame: Frame, moment: Matrix, vector: Vector) -> list[Number]:
    """A moment of inertia in the body's axes times a vector of the world."""
    seen = frame.seen(vector)
    return frame.along([dot(row, seen) for row in moment])
