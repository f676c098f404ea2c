"""Many bodies as one system of equations, and where they stand and how they move at many instants."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from groups.global_solver.rows import (
    PLANAR,
    SPATIAL,
    Input,
    Kind,
    Numbers,
    Written,
    joint_of,
    kind_of,
    spin_of,
)
from groups.motion import Motion
from groups.setting import Setting
from groups.status import DROPPED, NOT_COMPUTED, OK
from mbssa.arrays import Bools, Floats, Ints
from mbssa.graph.frames import Frame, cross
from mbssa.joints.catalogue import is_length


class State:
    """All bodies (N) and inputs (D) at T instants, lengths in sizes of the mechanism, and their quality."""

    def __init__(self, X: Floats, shape: tuple[int, int, int, int]) -> None:
        self.X, self.shape, T = X, shape, X.shape[1]
        numbers, bodies, inputs, unknowns = shape
        ends = np.cumsum([numbers * bodies, 3 * inputs, unknowns]).tolist()
        pose, given, self.unknown, motion = np.split(X[:-4], ends)
        #: (T,) each.
        self.status, self.residual, self.steps, self.condition = X[-4:]
        self.pose = pose.reshape(numbers, bodies, T)  # (5 or 12, N, T) as in rows
        self.inputs = given.reshape(3, inputs, T)  # values, rates, second derivatives
        #: (2, W, T) twists of the origins, body by body, and rates of the unknowns; accelerations.
        self.motion = motion.reshape(2, len(motion) // 2, T)

    @property
    def sound(self) -> Bools:
        """(T,) whether an instant has a pose."""
        return np.isin(self.status, (OK, DROPPED))

    def at(self, which: Any) -> State:
        """A copy of some of the instants."""
        return State(np.array(self.X[:, which], order="C"), self.shape)


class Joints(NamedTuple):
    """Joints (J) of one kind: geometry, and by printed function the rows (inputs, J) of a state it reads."""

    kind: Kind
    joints: int
    given: list[Floats]  # (J, 1) each
    reads: dict[str, Ints]

    def results(self, which: str, state: State) -> list[Floats]:
        """Results (J, T) of a printed function."""
        found = self.kind.functions[which][0][1](state.X[self.reads[which]], self.given)
        return [np.broadcast_to(x, (self.joints, state.X.shape[1])) for x in found]


class System:
    """All equations of some joints, and of the passive rotations that are held, on the bodies of a stage."""

    # The first `known` bodies of the stage are given.

    def __init__(self, setting: Setting, joints: Sequence[int], stage: Sequence[int], known: int = 1) -> None:
        self.size, self.planar, self.known = setting.frames.size, setting.planar, known
        self.wide, self.linear, numbers = (3, 2, PLANAR) if self.planar else (6, 3, SPATIAL)
        #: Of the components of a twist, m and rad in theirs.
        self.scale = np.where(np.arange(self.wide) < self.linear, self.size, 1.0)
        self.stage, self.bodies = np.array(stage, dtype=np.int64), len(stage)
        self.units = np.ones(len(setting.inputs))
        self.units[[row for (_, name), row in setting.drives.items() if is_length(name)]] = self.size
        every = [joint_of(setting, j) for j in joints]
        every += [spin_of(setting, spin) for spin in setting.spins if spin.body in stage[known:]]
        alike: dict[Hashable, list[tuple[Written, Numbers]]] = {}
        at, inputs = setting.reference, setting.inputs / self.units
        place = {body: k for k, body in enumerate(self.stage.tolist())}
        origins, axes = (at.position / self.size).tolist(), at.rotation.swapaxes(1, 2).tolist()
        for k, joint in enumerate(every):
            frames = [Frame(origins[b], axes[b], float(at.angle[b])) for b in joint.bodies]
            of = Numbers(frames, inputs[list(joint.drives)].tolist())
            joint.rows(of)
            alike.setdefault(k if joint.key is None else joint.key, []).append((joint, of))
        starts = [start for same in alike.values() for _, of in same for start in of.starts]
        self.unknowns = len(starts)
        D, twists = len(inputs), self.bodies * self.wide
        # Of a state, the first rows of inputs, unknowns, velocities and accelerations.
        u = numbers * self.bodies
        s = u + 3 * D
        v = s + self.unknowns
        a = v + twists + self.unknowns
        self.joints, self.m, done, row, column, is_gap = list[Joints](), 0, 0, [], [], []
        for same in alike.values():
            first, of = same[0]
            count, own = len(same), len(of.starts)
            given = np.array([of.given for _, of in same])
            kind = kind_of(first, self.planar, given)
            body = np.array([[place[b] for b in joint.bodies] for joint, _ in same]).T
            drive = np.array([joint.drives for joint, _ in same], dtype=np.int64).T
            unknown = done + np.arange(count * own).reshape(count, own).T
            done += count * own
            # By name of an input: its numbers k of each joint, the first row, and steps by k and i.
            places = {
                "b": (body, 0, 1, self.bodies), "u": (drive, u, 1, D), "s": (unknown, s, 1, 0),
                "v": (body, v, self.wide, 1), "ds": (unknown, v + twists, 1, 0),
                "a": (body, a, self.wide, 1), "dds": (unknown, a + twists, 1, 0),
            }  # fmt: skip

            def rows_of(inputs: Sequence[Input], places: Any = places, count: int = count) -> Ints:
                found = [
                    f + by[k] * step + i * over for n, (k, i) in inputs for by, f, step, over in [places[n]]
                ]
                return np.array(found, dtype=np.int64).reshape(-1, count)

            reads = {which: rows_of(read) for which, (_, read) in kind.functions.items()}
            columns = [column[:, None] for column in np.ascontiguousarray(given.T)]
            self.joints.append(Joints(kind, count, columns, reads))
            numbered = self.m + np.arange(kind.rows * count).reshape(kind.rows, count)
            row.append(numbered[[r for r, _ in kind.entries]].ravel())
            column.append(rows_of([of for _, of in kind.entries]).ravel() - v - known * self.wide)
            is_gap.append(np.isin(np.arange(kind.rows), np.flatnonzero(first.gaps)).repeat(count))
            self.m += kind.rows * count
        self.n = twists + self.unknowns - known * self.wide
        #: Number of dependent equations.
        self.redundant = self.m - self.n
        if self.redundant < 0:
            raise ValueError(f"{setting.mechanism.name} has {self.m} equations for {self.n} unknowns")
        #: Whether each row is the gap of a contact, which can open.
        self.is_gap = np.concatenate(is_gap)
        #: Row and column of each entry of the Jacobian; n is the column of bodies that are given.
        self.row, self.column = np.concatenate(row), np.concatenate(column)
        self.column[self.column < 0] = self.n
        #: One instant at rest, at the reference.
        self.start = State(np.zeros((2 * a - v + 4, 1)), (numbers, self.bodies, D, self.unknowns))
        self.start.pose[: self.linear, :, 0] = at.position[self.stage, : self.linear].T / self.size
        self.turn(self.start.pose, (at.angle if self.planar else at.rotation)[self.stage][:, None])
        self.start.inputs[0, :, 0], self.start.unknown[:, 0] = inputs, starts

    # --- evaluation ----------------------------------------------------------------------------------

    def step(self, state: State) -> tuple[Floats, Floats]:
        """Rows (m, T), and the entries (K, T) of their derivative."""
        found = [(joints.kind.rows, joints.results("step", state)) for joints in self.joints]
        rows, entries = [x for k, part in found for x in part[:k]], [x for k, part in found for x in part[k:]]
        return np.concatenate(rows), np.concatenate(entries)

    def rates(self, which: str, state: State) -> Floats:
        """First (``rate``) or ``second`` derivative of the rows (m, T) by time, as the state moves."""
        return np.concatenate([x for joints in self.joints for x in joints.results(which, state)])

    def dense(self, entries: Floats) -> Floats:
        """Matrices (T, m, n) of the entries (K, T) of a derivative."""
        matrix = np.zeros((entries.shape[1], self.m, self.n + 1))
        matrix[:, self.row, self.column] = entries.T
        return np.ascontiguousarray(matrix[:, :, :-1])

    # --- states --------------------------------------------------------------------------------------

    def over(self, motion: Motion) -> State:
        """The start with the inputs of a motion, not solved yet."""
        state = self.start.at([0] * len(motion.time))
        state.status[:], state.residual[:] = NOT_COMPUTED, np.nan
        state.inputs[:] = np.array([motion.value, motion.rate, motion.acceleration]) / self.units[:, None]
        return state

    def turn(self, pose: Floats, orientation: Floats) -> None:
        """Set the angles (n, T) of bodies in the plane, or their rotations (n, T, 3, 3)."""
        if self.planar:
            pose[2], pose[3], pose[4] = np.cos(orientation), np.sin(orientation), orientation
        else:
            columns = np.moveaxis(orientation, (3, 2), (0, 1))
            pose[3:] = columns.reshape(9, *columns.shape[2:])

    def twists(self, vector: Floats) -> Floats:
        """Of a vector (W, T), or of its part that is not given, the small motions (3 or 6, bodies, T)."""
        bodies = len(vector) - self.unknowns
        return vector[:bodies].reshape(bodies // self.wide, self.wide, -1).swapaxes(0, 1)

    def move(self, state: State, x: Floats) -> None:
        """Move all bodies by small motions (W, T), or those that are not given (n, T)."""
        twist = self.twists(x)
        pose = state.pose[:, self.bodies - twist.shape[1] :]
        state.unknown += x[len(x) - self.unknowns :]
        pose[: self.linear] += twist[: self.linear]
        if self.planar:
            self.turn(pose, pose[4] + twist[2])
        else:
            pose[3:] = turned(twist[3:], pose[3:])

    def between(self, before: State, after: State) -> Floats:
        """Motions (W, T) that bring one state to another."""
        change = after.pose - before.pose
        turn = change[4:] if self.planar else turn_between(before.pose[3:], after.pose[3:])
        bodies = np.concatenate([change[: self.linear], turn])
        way = bodies.swapaxes(0, 1).reshape(-1, bodies.shape[2])
        return np.concatenate([way, after.unknown - before.unknown])


def turned(vector: Floats, axes: Floats) -> Floats:
    """Axes (9, …) turned by rotation vectors (3, …), orthogonal to the last digit."""
    angle = np.sqrt((vector * vector).sum(axis=0))
    sine, half = np.sinc(angle / np.pi), 0.5 * np.sinc(0.5 * angle / np.pi) ** 2
    columns = axes.reshape(3, 3, *axes.shape[1:])
    first = np.array([cross([*vector], [*c]) for c in columns])
    found = columns + sine * first + half * np.array([cross([*vector], [*c]) for c in first])
    gram = np.einsum("ik...,jk...->ij...", found, found)
    return np.asarray(1.5 * found - 0.5 * np.einsum("ij...,jk...->ik...", gram, found)).reshape(axes.shape)


def turn_between(before: Floats, after: Floats) -> Floats:
    """Rotation vectors (3, …), shorter than π, that turn axes (9, …) to others."""
    a, b = (x.reshape(3, 3, *x.shape[1:]) for x in (before, after))
    R = np.einsum("ki...,kj...->ij...", b, a)
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    twice = np.sqrt((axis * axis).sum(axis=0))
    angle = np.arctan2(twice, R[0, 0] + R[1, 1] + R[2, 2] - 1.0)
    return np.asarray(axis * np.where(twice > 1e-9, angle / np.where(twice > 1e-9, twice, 1.0), 0.5))
