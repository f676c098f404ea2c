"""Re-selection of independent coordinates that have become ill-conditioned."""

from __future__ import annotations

from collections.abc import Sequence
from pkgutil import resolve_name
from typing import TYPE_CHECKING

import numpy as np

from groups.results.joints import coordinate_motion
from mbssa import Mechanism, Structure, decompose
from mbssa.arrays import Floats, Ints
from mbssa.input_search.query import driven_by
from mbssa.joints.catalogue import is_length

if TYPE_CHECKING:
    from groups.trajectory import Trajectory


#: Rate of any coordinate for a unit rate of an independent one, from which coordinates are re-selected.
POOR = 5.0


def structure_of(mechanism: Mechanism) -> Structure:
    """Structure of a mechanism in its driven coordinates; where none is driven, in those of partition."""
    if not mechanism.n_driven:
        independent = resolve_name("groups.partitioning:partition")(mechanism, driven=()).independent
        if not independent:
            raise ValueError(f"{mechanism.name} has no freedom: there is nothing to simulate")
        mechanism = driven_by(mechanism, independent)
    structure = decompose(mechanism)
    if not structure.determined:
        raise ValueError(
            f"{mechanism.name}: {', '.join(mechanism.driven_coordinates)} are not its independent "
            "coordinates, since the mobility count is not determined with them; see mbssa check"
        )
    return structure


def better(
    trajectory: Trajectory, size: float, free: Ints, unit: Floats, prescribed: Sequence[str]
) -> tuple[str, ...] | None:
    """Driven coordinates by which all others move less than by the present ones; None if these are sound."""
    # The trajectory, in one pose, is of the true rates and then of unit rates of the `free` ones. Complete
    # pivoting of all joint coordinates' rates, over their `unit`, selects the coordinates by which all others
    # move least.
    names, rows = _rates(trajectory, size)
    open_ = [k for k, name in enumerate(names) if name not in prescribed]
    matrix = rows[open_][:, 1 + free] * unit[free]
    if np.abs(matrix).max(initial=0.0) < POOR:
        return None
    pivots_of = resolve_name("groups.partitioning.pivoting:pivots_of")
    taken = pivots_of(matrix[None].swapaxes(1, 2), "complete").columns[0][: len(free)]
    return (*(names[open_[k]] for k in sorted(taken.tolist())), *prescribed)


def rate_of(trajectory: Trajectory, name: str) -> float:
    """Rate of a coordinate at the first instant, m/s or rad/s."""
    return float(coordinate_motion(trajectory, name).rate[0])


def _rates(trajectory: Trajectory, size: float) -> tuple[list[str], Floats]:
    """Joint coordinates that can be driven, and their rates (k, 1 + D), lengths over the size."""
    names, rows = [], []
    for joint in trajectory.mechanism.joints:
        if joint.type.pair is None or not joint.type.drivable:
            continue
        motion = trajectory.joint(joint.index)
        for name in joint.type.drivable:
            rate = motion[name].rate
            if np.isfinite(rate).all():
                names.append(f"{joint.id}.{name}")
                rows.append(rate / (size if is_length(name) else 1.0))
    return names, np.array(rows)
