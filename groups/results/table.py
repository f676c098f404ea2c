"""A trajectory as a table: a row per instant, a column per number."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np
import numpy.typing as npt

from groups.results.joints import CoordinateMotion, chosen_coordinates, measurable, measured
from mbssa.arrays import Floats
from mbssa.files import whole
from mbssa.texts import as_cell
from mbssa.units import given_in

if TYPE_CHECKING:
    import pandas

    from groups.results.bodies import BodyMotion
    from groups.trajectory import Trajectory


#: Kinds of columns, in their order.
QUANTITIES = ("driven", "joints", "points", "bodies", "groups")

#: Position, velocity and acceleration of points: what stands before the axis, and the unit.
_POINTS = (("", "m"), ("v", "m/s"), ("a", "m/s^2"))

#: Numbers that are turned into text together.
_BLOCK = 500_000

#: Share of the largest number with the same unit, below which a number is rounding (16 ulp).
_ROUNDING = 2.0**-48


class Choice(TypedDict, total=False):
    """Columns of a table of a trajectory, and their units."""

    # Of ``driven``, ``joints``, ``points``, ``bodies`` and ``groups``; all by default.
    quantities: Sequence[str]
    # ``"all"``, ``"driven"``, or joints (``2-3``) and coordinates (``2-3.angle``)
    joints: str | Sequence[str]
    bodies: str | Sequence[str | int]  # names or numbers; by default all that were kept
    derived: Mapping[str, str]  # expressions by the name of their columns
    units: Literal["si", "file"]  # ``"si"``, or ``"file"`` for those of the model file


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
    coordinates = _coordinates(trajectory, joints, "driven" in quantities, "joints" in quantities)
    found += [column for one in coordinates for column in _of_coordinate(one)]
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
        for g in range(trajectory.status.shape[1]):
            found.append(Column(f"SG-{g + 1}.status", "", trajectory.status[:, g]))
            found.append(Column(f"SG-{g + 1}.residual", "m", trajectory.residual[:, g], True))
    names = [column.name for column in found]
    taken = [column.name for column in expressed if names.count(column.name) > 1]
    if taken:
        raise ValueError(
            f"{', '.join(taken)}: a column of this name exists already; name the quantity otherwise"
        )
    return found if units == "si" else [converted(each, trajectory.mechanism.units) for each in found]


def _coordinates(
    trajectory: Trajectory, joints: str | Sequence[str], driven: bool, others: bool
) -> list[CoordinateMotion]:
    """Coordinates of joints, each once: driven ones, then the others."""
    found = {one.name: one for one in (chosen_coordinates(trajectory, joints) if others else ())}
    if not driven:
        return list(found.values())
    names = [
        f"{joint.id}.{name}"
        for joint in measurable(trajectory)
        for name in measured(trajectory, joint)
        if name in joint.driven
    ]
    missing = chosen_coordinates(trajectory, [name for name in names if name not in found])
    found |= {one.name: one for one in missing}
    return [found[name] for name in dict.fromkeys([*names, *found])]


def _of_coordinate(one: CoordinateMotion) -> Iterator[Column]:
    levels = (one.value, one.rates, one.accelerations)
    for after, per, level in zip(("", ".rate", ".acceleration"), ("", "/s", "/s^2"), levels, strict=True):
        if level is not None:
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
    axes, about = ("xy", "z") if planar else ("xyz", "xyz")
    turn = body.orientation[:, None] if planar else body.orientation
    turns = ["angle"] if planar else ["qw", "qx", "qy", "qz"]
    columns = [(axis, "m") for axis in axes] + [(name, "rad" if planar else "") for name in turns]
    numbers = [*body.position.T, *turn.T]
    for array, linear, angular, per in (
        (trajectory.velocity, "v", "w", "/s"),
        (trajectory.acceleration, "a", "al", "/s^2"),
    ):
        if array is not None:
            columns += [(linear + axis, f"m{per}") for axis in axes]
            columns += [(angular + axis, f"rad{per}") for axis in about]
            numbers += list(array[:, body.place].T)
    for (name, unit), values in zip(columns, numbers, strict=True):
        yield Column(f"{trajectory.mechanism.body_name(body.index)}.{name}", unit, values)


def converted(column: Column, units: tuple[str, str]) -> Column:
    """A column in other units of length and angle."""
    name, scale = given_in(column.unit, units)
    return column if scale == 1.0 else replace(column, unit=name, values=column.values / scale)


# --- files -------------------------------------------------------------------------------------------


def columns(found: Sequence[Column]) -> tuple[list[str], Floats]:
    """Header and (T, columns) table; see :meth:`groups.Trajectory.columns`."""
    return [column.name for column in found], np.stack([column.values for column in found], axis=1)


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
    """Write columns by their titles; see :meth:`groups.Trajectory.write_parquet`."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            'Parquet needs PyArrow: pip install -e ".[sweeps]" in the clone', name="pyarrow"
        ) from None
    arrays = {column.title: np.ascontiguousarray(column.values) for column in found}
    with whole(path) as place, place.open("wb") as stream:
        pyarrow.parquet.write_table(pyarrow.table(arrays), stream)


def to_pandas(found: Sequence[Column]) -> pandas.DataFrame:
    """Columns by their titles, over time; see :meth:`groups.Trajectory.to_pandas`."""
    try:
        import pandas
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            'data frames need pandas: pip install -e ".[xarray]" in the clone', name="pandas"
        ) from None
    time, *others = found
    return pandas.DataFrame(
        {column.title: column.values for column in others}, index=pandas.Index(time.values, name=time.title)
    )


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
