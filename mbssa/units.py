"""Units of model files, and numbers given in them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

#: Metres and radians in one unit of a file.
LENGTHS = {"m": 1.0, "mm": 1e-3, "cm": 1e-2, "in": 0.0254, "ft": 0.3048}
ANGLES = {"rad": 1.0, "deg": math.pi / 180.0}

#: Names of the units of length and angle in SI.
SI = ("m", "rad")

#: SI units of the quantities of reports.
_QUANTITIES = {
    "length": "m", "angle": "rad", "time": "s", "mass": "kg", "force": "N", "moment": "N m", "energy": "J",
    "power": "W", "residual": "m",
}  # fmt: skip

#: SI unit of each unit of a file, and how much of it that is.
_KNOWN = (
    {name: ("m", size) for name, size in LENGTHS.items()}
    | {name: ("rad", size) for name, size in ANGLES.items()}
    | {name: (name, 1.0) for name in ("s", "kg", "N")}
)

_NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(.*)")
_LABEL = re.compile(r"(.*\S)\s*[\[(]\s*([A-Za-z][^\[\]()]*)[\])]")

_NAME = r"\b([A-Za-z]+)(\^-?\d+(?:\.\d+)?|[²³])?"
_RAISED = {"²": "^2", "³": "^3"}
_FACTOR = re.compile(rf"(/ *)?{_NAME}")
_FACTORS = re.compile(rf"{_NAME}(?: *[ /] *{_NAME})*")


class UnitError(ValueError):
    """A unit that is none, or not that of the quantity; the name of the quantity goes before the message."""


def _renamed(unit: str, names: Mapping[str, tuple[str, float]]) -> tuple[str, float]:
    """A unit by other names of its factors, each so much of the new one, and how much of the whole it is."""
    scale = 1.0

    def named(match: re.Match[str]) -> str:
        nonlocal scale
        over, name, power = (part or "" for part in match.groups())
        new, size = names.get(name, (name, 1.0))
        whole = size ** float(_RAISED.get(power, power)[1:] or 1)
        scale = scale / whole if over else scale * whole
        return over + new + power

    return _FACTOR.sub(named, unit), scale


def given_in(unit: str, units: tuple[str, str]) -> tuple[str, float]:
    """Name of an SI unit in other units of length and angle, and how much of the SI unit it is."""
    length, angle = units
    return _renamed(unit, {"m": (length, LENGTHS[length]), "rad": (angle, ANGLES[angle])})


@cache
def scale_of(unit: str, length: float, angle: float) -> float:
    """SI units in one unit of a file whose units of length and angle are so many m and rad."""
    return _renamed(unit, {"m": ("m", length), "rad": ("rad", angle)})[1]


def unscaled(value: Any, scale: float) -> Any:
    """Number that times ``scale`` is ``value``, the shortest of those that are; texts as they are."""
    if scale == 1.0 or isinstance(value, str | bool):
        return value
    near = value / scale
    around = [float(f"{near:.{digits}g}") for digits in (12, 15, 16)]
    around += [near, math.nextafter(near, math.inf), math.nextafter(near, -math.inf)]
    return next((one for one in around if one * scale == value), near)


def quantity_text(value: float, unit: str, units: tuple[str, str], digits: str = ".6g") -> str:
    """A number in SI as text in other units of length and angle, such as ``18.8 mm``."""
    name, scale = given_in(unit, units)
    return f"{value / scale:{digits}} {name}".rstrip()


def chosen_units(text: str, of_file: tuple[str, str]) -> tuple[str, str]:
    """Units of length and angle by ``file``, ``SI`` or names (``mm,deg``); else those of the file."""
    if text.lower() in ("file", "si"):
        return of_file if text.lower() == "file" else SI
    names = [name.strip() for name in text.split(",")]
    lengths, angles = ([name for name in names if name in known] for known in (LENGTHS, ANGLES))
    if len(lengths) > 1 or len(angles) > 1 or len(lengths) + len(angles) < len(names):
        raise ValueError(
            f"{text!r}; write file, SI, or a unit of length ({', '.join(LENGTHS)}), of angle "
            f"({', '.join(ANGLES)}), or both: mm,deg"
        )
    return (lengths or of_file[:1])[0], (angles or of_file[1:])[0]


def units_record(units: tuple[str, str]) -> dict[str, str]:
    """Units of the numbers of a report as data, by quantity."""
    return {name: given_in(unit, units)[0] for name, unit in _QUANTITIES.items()}


def in_si(unit: str) -> tuple[str, float]:
    """SI unit of a unit such as ``mm``, ``deg/s^2`` or ``N mm``, and how much of it that is."""
    text = re.sub(" */ *", "/", unit.replace("²", "^2").replace("s2", "s^2").strip())
    words = [match[2] for match in _FACTOR.finditer(text)]
    if not _FACTORS.fullmatch(text) or not all(word in _KNOWN for word in words):
        raise UnitError(f"has the unit {unit!r}; write {', '.join(_KNOWN)}, or such as mm/s^2")
    return _renamed(text, _KNOWN)


def numbers_in_si(texts: Sequence[str], si: str, units: tuple[str, str]) -> list[float]:
    """Numbers in SI, measured in ``si`` ("" for none), by the units that are written, else by ``units``."""
    # A unit that one has holds for those that have none.
    matches = [_NUMBER.fullmatch(text.strip()) for text in texts]
    if None in matches:
        raise ValueError(f"{texts[matches.index(None)]!r} is no number")
    numbers = [(float(match[1]), match[2]) for match in matches if match is not None]
    for unit in dict.fromkeys(unit for _, unit in numbers if unit):
        if in_si(unit)[0] != si:
            raise UnitError(f"is {f'in {given_in(si, units)[0]}' if si else 'a number'}, not in {unit}")
    scale = one_in_si(texts, si, units)
    return [value * (in_si(unit)[1] if unit else scale) for value, unit in numbers]


def one_in_si(texts: Sequence[str], si: str, units: tuple[str, str]) -> float:
    """SI value of 1 without a unit of its own among these numbers."""
    written = [match[2] for text in texts if (match := _NUMBER.fullmatch(text.strip())) and match[2]]
    return in_si(written[-1])[1] if written else given_in(si, units)[1]


def label_with_unit(label: str) -> tuple[str, str]:
    """A name and the unit in brackets behind it, "" where none stands there."""
    match = _LABEL.fullmatch(label)
    return (match[1], match[2].strip()) if match else (label, "")
