"""Body coordinates of all bodies, with masses, constraints and their derivatives at one instant."""

# Shared by the methods lagrange, penalty and dae. The constraints are those of the global approach, by type
# of joint; neither the groups nor their trees are used.

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from groups.dynamics.forward.equations import Measured
from groups.dynamics.forward.loads import Loads
from groups.global_approach import system_of
from groups.motion import Law, drive_rows, reference_inputs
from groups.passive_rotations import locked_rotations
from groups.rotations import plane_rotation, rotation_of, twist_in_space
from groups.setting import Setting
from groups.trajectory import Trajectory
from mbssa import Structure
from mbssa.arrays import Floats
from mbssa.joints.axes import in_space
from mbssa.joints.frames import Frames
from mbssa.joints.poses import Poses
from mbssa.joints.system import unknowns

#: Steps of Newton's method for further unknowns at most, and the size of the last.
STEPS, SMALL = 10, 1e-13
#: Residuals of closed joints from which on they are turns.
TURNED = 1e-2


@dataclass(frozen=True, eq=False)
class Rows:
    """Equations at one instant, less the motion of prescribed coordinates; lengths over the size."""

    residual: Floats  # (E,)
    jacobian: Floats  # (E, n) by the twists of the movable bodies' origins, m/s and rad/s
    rate: Floats  # (E,)
    bias: Floats  # (E,) second time derivative at zero accelerations
    given: Floats


class Solved(NamedTuple):
    """One evaluation: accelerations (n,), power of the loads, W, multipliers (E,)."""

    second: Floats
    power: float
    multipliers: Floats


class Constraints:
    """Constraints of all joints, and those of the prescribed coordinates."""

    def __init__(
        self, structure: Structure, frames: Frames, begin: Poses, laws: Mapping[str, Law], t: float
    ) -> None:
        mechanism = structure.mechanism
        self.laws, places = list(laws.values()), {mechanism.place_of(name): k for k, name in enumerate(laws)}
        start = reference_inputs(mechanism, frames, begin)
        inputs = np.array([start[row] for row in map(drive_rows(mechanism).__getitem__, places)])
        spins = locked_rotations(structure, frames)
        system = self.system = system_of(Setting(structure, frames, begin, places, inputs, spins))
        self._state = system.start
        self.size, self.columns = frames.size, system.columns
        self.n = system.n - len(system.starts)
        unknown = np.array([name == "unknown" for _, name, _ in system.labels])
        #: Rows of constraints, and those that determine further unknowns.
        self.own, self._more = np.flatnonzero(~unknown), np.flatnonzero(unknown)
        #: Joint of each constraint, -1 of a passive rotation.
        self.source = np.array([j for j, _, _ in system.labels])[self.own]
        linear = np.tile(np.array(self.columns) < 3, mechanism.n_bodies - 1)
        self.unit = np.where(linear, frames.size, 1.0)
        #: Whole turns of sums of angles at the beginning, where the joints are closed.
        self._turns = np.zeros(len(self.own))
        still = np.zeros((mechanism.n_bodies, 6))
        first = self.at(t, begin.position, begin.rotation, still, begin.angle).residual
        self._turns = np.where(np.abs(first) > TURNED, first, 0.0)

    def at(self, t: float, position: Floats, rotation: Floats, twist: Floats, angle: Floats) -> Rows:
        """Rows at position (N, 3), rotation (N, 3, 3), twist (N, 6), planar angle (N,) with its turns."""
        system, state, own, more = self.system, self._state, self.own, self._more
        state.pose[: system.linear, :, 0] = position[:, : system.linear].T / self.size
        system.turn(state.pose, angle[:, None] if system.planar else rotation[:, None])
        for k, law in enumerate(self.laws):
            state.inputs[:, k] = np.array(law(np.array([t]))) / system.units[k]
        for _ in range(STEPS):
            residual, J, E = self._rows()
            if not len(more):
                break
            step = np.linalg.solve(J[more, self.n :], residual[more])
            state.unknown[:, 0] -= step
            if np.abs(step).max() < SMALL:
                break
        state.motion[:] = 0.0
        by_law = system.rates("rate", state)[:, 0] if self.laws else np.zeros(system.m)
        velocity = twist[:, list(self.columns)] / self.unit[: len(self.columns)]
        state.motion[0, : velocity.size, 0] = velocity.ravel()
        rate = by_law + J[:, : self.n] @ velocity[1:].ravel()
        if len(more):
            state.motion[0, velocity.size :, 0] = -np.linalg.solve(J[more, self.n :], rate[more])
        bias = self._reduced(system.rates("second", state)[:, 0], E)
        jacobian = (J[own] - E @ J[more])[:, : self.n] / self.unit
        off = self._reduced(residual, E) - self._turns
        return Rows(off, jacobian, self._reduced(rate, E), bias, -self._reduced(by_law, E))

    def _rows(self) -> tuple[Floats, Floats, Floats]:
        """All rows, their derivatives, and the share of those of further unknowns in the constraints."""
        system = self.system
        residual, entries = system.step(self._state)
        J = system.dense(entries)[0]
        more = self._more
        E = np.zeros((len(self.own), len(more)))
        if len(more):
            E[:] = np.linalg.solve(J[more, self.n :].T, J[self.own, self.n :].T).T
        return residual[:, 0], J, E

    def _reduced(self, rows: Floats, E: Floats) -> Floats:
        """Constraints without the further unknowns."""
        return rows[self.own] - E @ rows[self._more]


class Bodies:
    """The state vector: positions, orientations and twists of the movable bodies, then the work of loads."""

    def __init__(self, loads: Loads, begin: Trajectory) -> None:
        self.loads, self.planar, self.n = loads, loads.planar, loads.mechanism.n_bodies
        self.wide = (2, 1, 3) if self.planar else (3, 4, 6)
        assert begin.velocity is not None
        first = [x[0].reshape(self.n, -1) for x in (begin.position, begin.orientation, begin.velocity)]
        self.frame = [x[:1] for x in first]
        self.start = np.concatenate([*(x[1:].ravel() for x in first), [0.0]])  # without work
        ends = np.cumsum([0, *((self.n - 1) * w for w in self.wide)])
        self.parts = [slice(int(a), int(b)) for a, b in itertools.pairwise(ends)]

    def unpacked(self, y: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats, Floats]:
        """Position, orientation, velocity; in space position (N, 3), rotation (N, 3, 3), twist (N, 6)."""
        position, turn, velocity = (
            np.concatenate([frame, y[at].reshape(-1, wide)])
            for frame, at, wide in zip(self.frame, self.parts, self.wide, strict=True)
        )
        if self.planar:
            angle, twist = turn[:, 0], twist_in_space(velocity)
            return position, angle, velocity, in_space(position), plane_rotation(angle), twist
        turn /= np.linalg.norm(turn, axis=1, keepdims=True)
        return position, turn, velocity, position, rotation_of(turn), velocity

    def turned(self, orientation: Floats, spin: Floats) -> Floats:
        """Rate of the movable bodies' orientations for angular velocities, planar (N - 1, 1), flat."""
        if self.planar:
            return spin[:, 0]
        w, x, y, z = orientation[1:].T
        a, b, c = spin.T
        rate = np.stack(
            [-a * x - b * y - c * z, a * w + b * z - c * y, -a * z + b * w + c * x, a * y - b * x + c * w],
            axis=1,
        )
        return 0.5 * rate.ravel()

    def inertia(self, t: float, parts: tuple[Floats, ...]) -> tuple[Floats, Floats, Floats]:
        """Masses (N - 1, 3 or 6, …) by origins' twists, forces (n,) with gyroscopic ones, loads (N, …)."""
        *_, rotation, twist = parts
        loads = self.loads.at(t, parts)
        table = self.loads.table
        free = list(unknowns(self.loads.mechanism.space))
        M, f = np.zeros((self.n, 6, 6)), np.zeros((self.n, 6))
        f[:, free] = loads
        moment = rotation[table.body] @ table.moment @ rotation[table.body].swapaxes(1, 2)
        arm = (rotation[table.body] @ table.centre[:, :, None])[:, :, 0]
        spin = twist[table.body, 3:]
        m = table.mass[:, None]
        x, y, z = arm.T
        zero = np.zeros_like(x)
        hat = np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]]).transpose(
            2, 0, 1
        )  # of products arm × …
        M[table.body, :3, :3] = m[:, :, None] * np.eye(3)
        M[table.body, :3, 3:] = -m[:, :, None] * hat
        M[table.body, 3:, :3] = m[:, :, None] * hat
        about = moment - m[:, :, None] * (hat @ hat)
        M[table.body, 3:, 3:] = about
        f[table.body, :3] += m * (table.gravity - np.cross(spin, np.cross(spin, arm)))
        f[table.body, 3:] += m * np.cross(arm, table.gravity) - np.cross(
            spin, (about @ spin[:, :, None])[:, :, 0]
        )
        return M[1:][:, free][:, :, free], f[1:, free].ravel(), loads

    def moved(self, y: Floats, step: Floats) -> Floats:
        """A state with every movable body displaced by a small motion (n,) of its origin."""
        p, _, v = self.wide
        step = step.reshape(-1, v)
        found = y.copy()
        found[self.parts[0]] += step[:, :p].ravel()
        _, orientation, *_ = self.unpacked(y)
        change = self.turned(orientation, step[:, p:])
        if self.planar:
            found[self.parts[1]] += change
        else:
            quaternion = orientation[1:] + change.reshape(-1, 4)
            quaternion /= np.linalg.norm(quaternion, axis=1, keepdims=True)
            found[self.parts[1]] = quaternion.ravel()
        return found


class BodyCoordinates(ABC):
    """Equations of motion in the coordinates of all bodies, which serve in every position."""

    def __init__(
        self, structure: Structure, frames: Frames, at: Poses, loads: Loads,
        laws: Mapping[str, Law], begin: Trajectory,
    ) -> None:  # fmt: skip
        self.mechanism, self.evaluations, self.t = structure.mechanism, 0, float(begin.time[0])
        self.loads = loads
        self.constraints = Constraints(structure, frames, at, laws, self.t)
        self.bodies = Bodies(loads, begin)
        self.start = self.bodies.start

    @property
    def longest_step(self) -> float:
        """s that a step may take, so that turns are counted."""
        return self.loads.longest_step

    @abstractmethod
    def solved(self, t: float, parts: tuple[Floats, ...], rows: Rows) -> Solved:
        """Accelerations at a state in parts, with the equations there."""

    def rate(self, t: float, y: Floats) -> Floats:
        if not np.isfinite(y).all():
            return np.full(len(y), np.nan)
        parts, rows = self.at(t, y)
        found = self.solved(t, parts, rows)
        _, orientation, velocity, *_ = parts
        linear, spin = np.split(velocity[1:], [self.bodies.wide[0]], axis=1)
        turned = self.bodies.turned(orientation, spin)
        return np.concatenate([linear.ravel(), turned, found.second, [found.power]])

    def sample(self, t: float, y: Floats) -> Floats:
        """The bodies, flat, then errors of the constraints and of their rates, m and m/s, and the work."""
        parts, rows = self.at(t, y)
        acceleration = np.zeros((self.bodies.n, self.bodies.wide[2]))
        acceleration[1:] = self.solved(t, parts, rows).second.reshape(-1, self.bodies.wide[2])
        off = [np.abs(x).max(initial=0.0) * self.constraints.size for x in (rows.residual, rows.rate)]
        return np.concatenate([*(x.ravel() for x in (*parts[:3], acceleration)), off, y[-1:]])

    def measured(self, time: Floats, samples: Floats) -> Measured:
        """All bodies at samples."""
        p, o, v = self.bodies.wide
        ends = self.bodies.n * np.cumsum([p, o, v, v])
        *parts, rest = np.split(samples, ends, axis=1)
        place, turn, velocity, acceleration = (x.reshape(len(time), self.bodies.n, -1) for x in parts)
        turn = turn[..., 0] if self.bodies.planar else turn
        return Measured(place, turn, velocity, acceleration, np.ones(len(time)), rest[:, :2].T, rest[:, 2])

    def weakest(self, t: float, sample: Floats) -> str:
        """No group: the system is one."""
        return "the whole mechanism"

    def at(self, t: float, y: Floats) -> tuple[tuple[Floats, ...], Rows]:
        """The state in parts, and the equations there."""
        parts = self.bodies.unpacked(y)
        _, orientation, _, in_space, rotation, twist = parts
        angle = orientation if self.bodies.planar else np.zeros(self.bodies.n)
        return parts, self.constraints.at(t, in_space, rotation, twist, angle)
