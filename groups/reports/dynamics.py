"""Dynamics: forces of a solved motion, a simulated motion, small motions about a state of rest."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.dynamics.results import unit_of_drive
from groups.dynamics.state import massless
from groups.reports.about import fault_lines, model_lines, quantity, span_text
from groups.results.faults import values_text
from mbssa.arrays import Floats
from mbssa.joints.catalogue import coordinate_unit
from mbssa.reports.table import SHOWN, Bad, Columns, Good, Part, Report, Table, plain
from mbssa.texts import listed
from mbssa.units import given_in, quantity_text, units_record

if TYPE_CHECKING:
    from groups.dynamics import Forces
    from groups.dynamics.forward import Simulation
    from groups.dynamics.forward.small_motions import Equilibrium, Linearisation
    from groups.motion import Motion

#: Names of a line, events of a page, and coordinates of a mode shape, before the rest is counted.
_LISTED, _EVENTS, _SHAPE = 20, 10, 6

#: Share of the largest reaction below which one is rounding.
_ROUNDING = 1e-12

#: Share of the largest amplitude from which a coordinate belongs to a mode shape in a line.
_SEEN = 1e-3

#: Share of an eigenvalue that the differences of forces leave open.
_LEFT_OPEN = 1e-6


def forces_report(forces: Forces, motion: Motion | None = None) -> Report:
    """Tables of drives and joints, largest shaking force, balance of power, and what to know."""
    mechanism, faults = forces.trajectory.mechanism, forces.faults(motion)
    units = mechanism.units
    (force, _), (moment, scale) = (given_in(unit, units) for unit in ("N", "N m"))
    drives = list[dict[str, Any]]()
    for name, given, power in zip(forces.drives, forces.driving.T, forces.drive_power.T, strict=True):
        ends = {"lowest": _extreme(given, np.min), "highest": _extreme(given, np.max)}
        powers = {"mean_power": _extreme(power, np.mean), "maximum_power": _extreme(power, np.max)}
        drives.append(quantity(name, unit_of_drive(name), units, **ends) | powers)
    found = [forces.joint(j) for j in forces.joints]
    largest = [(of, _largest(of.local_force), _largest(of.local_moment)) for of in found]
    size = forces.trajectory.reference.size
    least = _ROUNDING * max([0.0, *(v for _, f, m in largest for v in (f, m / size) if v == v)])
    joints = [
        plain(of, "joint body")
        | {"force": 0.0 if f < least else f, "moment": 0.0 if m < least * size else m / scale}
        | plain(of, "indeterminate")
        for of, f, m in largest
    ]
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
    all_powers = (*forces.drive_power.T, *elements.values(), forces.gravity_power, forces.kinetic_power)
    power, balance = max(map(_largest, all_powers)), _largest(forces.balance)
    held = {name: _largest(each) for name, each in forces.held.items()}
    bare = [mechanism.body_name(body) for body in massless(mechanism)]

    def text(value: float, unit: str) -> str:
        return quantity_text(value, unit, units, ".4g") if np.isfinite(value) else "–"

    notes: list[Part] = [f"massless: {listed(bare, _LISTED)}"] * bool(bare)
    if len(bare) == mechanism.n_bodies - 1 and not elements:
        notes = [Bad("no body has mass and no force acts: write [body.inertia] or [[force]] into the model")]
    notes += [
        f"passive rotation of {name}: locked to its convention, as by a guide in the frame, by a moment "
        f"of up to {text(most, 'N m')}"
        for name, most in held.items()
    ]
    notes += forces.acting_locks()
    notes += [Bad(sentence) for sentence in (*forces.pulling(), *forces.without_place())]
    if unknown := forces.indeterminate:
        which = "those of least norm"
        if forces.solution.chosen is None:
            which = f"not given; --minimum-norm gives {which}"
        notes += [
            f"redundant constraints leave {len(unknown)} components of reactions open, which are {which}:",
            f"  {listed(unknown, _LISTED)} (axes of the joint)",
        ]
    parts: list[Part] = [
        *model_lines(forces.structure),
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
    record = {  # None is what is not known
        "mechanism": mechanism.name,
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
    return Report(parts, lambda: record)


def _largest(vectors: Floats) -> float:
    """Largest magnitude over time, without components that are never known."""
    columns = vectors.reshape(len(vectors), -1)
    known = columns[:, np.isfinite(columns).any(axis=0)]
    return _extreme(np.linalg.norm(known, axis=1), np.max) if known.shape[1] else float("nan")


def _extreme(values: Floats, of: Any) -> float:
    known = values[np.isfinite(values)]
    return float(of(known)) if len(known) else float("nan")


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
        *(f"event {one.name} at t = {one.time:.9g} s" for one in found.events[:_EVENTS]),
        *(
            f"independent coordinates from t = {change.time:.6g} s on: {', '.join(change.after)} "
            f"(before: {', '.join(change.before)})"
            for change in found.changes[:_EVENTS]
        ),
    ]
    more = sum(max(0, len(listed) - _EVENTS) for listed in (found.events, found.changes))
    if more:
        parts.append(f"… and {more} more events and changes; --format json lists them all")
    state: Part = Good(f"{found.status}, checked by its balances")
    if not found.ok:
        end = {name: float(values[-1]) for name, values in found.coordinates.items()}
        state = Bad(f"{found.status} (at the end {values_text(end, units)})")
    length = given_in("m", units)[1]
    record = {
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
    return Report([*parts, *found.notes, state], lambda: record)


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
    verdict = Good("stable: no small motion grows") if found.stable else Bad("unstable: small motions grow")

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
        return ", ".join([*seen[:_SHAPE], *([f"… {len(seen) - _SHAPE} more"] if len(seen) > _SHAPE else [])])

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
        *([verdict] if rest is None or rest.found else []),
        Table.of(modes, of_modes, shown=SHOWN, rest="… and {} more modes"),
    ]
    titles = ["mode", "frequency [Hz]", "damping ratio", "real part [1/s]", "imaginary part [1/s]"]
    for name, (unit, _) in zip(found.names, scaled, strict=True):
        titles += [f"{name} amplitude [{unit}]", f"{name} phase [deg]"]
    per = value / force[:, None]
    record = {  # phases in degrees; matrices by the units of forces (rows) and coordinates
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
    return Report(parts, lambda: record, Table(tuple(titles), modes, cells))


def _shown(value: float, scale: float) -> str:
    """A number; 0 where differences cannot tell it from 0 beside ``scale``."""
    return "0" if abs(value) <= _LEFT_OPEN * scale else f"{value:.4g}"
