"""Small motions about a state of rest: coordinates, stability, eigenfrequencies and mode shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.dynamics.results import unit_of_drive
from groups.reports.about import model_lines
from mbssa.arrays import Floats
from mbssa.joints.catalogue import coordinate_unit
from mbssa.reports.table import SHOWN, Bad, Good, Part, Report, Table, written_lines
from mbssa.units import SI, given_in, units_record

if TYPE_CHECKING:
    from pathlib import Path

    from groups.dynamics.forward.small_motions import Equilibrium, Linearisation

#: Share of the largest amplitude from which a coordinate belongs to a mode shape in a line.
_SEEN = 1e-3

#: Share of an eigenvalue that the differences of forces leave open.
_ROUNDING = 1e-6

#: Coordinates of a mode shape in a line.
_MOST = 6


@dataclass(frozen=True, eq=False)
class SmallMotions:
    """Report of a linearisation, about the equilibrium ``rest`` or a given state (None)."""

    found: Linearisation
    rest: Equilibrium | None
    files: Sequence[Path] = ()  # written
    units: tuple[str, str] = SI

    @property
    def scales(self) -> tuple[Floats, Floats]:
        """SI units (D,) in those of the coordinates, and in those of their generalised forces."""
        coordinates, forces = (
            np.array([given_in(unit(name), self.units)[1] for name in self.found.names])
            for unit in (coordinate_unit, unit_of_drive)
        )
        return coordinates, forces


def small_motions_report(small: SmallMotions) -> Report:
    """Tables of coordinates and of modes; CSV has the modes."""
    found, rest = small.found, small.rest
    parts: list[Part] = [*model_lines(found.model.structure), _coordinates(small)]
    left = float(np.abs(found.force / small.scales[1]).max(initial=0.0))
    kinds = ", ".join(dict.fromkeys(given_in(unit_of_drive(name), small.units)[0] for name in found.names))
    if rest is None:
        parts.append(
            f"linearised about the given state, generalised forces up to {left:.3g} {kinds} are left"
        )
    elif rest.found:
        parts.append(f"static equilibrium: generalised forces below {max(left, 1e-15):.1e} {kinds}")
    else:
        parts.append(Bad(f"no static equilibrium found: generalised forces of {left:.3g} {kinds} left"))
    parts.append(
        Good("stable: no small motion grows") if found.stable else Bad("unstable: small motions grow")
    )
    parts.append(_modes(small))
    parts += written_lines(small.files)
    return Report(parts, lambda: to_dict(small), _sheet(small))


def _coordinate_rows(small: SmallMotions) -> list[dict[str, Any]]:
    rows = []
    for name, value in zip(small.found.names, small.found.value.tolist(), strict=True):
        unit, scale = given_in(coordinate_unit(name), small.units)
        rows.append({"name": name, "value": value / scale, "unit": unit})
    return rows


def _coordinates(small: SmallMotions) -> Table:
    def cells(one: dict[str, Any]) -> tuple[str, ...]:
        return one["name"], f"{one['value']:.6g}", one["unit"]

    return Table(
        ("Coordinate", "Value", "Unit"), _coordinate_rows(small), cells, ("Value",), shown=SHOWN,
        rest="… and {} more",
    )  # fmt: skip


def _mode_rows(small: SmallMotions) -> list[dict[str, Any]]:
    found = small.found
    shapes = found.modes / small.scales[0][:, None]
    shapes = shapes / np.maximum(np.abs(shapes).max(axis=0, initial=0.0), 1e-300)
    return [
        {
            "mode": k + 1,
            "frequency": float(found.frequency[k]),
            "damping_ratio": float(found.damping_ratio[k]),
            "eigenvalue": [float(value.real), float(value.imag)],
            "shape": {
                name: [float(abs(part)), float(np.degrees(np.angle(part)))]
                for name, part in zip(found.names, shapes[:, k], strict=True)
            },
        }
        for k, value in enumerate(found.eigenvalues)
    ]


def _modes(small: SmallMotions) -> Table:
    right = ("Mode", "Frequency (Hz)", "Damping ratio")

    def cells(one: dict[str, Any]) -> tuple[str, ...]:
        size = abs(complex(*one["eigenvalue"]))
        real, imaginary = (_shown(part, size) for part in one["eigenvalue"])
        value = real if imaginary == "0" else f"{real} ± {imaginary}i"
        number, ratio = f"{one['mode']}", _shown(one["damping_ratio"], 1.0)
        return number, f"{one['frequency']:.5g}", ratio, value, _shape(one["shape"], small.units)

    columns = (*right, "Eigenvalue (1/s)", "Mode shape: amplitude, phase")
    return Table(columns, _mode_rows(small), cells, right, shown=SHOWN, rest="… and {} more modes")


def _shown(value: float, scale: float) -> str:
    """A number; 0 where differences cannot tell it from 0 beside ``scale``."""
    return "0" if abs(value) <= _ROUNDING * scale else f"{value:.4g}"


def _shape(shape: dict[str, list[float]], units: tuple[str, str]) -> str:
    largest = max(size for size, _ in shape.values())
    seen = [(name, size, phase) for name, (size, phase) in shape.items() if size >= _SEEN * largest]
    said = []
    for name, size, phase in seen[:_MOST]:
        turned = "" if abs(phase) < 0.05 else f" at {phase:.1f}°"
        said.append(f"{name} {size:.3g} {given_in(coordinate_unit(name), units)[0]}{turned}")
    return ", ".join(said) + (f", … {len(seen) - _MOST} more" if len(seen) > _MOST else "")


def _sheet(small: SmallMotions) -> Table:
    names = small.found.names
    units = [given_in(coordinate_unit(name), small.units)[0] for name in names]
    parts = [
        f"{name} {part}"
        for name, unit in zip(names, units, strict=True)
        for part in (f"amplitude [{unit}]", "phase [deg]")
    ]

    def cells(one: dict[str, Any]) -> tuple[str, ...]:
        shape = [number for name in names for number in one["shape"][name]]
        numbers = (one["frequency"], one["damping_ratio"], *one["eigenvalue"], *shape)
        return str(one["mode"]), *(repr(number) for number in numbers)

    eigenvalue = ("real part [1/s]", "imaginary part [1/s]")
    return Table(("mode", "frequency [Hz]", "damping ratio", *eigenvalue, *parts), _mode_rows(small), cells)


def to_dict(small: SmallMotions) -> dict[str, Any]:
    """The same as data: phases in degrees; matrices by the units of forces (rows) and coordinates."""
    found, rest = small.found, small.rest
    value, force = small.scales
    per = value / force[:, None]
    return {
        "mechanism": found.model.mechanism.name,
        "equilibrium": None if rest is None else rest.found,
        "units": units_record(small.units),
        "force": (found.force / force).tolist(),
        "stable": found.stable,
        "coordinates": _coordinate_rows(small),
        "modes": _mode_rows(small),
        "mass": (found.mass * per).tolist(),
        "damping": (found.damping * per).tolist(),
        "stiffness": (found.stiffness * per).tolist(),
        "files": [str(path) for path in small.files],
    }
