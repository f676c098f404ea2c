"""Motions from files: laws in TOML, columns in CSV."""

from __future__ import annotations

import csv
import difflib
import math
from pathlib import Path

import numpy as np

from groups.motion.arrays import FEWEST, from_arrays
from groups.motion.laws import through
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

    A :class:`mbssa.ModelError` for another ending, a file that cannot be read, or no motion of this
    mechanism, with every fault and its line in a CSV; a ValueError for too few instants for a spline, a
    duration beyond the last one, steps below 1.

    Parameters
    ----------
    steps, duration : instead of those of the file, as in :func:`groups.default_motion`; columns are
        interpolated by a spline, from their first instant on

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
    if steps is not None or duration is not None:
        time = columns["time"]
        span = float(time[-1] - time[0])
        if duration is not None and duration > span * (1 + 1e-9):
            raise ValueError(f"duration is {duration} s; the columns last {span} s")
        if len(time) < FEWEST:
            raise ValueError(f"{len(time)} instants are too few for a spline, which needs {FEWEST}")
        end = time[0] + min(span if duration is None else duration, span)
        at = np.linspace(time[0], end, steps or len(time))
        columns = {name: through(time, column)(at) for name, column in columns.items()} | {"time": at}
    value, rate, acceleration = (
        {name: columns[name + suffix] for name in mechanism.driven_coordinates if name + suffix in columns}
        for suffix in _SUFFIXES
    )
    return from_arrays(mechanism, columns["time"], value, rate, acceleration)


def header_of(mechanism: Mechanism) -> str:
    """Header of columns of a motion, with the units of the model file."""
    units = {n: given_in(coordinate_unit(n), mechanism.units)[0] for n in mechanism.driven_coordinates}
    return ",".join(["time [s]", *(f"{name} [{unit}]" for name, unit in units.items())])


# --- reading ---------------------------------------------------------------------------------------


def _read_columns(path: Path, mechanism: Mechanism) -> dict[str, Floats]:
    """Columns in SI by their label; empty lines and those that begin with # are left out."""
    lines = [
        (f"line {number}", line)
        for number, line in enumerate(read_text(path, "a table of comma-separated numbers").splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        empty = f"is empty; write a header: {header_of(mechanism)}"
        raise ModelError(str(path), [Fault("", empty, "missing")])
    mark = next((mark for mark in ",;\t" if mark in lines[0][1]), ",")
    (first, labels), *rows = [(where, _cells(line, mark)) for where, line in lines]
    measured = {"time": "s"} | {
        name + suffix: coordinate_unit(name) + per_time
        for name in mechanism.driven_coordinates
        for suffix, per_time in _SUFFIXES.items()
    }
    header, scales, wrong_units = list[str](), list[float](), Faults()
    for label in labels:
        name, unit = label_with_unit(label)
        ending = next((ending for ending in _SUFFIXES if ending and name.endswith(ending)), "")
        header.append(mechanism.called(name.removesuffix(ending)) + ending)
        scales.append(1.0)
        try:
            if header[-1] in measured:
                scales[-1:] = numbers_in_si([f"1 {unit}"], measured[header[-1]], mechanism.units)
        except UnitError as error:
            wrong_units.add(first, f"column {header[-1]!r} {error}", "conflict")
    faults = _header_faults(header, first, mechanism.driven_coordinates, list(measured))
    faults += wrong_units
    table, before = list[list[float]](), -math.inf
    unordered = Faults()
    for where, row in rows:
        if len(row) != len(header):
            faults.add(where, f"{len(row)} cells; the header has {len(header)}")
            continue
        numbers = list[float]()
        for label, cell in zip(header, row, strict=True):
            try:
                numbers.append(float(cell))
            except ValueError:
                faults.add(f"{where} {label}", f"{cell!r} is no number")
                continue
            if not math.isfinite(numbers[-1]):
                faults.add(f"{where} {label}", f"{cell!r} is not finite")
        table.append(numbers)
        if "time" in header and len(numbers) == len(row) and all(map(math.isfinite, numbers)):
            now = numbers[header.index("time")]
            if now <= before:
                unordered.add(f"{where} time", f"{now} follows {before}; write increasing times")
            before = now
    if not rows:
        faults.add("", "has a header and no instants")
    faults += unordered
    faults.raise_if_any(str(path))
    return dict(zip(header, np.array(table).T * np.array(scales)[:, None], strict=True))


def _cells(line: str, mark: str) -> list[str]:
    try:
        (row,) = csv.reader([line], delimiter=mark, skipinitialspace=True)
    except csv.Error:
        return []
    return [from_cell(cell.strip()) for cell in row]


def _header_faults(header: list[str], where: str, names: tuple[str, ...], known: list[str]) -> Faults:
    faults = Faults()
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
        one = len(strange) == 1
        are = f"{listed(strange, _SHOWN)} {'is no driven coordinate' if one else 'are no driven coordinates'}"
        what = f"column{'' if one else 's'} {are}; driven are {listed(names) or 'none'}"
        faults.add(where, what, "unknown")
    for label in sorted({label for label in header if header.count(label) > 1}):
        faults.add(where, f"column {label!r} stands there twice", "duplicate")
    return faults
