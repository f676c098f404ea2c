"""Global approach: all bodies and all equations of a mechanism in one system per instant."""

# It is the oracle of every group solver, and the baseline that their speed is measured against.

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from groups.global_solver.elimination import Method
from groups.global_solver.path import Answer, Way
from groups.global_solver.system import System
from groups.motion import Motion, default_motion
from groups.motion.sampled import check_drives
from groups.rotations import quaternion_of
from groups.run import left_limits, outside, sentences_of, watches
from groups.setting import Setting
from groups.status import CONTACT_LOST, INTERPENETRATION, OK
from groups.trajectory import Level, Trajectory
from mbssa.joints.frames import Frames
from mbssa.structure import Structure

Progress = Callable[[float], object]


def solve_globally(
    structure: Structure,
    motion: Motion | None = None,
    *,
    method: Method | None = None,
    level: Level = "acceleration",
    branch: Literal["checked", "proven"] = "checked",
    compiled: bool | None = None,
    progress: Progress | None = None,
) -> Trajectory:
    """Position, velocity and acceleration of every body by Newton on all of them at once.

    The start and the convention of passive rotations are those of :func:`groups.build`; the groups are not
    used, and of redundant equations none is left out for good. The trajectory has one group, the whole
    mechanism.
    ``residual`` is in m: angles count as arcs at the mechanism's size. ``condition`` is the reciprocal
    condition number of dense matrices.

    Parameters
    ----------
    motion : inputs over time; the model's own by default
    method : ``dense``, or ``sparse``, SciPy's SuperLU on a fixed pattern; the faster one by default
    level : the last level of answer that is wanted
    branch : ``proven`` proves it by the structural groups, which lead it back where it jumped
    compiled : nothing is compiled here, whatever it says; the groups that prove a branch are
    progress : called with the share that is done now and then; False from it stops the run, and what was
        not computed says so in its status

    Raises
    ------
    ValueError
        Not determined, without geometry, types without equations, a reference that cannot close, a motion
        that drives other coordinates, or a method or level that there is not.

    Examples
    --------
    >>> import groups, mbssa
    >>> crank = mbssa.load("slider_crank_isostatic")
    >>> motion = groups.constant_speed(crank, steps=11)
    >>> trajectory = groups.solve_globally(mbssa.decompose(crank), motion)
    >>> trajectory.ok, trajectory.status.shape
    (True, (11, 1))
    """
    for given, allowed, what in (
        (method, (None, *get_args(Method)), "method"), (level, get_args(Level), "level"),
        (branch, ("checked", "proven"), "branch"),
    ):  # fmt: skip
        if given not in allowed:
            raise ValueError(f"no {what} {given!r}; there are {', '.join(filter(None, allowed))}")
    setting = Setting.of(structure)
    motion = default_motion(structure.mechanism) if motion is None else motion
    check_drives(structure.mechanism, motion)
    system = system_of(setting)
    order, proves = get_args(Level).index(level), branch == "proven"
    depth = max(order, proves)
    answer = Way(system, method).solve(system.over(motion), motion.time, depth, progress)
    found = _watched(structure, setting.frames, _trajectory(structure, motion, system, answer, depth))
    if not proves:
        return found
    from groups.branches.insertion import Effort, prove_of_groups
    from groups.model import build

    everything = np.arange(structure.mechanism.n_bodies)
    return prove_of_groups(
        build(structure), motion, [everything[1:]], found, everything, order, bool(compiled), Effort()
    )


def system_of(setting: Setting) -> System:
    """All equations of a structure."""
    mechanism = setting.mechanism
    return System(setting, range(mechanism.n_joints), range(mechanism.n_bodies))


def _trajectory(
    structure: Structure, motion: Motion, system: System, answer: Answer, level: int
) -> Trajectory:
    """The answer, NaN where there is none."""
    everything = np.arange(system.bodies)
    position, turned, velocity, acceleration = system.written(answer.state, everything)
    gone = np.ix_(everything[1:], np.flatnonzero(~answer.sound))
    for part in (position, turned, velocity, acceleration):
        part[gone] = np.nan
    orientation = turned if system.planar else quaternion_of(turned)
    return Trajectory(
        structure.mechanism,
        motion.time,
        position.swapaxes(0, 1),
        orientation.swapaxes(0, 1),
        velocity.swapaxes(0, 1) if level > 0 else None,
        acceleration.swapaxes(0, 1) if level > 1 else None,
        answer.status[:, None].astype(np.int8),
        answer.residual[:, None] * system.size,
        answer.steps[:, None],
        answer.condition[:, None],
        everything,
        group_names=("the whole mechanism",),
    )


def _watched(structure: Structure, frames: Frames, trajectory: Trajectory) -> Trajectory:
    """The same without an answer where a contact has ended, and what is said of it."""
    status, residual = trajectory.status[:, 0], trajectory.residual[:, 0]
    said: dict[int, tuple[int, str]] = {}
    for watch in watches(structure, frames):
        value, off = outside(trajectory, watch, frames.size)
        gone = np.flatnonzero((off > 0.0) & (status == OK))
        if len(gone):
            status[gone], residual[gone] = CONTACT_LOST, off[gone]
            if not said or gone[0] < said[0][0]:
                said[0] = int(gone[0]), left_limits(watch, float(value[gone[0]]), structure.mechanism.units)
    without = (status == CONTACT_LOST) | (status == INTERPENETRATION)
    if not without.any():
        return trajectory
    for array in (trajectory.position, trajectory.orientation, trajectory.velocity, trajectory.acceleration):
        if array is not None:
            array[without, 1:] = np.nan
    joints = np.arange(structure.mechanism.n_joints).tolist()
    return replace(trajectory, contacts=sentences_of(trajectory, [joints], said))
