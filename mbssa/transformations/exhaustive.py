"""Every distribution of the inputs judged, block by block, with a store or without one."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Literal

from mbssa.transformations import keeping
from mbssa.transformations.base import Base
from mbssa.transformations.distributions import Distributions
from mbssa.transformations.judged import Judged, judge
from mbssa.transformations.keeping import Block, Search
from mbssa.transformations.table import Table

#: What ended a search before its end: its time was up, or Ctrl-C.
Stop = Literal["", "time", "interrupted"]

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

    Parameters
    ----------
    search : where blocks are kept, and those that are there already are not judged; None keeps nothing
    block : distributions of a block without a store
    progress : told after every block

    Raises
    ------
    mbssa.store.StoreError
        The store cannot be used.
    """
    total = sum(room.count for room in rooms)
    deadline = None if time_limit is None else time.monotonic() + time_limit
    pieces: list[Judged] = []
    looked_at = 0 if search is None else keeping.progress(search).looked_at
    stopped: Stop = ""
    work = _all_blocks(rooms, block) if search is None else keeping.blocks(search, deadline)
    try:
        with keeping.held_open(search), closing(work):
            for each in work:
                if deadline is not None and time.monotonic() >= deadline:
                    break
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


def _all_blocks(rooms: Sequence[Distributions], size: int) -> Generator[Block, None, None]:
    for variant, room in enumerate(rooms):
        for first in range(0, room.count, size):
            yield Block(variant, first, min(first + size, room.count))
