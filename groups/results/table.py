"""A trajectory as a table: a row per instant, a column per number."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from groups.results.joints import CoordinateMotion, chosen_coordinates
from mbssa.files import whole
from mbssa.texts import as_cell

if TYPE_CHECKING:
    from groups.trajectory import Trajectory

Floats = npt.NDArray[np.float64]

#: Names and units of a body's columns by level, planar and spatial; a quaternion has no unit.
_PLANAR = {
    "pose": (("x", "m"), ("y", "m"), ("angle", "rad")),
    "velocity": (("vx", "m/s"), ("vy", "m/s"), ("wz", "rad/s")),
    "acceleration": (("ax", "m/s^2"), ("ay", "m/s^2"), ("alz", "rad/s^2")),
}
_SPATIAL = {
    "pose": (
        *((name, "m") for name in ("x", "y", "z")),
        *((name, "") for name in ("qw", "qx", "qy", "qz")),
    ),
    "velocity": (
        *((name, "m/s") for name in ("vx", "vy", "vz")),
        *((name, "rad/s") for name in ("wx", "wy", "wz")),
    ),
    "acceleration": (
        *((name, "m/s^2") for name in ("ax", "ay", "az")),
        *((name, "rad/s^2") for name in ("alx", "aly", "alz")),
    ),
}

#: Numbers that are turned into text together.
_BLOCK = 500_000


def columns(trajectory: Trajectory, joints: str | Sequence[str] = ()) -> tuple[list[str], Floats]:
    """Header and (T, columns) table; see :meth:`groups.Trajectory.columns`."""
    coordinates = chosen_coordinates(trajectory, joints)
    header = [name for name, _ in _header(trajectory, coordinates)]
    return header, _rows(trajectory, coordinates, slice(None))


def write_csv(trajectory: Trajectory, path: str | Path, joints: str | Sequence[str] = ()) -> None:
    """Write the table in blocks of rows; see :meth:`groups.Trajectory.write_csv`."""
    coordinates = chosen_coordinates(trajectory, joints)
    header = _header(trajectory, coordinates)
    rows = max(1, _BLOCK // len(header))
    with whole(path) as place, place.open("w", encoding="utf-8", newline="") as stream:
        titles = [f"{name} [{unit}]" if unit else name for name, unit in header]
        csv.writer(stream, lineterminator="\n").writerow(map(as_cell, titles))
        for start in range(0, len(trajectory.time), rows):
            block = _rows(trajectory, coordinates, slice(start, start + rows)).tolist()
            stream.writelines(",".join(map(repr, row)) + "\n" for row in block)


def _header(trajectory: Trajectory, coordinates: list[CoordinateMotion]) -> list[tuple[str, str]]:
    """Name and unit of every column."""
    names = _PLANAR if trajectory.planar else _SPATIAL
    levels = [names["pose"]]
    levels += [
        names[level] for level in ("velocity", "acceleration") if getattr(trajectory, level) is not None
    ]
    header = [("time", "s")]
    for b in trajectory.kept[trajectory.kept > 0].tolist():
        body = trajectory.mechanism.body_name(b)
        header += [(f"{body}.{name}", unit) for level in levels for name, unit in level]
    for one in coordinates:
        header.append((one.name, one.unit))
        if one.rates is not None:
            header.append((f"{one.name}.rate", f"{one.unit}/s"))
        if one.accelerations is not None:
            header.append((f"{one.name}.acceleration", f"{one.unit}/s^2"))
    return header


def _rows(trajectory: Trajectory, coordinates: list[CoordinateMotion], which: slice) -> Floats:
    part = trajectory.instants(which)
    pieces = [part.time[:, None]]
    for place in np.flatnonzero(trajectory.kept > 0).tolist():
        orientation = part.orientation[:, place]
        pieces += [part.position[:, place], orientation[:, None] if part.planar else orientation]
        pieces += [level[:, place] for level in (part.velocity, part.acceleration) if level is not None]
    for one in coordinates:
        levels = (one.value, one.rates, one.accelerations)
        pieces += [level[which, None] for level in levels if level is not None]
    return np.concatenate(pieces, axis=1)
