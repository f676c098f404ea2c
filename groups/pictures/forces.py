"""Forces of a solved motion over time: drives, joints, the frame, powers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from groups.pictures.coordinates import MOST_CURVES, over_time
from groups.results.joints import CoordinateMotion
from mbssa.faults import meant
from mbssa.pictures.limits import refuse_beyond, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from groups.dynamics import Forces
    from groups.results.table import Column

#: Units of columns that are drawn.
_UNITS = ("N", "N m", "W")


def forces_over_time(
    forces: Forces, names: Sequence[str] | None = None, *, units: Literal["file", "si"] = "si"
) -> Figure:
    """Forces, moments and powers over time, a column of panels for each unit.

    Parameters
    ----------
    names : columns of :meth:`groups.Forces.columns` (``"2-3.Fx"``), or what stands before the point for all
        of its forces (``"2-3"``, ``"frame"``); by default the drives with their powers, and the shaking force

    Raises
    ------
    ValueError
        Columns that there are not, all of them; or more than 24.

    Examples
    --------
    >>> import groups, mbssa
    >>> from groups.pictures import forces_over_time
    >>> bar = mbssa.load("planar_four_bar")
    >>> forces = groups.forces(groups.build(mbssa.decompose(bar)).solve())
    >>> [axes.get_ylabel() for axes in forces_over_time(forces).axes]
    ['force (N)', 'moment (N m)', 'power (W)']
    """
    require_matplotlib()
    columns = _chosen(forces, [*forces.drives, "frame"] if names is None else names)
    refuse_beyond(MOST_CURVES, len(columns), "curves", "one picture", "name fewer")
    curves = [CoordinateMotion(column.name, column.unit, column.values) for column in columns]
    driven = [curve.name for curve in curves if curve.name.endswith(".driving")]
    return over_time(forces.trajectory, curves, driven, units=units)


def _chosen(forces: Forces, names: Sequence[str]) -> list[Column]:
    """Columns by their names, or by what stands before the last point."""
    there = [column for column in forces.columns() if column.unit in _UNITS]
    found, faults = [], []
    called = forces.trajectory.mechanism.called
    for name in names:
        joint, dot, rest = name.partition(".")
        same = (name, called(f"{joint}.").removesuffix(".") + dot + rest)
        some = [column for column in there if column.name in same or column.name.rpartition(".")[0] in same]
        found += some
        if not some:
            hint = meant(name, [column.name for column in there], most=2)
            shown = ", ".join(column.name for column in there[:8])
            faults.append(f"no force {name!r}; {hint}there are {shown}, …")
    if faults:
        raise ValueError("; ".join(faults))
    return list({column.name: column for column in found}.values())
