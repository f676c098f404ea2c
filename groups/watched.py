"""A run that somebody watches: kernels that are compiled first, a progress bar, and Ctrl-C."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import perf_counter
from types import FrameType
from typing import Any

from groups.kernels.status import NOT_COMPUTED
from groups.model import Model
from groups.motion import Motion
from groups.runner import Solve
from groups.trajectory import Level, Trajectory
from mbssa.bar import bar

_COMPILING = "compiling kernels, once for this machine: up to some minutes"


@dataclass(frozen=True, eq=False)
class Watched:
    """What a watched run gave.

    Attributes
    ----------
    trajectory : instants that were not reached say so in their status
    compiling : s that went into compiling kernels
    starting : s until the kernels were ready, other than compiling: most of it is Numba's import
    solving : s for the motion itself
    stopped : whether Ctrl-C ended it before the last instant
    how : by which plan, in words; empty for one group after another
    """

    trajectory: Trajectory
    compiling: float
    starting: float
    solving: float
    stopped: bool
    how: str = ""


def solve_watched(
    model: Model,
    motion: Motion,
    *,
    bodies: Sequence[str | int] | None = None,
    level: Level = "acceleration",
    modes: Mapping[int, int] | None = None,
    solve: Solve | None = None,
) -> Watched:
    """Solve a motion, tell on standard error what takes long, and stop where Ctrl-C comes.

    The first instant is solved on its own before all others, so that compiling is not in the time of the
    motion. Ctrl-C while that lasts raises KeyboardInterrupt; so does a second one later.

    Parameters
    ----------
    solve : who solves the motion; the model itself by default

    Raises
    ------
    ValueError, KeyError
        As :meth:`groups.Model.solve`.
    """
    chosen: dict[str, Any] = {"bodies": bodies, "level": level}
    if modes:
        chosen["modes"] = modes
    begin = perf_counter()
    with _compiling_told() as compiling:
        model.solve(_first_instant(motion), **chosen)
    start = perf_counter()
    starting = start - begin - sum(compiling)
    solving = f"solving {len(motion.time):,} instants"
    with _stop_wanted() as wanted, bar() as told:

        def progress(share: float) -> bool:
            told(solving, share)
            return not wanted.is_set()

        trajectory = (model.solve if solve is None else solve)(motion, progress=progress, **chosen)
    stopped = bool((trajectory.status == NOT_COMPUTED).any())
    how = "" if solve is None else solve.how
    return Watched(trajectory, sum(compiling), starting, perf_counter() - start, stopped, how)


def _first_instant(motion: Motion) -> Motion:
    """Copies: a view of another layout would be compiled for a second time."""
    return replace(
        motion,
        time=motion.time[:1].copy(),
        value=motion.value[:, :1].copy(),
        rate=motion.rate[:, :1].copy(),
        acceleration=motion.acceleration[:, :1].copy(),
    )


@contextmanager
def _compiling_told() -> Iterator[list[float]]:
    """Say that kernels are being compiled if they are; the list gets the seconds of each compilation."""
    from numba.core import event

    seconds: list[float] = []
    told = _Notice()

    class Listener(event.Listener):
        """Compilations nest: a kernel compiles those that it calls."""

        depth = 0
        since = 0.0

        def on_start(self, _event: Any) -> None:
            if self.depth == 0:
                self.since = perf_counter()
                told.show()
            self.depth += 1

        def on_end(self, _event: Any) -> None:
            self.depth -= 1
            if self.depth == 0:
                seconds.append(perf_counter() - self.since)

    try:
        with event.install_listener("numba:compile", Listener()):
            yield seconds
    finally:
        told.end()


class _Notice:
    """A spinner on a terminal, a line elsewhere; once."""

    def __init__(self) -> None:
        self._end: Callable[[], None] | None = None

    def show(self) -> None:
        if self._end is not None:
            return
        self._end = lambda: None
        if not sys.stderr.isatty():
            print(_COMPILING, file=sys.stderr, flush=True)
            return
        from rich.console import Console

        status = Console(stderr=True).status(f"{_COMPILING} …")
        status.start()
        self._end = status.stop

    def end(self) -> None:
        if self._end is not None:
            self._end()


@contextmanager
def _stop_wanted() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets; the second is a KeyboardInterrupt again."""
    wanted = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield wanted  # only the main thread may ask for signals
        return

    def note(_number: int, _frame: FrameType | None) -> None:
        if wanted.is_set():
            raise KeyboardInterrupt
        wanted.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield wanted
    finally:
        signal.signal(signal.SIGINT, before)
