"""The loop that finds tearing inputs: which groups are in it, and its data for the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from groups.encoding.constraint_tables import RowTables, encode_rows
from groups.kernels.torn_state import Loop
from groups.motion import driven_coordinates
from mbssa import Mechanism, Structure
from mbssa.arrays import Ints
from mbssa.joints.catalogue import is_length
from mbssa.joints.frames import Frames

if TYPE_CHECKING:
    from groups.model import Model
    from groups.results.borrowed import Borrowed


#: Miss of a drive that counts as none: over the size, and over the distance from the world's origin.
CLOSED, ROUNDING = 1e-12, 4e-15


@dataclass(frozen=True, eq=False)
class Tearing:
    """Data that a model with tearing inputs has in addition."""

    borrowed: Borrowed
    direct: Model  # of the structure that the real drives make
    loop: Loop


def loop_of(structure: Structure, frames: Frames, drives: Sequence[str], extent: float) -> Loop:
    """Loop that meets these drives, in their order of a motion, by the inputs of a structure."""
    # The extent is the distance of the farthest body from the world's origin, m.
    mechanism = structure.mechanism
    inputs = driven_coordinates(mechanism)
    unknown = [k for k, name in enumerate(inputs) if name not in drives]
    shared = [k for k, name in enumerate(inputs) if name in drives]
    wanted = [k for k, name in enumerate(drives) if name not in inputs]
    rows, stage = _rows(mechanism, frames, [drives[k] for k in wanted])
    before, inside = _groups(structure, [inputs[k] for k in unknown], stage)
    size = frames.size
    return Loop(
        _ints(before),
        _ints(inside),
        _ints(unknown),
        _ints(shared),
        _ints(wanted),
        _ints([drives.index(inputs[k]) for k in shared]),
        np.array([size if is_length(inputs[k]) else 1.0 for k in unknown]),
        np.array([size if is_length(drives[k]) else 1.0 for k in wanted]),
        _ints(stage),
        rows.kernel_rows,
        np.ones(structure.n_groups),
        1.0,
        max(CLOSED, ROUNDING * (extent / size + 1.0)),
    )


def _ints(numbers: Sequence[int]) -> Ints:
    return np.array(numbers, dtype=np.int64)


def _rows(mechanism: Mechanism, frames: Frames, wanted: Sequence[str]) -> tuple[RowTables, list[int]]:
    """The wanted drives as equations, in their order, and the bodies on the stage."""
    places = {mechanism.place_of(name): k for k, name in enumerate(wanted)}
    joints = sorted({joint for joint, _ in places})
    stage = sorted({body for j in joints for body in frames.bodies_of(mechanism, j)})
    found = encode_rows(mechanism, frames, joints, {b: k for k, b in enumerate(stage)}, places)
    mine = np.flatnonzero(found.drive >= 0)
    mine = mine[np.argsort(found.drive[mine], kind="stable")]
    term = found.first_term[mine]
    if (np.diff(found.first_term)[mine] > 1).any():
        raise ValueError("a gear, a cam or a rolling wheel that is driven cannot be met by tearing inputs")
    kept = replace(
        found,
        code=found.code[term],
        joint=found.joint[term],
        number=found.number[term],
        sign=found.sign[term],
        parameter=found.parameter[term],
        factor=found.factor[term],
        near=found.near[term],
        first_term=np.arange(len(mine) + 1),
        constant=found.constant[mine],
        is_length=found.is_length[mine],
        drive=found.drive[mine],
        source=found.source[mine],
        name=tuple(found.name[k] for k in mine.tolist()),
    )
    return kept, stage


def _groups(
    structure: Structure, unknown: Sequence[str], stage: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Groups before the loop and in it: what the drives' bodies need, and what the unknowns move of that."""
    mechanism = structure.mechanism
    moved_by = {mechanism.place_of(name)[0] for name in unknown}
    moved: set[int] = set()
    needed = {int(structure.group_of_body[b]) - 1 for b in stage if b != 0}
    for group in structure.groups:
        own = not moved_by.isdisjoint(group.joint_indices.tolist())
        if own or any(number - 1 in moved for number in group.depends_on):
            moved.add(group.number - 1)
    for group in reversed(structure.groups):
        if group.number - 1 in needed:
            needed.update(number - 1 for number in group.depends_on)
    return sorted(needed - moved), sorted(needed & moved)
