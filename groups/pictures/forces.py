"""Forces of a solved motion over time: drives, joints, the frame, powers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from groups.pictures.coordinates import MOST_CURVES, chosen_curves, over_time
from groups.results.joints import CoordinateMotion
from mbssa.pictures.limits import refuse_beyond

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from groups.dynamics import Forces


def forces_over_time(
    forces: Forces, names: Sequence[str] | None = None, *, units: Literal["file", "si"] = "si"
) -> Figure:
    """Forces, moments and powers over time, a column of panels for each unit.

    Names are columns of :meth:`groups.Forces.columns` (``"2-3.Fx"``), or what stands before the point for all
    of its forces (``"2-3"``, ``"frame"``); by default the drives with their powers, and the shaking force. A
    ValueError has all columns that are not there, or says that they are more than 24.

    >>> import groups, mbssa
    >>> bar = mbssa.load("planar_four_bar")
    >>> forces = groups.forces(groups.build(mbssa.decompose(bar)).solve())
    >>> [axes.get_ylabel() for axes in groups.pictures.forces_over_time(forces).axes]
    ['force (N)', 'moment (N m)', 'power (W)']
    """
    there: dict[str, list[CoordinateMotion]] = {}
    for column in forces.columns():
        if column.unit in ("N", "N m", "W"):
            curve = CoordinateMotion(column.name, column.unit, column.values)
            there.setdefault(column.name.rpartition(".")[0], []).append(curve)
    names = [*forces.drives, "frame"] if names is None else names
    makers = {owner: curves.copy for owner, curves in there.items()}
    curves = chosen_curves(forces.trajectory.mechanism, names, makers, "force")
    refuse_beyond(MOST_CURVES, len(curves), "curves", "one picture", "name fewer")
    return over_time(forces.trajectory, curves, units)
