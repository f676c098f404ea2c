"""Model files with other joint types and inputs, whose comments and units stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbssa.faults import ModelError
from mbssa.io.records import split_joints
from mbssa.units import LENGTHS

if TYPE_CHECKING:
    from mbssa.mechanism import Joint, Mechanism


def with_types_and_inputs(text: str, mechanism: Mechanism) -> str | None:
    """Text of a model file with the joint types and driven coordinates of a mechanism made from it."""
    # A motion of other coordinates is deleted. None where the mechanism differs by more than that, or where a
    # joint of the text is several joints of the mechanism.
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
    joints = _joints_by_table(document.get("joint", []), before)
    if joints is None or before.n_joints != mechanism.n_joints:
        return None
    metres = LENGTHS[document.get("units", {}).get("length", "m")]
    for k in reversed(range(len(joints))):
        table, old = document["joint"][k], [before.joints[j] for j in joints[k]]
        new = [mechanism.joints[j] for j in joints[k]]
        if len(joints[k]) == 1:
            _write(table, old[0], new[0], metres)
        elif [(each.type.code, each.driven, each.bodies) for each in old] != [
            (each.type.code, each.driven, each.bodies) for each in new
        ]:
            _split(document["joint"], k, before, mechanism, joints[k], metres)
    if before.motion is not None and coordinate_faults(mechanism, before.motion):
        del document["motion"]
    edited = tomlkit.dumps(document)
    try:
        made = parse_toml(edited, name, name)
    except ModelError:
        return None
    same = _joints_by_id(made) == _joints_by_id(mechanism) and made.has_geometry == mechanism.has_geometry
    return edited if same else None


def _joints_by_table(tables: Any, mechanism: Mechanism) -> list[tuple[int, ...]] | None:
    """Joints of a mechanism that each table of its text makes; None where they do not correspond."""
    several = {each.joints[0]: each.joints for each in mechanism.multiple_joints}
    found: list[tuple[int, ...]] = []
    joint = 0
    while joint < mechanism.n_joints:
        found.append(several.get(joint, (joint,)))
        joint += len(found[-1])
    return found if len(found) == len(tables) else None


def _joints_by_id(mechanism: Mechanism) -> dict[str, tuple[str, tuple[str, ...]]]:
    return {joint.id: (joint.type.code, tuple(joint.driven)) for joint in mechanism.joints}


def _write(table: Any, old: Joint, new: Joint, metres: float) -> None:
    """Write type, inputs and geometry of a changed joint of two bodies into its table."""
    if new.type.code != old.type.code:
        table["type"] = new.type.code
        table.pop("driven", None)
        for field, unit in (("point", metres), ("axis", 1.0), ("axes", 1.0)):
            before, after = (getattr(each.geometry, field, None) for each in (old, new))
            if after is None and (field == "axis" or before is not None):
                table.pop(field, None)
            elif after is not None and after != before:
                table[field] = (np.array(after) / unit).round(12).tolist()
        if "frames" in table and (new.geometry is None or new.geometry.frames is None):
            del table["frames"]
    if new.driven and (new.driven != old.driven or "driven" not in table):
        table["driven"] = list(new.driven)
    elif not new.driven:
        table.pop("driven", None)


def _split(
    tables: Any, k: int, before: Mechanism, mechanism: Mechanism, joints: tuple[int, ...], metres: float
) -> None:
    """Write a joint of three or more bodies as what is left of it, and each changed pair by itself."""
    import tomlkit

    (several,) = (each for each in before.multiple_joints if each.joints == joints)
    names = dict(zip(several.bodies, tables[k]["bodies"], strict=True))
    pairs_only = split_joints(mechanism)
    left = [each for each in mechanism.multiple_joints if set(each.joints) <= set(joints)]
    left = [each for each in left if each not in pairs_only]
    apart = set(joints).difference(*(each.joints for each in left))
    parts = sorted(
        [(each.joints, each.bodies) for each in left] + [((j,), mechanism.joint_bodies(j)) for j in apart]
    )
    original = dict(tables[k])
    for place, (own, bodies) in enumerate(parts):
        table = tables[k]
        if place:
            table = tomlkit.table()
            for key, value in original.items():
                table[key] = value
            tables.insert(k + place, table)
            table = tables[k + place]
        table["bodies"] = [names[body] for body in bodies]
        table.pop("driven_pairs", None)
        if len(own) == 1:
            _write(table, before.joints[own[0]], mechanism.joints[own[0]], metres)
        elif driven := [mechanism.joint_bodies(j) for j in own if mechanism.driven[j]]:
            table["driven_pairs"] = [[names[body] for body in pair] for pair in driven]
        if "id" in table:
            table["id"] = mechanism.joints[own[0]].id
        if place:
            table.add(tomlkit.nl())
