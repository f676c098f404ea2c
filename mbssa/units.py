"""Units of model files, and numbers given in them."""

from __future__ import annotations

import math
import re

#: Metres and radians in one unit of a file.
LENGTHS = {"m": 1.0, "mm": 1e-3, "cm": 1e-2, "in": 0.0254, "ft": 0.3048}
ANGLES = {"rad": 1.0, "deg": math.pi / 180.0}

#: Names of the units of length and angle in SI.
SI = ("m", "rad")

_BASE = re.compile(r"\b(m|rad)\b(?:\^(-?\d+))?")


def given_in(unit: str, units: tuple[str, str]) -> tuple[str, float]:
    """An SI unit in other units of length and angle: its name, and how much of the SI unit it is.

    >>> given_in("rad/s", ("mm", "deg"))[0], given_in("m^2", ("mm", "deg"))
    ('deg/s', ('mm^2', 1e-06))
    """
    scale = 1.0

    def named(match: re.Match[str]) -> str:
        nonlocal scale
        is_length = match[1] == "m"
        name = units[0 if is_length else 1]
        scale *= (LENGTHS if is_length else ANGLES)[name] ** int(match[2] or 1)
        return name + (f"^{match[2]}" if match[2] else "")

    return _BASE.sub(named, unit), scale
