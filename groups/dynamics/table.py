"""Forces as a table: a row per instant, a column per number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from groups.results.table import Column, converted
from mbssa.arrays import Floats
from mbssa.joints.catalogue import is_length

if TYPE_CHECKING:
    from groups.dynamics.results import Forces


def columns_of(forces: Forces, units: Literal["si", "file"]) -> list[Column]:
    """Columns of :meth:`groups.Forces.columns`: drives, joints, the frame, powers, status by group."""
    trajectory, planar = forces.trajectory, forces.trajectory.planar
    found = [Column("time", "s", trajectory.time)]
    for d, name in enumerate(forces.drives):
        found.append(Column(f"{name}.driving", unit_of_drive(name), forces.driving[:, d]))
        found.append(Column(f"{name}.power", "W", forces.drive_power[:, d]))
    for index in sorted(forces.joints):
        of = forces.joint(index)
        found += _of_load(of.joint, of.force, of.moment, planar)
    found += _of_load("frame", forces.shaking_force, forces.shaking_moment, planar)
    found += [Column(f"{name}.power", "W", power) for name, power in forces.element_power.items()]
    found.append(Column("gravity.power", "W", forces.gravity_power))
    found.append(Column("kinetic_energy", "J", forces.kinetic_energy))
    found.append(Column("kinetic_power", "W", forces.kinetic_power))
    found.append(Column("balance", "W", forces.balance))
    found += [Column(f"SG-{g + 1}.status", "", status) for g, status in enumerate(forces.status.T)]
    return found if units == "si" else [converted(column, trajectory.mechanism.units) for column in found]


def unit_of_drive(name: str) -> str:
    """Unit of a driving force: N along a slide, N m about an angle."""
    return "N" if is_length(name) else "N m"


def _of_load(name: str, force: Floats, moment: Floats, planar: bool) -> list[Column]:
    axes = "xy" if planar else "xyz"
    found = [Column(f"{name}.F{axis}", "N", force[:, k]) for k, axis in enumerate(axes)]
    if planar:
        return [*found, Column(f"{name}.Mz", "N m", moment)]
    return found + [Column(f"{name}.M{axis}", "N m", moment[:, k]) for k, axis in enumerate(axes)]
