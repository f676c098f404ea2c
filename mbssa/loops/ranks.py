"""Number of closure equations of a loop: the rank of the relative motions of its joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from mbssa.analysis.decompose import worth_treating
from mbssa.joints.assembly import assemble
from mbssa.joints.frames import joint_frames
from mbssa.joints.system import Rows, rows_at
from mbssa.mechanism import Mechanism
from mbssa.singularities.ranks import EXACT, generic_rows, precision_of, rank_of, tolerance_for
from mbssa.singularities.redundancy import examine

#: Body indices and joint indices of a loop.
BodiesAndJoints: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]


def loop_ranks(mechanism: Mechanism, loops: Sequence[BodiesAndJoints]) -> tuple[list[int], str]:
    """Closure equations of each loop, and a note where they were not found at the given geometry."""
    # The relative motions that the joints of a loop allow span B directions or fewer; along the others a loop
    # that can move closes by itself. Where they span fewer, a perturbed configuration tells whether that is
    # so in this pose alone.
    b = mechanism.freedom
    if not loops:
        return [], ""
    if not worth_treating(mechanism):
        return [b] * len(loops), f"every loop counts {b} equations: too many bodies to take ranks"
    if not (mechanism.has_geometry and joint_frames(mechanism).known.all()):
        return _generic(mechanism, loops), "ranks of loops at random geometry, as not every joint has its own"
    frames = joint_frames(mechanism)
    tolerance = tolerance_for(precision_of(mechanism, frames.size))
    closed = assemble(mechanism, frames, rank_tolerance=tolerance)
    ranks = _ranks(mechanism, rows_at(mechanism, frames, closed.configuration), loops, tolerance)
    if min(ranks) == b:
        return ranks, ""
    found = examine(mechanism)
    if found.fault:
        note = f"ranks of loops at random geometry, as the given one cannot be assembled: {found.fault}"
        return _generic(mechanism, loops), note
    if found.elsewhere is not None:
        other = _ranks(mechanism, found.elsewhere.rows, loops, found.tolerance)
        ranks = [max(pair) for pair in zip(ranks, other, strict=True)]
    return ranks, ""


def _generic(mechanism: Mechanism, loops: Sequence[BodiesAndJoints]) -> list[int]:
    """At random geometry of the declared types; of two draws the higher counts."""
    draws = [_ranks(mechanism, generic_rows(mechanism, seed), loops, EXACT) for seed in (1, 2)]
    return [max(pair) for pair in zip(*draws, strict=True)]


def _ranks(mechanism: Mechanism, rows: Rows, loops: Sequence[BodiesAndJoints], tolerance: float) -> list[int]:
    missing = set(rows.missing)
    return [
        _rank(mechanism, rows, bodies, joints, tolerance) if missing.isdisjoint(joints) else mechanism.freedom
        for bodies, joints in loops
    ]


def _rank(
    mechanism: Mechanism, rows: Rows, bodies: Sequence[int], joints: Sequence[int], tolerance: float
) -> int:
    """Joint degrees of freedom less the loop's own mobility; B for a loop that is rigid on its own."""
    mine = rows.select(np.flatnonzero(np.isin(rows.joint, joints) & ~rows.drive))
    # The first body is fixed; only relative motions enter a loop.
    matrix = mine.matrix(np.array(bodies[1:], dtype=np.int64))
    mobility = mechanism.freedom * (len(bodies) - 1) - rank_of(matrix, tolerance).rank
    return int(mechanism.grade[list(joints)].sum()) - mobility if mobility else mechanism.freedom
