"""Masses and forces of a mechanism: what is checked once its joints are there, and the way back to tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from mbssa.faults import Fault
from mbssa.io.motion import law_record
from mbssa.loads import FORCE_TYPES, Force
from mbssa.mechanism import Mechanism
from mbssa.motion import InputLaw


def force_faults(mechanism: Mechanism, forces: Sequence[Force]) -> list[Fault]:
    """Coordinates that forces act on and that there are not, or that have no equation.

    >>> import mbssa
    >>> wrong = [Force("coordinate", "motor", (), coordinate="1-2.slide", force=1.0)]
    >>> for fault in force_faults(mbssa.load("planar_four_bar"), wrong):
    ...     print(fault)
    force motor coordinate: '1-2.slide' does not exist; the coordinates of 1-2 are angle
    """
    faults = []
    for force in forces:
        if force.coordinate is None:
            continue
        where = f"force {force.id} coordinate"
        joint, _, name = force.coordinate.rpartition(".")
        try:
            found = mechanism.joint(joint)
        except KeyError as error:
            faults.append(Fault(where, f"{force.coordinate!r} does not exist; {error.args[0]}"))
            continue
        if name not in found.type.drivable:
            shown = ", ".join(found.type.drivable) or "none that a force can act on"
            what = f"{force.coordinate!r} does not exist; the coordinates of {found.id} are {shown}"
            faults.append(Fault(where, what))
    return faults


def with_joints(mechanism: Mechanism, forces: Sequence[Force]) -> tuple[Force, ...]:
    """The forces with ids of joints that they name by their bodies, and those joints' bodies."""
    found = []
    for force in forces:
        if force.coordinate is not None:
            joint, _, name = force.coordinate.rpartition(".")
            try:
                view = mechanism.joint(joint)
            except KeyError:
                found.append(force)
                continue
            bodies = mechanism.joint_bodies(view.index)
            force = dataclasses.replace(force, coordinate=f"{view.id}.{name}", bodies=bodies)
        found.append(force)
    return tuple(found)


# --- back ------------------------------------------------------------------------------------------


def load_records(mechanism: Mechanism, names: Mapping[int, str]) -> dict[str, Any]:
    """``gravity`` and ``force`` as the tables of a model file, SI units; ``names`` by index of the bodies."""
    record: dict[str, Any] = {}
    if mechanism.gravity is not None:
        record["gravity"] = list(mechanism.gravity)
    if mechanism.forces:
        record["force"] = [_force_record(force, names) for force in mechanism.forces]
    return record


def _force_record(force: Force, names: Mapping[int, str]) -> dict[str, Any]:
    row = FORCE_TYPES[force.type]
    table: dict[str, Any] = {"type": force.type, "id": force.id}
    for key in (*row.required, *row.optional):
        value = getattr(force, key)
        if key == "bodies":
            value = [names.get(index, index + 1) for index in force.bodies]
        elif value is None or (key in ("stiffness", "damping", "friction") and value == 0.0):
            continue
        elif isinstance(value, InputLaw):
            value = law_record(value)
        table[key] = value
    return table
