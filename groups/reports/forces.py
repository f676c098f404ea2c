"""Forces of a solved motion: drives, joints, the frame, powers, and what is not determined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from groups.dynamics.masses import massless
from groups.dynamics.results import unit_of_drive
from groups.reports.about import fault_lines, model_lines, quantity, span_text
from mbssa.arrays import Floats
from mbssa.reports.table import SHOWN, Bad, Columns, Good, Part, Report, Table, plain
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
    mechanism, faults = forces.trajectory.mechanism, forces.faults(motion)
    units = mechanism.units
    (force, _), (moment, scale) = (given_in(unit, units) for unit in ("N", "N m"))
    drives = [
        quantity(
            name, unit_of_drive(name), units, lowest=_extreme(given, np.min), highest=_extreme(given, np.max)
        )
        | {"mean_power": _extreme(power, np.mean), "maximum_power": _extreme(power, np.max)}
        for name, given, power in zip(forces.drives, forces.driving.T, forces.drive_power.T, strict=True)
    ]
    joints = _joint_rows(forces)
    of_drives: Columns = {
        "Drive": ("name", ""), "From": ("lowest", ".4g"), "To": ("highest", ".4g"), "Unit": ("unit", ""),
        "Mean power (W)": ("mean_power", ".4g"), "Maximum power (W)": ("maximum_power", ".4g"),
    }  # fmt: skip
    of_joints: Columns = {
        "Joint": ("joint", ""), "Acts on": ("body", ""), f"Maximum force ({force})": ("force", ".4g"),
        f"Maximum moment ({moment})": ("moment", ".4g"), "Not determined": ("indeterminate", ""),
    }  # fmt: skip
    shaking, turning = _largest(forces.shaking_force), _largest(forces.shaking_moment)
    elements = forces.element_power
    powers = (*forces.drive_power.T, *elements.values(), forces.gravity_power, forces.kinetic_power)
    power = max(_extreme(np.abs(each), np.max) for each in powers)
    balance = _extreme(np.abs(forces.balance), np.max)
    held = {name: _extreme(each, np.max) for name, each in forces.held.items()}
    bare = [mechanism.body_name(body) for body in massless(mechanism)]

    def text(value: float, unit: str) -> str:
        return quantity_text(value, unit, units, ".4g") if np.isfinite(value) else "–"

    notes: list[Part] = []
    if len(bare) == mechanism.n_bodies - 1 and not elements:
        notes = [Bad("no body has mass and no force acts: write [body.inertia] or [[force]] into the model")]
    elif bare:
        notes = [f"massless: {listed(bare, _LISTED)}"]
    notes += [
        f"passive rotation of {name}: locked to its convention, as by a guide in the frame, by a moment "
        f"of up to {text(most, 'N m')}"
        for name, most in held.items()
    ]
    notes += forces.acting_locks()
    notes += [Bad(sentence) for sentence in (*forces.pulling(), *forces.without_place())]
    if forces.indeterminate:
        chosen = all(one.unknown is not None for one in forces.joints.values())
        given = "those of least norm" if chosen else "not given; --minimum-norm gives those of least norm"
        count = len(forces.indeterminate)
        notes += [
            f"redundant constraints leave {count} components of reactions open, which are {given}:",
            f"  {listed(forces.indeterminate, _LISTED)} (axes of the joint)",
        ]
    parts: list[Part] = [
        *model_lines(structure),
        span_text(forces.trajectory.time),
        Table.of(drives, of_drives),
        Table.of(joints, of_joints, wraps=True, shown=SHOWN, rest="… and {} more joints"),
        f"on the frame: force up to {text(shaking, 'N')}, moment about the world's origin up to "
        f"{text(turning, 'N m')}",
        f"balance of power: off by {balance:.1e} W at most, beside powers of up to {power:.4g} W",
        *(
            f"force {name}: power {_extreme(given, np.min):.4g} … {_extreme(given, np.max):.4g} W"
            for name, given in elements.items()
        ),
        *notes,
        *(fault_lines(faults) or [Good("every group is balanced at every instant")]),
    ]

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
            "drives": drives,
            "joints": joints,
            "shaking_force": shaking,
            "shaking_moment": turning / scale,
            "balance": balance,
            "largest_power": power,
            "massless": bare,
            "held": {name: most / scale for name, most in held.items()},
            "lock_effect": _extreme(forces.lock_effect, np.max),
            "indeterminate": forces.indeterminate,
        }

    return Report(parts, record)


def _joint_rows(forces: Forces) -> list[dict[str, Any]]:
    """Largest force and moment of each joint's determined components; rounding is 0."""
    found = [
        plain(of, "joint body")
        | {"force": _largest(of.local_force), "moment": _largest(of.local_moment)}
        | plain(of, "indeterminate")
        for of in map(forces.joint, forces.joints)
    ]
    size, scale = forces.trajectory.reference.size, given_in("N m", forces.trajectory.mechanism.units)[1]
    largest = max([0.0, *(v for one in found for v in (one["force"], one["moment"] / size) if v == v)])
    for one in found:
        for key, of, unit in (("force", 1.0, 1.0), ("moment", size, scale)):
            one[key] = 0.0 if one[key] < _ROUNDING * largest * of else one[key] / unit
    return found


def _largest(vectors: Floats) -> float:
    """Largest magnitude over time, without components that are never known."""
    columns = vectors.reshape(len(vectors), -1)
    known = columns[:, np.isfinite(columns).any(axis=0)]
    return _extreme(np.linalg.norm(known, axis=1), np.max) if known.shape[1] else float("nan")


def _extreme(values: Floats, of: Any) -> float:
    known = values[np.isfinite(values)]
    return float(of(known)) if len(known) else float("nan")
