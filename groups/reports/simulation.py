"""A simulated motion: how it ended, its coordinates, energies and errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.reports.about import model_lines
from groups.results.faults import values_text
from mbssa.joints.catalogue import is_length
from mbssa.reports.table import SHOWN, Bad, Good, Part, Report, Table, written_lines
from mbssa.units import SI, given_in, quantity_text, units_record

if TYPE_CHECKING:
    from pathlib import Path

    from groups.dynamics.forward import Simulation

#: Changes of coordinates and events that a page lists before it only counts the rest.
_LISTED = 10


@dataclass(frozen=True, eq=False)
class SimulationSummary:
    """A simulation; ``files`` were written; tables are in ``units``."""

    simulation: Simulation
    files: Sequence[Path] = ()
    units: tuple[str, str] = SI


def simulation_report(summary: SimulationSummary) -> Report:
    """Table of coordinates, energies, errors, events, changes of coordinates, and the end."""
    found = summary.simulation
    time = found.time
    parts: list[Part] = [*model_lines(found.structure)]
    parts.append(
        f"method {found.method}, {found.integrator}, tolerance {found.tolerance:g}: {len(time):,} instants, "
        f"t = {time[0]:.6g} … {time[-1]:.6g} s; {found.steps:,} steps, {found.evaluations:,} evaluations"
    )
    if found.prescribed:
        parts.append(f"prescribed: {', '.join(found.prescribed)}")
    parts.append(_coordinates(summary))
    parts += _energies(found, summary.units)
    for one in found.events[:_LISTED]:
        parts.append(f"event {one.name} at t = {one.time:.9g} s")
    for change in found.changes[:_LISTED]:
        parts.append(
            f"independent coordinates from t = {change.time:.6g} s on: {', '.join(change.after)} "
            f"(before: {', '.join(change.before)})"
        )
    more = max(0, len(found.events) - _LISTED) + max(0, len(found.changes) - _LISTED)
    if more:
        parts.append(f"… and {more} more events and changes; --format json lists them all")
    parts += found.notes
    if found.ok:
        parts.append(Good(f"{found.status}, checked by its balances"))
    else:
        end = {name: float(values[-1]) for name, values in found.coordinates.items()}
        parts.append(Bad(f"{found.status} (at the end {values_text(end, summary.units)})"))
    parts += written_lines(summary.files)
    return Report(parts, lambda: to_dict(summary))


def _energies(found: Simulation, units: tuple[str, str]) -> list[Part]:
    kinetic, potential = found.kinetic_energy, found.potential_energy
    position = quantity_text(found.position_error.max(), "m", units, ".1e")
    velocity = quantity_text(found.velocity_error.max(), "m/s", units, ".1e")
    return [
        f"kinetic energy {_range(kinetic)} J, potential energy {_range(potential)} J, "
        f"work of forces {found.work[-1]:.4g} J",
        f"balance of energy: off by {np.abs(found.balance).max():.1e} J at most",
        f"constraints: off by {position}, {velocity} at most",
    ]


def _range(values: Any) -> str:
    return f"{values.min():.4g} … {values.max():.4g}"


def _rows(summary: SimulationSummary) -> list[dict[str, Any]]:
    rows = []
    for name, values in summary.simulation.coordinates.items():
        unit, scale = given_in("m" if is_length(name) else "rad", summary.units)
        rows.append(
            {
                "name": name,
                "unit": unit,
                "start": float(values[0]) / scale,
                "lowest": float(values.min()) / scale,
                "highest": float(values.max()) / scale,
                "end": float(values[-1]) / scale,
            }
        )
    return rows


def _coordinates(summary: SimulationSummary) -> Table:
    right = ("Start", "Lowest", "Highest", "End")

    def cells(one: dict[str, Any]) -> tuple[str, ...]:
        return (one["name"], *(f"{one[key.lower()]:.5g}" for key in right), one["unit"])

    return Table(
        ("Coordinate", *right, "Unit"), _rows(summary), cells, right, shown=SHOWN, rest="… and {} more"
    )


def to_dict(summary: SimulationSummary) -> dict[str, Any]:
    """The same as data."""
    found, length = summary.simulation, given_in("m", summary.units)[1]
    return {
        "mechanism": found.trajectory.mechanism.name,
        "method": found.method,
        "integrator": found.integrator,
        "tolerance": found.tolerance,
        "status": found.status,
        "branch": "checked" if found.ok else "none",
        "instants": len(found.time),
        "end": float(found.time[-1]),
        "steps": found.steps,
        "evaluations": found.evaluations,
        "released": list(found.released),
        "prescribed": list(found.prescribed),
        "units": units_record(summary.units),
        "coordinates": _rows(summary),
        "kinetic_energy": [float(found.kinetic_energy.min()), float(found.kinetic_energy.max())],
        "potential_energy": [float(found.potential_energy.min()), float(found.potential_energy.max())],
        "work": float(found.work[-1]),
        "balance": float(np.abs(found.balance).max()),
        "position_error": float(found.position_error.max()) / length,
        "velocity_error": float(found.velocity_error.max()) / length,
        "events": [{"name": one.name, "time": one.time, "ends": one.ends} for one in found.events],
        "changes": [
            {"time": one.time, "before": list(one.before), "after": list(one.after)} for one in found.changes
        ],
        "notes": list(found.notes),
        "files": [str(path) for path in summary.files],
    }
