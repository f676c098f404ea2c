"""A mechanism as the paper's matrices M and KnownInputs (section 3.1): what its script and a sheet share."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from mbssa.faults import Fault, Faults, ModelError
from mbssa.io.pairs import from_adjacency
from mbssa.mechanism import Joint, Mechanism

#: Widest matrix that is written: wider ones are too large to read.
MAX_BODIES = 1000

#: Joints and bodies that one line of losses names before it only counts the rest.
_NAMED = 8


@dataclass(slots=True)
class Matrices:
    """M and KnownInputs as lists of rows, and what of the mechanism is not in them."""

    cells: list[list[str]]
    inputs: list[list[int]]
    lost: list[str] = field(default_factory=list)


def matrices(mechanism: Mechanism) -> Matrices:
    """Extended adjacency matrix and known inputs of a mechanism; ModelError for what no matrix holds."""
    faults = Faults([] if mechanism.n_bodies <= MAX_BODIES else [_too_wide(mechanism)])
    faults += two_body_faults(mechanism, "a matrix has cells for two bodies")
    faults.raise_if_any(mechanism.name or "mechanism")
    n = mechanism.n_bodies
    written = Matrices([["-"] * n for _ in range(n)], [[0] * n for _ in range(n)])
    driven: list[str] = []
    by_pair: dict[tuple[int, int], list[Joint]] = {}
    for joint in mechanism.joints:
        i, j = sorted(mechanism.joint_bodies(joint.index))
        by_pair.setdefault((i, j), []).append(joint)
    for (i, j), joints in by_pair.items():
        joints.sort(key=_driven_first)
        codes = "+".join(joint.type.code for joint in joints)
        count = sum(len(joint.driven) for joint in joints)
        written.cells[i][j] = written.cells[j][i] = codes
        written.inputs[i][j] = written.inputs[j][i] = count
        driven += _other_coordinates(joints, count)
    if driven:
        written.lost.append(f"which coordinates are driven: {_listed(driven, '; ')}")
    written.lost += _not_in_matrices(mechanism, list(by_pair))
    return written


def two_body_faults(mechanism: Mechanism, because: str) -> list[Fault]:
    """Faults for the joints of more than two bodies, which ``because`` cannot hold."""
    wide = np.flatnonzero(np.diff(mechanism.joint_start) > 2)
    return [
        Fault(
            f"joint {mechanism.joint_ids[j]}",
            f"joins {len(mechanism.joint_bodies(j))} bodies, and {because}; write .toml or .npz",
            "unsupported",
        )
        for j in wide[:_NAMED].tolist()
    ]


def _too_wide(mechanism: Mechanism) -> Fault:
    return Fault(
        "",
        f"{mechanism.n_bodies} bodies; a matrix of more than {MAX_BODIES} rows is not written, write .npz",
        "size",
    )


def _driven_first(joint: Joint) -> int:
    """Pairs of one cell, in the order in which their count of inputs fills them from the left."""
    if len(joint.driven) == joint.type.grade:
        return 0
    return 1 if joint.driven else 2


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


def _not_in_matrices(mechanism: Mechanism, pairs: list[tuple[int, int]]) -> list[str]:
    lost = [key for key in ("title", "source") if getattr(mechanism, key)]
    for key, word in (("notes", "note"), ("unread", "unread part")):
        if texts := getattr(mechanism, key):
            lost.append(_counted(len(texts), word))
    if mechanism.joint_names:
        lost.append(f"ids of joints: {_listed(list(mechanism.joint_names.values()), ', ')}")
    for what, geometry in (("joint", mechanism.joint_geometry), ("body", mechanism.body_geometry)):
        if geometry:
            lost.append(f"geometry of {_counted(len(geometry), what)}")
    if mechanism.motion is not None:
        lost.append("motion")
    if mechanism.multiple_joints:
        count = _counted(len(mechanism.multiple_joints), "joint")
        lost.append(f"that several bodies share {count}: the pairs instead")
    ends = mechanism.joint_body.reshape(-1, 2)
    ordered = bool((ends[:, 0] < ends[:, 1]).all())
    kept = [tuple(sorted(pair)) for pair in ends.tolist()]
    if not ordered or kept != sorted(kept):
        lost.append("order of the joints and of their two bodies: row by row instead")
    return lost


def _counted(number: int, what: str) -> str:
    plural = "bodies" if what == "body" else f"{what}s"
    return f"{number} {what if number == 1 else plural}"


def _listed(texts: list[str], between: str) -> str:
    more = f"{between}and {len(texts) - _NAMED} more" if len(texts) > _NAMED else ""
    return between.join(texts[:_NAMED]) + more


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
    n = len(cells)
    faults = Faults()
    for r, row in enumerate(inputs):
        if len(row) != n:
            what = f"KnownInputs row {r + 1}: {len(row)} entries; write {n}"
            faults.add(f"line {line('KnownInputs', r)}", what)
    if len(inputs) != n:
        faults.add(f"line {line('KnownInputs', None)}", f"KnownInputs has {len(inputs)} rows; M has {n}")
    if faults:
        inputs = [[0] * n for _ in range(n)]
    try:
        mechanism = from_adjacency(cells, inputs, problem_type, name=name)
    except ModelError as error:
        faults = Faults([_on_line(fault, line, n) for fault in error.faults] + faults)
    faults.raise_if_any(source_name)
    return mechanism


_PLACE = re.compile(r"(M|KnownInputs|ProblemType)(?:\((\d+)| row (\d+))?")


def _on_line(fault: Fault, line: Callable[[str, int | None], int], n: int) -> Fault:
    """A fault of the matrices with the line of its row before it."""
    place = _PLACE.match(fault.place)
    if place is None:
        return fault
    row = place[2] or place[3]
    at = line(place[1], int(row) - 1 if row else None)
    return Fault(f"line {at}", str(fault), fault.code)
