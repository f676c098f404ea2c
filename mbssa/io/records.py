"""Mechanism as the plain tables of a model file, and back: shared by TOML, graphs and ``.npz``."""

# A record is what tomllib would return for a file of format = 1 in SI units, the keys in the order of
# mbssa.io.schema.

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mbssa.faults import Fault, Faults, ModelError
from mbssa.io.loads import load_records
from mbssa.io.motion import motion_record
from mbssa.joints.catalogue import joint_type
from mbssa.loads import Inertia
from mbssa.mechanism import (
    FRAME,
    FRAME_NAMES,
    BodyGeometry,
    JointFrame,
    JointGeometry,
    Mechanism,
    MultipleJoint,
)
from mbssa.units import SI

Record = dict[str, Any]


def to_record(mechanism: Mechanism) -> Record:
    """Plain tables of a whole mechanism; reading them back gives the same columns and records."""
    record: Record = {"format": 1, "space": mechanism.space} | _texts(mechanism)
    names = named_bodies(mechanism)
    if 0 in names:
        record["body"] = [
            ({"name": names[index]} if index in names else {}) | body_record(mechanism, index)
            for index in range(1, mechanism.n_bodies)
        ]
    else:
        record["bodies"] = mechanism.n_bodies
    record["joint"] = [table for _, table in joint_records(mechanism, names)]
    return record | _loads_and_motion(mechanism, names)


def about_record(mechanism: Mechanism, joints: Sequence[Any]) -> Record:
    """Plain tables beside bodies and joints in graphs and archives; ``joints``: keys of the joints."""
    shared = [
        {"bodies": [b + 1 for b in each.bodies], "joints": [joints[j] for j in each.joints]}
        for each in mechanism.multiple_joints
    ]
    about = _texts(mechanism) | _loads_and_motion(mechanism, held_names(mechanism))
    about |= {"multiple_joints": shared} if shared else {}
    return about | ({} if mechanism.units == SI else {"units": list(mechanism.units)})


def _texts(mechanism: Mechanism) -> Record:
    texts = {key: getattr(mechanism, key) for key in ("title", "source", "notes", "unread")}
    return {key: plain(text) for key, text in texts.items() if text}


def _loads_and_motion(mechanism: Mechanism, names: Mapping[int, str]) -> Record:
    record: Record = plain(load_records(mechanism, names))
    motion = motion_record(mechanism)
    return record | ({} if motion is None else {"motion": motion})


def held_names(mechanism: Mechanism) -> dict[int, str]:
    """Names of movable bodies, by index, that a model file can hold; others have their number."""
    # A model file keeps ``frame`` and ``ground`` for body 1, and numbers for the bodies that they number.
    if mechanism.body_names is None:
        return {}
    return {
        index: name
        for index, name in enumerate(mechanism.body_names)
        if index and isinstance(name, str) and name.strip() and name not in FRAME_NAMES and not name.isdigit()
    }


def named_bodies(mechanism: Mechanism) -> dict[int, str]:
    """Names by index, the frame's among them where the bodies have tables."""
    has_tables = mechanism.body_names is not None or mechanism.body_geometry
    return held_names(mechanism) | ({0: FRAME} if has_tables else {})


def body_record(mechanism: Mechanism, index: int) -> Record:
    """Fields of a body besides its name."""
    geometry = mechanism.body_geometry.get(index)
    record: Record = plain(geometry or {})
    if geometry is not None and geometry.orientation is not None and mechanism.space == "planar":
        record["orientation"] = geometry.orientation[0]
    return record


def check_writable(mechanism: Mechanism) -> None:
    """Check that users' functions are given by name, which alone a file can hold; else ModelError."""
    holders = [
        *((f"joint {mechanism.joint_ids[j]}", one) for j, one in mechanism.joint_geometry.items()),
        *((f"force {force.id}", force) for force in mechanism.forces),
    ]
    faults = Faults()
    for where, one in holders:
        for key in ("function", "derivative"):
            if callable(given := getattr(one, key, None)):
                what = (
                    f"is {getattr(given, '__qualname__', repr(given))} of this program, which no file holds"
                )
                remedy = 'give it by name, "module:name" or "file.py:name"'
                faults.add(f"{where} {key}", f"{what}; {remedy}", "function")
    faults.raise_if_any(mechanism.name or "mechanism")


def joint_records(mechanism: Mechanism, names: Mapping[int, str]) -> list[tuple[tuple[int, ...], Record]]:
    """Joints and content of each table; a joint of several bodies is one table again."""
    merged = {
        several.joints[0]: (several.joints, table)
        for several in mechanism.multiple_joints
        if (table := _multiple_record(mechanism, several, names)) is not None
    }
    inner = {joint for joints, _ in merged.values() for joint in joints[1:]}
    return [
        merged.get(joint) or ((joint,), _joint_record(mechanism, joint, names))
        for joint in range(mechanism.n_joints)
        if joint not in inner
    ]


def split_joints(mechanism: Mechanism) -> list[MultipleJoint]:
    """Joints of several bodies that a model file can only hold as their pairs."""
    # Its reader makes the driven pairs and then a star on the first body; another tree is written as it is.
    return [each for each in mechanism.multiple_joints if _multiple_record(mechanism, each, {}) is None]


def _multiple_record(mechanism: Mechanism, several: MultipleJoint, names: Mapping[int, str]) -> Record | None:
    """One table for the pairs of a joint of several bodies; None if the reader would make others of it."""
    from mbssa.io.multiple import spanning_tree

    first, count = several.joints[0], len(several.joints)
    pairs = [mechanism.joint_bodies(joint) for joint in several.joints]
    records = [_joint_record(mechanism, joint, names) for joint in several.joints]
    driven = [(p[0], p[1]) for p, record in zip(pairs, records, strict=True) if record.pop("driven", None)]
    ids = [record.pop("id", None) for record in records]
    sides = [frame for record in records for frame in record.pop("frames", ())]
    frames = dict(zip([body for pair in pairs for body in pair], sides, strict=False))
    record = records[0] | {"bodies": [names.get(body, body + 1) for body in several.bodies]}
    if (
        list(several.joints) != list(range(first, first + count))
        or spanning_tree(several.bodies, driven) != tuple(pairs)
        or ids != [ids[0], *(ids[0] and f"{ids[0]}#{number}" for number in range(2, count + 1))]
        or any(other | {"bodies": record["bodies"]} != record for other in records)
        or "at_reference" in record
        or (driven and mechanism.joints[first].type.grade > 1)
        or sides != [frames.get(body) for pair in pairs for body in pair if frames]
    ):
        return None
    head = {key: record.pop(key) for key in ("bodies", "type")} | ({} if ids[0] is None else {"id": ids[0]})
    if driven:
        head["driven_pairs"] = [[names.get(body, body + 1) for body in pair] for pair in driven]
    return head | record | ({"frames": [frames[body] for body in several.bodies]} if frames else {})


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
    record |= plain(view.geometry or {})
    return record


#: Fields whose empty table says something else than no table.
_KEPT_EMPTY = ("profile", "visual")


def plain(value: object) -> Any:
    """A copy in dictionaries, lists and scalars only, of dataclasses the fields that are given."""
    if isinstance(value, JointGeometry | BodyGeometry | JointFrame | Inertia):
        given = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {
            key: plain(entry)
            for key, entry in given.items()
            if entry is not None and (key in _KEPT_EMPTY or not isinstance(entry, Mapping) or entry)
        }
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return value


# --- back ------------------------------------------------------------------------------------------


def from_record(record: Record, source_name: str, name: str) -> Mechanism:
    """Mechanism from plain tables, checked as a model file is; faults as ``joint 3 (2, 5) axis``."""
    from mbssa.io.toml_file import parse_record

    try:
        return parse_record(record, source_name, name)
    except ModelError as error:
        raise ModelError(source_name, _renamed(error.faults)) from None


def parts_from_record(
    record: Record,
    bodies: Iterable[int],
    joints: Iterable[int],
    numbers: Mapping[str, int],
    n_bodies: int,
    source_name: str,
) -> dict[str, Any]:
    """Geometry, loads and motion of plain tables, by the fields of :class:`Mechanism`."""
    # ``bodies`` and ``joints``: indices of the entries that the tables have; ``numbers``: indices by name.
    from mbssa.io.shape_faults import check_shape
    from mbssa.io.toml_file import ModelReader

    faults = Faults()
    model = check_shape(record, faults)
    if model is None or faults:
        raise ModelError(source_name, _renamed(faults))
    reader = ModelReader(model, source_name, faults)
    reader.numbers, reader.n_bodies = dict(numbers), n_bodies
    by_place = reader.body_geometry()
    geometry = {}
    for index, entry in zip(joints, model.joint, strict=True):
        where = f"joint {index + 1} ({', '.join(map(str, entry.bodies))})"
        geometry[index] = reader.joint_geometry(entry, joint_type(entry.type, model.space), where)
    parts = {
        "joint_geometry": {index: value for index, value in geometry.items() if value is not None},
        "body_geometry": {index: by_place[k] for k, index in enumerate(bodies, 1) if k in by_place},
        "motion": reader.motion(),
        "gravity": reader.gravity(),
        "forces": reader.forces(),
    }
    _renamed(faults).raise_if_any(source_name)
    return parts


def with_multiple_joints(
    mechanism: Mechanism, entries: object, indices: Mapping[Any, int], where: str, source_name: str
) -> Mechanism:
    """Mechanism with its joints of several bodies; ``indices``: of joints by their keys in the entries."""
    # ``entries`` is a list of {"bodies": [numbers], "joints": [keys of indices]}; the joints must be a tree
    # of the bodies.
    found, faults = list[MultipleJoint](), Faults()
    for number, entry in enumerate(entries if isinstance(entries, list | tuple) else [entries], 1):
        try:
            unknown = entry.keys() - {"bodies", "joints"}
            bodies = tuple(body - 1 for body in entry["bodies"])
            joints = tuple(indices[joint] for joint in entry["joints"] if not unknown)
        except (AttributeError, KeyError, TypeError):
            bodies, joints = (), ()
        pairs = [mechanism.joint_bodies(joint) for joint in joints]
        if len(bodies) < 3 or len(set(joints)) != len(bodies) - 1 or not _is_tree(bodies, pairs):
            what = "write bodies, three or more, and joints, the pairs that connect them"
            faults.add(f"{where} {number}", f"{what}, one fewer")
        else:
            found.append(MultipleJoint(bodies, joints))
    faults.raise_if_any(source_name)
    return dataclasses.replace(mechanism, multiple_joints=tuple(found))


def _is_tree(bodies: tuple[int, ...], pairs: list[tuple[int, ...]]) -> bool:
    """Return whether pairs, one fewer than the bodies, connect them."""
    reached = {bodies[0]}
    for _ in pairs:
        reached.update(body for pair in pairs if reached & set(pair) for body in pair)
    return reached == set(bodies) and len(reached) == len(bodies)


def _renamed(faults: Iterable[Fault]) -> Faults:
    """Places without the brackets of TOML tables."""
    brackets = re.compile(r"\[\[?(joint|body|force|motion)\]\]?")
    return Faults(fault.at(brackets.sub(r"\1", fault.place)) for fault in faults)
