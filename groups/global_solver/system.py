"""Many bodies as one system of equations, and where they stand and how they move at many instants."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from groups.global_solver.rows import (
    PLANAR,
    SPATIAL,
    Kind,
    Numbers,
    Writer,
    kind_of,
    pair_writer,
    relations_writer,
    shape_of,
)
from groups.motion import Motion
from groups.setting import LockedRotation, Setting
from mbssa.arrays import Bools, Floats, Ints
from mbssa.graph.frames import Frame, cross, dot
from mbssa.joints.catalogue import is_length, type_of_joint
from mbssa.joints.poses import Poses


@dataclass(eq=False)
class State:
    """All bodies (N) at T instants, lengths in sizes of the mechanism, and its inputs (D) there."""

    pose: Floats  # (5 or 12, N, T) as in rows
    unknown: Floats  # (Q, T) places of contacts, and angles that count turns
    inputs: Floats  # (3, D, T) values, rates, second derivatives
    motion: Floats  # (2, W, T) twists of the origins, body by body, and rates of the unknowns; accelerations

    def at(self, which: Any) -> State:
        """A copy of some of the instants."""
        return State(*(np.array(getattr(self, f.name)[..., which]) for f in fields(self)))

    def put(self, which: Any, other: State) -> None:
        """Take these instants from another state."""
        for f in fields(self):
            getattr(self, f.name)[..., which] = getattr(other, f.name)

    @property
    def instants(self) -> int:
        return int(self.pose.shape[2])


@dataclass(frozen=True, eq=False)
class Joints:
    """Joints of one kind: bodies, geometry, unknowns and inputs of each."""

    kind: Kind
    body: Ints  # (bodies, J) places on the stage
    given: list[Floats]  # (J, 1) each
    unknown: Ints  # (unknowns, J)
    drive: Ints  # (driven, J)
    is_gap: Bools  # (rows,) whether each is the gap of a contact, which can open

    def results(self, which: str, state: State, wide: int) -> Sequence[Any]:
        """Results of a printed function, of all joints (J, T) each."""
        call, used = self.kind.functions[which]
        first, given = state.pose.shape[1] * wide, dict[int, Any]()
        for name, (places, k, i) in used.items():
            match name:
                case "b":
                    found = state.pose[i, self.body[k]]
                case "u":
                    found = state.inputs[i, self.drive[k]]
                case "s":
                    found = state.unknown[self.unknown[k]]
                case "v" | "a":
                    found = state.motion["va".index(name)][self.body[k] * wide + i]
                case _:
                    found = state.motion[("ds", "dds").index(name)][first + self.unknown[k]]
            given.update(zip(places, found, strict=True))
        return call(given, self.given)


class _Joint(NamedTuple):
    key: Hashable  # joints of the same one share their kind; None of one that shares with none
    bodies: Sequence[int]
    writer: Writer
    drives: Sequence[int]
    gaps: Sequence[bool]  # of the first rows, whether each is the gap of a contact


class System:
    """All equations of some joints, and of the passive rotations that are held, on the bodies of a stage."""

    # The first `known` bodies of the stage are given.

    def __init__(self, setting: Setting, joints: Sequence[int], stage: Sequence[int], known: int = 1) -> None:
        self.mechanism, self.frames, self.known = setting.mechanism, setting.frames, known
        self.drives, self.size, self.planar = setting.drives, self.frames.size, setting.planar
        self.wide, self.linear = (3, 2) if self.planar else (6, 3)
        self.stage, self.bodies = np.array(stage, dtype=np.int64), len(stage)
        self.starts, self.units = list[float](), np.ones(len(setting.inputs))
        self.units[[row for (_, name), row in self.drives.items() if is_length(name)]] = self.size
        spins = [self._spin(spin) for spin in setting.spins if spin.body in stage[known:]]
        every = [*map(self._joint, joints), *spins]
        self.joints = list(self._rows(every, setting.reference, setting.inputs))
        self.is_gap = np.concatenate([np.repeat(of.is_gap, of.body.shape[1]) for of in self.joints])
        self.m, self.n = len(self.is_gap), (self.bodies - known) * self.wide + len(self.starts)
        #: Number of dependent equations.
        self.redundant = self.m - self.n
        if self.redundant < 0:
            raise ValueError(f"{self.mechanism.name} has {self.m} equations for {self.n} unknowns")
        self.row, self.column = self._places()
        #: One instant at rest, at the reference.
        self.start = self._state(setting.reference, setting.inputs)

    # --- joints --------------------------------------------------------------------------------------

    def _joint(self, j: int) -> _Joint:
        row, relations = type_of_joint(self.mechanism, j), self.frames.relations.get(j)
        driven = tuple(name for name in row.coordinates if (j, name) in self.drives)
        if relations is None:
            assert row.pair is not None
            bodies = self.mechanism.joint_bodies(j)[:2]
            key: Hashable = (row, driven)
            writer = pair_writer(row, driven, self.frames, j)
            gaps = [name == row.gap for name, _ in row.pair.constraints]
        else:
            missing = [name for name in driven if name not in relations.coordinates]
            if missing:
                raise ValueError(f"coordinate {missing[0]!r} of a joint cannot be driven: it has no equation")
            chosen = [*relations.constraints, *(relations.coordinates[name] for name in driven)]
            bodies, shape = relations.bodies, shape_of(relations, chosen)
            writer = relations_writer(relations, chosen, self.size, self.mechanism.joint_ids[j])
            key = None if shape is None else (row, driven, shape)
            gaps = [row.gap != "" and of.name.startswith(row.gap) for of in relations.constraints]
        return _Joint(key, bodies, writer, tuple(self.drives[j, name] for name in driven), gaps)

    def _spin(self, spin: LockedRotation) -> _Joint:
        in_frame = self.frames.rotation[0] @ spin.in_frame

        def rows(numbers: Numbers) -> list[Any]:  # a line of the body stays square to one of the world
            return [dot(numbers.vector(in_frame), numbers.body(0).along(numbers.vector(spin.in_body)))]

        return _Joint("spin", (spin.body,), rows, (), ())

    def _rows(self, joints: Sequence[_Joint], reference: Poses, inputs: Floats) -> Iterator[Joints]:
        """Joints that share a kind."""
        alike: dict[Hashable, list[_Joint]] = {}
        for k, joint in enumerate(joints):
            alike.setdefault(k if joint.key is None else joint.key, []).append(joint)
        place = {body: k for k, body in enumerate(self.stage.tolist())}
        origins, axes = (reference.position / self.size).tolist(), reference.rotation.swapaxes(1, 2).tolist()
        for same in alike.values():
            body = np.array([[place[b] for b in joint.bodies] for joint in same]).T
            drive = np.array([joint.drives for joint in same], dtype=np.int64).T
            numbers = []
            for joint in same:
                frames = [Frame(origins[b], axes[b], float(reference.angle[b])) for b in joint.bodies]
                values = (inputs / self.units)[list(joint.drives)]
                numbers.append(Numbers(frames, values.tolist()))
                joint.writer(numbers[-1])
            given = np.array([each.given for each in numbers])
            first, count = len(self.starts), len(numbers[0].starts)
            unknown = first + np.arange(len(same) * count).reshape(len(same), count).T
            self.starts += [start for each in numbers for start in each.starts]
            kind = kind_of(same[0].key, same[0].writer, self.planar, len(body), given)
            columns = [column[:, None] for column in np.ascontiguousarray(given.T)]
            is_gap = np.isin(np.arange(kind.rows), np.flatnonzero(same[0].gaps))
            yield Joints(kind, body, columns, unknown, drive, is_gap)

    def _places(self) -> tuple[Ints, Ints]:
        """Row and column of each entry of the Jacobian; n is the column of bodies that are given."""
        rows, columns, first = [], [], 0
        for joints in self.joints:
            count = joints.body.shape[1]
            for r, body, k in joints.kind.entries.tolist():
                rows.append(first + r * count + np.arange(count))
                if body < 0:
                    columns.append((self.bodies - self.known) * self.wide + joints.unknown[k])
                else:
                    at = (joints.body[body] - self.known) * self.wide + k
                    columns.append(np.where(at >= 0, at, self.n))
            first += joints.kind.rows * count
        return np.concatenate(rows), np.concatenate(columns)

    # --- evaluation ----------------------------------------------------------------------------------

    def step(self, state: State) -> tuple[Floats, Floats]:
        """Rows (m, T), and the entries (K, T) of their derivative."""
        found = [joints.results("step", state, self.wide) for joints in self.joints]
        counts = [joints.kind.rows for joints in self.joints]
        rows = self._filled([part[:k] for part, k in zip(found, counts, strict=True)], state)
        return rows, self._filled([part[k:] for part, k in zip(found, counts, strict=True)], state)

    def rates(self, which: str, state: State) -> Floats:
        """First (``rate``) or ``second`` derivative of the rows (m, T) by time, as the state moves."""
        return self._filled([joints.results(which, state, self.wide) for joints in self.joints], state)

    def _filled(self, results: Sequence[Sequence[Any]], state: State) -> Floats:
        shapes = [(joints.body.shape[1], state.instants) for joints in self.joints]
        parts = zip(results, shapes, strict=True)
        return np.concatenate([np.broadcast_to(x, shape) for part, shape in parts for x in part])

    def dense(self, entries: Floats) -> Floats:
        """Matrices (T, m, n) of the entries (K, T) of a derivative."""
        matrix = np.zeros((entries.shape[1], self.m, self.n + 1))
        matrix[:, self.row, self.column] = entries.T
        return np.ascontiguousarray(matrix[:, :, :-1])

    # --- states --------------------------------------------------------------------------------------

    def _state(self, reference: Poses, inputs: Floats) -> State:
        stage, pose = self.stage, np.empty((PLANAR if self.planar else SPATIAL, self.bodies, 1))
        pose[: self.linear, :, 0] = reference.position[stage, : self.linear].T / self.size
        self.turn(pose, (reference.angle if self.planar else reference.rotation)[stage][:, None])
        values = np.zeros((3, len(inputs), 1))
        values[0, :, 0] = inputs / self.units
        motion = np.zeros((2, self.bodies * self.wide + len(self.starts), 1))
        return State(pose, np.array(self.starts)[:, None], values, motion)

    def over(self, motion: Motion) -> State:
        """The start with the inputs of a motion."""
        state = self.start.at([0] * len(motion.time))
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
        bodies = len(vector) - len(self.starts)
        return vector[:bodies].reshape(bodies // self.wide, self.wide, -1).swapaxes(0, 1)

    def move(self, state: State, x: Floats) -> None:
        """Move all bodies by small motions (W, T), or those that are not given (n, T)."""
        twist = self.twists(x)
        pose = state.pose[:, self.bodies - twist.shape[1] :]
        state.unknown += x[len(x) - len(self.starts) :]
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

    def written(self, state: State, which: Any) -> tuple[Floats, Floats, Floats, Floats]:
        """Of some bodies position (n, T, 2 or 3), angle or rotation (n, T, 3, 3), two rates, m and rad."""
        pose = state.pose[:, which]
        rotation = pose[4]
        if not self.planar:
            rotation = np.moveaxis(pose[3:].reshape(3, 3, *pose.shape[1:]), (0, 1), (3, 2))
        rates = [self.twists(part)[:, which] for part in state.motion]
        for rate in rates:
            rate[: self.linear] *= self.size
        found = [np.moveaxis(part, 0, 2) for part in (pose[: self.linear] * self.size, *rates)]
        position, velocity, acceleration = map(np.ascontiguousarray, found)
        return position, rotation, velocity, acceleration


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
