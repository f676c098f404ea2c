"""Faults of a solved motion, in sentences: failed groups, singular positions, coordinates beyond limits."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from groups.results.joints import coordinate_motion, measured
from groups.status import CONTACT_ENDED, NOT_COMPUTED, OK, PREDECESSOR_FAILED, SINGULAR, STATUS
from mbssa.arrays import Floats
from mbssa.joints.catalogue import coordinate_unit
from mbssa.texts import listed
from mbssa.units import SI, given_in, quantity_text

if TYPE_CHECKING:
    from groups.motion import Motion
    from groups.trajectory import Trajectory

Kind = Literal["branches cross", "path ends", "unresolved"]
#: What becomes of a path at a singular position.
_SAID: dict[Kind, str] = {
    "branches cross": "two branches cross there; the group is proven up to it",
    "path ends": "the branch turns back there (workspace limit)",
    "unresolved": "no shorter step could be proven; give more instants there",
}

#: Inputs that a sentence lists.
_LISTED = 6


@dataclass(frozen=True)
class SingularPosition:
    """Position of a motion at which a group's branch could not be proven to go on."""

    group: int  # number
    # Time (s) up to which the group is proven; equal to to_time on the way there from the reference.
    from_time: float
    to_time: float  # s, end of the piece that is not proven
    # Branches that cross do so some 1e-6 of an input's way (rad, or over the size) from from_time.
    kind: Kind
    condition: float  # smallest over largest singular value of the group's Jacobian at from_time

    def __str__(self) -> str:
        return f"near t = {self.from_time:.5g} s: {_SAID[self.kind]}"


def sentences(trajectory: Trajectory, motion: Motion | None = None) -> list[str]:
    """A sentence per group that failed: its bodies, why, when first and how often, and the residual.

    The motion that was solved gives the inputs at that instant, in the units of the model file.
    """
    status, time, units = trajectory.status, trajectory.time, trajectory.mechanism.units
    said, joints = [], trajectory.mechanism.joint_ids
    for g in np.flatnonzero(((status != OK) & (status != NOT_COMPUTED)).any(axis=0)).tolist():
        parts = list[str]()
        codes, first, count = np.unique(status[:, g], return_index=True, return_counts=True)
        for k in np.argsort(first).tolist():
            code, at = int(codes[k]), int(first[k])
            if code in (OK, NOT_COMPUTED):
                continue
            parts.append(f"{STATUS[code]} {instants_text(int(count[k]), time, at)}")
            figures = [inputs_text(motion, at, units)]
            if code != PREDECESSOR_FAILED and (code not in CONTACT_ENDED or trajectory.contacts is None):
                residual = float(trajectory.residual[at, g])
                figures.append(f"residual {quantity_text(residual, 'm', units, '.3g')}")
            if code == SINGULAR:
                figures[-1] += f", condition {trajectory.condition[at, g]:.3g}"
            if any(figures):
                parts[-1] += f" ({'; '.join(filter(None, figures))})"
        name = trajectory.named_groups[g]
        if trajectory.causes is not None and (cause := trajectory.causes[g]):
            parts.append(f"closing {'joint' if cause.partition(' or ')[0] in joints else 'link'} {cause}")
        parts += [str(one) for one in trajectory.singular if one.group == g + 1]
        if trajectory.contacts is not None and (contact := trajectory.contacts[g]):
            parts.append(f"contact {contact}")
        said.append(f"SG-{g + 1}{f' of {name}' if name else ''}: {'; '.join(parts)}")
    stopped = np.flatnonzero((status == NOT_COMPUTED).any(axis=1))
    if len(stopped):
        said.append(f"{STATUS[NOT_COMPUTED]}: {instants_text(len(stopped), time, int(stopped[0]))}")
    return said


def inputs_text(motion: Motion | None, instant: int, units: tuple[str, str]) -> str:
    """Inputs at an instant, in these units of length and angle; "" without a motion or inputs."""
    if motion is None:
        return ""
    return values_text(dict(zip(motion.names, motion.value[:, instant].tolist(), strict=True)), units)


def values_text(values: Mapping[str, float], units: tuple[str, str]) -> str:
    """Values of coordinates in these units of length and angle."""
    texts = [f"{name} = {quantity_text(x, coordinate_unit(name), units)}" for name, x in values.items()]
    return listed(texts, _LISTED)


def instants_text(count: int, time: Floats, first: int) -> str:
    """Number of instants, and the time of the first."""
    return f"at {count} of {len(time)} instants, first at t = {time[first]:.6g} s"


@dataclass(frozen=True, slots=True)
class Excess:
    """A coordinate beyond a limit: at the first instant, and where it is farthest; m or rad, s."""

    coordinate: str
    unit: str
    side: str  # above or below
    limit: float
    time: float
    value: float
    extreme: float

    def shown_in(self, units: tuple[str, str]) -> Excess:
        """The excess with its numbers in these units of length and angle."""
        unit, scale = given_in(self.unit, units)
        numbers = {name: getattr(self, name) / scale for name in ("limit", "value", "extreme")}
        return replace(self, unit=unit, **numbers)

    def text(self, units: tuple[str, str] = SI) -> str:
        """The excess as a sentence, in these units of length and angle."""
        shown, farthest = self.shown_in(units), "up" if self.side == "above" else "down"
        return (
            f"{self.coordinate} is {self.side} its limit of {shown.limit:.6g} {shown.unit} from "
            f"t = {self.time:.6g} s on: {shown.value:.6g} {shown.unit} there, "
            f"{farthest} to {shown.extreme:.6g} {shown.unit}"
        )


def excesses(trajectory: Trajectory, without: Collection[str] = ()) -> list[Excess]:
    """Each limit that a coordinate of kept bodies passes, but of those named in ``without``."""
    mechanism, found, kept = trajectory.mechanism, [], {0, *trajectory.kept.tolist()}
    for name, limits in mechanism.coordinate_limits.items():
        joint, coordinate = mechanism.place_of(name)
        here = kept.issuperset(mechanism.joint_bodies(joint))
        if name in without or not here or coordinate not in measured(trajectory, mechanism.joints[joint]):
            continue
        motion = coordinate_motion(trajectory, name)
        for side, sign, limit in zip(("below", "above"), (-1.0, 1.0), limits, strict=True):
            beyond = sign * (motion.value - limit)
            passed = np.flatnonzero(beyond > 1e-9 * max(1.0, abs(limit)))
            if len(passed):
                k, most = int(passed[0]), int(np.nanargmax(beyond))
                values = float(motion.value[k]), float(motion.value[most])
                found.append(Excess(name, motion.unit, side, limit, float(trajectory.time[k]), *values))
    return found
