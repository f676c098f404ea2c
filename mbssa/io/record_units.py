"""Tables of a model file in other units of length and angle: from those of the file to SI, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mbssa.joints.catalogue import coordinate_unit, is_length
from mbssa.loads import FORCE_TYPES
from mbssa.units import ANGLES, LENGTHS, SI, scale_of, unscaled

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
    """The record in these units, which it names; its reader makes the same numbers of it, to an ulp."""
    if units == SI:
        return record
    from mbssa.io.profile import profile_in

    tables = _Converter(units, unscaled, profile_in).tables(record)
    head = {key: value for key, value in record.items() if key not in (*tables, "bodies")}
    return head | {"units": dict(zip(("length", "angle"), units, strict=True))} | record | tables


def in_si(record: Record, units: tuple[str, str]) -> Record:
    """Checked tables in these units, with all numbers in SI but those of cam profiles."""
    return record | _Converter(units, lambda value, scale: value * scale).tables(record)


class _Converter:
    """Tables whose numbers become ``by(number, SI units in one unit of length and angle)``."""

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

    def tables(self, record: Record) -> Record:
        found: Record = {}
        if record.get("gravity") is not None:
            found["gravity"] = self.of(record["gravity"], "m")
        for key, convert in (("body", self._body), ("joint", self._joint), ("force", self._force)):
            if key in record:
                found[key] = [convert(entry, record["space"]) for entry in record[key]]
        if record.get("motion") is not None:
            laws = record["motion"].get("inputs", {}).items()
            inputs = {name: self._law(law, coordinate_unit(name)) for name, law in laws}
            found["motion"] = record["motion"] | {"inputs": inputs}
        return found

    def of(self, value: Any, unit: str) -> Any:
        """A number, or numbers in lists and tables; other things as they are."""
        scale = scale_of(unit, self.length, self.angle)

        def convert(value: Any) -> Any:
            if isinstance(value, float) or type(value) is int:
                return self.by(value, scale)
            if isinstance(value, list | tuple):
                return [convert(entry) for entry in value]
            return {key: convert(entry) for key, entry in value.items()} if isinstance(value, dict) else value

        return convert(value)

    def _table(self, table: Mapping[str, Any], units: Mapping[str, str]) -> Record:
        return {
            key: self.of(value, unit) if (unit := units.get(key)) else value for key, value in table.items()
        }

    def _body(self, entry: Record, space: str) -> Record:
        found = self._table(entry, _BODY | ({"orientation": "rad"} if space == "planar" else {}))
        if found.get("inertia"):
            found["inertia"] = self._table(entry["inertia"], _INERTIA)
        if found.get("visual"):
            found["visual"] = self._table(entry["visual"], {"outline": "m"})
            if "mesh" in found["visual"] and self.length != 1.0:
                found["visual"].setdefault("scale", self.mesh_scale)
        return found

    def _joint(self, entry: Record, _: str) -> Record:
        found = self._table(entry, _JOINT)
        if entry.get("frames"):
            found["frames"] = [self._table(frame, {"origin": "m"}) for frame in entry["frames"]]
        for key in ("limits", "at_reference"):
            if key in entry:
                found[key] = self._table(entry[key], {name: coordinate_unit(name) for name in entry[key]})
        if entry.get("couples"):
            first, second = (coordinate_unit(name) for name in entry["couples"])
            found |= self._table(found, {"multiplier": f"{second}/{first}", "offset": second})
        return self._with_profile(found)

    def _force(self, entry: Record, _: str) -> Record:
        row, coordinate = FORCE_TYPES.get(entry["type"]), entry.get("coordinate")
        if row is None:
            return entry
        turning = coordinate is not None and not is_length(coordinate)
        found = self._table(entry, {key: row.unit_of(key, turning) for key in row.takes})
        if entry.get("factor"):
            found["factor"] = self._law(entry["factor"], "")
        return self._with_profile(found)

    def _with_profile(self, entry: Record) -> Record:
        if "profile" in entry:
            entry["profile"] = self.profile(entry["profile"], self.length, self.angle)
        return entry

    def _law(self, law: Mapping[str, Any], unit: str) -> Record:
        if law["law"] == "formula":
            law = {**law, "unit": law.get("unit") or 1.0}
        return self._table(
            law, {key: "" if key in _OF_TIME else "rad" if key == "phase" else unit for key in law}
        )
