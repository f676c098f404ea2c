"""Forces of a solved motion: drives, joints, the frame, powers, and what is not determined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.dynamics.masses import massless
from groups.dynamics.results import unit_of_drive
from groups.reports.about import fault_lines, model_lines, quantity, span_text
from mbssa.arrays import Floats
from mbssa.reports.table import SHOWN, Bad, Good, Part, Report, Table, plain
from mbssa.texts import listed
from mbssa.units import given_in, quantity_text, units_record

if TYPE_CHECKING:
    from groups.dynamics import Forces
    from groups.motion import Motion
    from mbssa import Structure


#: Names that a line lists before it only counts the rest.
_LISTED = 20

#: Share of the largest reaction below which one is rounding.
_ROUNDING = 1e-12


def forces_report(structure: Structure, forces: Forces, motion: Motion | None = None) -> Report:
    """Tables of drives and joints, largest shaking force, balance of power, and what to know."""
    units, faults = forces.trajectory.mechanism.units, forces.faults(motion)
    force, moment = (given_in(unit, units)[0] for unit in ("N", "N m"))
    drives = {
        "Drive": ("name", ""), "From": ("lowest", ".4g"), "To": ("highest", ".4g"), "Unit": ("unit", ""),
        "Mean power (W)": ("mean_power", ".4g"), "Maximum power (W)": ("maximum_power", ".4g"),
    }  # fmt: skip
    joints = {
        "Joint": ("joint", ""), "Acts on": ("body", ""), f"Maximum force ({force})": ("force", ".4g"),
        f"Maximum moment ({moment})": ("moment", ".4g"), "Not determined": ("open", ""),
    }  # fmt: skip
    driven, bound = _drive_rows(forces), _joint_rows(forces)
    rows = [row | {"open": ", ".join(row["indeterminate"]) or "–"} for row in bound]
    balanced: list[Part] = [Good("every group is balanced at every instant")]
    shaking = _text(_largest(forces.shaking_force), "N", units)
    turning = _text(_largest(forces.shaking_moment), "N m", units)
    powers = (
        *forces.drive_power.T,
        *forces.element_power.values(),
        forces.gravity_power,
        forces.kinetic_power,
    )
    worst, power = _extreme(np.abs(forces.balance), np.max), max(_extreme(np.abs(p), np.max) for p in powers)
    massless_bodies = [structure.mechanism.body_name(body) for body in massless(structure.mechanism)]
    parts: list[Part] = [
        *model_lines(structure),
        span_text(forces.trajectory.time),
        Table.of(driven, drives),
        Table.of(rows, joints, wraps=True, shown=SHOWN, rest="… and {} more joints"),
        f"on the frame: force up to {shaking}, moment about the world's origin up to {turning}",
        f"balance of power: off by {worst:.1e} W at most, beside powers of up to {power:.4g} W",
        *(
            f"force {name}: power {_extreme(given, np.min):.4g} … {_extreme(given, np.max):.4g} W"
            for name, given in forces.element_power.items()
        ),
        *_notes(forces, massless_bodies),
        *(fault_lines(faults) or balanced),
    ]
    scale = given_in("N m", units)[1]

    def record() -> dict[str, Any]:
        """Forces as lists, texts and numbers; None is what is not known."""
        return {
            "mechanism": structure.mechanism.name,
            "ok": forces.ok,
            "instants": len(forces.trajectory.time),
            "faults": faults,
            "pulling": forces.pulling(),
            "without_place": forces.without_place(),
            "units": units_record(units),
            "drives": driven,
            "joints": bound,
            "shaking_force": _largest(forces.shaking_force),
            "shaking_moment": _largest(forces.shaking_moment) / scale,
            "balance": worst,
            "largest_power": power,
            "massless": massless_bodies,
            "held": {name: _extreme(moment, np.max) / scale for name, moment in forces.held.items()},
            "lock_effect": _extreme(forces.lock_effect, np.max),
            "indeterminate": forces.indeterminate,
        }

    return Report(parts, record)


def _drive_rows(forces: Forces) -> list[dict[str, Any]]:
    rows, units = list[dict[str, Any]](), forces.trajectory.mechanism.units
    for name, driving, power in zip(forces.drives, forces.driving.T, forces.drive_power.T, strict=True):
        ends = {"lowest": _extreme(driving, np.min), "highest": _extreme(driving, np.max)}
        powers = {"mean_power": _extreme(power, np.mean), "maximum_power": _extreme(power, np.max)}
        rows.append(quantity(name, unit_of_drive(name), units, **ends) | powers)
    return rows


def _joint_rows(forces: Forces) -> list[dict[str, Any]]:
    """Largest force and moment of each joint's determined components; rounding is 0."""
    found: list[dict[str, Any]] = [
        plain(of, "joint body")
        | {"force": _largest(of.local_force), "moment": _largest(of.local_moment)}
        | plain(of, "indeterminate")
        for of in map(forces.joint, forces.joints)
    ]
    size, scale = forces.trajectory.reference.size, given_in("N m", forces.trajectory.mechanism.units)[1]
    largest = max([0.0, *(v for one in found for v in (one["force"], one["moment"] / size) if v == v)])
    for one in found:
        for key, least in (("force", _ROUNDING * largest), ("moment", _ROUNDING * largest * size)):
            one[key] = 0.0 if one[key] < least else one[key]
        one["moment"] /= scale
    return found


def _largest(vectors: Floats) -> float:
    """Largest magnitude over time, without components that are never known."""
    columns = vectors.reshape(len(vectors), -1)
    known = columns[:, np.isfinite(columns).any(axis=0)]
    return _extreme(np.linalg.norm(known, axis=1), np.max) if known.shape[1] else float("nan")


def _extreme(values: Floats, of: Any) -> float:
    known = values[np.isfinite(values)]
    return float(of(known)) if len(known) else float("nan")


def _text(value: float, unit: str, units: tuple[str, str]) -> str:
    return quantity_text(value, unit, units, ".4g") if np.isfinite(value) else "–"


def _notes(forces: Forces, without: Sequence[str]) -> list[Part]:
    """Massless bodies, moments that hold passive rotations, and reactions that are open."""
    mechanism, lines = forces.trajectory.mechanism, list[Part]()
    if len(without) == mechanism.n_bodies - 1 and not forces.element_power:
        lines.append(
            Bad("no body has mass and no force acts: write [body.inertia] or [[force]] into the model")
        )
    elif without:
        lines.append(f"massless: {listed(without, _LISTED)}")
    for name, moment in forces.held.items():
        most = _text(_extreme(moment, np.max), "N m", mechanism.units)
        lines.append(
            f"passive rotation of {name}: locked to its convention, as by a guide in the frame, by a moment "
            f"of up to {most}"
        )
    lines += forces.acting_locks()
    lines += [Bad(sentence) for sentence in (*forces.pulling(), *forces.without_place())]
    if forces.indeterminate:
        chosen = forces.solution.chosen is not None
        given = "those of least norm" if chosen else "not given; --minimum-norm gives those of least norm"
        count = len(forces.indeterminate)
        lines.append(f"redundant constraints leave {count} components of reactions open, which are {given}:")
        lines.append(f"  {listed(forces.indeterminate, _LISTED)} (axes of the joint)")
    return lines
