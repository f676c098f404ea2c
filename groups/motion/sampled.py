"""A motion: driven coordinates at instants, checked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbssa.arrays import Floats
from mbssa.bounds import LARGEST, range_fault


@dataclass(frozen=True, eq=False)
class Motion:
    """Sampled inputs of a mechanism.

    A ValueError has all faults: shapes that do not fit, numbers that are not finite, time that does not
    increase.

    Attributes
    ----------
    time : (T,) s, strictly increasing
    names : the D driven coordinates as ``joint.coordinate``, in the order of the model's joints
    value, rate, acceleration : (D, T) in m and rad, per s and per s²

    Examples
    --------
    >>> zero = np.zeros((1, 2))
    >>> Motion(np.array([0.0, 1.0]), ("1-2.angle",), zero, zero, zero).within(slice(1, 2)).time
    array([1.])
    """

    time: Floats
    names: tuple[str, ...]
    value: Floats
    rate: Floats
    acceleration: Floats

    def __post_init__(self) -> None:
        faults, shape = time_faults(self.time), (len(self.names), len(self.time))
        for label in ("value", "rate", "acceleration"):
            array = getattr(self, label)
            if array.shape != shape:
                faults.append(f"{label} has the shape {array.shape}; it needs {shape}")
                continue
            largest = LARGEST if label == "value" else np.finfo(float).max
            for row, at in np.argwhere(~(np.abs(array) <= largest))[:1].tolist():
                number = array[row, at]
                what = range_fault(number) if np.isfinite(number) else "is not finite"
                faults.append(f"{label} of {self.names[row]} {what} at t = {self.time[at]:.9g} s")
        if faults:
            raise ValueError("; ".join(faults))

    def within(self, span: slice) -> Motion:
        """The motion at some of its instants, copied."""
        levels = (array[:, span].copy() for array in (self.value, self.rate, self.acceleration))
        return Motion(self.time[span].copy(), self.names, *levels)


def time_faults(time: Floats) -> list[str]:
    """Faults of instants, which have to be (T,), finite and strictly increasing."""
    if time.ndim != 1 or len(time) == 0:
        return ["time has no instants"]
    if not np.isfinite(time).all():
        return [f"time is not finite at instant {int(np.flatnonzero(~np.isfinite(time))[0])}"]
    if (np.abs(time) > LARGEST).any():
        return [f"time {range_fault(float(time[np.argmax(np.abs(time))]))}"]
    if (np.diff(time) <= 0).any():
        at = int(np.flatnonzero(np.diff(time) <= 0)[0]) + 1
        return [f"time does not increase at instant {at} ({time[at]:.9g} s after {time[at - 1]:.9g} s)"]
    return []
