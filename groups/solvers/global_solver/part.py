"""One group by the global approach: its bodies in natural coordinates, all its equations at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from groups.encoding.constraint_tables import encode_rows
from groups.kernels import global_newton as kernels
from groups.kernels import span
from groups.kernels.vectors import ROTATION, STATE
from groups.rotations import plane_rotation, quaternion_of, rotation_of
from groups.setting import Setting
from groups.solvers.global_solver.contacts import part_contacts
from groups.solvers.global_solver.following import LARGE, solved
from groups.solvers.global_solver.solver import Method, solver_of
from groups.solvers.global_solver.system import (
    STEPS,
    VIOLATED,
    GlobalRun,
    GlobalSystem,
    empty_quality,
    room,
    system_of,
)
from groups.status import OK
from mbssa import Group
from mbssa.arrays import Floats, Ints
from mbssa.joints.system import Configuration, unknowns

#: Residual that counts as closed, over the size, and over the distance from the world's origin.
CLOSED, ROUNDING = 1e-12, 4e-15
#: Largest ratio of the residual of a redundant equation to its residual at the reference.
ROUNDED = 100.0

#: Instants of one block; blocks begin at its multiples.
BLOCK = 256

#: The first places of the memory: sign of the determinant in the mode that is held, time of the last instant.
SIGN, TIME, FREE = range(3)


@dataclass(frozen=True, eq=False)
class GlobalPart:
    """One group as a system of its own; plain data, which can be pickled."""

    group: int
    method: Method
    system: GlobalSystem
    stage: Ints
    planar: bool
    units: Floats
    limits: tuple[float, float]
    memory: Floats

    def advance(
        self,
        first: int,
        stop: int,
        memory: Floats,
        orientation: Floats,
        outputs: Sequence[Floats],
        quality: Sequence[npt.NDArray[Any]],
        inputs: Sequence[Floats],
        time: Floats,
        level: int,
        row_of: Ints,
        compiled: bool,
    ) -> None:
        """Solve the instants ``first`` … ``stop`` - 1 into the arrays of a run."""
        solve = solver_of(self.system, self.method, compiled)
        while first < stop:
            end = min((first // BLOCK + 1) * BLOCK, stop)
            run = self._block(first, end, memory, outputs, inputs, time, level, row_of)
            last = solved(solve, run)
            part_contacts(run)
            for row, found in zip(quality, run.quality, strict=True):
                row[self.group, first:end] = found[1:]
            quality[1][self.group, first:end] *= self.system.size
            self._store(run, first, end, memory, orientation, outputs, row_of)
            self._remember(run, last, memory)
            first = end

    def standing(self, reference: Configuration, inputs: Floats) -> Floats:
        """The memory of a configuration at rest that closes; inputs (D,) m and rad."""
        system = self.system
        memory = self.memory.copy()
        at = self._views(memory)
        at.inputs[:] = inputs / self.units
        at.position[:] = reference.position[self.stage] / system.size
        at.rotation[:] = reference.rotation[self.stage]
        at.velocity[:], at.acceleration[:] = 0.0, 0.0
        at.angle[:] = reference.angle[self.stage]
        at.near[:] = system.rows.near
        memory[TIME] = np.nan
        _, work = _looked(system, at)
        if not system.redundant:
            kernels.fill(system.dense, work)
            # A dead point has no sign; the positive one is taken.
            memory[SIGN] = np.linalg.slogdet(work[2].reshape(system.n, system.n))[0] or 1.0
        return memory

    # --- one block ---------------------------------------------------------------------------------

    def _block(
        self,
        first: int,
        end: int,
        memory: Floats,
        outputs: Sequence[Floats],
        inputs: Sequence[Floats],
        time: Floats,
        level: int,
        row_of: Ints,
    ) -> GlobalRun:
        """A run whose first instant is the last that was solved, with the given bodies in place."""
        system, last = self.system, self._views(memory)
        poses = room(len(self.stage), end - first + 1, len(last.near))
        position, rotation, velocity, acceleration, angle, near = poses
        angle[:, 0], near[:, 0], angle[0] = last.angle, last.near, last.angle[0]
        position[:, 0], rotation[:, 0] = last.position, last.rotation
        velocity[:, 0], acceleration[:, 0] = last.velocity, last.acceleration
        known = system.known
        position[0, 1:], rotation[0, 1:] = last.position[0], last.rotation[0]
        position[known:, 1:] = np.nan
        rows, size = row_of[self.stage[1:known]], system.size
        if len(rows):
            turned = outputs[1][rows, first:end]
            rotation[1:known, 1:] = plane_rotation(turned) if self.planar else rotation_of(turned)
            if self.planar:
                angle[1:known, 1:] = turned
            wide = 2 if self.planar else 3
            position[1:known, 1:, :wide] = outputs[0][rows, first:end] / size
            columns = system.columns
            for twist, found in list(zip((velocity, acceleration), outputs[2:], strict=True))[:level]:
                twist[1:known, 1:, columns] = found[rows, first:end]
                twist[1:known, 1:, :3] /= size
        begin = memory[TIME] if np.isfinite(memory[TIME]) else time[first] - 1.0
        still = np.zeros(len(self.units))
        value, rate, second = (
            np.column_stack([was, part[:, first:end] / self.units[:, None]])
            for was, part in zip((last.inputs, still, still), inputs, strict=True)
        )
        return GlobalRun(
            system,
            (np.concatenate([[begin], time[first:end]]), value, rate, second),
            poses,
            empty_quality(end - first + 1),
            (*self.limits, STEPS, LARGE, float(memory[SIGN])),
            level,
        )

    def _store(
        self,
        run: GlobalRun,
        first: int,
        end: int,
        memory: Floats,
        orientation: Floats,
        outputs: Sequence[Floats],
        row_of: Ints,
    ) -> None:
        """Bring the own bodies to the outputs, NaN where the group has no answer."""
        known, size = self.system.known, self.system.size
        position, rotation, velocity, acceleration, angle = (
            part[known:, 1:].copy() for part in run.poses[:5]
        )
        failed = run.quality[0][1:] != OK
        for part in (position, rotation, velocity, acceleration, angle):
            part[:, failed] = np.nan
        for linear in (position, velocity[..., :3], acceleration[..., :3]):
            linear *= size
        rows = row_of[self.stage[known:]]
        own, rows = np.flatnonzero(rows >= 0), rows[rows >= 0]
        if self.planar:
            outputs[0][rows, first:end] = position[own, :, :2]
            outputs[1][rows, first:end] = angle[own]
        else:
            outputs[0][rows, first:end] = position[own]
            outputs[1][rows, first:end] = _signed(rotation[own], orientation, rows)
        columns = self.system.columns
        for part, found in list(zip(outputs[2:], (velocity, acceleration), strict=True))[: run.level]:
            part[rows, first:end] = found[own][..., columns]

    def _remember(self, run: GlobalRun, last: int, memory: Floats) -> None:
        """Keep where everything stood at the last instant that was solved."""
        at = self._views(memory)
        if last > 0:
            memory[TIME] = run.inputs[0][last]
            at.inputs[:] = run.inputs[1][:, last]
            at.position[:], at.rotation[:] = run.poses[0][:, last], run.poses[1][:, last]
            at.velocity[:], at.acceleration[:] = run.poses[2][:, last], run.poses[3][:, last]
            at.angle[:], at.near[:] = run.poses[4][:, last], run.poses[5][:, last]
        if last < len(run.inputs[0]) - 1:
            # Rates lead on from the instant just before only.
            at.velocity[:], at.acceleration[:] = 0.0, 0.0

    def _views(self, memory: Floats) -> _Last:
        return _views(memory, len(self.units), len(self.stage), len(self.system.rows.code))


@dataclass(frozen=True, eq=False)
class _Last:
    """The parts of a memory: inputs (D,), poses, rates and angles of the stage (m, ...), angles of terms."""

    inputs: Floats
    position: Floats
    rotation: Floats
    velocity: Floats
    acceleration: Floats
    angle: Floats
    near: Floats


def _views(memory: Floats, inputs: int, m: int, terms: int) -> _Last:
    ends = np.cumsum([FREE, inputs, 3 * m, 9 * m, 6 * m, 6 * m, m]).tolist()
    u, p, r, v, a, angle, near = np.split(memory, ends)[1:]
    assert len(near) == terms
    return _Last(u, p.reshape(m, 3), r.reshape(m, 3, 3), v.reshape(m, 6), a.reshape(m, 6), angle, near)


def encode_part(group: Group, setting: Setting, method: Method) -> GlobalPart:
    """A group as a system of its own."""
    mechanism, frames, reference = setting.mechanism, setting.frames, setting.reference
    inputs, own = setting.inputs, group.body_indices.tolist()
    joints = group.joint_indices.tolist()
    touched = {body for j in joints for body in frames.bodies_of(mechanism, j)}
    stage = [0, *sorted(touched - {0, *own}), *own]
    known = len(stage) - len(own)
    place = {body: k for k, body in enumerate(stage)}
    held = [spin for spin in setting.spins if spin.body in own]
    rows = encode_rows(mechanism, frames, joints, place, setting.drives, held)
    columns = unknowns(mechanism.space)
    system = system_of(rows, columns, len(stage), known, frames.size, f"SG-{group.number}")
    planar = mechanism.space == "planar"
    extent = float(np.abs(reference.position).max()) / frames.size + 1.0
    room = FREE + len(inputs) + len(stage) * (STATE + 1) + len(rows.code)
    part = GlobalPart(
        group.number - 1,
        method,
        system,
        np.array(stage, dtype=np.int64),
        planar,
        system.units(len(inputs)),
        (max(CLOSED, ROUNDING * extent), VIOLATED),
        np.zeros(room),
    )
    memory = part.standing(reference, inputs)
    miss, _ = _looked(system, part._views(memory))
    # Rounded geometry cannot close better than it does at the reference.
    allowance = max(VIOLATED, ROUNDED * miss) if system.redundant else VIOLATED
    return replace(part, memory=memory, limits=(part.limits[0], allowance))


def _looked(system: GlobalSystem, at: _Last) -> tuple[float, kernels.Work]:
    """The largest residual of a pose, and the work with its jets. Plain Python: it is done once."""
    work = system.work()
    column = at.inputs[:, None]
    inputs = np.zeros(1), column, 0.0 * column, 0.0 * column
    stage = at.position, at.rotation, at.velocity, at.acceleration, at.angle
    worst = kernels.assemble(0, system.rows.bound(False).kernel_rows, system.dense, inputs, stage, work)
    return worst, work


def _signed(rotation: Floats, last: Floats, rows: Ints) -> Floats:
    """Quaternions of rotations (n, T, 3, 3) whose signs go on from the last ones, which go on too."""
    quaternion = quaternion_of(rotation)
    for k, row in enumerate(rows.tolist()):
        sound = np.flatnonzero(np.isfinite(quaternion[k, :, 0]))
        if len(sound):
            before = last[row]
            if not before.any():
                state = np.zeros(STATE)
                state[ROTATION : ROTATION + 9] = rotation[k, sound[0]].ravel()
                before = np.array(span.quaternion(state))
            if quaternion[k, sound[0]] @ before < 0.0:
                quaternion[k] *= -1.0
            last[row] = quaternion[k, sound[-1]]
    return quaternion
