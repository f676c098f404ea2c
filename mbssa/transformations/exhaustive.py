"""Every distribution of the inputs judged, block by block, with a store or without one."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mbssa.transformations import keeping
from mbssa.transformations.base import Base
from mbssa.transformations.distributions import Distributions
from mbssa.transformations.judged import Judged, judge
from mbssa.transformations.keeping import Block, Search
from mbssa.transformations.table import Table

#: What ended a search before its end: its time was up, or Ctrl-C.
Stop = Literal["", "time", "interrupted"]

#: Distributions of the first block where time is short.
_FIRST = 64

#: Told how many distributions were looked at, of how many.
Progress = Callable[[int, int], object]


@dataclass(frozen=True, eq=False)
class Looked:
    """Distributions that the count determines, how many were looked at, and what ended that too early."""

    judged: Judged
    looked_at: int
    stopped: Stop


def exhaustive(
    found: Sequence[Base],
    rooms: Sequence[Distributions],
    known: Table,
    *,
    search: Search | None = None,
    block: int = keeping.BLOCK,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Looked:
    """Judge all distributions of all bases; Ctrl-C and the time limit give what there is.

    A block of a store is judged as a whole or not at all, so none is begun where the last one took longer
    than what is left of the time; without a store blocks get smaller instead.

    Parameters
    ----------
    search : where blocks are kept, and those that are there already are not judged; None keeps nothing
    block : distributions of a block without a store, at most
    time_limit : s
    progress : told after every block

    Raises
    ------
    mbssa.store.StoreError
        The store cannot be used.
    """
    total = sum(room.count for room in rooms)
    clock = _Clock(time.monotonic(), np.inf if time_limit is None else time_limit)
    pieces: list[Judged] = []
    looked_at = 0 if search is None else keeping.progress(search).looked_at
    stopped: Stop = ""
    work = _all_blocks(rooms, block, clock) if search is None else keeping.blocks(search, clock.deadline)
    try:
        with keeping.held_open(search), closing(work):
            for each in work:
                if clock.left <= (0.0 if search is None else clock.last):
                    break
                with clock.timed(each.stop - each.first):
                    places = rooms[each.variant].places(each.first, each.stop)
                    judged = judge(found[each.variant], places, known)
                if search is None:
                    pieces.append(judged.take(judged.determined))
                    looked_at += len(judged)
                else:
                    keeping.keep(search, each, judged)
                    looked_at = keeping.progress(search).looked_at
                if progress is not None:
                    progress(looked_at, total)
    except KeyboardInterrupt:
        stopped = "interrupted"
    if search is not None:
        looked_at = keeping.progress(search).looked_at
        pieces = [keeping.kept(search)]
    if not stopped and looked_at < total:
        stopped = "time"
    return Looked(Judged.joined([Judged.empty(found[0].n_inputs), *pieces]), looked_at, stopped)


@dataclass
class _Clock:
    """How long blocks take, and what is left of the time; all in s, ``began`` of ``time.monotonic``."""

    began: float
    limit: float
    judged: int = 0
    spent: float = 0.0
    last: float = 0.0

    @property
    def deadline(self) -> float:
        return self.began + self.limit

    @property
    def left(self) -> float:
        return self.deadline - time.monotonic()

    @contextmanager
    def timed(self, number: int) -> Iterator[None]:
        """Note what judging so many distributions takes."""
        begun = time.monotonic()
        yield
        self.last = time.monotonic() - begun
        self.judged += number
        self.spent += self.last

    def fitting(self, most: int) -> int:
        """Distributions that take a quarter of what is left; a few where nothing is known, 1 at least."""
        if self.limit == np.inf:
            return most
        if not self.judged:
            return min(most, _FIRST)
        return max(1, min(most, int(self.left / 4 * self.judged / max(self.spent, 1e-6))))


def _all_blocks(rooms: Sequence[Distributions], most: int, clock: _Clock) -> Generator[Block, None, None]:
    for variant, room in enumerate(rooms):
        first = 0
        while first < room.count:
            stop = min(first + clock.fitting(most), room.count)
            yield Block(variant, first, stop)
            first = stop
