"""Tables of a model file in other units of length and angle: from those of the file to SI, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from mbssa.joints.catalogue import coordinate_unit, is_length
from mbssa.loads import FORCE_TYPES
from mbssa.units import ANGLES, LENGTHS, SI, scale_of, unscaled

if TYPE_CHECKING:
    from mbssa.io.schema import ModelFile
    from mbssa.io.table import Table

Record = dict[str, Any]

#: SI units of the numbers under the keys of a table; what is not here has none.
_BODY = {"origin": "m", "points": "m"}
_INERTIA = {"centre": "m", "moment": "m^2", "moments": "m^2", "products": "m^2"}
_JOINT = {
    "point": "m", "points": "m", "pitch": "m/rad", "radius": "m", "length": "m", "offsets": "m",
}  # fmt: skip

#: Parameters of a law that are times or frequencies; ``phase`` is an angle, the others are as what it moves.
_OF_TIME = ("times", "frequency", "begin", "duration")


def in_units(record: Record, units: tuple[str, str]) -> Record:
    """The record, changed, in these units, which it names; its reader makes the same numbers, to an ulp."""
    if units == SI:
        return record
    from mbssa.io.profile import profile_in

    _Converter(units, unscaled, profile_in).convert(record)
    tables = ("gravity", "body", "joint", "force", "motion", "bodies")
    head = {key: value for key, value in record.items() if key not in tables}
    return head | {"units": dict(zip(("length", "angle"), units, strict=True))} | record


def in_si(model: ModelFile) -> ModelFile:
    """The checked tables, changed: all numbers in SI but those of cam profiles."""
    units = (model.units.length, model.units.angle)
    if units != SI:
        _Converter(units, lambda value, scale: value * scale).convert(model)
    return model


def _keys(table: Record | Table) -> Record:
    return table if isinstance(table, dict) else vars(table)


class _Converter:
    """Change of tables whose numbers become ``by(number, SI units in one unit of length and angle)``."""

    def __init__(
        self,
        units: tuple[str, str],
        by: Callable[[Any, float], Any],
        profile: Callable[[Any, float, float], Any] = lambda table, *_: table,
    ) -> None:
        self.length, self.angle = LENGTHS[units[0]], ANGLES[units[1]]
        self.by, self.profile = by, profile
        #: Metres per unit of a mesh that says none, in the converted table.
        self.mesh_scale = 1.0 if by is unscaled else self.length

    def convert(self, record: Record | ModelFile) -> None:
        keys = _keys(record)
        self._numbers(keys, {"gravity": "m"})
        for body in keys.get("body", ()):
            self._body(_keys(body), keys["space"])
        for joint in keys.get("joint", ()):
            self._joint(_keys(joint))
        for force in keys.get("force", ()):
            self._force(_keys(force))
        if keys.get("motion") is not None:
            for name, law in _keys(keys["motion"])["inputs"].items():
                self._law(_keys(law), coordinate_unit(name))

    def of(self, value: Any, scale: float) -> Any:
        """A number, or numbers in lists and tables; other things as they are."""
        if isinstance(value, float) or type(value) is int:
            return self.by(value, scale)
        if isinstance(value, list | tuple):
            return type(value)(self.of(entry, scale) for entry in value)
        if isinstance(value, dict):
            return {key: self.of(entry, scale) for key, entry in value.items()}
        return value

    def _numbers(self, keys: Record, units: Mapping[str, str]) -> None:
        for key, unit in units.items():
            if unit and keys.get(key) is not None:
                keys[key] = self.of(keys[key], scale_of(unit, self.length, self.angle))

    def _body(self, body: Record, space: str) -> None:
        self._numbers(body, _BODY | ({"orientation": "rad"} if space == "planar" else {}))
        if body.get("inertia"):
            self._numbers(_keys(body["inertia"]), _INERTIA)
        if visual := body.get("visual"):
            self._numbers(visual, {"outline": "m"})
            if "mesh" in visual and self.length != 1.0:
                visual.setdefault("scale", self.mesh_scale)

    def _joint(self, joint: Record) -> None:
        self._numbers(joint, _JOINT)
        for frame in joint.get("frames") or ():
            self._numbers(_keys(frame), {"origin": "m"})
        for values in (joint.get("limits", {}), joint.get("at_reference", {})):
            self._numbers(values, {name: coordinate_unit(name) for name in values})
        if joint.get("couples"):
            first, second = (coordinate_unit(name) for name in joint["couples"])
            self._numbers(joint, {"multiplier": f"{second}/{first}", "offset": second})
        self._profile(joint)

    def _force(self, force: Record) -> None:
        row, coordinate = FORCE_TYPES.get(force["type"]), force.get("coordinate")
        if row is None:
            return
        turning = coordinate is not None and not is_length(coordinate)
        self._numbers(force, {key: row.unit_of(key, turning) for key in row.takes})
        if force.get("factor"):
            self._law(_keys(force["factor"]), "")
        self._profile(force)

    def _profile(self, keys: Record) -> None:
        if "profile" in keys:
            keys["profile"] = self.profile(keys["profile"], self.length, self.angle)

    def _law(self, law: Record, unit: str) -> None:
        if law["law"] == "formula":
            law["unit"] = law.get("unit") or 1.0
        units = {key: "" if key in _OF_TIME else "rad" if key == "phase" else unit for key in law}
        self._numbers(law, units)
