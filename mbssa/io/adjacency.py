"""A mechanism as the paper's matrices M and KnownInputs (section 3.1): what its script and a sheet share."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from mbssa.faults import Fault, Faults, ModelError
from mbssa.io.pairs import from_adjacency
from mbssa.mechanism import Joint, Mechanism
from mbssa.texts import counted, listed

#: Widest matrix that is written: wider ones are too large to read.
MAX_BODIES = 1000

#: Joints and bodies that one line of losses names before it only counts the rest.
_NAMED = 8


class Matrices(NamedTuple):
    """M and KnownInputs as lists of rows, and what of the mechanism is not in them."""

    cells: list[list[str]]
    inputs: list[list[int]]
    lost: list[str]


def matrices(mechanism: Mechanism) -> Matrices:
    """Extended adjacency matrix and known inputs of a mechanism; ModelError for what no matrix holds."""
    faults, n = Faults(), mechanism.n_bodies
    if n > MAX_BODIES:
        faults.add(
            "", f"{n} bodies; a matrix of more than {MAX_BODIES} rows is not written, write .npz", "size"
        )
    for j in np.flatnonzero(np.diff(mechanism.joint_start) > 2)[:_NAMED].tolist():
        bodies = f"joins {len(mechanism.joint_bodies(j))} bodies"
        what = f"{bodies}, and a matrix has cells for two bodies; write .toml or .npz"
        faults.add(f"joint {mechanism.joint_ids[j]}", what, "unsupported")
    faults.raise_if_any(mechanism.name or "mechanism")
    cells, inputs = [["-"] * n for _ in range(n)], [[0] * n for _ in range(n)]
    by_pair: dict[tuple[int, ...], list[Joint]] = {}
    for joint in mechanism.joints:
        by_pair.setdefault(tuple(sorted(mechanism.joint_bodies(joint.index))), []).append(joint)
    driven: list[str] = []
    for (i, j), joints in by_pair.items():
        # The order in which their count of inputs fills them from the left.
        joints.sort(
            key=lambda joint: 0 if len(joint.driven) == joint.type.grade else 1 if joint.driven else 2
        )
        count = sum(len(joint.driven) for joint in joints)
        cells[i][j] = cells[j][i] = "+".join(joint.type.code for joint in joints)
        inputs[i][j] = inputs[j][i] = count
        driven += _other_coordinates(joints, count)
    lost = [f"which coordinates are driven: {listed(driven, _NAMED, '; ')}"] if driven else []
    return Matrices(cells, inputs, lost + _not_in_matrices(mechanism))


def _other_coordinates(joints: Sequence[Joint], count: int) -> list[str]:
    """Joints of one cell whose driven coordinates are not those that the count gives back."""
    said = []
    for joint in joints:
        given = min(count, joint.type.grade)
        count -= given
        default = joint.type.coordinates[:given]
        if joint.driven != default:
            drives, means = (", ".join(names) or "nothing" for names in (joint.driven, default))
            said.append(f"{joint.id} drives {drives}, a count of {given} means {means}")
    return said


def _not_in_matrices(mechanism: Mechanism) -> list[str]:
    lost = [key for key in ("title", "source") if getattr(mechanism, key)]
    for key, word in (("notes", "note"), ("unread", "unread part")):
        if texts := getattr(mechanism, key):
            lost.append(counted(len(texts), word))
    if mechanism.joint_names:
        lost.append(f"ids of joints: {listed(list(mechanism.joint_names.values()), _NAMED)}")
    for what, geometry in (("joint", mechanism.joint_geometry), ("body", mechanism.body_geometry)):
        if geometry:
            lost.append(f"geometry of {counted(len(geometry), what)}")
    if mechanism.motion is not None:
        lost.append("motion")
    if mechanism.multiple_joints:
        count = counted(len(mechanism.multiple_joints), "joint")
        lost.append(f"that several bodies share {count}: the pairs instead")
    ends = mechanism.joint_body.reshape(-1, 2).tolist()
    if ends != sorted(map(sorted, ends)):
        lost.append("order of the joints and of their two bodies: row by row instead")
    return lost


# --- back ------------------------------------------------------------------------------------------


def from_matrices(
    cells: list[list[str]],
    inputs: list[list[int]],
    problem_type: int,
    *,
    source_name: str,
    name: str,
    line: Callable[[str, int | None], int],
) -> Mechanism:
    """Mechanism from matrices of a file; ``line`` of a row (from 0; None: the start) of M or KnownInputs."""
    try:
        return from_adjacency(cells, inputs, problem_type, name=name)
    except ModelError as error:
        raise ModelError(source_name, [_on_line(fault, line) for fault in error.faults]) from None


_PLACE = re.compile(r"(M|KnownInputs|ProblemType)(?:\((\d+)| row (\d+))?")


def _on_line(fault: Fault, line: Callable[[str, int | None], int]) -> Fault:
    """A fault of the matrices with the line of its row before it."""
    place = _PLACE.match(fault.place)
    if place is None:
        return fault
    row = place[2] or place[3]
    return Fault(f"line {line(place[1], int(row) - 1 if row else None)}", str(fault), fault.code)
