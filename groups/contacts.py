"""Contacts that end: coordinates outside of the limits of their contact, checked behind every solver."""

# A contact is an equation, so that it holds beyond the end of its slot or plate too; there its group has no
# answer. The solver itself goes on, so that a contact begins again where it ended. Limits of joints that are
# no contacts are limits of the design, and are not checked here.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.results.joints import joint_motion
from groups.status import CONTACT_LOST, INTERPENETRATION
from mbssa.arrays import Floats
from mbssa.joints.catalogue import coordinate_unit, type_of_joint
from mbssa.units import given_in, quantity_text

if TYPE_CHECKING:
    from groups.trajectory import Trajectory
    from mbssa import Structure
    from mbssa.joints.frames import Frames


#: Least excess over a limit, rad or sizes of the mechanism: more than rounding.
OUTSIDE = 1e-9


@dataclass(frozen=True, slots=True)
class Watch:
    """One coordinate with limits, m or rad: the joint's index, its type and id, its group's index."""

    joint: int
    name: str
    group: int
    coordinate: str
    low: float
    high: float

    @property
    def unit(self) -> str:
        return coordinate_unit(self.coordinate)


def watches(structure: Structure, frames: Frames) -> tuple[Watch, ...]:
    """Limits of contacts that a run checks, group by group."""
    mechanism, found = structure.mechanism, list[Watch]()
    for group in structure.groups:
        for j in group.joint_indices.tolist():
            geometry, kind = mechanism.joint_geometry.get(j), type_of_joint(mechanism, j)
            if geometry is not None and (kind.ends or kind.is_contact) and frames.known[j]:
                name = f"{kind.code} {mechanism.joint_ids[j]}"
                found += [
                    Watch(j, name, group.number - 1, coordinate, *limits)
                    for coordinate, limits in geometry.limits.items()
                    if coordinate in kind.drivable
                ]
    return tuple(found)


def outside(trajectory: Trajectory, watch: Watch, size: float) -> tuple[Floats, Floats]:
    """A coordinate (T,) and its excess over its limits, 0 where it is within them; m or rad."""
    found = joint_motion(trajectory, watch.joint)[watch.coordinate].value
    with np.errstate(invalid="ignore"):
        excess = np.maximum(watch.low - found, found - watch.high)
        rounding = OUTSIDE * (size if watch.unit == "m" else 1.0)
        return found, np.where(excess > rounding, excess, 0.0)


def left_limits(watch: Watch, value: float, units: tuple[str, str]) -> str:
    """Sentence on a contact outside of its limits, in these units of length and angle."""
    unit, scale = given_in(watch.unit, units)
    low, high, here = (f"{each / scale:.6g}" for each in (watch.low, watch.high, value))
    return f"{watch.name}.{watch.coordinate} is {here} {unit}, outside {low} … {high} {unit}"


def sentences_of(
    trajectory: Trajectory, joints: Sequence[Sequence[int]], ended: dict[int, tuple[int, str]]
) -> tuple[str, ...] | None:
    """A sentence by group on the first contact that ended, empty where none did; None without any."""
    mechanism, sentences = trajectory.mechanism, []
    for g, (mine, status) in enumerate(zip(joints, trajectory.status.T, strict=True)):
        at = np.flatnonzero((status == CONTACT_LOST) | (status == INTERPENETRATION))
        step, sentence = ended.get(g, (-1, ""))
        if len(at) and step != at[0]:
            types = {j: type_of_joint(mechanism, j) for j in mine}
            names = " or ".join(f"{row.code} {mechanism.joint_ids[j]}" for j, row in types.items() if row.gap)
            sign = 1.0 if status[at[0]] == CONTACT_LOST else -1.0
            gap = quantity_text(sign * trajectory.residual[at[0], g], "m", mechanism.units, ".3g")
            sentence = f"{names}: gap {gap}"
        sentences.append(sentence if len(at) else "")
    return tuple(sentences) if any(sentences) else None
