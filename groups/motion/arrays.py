"""Motions from columns of numbers, with or without their rates."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from groups.motion.inputs import driven_coordinates, name_faults
from groups.motion.laws import differentiated
from groups.motion.sampled import Motion, time_faults
from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.io.motion import by_id

Columns = Mapping[str, npt.ArrayLike]

#: Instants from which on rates are compared with values: fewer say little of what is between them.
_FEWEST_COMPARED = 8

#: Instants below which no spline can be differentiated twice.
FEWEST = 4


def from_arrays(
    mechanism: Mechanism,
    time: npt.ArrayLike,
    values: Columns,
    rates: Columns | None = None,
    accelerations: Columns | None = None,
) -> Motion:
    """A motion from arrays by the name of the driven coordinate.

    Rates that are not given are the derivatives of the spline through the values (quintic, cubic through
    four or five instants), accelerations those of the spline through the given rates or the values.

    Parameters
    ----------
    time : (T,) s, increasing
    values : (T,) m or rad for each driven coordinate, angles unwrapped; rates and accelerations of any

    Raises
    ------
    ValueError
        Unknown or missing coordinates, lengths that differ, numbers that are not finite, time that does
        not increase, fewer than four instants for a spline, rates that are not those of the values: all of
        them.

    Examples
    --------
    >>> import mbssa
    >>> t = np.linspace(0.0, 1.0, 101)
    >>> motion = from_arrays(mbssa.load("planar_four_bar"), t, {"1-2.angle": np.sin(t)})
    >>> bool(abs(motion.acceleration[0] + np.sin(t)).max() < 1e-8)
    True
    """
    names = driven_coordinates(mechanism)
    instants = np.array(time, dtype=float)
    faults = time_faults(instants)
    given: dict[str, dict[str, Floats]] = {}
    for what, named in (("values", values), ("rates", rates), ("accelerations", accelerations)):
        columns = by_id(mechanism, named or {})
        found = name_faults(names, columns, what)
        faults += [fault for fault in found if what == "values" or not fault.startswith("no ")]
        given[what] = {
            name: _column(columns[name], instants, f"{what} of {name}", faults)
            for name in names
            if name in columns
        }
    split = [name for name in names if name not in given["rates"] or name not in given["accelerations"]]
    if split and 0 < instants.size < FEWEST:
        faults.append(
            f"{instants.size} instants are too few for a spline, which needs {FEWEST}; "
            f"give rates and accelerations of {', '.join(split)}"
        )
    if not faults:
        for first, then in (("values", "rates"), ("rates", "accelerations")):
            for name in names:
                if name not in given[first] or name not in given[then]:
                    continue
                if evidence := _contradiction(instants, given[first][name], given[then][name]):
                    faults.append(f"{then} of {name} contradict its {first}: {evidence}")
    if faults:
        raise ValueError("; ".join(faults))
    levels = np.zeros((3, len(names), len(instants)))
    for row, name in enumerate(names):
        value, rate, second = (given[what].get(name) for what in given)
        assert value is not None
        if rate is None:
            rate, bent = differentiated(instants, value, instants)
        elif second is None:
            bent, _ = differentiated(instants, rate, instants)
        levels[:, row] = value, rate, bent if second is None else second
    return Motion(instants, names, *levels)


def _contradiction(time: Floats, value: Floats, rate: Floats) -> str:
    """Evidence that ``rate`` is not the derivative of ``value``; empty if it may be."""
    # The integral of the rates misses the values by more than a tenth of the way and of the trapezoidal
    # error, or a rate in one step leads ten times as far as the values go, or one rate stands apart from even
    # ones. So digits, noise and few instants contradict nothing; other units, signs and slips do.
    if len(time) < _FEWEST_COMPARED:
        return _slip(time, value, rate) if len(time) > 2 else ""
    step, way = np.diff(time), np.diff(value)
    added = step * (rate[1:] + rate[:-1]) / 2
    # Two steps by the trapezoidal rule, at once and one by one: their difference is some 3 times the error,
    # which each of the two may have.
    wide = np.abs((step[:-1] + step[1:]) * (rate[:-2] + rate[2:]) / 2 - added[:-1] - added[1:])
    # Values that turn from step to step are too few to say what is between them.
    wide += np.abs(np.diff(way))
    wrong = np.cumsum(np.maximum(np.append(wide, 0.0), np.append(0.0, wide)))
    moved, summed = np.cumsum(way), np.cumsum(added)
    range_of = max(np.ptp(value), np.ptp(summed))
    off = np.abs(moved - summed) - 0.1 * range_of - wrong
    if (off > 0).any():
        k = int(np.argmax(off)) + 1
        return _told(time[0], time[k], summed[k - 1], moved[k - 1])
    around = np.abs(np.concatenate([[0.0, 0.0], way, [0.0, 0.0]]))
    near = np.max([around[k : k + len(time)] for k in range(4)], axis=0)
    leads = np.abs(rate) * np.minimum(np.append(step, np.inf), np.append(np.inf, step))
    far = leads - 10 * near - 1e-3 * np.ptp(value)
    if (far > 0).any():
        k = int(np.argmax(far))
        start = min(k, len(step) - 1)
        return _told(time[start], time[start + 1], added[start], way[start])
    return _slip(time, value, rate)


def _slip(time: Floats, value: Floats, rate: Floats) -> str:
    """The one rate that stands apart where the values go on evenly and the rates beside it fit them."""
    slope = np.diff(value) / np.diff(time)
    apart = np.abs(rate[1:-1] - (slope[1:] + slope[:-1]) / 2)
    beside = np.maximum(np.abs(rate[:-2] - slope[:-1]), np.abs(rate[2:] - slope[1:]))
    even = np.maximum(beside, np.abs(np.diff(slope)))
    slip = apart - np.maximum(10 * even, 0.2 * np.abs(slope).max() + 1e-9)
    if not (slip > 0).any():
        return ""
    k = int(np.argmax(slip)) + 1
    return f"at t = {time[k]:.6g} s it is {rate[k]:.3g}, where the values go on by {slope[k]:.3g} a second"


def _told(begin: float, end: float, added: float, moved: float) -> str:
    return (
        f"from t = {begin:.6g} to {end:.6g} s they add up to {added:.3g}, where it moves by {moved:.3g}; "
        "write both in m or rad, and s"
    )


def _column(column: npt.ArrayLike, time: Floats, what: str, faults: list[str]) -> Floats:
    try:
        array = np.array(column, dtype=float)
    except (TypeError, ValueError) as error:
        faults.append(f"{what} are no numbers: {error}")
        return time
    if array.shape != time.shape:
        faults.append(f"{what} have the shape {array.shape}; time has {time.shape}")
    elif not np.isfinite(array).all():
        faults.append(f"{what} are not finite at t = {time[~np.isfinite(array)][0]:.9g} s")
    return array
