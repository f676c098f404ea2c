"""Types of NumPy arrays, and ranges of indices."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def ranges(begin: Ints, stop: Ints) -> tuple[Ints, Ints]:
    """Numbers from ``begin`` to ``stop`` (excluded) of every row, with the row of each."""
    count = stop - begin
    row = np.repeat(np.arange(len(count)), count)
    return row, np.arange(len(row)) + (begin - np.cumsum(count) + count)[row]
