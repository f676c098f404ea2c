"""Loads of inertia and gravity on the bodies, and their energy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from groups.dynamics.state import State
from groups.rotations import cross, in_space
from mbssa import Mechanism

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Wrench:
    """A load on a body: ``force`` (T, 3) N at ``point`` (T, 3) m, and ``moment`` (T, 3) N m, world axes."""

    body: int
    point: Floats
    force: Floats
    moment: Floats

    def about(self, centre: Floats) -> Floats:
        """(T, 6) force, and moment about another point (T, 3)."""
        return np.concatenate([self.force, self.moment + cross(self.point - centre, self.force)], axis=1)

    def at(self, instants: npt.NDArray[np.intp]) -> Wrench:
        """The load at some instants."""
        return Wrench(self.body, *(each[instants] for each in (self.point, self.force, self.moment)))

    def power(self, state: State) -> Floats:
        """(T,) W, what it gives to its body."""
        velocity = state.velocity(self.body, self.point - state.position[self.body])
        moment = (self.moment * state.twist[self.body, :, 3:]).sum(axis=1)
        found: Floats = (self.force * velocity).sum(axis=1) + moment
        return found


@dataclass(frozen=True, eq=False)
class Energy:
    """Energy of a motion.

    Attributes
    ----------
    kinetic : (T,) J; kinetic_power : (T,) W, its derivative by time; gravity_power : (T,) W
    """

    kinetic: Floats
    kinetic_power: Floats
    gravity_power: Floats


@dataclass(frozen=True, eq=False)
class Masses:
    """Loads of all bodies that have mass: weight and inertia force, at the centre of mass; their energy."""

    loads: tuple[Wrench, ...]
    energy: Energy


def massless(mechanism: Mechanism) -> tuple[int, ...]:
    """Indices of the movable bodies without mass.

    >>> import mbssa
    >>> massless(mbssa.load("planar_four_bar"))
    (1, 2, 3)
    """
    geometry = mechanism.body_geometry
    return tuple(
        body
        for body in range(1, mechanism.n_bodies)
        if body not in geometry or geometry[body].inertia is None
    )


def masses(state: State, bodies: Sequence[int] | None = None) -> Masses:
    """Weight m g, inertia force -m a and moment -(I α + ω × I ω) of bodies, at their centres of mass."""
    mechanism = state.trajectory.mechanism
    gravity = np.zeros(3) if mechanism.gravity is None else in_space(np.array(mechanism.gravity))
    energy, change, fall = (np.zeros(state.instants) for _ in range(3))
    loads = []
    for body, geometry in sorted(mechanism.body_geometry.items()):
        inertia = geometry.inertia
        if inertia is None or (bodies is not None and body not in bodies):
            continue
        arm = state.arm(body, np.array(inertia.centre))
        velocity, second = state.velocity(body, arm), state.second(body, arm)
        spin, faster = state.twist[body, :, 3:], state.acceleration[body, :, 3:]
        momentum, change_of_momentum = _angular(state.rotation[body], inertia.matrix, spin, faster)
        weight, force = inertia.mass * gravity, inertia.mass * second
        loads.append(Wrench(body, state.position[body] + arm, weight - force, -change_of_momentum))
        energy += 0.5 * (inertia.mass * (velocity**2).sum(axis=1) + (spin * momentum).sum(axis=1))
        change += (force * velocity).sum(axis=1) + (spin * change_of_momentum).sum(axis=1)
        fall += velocity @ weight
    return Masses(tuple(loads), Energy(energy, change, fall))


def _angular(rotation: Floats, matrix: Floats, spin: Floats, faster: Floats) -> tuple[Floats, Floats]:
    """(T, 3) angular momentum about the centre of mass, and its derivative, world axes."""
    back = rotation.transpose(0, 2, 1)

    def times(vector: Floats) -> Floats:
        found: Floats = (rotation @ (matrix @ (back @ vector[:, :, None])))[:, :, 0]
        return found

    momentum = times(spin)
    return momentum, times(faster) + cross(spin, momentum)
