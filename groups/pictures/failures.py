"""Instants at which a motion was not solved, in sentences and in intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mbssa.texts import listed

if TYPE_CHECKING:
    from groups.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class Failure:
    """One group (number) in one state over instants ``first`` … ``last``, both inclusive."""

    group: int
    reason: str
    first: int
    last: int


def failures(trajectory: Trajectory) -> tuple[Failure, ...]:
    """Every run of instants at which a group has the same status other than ok, by first instant."""
    from groups.trajectory import STATUS

    found = []
    for g in np.flatnonzero(trajectory.status.any(axis=0)).tolist():
        status = trajectory.status[:, g]
        begins = np.concatenate([[0], np.flatnonzero(np.diff(status)) + 1])
        ends = np.concatenate([begins[1:], [len(status)]]) - 1
        for first, last in zip(begins.tolist(), ends.tolist(), strict=True):
            if status[first]:
                found.append(Failure(g + 1, STATUS[int(status[first])], first, last))
    return tuple(sorted(found, key=lambda failure: (failure.first, failure.group)))


def failed_at(trajectory: Trajectory, instant: int) -> str:
    """One line about an instant, ``SG-2, SG-4 singular``; empty where all groups were solved."""
    from groups.trajectory import STATUS

    status = trajectory.status[instant]
    by_reason: dict[int, list[str]] = {}
    for g in np.flatnonzero(status).tolist():
        by_reason.setdefault(int(status[g]), []).append(f"SG-{g + 1}")
    return "; ".join(f"{listed(names, 4)} {STATUS[reason]}" for reason, names in by_reason.items())


def sentence(found: tuple[Failure, ...], instants: int) -> str:
    """Failures over the whole motion, in one line; empty if there are none."""
    counts: dict[tuple[int, str], int] = {}
    for failure in found:
        key = failure.group, failure.reason
        counts[key] = counts.get(key, 0) + failure.last - failure.first + 1
    parts = [
        f"SG-{group} {reason} at {n:,} of {instants:,} instants" for (group, reason), n in counts.items()
    ]
    return parts[0] + (f", and {len(parts) - 1} more" if len(parts) > 1 else "") if parts else ""
