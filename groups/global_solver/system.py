"""Many bodies as one system of equations, and where they stand and how they move at many instants."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from groups.global_solver.rows import (
    COLUMNS,
    PLANAR,
    SPATIAL,
    Kind,
    Numbers,
    UserRow,
    Writer,
    kind_of,
    pair_writer,
    relations_writer,
    shape_of,
    spin_writer,
)
from groups.passive_rotations import LockedRotation
from mbssa.arrays import Floats, Ints
from mbssa.graph.frames import Frame
from mbssa.joints.catalogue import is_length, type_of_joint
from mbssa.joints.frames import Frames
from mbssa.joints.poses import Poses
from mbssa.joints.relations import JointRelations
from mbssa.mechanism import Mechanism


@dataclass(eq=False)
class State:
    """All bodies (N) at T instants, lengths in sizes of the mechanism, and its inputs (D) there."""

    pose: Floats  # (5 or 12, N, T) as in rows
    unknown: Floats  # (Q, T) places of contacts, and angles that count turns
    value: Floats  # (D, T) of the inputs, and their rates
    rate: Floats
    second: Floats
    velocity: Floats = field(default_factory=lambda: np.zeros(0))  # (3 or 6, N, T) of the bodies' origins
    acceleration: Floats = field(default_factory=lambda: np.zeros(0))
    unknown_rate: Floats = field(default_factory=lambda: np.zeros(0))
    unknown_second: Floats = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        if not self.velocity.size:
            wide = len(COLUMNS[len(self.pose) == PLANAR])
            self.velocity, self.acceleration = (np.zeros((wide, *self.pose.shape[1:])) for _ in range(2))
            self.unknown_rate, self.unknown_second = (np.zeros_like(self.unknown) for _ in range(2))

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
    """Joints of one kind: bodies, geometry, unknowns and inputs of each, and their first row and entry."""

    kind: Kind
    body: Ints  # (bodies, J) places on the stage
    given: list[Floats]  # (J, 1) each
    unknown: Ints  # (unknowns, J)
    drive: Ints  # (driven, J)
    sources: dict[str, dict[str, tuple[Sequence[int], Ints, Ints]]] = field(default_factory=dict, repr=False)

    def results(self, which: str, state: State) -> Sequence[Any]:
        """Results of the printed function, of all joints (J, T) each."""
        call, used = getattr(self.kind, which)
        inputs = np.array([state.value, state.rate, state.second])
        bodies = {"b": state.pose, "v": state.velocity, "a": state.acceleration}
        unknowns = {"s": state.unknown, "ds": state.unknown_rate, "dds": state.unknown_second}
        given: list[Any] = [None] * len(used)
        for name, (order, k, i) in self._sources(which).items():
            if name in unknowns:
                found = unknowns[name][self.unknown[k]]
            elif name in bodies:
                found = bodies[name][i, self.body[k]]
            else:
                found = inputs[i, self.drive[k]]
            for place, x in zip(order, found, strict=True):
                given[place] = x
        results: Sequence[Any] = call(given, self.given)
        return results

    def _sources(self, which: str) -> dict[str, tuple[Sequence[int], Ints, Ints]]:
        """By name of an input, its places among the arguments, and its indices (k, i)."""
        if which not in self.sources:
            alike: dict[str, list[tuple[int, int, int]]] = {}
            for place, (name, (k, i)) in enumerate(getattr(self.kind, which)[1]):
                alike.setdefault(name, []).append((place, k, i))
            found = self.sources[which] = {}
            for name, each in alike.items():
                order, k, i = zip(*each, strict=True)
                found[name] = order, np.array(k), np.array(i)[:, None]
        return self.sources[which]


#: Joint of a row or -1, its name, whether it is the gap of a contact.
Label = tuple[int, str, bool]


class _Joint(NamedTuple):
    key: Hashable  # joints of the same one share their kind
    bodies: Sequence[int]
    writer: Writer
    drives: Sequence[int]
    labels: list[Label]


class System:
    """All equations of some joints, and of the passive rotations that are held, on the bodies of a stage."""

    def __init__(
        self, mechanism: Mechanism, frames: Frames, reference: Poses, inputs: Floats,
        joints: Sequence[int], stage: Sequence[int], known: int, drives: Mapping[tuple[int, str], int],
        spins: Sequence[LockedRotation],
    ) -> None:  # fmt: skip
        self.mechanism, self.frames, self.size, self.known = mechanism, frames, frames.size, known
        self.planar = mechanism.space == "planar"
        self.columns = COLUMNS[self.planar]
        self.place = {body: k for k, body in enumerate(stage)}
        self.drives, self.starts = drives, list[float]()
        self.units = np.ones(len(inputs))
        self.units[[row for (_, name), row in drives.items() if is_length(name)]] = self.size
        self._inputs, self._reference = inputs / self.units, reference
        found = list(self._rows(joints, spins))
        self.joints = [joints for joints, _ in found]
        #: Joint of each row or -1, its name, and whether it is the gap of a contact, which can open.
        self.labels = [of[r] for joints, labels in found for r in range(joints.kind.rows) for of in labels]
        self.is_gap = np.array([is_gap for _, _, is_gap in self.labels], dtype=bool)
        self.bodies, self.m = len(stage), len(self.labels)
        self.n = (self.bodies - known) * len(self.columns) + len(self.starts)
        self.row, self.column = self._places()

    def determined(self) -> System:
        """The system, if it has as many equations as unknowns or more."""
        if self.m < self.n:
            raise ValueError(f"{self.mechanism.name} has {self.m} equations for {self.n} unknowns")
        return self

    @property
    def redundant(self) -> int:
        """Number of dependent equations."""
        return self.m - self.n

    # --- joints --------------------------------------------------------------------------------------

    def _rows(
        self, joints: Sequence[int], spins: Sequence[LockedRotation]
    ) -> Iterator[tuple[Joints | UserRow, list[list[Label]]]]:
        """Joints that share a kind, and the labels of their rows; those of unknowns come last."""
        alike: dict[Hashable, list[_Joint]] = {}
        for j in joints:
            relations = self.frames.relations.get(j)
            if relations is not None and relations.function is not None:
                body = np.array([[self.place[b]] for b in relations.bodies])
                yield (
                    UserRow(relations, self.mechanism.joint_ids[j], self.size, body),
                    [[(j, "function", False)]],
                )
                continue
            joint = self._joint(j, relations)
            alike.setdefault((j,) if joint.key is None else joint.key, []).append(joint)
        for spin in spins:
            writer = spin_writer(self.frames.rotation[0] @ spin.in_frame, spin.in_body)
            alike.setdefault("spin", []).append(
                _Joint("spin", (spin.body,), writer, (), [(-1, "spin", False)])
            )
        for same in alike.values():
            body = np.array([[self.place[b] for b in joint.bodies] for joint in same]).T
            drive = np.array([joint.drives for joint in same], dtype=np.int64).T
            numbers = []
            for joint in same:
                numbers.append(
                    Numbers([self._at(b) for b in joint.bodies], self._inputs[list(joint.drives)].tolist())
                )
                rows = len(joint.writer(numbers[-1]))
                joint.labels.extend([(-1, "unknown", False)] * (rows - len(joint.labels)))
            given = np.array([each.given for each in numbers])
            first, count = len(self.starts), len(numbers[0].starts)
            unknown = first + np.arange(len(same) * count).reshape(len(same), count).T
            self.starts += [start for each in numbers for start in each.starts]
            kind = kind_of(same[0].key, same[0].writer, self.planar, len(body), given)
            columns = [column[:, None] for column in np.ascontiguousarray(given.T)]
            yield Joints(kind, body, columns, unknown, drive), [joint.labels for joint in same]

    def _joint(self, j: int, relations: JointRelations | None) -> _Joint:
        row = type_of_joint(self.mechanism, j)
        driven = tuple(name for name in row.coordinates if (j, name) in self.drives)
        drives = tuple(self.drives[j, name] for name in driven)
        if relations is None:
            assert row.pair is not None
            names, bodies = [name for name, _ in row.pair.constraints], self.mechanism.joint_bodies(j)[:2]
            key: Hashable = (row, driven)
            writer = pair_writer(row, driven, self.frames, j)
            gaps = [name == row.gap for name in names]
        else:
            missing = [name for name in driven if name not in relations.coordinates]
            if missing:
                raise ValueError(f"coordinate {missing[0]!r} of a joint cannot be driven: it has no equation")
            chosen = [*relations.constraints, *(relations.coordinates[name] for name in driven)]
            names, bodies = [relation.name for relation in relations.constraints], relations.bodies
            shape = shape_of(relations, chosen)
            writer = relations_writer(relations, chosen, self.size)
            key = None if shape is None else (row, driven, shape)
            gaps = [row.gap != "" and name.startswith(row.gap) for name in names]
        labels = [(j, *label) for label in zip(names, gaps, strict=True)]
        return _Joint(key, bodies, writer, drives, labels + [(j, name, False) for name in driven])

    def _at(self, body: int) -> Frame:
        at = self._reference
        place = (at.position[body] / self.size).tolist()
        return Frame(place, at.rotation[body].T.tolist(), float(at.angle[body]))

    def _places(self) -> tuple[Ints, Ints]:
        """Row and column of each entry of the Jacobian; n is the column of bodies that are given."""
        rows, columns, first = [], [], 0
        wide, free = len(self.columns), self.bodies - self.known
        for joints in self.joints:
            count = joints.body.shape[1]
            for r, body, k in joints.kind.entries.tolist():
                rows.append(first + r * count + np.arange(count))
                if body < 0:
                    columns.append(free * wide + joints.unknown[k])
                else:
                    at = (joints.body[body] - self.known) * wide + k
                    columns.append(np.where(at >= 0, at, self.n))
            first += joints.kind.rows * count
        return np.concatenate(rows), np.concatenate(columns)

    # --- evaluation ----------------------------------------------------------------------------------

    def step(self, state: State) -> tuple[Floats, Floats]:
        """Rows (m, T), and the entries (K, T) of their derivative."""
        found = [joints.results("step", state) for joints in self.joints]
        counts = [joints.kind.rows for joints in self.joints]
        rows = self._filled([part[:k] for part, k in zip(found, counts, strict=True)], state)
        return rows, self._filled([part[k:] for part, k in zip(found, counts, strict=True)], state)

    def rates(self, which: str, state: State) -> Floats:
        """First (``rate``) or ``second`` derivative of the rows (m, T) by time, at the rates of the state."""
        return self._filled([joints.results(which, state) for joints in self.joints], state)

    def _filled(self, results: Sequence[Sequence[Any]], state: State) -> Floats:
        sizes = [joints.body.shape[1] for joints in self.joints]
        found = np.empty((sum(len(p) * k for p, k in zip(results, sizes, strict=True)), state.instants))
        at = 0
        for part, size in zip(results, sizes, strict=True):
            for x in part:
                found[at : at + size] = x
                at += size
        return found

    # --- states --------------------------------------------------------------------------------------

    def state(self, reference: Poses, inputs: Floats) -> State:
        """One instant at rest; inputs (D,) m and rad."""
        stage = list(self.place)
        position, rotation = reference.position[stage].T / self.size, reference.rotation[stage]
        pose = np.empty((PLANAR if self.planar else SPATIAL, len(stage), 1))
        if self.planar:
            self.turn(pose, reference.angle[stage][:, None])
            pose[:2] = position[:2, :, None]
        else:
            pose[:3], pose[3:, :, 0] = position[:, :, None], rotation.transpose(2, 1, 0).reshape(9, -1)
        still = np.zeros((len(inputs), 1))
        return State(pose, np.array(self.starts)[:, None], (inputs / self.units)[:, None], still, still)

    @staticmethod
    def turn(pose: Floats, angle: Floats) -> None:
        """Set the angles of bodies in the plane."""
        pose[2], pose[3], pose[4] = np.cos(angle), np.sin(angle), angle

    def move(self, state: State, x: Floats) -> None:
        """Move the bodies that are not given by small motions, as unknowns (n, T) have them."""
        wide, known = len(self.columns), self.known
        twist, more = self.split(x)
        pose = state.pose[:, known:]
        state.unknown += more
        if self.planar:
            pose[:2] += twist[:2]
            self.turn(pose, pose[4] + twist[2])
        else:
            pose[:3] += twist[:3]
            pose[3:] = turned(twist[3:wide], pose[3:])

    def split(self, x: Floats) -> tuple[Floats, Floats]:
        """Twists (3 or 6, bodies, T) and further unknowns (Q, T) of a vector of unknowns (n, T)."""
        wide, free = len(self.columns), self.bodies - self.known
        return x[: free * wide].reshape(free, wide, -1).swapaxes(0, 1), x[free * wide :]


def turned(vector: Floats, axes: Floats) -> Floats:
    """Axes (9, …) turned by rotation vectors (3, …), orthogonal to the last digit."""
    x, y, z = vector
    angle = np.sqrt(x * x + y * y + z * z)
    sine, half = np.sinc(angle / np.pi), 0.5 * np.sinc(0.5 * angle / np.pi) ** 2
    columns = axes.reshape(3, 3, *axes.shape[1:])
    first = np.stack([cross(vector, c) for c in columns])
    found = columns + sine * first + half * np.stack([cross(vector, c) for c in first])
    gram = np.einsum("ik...,jk...->ij...", found, found)
    again: Floats = 1.5 * found - 0.5 * np.einsum("ij...,jk...->ik...", gram, found)
    return again.reshape(axes.shape)


def turn_between(before: Floats, after: Floats) -> Floats:
    """Rotation vectors (3, …), shorter than π, that turn axes (9, …) to others."""
    a, b = (x.reshape(3, 3, *x.shape[1:]) for x in (before, after))
    R = np.einsum("ki...,kj...->ij...", b, a)
    axis = np.stack([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    twice = np.sqrt((axis * axis).sum(axis=0))
    angle = np.arctan2(twice, R[0, 0] + R[1, 1] + R[2, 2] - 1.0)
    found: Floats = axis * np.where(twice > 1e-9, angle / np.where(twice > 1e-9, twice, 1.0), 0.5)
    return found


def cross(a: Floats, b: Floats) -> Floats:
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
