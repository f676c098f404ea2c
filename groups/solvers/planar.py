"""Base of the solvers in the plane: at most two unknown motions, whose kernel gives every assembly mode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from groups.kernels import chains, planar
from groups.placing.placing import CLOSED_FORM, Placing, Search, Task, same_place
from groups.setting import Setting
from groups.solvers.solver import Solver
from groups.status import OK
from groups.tree import GroupTree, free_coordinates
from mbssa import Group
from mbssa.arrays import Floats
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.system import Configuration


@dataclass(frozen=True, eq=False)
class PlanarSolver(Solver):
    """Solver whose data are laid out by :mod:`groups.kernels.planar`."""

    counts_turns = True

    @property
    def room(self) -> int:
        """Length of the kernel's workspace."""
        return chains.room_of(self.ints) if self.ints[planar.FORM] in (planar.DRIVEN, planar.CHAINS) else 0

    def with_sign(self, sign: float) -> Self:
        """The solver in the assembly mode of a sign."""
        return replace(self, data=self.made._replace(memory=np.array([sign, *self.memory[1:]])))

    def poses(self, group: Group, at: Configuration, values: Floats) -> Floats | None:
        """Poses of a group's bodies in the solver's assembly mode; None out of reach and at a dead point."""
        mechanism, column = group.structure.mechanism, values.reshape(-1, 1)
        touched = sorted({b for j in group.joint_indices.tolist() for b in mechanism.joint_bodies(j)})
        # Zeros cost nothing where nothing touches them, so the time does not grow with the structure.
        S = np.zeros((mechanism.n_bodies, chains.STATE, 1))
        S[touched] = planar_state(at, touched)[:, :, None]
        inputs = (column, np.zeros_like(column), np.zeros_like(column))
        status, iterations = np.zeros((1, 1), np.int8), np.zeros((1, 1), np.int64)
        quality = (status, np.zeros((1, 1)), iterations, np.zeros((1, 1)))
        none, memory, work = np.zeros(0), self.memory.copy(), np.zeros(self.room)
        assert self.kernel is not None
        with np.errstate(all="ignore"):  # NaN is the kernel's answer out of reach
            self.kernel.run(0, self.ints, self.floats, S, 0, 1, inputs, none, memory, work, quality, 0)
        return S[group.body_indices, :5, 0] if status[0, 0] == OK else None

    def placings(self, task: Task) -> tuple[list[Placing], Search]:
        """The placing of each sign, the reference's first: none out of reach, one at a dead point."""
        bodies = task.group.body_indices
        found: list[Placing] = []
        for flip in (1.0, -1.0)[: self.roots]:
            mode = self.with_sign(flip * self.memory[chains.SIGN])
            poses = mode.poses(task.group, task.at, task.inputs)
            if poses is None:
                continue
            c, s = poses[:, 2], poses[:, 3]
            rotation = np.tile(np.eye(3), (len(bodies), 1, 1))
            rotation[:, 0, 0], rotation[:, 1, 1], rotation[:, 0, 1], rotation[:, 1, 0] = c, c, -s, s
            position = np.column_stack([poses[:, :2], np.zeros(len(bodies))])
            branch = (int(mode.memory[chains.SIGN]),) if self.roots == 2 else ()
            placing = Placing(bodies, position, rotation, poses[:, 4], mode.memory, branch, ())
            if not any(same_place(placing, other, task.frames.size) for other in found):
                found.append(placing)
        return found, CLOSED_FORM


def planar_state(at: Configuration, bodies: Sequence[int] | None = None) -> Floats:
    """(N, 11) state of some bodies, or of all, at rest in a configuration."""
    which = slice(None) if bodies is None else bodies
    position, rotation = at.position[which], at.rotation[which]
    state = np.zeros((len(position), chains.STATE))
    state[:, :2] = position[:, :2]
    state[:, 2], state[:, 3], state[:, 4] = rotation[:, 0, 0], rotation[:, 1, 0], at.angle[which]
    return state


def closing_joints(tree: GroupTree, setting: Setting) -> list[int] | None:
    """Joints that close a planar group whose joints are pairs; None for other groups."""
    mechanism = setting.mechanism
    if mechanism.space != "planar" or tree.struts or min(tree.joints, default=-1) < 0:
        return None
    if any(type_of_joint(mechanism, j).pair is None for j in tree.joints):
        return None
    return [j for j in tree.cuts if free_coordinates(mechanism, j) < mechanism.freedom]
