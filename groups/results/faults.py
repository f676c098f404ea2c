"""Faults of a solved motion, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.kernels.status import CONTACT_LOST, INTERPENETRATION, NOT_COMPUTED, PREDECESSOR_FAILED, SINGULAR

if TYPE_CHECKING:
    from groups.trajectory import Trajectory

#: Texts of a status, by its number.
STATUS = (
    "ok",
    "not converged",
    "singular",
    "predecessor group failed",
    "out of reach",
    "branch jump",
    "dropped equations violated",
    "gimbal",
    "not computed",
    "lifted off",
    "penetrates",
    "passed a singular position",
)


def sentences(trajectory: Trajectory) -> list[str]:
    """One sentence per group that failed, and one for the instants that were not computed."""
    status = trajectory.status
    said, joints = [], trajectory.mechanism.joint_ids
    for g in np.flatnonzero(((status != 0) & (status != NOT_COMPUTED)).any(axis=0)).tolist():
        codes, first, count = np.unique(status[:, g], return_index=True, return_counts=True)
        found = [
            _of_status(trajectory, g, int(codes[k]), int(first[k]), int(count[k]))
            for k in np.argsort(first).tolist()
            if codes[k] not in (0, NOT_COMPUTED)
        ]
        name = trajectory.named_groups[g]
        cause = trajectory.causes[g] if trajectory.causes is not None else ""
        contact = trajectory.contacts[g] if trajectory.contacts is not None else ""
        said.append(
            f"SG-{g + 1}{f' of {name}' if name else ''}: {'; '.join(found)}"
            + (
                f"; closing {'joint' if cause.partition(' or ')[0] in joints else 'link'} {cause}"
                if cause
                else ""
            )
            + "".join(f"; {one}" for one in trajectory.singular if one.group == g + 1)
            + (f"; contact {contact}" if contact else "")
        )
    stopped = np.flatnonzero((status == NOT_COMPUTED).any(axis=1))
    if len(stopped):
        n = len(trajectory.time)
        said.append(f"{STATUS[NOT_COMPUTED]}: {_instants(len(stopped), n, trajectory.time[stopped[0]])}")
    return said


def _of_status(trajectory: Trajectory, group: int, code: int, first: int, count: int) -> str:
    text = f"{STATUS[code]} {_instants(count, len(trajectory.time), trajectory.time[first])}"
    if code == PREDECESSOR_FAILED or (
        code in (CONTACT_LOST, INTERPENETRATION) and trajectory.contacts is not None
    ):
        return text
    figures = f"residual {trajectory.residual[first, group]:.3g}"
    if code == SINGULAR:
        figures += f", condition {trajectory.condition[first, group]:.3g}"
    return f"{text} ({figures})"


def _instants(count: int, of: int, first: np.float64) -> str:
    return f"at {count} of {of} instants, first at t = {first:.6g} s"
