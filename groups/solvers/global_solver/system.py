"""Many bodies as one system of equations, and one motion of them, ready for the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from groups.encoding.constraint_tables import RowTables, encode_rows
from groups.kernels import global_newton as kernels
from groups.kernels.jets import SIZE, WORK
from groups.motion import drive_rows
from groups.passive_rotations import locked_rotations
from groups.status import NOT_COMPUTED
from mbssa.arrays import Floats, Ints
from mbssa.joints.frames import Frames
from mbssa.joints.system import Configuration, unknowns
from mbssa.structure import Structure

#: Largest residual of what was solved, and of what follows from it, over the mechanism's size.
CLOSED, VIOLATED = 1e-12, 1e-9

#: Newton steps at one instant before it counts as not converged.
STEPS = 30


@dataclass(frozen=True, eq=False)
class GlobalSystem:
    """A whole mechanism, or a part of it, as one system; lengths divided by ``size``."""

    rows: RowTables
    n: int
    columns: Ints
    size: float
    known: int = 1

    @property
    def redundant(self) -> int:
        """Number of dependent equations."""
        return len(self.rows) - self.n

    @cached_property
    def entries(self) -> tuple[Ints, Ints, Ints]:
        """Numbers of the jets that go into the matrix: term, derivative, and column."""
        rows = self.rows
        place = np.full(6, -1)
        place[self.columns] = np.arange(len(self.columns))
        bodies = np.repeat(rows.pair[rows.joint], 6, axis=1)
        local = np.tile(place, 2)
        used = (bodies >= self.known) & (local >= 0)
        term, derivative = np.nonzero(used)
        return term, derivative, (bodies[used] - self.known) * len(self.columns) + local[derivative]

    @cached_property
    def dense(self) -> kernels.System:
        """Arguments of the kernels that fill a dense matrix."""
        term, _, column = self.entries
        return self.with_places(self.rows.equation[term] * self.n + column)

    def with_places(self, place: Ints) -> kernels.System:
        """Arguments of the kernels, with these places of the entries in the matrix's numbers."""
        term, derivative, _ = self.entries
        slots = np.full((len(self.rows.code), 12), -1, dtype=np.int64)
        slots[term, derivative] = place
        rows = self.rows
        return rows.drive, rows.equation, rows.constant, slots, self.columns, self.known

    def stage(self) -> kernels.Stage:
        """Room for all bodies at one instant."""
        m = self.known + self.n // len(self.columns)
        return np.zeros((m, 3)), np.zeros((m, 3, 3)), np.zeros((m, 6)), np.zeros((m, 6)), np.zeros(m)

    def work(self, jacobian: Floats | None = None) -> kernels.Work:
        """Room for jets, their table, the Jacobian's numbers (dense unless given) and the right side."""
        rows = len(self.rows)
        flat = np.zeros(rows * self.n) if jacobian is None else jacobian
        return np.zeros((WORK, SIZE)), np.zeros((len(self.rows.code), SIZE)), flat, np.zeros(rows)

    def units(self, inputs: int) -> Floats:
        """(D,) what values of the inputs are divided by: the size for lengths."""
        units, rows = np.ones(inputs), self.rows
        units[rows.drive[rows.is_length & ~rows.constraint]] = self.size
        return units


def encode(structure: Structure, frames: Frames) -> GlobalSystem:
    """All equations of a structure."""
    mechanism = structure.mechanism
    spins = locked_rotations(structure, frames)
    drives = drive_rows(mechanism)
    rows = encode_rows(mechanism, frames, range(mechanism.n_joints), range(mechanism.n_bodies), drives, spins)
    return system_of(rows, unknowns(mechanism.space), mechanism.n_bodies, 1, frames.size, mechanism.name)


def system_of(
    rows: RowTables, columns: Sequence[int], bodies: int, known: int, size: float, name: str
) -> GlobalSystem:
    """Equations as one system."""
    n = (bodies - known) * len(columns)
    if len(rows) < n:
        raise ValueError(f"{name} has {len(rows)} equations for {n} unknowns")
    return GlobalSystem(rows.over(size), n, np.array(columns, dtype=np.int64), size, known)


@dataclass(frozen=True, eq=False)
class GlobalRun:
    """One motion of a system, lengths divided by its size; arrays body by body, filled as it is solved."""

    system: GlobalSystem
    inputs: kernels.Inputs
    poses: kernels.Poses
    quality: kernels.Quality
    limits: kernels.Limits
    level: int

    @staticmethod
    def of(system: GlobalSystem, reference: Configuration, inputs: kernels.Inputs, level: int) -> GlobalRun:
        bodies, instants = len(reference.position), len(inputs[0])
        units = system.units(len(inputs[1]))
        poses = room(bodies, instants, len(system.rows.near))
        position, rotation, _, _, angle, near = poses
        position[:], rotation[:] = reference.position[:, None] / system.size, reference.rotation[:, None]
        angle[:], near[:] = reference.angle[:, None], system.rows.near[:, None]
        # Far from the world's origin a residual cannot fall below the rounding of the positions.
        rounding = 64 * np.finfo(float).eps * float(np.abs(position[:, 0]).max())
        return GlobalRun(
            system,
            (np.ascontiguousarray(inputs[0]), *(a / units[:, None] for a in inputs[1:])),
            poses,
            empty_quality(instants),
            (max(CLOSED, rounding), VIOLATED, STEPS, np.inf, 0.0),
            level,
        )

    def stop_at(self, done: int) -> None:
        """Mark all later instants as not computed."""
        for array in self.poses[:4]:
            array[1:, done:] = np.nan
        self.quality[0][done:] = NOT_COMPUTED
        self.quality[1][done:] = np.nan


def empty_quality(instants: int) -> kernels.Quality:
    """Status, residual, iterations and condition of so many instants, zero."""
    return (
        np.zeros(instants, dtype=np.int8),
        np.zeros(instants),
        np.zeros(instants, dtype=np.int32),
        np.zeros(instants),
    )


def room(bodies: int, instants: int, terms: int) -> kernels.Poses:
    """Poses and rates of a stage and angles of terms, zero."""
    return (
        np.zeros((bodies, instants, 3)),
        np.zeros((bodies, instants, 3, 3)),
        np.zeros((bodies, instants, 6)),
        np.zeros((bodies, instants, 6)),
        np.zeros((bodies, instants)),
        np.zeros((terms, instants)),
    )
