"""Joint coordinates that leave the limits that the model gives them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from groups.results.joints import coordinate_motion, measured
from mbssa.units import SI, given_in

if TYPE_CHECKING:
    from groups.trajectory import Trajectory


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
