"""Contacts in the global approach: those that have to open where its equations contradict."""

from __future__ import annotations

import numpy as np

from groups.kernels import global_newton as kernels
from groups.solvers.global_solver.system import GlobalRun
from groups.status import CONTACT_LOST, DROPPED, INTERPENETRATION
from mbssa.arrays import Floats, Ints

#: Share of what the equations lack that contacts must be able to bear to be the cause.
BORNE = 0.5


def part_contacts(run: GlobalRun) -> None:
    """Set the status of instants without a solution to contact lost or interpenetration."""
    rows, (status, residual, _, _) = run.system.rows, run.quality
    at = np.flatnonzero(status == DROPPED)
    gaps = np.flatnonzero(rows.is_gap)
    if not len(at) or not len(gaps):
        return
    n = len(rows)
    tables, system = rows.bound(False).kernel_rows, run.system.dense
    work = run.system.work()
    for t in at.tolist():
        tables[9][:] = run.poses[5][:, t]
        position, rotation, velocity, acceleration, angle = (
            np.ascontiguousarray(part[:, t]) for part in run.poses[:5]
        )
        stage = position, rotation, velocity, acceleration, angle
        kernels.assemble(t, tables, system, run.inputs, stage, work)
        kernels.fill(system, work)
        gap = _gap(work[2].reshape(n, -1), -work[3], gaps)
        if gap:
            status[t], residual[t] = CONTACT_LOST if gap > 0.0 else INTERPENETRATION, abs(gap)


def _gap(jacobian: Floats, missed: Floats, gaps: Ints) -> float:
    """The largest gap if only contacts miss; 0 if they cannot bear what the equations lack."""
    left, _, _ = np.linalg.svd(jacobian)
    # Combinations of equations that no motion changes.
    fixed = left[:, jacobian.shape[1] :].T
    lack = fixed @ missed
    borne, *_ = np.linalg.lstsq(fixed[:, gaps], lack, rcond=1e-9)
    rest = np.linalg.norm(fixed[:, gaps] @ borne - lack)
    if rest > (1.0 - BORNE) * np.linalg.norm(lack):
        return 0.0
    return float(borne[np.abs(borne).argmax()])
