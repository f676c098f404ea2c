"""Motions from columns of numbers, with or without their rates."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from groups.motion.laws import differentiated
from groups.motion.sampled import Motion, name_faults, time_faults
from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.io.motion import by_id

Columns = Mapping[str, npt.ArrayLike]

#: Instants below which only one rate that stands apart from all others contradicts even values.
_FEWEST_COMPARED = 8

_UNITS = "write both in m or rad, and s"

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
    names, instants = mechanism.driven_coordinates, np.array(time, dtype=float)
    faults, given = time_faults(instants), dict[str, dict[str, Floats]]()
    for what, named in (("values", values), ("rates", rates), ("accelerations", accelerations)):
        columns = by_id(mechanism, named or {})
        faults += name_faults(names, columns if what == "values" else [*names, *columns], what)
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
            for name in [name for name in given[then] if name in given[first]]:
                if evidence := _contradiction(instants, given[first][name], given[then][name]):
                    faults.append(f"{then} of {name} contradict its {first}: {evidence}")
    if faults:
        raise ValueError("; ".join(faults))
    levels = np.zeros((3, len(names), len(instants)))
    for row, name in enumerate(names):
        value, (rate, second) = (
            given["values"][name],
            (given[k].get(name) for k in ("rates", "accelerations")),
        )
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
    if len(time) < FEWEST:
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
