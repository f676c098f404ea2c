"""The global approach for one group: all its bodies and equations in one system, of no tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from groups.global_solver.elimination import Method
from groups.global_solver.path import Way
from groups.global_solver.system import System
from groups.motion import Motion
from groups.results.schema import OUTPUTS, QUALITY
from groups.rotations import quaternion_of, rotation_of
from groups.setting import Setting
from groups.solvers.solver import Solver
from groups.status import OK
from groups.trajectory import Trajectory
from groups.tree import GroupTree
from mbssa import Group
from mbssa.arrays import Ints
from mbssa.texts import counted


@dataclass(frozen=True, eq=False, kw_only=True)
class GlobalApproach(Solver):
    """Solver of any group, dense or sparse, that is chosen by name."""

    group: Group
    setting: Setting
    method: Method

    form = "global"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "system"}

    @classmethod
    def match(cls, tree: GroupTree, setting: Setting) -> None:
        """Return None: no group has it by default."""

    @classmethod
    def instead(
        cls, method: Method, group: Group, setting: Setting, default: Solver, why: str
    ) -> GlobalApproach:
        """Return the solver of a group whose default is another."""
        system, mechanism = _system(group, setting), setting.mechanism
        names = ("x", "y", "angle") if setting.planar else ("x", "y", "z", "turn_x", "turn_y", "turn_z")
        return cls(
            group.number,
            f"global {method}, {counted(system.n, 'unknown')}",
            why,
            tuple(f"{mechanism.body_name(b)}.{name}" for b in group.body_indices.tolist() for name in names),
            default.closing,
            default.roots,
            default.n_struts,
            system.redundant,
            default=default,
            group=group,
            setting=setting,
            method=method,
        )

    @cached_property
    def system(self) -> System:
        return _system(self.group, self.setting)

    @property
    def choice(self) -> Literal["global dense", "global sparse"]:
        return "global dense" if self.method == "dense" else "global sparse"

    def at(self, setting: Setting) -> GlobalApproach:
        return replace(self, setting=setting)

    def solve(self, motion: Motion, answer: Trajectory, row_of: Ints) -> None:
        """Solve the first instants of an answer, those of the motion, from where the given bodies are."""
        system, state, at = self.system, self.system.over(motion), slice(len(motion.time))
        outputs = [array[at] for name in OUTPUTS if (array := getattr(answer, name)) is not None]
        (position, orientation, *rates), known, level = outputs, system.known, len(outputs) - 2
        rows, pose = row_of[system.stage[1:known]], state.pose[:, 1:known]
        if len(rows):
            pose[: system.linear] = np.moveaxis(position[:, rows], (2, 1), (0, 1)) / system.size
            turned = orientation[:, rows].swapaxes(0, 1)
            system.turn(pose, turned if system.planar else rotation_of(turned))
            for motion_of, rate in zip(state.motion[:level], rates, strict=False):
                twist = system.twists(motion_of)[:, 1:known]
                twist[:] = np.moveaxis(rate[:, rows], (2, 1), (0, 1))
                twist[: system.linear] /= system.size
        solved = Way(system, self.method).solve(state, motion.time, level)
        quality = solved.status, solved.residual * system.size, solved.steps, solved.condition
        for name, part in zip(QUALITY, quality, strict=True):
            getattr(answer, name)[at, self.number - 1] = part
        rows = row_of[system.stage[known:]]
        own, rows = known + np.flatnonzero(rows >= 0), rows[rows >= 0]
        state.pose[:, :, solved.status != OK] = np.nan
        state.motion[:, :, solved.status != OK] = np.nan
        place, turn, *moving = system.written(state, own)
        found = place, turn if system.planar else quaternion_of(turn), *moving
        for output, one in zip(outputs, found, strict=False):
            output[:, rows] = one.swapaxes(0, 1)


def _system(group: Group, setting: Setting) -> System:
    """Equations of a group; the frame and the bodies that are given come first."""
    own, joints = group.body_indices.tolist(), group.joint_indices.tolist()
    touched = {body for j in joints for body in setting.frames.bodies_of(setting.mechanism, j)}
    given = [0, *sorted(touched - {0, *own})]
    return System(setting, joints, [*given, *own], len(given))
