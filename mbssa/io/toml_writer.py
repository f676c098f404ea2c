"""Writer of the native format: TOML with ``format = 1``, in the mechanism's units, nothing lost."""

# tomlkit writes an array on one line and a table inline on request, and floats in their shortest form.
# (tomli-w spreads every array over lines.)

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Array, InlineTable, Item, Table

from mbssa.bounds import MAX_BYTES
from mbssa.faults import Fault, ModelError
from mbssa.io.motion import lost_motion
from mbssa.io.record_units import in_units
from mbssa.io.records import Record, check_writable, held_names, split_joints, to_record
from mbssa.mechanism import FRAME, Mechanism

#: A joint takes at least this many bytes of TOML.
_JOINT_BYTES = len('[[joint]]\nbodies = [1, 2]\ntype = "R"\n\n')


def write_toml(mechanism: Mechanism) -> tuple[bytes, list[str]]:
    """Model file in UTF-8, and what it cannot keep: nothing of a mechanism from a model file."""
    name = mechanism.name or "mechanism"
    too_large = [Fault("", "is more than 20 MB of TOML; write .npz", "size")]
    if mechanism.n_joints * _JOINT_BYTES > MAX_BYTES:
        raise ModelError(name, too_large)
    check_writable(mechanism)
    try:
        data = _document(in_units(to_record(mechanism), mechanism.units)).encode()
    except (TypeError, ValueError, TOMLKitError) as error:
        raise ModelError(name, [Fault("", f"cannot be written as TOML: {error}", "unsupported")]) from None
    if len(data) > MAX_BYTES:
        raise ModelError(name, too_large)
    lost = [
        f"that bodies {', '.join(map(str, bodies))} share one joint: its pairs instead"
        for bodies in ([index + 1 for index in several.bodies] for several in split_joints(mechanism))
    ]
    return data, _lost_names(mechanism) + lost + lost_motion(mechanism)


def _lost_names(mechanism: Mechanism) -> list[str]:
    if mechanism.body_names is None:
        return []
    lost = (
        [] if mechanism.body_names[0] == FRAME else [f"name {mechanism.body_names[0]!r} of body 1: {FRAME}"]
    )
    held = held_names(mechanism)
    lost += [
        f"name {name!r} of body {index + 1}: its number"
        for index, name in enumerate(mechanism.body_names)
        if index and index not in held and name != str(index + 1)
    ]
    if 0 in mechanism.body_geometry:
        lost.append("geometry of the frame")
    return lost


def _document(record: Record) -> str:
    document = tomlkit.document()
    for key, value in record.items():
        if key in ("body", "joint", "force"):
            document.append(key, AoT([_table(entry) for entry in value]))
        else:
            document.append(
                key, _table(value) if key == "motion" else _item(value, key in ("notes", "unread"))
            )
    return tomlkit.dumps(document)


def _table(entry: Record) -> Table:
    """Keys with a value on each line; ``[motion.inputs]``, likewise, in a table of its own."""
    table = tomlkit.table()
    for key, value in entry.items():
        table.append(key, _table(value) if key == "inputs" else _item(value))
    return table


def _item(value: Any, one_a_line: bool = False) -> Item:
    """A value on one line; the notes, which are sentences, on a line each."""
    if isinstance(value, Mapping):
        inline: InlineTable = tomlkit.inline_table()
        for key, entry in value.items():
            inline.append(key, _item(entry))
        return inline
    if isinstance(value, list):
        array: Array = tomlkit.array()
        for entry in value:
            array.append(_item(entry))
        array.multiline(one_a_line)
        return array
    scalar: Item = tomlkit.item(value)
    return scalar
