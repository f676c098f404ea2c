"""Units of model files, and numbers given in them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

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

#: Endings of the unit of a rate, and of an acceleration.
_PER_TIME = {"": "", "/s": "/s", "/s^2": "/s^2", "/s2": "/s^2", "/s²": "/s^2"}

_NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(.*)")
_LABEL = re.compile(r"(.*\S)\s*[\[(]\s*([A-Za-z][^\[\]()]*)[\])]")

#: A length or an angle in an SI unit: a stroke before it, its name, its exponent.
_BASE = re.compile(r"(/?)\b(m|rad)(?:\^(-?\d+)|([²³]))?(?!\w)")
_RAISED = {"": 1, "²": 2, "³": 3}


def given_in(unit: str, units: tuple[str, str]) -> tuple[str, float]:
    """Name of an SI unit in other units of length and angle, and how much of the SI unit it is."""
    scale = 1.0

    def named(match: re.Match[str]) -> str:
        nonlocal scale
        stroke, si, written, raised = (part or "" for part in match.groups())
        name = units[SI.index(si)]
        exponent = int(written) if written else _RAISED[raised]
        scale *= (LENGTHS if si == "m" else ANGLES)[name] ** (-exponent if stroke else exponent)
        return stroke + name + (f"^{written}" if written else raised)

    return _BASE.sub(named, unit), scale


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
    """SI unit of a unit of length or angle, or of its rates, and how much of it that is."""
    if unit == "s":
        return "s", 1.0
    base, slash, time = unit.partition("/")
    per_time = _PER_TIME.get(slash + time)
    for si, known in zip(SI, (LENGTHS, ANGLES), strict=True):
        if base in known and per_time is not None:
            return si + per_time, known[base]
    raise ValueError(f"unit {unit!r}: write {', '.join((*LENGTHS, *ANGLES))}, or one of them /s or /s^2")


def numbers_in_si(texts: Sequence[str]) -> tuple[list[float], str]:
    """Numbers in SI and their SI unit, "" where none is written; a unit holds for those that have none."""
    found = [_NUMBER.fullmatch(text.strip()) for text in texts]
    wrong = [text for text, match in zip(texts, found, strict=True) if match is None]
    if wrong:
        raise ValueError(f"{wrong[0]!r} is no number")
    matches = [match for match in found if match is not None]
    said = list(dict.fromkeys(match[2] for match in matches if match[2]))
    kinds = {in_si(unit)[0] for unit in said}
    if len(kinds) > 1:
        raise ValueError(f"{' and '.join(said)} do not measure the same")
    scale = in_si(said[-1])[1] if said else 1.0
    values = [float(match[1]) * (in_si(match[2])[1] if match[2] else scale) for match in matches]
    return values, kinds.pop() if kinds else ""


def label_with_unit(label: str) -> tuple[str, str]:
    """A name and the unit in brackets behind it, "" where none stands there."""
    match = _LABEL.fullmatch(label)
    return (match[1], match[2].strip()) if match else (label, "")
