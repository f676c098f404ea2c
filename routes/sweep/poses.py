"""Many independent poses of one model at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from groups import Model
from groups.branches.poses import LONGEST, lines, pieces, solve_proven_poses
from groups.run import Run, along_lines
from groups.solve import patience_of
from groups.solvers.solver import Solver
from groups.status import OK, PASSED_SINGULAR, PREDECESSOR_FAILED, QUALITY
from groups.trajectory import Branch, Trajectory
from mbssa.arrays import Bools, Floats, Ints
from mbssa.joints.axes import whole_turns


def unwound(poses: Trajectory, angles: Mapping[int, Floats]) -> Trajectory:
    """Poses with the turns of ``angles`` (n, 1) by planar body, or quaternions with w ≥ 0."""
    orientation = poses.orientation.copy()
    for body, near in angles.items() if poses.planar else ():
        column = orientation[:, int(np.searchsorted(poses.kept, body))]
        column -= np.nan_to_num(whole_turns(column - near[:, 0]))
    if not poses.planar:
        orientation[orientation[..., 0] < 0.0] *= -1.0
    return replace(poses, orientation=orientation)


def solve_poses(
    model: Model, inputs: Floats, bodies: Ints, branch: Branch | None = None, compiled: bool = False
) -> Trajectory:
    """Poses for each row of inputs (n, D), m and rad, in the modes of the reference, as instants."""
    # Every pose is reached on a straight line of the inputs from the reference, over whole turns, so that it
    # does not depend on order or on other cases. Quaternions have any sign, planar angles any turn.
    proven_ones = patience_of(model, branch) is not None
    if len(inputs) > 1 and pieces(model, inputs).sum() > LONGEST:  # memory for one line is enough
        parts = [solve_poses(model, half, bodies, branch, compiled) for half in np.array_split(inputs, 2)]
        names = ("time", "position", "orientation", *QUALITY, "proven")
        joined: dict[str, Any] = {n: np.concatenate([getattr(part, n) for part in parts]) for n in names}
        return replace(parts[0], **joined)
    if proven_ones:
        run, proven, broken = solve_proven_poses(model, inputs, compiled)
        ends = np.arange(len(inputs))
    else:
        run, ends, broken = _run_along_lines(model, inputs, model.held_bodies(bodies), compiled)
        proven = np.zeros((len(model.solvers), len(inputs)), dtype=np.int8)
    _mark_lost(run, ends, broken)
    run.check_contacts(len(run.answer.time), angles=False)
    return replace(run.trajectory(bodies).instants(ends), proven=proven.T)


def _run_along_lines(model: Model, inputs: Floats, held: Ints, compiled: bool) -> tuple[Run, Ints, Bools]:
    """Poses on the way from the reference, columns of the ends, and groups (G, n) whose line is broken."""
    broken = np.zeros((len(model.solvers), len(inputs)), dtype=np.bool_)
    follows = np.array([depends_on_last_pose(solver) for solver in model.solvers])
    motion, first, stops = lines(model, inputs, pieces(model, inputs))
    run = along_lines(model, motion, first, stops, held, 0, compiled)
    for case, (begin, end) in enumerate(zip(first.tolist(), stops.tolist(), strict=True)):
        broken[:, case] = follows & run.answer.status[begin : end - 1].any(axis=0)
    return run, stops - 1, broken


def _mark_lost(run: Run, ends: Ints, broken: Bools) -> None:
    """Take back groups at the ends of their broken lines, and those that hang on them."""
    status = run.answer.status
    for case in np.flatnonzero(broken.any(axis=0)).tolist():
        last = int(ends[case])
        lost = broken[:, case].copy()
        for g, needs in enumerate(run.model.needs):
            after = bool(lost[list(needs)].any())
            lost[g] |= after
            if lost[g] and status[last, g] == OK:
                run.mark(g, slice(last, last + 1), PREDECESSOR_FAILED if after else PASSED_SINGULAR)


def depends_on_last_pose(solver: Solver) -> bool:
    """Whether the solution of a solver may depend on the pose before."""
    return solver.form in ("Newton", "global") or (solver.form == "closed form" and solver.roots is None)
