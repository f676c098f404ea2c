"""Model files with other joint types and inputs, whose comments and units stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbssa.faults import ModelError

if TYPE_CHECKING:
    from mbssa.mechanism import Mechanism


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
    tables = document.get("joint", [])
    if not len(tables) == before.n_joints == mechanism.n_joints:
        return None
    for table, old, new in zip(tables, before.joints, mechanism.joints, strict=True):
        if new.type.code != old.type.code:
            table["type"] = new.type.code
            table.pop("driven", None)
            if new.geometry is None or new.geometry.axis is None:
                table.pop("axis", None)
        if new.driven and (new.driven != old.driven or "driven" not in table):
            table["driven"] = list(new.driven)
        elif not new.driven:
            table.pop("driven", None)
    if before.motion is not None and coordinate_faults(mechanism, before.motion):
        del document["motion"]
    edited = tomlkit.dumps(document)
    try:
        made = parse_toml(edited, name, name)
    except ModelError:
        return None
    same = (
        (made.joint_type == mechanism.joint_type).all()
        and (made.driven == mechanism.driven).all()
        and made.has_geometry == mechanism.has_geometry
    )
    return edited if same else None
