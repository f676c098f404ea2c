"""Interactive runs: kernels compiled before the start, a progress bar, and Ctrl-C."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import perf_counter
from types import FrameType
from typing import Any

import numpy as np

from groups.cli.runner import Solve
from groups.kernels.status import NOT_COMPUTED
from groups.model import Model
from groups.motion import Motion
from groups.trajectory import Branch, Level, Trajectory
from mbssa.compiled import compiling_told, is_kept
from mbssa.progress import Told, bar


@dataclass(frozen=True, eq=False)
class Watched:
    """Result of a watched run.

    Attributes
    ----------
    trajectory : instants that were not reached say so in their status
    compiling : s that went into compiling kernels
    starting : s until compiled kernels were ready, other than compiling: most of it is Numba's import
    solving : s for the motion itself
    stopped : whether Ctrl-C ended it before the last instant
    how : by which plan, in words; empty for one group after another
    compiled : whether compiled kernels solved it, or plain Python
    """

    trajectory: Trajectory
    compiling: float
    starting: float
    solving: float
    stopped: bool
    how: str = ""
    compiled: bool = False

    @property
    def reached(self) -> Trajectory:
        """The trajectory without the instants that no group was computed at."""
        computed = (self.trajectory.status != NOT_COMPUTED).any(axis=1)
        return self.trajectory.instants(np.flatnonzero(computed)) if self.stopped else self.trajectory


def solve_watched(
    model: Model,
    motion: Motion,
    *,
    bodies: Sequence[str | int] | None = None,
    level: Level = "acceleration",
    modes: Mapping[int, int] | None = None,
    branch: Branch | None = None,
    compiled: bool | None = None,
    solve: Solve | None = None,
) -> Watched:
    """Solve a motion, tell on standard error what takes long, and stop where Ctrl-C comes.

    Where compiled kernels solve it, the first instant is solved before all others, so that loading or
    compiling them is not in the time of the motion. Ctrl-C while that lasts raises KeyboardInterrupt; so does
    a second one later.

    Parameters
    ----------
    branch, compiled : as :meth:`groups.Model.solve` has them
    solve : what solves the motion; the model itself by default

    Raises
    ------
    ValueError, KeyError
        As :meth:`groups.Model.solve`.
    """
    compiled = model.compiles(len(motion.time)) if compiled is None else compiled
    chosen: dict[str, Any] = {"bodies": bodies, "level": level, "compiled": compiled}
    if modes:
        chosen["modes"] = modes
    begin = perf_counter()
    compiling = 0.0
    if compiled:
        with bar() as told, compiling_told(_Notice(model, told)) as compilation:
            model.solve(_first_instant(motion), **chosen)
        compiling = compilation.seconds
    chosen["branch"] = branch
    start = perf_counter()
    solving = f"solving {len(motion.time):,} instants"
    with stop_wanted() as wanted, bar() as told:

        def progress(share: float) -> bool:
            told(solving, share)
            return not wanted.is_set()

        trajectory = (model.solve if solve is None else solve)(motion, progress=progress, **chosen)
    seconds = perf_counter() - start
    stopped = bool((trajectory.status == NOT_COMPUTED).any())
    how = "" if solve is None else solve.how
    return Watched(trajectory, compiling, start - begin - compiling, seconds, stopped, how, compiled)


class _Notice:
    """Progress of compiling kernels: a bar on a terminal, a line elsewhere."""

    def __init__(self, model: Model, told: Told) -> None:
        wanted = sum(seconds for kernel, seconds in model.kernels.items() if not is_kept(kernel))
        self._seconds = max(wanted, 1.0)
        self._told, self._since = told, 0.0

    def __call__(self) -> None:
        what = f"compiling kernels, once for this machine: about {self._seconds:.0f} s"
        if not self._since:
            self._since = perf_counter()
            if not sys.stderr.isatty():
                print(what, file=sys.stderr, flush=True)
        self._told(what, min(0.99, (perf_counter() - self._since) / self._seconds))


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
def stop_wanted() -> Iterator[threading.Event]:
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
