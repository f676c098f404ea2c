"""Bounds of what a file may ask for: bytes, nesting and counts, and ranges of the numbers of a model."""

# Numbers are beyond any mechanism, within what squares and products can hold. In m and rad: coordinates,
# angles and limits are at most LARGEST in magnitude; sizes (lengths, radii, gear ratios) are also at least
# SMALLEST. A coordinate of 1e-17, left by rounding, is none of these and may stand.

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

from mbssa.faults import Fault

if TYPE_CHECKING:
    from mbssa.loads import Force
    from mbssa.mechanism import BodyGeometry, JointGeometry

#: Largest magnitude of a coordinate (m), an angle (rad) or a ratio, and the smallest size (m, or a ratio).
LARGEST, SMALLEST = 1e9, 1e-9

#: Bytes of a text; above it arrays are the right input.
MAX_BYTES = 20_000_000

#: Bytes, unpacked, of an array of an archive, of the text beside the arrays (whose tables take some twenty
#: times as much), and of all members.
ARRAY_BYTES, ABOUT_BYTES, ARCHIVE_BYTES = 200_000_000, 50_000_000, 1_000_000_000

#: Depth of XML elements.
DEEPEST = 100

#: Characters of a robot's side file; a legged robot takes some thousand.
SIDE_CHARACTERS = 100_000

#: Files that an MJCF may include, and bytes of all files that it names.
INCLUDES, NAMED_BYTES = 200, 500_000_000

#: In an MJCF: copies of an element, cells or pixels of all height fields, any other count, and
#: divisions of a mesh that MuJoCo builds.
COPIES, CELLS, COUNT, DIVISIONS = 10_000, 100_000_000, 10_000, 1_000

#: Of MuJoCo's compiler: CPU seconds, bytes of memory, and bytes of the compiled model.
MUJOCO_SECONDS, MUJOCO_BYTES, MODEL_BYTES = 60, 4_000_000_000, 500_000_000

#: Largest magnitude of a force, stiffness or damping, SI units, and the smallest mass that is not 0, kg.
LARGEST_LOAD, SMALLEST_MASS = 1e15, 1e-18

#: Lengths, radii, ratios and multipliers of a joint: other than zero wherever they are given.
_SIZES = ("length", "radius", "ratio", "multiplier")

#: Numbers without a unit, or in that of a coordinate.
_NOT_IN_METRES = ("ratio", "multiplier", "offset", "at_reference", "limits", "orientation")


def range_fault(value: Any, *, size: bool = False, largest: float = LARGEST) -> str:
    """Fault in the magnitude of a number; empty if there is none."""
    if not issubclass(type(value), Real):
        return f"is {value!r}; write a number"
    if not abs(value) <= largest:
        return f"is {value:.6g}; write a magnitude of {largest:g} at most"
    if size and abs(value) < SMALLEST:
        return f"is {value:.6g}; write a magnitude of {SMALLEST:g} or more"
    return ""


def joint_faults(geometry: JointGeometry, where: str) -> list[Fault]:
    """Faults of a joint's numbers that are out of range, in SI units whatever the units of the file."""
    keys = ("point", "points", "pitch", "offsets", "offset", *_SIZES)
    places: dict[str, Any] = {key: getattr(geometry, key) for key in keys}
    places |= {f"frames[{k}] origin": frame.origin for k, frame in enumerate(geometry.frames or (), 1)}
    places |= {f"at_reference.{name}": value for name, value in geometry.at_reference.items()}
    places |= {f"limits.{name}": value for name, value in geometry.limits.items()}
    return list(_faults(places, where))


def body_faults(geometry: BodyGeometry, where: str) -> list[Fault]:
    """Numbers of a body's geometry that are out of range."""
    places: dict[str, Any] = {"origin": geometry.origin, "orientation": geometry.orientation}
    places |= {f"points.{name}": point for name, point in geometry.points.items()}
    return list(_faults(places, where))


def load_faults(force: Force, where: str) -> Iterator[Fault]:
    """Numbers of a force element that are out of range, in SI units."""
    for key in ("stiffness", "damping", "friction", "force", "moment", "rest", "spin", "threshold", "radius"):
        largest = LARGEST if key in ("rest", "spin", "threshold", "radius") else LARGEST_LOAD
        if fault := _first_fault(getattr(force, key), largest=largest):
            yield Fault(f"{where} {key}", fault)


def gravity_fault(gravity: Iterable[float]) -> str:
    """Fault in the magnitude of gravity, m/s²; empty if there is none."""
    return _first_fault(gravity)


def _faults(places: Mapping[str, Any], where: str) -> Iterator[Fault]:
    for key, value in places.items():
        if fault := _first_fault(value, size=key in _SIZES):
            unit = "" if key.partition(".")[0] in _NOT_IN_METRES else " m"
            yield Fault(f"{where} {key}", fault.replace(";", f"{unit};", 1))


def _first_fault(value: Any, *, size: bool = False, largest: float = LARGEST) -> str:
    faults = (range_fault(number, size=size, largest=largest) for number in _numbers(value))
    return next(filter(None, faults), "")


def _numbers(value: Any) -> Iterable[float]:
    if value is None:
        return
    if isinstance(value, int | float):
        yield value if math.isfinite(value) else math.inf
        return
    for entry in value:
        yield from _numbers(entry)
