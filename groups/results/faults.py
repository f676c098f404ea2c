"""Faults of a solved motion, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from groups.status import CONTACT_LOST, INTERPENETRATION, NOT_COMPUTED, PREDECESSOR_FAILED, SINGULAR
from mbssa.arrays import Floats
from mbssa.joints.catalogue import coordinate_unit
from mbssa.units import quantity_text

if TYPE_CHECKING:
    from groups.motion import Motion
    from groups.trajectory import Trajectory

#: Inputs that a sentence lists.
_LISTED = 6

#: Texts of a status, by its number.
STATUS = (
    "ok",
    "not converged",
    "singular",
    "predecessor group failed",
    "out of reach",
    "branch jump",
    "dropped equations violated",
    "gimbal",
    "not computed",
    "lifted off",
    "penetrates",
    "passed a singular position",
)


def sentences(trajectory: Trajectory, motion: Motion | None = None) -> list[str]:
    """A sentence per group that failed, with the motion's inputs there, and one for instants not computed."""
    status = trajectory.status
    said, joints = [], trajectory.mechanism.joint_ids
    for g in np.flatnonzero(((status != 0) & (status != NOT_COMPUTED)).any(axis=0)).tolist():
        codes, first, count = np.unique(status[:, g], return_index=True, return_counts=True)
        found = [
            _of_status(trajectory, motion, g, int(codes[k]), int(first[k]), int(count[k]))
            for k in np.argsort(first).tolist()
            if codes[k] not in (0, NOT_COMPUTED)
        ]
        name = trajectory.named_groups[g]
        cause = trajectory.causes[g] if trajectory.causes is not None else ""
        contact = trajectory.contacts[g] if trajectory.contacts is not None else ""
        said.append(
            f"SG-{g + 1}{f' of {name}' if name else ''}: {'; '.join(found)}"
            + (
                f"; closing {'joint' if cause.partition(' or ')[0] in joints else 'link'} {cause}"
                if cause
                else ""
            )
            + "".join(f"; {one}" for one in trajectory.singular if one.group == g + 1)
            + (f"; contact {contact}" if contact else "")
        )
    stopped = np.flatnonzero((status == NOT_COMPUTED).any(axis=1))
    if len(stopped):
        said.append(
            f"{STATUS[NOT_COMPUTED]}: {instants_text(len(stopped), trajectory.time, int(stopped[0]))}"
        )
    return said


def _of_status(
    trajectory: Trajectory, motion: Motion | None, group: int, code: int, first: int, count: int
) -> str:
    text = f"{STATUS[code]} {instants_text(count, trajectory.time, first)}"
    inputs = inputs_text(motion, first, trajectory.mechanism.units)
    if code == PREDECESSOR_FAILED or (
        code in (CONTACT_LOST, INTERPENETRATION) and trajectory.contacts is not None
    ):
        return f"{text} ({inputs})" if inputs else text
    residual = quantity_text(float(trajectory.residual[first, group]), "m", trajectory.mechanism.units, ".3g")
    figures = f"residual {residual}"
    if code == SINGULAR:
        figures += f", condition {trajectory.condition[first, group]:.3g}"
    return f"{text} ({f'{inputs}; ' if inputs else ''}{figures})"


def inputs_text(motion: Motion | None, instant: int, units: tuple[str, str]) -> str:
    """Inputs at an instant, in these units of length and angle; "" without a motion or inputs."""
    if motion is None:
        return ""
    return values_text(dict(zip(motion.names, motion.value[:, instant].tolist(), strict=True)), units)


def values_text(values: Mapping[str, float], units: tuple[str, str]) -> str:
    """Values of coordinates in these units of length and angle."""
    listed = [
        f"{name} = {quantity_text(value, coordinate_unit(name), units)}"
        for name, value in islice(values.items(), _LISTED)
    ]
    more = len(values) - _LISTED
    return ", ".join(listed) + (f" and {more} more" if more > 0 else "")


def instants_text(count: int, time: Floats, first: int) -> str:
    """Number of instants, and the time of the first."""
    return f"at {count} of {len(time)} instants, first at t = {time[first]:.6g} s"
