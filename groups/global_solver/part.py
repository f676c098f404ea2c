"""One group by the global approach: its bodies in natural coordinates, all its equations at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from groups.global_solver.elimination import Method
from groups.global_solver.path import Way
from groups.global_solver.system import System
from groups.motion import Motion
from groups.results.arrays import Arrays
from groups.rotations import quaternion_of, rotation_of
from groups.setting import Setting
from groups.status import OK
from mbssa import Group
from mbssa.arrays import Ints


@dataclass(frozen=True, eq=False)
class GlobalPart:
    """One group as a system of its own, on the bodies that it hangs on."""

    group: Group
    setting: Setting
    method: Method

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in ("group", "setting", "method")}

    @cached_property
    def system(self) -> System:
        """Its equations; the frame and the bodies that are given come first."""
        setting, own = self.setting, self.group.body_indices.tolist()
        joints = self.group.joint_indices.tolist()
        touched = {body for j in joints for body in setting.frames.bodies_of(setting.mechanism, j)}
        given = [0, *sorted(touched - {0, *own})]
        return System(setting, joints, [*given, *own], len(given))

    def solve(self, motion: Motion, arrays: Arrays, level: int, row_of: Ints) -> None:
        """Solve the first instants of a run, those of the motion, from where the given bodies are."""
        system, state, at = self.system, self.system.over(motion), slice(len(motion.time))
        (position, orientation, *rates), known = arrays.outputs, system.known
        rows, pose = row_of[system.stage[1:known]], state.pose[:, 1:known]
        if len(rows):
            pose[: system.linear] = np.moveaxis(position[rows, at], 2, 0) / system.size
            turned = orientation[rows, at]
            system.turn(pose, turned if system.planar else rotation_of(turned))
            for motion_of, rate in zip(state.motion[:level], rates, strict=False):
                twist = system.twists(motion_of)[:, 1:known]
                twist[:] = np.moveaxis(rate[rows, at], 2, 0)
                twist[: system.linear] /= system.size
        answer = Way(system, self.method).solve(state, motion.time, level)
        quality = answer.status, answer.residual * system.size, answer.steps, answer.condition
        array: Any
        for array, part in zip(arrays.quality, quality, strict=True):
            array[self.group.number - 1, at] = part
        rows = row_of[system.stage[known:]]
        own, rows = known + np.flatnonzero(rows >= 0), rows[rows >= 0]
        state.pose[:, :, answer.status != OK] = np.nan
        state.motion[:, :, answer.status != OK] = np.nan
        place, turn, *moving = system.written(state, own)
        found = place, turn if system.planar else quaternion_of(turn), *moving
        for output, one in list(zip(arrays.outputs, found, strict=True))[: 2 + level]:
            output[rows, at] = one
