"""Many bodies as one system of equations, and where they stand and how they move at many instants."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from groups.engine.routine import Record
from groups.global_solver.rows import Input, Joint, Kind, in_sizes, joints_of, kind_of
from groups.motion import Motion
from groups.setting import Setting
from groups.status import DROPPED, NOT_COMPUTED, OK
from mbssa.arrays import Bools, Floats, Ints
from mbssa.graph.frames import cross


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
    unknowns: list[Ints]  # (own, J) rows of the unknowns and of two rates
    reads: dict[str, Ints]

    def results(self, which: str, state: State) -> list[Floats]:
        """Results (J, T) of a printed function."""
        of_arrays = self.kind.functions[which][0][1]
        found = of_arrays(state.X[self.reads[which]], self.given, *(state.X[rows] for rows in self.unknowns))
        return [np.broadcast_to(x, (self.joints, state.X.shape[1])) for x in found]


class System:
    """All equations of some joints, and of the passive rotations that are held, on the bodies of a stage."""

    # The first `known` bodies of the stage are given.

    def __init__(self, setting: Setting, joints: Sequence[int], stage: Sequence[int], known: int = 1) -> None:
        self.size, self.planar, self.known = setting.frames.size, setting.planar, known
        record = Record(self.planar)
        self.wide, self.linear = len(record.velocity), len(record.position)
        #: Of the components of a twist, m and rad in theirs.
        self.scale = np.where(np.arange(self.wide) < self.linear, self.size, 1.0)
        self.stage, self.bodies = np.array(stage, dtype=np.int64), len(stage)
        setting, self.units = in_sizes(setting)
        alike: dict[Hashable, list[Joint]] = {}
        for k, joint in enumerate(joints_of(setting, joints, stage[known:])):
            alike.setdefault(k if joint.key is None else (joint.key,), []).append(joint)
        starts = [start for same in alike.values() for joint in same for start in joint.start]
        self.unknowns, D, twists = len(starts), len(self.units), self.bodies * self.wide
        numbers = 5 if self.planar else 12
        # Of a state, the first rows of inputs, unknowns, velocities and accelerations.
        u = numbers * self.bodies
        s = u + 3 * D
        v = s + self.unknowns
        a = v + twists + self.unknowns
        #: Rows of the numbers of a record: the first, and steps by body.
        axes = (2, 3) if self.planar else [3 + 3 * (k % 3) + k // 3 for k in range(9)]
        poses = [*enumerate(record.position), *zip(axes, record.axes, strict=True)]
        poses += [(4, record.turn)] if self.planar else []
        places = {place: (row * self.bodies, 1) for row, place in poses}
        for top, rates in ((v, record.velocity), (a, record.acceleration)):
            places |= {rate: (top + k, self.wide) for k, rate in enumerate(rates)}
        number = {body: k for k, body in enumerate(self.stage.tolist())}
        self.joints, self.m, done, row, column, is_gap = list[Joints](), 0, 0, [], [], []
        for same in alike.values():
            first, count, own = same[0], len(same), len(same[0].names)
            kind, given = kind_of(same, record)
            body = np.array([[number[b] for b in joint.uses.bodies] for joint in same]).T
            drive = np.array([[*joint.uses.drives] for joint in same], dtype=np.int64).T
            unknown = done + np.arange(count * own).reshape(count, own).T
            done += count * own

            states = [top + unknown for top in (s, v + twists, a + twists)]

            def rows_of(
                inputs: Sequence[Input], body: Ints = body, drive: Ints = drive, rates: Ints = states[1]
            ) -> Ints:
                found = list[Ints]()
                for name, k in inputs:
                    if name == "b":
                        top, step = places[k[1]]
                        found.append(top + step * body[k[0]])
                    else:
                        found.append(rates[k] if name == "dq" else u + drive[k // 3] + D * (k % 3))
                return np.array(found, dtype=np.int64).reshape(-1, body.shape[1])

            reads = {which: rows_of(read) for which, (_, read) in kind.functions.items()}
            columns = [column[:, None] for column in np.ascontiguousarray(given.T)]
            self.joints.append(Joints(kind, count, columns, states, reads))
            numbered = self.m + np.arange(kind.rows * count).reshape(kind.rows, count)
            row.append(numbered[[r for r, _ in kind.entries]].ravel())
            column.append(rows_of([of for _, of in kind.entries]).ravel() - v - known * self.wide)
            is_gap.append(np.isin(np.arange(kind.rows), first.gaps).repeat(count))
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
        at = setting.reference
        self.start.pose[: self.linear, :, 0] = at.position[self.stage, : self.linear].T
        self.turn(self.start.pose, (at.angle if self.planar else at.rotation)[self.stage][:, None])
        self.start.inputs[0, :, 0], self.start.unknown[:, 0] = setting.inputs, starts

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
