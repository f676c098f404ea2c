"""A trajectory as a table: a row per instant, a column per number."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np
import numpy.typing as npt

from groups.results import expressions
from groups.results.joints import chosen_coordinates, coordinate_motion, measurable, measured
from mbssa.files import whole
from mbssa.texts import as_cell
from mbssa.units import SI, given_in

if TYPE_CHECKING:
    from groups.results.joints import BodyMotion, CoordinateMotion
    from groups.trajectory import Trajectory


#: Kinds of columns, in their order.
QUANTITIES = ("driven", "joints", "points", "bodies", "groups")

#: Levels of a motion: what stands behind the name of a coordinate and the unit, and before the axis of the
#: linear and angular motion of a body.
_LEVELS = (("", "", "", ""), (".rate", "/s", "v", "w"), (".acceleration", "/s^2", "a", "al"))

_NO_UNITS = "units {!r}; write 'si' or 'file'"

#: Numbers that are turned into text together.
_BLOCK = 500_000

#: Share of the largest number with the same unit, below which a number is rounding (16 ulp).
_ROUNDING = 2.0**-48


class Choice(TypedDict, total=False):
    """Columns of a table and their units, as :meth:`groups.Trajectory.columns` has them."""

    quantities: Sequence[str]
    joints: str | Sequence[str]
    bodies: str | Sequence[str | int]
    derived: Mapping[str, str]
    units: Literal["si", "file"]


@dataclass(frozen=True, eq=False, slots=True)
class Column:
    """One column: its name, its unit and its (T,) numbers."""

    name: str
    unit: str
    values: npt.NDArray[Any]
    is_error: bool = False  # written however small beside others of its unit

    @property
    def title(self) -> str:
        """Name, and the unit in brackets."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name


def chosen_columns(
    trajectory: Trajectory,
    *,
    quantities: Sequence[str] = QUANTITIES,
    joints: str | Sequence[str] = "all",
    bodies: str | Sequence[str | int] | None = None,
    derived: Mapping[str, str] | None = None,
    units: str = "si",
) -> list[Column]:
    """Columns of a :class:`Choice`, time first."""
    unknown = [name for name in quantities if name not in QUANTITIES]
    faults = [f"no quantities {name!r}; there are {', '.join(QUANTITIES)}" for name in unknown]
    faults += [_NO_UNITS.format(units)] * (units not in ("si", "file"))
    if faults:
        raise ValueError("; ".join(faults))
    motions: dict[str, CoordinateMotion] = {}
    if "joints" in quantities:
        motions = {one.name: one for one in chosen_coordinates(trajectory, joints)}
    if "driven" in quantities:
        named = [(joint, name) for joint in measurable(trajectory) for name in measured(trajectory, joint)]
        driven = [f"{joint.id}.{name}" for joint, name in named if name in joint.driven]
        motions = {n: motions.get(n) or coordinate_motion(trajectory, n) for n in driven} | motions
    found = [Column("time", "s", trajectory.time), *_of_coordinates(motions.values())]
    expressed = _of_coordinates(expressions.derived(trajectory, derived or {}))
    found += expressed
    if bodies is None:
        bodies = (trajectory.kept[trajectory.kept > 0] + 1).tolist()
    moving = [trajectory.body(body) for body in ([bodies] if isinstance(bodies, str) else bodies)]
    found += [column for body in moving if "points" in quantities for column in _of_points(body)]
    found += [column for body in moving if "bodies" in quantities for column in _of_body(body)]
    if "groups" in quantities:
        for g, (status, residual) in enumerate(zip(trajectory.status.T, trajectory.residual.T, strict=True)):
            found += [Column(f"SG-{g + 1}.status", "", status)]
            found += [Column(f"SG-{g + 1}.residual", "m", residual, True)]
    names = [column.name for column in found]
    if taken := ", ".join(column.name for column in expressed if names.count(column.name) > 1):
        raise ValueError(f"{taken}: a column of this name exists already; name the quantity otherwise")
    return shown_in(found, trajectory, units)


def _of_coordinates(motions: Iterable[CoordinateMotion]) -> list[Column]:
    return [
        Column(one.name + after, (one.unit or "1") + per if per else one.unit, values)
        for one in motions
        for (after, per, _, _), values in zip(_LEVELS, one.levels, strict=False)
    ]


def _of_points(body: BodyMotion) -> Iterator[Column]:
    mechanism = body.trajectory.mechanism
    for point in mechanism.geometry_of(body.index).points:
        for (_, per, level, _), vectors in zip(_LEVELS, body.point_levels(point), strict=False):
            for axis, values in zip("xyz", vectors.T, strict=False):
                yield Column(f"{mechanism.body_name(body.index)}.{point}.{level}{axis}", f"m{per}", values)


def _of_body(body: BodyMotion) -> Iterator[Column]:
    trajectory = body.trajectory
    axes, about = ("xy", "z") if trajectory.planar else ("xyz", "xyz")
    turns = [("angle", "rad")] if trajectory.planar else [(f"q{part}", "") for part in "wxyz"]
    parts = [*((axis, "m") for axis in axes), *turns]
    for _, per, linear, angular in _LEVELS[1:]:
        parts += [(linear + axis, f"m{per}") for axis in axes]
        parts += [(angular + axis, f"rad{per}") for axis in about]
    kept = [of[:, body.place].T for of in (trajectory.velocity, trajectory.acceleration) if of is not None]
    numbers = chain(body.position.T, np.atleast_2d(body.orientation.T), *kept)
    for (part, unit), values in zip(parts, numbers, strict=False):
        yield Column(f"{trajectory.mechanism.body_name(body.index)}.{part}", unit, values)


def shown_in(found: Sequence[Column], trajectory: Trajectory, units: str) -> list[Column]:
    """Columns in SI, or by ``file`` in the units of length and angle of the mechanism."""
    if units not in ("si", "file"):
        raise ValueError(_NO_UNITS.format(units))
    scaled = [given_in(one.unit, trajectory.mechanism.units if units == "file" else SI) for one in found]
    return [
        one if scale == 1.0 else replace(one, unit=unit, values=one.values / scale)
        for one, (unit, scale) in zip(found, scaled, strict=True)
    ]


# --- files -------------------------------------------------------------------------------------------


def write_table(found: Sequence[Column], path: str | Path, force: bool = True) -> None:
    """Write columns by their titles to ``.parquet``; else as CSV in blocks of rows, rounding as 0."""
    # See :meth:`groups.Trajectory.write_csv`.
    if check_target(path, (".csv", ".parquet"), force).suffix.lower() == ".parquet":
        pyarrow = required("pyarrow", "Parquet needs PyArrow", "sweeps")
        import pyarrow.parquet as parquet

        arrays = {column.title: np.ascontiguousarray(column.values) for column in found}
        with whole(path) as place, place.open("wb") as stream:
            parquet.write_table(pyarrow.table(arrays), stream)
        return
    largest: dict[str, float] = {}
    for column in found:
        if not column.is_error:
            finite = np.abs(column.values[np.isfinite(column.values)])
            largest[column.unit] = max(largest.get(column.unit, 0.0), float(finite.max(initial=0.0)))
    columns = [
        one.values
        if one.is_error or one.unit in ("", "s")
        else np.where(np.abs(one.values) < _ROUNDING * largest[one.unit], 0.0, one.values)
        for one in found
    ]
    rows = max(1, _BLOCK // len(found))
    with whole(path) as place, place.open("w", encoding="utf-8", newline="") as text:
        csv.writer(text, lineterminator="\n").writerow(as_cell(column.title) for column in found)
        for start in range(0, len(columns[0]), rows):
            block = [values[start : start + rows].tolist() for values in columns]
            text.writelines(",".join(map(repr, row)) + "\n" for row in zip(*block, strict=True))


def required(package: str, purpose: str, extra: str) -> Any:
    """A package of an extra; a ModuleNotFoundError that says what to install without it."""
    try:
        return import_module(package)
    except ModuleNotFoundError:
        remedy = f'pip install -e ".[{extra}]" in the clone'
        raise ModuleNotFoundError(f"{purpose}: {remedy}", name=package) from None


def check_target(path: str | Path, endings: Sequence[str], force: bool) -> Path:
    """Path of a file with one of these endings that may be written, if there is none or by ``force``."""
    path = Path(path)
    special = path.exists() and not path.is_file()  # a pipe or a device
    if path.suffix.lower() not in endings and not special:
        said = f"the ending {path.suffix!r} is not a supported format" if path.suffix else "it has no ending"
        raise ValueError(f"{path}: {said}; write {', '.join(endings)}")
    if path.is_file() and not force:
        raise FileExistsError(f"{path}: exists; write force=True to replace it")
    return path
