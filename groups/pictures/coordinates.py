"""Coordinates over time: values, rates and accelerations of joints and bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from groups.pictures.failures import failures, sentence
from groups.pictures.key import add_key
from groups.pictures.scene import chosen
from groups.pictures.style import FAILED, FINE, GRID, body_colour
from groups.results.joints import joint_motion
from groups.trajectory import LEVELS, Level
from mbssa import Joint
from mbssa.pictures.limits import refuse_beyond, require_matplotlib
from mbssa.pictures.style import FONT, INK, MM_PER_INCH, SMALL_TEXT, TEXT
from mbssa.units import ANGLES, LENGTHS, given_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from groups.trajectory import Trajectory

Floats = npt.NDArray[np.float64]

#: Instants that a curve is drawn through.
CURVE_INSTANTS = 4000

#: Curves that one picture can tell apart, and how many it draws when it is not told which.
MOST_CURVES, CURVES_BY_DEFAULT = 24, 8

#: What a panel shows, by the SI unit of the value.
_TITLES = {
    "m": ("position", "velocity", "acceleration"),
    "N": ("force", "", ""),
    "N m": ("moment", "", ""),
    "W": ("power", "", ""),
    "rad": ("angle", "angular velocity", "angular acceleration"),
}
_OTHERWISE, _PER = ("value", "rate", "second derivative"), ("", "/s", "/s²")
_STYLES = ("solid", "dashed", "dashdot")
_COLUMN, _ROW, _LEFT, _BETWEEN, _BOTTOM, _TOP = 76.0, 36.0, 16.0, 19.0, 11.0, 9.0

#: Digits of a curve that are rounding: its panel is not stretched to show them.
_ROUNDING = 1e-7

#: Of an angle of 1 rad, or of the mechanism's size: what moves less stands still.
_NOTHING = 1e-12


@dataclass(frozen=True, eq=False)
class Curve:
    """One coordinate: ``parts`` are value, rate and acceleration (T,), as many as were kept.

    ``si`` is the SI unit where ``unit`` is another.
    """

    label: str
    unit: str
    driven: bool
    parts: tuple[Floats, ...]
    si: str = ""

    @property
    def titles(self) -> tuple[str, str, str]:
        """Quantities of value, rate and acceleration in words."""
        return _TITLES.get(self.si or self.unit, _OTHERWISE)


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
    coordinates have thicker lines. No more than 4,000 evenly chosen instants are drawn.

    Parameters
    ----------
    trajectory : a solved motion
    names : coordinates of joints (``"1-2.angle"``, or ``"1-2"`` for all of that joint) and of bodies
        (``"piston.x"``, ``"piston"``): x, y, z, and in the plane angle; of points (``"piston.tip"``,
        ``"piston.tip.x"``) and derived quantities. If not given, the derived quantities, or else the driven
        coordinates and those of the joints on the frame, the first 8 of them
    level : the highest that is drawn: "position", "velocity" or "acceleration"; no higher than was kept
    derived : expressions by name, as :meth:`groups.Trajectory.quantity` has them
    units : ``"si"``, or ``"file"`` for those of the model file

    Raises
    ------
    ValueError
        Coordinates that are not there, all of them; or more than 24.
    ModuleNotFoundError
        Matplotlib is missing; the message says how to install it.

    Examples
    --------
    >>> import groups, mbssa
    >>> from groups.pictures import coordinates
    >>> crank = mbssa.load("slider_crank")
    >>> trajectory = groups.build(mbssa.decompose(crank)).solve(groups.constant_speed(crank, steps=9))
    >>> figure = coordinates(trajectory)
    >>> [axes.get_ylabel() for axes in figure.axes[:3]]
    ['position (m)', 'velocity (m/s)', 'acceleration (m/s²)']
    """
    require_matplotlib()
    if level not in LEVELS:
        raise ValueError(f"level = {level!r}: write one of {', '.join(LEVELS)}")
    quantities = {curve.label: curve for curve in _derived(trajectory, derived or {})}
    if names is None:
        curves = list(quantities.values()) or _by_default(trajectory)
    else:
        curves = _named(trajectory, names, quantities)
    if units == "file":
        curves = [_converted(curve, trajectory.mechanism.units) for curve in curves]
    refuse_beyond(MOST_CURVES, len(curves), "coordinates", "one picture", "name fewer")
    if not curves:
        raise ValueError("no coordinate of a joint is known; name coordinates of bodies, as body.x")
    rows = min(LEVELS.index(level) + 1, min(len(curve.parts) for curve in curves))
    return over_time(trajectory, curves, rows)


def over_time(trajectory: Trajectory, curves: Sequence[Curve], rows: int = 1) -> Figure:
    """Curves over the time of a motion, a column of panels for each unit, a row for each of their parts.

    >>> import groups, mbssa
    >>> bar = mbssa.load("planar_four_bar")
    >>> trajectory = groups.build(mbssa.decompose(bar)).solve(groups.constant_speed(bar, steps=5))
    >>> over_time(trajectory, [Curve("pull", "N", False, (trajectory.time,))]).axes[0].get_ylabel()
    'force (N)'
    """
    require_matplotlib()
    titles = {curve.unit: curve.titles for curve in sorted(curves, key=lambda curve: curve.unit)}
    figure, panels = _panels(titles, rows)
    at = chosen(len(trajectory.time), CURVE_INSTANTS)
    handles: list[Any] = []
    for i, curve in enumerate(curves):
        look: dict[str, Any] = {"color": body_colour(i + 1), "ls": _STYLES[i // 8]}
        for row in range(rows):
            (line,) = panels[curve.unit][row].plot(
                trajectory.time[at], curve.parts[row][at], lw=1.9 if curve.driven else 1.1, **look
            )
        line.set_label((curve.label + (" (driven)" if curve.driven else "")).replace("$", r"\$"))
        handles.append(line)
    for unit in titles:
        group = [curve for curve in curves if curve.unit == unit]
        for row, axes in enumerate(panels[unit]):
            _steady(axes, group, row, trajectory)
    _shade(trajectory, at, [axes for unit in titles for axes in panels[unit]], handles)
    height = float(figure.get_figheight()) * MM_PER_INCH
    title = trajectory.mechanism.name or "mechanism"
    figure.text(0.5, 1 - 4.2 / height, title.replace("$", r"\$"), ha="center", fontsize=TEXT, family=FONT)
    add_key(figure, handles)
    return figure


def _by_default(trajectory: Trajectory) -> list[Curve]:
    mechanism = trajectory.mechanism
    drawn = set(np.asarray(trajectory.kept).tolist()) | {0}
    joints = [j for j in range(mechanism.n_joints) if set(mechanism.joint_bodies(j)[:2]) <= drawn]
    joints.sort(key=lambda j: (not mechanism.driven[j], 0 not in mechanism.joint_bodies(j)))
    curves: list[Curve] = []
    for j in joints:
        if mechanism.driven[j] or 0 in mechanism.joint_bodies(j):
            try:
                found = _of_joint(trajectory, mechanism.joints[j])
            except ValueError:
                continue
            curves += found
        if len(curves) >= CURVES_BY_DEFAULT:
            break
    return sorted(curves, key=lambda curve: not curve.driven)[:CURVES_BY_DEFAULT]


def _derived(trajectory: Trajectory, expressions: Mapping[str, str]) -> list[Curve]:
    from groups.results.expressions import derived

    found = []
    for one in derived(trajectory, expressions) if expressions else ():
        parts = [part for part in (one.value, one.rates, one.accelerations) if part is not None]
        found.append(Curve(one.name, one.unit, False, tuple(parts)))
    return found


def _converted(curve: Curve, units: tuple[str, str]) -> Curve:
    unit, scale = given_in(curve.unit, units)
    return Curve(curve.label, unit, curve.driven, tuple(part / scale for part in curve.parts), curve.unit)


def _named(trajectory: Trajectory, names: Sequence[str], derived: Mapping[str, Curve]) -> list[Curve]:
    curves: list[Curve] = []
    faults = []
    for name in [names] if isinstance(names, str) else names:
        try:
            curves += [derived[name]] if name in derived else _find(trajectory, name)
        except (KeyError, ValueError) as fault:
            faults.append(str(fault.args[0]))
    if faults:
        raise ValueError("; ".join(faults))
    return curves


def _find(trajectory: Trajectory, name: str) -> list[Curve]:
    mechanism = trajectory.mechanism
    owner, dot, coordinate = name.rpartition(".")
    with suppress(KeyError):
        return _of_joint(trajectory, mechanism.joint(name))
    joint = None
    with suppress(KeyError):
        joint = mechanism.joint(owner)
    if dot and joint is not None:
        trajectory.joint(joint.id)[coordinate]
        label = f"{joint.id}.{coordinate}"
        return [curve for curve in _of_joint(trajectory, joint) if curve.label == label]
    names = {mechanism.body_name(body) for body in range(mechanism.n_bodies)}
    if name in names:
        return [
            curve for curve in _of_body(trajectory, name) if curve.label.count(".") == name.count(".") + 1
        ]
    body = max((body for body in names if name.startswith(f"{body}.")), key=len, default=None)
    if body is not None:
        there = [*_of_body(trajectory, body), *_of_points(trajectory, body)]
        found = [curve for curve in there if name in (curve.label, curve.label.rpartition(".")[0])]
        if not found:
            labels = ", ".join(curve.label for curve in there)
            raise ValueError(f"no coordinate {name!r}; body {body} has {labels}")
        return found
    raise ValueError(
        f"no coordinate {name!r}: write joint.coordinate or body.x; the joints are "
        f"{', '.join(mechanism.joint_ids[:40])}, the bodies {', '.join(sorted(names)[:40])}"
    )


def _of_joint(trajectory: Trajectory, joint: Joint) -> list[Curve]:
    motion = joint_motion(trajectory, joint)
    arrays = [part for part in (motion.value, motion.rates, motion.accelerations) if part is not None]
    return [
        Curve(
            f"{joint.id}.{name}",
            motion.units[k],
            name in joint.driven,
            tuple(array[:, k] for array in arrays),
        )
        for k, name in enumerate(motion.names)
    ]


def _of_body(trajectory: Trajectory, name: str) -> list[Curve]:
    body = trajectory.body(name)
    planar = trajectory.planar
    rates = [a for a in (trajectory.velocity, trajectory.acceleration) if a is not None]
    place = np.asarray(trajectory.kept).tolist().index(body.index)
    curves = [
        Curve(f"{name}.{axis}", "m", False, (body.position[:, k], *(rate[:, place, k] for rate in rates)))
        for k, axis in enumerate("xy" if planar else "xyz")
    ]
    if planar:
        turn = (body.orientation, *(rate[:, place, 2] for rate in rates))
        curves.append(Curve(f"{name}.angle", "rad", False, turn))
    return curves


def _of_points(trajectory: Trajectory, name: str) -> list[Curve]:
    body = trajectory.body(name)
    geometry = trajectory.mechanism.body_geometry.get(body.index)
    kept = 1 + (trajectory.velocity is not None) + (trajectory.acceleration is not None)
    curves = []
    for point in geometry.points if geometry is not None else ():
        makers = (body.point, body.point_velocity, body.point_acceleration)[:kept]
        levels = [make(point) for make in makers]
        curves += [
            Curve(f"{name}.{point}.{axis}", "m", False, tuple(level[:, k] for level in levels))
            for k, axis in enumerate("xy" if trajectory.planar else "xyz")
        ]
    return curves


def _panels(units: Mapping[str, tuple[str, str, str]], rows: int) -> tuple[Figure, dict[str, list[Axes]]]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    column = _COLUMN if len(units) > 1 else 1.4 * _COLUMN
    width = _LEFT + len(units) * column + (len(units) - 1) * _BETWEEN + 6.0
    height = _BOTTOM + rows * _ROW + (rows - 1) * 4.0 + _TOP
    figure = Figure(figsize=(width / MM_PER_INCH, height / MM_PER_INCH), facecolor="white", dpi=150)
    FigureCanvasAgg(figure)
    panels: dict[str, list[Axes]] = {}
    for c, unit in enumerate(units):
        for row in range(rows):
            left = _LEFT + c * (column + _BETWEEN)
            bottom = _BOTTOM + (rows - 1 - row) * (_ROW + 4.0)
            axes = figure.add_axes((left / width, bottom / height, column / width, _ROW / height))
            axes.grid(color=GRID, lw=0.5)
            axes.set_axisbelow(True)
            axes.tick_params(
                labelsize=SMALL_TEXT, width=0.5, length=2.0, labelfontfamily=FONT, labelbottom=row == rows - 1
            )
            axes.yaxis.set_major_locator(MaxNLocator(5))
            axes.yaxis.get_offset_text().set_fontsize(SMALL_TEXT)
            per = (unit or "1") + _PER[row] if row else unit
            title = units[unit][row] + (f" ({per})" if per else "")
            axes.set_ylabel(title, fontsize=SMALL_TEXT, family=FONT)
            for spine in axes.spines.values():
                spine.set(linewidth=0.5, color=INK)
            panels.setdefault(unit, []).append(axes)
        panels[unit][-1].set_xlabel("time (s)", fontsize=SMALL_TEXT, family=FONT)
    return figure, panels


def _steady(axes: Axes, curves: Sequence[Curve], row: int, trajectory: Trajectory) -> None:
    """Keep rounding errors of what stands still from filling the panel."""
    time, (length, angle) = trajectory.time, trajectory.mechanism.units
    typical = {
        "m": trajectory.reference.size, length: trajectory.reference.size / LENGTHS[length],
        "rad": 1.0, angle: 1.0 / ANGLES[angle],
    }.get(curves[0].unit, 0.0)  # fmt: skip
    values = [part[np.isfinite(part)] for part in (curve.parts[row] for curve in curves)]
    seen = np.concatenate(values)
    duration = float(time[-1] - time[0]) or 1.0
    of_value = max(
        float(np.abs(curve.parts[0][np.isfinite(curve.parts[0])]).max(initial=0)) for curve in curves
    )
    if not len(seen):
        axes.set_ylim(-1.0, 1.0)
        return
    size = max(float(np.abs(seen).max()), of_value / duration**row)
    least = typical / duration**row
    if np.ptp(seen) < _NOTHING * least:
        size = least
    if np.ptp(seen) < _ROUNDING * size:
        middle = float(seen.mean())
        axes.set_ylim(middle - (0.1 * size or 1.0), middle + (0.1 * size or 1.0))
    axes.set_xlim(time[0], time[-1] if len(time) > 1 else time[0] + 1.0)


def _shade(trajectory: Trajectory, at: npt.NDArray[np.int64], panels: list[Axes], handles: list[Any]) -> None:
    """Shade the time around each instant that was not solved in full."""
    failed = trajectory.status.any(axis=1)
    if not failed.any():
        return
    from matplotlib.patches import Patch

    # What lies between two drawn instants is shaded with the first of them.
    bad = np.logical_or.reduceat(failed, at)
    for axes in panels:
        axes.fill_between(
            trajectory.time[at],
            0.0,
            1.0,
            where=bad.tolist(),
            step="mid",
            transform=axes.get_xaxis_transform(),
            facecolor=FAILED,
            lw=0.0,
            zorder=0.5,
        )
        for t in trajectory.time[at][bad] if bad.sum() <= 50 else ():
            axes.axvline(t, color=FAILED, lw=FINE, zorder=0.5)
    reason = sentence(failures(trajectory), len(trajectory.time))
    handles.append(Patch(facecolor=FAILED, label=f"not solved: {reason}"))
