"""Exhaustive search: evaluation of every actuation scheme, block by block."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mbssa.input_search.enumerate import Schemes
from mbssa.input_search.evaluate import Evaluated, evaluate
from mbssa.input_search.group_library import GroupLibrary
from mbssa.input_search.undriven import Undriven

#: Reasons for which a search ends before it has evaluated all schemes.
Stop = Literal["", "time", "number", "settled", "interrupted"]

#: Takes the number of schemes evaluated, and the number of all.
Progress = Callable[[int, int], object]

#: Schemes of the first block where time is limited.
_FIRST = 64


@dataclass(frozen=True, eq=False)
class Outcome:
    """Result of a search.

    Attributes
    ----------
    evaluated : schemes in the order of evaluation
    looked_at : number of schemes evaluated; not all of them need be in ``evaluated``
    stop : why the search ended before all were evaluated: "time" (limit), "number" (limit), "settled"
        (nothing better for long) or "interrupted" (Ctrl-C); empty where nothing new was left
    """

    evaluated: Evaluated
    looked_at: int
    stop: Stop


class Clock:
    """Time limit of a search, in s; None for none."""

    def __init__(self, limit: float | None) -> None:
        self._begun = time.monotonic()
        self._limit = np.inf if limit is None else limit

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() - self._begun >= self._limit

    def fitting(self, done: int, most: int) -> int:
        """Schemes that take a quarter of the time left at the rate so far, between 1 and ``most``."""
        if self._limit == np.inf:
            return most
        if not done:
            return min(most, _FIRST)
        spent = time.monotonic() - self._begun
        return max(1, min(most, int((self._limit - spent) / 4 * done / max(spent, 1e-6))))


def exhaustive(
    undriven: Sequence[Undriven],
    schemes: Sequence[Schemes],
    library: GroupLibrary,
    *,
    block: int,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Evaluate all schemes; keep those that the mobility count determines.

    Ctrl-C and the time limit end the search with what has been found.

    Parameters
    ----------
    schemes : of each undriven mechanism
    block : schemes evaluated at a time, at most
    time_limit : s
    progress : called after each block
    """
    clock = Clock(time_limit)
    total = sum(each.count for each in schemes)
    pieces = [Evaluated.empty(undriven[0].n_inputs)]
    looked_at = 0
    try:
        for base, several in zip(undriven, schemes, strict=True):
            first = 0
            while first < several.count and not clock.over:
                stop = min(first + clock.fitting(looked_at, block), several.count)
                found = evaluate(base, several.places(first, stop), library)
                pieces.append(found.take(found.determined))
                looked_at += stop - first
                first = stop
                if progress is not None:
                    progress(looked_at, total)
    except KeyboardInterrupt:
        return Outcome(Evaluated.joined(pieces), looked_at, "interrupted")
    return Outcome(Evaluated.joined(pieces), looked_at, "" if looked_at == total else "time")
