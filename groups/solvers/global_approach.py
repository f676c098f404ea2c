"""The global approach for one group: all its bodies and equations in one system, of no tree."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from groups.global_solver.elimination import Method
from groups.global_solver.path import Way
from groups.global_solver.system import System
from groups.motion import Motion
from groups.rotations import quaternion_of, rotation_of
from groups.setting import Setting
from groups.solvers.solver import Solver
from groups.status import OUTPUTS, QUALITY
from groups.trajectory import Progress, Trajectory
from groups.tree import GroupTree
from mbssa import Group
from mbssa.arrays import Ints
from mbssa.texts import counted


@dataclass(frozen=True, eq=False, kw_only=True)
class GlobalApproach(Solver):
    """Solver of any group, dense or sparse, that is chosen by name."""

    group: Group
    setting: Setting
    method: Method | None  # None: the faster one

    form = "global"

    @classmethod
    def match(cls, tree: GroupTree, setting: Setting) -> None:
        """Return None: no group has it by default."""

    @classmethod
    def instead(
        cls, method: Method, group: Group, setting: Setting, default: Solver, why: str
    ) -> GlobalApproach:
        """Return the solver of a group whose default is another."""
        system, mechanism = system_of(group, setting), setting.mechanism
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

    @property
    def choice(self) -> str:
        return f"global {self.method}"

    def at(self, setting: Setting) -> GlobalApproach:
        return replace(self, setting=setting)

    def solve(
        self, motion: Motion, answer: Trajectory, row_of: Ints, progress: Progress | None = None
    ) -> None:
        """Solve the first instants of an answer, those of the motion, from where the given bodies are."""
        system = system_of(self.group, self.setting)
        state, at = system.over(motion), slice(len(motion.time))
        outputs = [array[at] for name in OUTPUTS if (array := getattr(answer, name)) is not None]
        (position, orientation, *rates), known, linear = outputs, system.known, system.linear
        rows, pose = row_of[system.stage[1:known]], state.pose[:, 1:known]
        if len(rows):
            pose[:linear] = position[:, rows].T / system.size
            turned = orientation[:, rows].swapaxes(0, 1)
            system.turn(pose, turned if system.planar else rotation_of(turned))
            for motion_of, rate in zip(state.motion, rates, strict=False):
                system.twists(motion_of)[:, 1:known] = (rate[:, rows] / system.scale).T
        Way(system, self.method).solve(state, motion.time, len(rates), progress)
        quality = state.status, state.residual * system.size, state.steps, state.condition
        for name, part in zip(QUALITY, quality, strict=True):
            getattr(answer, name)[at, self.number - 1] = part
        state.pose[:, known:, ~state.sound] = np.nan
        state.motion[:, known * system.wide :, ~state.sound] = np.nan
        own = np.r_[0, known : system.bodies]  # the frame stays where it is
        own = own[row_of[system.stage[own]] >= 0]
        pose = state.pose[:, own]
        turn = pose[4].T
        if not system.planar:  # signs are continuous over time
            turned = pose[3:].reshape(3, 3, *pose.shape[1:]).transpose(2, 3, 1, 0)
            turn = quaternion_of(turned).swapaxes(0, 1)
        moving = [system.twists(rate)[:, own].T * system.scale for rate in state.motion]
        for output, one in zip(outputs, (pose[:linear].T * system.size, turn, *moving), strict=False):
            output[:, row_of[system.stage[own]]] = one


def system_of(group: Group, setting: Setting) -> System:
    """Equations of a group; the frame and the bodies that are given come first."""
    own, joints = group.body_indices.tolist(), group.joint_indices.tolist()
    touched = {body for j in joints for body in setting.frames.bodies_of(setting.mechanism, j)}
    given = [0, *sorted(touched - {0, *own})]
    return System(setting, joints, [*given, *own], len(given))
