"""Curves over time: coordinates of joints and bodies with rates and accelerations, and forces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from groups.pictures.canvas import BODY_COLOURS, FAILED, FINE, STYLES, add_key, panels_over_time
from groups.pictures.scene import chosen, sentence
from groups.results import expressions
from groups.results.joints import CoordinateMotion, chosen_coordinates, measurable
from groups.trajectory import Level, level_number
from mbssa.faults import meant
from mbssa.pictures.limits import refuse_beyond
from mbssa.pictures.style import entitle
from mbssa.texts import listed
from mbssa.units import SI, given_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from groups.dynamics import Forces
    from groups.trajectory import Trajectory
    from mbssa import Mechanism


#: Curves that a picture draws by default, and that it can tell apart; instants that one is drawn through.
CURVES_BY_DEFAULT, MOST_CURVES, CURVE_INSTANTS = 8, 24, 4000

#: Quantities of a panel, by the SI unit of the value.
_TITLES = {
    "m": ("position", "velocity", "acceleration"),
    "N": ("force", "", ""),
    "N m": ("moment", "", ""),
    "W": ("power", "", ""),
    "rad": ("angle", "angular velocity", "angular acceleration"),
}
_OTHERWISE = ("value", "rate", "second derivative")

#: Digits of a curve that are rounding, which its panel is not stretched to show; and what stands still, of an
#: angle of 1 rad or of the mechanism's size.
_ROUNDING, _NOTHING = 1e-7, 1e-12


def titles_of(unit: str, units: tuple[str, str]) -> list[str]:
    """Quantities of value, rate and acceleration in words by the SI unit of the value, with their units."""
    name = given_in(unit, units)[0]
    of = name, f"{name or '1'}/s", f"{name or '1'}/s²"
    words = _TITLES.get(unit, _OTHERWISE)
    return [f"{word} ({each})" if each else word for word, each in zip(words, of, strict=True)]


def coordinates(
    trajectory: Trajectory,
    names: Sequence[str] | None = None,
    *,
    level: Level = "acceleration",
    derived: Mapping[str, str] | None = None,
    units: Literal["file", "si"] = "si",
) -> Figure:
    """Values, rates and accelerations of coordinates over time, a column of panels for each unit.

    Instants at which a group was not solved are shaded, and the key says which group and why. Driven
    coordinates have thicker lines. No more than 4,000 evenly chosen instants are drawn. A ValueError has all
    coordinates that are not there, or says that they are more than 24.

    Parameters
    ----------
    names : coordinates of joints (``"1-2.angle"``, or ``"1-2"`` for all of that joint) and of bodies
        (``"piston.x"``, ``"piston"``): x, y, z, and in the plane angle; of points (``"piston.tip"``,
        ``"piston.tip.x"``) and derived quantities. If not given, the derived quantities, or else the driven
        coordinates and those of the joints on the frame, the first 8 of them
    level : the highest that is drawn: "position", "velocity" or "acceleration"; no higher than was kept
    derived : expressions by name, as :meth:`groups.Trajectory.quantity` has them
    units : ``"si"``, or ``"file"`` for those of the model file

    Examples
    --------
    >>> import groups, mbssa
    >>> trajectory = groups.build(mbssa.decompose(mbssa.load("slider_crank"))).solve()
    >>> figure = groups.pictures.coordinates(trajectory)
    >>> [axes.get_ylabel() for axes in figure.axes[:3]]
    ['position (m)', 'velocity (m/s)', 'acceleration (m/s²)']
    """
    mechanism, curves = trajectory.mechanism, expressions.derived(trajectory, derived or {})
    if names is not None:
        makers: dict[str, Callable[[], list[CoordinateMotion]]] = {
            mechanism.body_name(body) + f".{point}" * bool(point): partial(_of_body, trajectory, body, point)
            for body in range(mechanism.n_bodies)
            for point in ("", *mechanism.geometry_of(body).points)
        }
        makers |= {name: partial(chosen_coordinates, trajectory, [name]) for name in mechanism.joint_ids}
        makers |= {curve.name: partial(list, [curve]) for curve in curves}
        remedy = "for an expression write --quantity NAME=EXPRESSION (derived in Python), and NAME here"
        curves = _chosen(mechanism, names, makers, "coordinate", remedy)
    elif not curves:  # driven coordinates, then those of the joints on the frame
        joints = measurable(trajectory)
        ranks = {j.id: (not j.driven, 0 not in mechanism.joint_bodies(j.index)[:2]) for j in joints}
        wanted = sorted((name for name, rank in ranks.items() if not all(rank)), key=ranks.__getitem__)
        curves = chosen_coordinates(trajectory, wanted[:CURVES_BY_DEFAULT])
        curves = _driven_first(trajectory, curves)[:CURVES_BY_DEFAULT]
    if not curves:
        raise ValueError("no coordinate of a joint is known; name coordinates of bodies, as body.x")
    return _over_time(trajectory, curves, units, level_number(level) + 1)


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
            there.setdefault(column.name.rpartition(".")[0] or column.name, []).append(curve)
    names = [*forces.drives, "frame"] if names is None else names
    makers = {owner: curves.copy for owner, curves in there.items()}
    curves = _chosen(forces.trajectory.mechanism, names, makers, "force")
    return _over_time(forces.trajectory, curves, units, 1)


def _over_time(
    trajectory: Trajectory, curves: Sequence[CoordinateMotion], units: Literal["file", "si"], rows: int
) -> Figure:
    """Curves over the time of a motion, a column of panels for each unit, a row for each of their levels."""
    refuse_beyond(MOST_CURVES, len(curves), "curves", "one picture", "name fewer")
    rows = min([rows, *(len(curve.levels) for curve in curves)])
    of = trajectory.mechanism.units if units == "file" else SI
    kinds = sorted({curve.unit for curve in curves}, key=lambda unit: given_in(unit, of)[0])
    titles = [titles_of(unit, of)[:rows] for unit in kinds]
    figure, panels = panels_over_time(titles, trajectory.time, 76.0 if len(kinds) > 1 else 106.4, 36.0)
    at = chosen(len(trajectory.time), CURVE_INSTANTS)
    handles: list[Any] = []
    for i, curve in enumerate(curves):
        driven = curve.name in trajectory.mechanism.driven_coordinates or curve.name.endswith(".driving")
        look: Any = {"c": BODY_COLOURS[i % 8], "ls": STYLES[i // 8], "lw": 1.9 if driven else 1.1}
        for axes, level in zip(panels[kinds.index(curve.unit)], curve.levels, strict=False):
            (line,) = axes.plot(trajectory.time[at], level[at] / given_in(curve.unit, of)[1], **look)
        line.set_label((curve.name + (" (driven)" if driven else "")).replace("$", r"\$"))
        handles.append(line)
    for unit, column in zip(kinds, panels, strict=True):
        typical = {"m": trajectory.reference.size, "rad": 1.0}.get(unit, 0.0) / given_in(unit, of)[1]
        _steady(column, float(np.ptp(trajectory.time)) or 1.0, typical)
    failed = trajectory.status.any(axis=1)
    if failed.any():
        # What lies between two drawn instants is shaded with the first of them.
        time, bad = trajectory.time[at], np.logical_or.reduceat(failed, at)
        shade: dict[str, Any] = {"step": "mid", "color": FAILED, "lw": FINE, "zorder": 0.5}
        shade["label"] = f"not solved: {sentence(trajectory)}"
        for axes in figure.axes:
            across = axes.get_xaxis_transform()
            area = axes.fill_between(time, 0.0, 1.0, where=bad.tolist(), transform=across, **shade)
        handles.append(area)
    entitle(figure, trajectory.mechanism.name or "mechanism")
    add_key(figure, handles)
    return figure


def _steady(column: Sequence[Axes], duration: float, typical: float) -> None:
    """Keep rounding errors of what stands still from filling the panels of values and their rates."""
    largest = 0.0
    for axes in column:
        seen = np.concatenate([np.asarray(line.get_ydata()) for line in axes.get_lines()])
        seen = seen[np.isfinite(seen)] if np.isfinite(seen).any() else np.zeros(1)
        width, largest = float(np.ptp(seen)), max(largest, float(np.abs(seen).max()))
        size = typical if width < _NOTHING * typical else largest
        if width < _ROUNDING * size:
            axes.set_ylim(*(float(seen.mean()) + side * (0.1 * size or 1.0) for side in (-1, 1)))
        typical, largest = typical / duration, largest / duration


# --- curves as data ----------------------------------------------------------------------------------


def every_curve(trajectory: Trajectory) -> list[CoordinateMotion]:
    """Coordinates of all joints, the driven ones first, then those of named points."""
    curves, geometry = chosen_coordinates(trajectory, "all"), trajectory.mechanism.body_geometry
    for body in sorted(set(trajectory.kept.tolist()) & set(geometry)):
        curves += [curve for point in geometry[body].points for curve in _of_body(trajectory, body, point)]
    return _driven_first(trajectory, curves)


def _driven_first(trajectory: Trajectory, curves: list[CoordinateMotion]) -> list[CoordinateMotion]:
    return sorted(curves, key=lambda curve: curve.name not in trajectory.mechanism.driven_coordinates)


def _chosen(
    mechanism: Mechanism,
    names: Sequence[str],
    makers: Mapping[str, Callable[[], list[CoordinateMotion]]],
    kind: str,
    *remedy: str,
) -> list[CoordinateMotion]:
    """Curves by name, or all with the same text before the last point, by which ``makers`` make them."""
    curves, faults = dict[str, CoordinateMotion](), list[str]()
    for name in [names] if isinstance(names, str) else names:
        before, _, last = name.rpartition(".")
        try:
            for owner in (name, before):
                owners = {mechanism.called(f"{owner}.")[:-1], mechanism.called(owner)} & makers.keys()
                if there := [curve for text in sorted(owners) for curve in makers[text]()]:
                    break
            found = [curve for curve in there if owner == name or curve.name.rpartition(".")[2] == last]
            if not found:
                known = [curve.name for curve in there] or [*makers]
                hint = f"{meant(name, known, most=2)}there are {listed(known, 40)}"
                raise ValueError(f"no {kind} {name!r}; {hint}")
            curves |= {curve.name: curve for curve in found}
        except (KeyError, ValueError) as fault:
            faults.append(str(fault.args[0]))
    if faults:
        raise ValueError("; ".join([*faults, *remedy]))
    return list(curves.values())


def _of_body(trajectory: Trajectory, index: int, point: str = "") -> list[CoordinateMotion]:
    """Coordinates of the origin and the angle of a body, or of one of its named points."""
    body, name = trajectory.body(index + 1), trajectory.mechanism.body_name(index)
    owner, at = (f"{name}.{point}", point) if point else (name, trajectory.reference.position[index])
    along = zip("xyz", *(level.T for level in body.point_levels(at)), strict=False)
    found = [CoordinateMotion(f"{owner}.{x}", "m", *levels) for x, *levels in along]
    if trajectory.planar and not point:
        rates = [
            of[:, body.place, 2] for of in (trajectory.velocity, trajectory.acceleration) if of is not None
        ]
        found.append(CoordinateMotion(f"{owner}.angle", "rad", body.orientation, *rates))
    return found
