"""Placings of a group's bodies, and of the struts between bodies that are placed already."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from groups.kernels import strut
from groups.kernels.vectors import ROTATION, STATE
from groups.placing.residuals import largest_residual
from groups.status import OK
from mbssa import Group
from mbssa.arrays import Floats, Ints
from mbssa.joints.frames import Frames
from mbssa.joints.system import Configuration
from mbssa.progress import Progress

if TYPE_CHECKING:
    from groups.solvers.solver import Solver

_NONE, _NO_BALLS = np.zeros(0), np.zeros((0, 3, 3))
#: Poses (rad, or of the size) that differ by less are one, and the largest residual, over the size.
SAME, CLOSED = 1e-6, 1e-9


@dataclass(frozen=True, eq=False)
class Placing:
    """One way to place the own bodies of a group."""

    bodies: Ints
    position: Floats
    rotation: Floats
    angle: Floats
    memory: Floats
    branch: tuple[int, ...]
    laid: tuple[int, ...]
    x: Floats = field(default_factory=lambda: _NONE)
    balls: Floats = field(default_factory=lambda: _NO_BALLS)
    residual: float = np.nan


@dataclass(frozen=True, eq=False)
class Task:
    """A group to be placed."""

    group: Group
    solver: Solver
    frames: Frames
    at: Configuration
    inputs: Floats
    starts: int
    near: Floats
    most: int | None
    told: Progress = lambda what, share: None


@dataclass(frozen=True, slots=True)
class Search:
    """Origin of a list of placings: a text, whether it is complete, and the number that it may lack."""

    text: str
    complete: bool
    missing: float = 0.0


#: The search of a closed form.
CLOSED_FORM = Search("a closed form gives all", complete=True)


def placings(task: Task) -> tuple[list[Placing], Search]:
    """All placings of a group that are found, each once, closed to the solver's tolerance."""
    found, search = task.solver.placings(task)
    if not found:
        return [], search
    residuals = largest_residual(task.group, task.frames, placed_at(task.at, found), task.inputs).tolist()
    limit = task.frames.size * task.solver.tolerance
    kept = [replace(p, residual=value) for p, value in zip(found, residuals, strict=True) if value <= limit]
    return kept, search


def placed_at(at: Configuration, found: list[Placing]) -> Configuration:
    """Poses of all bodies in M placings of a group: position (M, N, 3), rotation (M, N, 3, 3)."""
    position = np.repeat(at.position[None], len(found), axis=0)
    rotation = np.repeat(at.rotation[None], len(found), axis=0)
    for k, placing in enumerate(found):
        position[k, placing.bodies], rotation[k, placing.bodies] = placing.position, placing.rotation
    return Configuration(position, rotation, at.angle, at.centre)


def same_place(a: Placing, b: Placing, size: float) -> bool:
    """Whether two placings have the same poses to :data:`SAME`."""
    return bool(
        np.abs(a.position - b.position).max(initial=0.0) <= SAME * size
        and np.abs(a.rotation - b.rotation).max(initial=0.0) <= SAME
    )


def struts_placed(
    task: Task,
    states: Floats,
    memory: Floats,
    branch: tuple[int, ...] = (),
    x: Floats = _NONE,
    balls: Floats = _NO_BALLS,
) -> Iterator[Placing]:
    """Placings of the group's struts between placed bodies: that of ``memory``, then all others."""
    ints, floats, memory_of_legs = task.solver.strut_data(memory)
    ways = []
    for k in range(len(memory_of_legs) // strut.SIGNS):
        held = tuple(memory_of_legs[k * strut.SIGNS :][: strut.SIGNS].tolist())
        of_leg = _ways(task, states, ints[k * strut.INTS :], floats[k * strut.FLOATS :])
        same = [way for way in of_leg if way[0] == held]
        ways.append(same + [way for way in of_leg if way[0] != held])
    bodies = task.group.body_indices
    for choice in itertools.product(*ways):
        mine, laid = memory.copy(), states[:, :, 0].copy()
        held_signs = task.solver.strut_data(mine)[2]
        for k, (signs, own, poses) in enumerate(choice):
            held_signs[k * strut.SIGNS :][: strut.SIGNS] = signs
            laid[own, : ROTATION + 9] = poses
        position, rotation = laid[bodies, :3], laid[bodies, 3:12].reshape(-1, 3, 3)
        angle = angles(task, bodies, rotation)
        turns = tuple(int(sign) for held, *_ in choice for sign in held)
        yield Placing(bodies, position, rotation, angle, mine, branch, turns, x, balls)


def _ways(
    task: Task, states: Floats, ints: Ints, floats: Floats
) -> list[tuple[tuple[float, float], list[int], Floats]]:
    """Signs, bodies and poses (b, 12) of every assembly mode of the strut whose data begin here."""
    own = [int(body) for body in ints[strut.FIRST : strut.LAST + 1] if body >= 0]
    free = ints[strut.LAST] >= 0 and ints[strut.DRIVE] < 0
    inputs = tuple(column[:, None] for column in (task.inputs, 0.0 * task.inputs, 0.0 * task.inputs))
    W, leg = np.empty((strut.ROWS, strut.LANES)), strut.strut_in(ints, 0, floats, 0)
    found: list[tuple[tuple[float, float], list[int], Floats]] = []
    for signs in itertools.product((1.0, -1.0) if free else (1.0,), (1.0, -1.0)):
        S = states.copy()
        with np.errstate(divide="ignore", invalid="ignore"):  # NaN is the kernel's answer out of reach
            strut.place(leg, np.array(signs), 0, S, 0, 1, inputs, 0, 0, W)
        poses = S[own, : ROTATION + 9, 0]
        if W[strut.STATUS, 0] != OK:
            continue
        if all(np.abs(poses - other).max() > 1e-9 for *_, other in found):
            found.append((signs, own, poses))
    return found


def states_at(at: Configuration) -> Floats:
    """(N, 24, 1) states of all bodies at rest."""
    states = np.zeros((len(at.position), STATE, 1))
    states[:, :3, 0], states[:, 3:12, 0] = at.position, at.rotation.reshape(-1, 9)
    return states


def angles(task: Task, bodies: Ints, rotation: Floats) -> Floats:
    """Turns about z, those nearest to where the bodies are in the configuration; rad."""
    angle = np.arctan2(rotation[:, 1, 0], rotation[:, 0, 0])
    turns: Floats = np.round((task.at.angle[bodies] - angle) / (2 * np.pi))
    nearest: Floats = angle + 2 * np.pi * turns
    return nearest
