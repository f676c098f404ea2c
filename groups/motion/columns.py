"""Motions from columns of numbers, with or without their rates, in memory or in files; laws in files."""

from __future__ import annotations

import csv
import difflib
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from groups.motion.laws import check_span, default_motion, differentiated, spline_fault, through
from groups.motion.sampled import Motion, finite, instants_of, name_faults
from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.faults import Fault, Faults, ModelError
from mbssa.files import read_text
from mbssa.io.motion import by_id, read_motion_file
from mbssa.joints.catalogue import coordinate_unit
from mbssa.texts import from_cell, listed
from mbssa.units import UnitError, given_in, label_with_unit, numbers_in_si

#: Likeness from which an unknown column is a misspelt one, and unknown columns that a fault names.
_NEAR, _SHOWN = 0.8, 5
#: Ends of names of columns, and of the units of what they hold.
_SUFFIXES = {"": "", ".rate": "/s", ".acceleration": "/s^2"}
#: Instants below which only one rate that stands apart from all others contradicts even values.
_FEWEST_COMPARED = 8
_UNITS = "write both in m or rad, and s"

Columns = Mapping[str, npt.ArrayLike]


def from_arrays(
    mechanism: Mechanism,
    time: npt.ArrayLike,
    values: Columns,
    rates: Columns | None = None,
    accelerations: Columns | None = None,
) -> Motion:
    """A motion from arrays by the name of the driven coordinate.

    Rates that are not given are the derivatives of the spline through the values (quintic, cubic through
    four or five instants), accelerations those of the spline through the given rates or the values. A
    ValueError has all faults: coordinates that are unknown or missing, lengths that differ, numbers that are
    not finite, time that does not increase, fewer than four instants for a spline, rates that contradict the
    values.

    Parameters
    ----------
    time : (T,) s, increasing
    values : (T,) m or rad for each driven coordinate, angles unwrapped; rates and accelerations of any

    Examples
    --------
    >>> import mbssa
    >>> t = np.linspace(0.0, 1.0, 101)
    >>> motion = from_arrays(mbssa.load("planar_four_bar"), t, {"1-2.angle": np.sin(t)})
    >>> bool(abs(motion.acceleration[0] + np.sin(t)).max() < 1e-8)
    True
    """
    names, faults, given = mechanism.driven_coordinates, list[str](), dict[str, dict[str, Floats]]()
    instants = instants_of(time, faults)
    for what, named in (("values", values), ("rates", rates), ("accelerations", accelerations)):
        columns = by_id(mechanism, named or {})
        faults += name_faults(names, columns if what == "values" else [*names, *columns], what)
        there = [name for name in names if name in columns]
        given[what] = {name: finite(columns[name], instants, f"{what} of {name}", faults) for name in there}
    split = [name for name in names if name not in given["rates"] or name not in given["accelerations"]]
    if split and instants.size and (fault := spline_fault(instants.size)):
        faults.append(f"{fault}; give rates and accelerations of {', '.join(split)}")
    if not faults:
        for first, then in (("values", "rates"), ("rates", "accelerations")):
            for name in [name for name in given[then] if name in given[first]]:
                if evidence := _contradiction(instants, given[first][name], given[then][name]):
                    faults.append(f"{then} of {name} contradict its {first}: {evidence}")
    if faults:
        raise ValueError("; ".join(faults))
    levels = np.zeros((3, len(names), len(instants)))
    for row, name in enumerate(names):
        value, rate = given["values"][name], given["rates"].get(name)
        second = given["accelerations"].get(name)
        if rate is None:
            rate, bent = differentiated(instants, value, instants)
        elif second is None:
            bent, _ = differentiated(instants, rate, instants)
        levels[:, row] = value, rate, bent if second is None else second
    return Motion(instants, names, *levels)


def _contradiction(time: Floats, value: Floats, rate: Floats) -> str:
    """Evidence that ``rate`` is not the derivative of ``value``; empty if it may be."""
    # A rate is far from the slopes of the two steps before it and the two behind, by more than four times
    # their spread and a fifth of the steepest slope of all; or the rates add up to another way, by more than
    # a tenth of it and the error of the trapezoidal rule. So digits, noise, jumps and few instants contradict
    # nothing; other units, signs and slips do. A motion may begin from rest, and end there.
    if spline_fault(len(time)):
        return ""
    step, way = np.diff(time), np.diff(value)
    slope, added = way / step, step * (rate[1:] + rate[:-1]) / 2
    near = np.lib.stride_tricks.sliding_window_view(np.pad(slope, 2, mode="edge"), 4)
    low, high = near.min(axis=1), near.max(axis=1)
    low[[0, -1]], high[[0, -1]] = np.minimum(low[[0, -1]], 0.0), np.maximum(high[[0, -1]], 0.0)
    away, steepest = np.maximum(rate - high, low - rate), np.abs(slope).max()
    off = away - 4 * (high - low) - 0.2 * steepest - 1e-9
    alone = np.sort(away)[-2] < 0.01 * away.max() and np.ptp(slope) < 0.2 * steepest
    if (off > 0).any() and (alone or len(time) >= _FEWEST_COMPARED):
        k = int(np.argmax(off))
        there = f"at t = {time[k]:.6g} s it is {rate[k]:.3g}, where the values go on by "
        return f"{there}{slope[min(k, len(slope) - 1)]:.3g} a second; {_UNITS}"
    # Two steps by the trapezoidal rule, at once and one by one, differ by some 3 times the error, which each
    # may have; values that turn from step to step are too few to say what is between them.
    wide = np.abs((step[:-1] + step[1:]) * (rate[:-2] + rate[2:]) / 2 - added[:-1] - added[1:])
    wide += np.abs(np.diff(way))
    moved, summed = np.cumsum(way), np.cumsum(added)
    wrong = np.cumsum(np.maximum(np.append(wide, 0.0), np.append(0.0, wide)))
    lost = np.abs(moved - summed) - 0.1 * max(np.ptp(value), np.ptp(summed)) - wrong - 1e-9
    if len(time) < _FEWEST_COMPARED or (lost <= 0).all():
        return ""
    k = int(np.argmax(lost))
    span = f"from t = {time[0]:.6g} to {time[k + 1]:.6g} s"
    return f"{span} they add up to {summed[k]:.3g}, where it moves by {moved[k]:.3g}; {_UNITS}"


# --- files -----------------------------------------------------------------------------------------


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
        stored = replace(mechanism, motion=read_motion_file(path, mechanism))
        return default_motion(stored, steps=steps, duration=duration)
    if ending != ".csv":
        raise ModelError(str(path), [Fault("", "is no motion; a motion file ends in .toml or .csv", "file")])
    columns = _read_columns(path, mechanism)
    if steps is not None or duration is not None:
        time = columns["time"]
        span = float(time[-1] - time[0])
        duration = span if duration is None else duration
        if duration > span * (1 + 1e-9):
            raise ValueError(f"duration is {duration} s; the columns last {span} s")
        at = np.linspace(time[0], time[0] + min(duration, span), steps or len(time))
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
    header, scales, faults = list[str](), list[float](), Faults()
    for label in labels:
        name, unit = label_with_unit(label)
        ending = max(filter(name.endswith, _SUFFIXES), key=len)
        header.append(mechanism.called(name.removesuffix(ending)) + ending)
        scales.append(1.0)
        try:
            if header[-1] in measured:
                scales[-1:] = numbers_in_si([f"1 {unit}"], measured[header[-1]], mechanism.units)
        except UnitError as error:
            faults.add(first, f"column {header[-1]!r} {error}", "conflict")
    for name in ("time", *mechanism.driven_coordinates):
        if name not in header:
            faults.add(first, f"no column {name!r}", "missing")
    strange = list[str]()  # which get one line, since a table of another kind has many
    for label in dict.fromkeys(label for label in header if label not in measured):
        if meant := difflib.get_close_matches(label, list(measured), n=1, cutoff=_NEAR):
            what = f"column {label!r} is no driven coordinate; did you mean {meant[0]!r}?"
            faults.add(first, what, "unknown")
        else:
            strange.append(repr(label))
    if strange:
        what = f"{listed(strange, _SHOWN)} (driven are {listed(mechanism.driven_coordinates) or 'none'})"
        faults.add(first, f"no driven coordinate is called {what}", "unknown")
    for label in sorted({label for label in header if header.count(label) > 1}):
        faults.add(first, f"column {label!r} stands there twice", "duplicate")
    table, before = list[list[float]](), -math.inf
    for where, row in rows:
        if len(row) != len(header):
            faults.add(where, f"{len(row)} cells; the header has {len(header)}")
            continue
        numbers = list[float]()
        for label, cell in zip(header, row, strict=True):
            try:
                number, what = float(cell), "is not finite"
            except ValueError:
                number, what = math.nan, "is no number"
            if not math.isfinite(number):
                faults.add(f"{where} {label}", f"{cell!r} {what}")
            numbers.append(number)
        table.append(numbers)
        now = numbers[header.index("time")] if "time" in header else math.nan
        if now <= before:
            faults.add(f"{where} time", f"{now} follows {before}; write increasing times")
        before = now
    if not rows:
        faults.add("", "has a header and no instants")
    faults.raise_if_any(str(path))
    return dict(zip(header, np.array(table).T * np.array(scales)[:, None], strict=True))


def _cells(line: str, mark: str) -> list[str]:
    try:
        (row,) = csv.reader([line], delimiter=mark, skipinitialspace=True)
    except csv.Error:
        return []
    return [from_cell(cell.strip()) for cell in row]
