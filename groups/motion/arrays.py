"""Motions from columns of numbers, with or without their rates."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from groups.motion.inputs import driven_coordinates, name_faults
from groups.motion.laws import differentiated
from groups.motion.sampled import Motion, time_faults
from mbssa import Mechanism

Floats = npt.NDArray[np.float64]
Columns = Mapping[str, npt.ArrayLike]

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
        not increase, fewer than four instants for a spline: all of them.

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
    faults = time_faults(instants) + name_faults(names, values, "values")
    given = {}
    for what, columns in (("values", values), ("rates", rates or {}), ("accelerations", accelerations or {})):
        if what != "values":
            faults += [fault for fault in name_faults(names, columns, what) if not fault.startswith("no ")]
        for name in names:
            if name in columns:
                given[what, name] = _column(columns[name], instants, f"{what} of {name}", faults)
    split = [name for name in names if ("rates", name) not in given or ("accelerations", name) not in given]
    if split and 0 < instants.size < FEWEST:
        faults.append(
            f"{instants.size} instants are too few for a spline, which needs {FEWEST}; "
            f"give rates and accelerations of {', '.join(split)}"
        )
    if faults:
        raise ValueError("; ".join(faults))
    parts = [_completed(name, instants, given) for name in names]
    value, rate, acceleration = np.array(parts, dtype=float).reshape(-1, 3, len(instants)).swapaxes(0, 1)
    return Motion(instants, names, value.copy(), rate.copy(), acceleration.copy())


def _completed(
    name: str, time: Floats, given: Mapping[tuple[str, str], Floats]
) -> tuple[Floats, Floats, Floats]:
    value = given["values", name]
    rate, acceleration = given.get(("rates", name)), given.get(("accelerations", name))
    if rate is not None:
        return value, rate, differentiated(time, rate, time)[0] if acceleration is None else acceleration
    rate, second = differentiated(time, value, time)
    return value, rate, second if acceleration is None else acceleration


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
