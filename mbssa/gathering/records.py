"""A mechanism as the plain tables of a model file, and back: what TOML, graphs and ``.npz`` share.

A record is what :mod:`tomllib` would return for a file of ``format = 1`` in SI units: dictionaries,
lists, texts and numbers, the keys in the order of :mod:`mbssa.gathering.schema`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from mbssa.gathering.faults import Fault, ModelError
from mbssa.joints.catalogue import Space, joint_type
from mbssa.mechanism import FRAME, BodyGeometry, JointFrame, JointGeometry, Mechanism, Vector

Record = dict[str, Any]


def to_record(mechanism: Mechanism) -> Record:
    """Plain tables of a whole mechanism; reading them back gives the same columns and records.

    >>> import mbssa
    >>> record = to_record(mbssa.load("planar_four_bar"))
    >>> record["joint"][0]["bodies"], record["joint"][0]["driven"]
    (['frame', 'crank'], ['angle'])
    """
    record: Record = {"format": 1, "space": mechanism.space}
    record |= {key: getattr(mechanism, key) for key in ("title", "source") if getattr(mechanism, key)}
    if mechanism.notes:
        record["notes"] = list(mechanism.notes)
    names = held_names(mechanism)
    if mechanism.body_names is None and not mechanism.body_geometry:
        record["bodies"] = mechanism.n_bodies
    else:
        record["body"] = [
            ({"name": names[index]} if index in names else {}) | body_record(mechanism, index)
            for index in range(1, mechanism.n_bodies)
        ]
        names[0] = FRAME
    record["joint"] = [_joint_record(mechanism, j, names) for j in range(mechanism.n_joints)]
    return record


def held_names(mechanism: Mechanism) -> dict[int, str]:
    """Names of movable bodies, by index, that a model file can hold; others are known by number.

    A model file keeps ``frame`` for body 1, and numbers for the bodies that they number.
    """
    if mechanism.body_names is None:
        return {}
    return {
        index: name
        for index, name in enumerate(mechanism.body_names)
        if index and isinstance(name, str) and name.strip() and name != FRAME and not name.isdigit()
    }


def body_record(mechanism: Mechanism, index: int) -> Record:
    """What is known of a body besides its name."""
    geometry = mechanism.body_geometry.get(index)
    if geometry is None:
        return {}
    record = _plain_fields(geometry)
    if geometry.orientation is not None:
        record["orientation"] = (
            geometry.orientation[0] if mechanism.space == "planar" else list(_spelt(geometry.orientation))
        )
    return record


def joint_geometry_record(geometry: JointGeometry | None) -> Record:
    """Geometry of a joint under the keys of a model file."""
    return {} if geometry is None else _plain_fields(geometry)


def _joint_record(mechanism: Mechanism, joint: int, names: Mapping[int, str]) -> Record:
    view = mechanism.joints[joint]
    record: Record = {
        "bodies": [names.get(index, index + 1) for index in mechanism.joint_bodies(joint)],
        "type": view.type.code,
    }
    if joint in mechanism.joint_names:
        record["id"] = mechanism.joint_names[joint]
    if view.driven:
        record["driven"] = list(view.driven)
    return record | joint_geometry_record(view.geometry)


#: Fields whose empty table says something else than no table.
_KEPT_EMPTY = ("profile", "inertia", "visual")


def _plain_fields(geometry: JointGeometry | BodyGeometry | JointFrame) -> Record:
    record = {}
    for field in dataclasses.fields(geometry):
        value = getattr(geometry, field.name)
        if value is not None and (field.name in _KEPT_EMPTY or not isinstance(value, Mapping) or value):
            record[field.name] = plain(value)
    return record


def plain(value: object) -> Any:
    """A copy in dictionaries, lists and scalars only; NumPy's arrays and numbers become Python's."""
    if isinstance(value, JointFrame):
        return _plain_fields(value)
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return value


def _spelt(quaternion: Vector) -> Vector:
    """The digits that the reader, which divides by the norm, turns back into this quaternion.

    They are the quaternion's own or, where its norm is not 1 to the last bit, those of one a little longer.
    """
    for step in range(500):
        spelt = tuple(v * (1.0 + step * 1e-9) for v in quaternion)
        norm = math.hypot(*spelt)
        if tuple(v / norm for v in spelt) == tuple(quaternion):
            return spelt
    return quaternion


# --- back ------------------------------------------------------------------------------------------


def from_record(record: Record, source_name: str, name: str) -> Mechanism:
    """A mechanism from plain tables, checked as a model file is.

    Raises
    ------
    ModelError
        With every fault, named as ``joint 3 (2, 5) axis``.
    """
    from mbssa.gathering.toml_file import _Reader, _shape

    faults: list[Fault] = []
    model = _shape(record, faults)
    try:
        if model is None:
            raise ModelError(source_name, faults)
        return _Reader(model, source_name, name, faults).mechanism()
    except ModelError as error:
        raise ModelError(source_name, _renamed(error.faults)) from None


def geometry_from_records(
    space: Space,
    bodies: Mapping[int, Record],
    joints: Mapping[int, Record],
    source_name: str,
) -> tuple[dict[int, BodyGeometry], dict[int, JointGeometry]]:
    """Geometry by index from the records of those bodies and joints that have any.

    A joint's record has ``bodies`` and ``type`` beside its geometry; the tables are changed.

    Raises
    ------
    ModelError
        With every fault.
    """
    from mbssa.gathering.toml_file import _Reader, _shape

    faults: list[Fault] = []
    raw = {"format": 1, "space": space, "body": list(bodies.values()), "joint": list(joints.values())}
    model = _shape(raw, faults)
    if model is None or faults:
        raise ModelError(source_name, _renamed(faults))
    reader = _Reader(model, source_name, "", faults)
    by_place = reader._body_geometry()
    found = {index: by_place[place + 1] for place, index in enumerate(bodies) if place + 1 in by_place}
    geometry = {}
    for index, entry in zip(joints, model.joint, strict=True):
        where = f"joint {index + 1} ({', '.join(map(str, entry.bodies))})"
        value = reader._joint_geometry(entry, joint_type(entry.type, space), where)
        if value is not None:
            geometry[index] = value
    if faults:
        raise ModelError(source_name, _renamed(faults))
    return found, geometry


def _renamed(faults: list[Fault] | tuple[Fault, ...]) -> list[Fault]:
    """Places without the brackets of TOML tables."""
    return [
        Fault(fault.where.replace("[[joint]]", "joint").replace("[[body]]", "body"), fault.what)
        for fault in faults
    ]
