"""Forces of a solved motion: drives, joints, the frame, powers, and what is not determined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.dynamics.masses import massless
from groups.dynamics.results import unit_of_drive
from groups.reports.about import model_lines, span_text
from mbssa.arrays import Floats
from mbssa.reports.table import SHOWN, Bad, Good, Heading, Part, Report, Table, written_lines
from mbssa.texts import listed
from mbssa.units import SI, given_in, quantity_text, units_record

if TYPE_CHECKING:
    from pathlib import Path

    from groups.dynamics import Forces
    from groups.motion import Motion
    from mbssa import Structure


#: Faults and names that a page lists before it only counts the rest.
_LISTED = 20

#: Share of the largest reaction below which one is rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class ForcesSummary:
    """Forces and what they were found for; ``files`` were written; tables are in ``units``."""

    structure: Structure
    forces: Forces
    files: Sequence[Path] = ()
    units: tuple[str, str] = SI
    motion: Motion | None = None  # that was solved

    def number(self, value: float, unit: str) -> float:
        """A number in the units of the tables."""
        return value / given_in(unit, self.units)[1]

    def text(self, value: float, unit: str) -> str:
        """A number in the units of the tables, with its unit."""
        return quantity_text(value, unit, self.units, ".4g") if np.isfinite(value) else "–"


def forces_report(summary: ForcesSummary) -> Report:
    """Tables of drives and joints, largest shaking force, balance of power, and what to know."""
    force, moment = (given_in(unit, summary.units)[0] for unit in ("N", "N m"))
    drives = {
        "Drive": ("name", ""), "From": ("lowest", ".4g"), "To": ("highest", ".4g"), "Unit": ("unit", ""),
        "Mean power (W)": ("mean_power", ".4g"), "Maximum power (W)": ("maximum_power", ".4g"),
    }  # fmt: skip
    joints = {
        "Joint": ("joint", ""), "Acts on": ("body", ""), f"Maximum force ({force})": ("force", ".4g"),
        f"Maximum moment ({moment})": ("moment", ".4g"), "Not determined": ("open", ""),
    }  # fmt: skip
    rows = [row | {"open": ", ".join(row["indeterminate"]) or "–"} for row in _joint_rows(summary)]
    parts: list[Part] = [
        *model_lines(summary.structure),
        span_text(summary.forces.trajectory.time),
        Table.of(_drive_rows(summary), drives),
        Table.of(rows, joints, wraps=True, shown=SHOWN, rest="… and {} more joints"),
        *_figures(summary),
        *_notes(summary),
    ]
    faults = summary.forces.faults(summary.motion)
    if len(faults) > _LISTED:
        faults = [*faults[:_LISTED], f"… and {len(faults) - _LISTED} more; --format json lists all"]
    if faults:
        parts += ["", Heading("Faults"), *(Bad(f"  - {fault}") for fault in faults)]
    else:
        parts.append(Good("every group is balanced at every instant"))
    parts += written_lines(summary.files)
    return Report(parts, lambda: to_dict(summary))


def _drive_rows(summary: ForcesSummary) -> list[dict[str, Any]]:
    forces, found = summary.forces, list[dict[str, Any]]()
    for name, driving, power in zip(forces.drives, forces.driving.T, forces.drive_power.T, strict=True):
        unit, scale = given_in(unit_of_drive(name), summary.units)
        found.append(
            {
                "name": name,
                "unit": unit,
                "lowest": _extreme(driving, np.min) / scale,
                "highest": _extreme(driving, np.max) / scale,
                "mean_power": _extreme(power, np.mean),
                "maximum_power": _extreme(power, np.max),
            }
        )
    return found


def _joint_rows(summary: ForcesSummary) -> list[dict[str, Any]]:
    """Largest force and moment of each joint's determined components; rounding is 0."""
    forces = summary.forces
    found: list[dict[str, Any]] = [
        {
            "joint": of.joint,
            "body": of.body,
            "force": _largest(of.local_force),
            "moment": _largest(of.local_moment),
            "indeterminate": of.indeterminate,
        }
        for of in map(forces.joint, forces.joints)
    ]
    size = forces.trajectory.reference.size
    largest = max([0.0, *(v for one in found for v in (one["force"], one["moment"] / size) if v == v)])
    for one in found:
        for key, least in (("force", _ROUNDING * largest), ("moment", _ROUNDING * largest * size)):
            one[key] = 0.0 if one[key] < least else one[key]
        one["moment"] = summary.number(one["moment"], "N m")
    return found


def _largest(vectors: Floats) -> float:
    """Largest magnitude over time, without components that are never known."""
    columns = vectors.reshape(len(vectors), -1)
    known = columns[:, np.isfinite(columns).any(axis=0)]
    return _extreme(np.linalg.norm(known, axis=1), np.max) if known.shape[1] else float("nan")


def _extreme(values: Floats, of: Any) -> float:
    known = values[np.isfinite(values)]
    return float(of(known)) if len(known) else float("nan")


def _figures(summary: ForcesSummary) -> list[str]:
    forces = summary.forces
    shaking = summary.text(_largest(forces.shaking_force), "N")
    moment = summary.text(_largest(forces.shaking_moment), "N m")
    worst, power = _extreme(np.abs(forces.balance), np.max), _largest_power(forces)
    lines = [
        f"on the frame: force up to {shaking}, moment about the world's origin up to {moment}",
        f"balance of power: off by {worst:.1e} W at most, beside powers of up to {power:.4g} W",
    ]
    for name, given in forces.element_power.items():
        ends = f"{_extreme(given, np.min):.4g} … {_extreme(given, np.max):.4g} W"
        lines.append(f"force {name}: power {ends}")
    return lines


def _largest_power(forces: Forces) -> float:
    elements, own = forces.element_power.values(), (forces.gravity_power, forces.kinetic_power)
    powers = (*forces.drive_power.T, *elements, *own)
    return max(_extreme(np.abs(power), np.max) for power in powers)


def _notes(summary: ForcesSummary) -> list[Part]:
    """Massless bodies, moments that hold passive rotations, and reactions that are open."""
    forces, mechanism = summary.forces, summary.structure.mechanism
    lines: list[Part] = []
    without = [mechanism.body_name(body) for body in massless(mechanism)]
    if len(without) == mechanism.n_bodies - 1 and not forces.element_power:
        lines.append(
            Bad("no body has mass and no force acts: write [body.inertia] or [[force]] into the model")
        )
    elif without:
        lines.append(f"massless: {listed(without, _LISTED)}")
    for name, moment in forces.held.items():
        most = summary.text(_extreme(moment, np.max), "N m")
        lines.append(
            f"passive rotation of {name}: locked to its convention, as by a guide in the frame, by a moment "
            f"of up to {most}"
        )
    lines += forces.acting_locks()
    lines += [Bad(sentence) for sentence in (*forces.pulling(), *forces.without_place())]
    if forces.indeterminate:
        chosen = all(one.unknown is not None for one in forces.joints.values())
        given = "those of least norm" if chosen else "not given; --minimum-norm gives those of least norm"
        count = len(forces.indeterminate)
        lines.append(f"redundant constraints leave {count} components of reactions open, which are {given}:")
        lines.append(f"  {listed(forces.indeterminate, _LISTED)} (axes of the joint)")
    return lines


def to_dict(summary: ForcesSummary) -> dict[str, Any]:
    """Forces as lists, texts and numbers; None is what is not known."""
    forces = summary.forces
    return {
        "mechanism": summary.structure.mechanism.name,
        "ok": forces.ok,
        "instants": len(forces.trajectory.time),
        "faults": forces.faults(summary.motion),
        "pulling": forces.pulling(),
        "without_place": forces.without_place(),
        "units": units_record(summary.units),
        "drives": _drive_rows(summary),
        "joints": _joint_rows(summary),
        "shaking_force": _largest(forces.shaking_force),
        "shaking_moment": summary.number(_largest(forces.shaking_moment), "N m"),
        "balance": _extreme(np.abs(forces.balance), np.max),
        "largest_power": _largest_power(forces),
        "massless": [summary.structure.mechanism.body_name(b) for b in massless(summary.structure.mechanism)],
        "held": {
            name: summary.number(_extreme(moment, np.max), "N m") for name, moment in forces.held.items()
        },
        "lock_effect": _extreme(forces.lock_effect, np.max),
        "indeterminate": forces.indeterminate,
        "files": summary.files,
    }
