"""Model files with other joint types and inputs, whose comments and units stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbssa.faults import ModelError
from mbssa.io.record_units import Record, in_units
from mbssa.io.records import joint_records, named_bodies

if TYPE_CHECKING:
    from mbssa.mechanism import Mechanism

#: Keys of a joint that stay: the text may have them in other words.
_KEPT = ("function", "derivative", "profile")

#: Those of computed coordinates, which are rounded.
_ROUNDED = ("point", "points", "axis", "axes")


def with_types_and_inputs(text: str, mechanism: Mechanism) -> str | None:
    """Text of a model file with the joint types and driven coordinates of a mechanism made from it."""
    # A motion of other coordinates is deleted. None where the mechanism differs by more than that.
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    from mbssa.io.motion import coordinate_faults
    from mbssa.io.toml_file import parse_toml

    name = mechanism.name or "model"
    try:
        document: Any = tomlkit.parse(text)
        before = parse_toml(text, name, name)
    except (TOMLKitError, ModelError):
        return None
    tables, old, new = document.get("joint", []), _records(before), _records(mechanism)
    if len(tables) != len(old) or before.n_joints != mechanism.n_joints:
        return None
    for k, (joints, record) in reversed(list(enumerate(old))):
        parts = [part for own, part in new if set(own) <= set(joints)]
        # A joint of several bodies becomes one of the bodies that are left, and the changed pairs.
        for place in range(1, len(parts)):
            table = tomlkit.table()
            for key, value in dict(tables[k]).items():
                table[key] = value
            tables.insert(k + place, table)
        for place, part in enumerate(parts):
            _write(tables[k + place], record, part)
            if place:
                tables[k + place].add(tomlkit.nl())
    if before.motion is not None and coordinate_faults(mechanism, before.motion):
        del document["motion"]
    edited = tomlkit.dumps(document)
    try:
        made = parse_toml(edited, name, name)
    except ModelError:
        return None
    same = _joints_by_id(made) == _joints_by_id(mechanism) and made.has_geometry == mechanism.has_geometry
    return edited if same else None


def _records(mechanism: Mechanism) -> list[tuple[tuple[int, ...], Record]]:
    """Joints of each table of a model file, and the table, in the mechanism's units."""
    joints, tables = zip(*joint_records(mechanism, named_bodies(mechanism)), strict=True)
    converted = in_units({"space": mechanism.space, "joint": tables}, mechanism.units)
    return list(zip(joints, converted["joint"], strict=True))


def _joints_by_id(mechanism: Mechanism) -> dict[str, tuple[str, tuple[str, ...]]]:
    return {joint.id: (joint.type.code, tuple(joint.driven)) for joint in mechanism.joints}


def _write(table: Any, old: Record, new: Record) -> None:
    """Write what a joint has other than before; inputs also where a number may mean others of a new type."""
    changed = {key for key in {**old, **new} if old.get(key) != new.get(key)}
    for key in sorted(changed.difference(_KEPT) | ({"driven"} if "type" in changed else set())):
        if key not in new:
            table.pop(key, None)
        else:
            table[key] = np.array(new[key]).round(12).tolist() if key in _ROUNDED else new[key]
