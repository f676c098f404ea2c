"""A simulated motion: how it ended, its coordinates, energies and errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from groups.reports.about import model_lines, quantity, span_text
from groups.results.faults import values_text
from mbssa.joints.catalogue import coordinate_unit
from mbssa.reports.table import SHOWN, Bad, Good, Part, Report, Table, plain
from mbssa.units import given_in, quantity_text, units_record

if TYPE_CHECKING:
    from groups.dynamics.forward import Simulation

#: Changes of coordinates and events that a page lists before it only counts the rest.
_LISTED = 10


def simulation_report(found: Simulation) -> Report:
    """Table of coordinates, energies, errors, events, changes of coordinates, and the end."""
    units = found.trajectory.mechanism.units
    rows, keys = list[dict[str, Any]](), ("start", "lowest", "highest", "end")
    for name, values in found.coordinates.items():
        numbers = dict(zip(keys, (values[0], values.min(), values.max(), values[-1]), strict=True))
        rows.append(quantity(name, coordinate_unit(name), units, **numbers))
    columns = {"Coordinate": ("name", ""), **{key.capitalize(): (key, ".5g") for key in keys}}
    kinetic, potential = ([e.min(), e.max()] for e in (found.kinetic_energy, found.potential_energy))
    balance, work = np.abs(found.balance).max(), found.work[-1]
    position, velocity = found.position_error.max(), found.velocity_error.max()
    off = quantity_text(position, "m", units, ".1e"), quantity_text(velocity, "m/s", units, ".1e")
    parts: list[Part] = [
        *model_lines(found.structure),
        f"method {found.method}, {found.integrator}, tolerance {found.tolerance:g}: {span_text(found.time)}; "
        f"{found.steps:,} steps, {found.evaluations:,} evaluations",
        *([f"prescribed: {', '.join(found.prescribed)}"] if found.prescribed else []),
        Table.of(rows, columns | {"Unit": ("unit", "")}, shown=SHOWN, rest="… and {} more"),
        f"kinetic energy {kinetic[0]:.4g} … {kinetic[1]:.4g} J, "
        f"potential energy {potential[0]:.4g} … {potential[1]:.4g} J, work of forces {work:.4g} J",
        f"balance of energy: off by {balance:.1e} J at most",
        f"constraints: off by {off[0]}, {off[1]} at most",
        *(f"event {one.name} at t = {one.time:.9g} s" for one in found.events[:_LISTED]),
        *(
            f"independent coordinates from t = {change.time:.6g} s on: {', '.join(change.after)} "
            f"(before: {', '.join(change.before)})"
            for change in found.changes[:_LISTED]
        ),
    ]
    more = sum(max(0, len(listed) - _LISTED) for listed in (found.events, found.changes))
    if more:
        parts.append(f"… and {more} more events and changes; --format json lists them all")
    state: Part = Good(f"{found.status}, checked by its balances")
    if not found.ok:
        end = {name: float(values[-1]) for name, values in found.coordinates.items()}
        state = Bad(f"{found.status} (at the end {values_text(end, units)})")

    def record() -> dict[str, Any]:
        length = given_in("m", units)[1]
        return {
            "mechanism": found.trajectory.mechanism.name,
            **plain(found, "method integrator tolerance status"),
            "branch": "checked" if found.ok else "none",
            "instants": len(found.time),
            "end": found.time[-1],
            **plain(found, "steps evaluations released prescribed"),
            "units": units_record(units),
            "coordinates": rows,
            "kinetic_energy": kinetic,
            "potential_energy": potential,
            "work": work,
            "balance": balance,
            "position_error": position / length,
            "velocity_error": velocity / length,
            "events": [plain(one, "name time ends") for one in found.events],
            "changes": [plain(one, "time before after") for one in found.changes],
            "notes": found.notes,
        }

    return Report([*parts, *found.notes, state], record)
