"""Global approach: all bodies and all equations of a mechanism in one system per instant."""

# It is the oracle of every group solver, and the baseline that their speed is measured against.

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from groups.branches.insertion import Proof
from groups.engine.solve import solved
from groups.global_solver.elimination import Method
from groups.model import Model, build
from groups.motion import Motion, default_motion
from groups.motion.sampled import check_drives
from groups.run import Run
from groups.setting import Setting
from groups.solvers.global_approach import GlobalApproach
from groups.trajectory import Level, Progress, Trajectory, level_number, unfilled
from mbssa.structure import Structure


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
    known = {"method": (method, get_args(Method)), "branch": (branch, ("checked", "proven"))}
    for what, (given, allowed) in known.items():
        if given not in allowed and given is not None:
            raise ValueError(f"no {what} {given!r}; there are {', '.join(allowed)}")
    solver, model = as_one_group(structure, method)
    motion = default_motion(structure.mechanism) if motion is None else motion
    check_drives(structure.mechanism, motion)
    order, proves = level_number(level), branch == "proven"
    everything = np.arange(structure.mechanism.n_bodies)
    depth, names = max(order, int(proves)), ("the whole mechanism",)
    run = Run(model, unfilled(structure.mechanism, motion.time, everything, depth, names))
    solver.solve(motion, run.answer, everything, progress)
    run.check_contacts(len(motion.time))
    found = replace(run.trajectory(), causes=None)
    if not proves:
        return found
    own = solved(build(structure), motion, compiled=bool(compiled))
    return Proof(own).in_place_of(found, everything, order)


def as_one_group(structure: Structure, method: Method | None = None) -> tuple[GlobalApproach, Model]:
    """Solver of all equations of a structure, and its model, whose one group has all bodies and joints."""
    setting, mechanism = Setting.of(structure), structure.mechanism
    whole = replace(
        structure,
        group_of_body=np.minimum(np.arange(mechanism.n_bodies), 1),
        joint_group=np.ones(mechanism.n_joints, dtype=np.int64),
        needs_start=np.zeros(2, dtype=np.int64),
        needs=np.zeros(0, dtype=np.int64),
        level_of_group=np.ones(1, dtype=np.int64),
    )
    group = whole.group(1)
    solver = GlobalApproach(1, "global", "", (), (), group=group, setting=setting, method=method)
    return solver, Model(whole, setting.frames, setting.reference, (solver,))
