"""A record of a model file in SI units, in the units of length and angle that the mechanism came in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mbssa.io.motion import unit_of_parameter
from mbssa.io.profile import profile_in
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


def in_units(record: Record, units: tuple[str, str]) -> Record:
    """The record in these units, which it names; its reader makes the same numbers of it, to an ulp."""
    return record if units == SI else _Writer(units).record(record)


class _Writer:
    def __init__(self, units: tuple[str, str]) -> None:
        self.units = units
        self.length, self.angle = LENGTHS[units[0]], ANGLES[units[1]]

    def record(self, record: Record) -> Record:
        tables: dict[str, Callable[[Any], Any]] = {
            "gravity": lambda vector: self.of(vector, "m"),
            "body": lambda entries: [self._body(entry, record["space"]) for entry in entries],
            "joint": lambda entries: [self._joint(entry) for entry in entries],
            "force": lambda entries: [self._force(entry) for entry in entries],
            "motion": self._motion,
        }
        head = {key: value for key, value in record.items() if key not in (*tables, "bodies")}
        rest = {key: tables.get(key, lambda v: v)(record[key]) for key in record if key not in head}
        return {**head, "units": dict(zip(("length", "angle"), self.units, strict=True)), **rest}

    def of(self, value: Any, unit: str) -> Any:
        """A number, or numbers in lists and tables."""
        if isinstance(value, Mapping):
            return {key: self.of(entry, unit) for key, entry in value.items()}
        if isinstance(value, list | tuple):
            return [self.of(entry, unit) for entry in value]
        return unscaled(value, scale_of(unit, self.length, self.angle))

    def _table(self, table: Mapping[str, Any], units: Mapping[str, str]) -> Record:
        return {key: self.of(value, units[key]) if key in units else value for key, value in table.items()}

    def _body(self, entry: Record, space: str) -> Record:
        units = _BODY | ({"orientation": "rad"} if space == "planar" else {})
        found = self._table(entry, units)
        if "inertia" in entry:
            found["inertia"] = self._table(entry["inertia"], _INERTIA)
        if "visual" in entry:
            found["visual"] = self._table(entry["visual"], {"outline": "m"})
            if "mesh" in entry["visual"]:  # its scale is in metres, by default the unit of the file
                found["visual"].setdefault("scale", 1.0)
        return found

    def _joint(self, entry: Record) -> Record:
        found = self._table(entry, _JOINT)
        if "frames" in entry:
            found["frames"] = [self._table(frame, {"origin": "m"}) for frame in entry["frames"]]
        if "profile" in entry:
            found["profile"] = profile_in(entry["profile"], self.length, self.angle)
        for key in ("limits", "at_reference"):
            if key in entry:
                found[key] = {
                    name: self.of(value, coordinate_unit(name)) for name, value in entry[key].items()
                }
        if "couples" in entry:
            first, second = (coordinate_unit(name) for name in entry["couples"])
            units = {"multiplier": f"{second}/{first}", "offset": second}
            found |= self._table({key: entry[key] for key in units if key in entry}, units)
        return found

    def _force(self, entry: Record) -> Record:
        row, coordinate = FORCE_TYPES[entry["type"]], entry.get("coordinate")
        turning = coordinate is not None and not is_length(coordinate)
        units = {key: unit for key in row.takes if (unit := row.unit_of(key, turning))}
        found = self._table(entry, units)
        if "profile" in entry:
            found["profile"] = profile_in(entry["profile"], self.length, self.angle)
        if "factor" in entry:
            found["factor"] = self._law(entry["factor"], "")
        return found

    def _motion(self, motion: Record) -> Record:
        laws = motion["inputs"].items()
        return motion | {"inputs": {name: self._law(law, coordinate_unit(name)) for name, law in laws}}

    def _law(self, law: Mapping[str, Any], unit: str) -> Record:
        return {
            key: value if key == "law" else self.of(value, unit_of_parameter(key, unit))
            for key, value in law.items()
        }
