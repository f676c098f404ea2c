"""Motions from files: laws in TOML, columns in CSV."""

from __future__ import annotations

import csv
import difflib
import math
from itertools import pairwise
from pathlib import Path

import numpy as np

from groups.motion.arrays import FEWEST, from_arrays
from groups.motion.inputs import driven_coordinates
from groups.motion.sampled import Motion
from groups.motion.sampling import check_span, stored_motion
from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.faults import Fault, Faults, ModelError
from mbssa.files import read_text
from mbssa.io.motion import read_motion_file
from mbssa.joints.catalogue import coordinate_unit
from mbssa.texts import from_cell, listed
from mbssa.units import UnitError, given_in, label_with_unit, numbers_in_si

#: Likeness from which an unknown column is a misspelt one, and unknown columns that a fault names.
_NEAR, _SHOWN = 0.8, 5
#: Ends of names of columns, and of the units of what they hold.
_SUFFIXES = {"": "", ".rate": "/s", ".acceleration": "/s^2"}


def read_motion(
    mechanism: Mechanism, path: str | Path, *, steps: int | None = None, duration: float | None = None
) -> Motion:
    """A motion from a file.

    ``.toml`` has the content of a model file's ``[motion]`` (``duration``, ``steps``, ``inputs``), or that
    table, and ``units`` beside it if they are not those of the model file. ``.csv`` has a header with
    ``time`` and the driven coordinates, angles unwrapped; columns ``<name>.rate`` and ``<name>.acceleration``
    may follow, and those that are missing are derivatives of a spline. They are in s and the units of the
    model file, or in the unit that follows a name: ``1-2.angle [deg]``, ``1-2.angle.rate [deg/s]``.

    Parameters
    ----------
    steps, duration : instead of those of the file, as in :func:`groups.default_motion`; columns are
        interpolated by a spline, from their first instant on

    Raises
    ------
    mbssa.ModelError
        Another ending, not readable, or no motion of this mechanism: every fault, with its line in a CSV.
    ValueError
        Too few instants for a spline, a duration beyond the last one, steps below 1.

    Examples
    --------
    >>> import mbssa, pathlib, tempfile
    >>> four_bar = mbssa.load("planar_four_bar")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "swing.toml"
    ...     law = '"1-2.angle" = { law = "harmonic", amplitude = 0.2, frequency = 1 }'
    ...     _ = path.write_text(f"duration = 2\\nsteps = 201\\n[inputs]\\n{law}")
    ...     read_motion(four_bar, path).value.shape
    (1, 201)
    """
    path = Path(path)
    ending = path.suffix.lower()
    check_span(steps, duration)
    if ending == ".toml":
        return stored_motion(mechanism, read_motion_file(path, mechanism), steps, duration)
    if ending != ".csv":
        raise ModelError(str(path), [Fault("", "is no motion; a motion file ends in .toml or .csv", "file")])
    columns = _read_columns(path, mechanism)
    time = columns.pop("time")
    if steps is not None or duration is not None:
        time, columns = _resampled(time, columns, steps, duration)
    return _motion(mechanism, time, columns)


def _motion(mechanism: Mechanism, time: Floats, columns: dict[str, Floats]) -> Motion:
    names = driven_coordinates(mechanism)
    value, rate, acceleration = (
        {name: columns[name + suffix] for name in names if name + suffix in columns} for suffix in _SUFFIXES
    )
    return from_arrays(mechanism, time, value, rate, acceleration)


def _resampled(
    time: Floats, columns: dict[str, Floats], steps: int | None, duration: float | None
) -> tuple[Floats, dict[str, Floats]]:
    """Columns at other instants, each by the spline through it."""
    from scipy.interpolate import make_interp_spline

    span = float(time[-1] - time[0])
    if duration is not None and duration > span * (1 + 1e-9):
        raise ValueError(f"duration is {duration} s; the columns last {span} s")
    if len(time) < FEWEST:
        raise ValueError(f"{len(time)} instants are too few for a spline, which needs {FEWEST}")
    end = time[0] + min(span if duration is None else duration, span)
    at = np.linspace(time[0], end, steps or len(time))
    degree = 5 if len(time) > 5 else 3
    return at, {name: make_interp_spline(time, column, k=degree)(at) for name, column in columns.items()}


def header_of(mechanism: Mechanism) -> str:
    """Header of columns of a motion, with the units of the model file."""
    names = driven_coordinates(mechanism)
    units = [given_in(coordinate_unit(name), mechanism.units)[0] for name in names]
    return ",".join(["time [s]", *(f"{name} [{unit}]" for name, unit in zip(names, units, strict=True))])


# --- reading ---------------------------------------------------------------------------------------


def _read_columns(path: Path, mechanism: Mechanism) -> dict[str, Floats]:
    """Columns in SI by their label; empty lines and those that begin with # are left out."""
    names = driven_coordinates(mechanism)
    text = read_text(path, "a table of comma-separated numbers")
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise ModelError(
            str(path), [Fault("", f"is empty; write a header: {header_of(mechanism)}", "missing")]
        )
    mark = next((mark for mark in ",;\t" if mark in lines[0][1]), ",")
    rows = [_cells(line, mark) for _, line in lines]
    labels = [_named(mechanism, *label_with_unit(label)) for label in rows[0]]
    header = [name for name, _ in labels]
    measured = {"time": "s"} | {
        name + suffix: coordinate_unit(name) + per_time
        for name in names
        for suffix, per_time in _SUFFIXES.items()
    }
    faults = _header_faults(header, lines[0][0], names, list(measured))
    scales = [
        _scale(name, unit, measured.get(name, ""), mechanism.units, lines[0][0], faults)
        for name, unit in labels
    ]
    table = [
        _numbers(row, header, number, faults) for row, (number, _) in zip(rows[1:], lines[1:], strict=True)
    ]
    if not table:
        faults.add("", "has a header and no instants")
    if "time" in header:
        column = header.index("time")
        at = [(row[column], number) for row, (number, _) in zip(table, lines[1:], strict=True) if row]
        for (before, _), (now, number) in pairwise(at):
            if now <= before:
                faults.add(f"line {number} time", f"{now} follows {before}; write increasing times")
    faults.raise_if_any(str(path))
    return dict(zip(header, np.array(table).T * np.array(scales)[:, None], strict=True))


def _named(mechanism: Mechanism, label: str, unit: str) -> tuple[str, str]:
    """A label with the id of its joint, and its unit."""
    ending = next((ending for ending in _SUFFIXES if ending and label.endswith(ending)), "")
    return mechanism.called(label.removesuffix(ending)) + ending, unit


def _scale(name: str, unit: str, si: str, units: tuple[str, str], line: int, faults: Faults) -> float:
    """SI units in one unit of a column, or of the model file where it has none."""
    try:
        return numbers_in_si([f"1 {unit}"], si, units)[0] if si else 1.0
    except UnitError as error:
        faults.add(f"line {line}", f"column {name!r} {error}", "conflict")
        return 1.0


def _cells(line: str, mark: str) -> list[str]:
    try:
        (row,) = csv.reader([line], delimiter=mark, skipinitialspace=True)
    except csv.Error:
        return []
    return [from_cell(cell.strip()) for cell in row]


def _header_faults(header: list[str], line: int, names: tuple[str, ...], known: list[str]) -> Faults:
    where, faults = f"line {line}", Faults()
    for name in ("time", *names):
        if name not in header:
            faults.add(where, f"no column {name!r}", "missing")
    strange = []
    for label in dict.fromkeys(header):
        if label in known:
            continue
        if near := difflib.get_close_matches(label, known, n=1, cutoff=_NEAR):
            what = f"column {label!r} is no driven coordinate; did you mean {near[0]!r}?"
            faults.add(where, what, "unknown")
        else:
            strange.append(repr(label))
    if strange:  # one line, since a table of another kind has many
        are = (
            "column {} is no driven coordinate"
            if len(strange) == 1
            else "columns {} are no driven coordinates"
        )
        what = f"{are.format(listed(strange, _SHOWN))}; driven are {listed(names) or 'none'}"
        faults.add(where, what, "unknown")
    for label in sorted({label for label in header if header.count(label) > 1}):
        faults.add(where, f"column {label!r} stands there twice", "duplicate")
    return faults


def _numbers(row: list[str], header: list[str], line: int, faults: Faults) -> list[float]:
    """Numbers of a line; none if it has faults."""
    if len(row) != len(header):
        faults.add(f"line {line}", f"{len(row)} cells; the header has {len(header)}")
        return []
    found = []
    for label, cell in zip(header, row, strict=True):
        try:
            number = float(cell)
        except ValueError:
            faults.add(f"line {line} {label}", f"{cell!r} is no number")
            continue
        if not math.isfinite(number):
            faults.add(f"line {line} {label}", f"{cell!r} is not finite")
            continue
        found.append(number)
    return found if len(found) == len(header) else []
