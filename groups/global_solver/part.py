"""One group by the global approach: its bodies in natural coordinates, all its equations at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from groups.global_solver.elimination import Method
from groups.global_solver.path import VIOLATED, Way, sign_of
from groups.global_solver.system import State, System
from groups.rotations import quaternion_of, rotation_of
from groups.setting import Setting
from groups.status import OK
from mbssa import Group
from mbssa.arrays import Floats, Ints
from mbssa.joints.poses import Poses

#: Largest ratio of the residual of a redundant equation to its residual at the reference.
ROUNDED = 100.0
#: Instants of one block; blocks begin at its multiples.
BLOCK = 256


@dataclass(frozen=True, eq=False)
class GlobalPart:
    """One group as a system of its own; its memory is the determinant's sign, inputs, poses and unknowns."""

    group: Group
    setting: Setting
    method: Method

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in ("group", "setting", "method")}

    @cached_property
    def stage(self) -> tuple[Ints, int]:
        """Indices of the bodies, those that are given first, and how many these are."""
        own, frames = self.group.body_indices.tolist(), self.setting.frames
        joints = self.group.joint_indices.tolist()
        touched = {body for j in joints for body in frames.bodies_of(self.setting.mechanism, j)}
        given = [0, *sorted(touched - {0, *own})]
        return np.array([*given, *own], dtype=np.int64), len(given)

    @cached_property
    def system(self) -> System:
        setting, (stage, known) = self.setting, self.stage
        own = self.group.body_indices.tolist()
        return System(
            setting.mechanism, setting.frames, setting.reference, setting.inputs,
            self.group.joint_indices.tolist(), stage.tolist(), known, setting.drives,
            [spin for spin in setting.spins if spin.body in own],
        ).determined()  # fmt: skip

    @cached_property
    def allowance(self) -> float:
        """Rounded geometry cannot close better than it does at the reference."""
        if not self.system.redundant:
            return VIOLATED
        rows, _ = self.system.step(self.system.state(self.setting.reference, self.setting.inputs))
        return max(VIOLATED, ROUNDED * float(np.abs(rows).max()))

    @property
    def memory(self) -> Floats:
        """The memory of the reference."""
        return self.standing(self.setting.reference, self.setting.inputs)

    def standing(self, reference: Poses, inputs: Floats) -> Floats:
        """The memory of a configuration at rest that closes; inputs (D,) m and rad."""
        state = self.system.state(reference, inputs)
        # A dead point has no sign; the positive one is taken.
        sign = 0.0 if self.system.redundant else sign_of(self.system, state) or 1.0
        return np.concatenate([[sign], *(part.ravel() for part in _kept(state))])

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
    ) -> None:
        """Solve the instants ``first`` … ``stop`` - 1 into the arrays of a run."""
        way = Way(self.system, self.method, self.allowance, float(memory[0]))
        while first < stop:
            at = slice(first, min((first // BLOCK + 1) * BLOCK, stop))
            state = self._given(at, memory, outputs, inputs, level, row_of)
            answer, last = way.solve(self._last(memory), state, time[at], level)
            found = answer.status, answer.residual * self.system.size, answer.steps, answer.condition
            for row, part in zip(quality, found, strict=True):
                row[self.group.number - 1, at] = part
            state.pose[:, :, answer.status != OK] = np.nan
            self._store(state, at, orientation, outputs, level, row_of)
            memory[1:] = np.concatenate([part.ravel() for part in _kept(last)])
            first = at.stop

    def _last(self, memory: Floats) -> State:
        state = self.system.state(self.setting.reference, self.setting.inputs)
        at = 1
        for part in _kept(state):
            part[:] = memory[at : at + part.size].reshape(part.shape)
            at += part.size
        return state

    def _given(
        self, at: slice, memory: Floats, outputs: Sequence[Floats], inputs: Sequence[Floats], level: int,
        row_of: Ints,
    ) -> State:  # fmt: skip
        """Instants with inputs and given bodies in place."""
        system, (stage, known) = self.system, self.stage
        count = at.stop - at.start
        state = self._last(memory).at([0] * count)
        state.value, state.rate, state.second = (part[:, at] / system.units[:, None] for part in inputs)
        rows = row_of[stage[1:known]]
        if not len(rows):
            return state
        pose, wide = state.pose[:, 1:known], 2 if system.planar else 3
        pose[:wide] = np.moveaxis(outputs[0][rows, at], 2, 0) / system.size
        if system.planar:
            system.turn(pose, outputs[1][rows, at])
        else:
            R = rotation_of(outputs[1][rows, at])
            pose[3:] = np.moveaxis(R, (3, 2), (0, 1)).reshape(9, *R.shape[:2])
        for twist, found in list(zip((state.velocity, state.acceleration), outputs[2:], strict=True))[:level]:
            twist[:, 1:known] = np.moveaxis(found[rows, at], 2, 0)
            twist[:wide, 1:known] /= system.size
        return state

    def _store(
        self, state: State, at: slice, orientation: Floats, outputs: Sequence[Floats], level: int,
        row_of: Ints,
    ) -> None:  # fmt: skip
        """Bring the own bodies to the outputs, NaN where the group has no answer."""
        system, (stage, known) = self.system, self.stage
        rows = row_of[stage[known:]]
        own, rows = known + np.flatnonzero(rows >= 0), rows[rows >= 0]
        position, turned, velocity, acceleration = written(state, system, own)
        void = np.isnan(state.pose[0, own])
        velocity[void], acceleration[void] = np.nan, np.nan
        outputs[0][rows, at] = position
        outputs[1][rows, at] = turned if system.planar else _signed(turned, orientation, rows)
        for part, found in list(zip(outputs[2:], (velocity, acceleration), strict=True))[:level]:
            part[rows, at] = found


def written(state: State, system: System, bodies: Ints) -> tuple[Floats, Floats, Floats, Floats]:
    """Positions (n, T, 2 or 3), angles or rotations (n, T, 3, 3), two rates (n, T, 3 or 6); m and rad."""
    wide = 2 if system.planar else 3
    pose, rates = (
        state.pose[:, bodies],
        [part[:, bodies].copy() for part in (state.velocity, state.acceleration)],
    )
    for part in rates:
        part[:wide] *= system.size
    turned = pose[4]
    if not system.planar:
        turned = np.moveaxis(pose[3:].reshape(3, 3, *pose.shape[1:]), (0, 1), (3, 2))
    found = [np.ascontiguousarray(np.moveaxis(part, 0, 2)) for part in (pose[:wide] * system.size, *rates)]
    return found[0], turned, found[1], found[2]


def _kept(state: State) -> tuple[Floats, Floats, Floats]:
    return state.value, state.pose, state.unknown


def _signed(rotation: Floats, last: Floats, rows: Ints) -> Floats:
    """Quaternions of rotations (n, T, 3, 3) whose signs go on from the last ones, which go on too."""
    quaternion = quaternion_of(rotation)
    for k, row in enumerate(rows.tolist()):
        sound = np.flatnonzero(np.isfinite(quaternion[k, :, 0]))
        if len(sound):
            # Before the first instant the sign is that of a matrix alone.
            before = last[row] if last[row].any() else quaternion_of(rotation[k, sound[:1]])[0]
            if quaternion[k, sound[0]] @ before < 0.0:
                quaternion[k] *= -1.0
            last[row] = quaternion[k, sound[-1]]
    return quaternion
