"""Loads of inertia and gravity on the bodies, and their energy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from groups.dynamics.state import State
from mbssa import Mechanism
from mbssa.arrays import Floats, Ints
from mbssa.joints.axes import cross, in_space
from mbssa.joints.frames import Frames


@dataclass(frozen=True, eq=False)
class Wrench:
    """A load on a body: ``force`` (T, 3) N at ``point`` (T, 3) m, and ``moment`` (T, 3) N m, world axes."""

    body: int
    point: Floats
    force: Floats
    moment: Floats

    def about(self, centre: Floats) -> Floats:
        """Wrench (T, 6) about another point (T, 3): force, then moment."""
        return np.concatenate([self.force, self.moment + cross(self.point - centre, self.force)], axis=1)

    def power(self, state: State) -> Floats:
        """Power (T,) on its body, W."""
        velocity = state.velocity(self.body, self.point - state.position[self.body])
        moment = (self.moment * state.twist[self.body, :, 3:]).sum(axis=1)
        found: Floats = (self.force * velocity).sum(axis=1) + moment
        return found


@dataclass(frozen=True, eq=False)
class Energy:
    """Kinetic energy (T,) of a motion, J, its derivative by time and the power of gravity, W."""

    kinetic: Floats
    kinetic_power: Floats
    gravity_power: Floats


@dataclass(frozen=True, eq=False)
class MassTable:
    """Bodies with mass; of planar mechanisms centres (b, 2) and moments (b, 1, 1)."""

    body: Ints  # (b,) indices
    mass: Floats  # (b,) kg
    centre: Floats  # (b, 3) m, centre of mass from the body's origin in its own axes
    moment: Floats  # (b, 3, 3) kg m², about the centre of mass in body axes
    gravity: Floats  # (3,) m/s²

    @staticmethod
    def of(mechanism: Mechanism, frames: Frames) -> MassTable:
        """The table of a mechanism."""
        given = [
            (body, geometry.inertia)
            for body, geometry in sorted(mechanism.body_geometry.items())
            if geometry.inertia is not None and body > 0
        ]
        centres = [
            frames.rotation[body].T @ (in_space(np.array(inertia.centre)) - frames.position[body])
            for body, inertia in given
        ]
        return MassTable(
            np.array([body for body, _ in given], dtype=np.int64),
            np.array([inertia.mass for _, inertia in given], dtype=np.float64),
            np.array(centres).reshape(-1, 3),
            np.array([inertia.matrix for _, inertia in given]).reshape(-1, 3, 3),
            np.zeros(3) if mechanism.gravity is None else in_space(np.array(mechanism.gravity)),
        )

    def planar(self) -> MassTable:
        """The same in the plane."""
        centre, moment = (np.ascontiguousarray(a) for a in (self.centre[:, :2], self.moment[:, 2:, 2:]))
        return replace(self, centre=centre, moment=moment)


def massless(mechanism: Mechanism) -> tuple[int, ...]:
    """Indices of the movable bodies without mass."""
    geometry = mechanism.body_geometry
    return tuple(
        body
        for body in range(1, mechanism.n_bodies)
        if body not in geometry or geometry[body].inertia is None
    )


def masses(state: State, bodies: Sequence[int] | None = None) -> tuple[list[Wrench], Energy]:
    """Weight m g, inertia force -m a and moment -(I α + ω × I ω), at the centres of mass; energy."""
    table = MassTable.of(state.mechanism, state.frames)
    energy, change, fall = (np.zeros(state.instants) for _ in range(3))
    loads = []
    for body, mass, centre, matrix in zip(
        table.body.tolist(), table.mass.tolist(), table.centre, table.moment, strict=True
    ):
        if bodies is not None and body not in bodies:
            continue
        arm = state.rotation[body] @ centre
        velocity, second = state.velocity(body, arm), state.second(body, arm)
        spin, faster = state.twist[body, :, 3:], state.acceleration[body, :, 3:]
        momentum, change_of_momentum = _angular(state.rotation[body], matrix, spin, faster)
        weight, force = mass * table.gravity, mass * second
        loads.append(Wrench(body, state.position[body] + arm, weight - force, -change_of_momentum))
        energy += 0.5 * (mass * (velocity**2).sum(axis=1) + (spin * momentum).sum(axis=1))
        change += (force * velocity).sum(axis=1) + (spin * change_of_momentum).sum(axis=1)
        fall += velocity @ weight
    return loads, Energy(energy, change, fall)


def gravity_energy(state: State) -> Floats:
    """Energy (T,) of gravity, J, zero with every centre of mass at the world's origin."""
    table = MassTable.of(state.mechanism, state.frames)
    found = np.zeros(state.instants)
    for body, mass, centre in zip(table.body.tolist(), table.mass.tolist(), table.centre, strict=True):
        found -= mass * ((state.position[body] + state.rotation[body] @ centre) @ table.gravity)
    return found


def _angular(rotation: Floats, matrix: Floats, spin: Floats, faster: Floats) -> tuple[Floats, Floats]:
    """Angular momentum (T, 3) about the centre of mass, and its derivative, world axes."""
    back = rotation.transpose(0, 2, 1)

    def times(vector: Floats) -> Floats:
        found: Floats = (rotation @ (matrix @ (back @ vector[:, :, None])))[:, :, 0]
        return found

    momentum = times(spin)
    return momentum, times(faster) + cross(spin, momentum)
