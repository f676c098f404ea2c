"""Small motions about a state of rest: coordinates, stability, eigenfrequencies and mode shapes."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.dynamics.results import unit_of_drive
from groups.reports.about import model_lines, quantity
from mbssa.joints.catalogue import coordinate_unit
from mbssa.reports.table import SHOWN, Bad, Columns, Good, Part, Report, Table
from mbssa.units import given_in, units_record

if TYPE_CHECKING:
    from groups.dynamics.forward.small_motions import Equilibrium, Linearisation

#: Share of the largest amplitude from which a coordinate belongs to a mode shape in a line.
_SEEN = 1e-3

#: Share of an eigenvalue that the differences of forces leave open.
_ROUNDING = 1e-6

#: Coordinates of a mode shape in a line.
_MOST = 6


def small_motions_report(found: Linearisation, rest: Equilibrium | None, units: tuple[str, str]) -> Report:
    """Tables of coordinates and modes about the equilibrium ``rest``, or a given state; CSV has the modes."""
    # Units of the coordinates and of their generalised forces, and how much of the SI units these are.
    scaled = [given_in(coordinate_unit(name), units) for name in found.names]
    driven = [given_in(unit_of_drive(name), units) for name in found.names]
    value, force = (np.array([scale for _, scale in of]) for of in (scaled, driven))
    coordinates = [
        quantity(name, coordinate_unit(name), units, value=at)
        for name, at in zip(found.names, found.value.tolist(), strict=True)
    ]
    shapes = found.modes / value[:, None]
    shapes = shapes / np.maximum(np.abs(shapes).max(axis=0, initial=0.0), 1e-300)
    pairs = np.stack([np.abs(shapes), np.degrees(np.angle(shapes))], axis=-1)
    modes = [
        {
            "mode": k + 1,
            "frequency": float(found.frequency[k]),
            "damping_ratio": float(found.damping_ratio[k]),
            "eigenvalue": [float(root.real), float(root.imag)],
            "shape": dict(zip(found.names, pairs[:, k].tolist(), strict=True)),
        }
        for k, root in enumerate(found.eigenvalues)
    ]
    left = float(np.abs(found.force / force).max(initial=0.0))
    of = ", ".join(dict.fromkeys(unit for unit, _ in driven))
    state = f"linearised about the given state, generalised forces up to {left:.3g} {of} are left"
    if rest is not None:
        state = f"static equilibrium: generalised forces below {max(left, 1e-15):.1e} {of}"
        if not rest.found:
            state = Bad(f"no static equilibrium found: generalised forces of {left:.3g} {of} left")

    def root(one: dict[str, Any]) -> str:
        real, imaginary = (_shown(part, abs(complex(*one["eigenvalue"]))) for part in one["eigenvalue"])
        return real if imaginary == "0" else f"{real} ± {imaginary}i"

    def shape(one: dict[str, Any]) -> str:
        least = _SEEN * max(size for size, _ in one["shape"].values())
        seen = [
            f"{name} {size:.3g} {unit}" + ("" if abs(phase) < 0.05 else f" at {phase:.1f}°")
            for (name, (size, phase)), (unit, _) in zip(one["shape"].items(), scaled, strict=True)
            if size >= least
        ]
        return ", ".join([*seen[:_MOST], *([f"… {len(seen) - _MOST} more"] if len(seen) > _MOST else [])])

    def cells(one: dict[str, Any]) -> list[str]:
        numbers = one["mode"], one["frequency"], one["damping_ratio"], *one["eigenvalue"]
        return list(map(repr, [*numbers, *chain.from_iterable(one["shape"].values())]))

    of_coordinates = {"Coordinate": ("name", ""), "Value": ("value", ".6g"), "Unit": ("unit", "")}
    of_modes: Columns = {
        "Mode": ("mode", "d"), "Frequency (Hz)": ("frequency", ".5g"),
        "Damping ratio": (lambda one: _shown(one["damping_ratio"], 1.0), ">"), "Eigenvalue (1/s)": (root, ""),
        "Mode shape: amplitude, phase": (shape, ""),
    }  # fmt: skip
    parts: list[Part] = [
        *model_lines(found.model.structure),
        Table.of(coordinates, of_coordinates, shown=SHOWN, rest="… and {} more"),
        state,
        Good("stable: no small motion grows") if found.stable else Bad("unstable: small motions grow"),
        Table.of(modes, of_modes, shown=SHOWN, rest="… and {} more modes"),
    ]
    titles = ["mode", "frequency [Hz]", "damping ratio", "real part [1/s]", "imaginary part [1/s]"]
    for name, (unit, _) in zip(found.names, scaled, strict=True):
        titles += [f"{name} amplitude [{unit}]", f"{name} phase [deg]"]

    def record() -> dict[str, Any]:
        """The same as data: phases in degrees; matrices by the units of forces (rows) and coordinates."""
        per = value / force[:, None]
        return {
            "mechanism": found.model.mechanism.name,
            "equilibrium": None if rest is None else rest.found,
            "units": units_record(units),
            "force": found.force / force,
            "stable": found.stable,
            "coordinates": coordinates,
            "modes": modes,
            "mass": found.mass * per,
            "damping": found.damping * per,
            "stiffness": found.stiffness * per,
        }

    return Report(parts, record, Table(tuple(titles), modes, cells))


def _shown(value: float, scale: float) -> str:
    """A number; 0 where differences cannot tell it from 0 beside ``scale``."""
    return "0" if abs(value) <= _ROUNDING * scale else f"{value:.4g}"
