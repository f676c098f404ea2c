"""A mechanism as text: all of it, or what decides the answer to a question about its inputs."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from mbssa.io.records import check_writable, from_record, to_record, with_multiple_joints
from mbssa.mechanism import BodyGeometry, Mechanism

#: What decides a verdict, as files under the folder of the package.
_JUDGING = (
    "initialisation.py",
    "mechanism.py",
    "io/multiple.py",
    "transformations/base.py",
    "transformations/distributions.py",
    "transformations/judged.py",
    "transformations/kernels.py",
    "transformations/question.py",
    "transformations/table.py",
    "transformations/whole_rank.py",
    "joints/*.py",
    "search/*.py",
    "singularities/*.py",
)


def as_text(mechanism: Mechanism) -> str:
    """The whole mechanism as JSON on one line: :func:`from_text` returns it.

    >>> import mbssa
    >>> from_text(as_text(mbssa.load("rotor")))
    <Mechanism rotor: spatial, 16 bodies with the frame, 21 joints, 3 driven coordinates>
    """
    return _dumped(mechanism, {"name": mechanism.name})


def canonical(mechanism: Mechanism) -> str:
    """Topology and geometry alone, as JSON on one line: equal for mechanisms whose inputs are judged equally.

    Names, titles, notes, named points, inertia, limits, the motion and what is driven are left out. Bodies
    and joints keep their order, which decides the order of the inputs.

    >>> import mbssa
    >>> canonical(mbssa.load("rotor")) == canonical(mbssa.load("rotor_transformed"))
    True
    """
    joints = {j: replace(known, limits={}) for j, known in mechanism.joint_geometry.items()}
    bodies = {
        index: BodyGeometry(known.origin, known.orientation)
        for index, known in mechanism.body_geometry.items()
        if (known.origin, known.orientation) != (None, None)
    }
    bare = replace(
        mechanism,
        driven=np.zeros_like(mechanism.driven),
        body_names=None,
        joint_names={},
        joint_geometry=joints,
        body_geometry=bodies,
        motion=None,
        name="",
        title="",
        source="",
        notes=(),
    )
    return _dumped(bare, {})


def from_text(text: str) -> Mechanism:
    """The mechanism of :func:`as_text` or :func:`canonical`.

    Raises
    ------
    ModelError
        A text that another version has written.
    """
    tables = json.loads(text)
    name = tables.get("name", "")
    mechanism = from_record(tables["model"], name or "kept mechanism", name)
    if not tables["multiple_joints"]:
        return mechanism
    numbers = {number: number - 1 for number in range(1, mechanism.n_joints + 1)}
    return with_multiple_joints(
        mechanism, tables["multiple_joints"], numbers, "multiple joint", name or "kept mechanism"
    )


def _dumped(mechanism: Mechanism, tables: dict[str, object]) -> str:
    """Pairs are written as they are, with what they stand for beside: a model file would make others."""
    check_writable(mechanism)
    tables["model"] = to_record(replace(mechanism, multiple_joints=()))
    tables["multiple_joints"] = [
        {"bodies": [body + 1 for body in several.bodies], "joints": [j + 1 for j in several.joints]}
        for several in mechanism.multiple_joints
    ]
    return json.dumps(tables, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)


@cache
def judging_version() -> str:
    """A number of the code that judges inputs, in 16 hexadecimal digits: another code, other verdicts."""
    state = hashlib.sha256()
    top = Path(__file__).parent.parent
    for pattern in _JUDGING:
        for path in sorted(top.glob(pattern)):
            state.update(path.read_bytes())
    return state.hexdigest()[:16]
