"""Groups that were not solved, in a line about one instant or about the whole motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.results.faults import STATUS
from mbssa.texts import listed

if TYPE_CHECKING:
    from groups.trajectory import Trajectory


def failed_at(trajectory: Trajectory, instant: int) -> str:
    """One line about an instant, ``SG-2, SG-4 singular``; empty where all groups were solved."""
    status = trajectory.status[instant]
    by_reason: dict[int, list[str]] = {}
    for g in np.flatnonzero(status).tolist():
        by_reason.setdefault(int(status[g]), []).append(f"SG-{g + 1}")
    return "; ".join(f"{listed(names, 4)} {STATUS[reason]}" for reason, names in by_reason.items())


def sentence(trajectory: Trajectory) -> str:
    """The first failure and how often it occurs, and the number of others; empty if there are none."""
    status = trajectory.status
    if not status.any():
        return ""
    kinds = np.unique([(g, code) for g, column in enumerate(status.T) for code in column if code], axis=0)
    first = int(np.flatnonzero(status.any(axis=1))[0])
    group = int(np.flatnonzero(status[first])[0])
    count = int((status[:, group] == status[first, group]).sum())
    text = f"SG-{group + 1} {STATUS[status[first, group]]} at {count:,} of {len(status):,} instants"
    return text + (f", and {len(kinds) - 1} more" if len(kinds) > 1 else "")
