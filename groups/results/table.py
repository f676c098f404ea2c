"""A trajectory as a table: a row per instant, a column per number."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np
import numpy.typing as npt

from groups.results.joints import (
    CoordinateMotion,
    chosen_coordinates,
    coordinate_motion,
    measurable,
    measured,
)
from mbssa.files import whole
from mbssa.texts import as_cell
from mbssa.units import given_in

if TYPE_CHECKING:
    from groups.results.joints import BodyMotion
    from groups.trajectory import Trajectory


#: Kinds of columns, in their order.
QUANTITIES = ("driven", "joints", "points", "bodies", "groups")

#: Value, rate and acceleration of coordinates: what stands behind the name, and behind the unit.
_RATES = (("", ""), (".rate", "/s"), (".acceleration", "/s^2"))

#: Position, velocity and acceleration of points: what stands before the axis, and the unit.
_POINTS = (("", "m"), ("v", "m/s"), ("a", "m/s^2"))

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
    if unknown or units not in ("si", "file"):
        said = [f"no quantities {name!r}; there are {', '.join(QUANTITIES)}" for name in unknown]
        said += [] if units in ("si", "file") else [f"units {units!r}; write 'si' or 'file'"]
        raise ValueError("; ".join(said))
    found = [Column("time", "s", trajectory.time)]
    for one in _coordinates(trajectory, joints, quantities):
        found += _of_coordinate(one)
    expressed: list[Column] = []
    if derived:
        from groups.results.expressions import derived as motions_of

        expressed = [column for one in motions_of(trajectory, derived) for column in _of_coordinate(one)]
        found += expressed
    if bodies is None:
        bodies = (trajectory.kept[trajectory.kept > 0] + 1).tolist()
    moving = [trajectory.body(body) for body in ([bodies] if isinstance(bodies, str) else bodies)]
    if "points" in quantities:
        found += [column for body in moving for column in _of_points(body)]
    if "bodies" in quantities:
        found += [column for body in moving for column in _of_body(body)]
    if "groups" in quantities:
        for g, (status, residual) in enumerate(zip(trajectory.status.T, trajectory.residual.T, strict=True)):
            found.append(Column(f"SG-{g + 1}.status", "", status))
            found.append(Column(f"SG-{g + 1}.residual", "m", residual, True))
    names = [column.name for column in found]
    taken = [column.name for column in expressed if names.count(column.name) > 1]
    if taken:
        raise ValueError(
            f"{', '.join(taken)}: a column of this name exists already; name the quantity otherwise"
        )
    return found if units == "si" else [converted(each, trajectory.mechanism.units) for each in found]


def _coordinates(
    trajectory: Trajectory, joints: str | Sequence[str], quantities: Sequence[str]
) -> list[CoordinateMotion]:
    """Coordinates of joints, each once: driven ones, then the others."""
    found: dict[str, CoordinateMotion] = {}
    if "joints" in quantities:
        found = {one.name: one for one in chosen_coordinates(trajectory, joints)}
    if "driven" not in quantities:
        return list(found.values())
    names = [
        f"{joint.id}.{name}"
        for joint in measurable(trajectory)
        for name in measured(trajectory, joint)
        if name in joint.driven
    ]
    driven = [found.pop(n) if n in found else coordinate_motion(trajectory, n) for n in names]
    return [*driven, *found.values()]


def _of_coordinate(one: CoordinateMotion) -> Iterator[Column]:
    for (after, per), level in zip(_RATES, one.levels, strict=False):
        yield Column(one.name + after, (one.unit or "1") + per if per else one.unit, level)


def _of_points(body: BodyMotion) -> Iterator[Column]:
    trajectory = body.trajectory
    geometry = trajectory.mechanism.body_geometry.get(body.index)
    for point in geometry.points if geometry is not None else ():
        name = f"{trajectory.mechanism.body_name(body.index)}.{point}"
        for (level, unit), vectors in zip(_POINTS, body.point_levels(point), strict=False):
            for axis, values in zip("xyz", vectors.T, strict=False):
                yield Column(f"{name}.{level}{axis}", unit, values)


def _of_body(body: BodyMotion) -> Iterator[Column]:
    trajectory, planar = body.trajectory, body.trajectory.planar
    name = trajectory.mechanism.body_name(body.index)
    axes, about = ("xy", "z") if planar else ("xyz", "xyz")
    turns = [("angle", "rad")] if planar else [(f"q{part}", "") for part in "wxyz"]
    columns = [*((axis, "m") for axis in axes), *turns]
    numbers = [*body.position.T, *np.atleast_2d(body.orientation.T)]
    for array, linear, angular, per in (
        (trajectory.velocity, "v", "w", "/s"),
        (trajectory.acceleration, "a", "al", "/s^2"),
    ):
        if array is not None:
            columns += [(linear + axis, f"m{per}") for axis in axes]
            columns += [(angular + axis, f"rad{per}") for axis in about]
            numbers += [*array[:, body.place].T]
    for (part, unit), values in zip(columns, numbers, strict=True):
        yield Column(f"{name}.{part}", unit, values)


def converted(column: Column, units: tuple[str, str]) -> Column:
    """A column in other units of length and angle."""
    name, scale = given_in(column.unit, units)
    return column if scale == 1.0 else replace(column, unit=name, values=column.values / scale)


# --- files -------------------------------------------------------------------------------------------


def write_table(found: Sequence[Column], path: Path) -> None:
    """Write columns to a file that ends in ``.csv`` or ``.parquet``."""
    (write_parquet if path.suffix.lower() == ".parquet" else write_csv)(found, path)


def write_csv(found: Sequence[Column], path: str | Path) -> None:
    """Write columns in blocks of rows, rounding as 0; see :meth:`groups.Trajectory.write_csv`."""
    rows, found = max(1, _BLOCK // len(found)), _without_rounding(found)
    with whole(path) as place, place.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerow(as_cell(column.title) for column in found)
        for start in range(0, len(found[0].values), rows):
            block = [column.values[start : start + rows].tolist() for column in found]
            stream.writelines(",".join(map(repr, row)) + "\n" for row in zip(*block, strict=True))


def _without_rounding(found: Sequence[Column]) -> list[Column]:
    """Columns with 0 for numbers that may be the rounding error of the largest one of their unit."""
    largest: dict[str, float] = {}
    for column in found:
        if column.is_error:
            continue
        finite = np.abs(column.values[np.isfinite(column.values)])
        largest[column.unit] = max(largest.get(column.unit, 0.0), float(finite.max(initial=0.0)))
    return [
        column
        if column.is_error or column.unit in ("", "s")
        else replace(
            column,
            values=np.where(np.abs(column.values) < _ROUNDING * largest[column.unit], 0.0, column.values),
        )
        for column in found
    ]


def write_parquet(found: Sequence[Column], path: str | Path) -> None:
    """Write columns by their titles."""
    pyarrow = required("pyarrow", "Parquet needs PyArrow", "sweeps")
    import pyarrow.parquet as parquet

    arrays = {column.title: np.ascontiguousarray(column.values) for column in found}
    with whole(path) as place, place.open("wb") as stream:
        parquet.write_table(pyarrow.table(arrays), stream)


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
