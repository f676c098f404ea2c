"""Positions of a group in relative coordinates: a workspace for its kernels, and the placings found in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.kernels import layout, loop_closure, newton
from groups.kernels.path import recall
from groups.kernels.vectors import ROTATION
from groups.placing.placing import SAME, Placing, Task, angles, states_at, struts_placed
from groups.status import OK
from mbssa.arrays import Floats

if TYPE_CHECKING:
    from groups.solvers.solver import Solver

#: Condition below which a position that Newton finds is no mode: it can be left without opening anything.
FLAT = 1e-7


@dataclass(frozen=True, eq=False)
class Room:
    """Data of a group in relative coordinates, and a workspace of its kernels."""

    memory: Floats
    work: Floats
    g: layout.Group
    rows: layout.Rows | None
    meeting: layout.Meeting

    @staticmethod
    def of(solver: Solver, memory: Floats, work: Floats) -> Room:
        ints, floats = solver.ints, solver.floats
        return Room(
            memory,
            work,
            layout.group_of(ints, floats, memory, work),
            layout.rows_of(ints, floats, work) if ints[layout.N_ROWS] > 0 else None,
            layout.meeting_of(ints, work),
        )

    @staticmethod
    def staged(task: Task) -> Room:
        """Workspace with known bodies, inputs and the unknowns of ``near`` in place."""
        room = Room.of(task.solver, task.near.copy(), np.zeros(task.solver.ints[layout.N_WORK]))
        for k, body in enumerate(room.g.tree.known.tolist()):
            room.g.pose.stage[k, :3] = task.at.position[body]
            room.g.pose.stage[k, 3:12] = task.at.rotation[body].ravel()
        room.g.pose.u[:] = task.inputs
        recall(room.g, room.rows)
        return room

    def put(self, x: Floats, balls: Floats) -> None:
        """Set unknowns and balls."""
        self.g.pose.x[:], self.g.pose.ball[:] = x, balls.reshape(-1, 9)

    def taken(self) -> tuple[Floats, Floats]:
        """Unknowns and balls."""
        return self.g.pose.x.copy(), self.g.pose.ball.reshape(-1, 3, 3).copy()


class Places:
    """Positions of a group's tree that differ by the poses of its bodies; singular ones are left out."""

    def __init__(self, task: Task, room: Room) -> None:
        self.task, self.room = task, room
        self.scale = np.repeat([task.frames.size, 1.0], [ROTATION, 9])
        self.poses, self.times = list[Floats](), list[int]()
        self.found = list[tuple[Floats, Floats, Floats, int]]()

    def add(self, x: Floats, balls: Floats) -> bool:
        """Add a position; return whether it is a new mode."""
        room, task = self.room, self.task
        room.put(x, balls)
        newton.place(room.g.tree, room.g.pose, room.g.equations)
        poses = room.g.pose.stage[len(room.g.tree.known) :, : ROTATION + 9].copy()
        for k, known in enumerate(self.poses):
            if np.abs((poses - known) / self.scale).max() <= SAME:
                self.times[k] += 1
                return False
        memory, sign, condition = _memory(task, room, x, balls)
        if task.solver.ints[layout.METHOD] == layout.NEWTON and condition < FLAT:
            return False
        self.poses.append(poses)
        self.times.append(1)
        self.found.append((x, balls, memory, sign))
        return True

    def add_polished(self) -> bool:
        """Add the position in the workspace after Newton's last steps; whether it converged and is new."""
        converged = newton.newton(self.room.g, None, newton.POLISH, True)[0] == OK
        return converged and self.add(*self.room.taken())

    def placings(self) -> Iterator[Placing]:
        """Placings with the struts in their modes at the reference."""
        own = self.room.g.tree.own
        for (x, balls, memory, sign), poses in zip(self.found, self.poses, strict=True):
            states = states_at(self.task.at)
            states[own, : ROTATION + 9, 0] = poses
            branch = (sign,) if len(x) else ()
            laid = list(struts_placed(self.task, states, memory, branch, x, balls))
            yield from laid[:1]


def _memory(task: Task, room: Room, x: Floats, balls: Floats) -> tuple[Floats, int, float]:
    """Initial memory of the kernel at these unknowns, sign of the determinant there, and its condition."""
    memory = task.solver.memory.copy()
    there = Room.of(task.solver, memory, room.work)
    g, last = there.g, there.g.memory
    known = len(last.known)
    last.x[:], last.ball[:], last.u[:] = x, balls.reshape(-1, 9), task.inputs
    last.known[:] = g.pose.stage[:known, :12]
    if g.tree.planar == 1:
        last.turned[:] = angles(task, g.tree.known, g.pose.stage[:known, 3:12].reshape(-1, 3, 3))
    if len(x) == 0:
        return memory, 1, 1.0
    there.put(x, balls)
    newton.place(g.tree, g.pose, g.equations)
    sign, condition = newton.linearise(g, there.rows)
    if there.rows is None or not task.solver.redundant:
        last.head[layout.SIGN] = sign
    else:  # other rows may be the better choice here; the kernel sees their sign
        kept = last.solved.copy()
        if loop_closure.choose_rows(g, there.rows) != len(x):
            last.solved[:] = kept
    return memory, int(sign), condition
