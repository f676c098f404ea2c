"""Cases of a sweep: a grid, a sample, or a table of values by the name of a parameter."""

from __future__ import annotations

import csv
import hashlib
import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from mbssa.arrays import Floats
from mbssa.bounds import LARGEST, range_fault
from mbssa.texts import from_cell
from mbssa.units import UnitError, in_si, label_with_unit, numbers_in_si
from routes.sweep.latin import latin

Method = Literal["sobol", "halton", "latin"]
METHODS: tuple[Method, ...] = ("sobol", "halton", "latin")

#: Cases of a sweep, values of one name in a grid, and bytes of a table, at most.
MOST_CASES, MOST_VALUES, _MOST_BYTES = 1_000_000_000, 1_000_000, 100_000_000

#: Least and greatest probability of a quantile; the ends of a distribution may be infinite.
_LEAST, _MOST = 2.0**-40, 1.0 - 2.0**-40
#: Quantiles that identify a distribution without a name in scipy.stats.
_QUANTILES = 4_097


@dataclass(frozen=True, eq=False)
class Cases:
    """Values of some parameters in many cases; made by :func:`grid`, :func:`sample` and :func:`table`.

    Attributes
    ----------
    names : of the parameters, as :func:`routes.sweep.sweep` takes them
    number : of cases
    definition : plain data ready for JSON; equal for equal cases
    units : None where values are in m and rad; of a file its units by name, "" for those of the model file,
        in which the values are until a sweep knows its model

    Examples
    --------
    >>> cases = grid({"1-2.angle": [0.0, 1.0]})
    >>> cases.names, cases.number, cases.values().tolist()
    (('1-2.angle',), 2, [[0.0], [1.0]])
    """

    names: tuple[str, ...]
    number: int
    definition: Mapping[str, Any]
    _source: Any = field(repr=False)
    units: Mapping[str, str] | None = None

    def values(self, start: int = 0, stop: int | None = None) -> Floats:
        """(n, k) values of the cases ``start`` … ``stop`` - 1, a column for each name.

        >>> sample({"2-3.length": (1.0, 2.0)}, 1000).values(998).round(3).tolist()
        [[1.912], [1.256]]
        """
        stop = self.number if stop is None else min(stop, self.number)
        found: Floats = self._source(start, stop)
        return found


def grid(values: Mapping[str, npt.ArrayLike]) -> Cases:
    """Every combination of values; the last name changes first.

    Parameters
    ----------
    values : m and rad, or numbers of modes, by the name of a parameter: a sequence of them, or the tuple
        (low, high, number) of so many even steps, ends included, as LOW:HIGH:NUMBER on the command line. A
        tuple of three floats is refused: it may mean either

    Raises
    ------
    ValueError
        No name, a name without values, values that are no numbers in range, a range without a whole number
        of values, too many values or cases: all of them.

    Examples
    --------
    >>> grid({"x": [1, 2], "y": [5, 6, 7]}).values().tolist()[:4]
    [[1.0, 5.0], [1.0, 6.0], [1.0, 7.0], [2.0, 5.0]]
    >>> grid({"x": (0.9, 1.4, 3)}).values().ravel().tolist()
    [0.9, 1.15, 1.4]
    """
    stepped: dict[str, npt.ArrayLike] = {}
    faults = []
    for name, given in values.items():
        try:
            stepped[name] = even_steps(*given) if isinstance(given, tuple) and len(given) == 3 else given
        except ValueError as error:
            faults.append(f"{name}: {error}")
    columns, found = _columns(stepped, "a grid") if stepped or not values else ({}, [])
    faults += found
    faults += [
        f"{name}: {len(column):,} values; a name of a grid has {MOST_VALUES:,} at most"
        for name, column in columns.items()
        if len(column) > MOST_VALUES
    ]
    if not faults:
        faults += _number_faults(math.prod(len(column) for column in columns.values()))
    if faults:
        raise ValueError("; ".join(faults))
    definition = {"kind": "grid", "values": {name: column.tolist() for name, column in columns.items()}}
    number = math.prod(len(column) for column in columns.values())
    return Cases(tuple(columns), number, definition, partial(_of_grid, tuple(columns.values())))


def even_steps(low: float, high: float, number: int) -> list[float]:
    """Evenly spaced values from ``low`` to ``high``, both included."""
    whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
    if not (whole and 1 <= number <= MOST_VALUES):
        raise ValueError(
            f"({low}, {high}, {number}) is no range; write (low, high, number), a whole number from 1 to "
            f"{MOST_VALUES:,}, or values as a list"
        )
    try:
        ends = float(low), float(high)
    except (TypeError, ValueError):
        raise ValueError(f"({low!r}, {high!r}, {number}) has ends that are no numbers") from None
    if any(range_fault(end) for end in ends):
        raise ValueError(f"from {ends[0]:g} to {ends[1]:g}: write ends between -{LARGEST:g} and {LARGEST:g}")
    # Linspace may miss a round number by its last digit.
    return [float(f"{value:.15g}") for value in np.linspace(*ends, int(number))]


def _number_faults(number: int) -> list[str]:
    if 1 <= number <= MOST_CASES:
        return []
    return [f"{number:,} cases; write 1 to {MOST_CASES:,}"]


def sample(ranges: Mapping[str, Any], number: int, method: Method = "sobol", seed: int = 0) -> Cases:
    """So many cases spread over ranges or distributions; the same ones for the same seed.

    Parameters
    ----------
    ranges : by the name of a parameter (low, high), evenly, or a distribution of ``scipy.stats``: frozen, a
        histogram, or one of your own
    method : "sobol" (scrambled), "halton" (scrambled) or "latin" (hypercube)

    Raises
    ------
    ValueError
        No name, a range that is none, no cases, another method, a seed below 0: all of them.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> play = sample({"2-3.length+": norm(0.0, 1e-3)}, 256, "latin")
    >>> bool(abs(play.values().mean()) < 1e-5), play.definition["ranges"]
    (True, {'2-3.length+': 'norm(0.0, 0.001)'})
    """
    faults = []
    if not ranges:
        faults.append("a sample needs at least one name with a range")
    faults += _number_faults(number)
    if method not in METHODS:
        faults.append(f"no method {method!r}; write one of {', '.join(METHODS)}")
    if seed < 0:
        faults.append(f"the seed {seed}; write 0 or more")
    ranges_as_data: dict[str, Any] = {}
    distributions: list[Any] = []
    for name, given in ranges.items():
        try:
            each, ranges_as_data[name] = _distribution(given) if hasattr(given, "ppf") else _even(given)
            distributions.append(each)
        except ValueError as error:
            faults.append(f"{name}: {error}")
    if faults:
        raise ValueError("; ".join(faults))
    definition = {
        "kind": "sample",
        "ranges": ranges_as_data,
        "number": number,
        "method": method,
        "seed": seed,
    }
    return Cases(tuple(ranges), number, definition, partial(_of_sample, distributions, number, method, seed))


def _even(given: Any) -> tuple[tuple[float, float], list[float]]:
    """The ends of a range, and as a list."""
    try:
        low, high = (float(end) for end in given)
    except (TypeError, ValueError):
        raise ValueError(f"{given!r} is no range; write (low, high) or a scipy.stats distribution") from None
    if not (np.isfinite([low, high]).all() and low <= high):
        raise ValueError(f"from {low} to {high} is no range; write the lower end first")
    if range_fault(low) or range_fault(high):
        raise ValueError(f"from {low:g} to {high:g}: write ends between -{LARGEST:g} and {LARGEST:g}")
    return (low, high), [low, high]


def _distribution(given: Any) -> tuple[Any, str]:
    """A frozen distribution, and a text that identifies it."""
    from scipy import stats

    try:
        frozen = given if hasattr(given, "dist") else given.freeze()
        words = [repr(float(value)) for value in frozen.args]
        words += [f"{key}={float(value)!r}" for key, value in frozen.kwds.items()]
        shares = np.linspace(_LEAST, _MOST, _QUANTILES)
        with np.errstate(all="ignore"):
            quantiles = np.asarray(frozen.ppf(shares), dtype=np.float64)
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(
            f"{given!r} is no distribution with its numbers, as norm(0, 0.001): {error}"
        ) from None
    name = str(frozen.dist.name)
    text = f"{name}({', '.join(words)})"
    if quantiles.shape != shares.shape or not np.isfinite(quantiles).all():
        raise ValueError(f"{text} has quantiles that are no numbers")
    if type(getattr(stats, name, None)) is not type(frozen.dist):
        text += f" with the quantiles {hashlib.sha256(quantiles.tobytes()).hexdigest()[:16]}"
    return frozen, text


def table(columns: Mapping[str, npt.ArrayLike] | str | Path) -> Cases:
    """Cases one by one: arrays of one length by the name of a parameter, or a CSV file with a header.

    In the header a unit may follow a name: ``1-2.angle [deg]``; a column without is in the units of the model
    file. Arrays are in m and rad.

    Raises
    ------
    ValueError
        No name, columns of other lengths, what is no finite number, with its line: all of them.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> table({"1-2.angle": [0.0, 0.1], "mode 2": [1, 2]}).values().tolist()
    [[0.0, 1.0], [0.1, 2.0]]
    """
    units: dict[str, str] | None = None
    if isinstance(columns, str | Path):
        found, faults, units = _read(Path(columns))
    else:
        found, faults = _columns(columns, "a table")
    lengths = {name: len(column) for name, column in found.items()}
    if not faults and len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} {length}" for name, length in lengths.items())
        faults.append(f"columns of a table have one length, not {listed}")
    if faults:
        raise ValueError("; ".join(faults))
    values = np.stack(list(found.values()), axis=1)
    digest = hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()
    definition = {"kind": "table", "names": list(found), "number": len(values), "sha256": digest}
    return Cases(tuple(found), len(values), definition, partial(_of_table, values), units)


def in_si_units(cases: Cases, si: Mapping[str, str], model_units: tuple[str, str]) -> Cases:
    """Cases of a file in SI; ``si`` are the units of the parameters by name. A ValueError has all faults."""
    if cases.units is None:
        return cases
    columns, faults = {}, []
    for name, column in zip(cases.names, cases.values().T, strict=True):
        try:
            (scale,) = numbers_in_si([f"1 {cases.units[name]}"], si[name], model_units)
            columns[name] = column * scale
        except UnitError as error:
            faults.append(f"{name}: {error}")
    if faults:
        raise ValueError("\n  ".join(faults))
    return table(columns)


def _of_grid(axes: Sequence[Floats], start: int, stop: int) -> Floats:
    shape = [len(axis) for axis in axes]
    which = np.unravel_index(np.arange(start, stop, dtype=np.int64), shape)
    return np.stack([axis[at] for axis, at in zip(axes, which, strict=True)], axis=1)


def _of_sample(
    ranges: Sequence[Any], number: int, method: Method, seed: int, start: int, stop: int
) -> Floats:
    wide = len(ranges)
    unit = (
        latin(start, stop, number, wide, seed)
        if method == "latin"
        else _drawn(method, wide, seed, start, stop)
    )
    columns = []
    for each, share in zip(ranges, unit.T, strict=True):
        if hasattr(each, "ppf"):
            columns.append(each.ppf(np.clip(share, _LEAST, _MOST)))
        else:
            columns.append(each[0] + share * (each[1] - each[0]))
    return np.stack(columns, axis=1).astype(np.float64)


#: Sequence used last by a thread, which continues with the next block.
_last = threading.local()


def _drawn(method: Method, wide: int, seed: int, start: int, stop: int) -> Floats:
    """Points of a sequence; SciPy's warning about numbers other than powers of 2 is suppressed."""
    import warnings

    from scipy.stats import qmc

    which = (method, wide, seed)
    engine = getattr(_last, "engine", None)
    if engine is None or _last.which != which or engine.num_generated > start:
        engine = (qmc.Sobol if method == "sobol" else qmc.Halton)(wide, rng=seed)
        _last.which, _last.engine = which, engine
    if method == "halton":
        engine.num_generated = start  # fast_forward would draw them all
    elif start > engine.num_generated:
        engine.fast_forward(start - engine.num_generated)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The balance properties of Sobol")
        points: Floats = engine.random(stop - start)
    return points


def _of_table(rows: Floats, start: int, stop: int) -> Floats:
    return rows[start:stop]


def _columns(given: Mapping[str, npt.ArrayLike], what: str) -> tuple[dict[str, Floats], list[str]]:
    found, faults = {}, []
    if not given:
        faults.append(f"{what} needs at least one name with values")
    for name, values in given.items():
        try:
            column = np.atleast_1d(np.array(values, dtype=np.float64))
        except (TypeError, ValueError) as error:
            faults.append(f"{name}: values are no numbers: {error}")
            continue
        if column.ndim != 1 or not len(column):
            faults.append(f"{name}: values have the shape {column.shape}; write one or more in a row")
        elif not np.isfinite(column).all():
            faults.append(f"{name}: value {int(np.flatnonzero(~np.isfinite(column))[0]) + 1} is not finite")
        elif (np.abs(column) > LARGEST).any():
            k = int(np.argmax(np.abs(column) > LARGEST))
            faults.append(f"{name}: value {k + 1} {range_fault(float(column[k]))}")
        found[name] = column
    return found, faults


def _read(path: Path) -> tuple[dict[str, Floats], list[str], dict[str, str]]:
    """Columns of a CSV file, faults by line, and units by the header."""
    if path.stat().st_size > _MOST_BYTES:
        what = f"more than {_MOST_BYTES / 1e6:.0f} MB; give larger tables as arrays, in Python"
        return {}, [f"{path}: {what}"], {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            lines = [
                (number, row) for number, row in enumerate(csv.reader(stream), 1) if any(map(str.strip, row))
            ]
    except (UnicodeDecodeError, csv.Error) as error:
        return {}, [f"{path} is no CSV file in UTF-8: {error}"], {}
    if len(lines) < 2:
        return {}, [f"{path}: write a header of parameters and a line for each case"], {}
    labels = [label_with_unit(from_cell(name.strip())) for name in lines[0][1]]
    names = [name for name, _ in labels]
    faults = [f"{path}: column {k} has no name" for k, name in enumerate(names, 1) if not name]
    faults += [
        f"{path}: {name} stands twice" for name in dict.fromkeys(names) if name and names.count(name) > 1
    ]
    for name, unit in labels:
        try:
            in_si(unit or "m")
        except UnitError as error:
            faults.append(f"{path}: {name} {error}")
    values = np.empty((len(lines) - 1, len(names)))
    for place, (number, row) in enumerate(lines[1:]):
        if len(row) != len(names):
            faults.append(f"{path}: line {number} has {len(row)} values; the header has {len(names)}")
            continue
        for k, text in enumerate(row):
            values[place, k] = _number(text)
            if not abs(values[place, k]) <= LARGEST:
                what = f"{text.strip()[:40]!r} is no number up to {LARGEST:g}"
                faults.append(f"{path}: line {number}, {names[k]}: {what}")
        if len(faults) > _SHOWN:
            faults.append("and perhaps more")
            break
    return {name: values[:, k] for k, name in enumerate(names)}, faults, dict(labels)


#: Faults of a file after which the rest is not looked for.
_SHOWN = 10


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def described(parameters: Sequence[str], number: int, given: Mapping[str, Any]) -> str:
    """Cases in a few words, of their names, their number and :attr:`Cases.definition`."""
    names = ", ".join(parameters)
    if given["kind"] == "grid":
        lengths: Sequence[str] = [str(len(values)) for values in given["values"].values()]
        return f"grid of {' x '.join(lengths)}: {names}"
    if given["kind"] == "sample":
        return f"{given['method']} sample of {number:,}, seed {given['seed']}: {names}"
    return f"table of {number:,}: {names}"
