"""Interactive runs: machine code made before the start, plans, a progress bar, and Ctrl-C."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from time import perf_counter
from types import FrameType
from typing import Any, NamedTuple

from groups.cli.options import Options
from groups.model import Model
from groups.motion import Motion
from groups.status import NOT_COMPUTED
from groups.trajectory import Level, Trajectory
from mbssa.cli import RUNNER
from mbssa.cli.options import flag, option
from mbssa.progress import bar

#: Shortest compilation, and shortest proof that an option requests, that are announced (s).
ANNOUNCED, ANNOUNCED_PROOF = 1.0, 3.0


@dataclass(frozen=True)
class Request(Options):
    """Options of a run by a plan; true where one of them is given."""

    workers: int | None = option("N", "Solve on so many cores, by the plan predicted fastest.", min=1)
    executor: str | None = option("NAME", "threads, processes, mpi or cluster, for --workers.")
    plan: Path | None = option("FILE", "Solve by this plan, as mbssa routes --save wrote it.")
    checkpoint: Path | None = option("FOLDER", "Keep what is done, so that --resume can go on from it.")
    resume: bool = flag("--resume", "Go on from what --checkpoint keeps.")

    def __bool__(self) -> bool:
        return self != Request()


class TimedRun(NamedTuple):
    """A trajectory with the times (s) that it took."""

    trajectory: Trajectory
    compiling: float  # s of making machine code
    solving: float  # s for the motion itself
    stopped: bool  # by Ctrl-C before the last instant
    how: str  # the plan in words; empty for one group after another
    compiled: bool  # by machine code, not NumPy


def solve_interactively(
    model: Model,
    motion: Motion,
    level: Level = "acceleration",
    compiled: bool | None = None,
    request: Request | None = None,
    **chosen: Any,
) -> TimedRun:
    """Solve a motion with progress on standard error, until Ctrl-C or its end."""
    # Machine code is made first, so that this is not in the time of the motion. Ctrl-C before anything is
    # solved, and a second one, raise KeyboardInterrupt. Further keywords are those of Model.solve.
    planned = resolve_name(RUNNER)(request, model, motion, level) if request else None
    compiled = model.compiles(len(motion.time)) if compiled is None else compiled
    begin = perf_counter()
    if compiled:
        _announce("compiling the model", model.compile_seconds, ANNOUNCED)
        compiled = model.compile()
    if chosen.get("branch") in ("proven", "smooth"):  # by default what takes long is checked alone
        seconds = model.proof_seconds(len(motion.time), compiled=compiled)
        _announce("proving the branches", seconds, ANNOUNCED_PROOF)
    start = perf_counter()
    with stoppable_progress(f"solving {len(motion.time):,} instants") as progress:
        solve = planned or model.solve
        trajectory = solve(motion, level=level, compiled=compiled, progress=progress, **chosen)
    stopped = bool((trajectory.status == NOT_COMPUTED).any())
    how = planned.how if planned else ""
    return TimedRun(trajectory, start - begin, perf_counter() - start, stopped, how, compiled)


def _announce(work: str, seconds: float, least: float) -> None:
    if seconds > least:
        print(f"{work}: about {seconds:.0f} s", file=sys.stderr, flush=True)


@contextmanager
def stoppable_progress(title: str) -> Iterator[Callable[[float], bool]]:
    """Bar that a share from 0 to 1 advances, with False as answer after the first Ctrl-C."""
    # The second Ctrl-C is a KeyboardInterrupt again; so is the first one before any share, as nothing is
    # lost.
    begun, stop = threading.Event(), threading.Event()

    before = signal.getsignal(signal.SIGINT)

    def note(number: int, frame: FrameType | None) -> None:
        if stop.is_set() or not begun.is_set():
            if callable(before):  # that of the command does not raise within an import
                before(number, frame)
            raise KeyboardInterrupt
        stop.set()

    main = threading.current_thread() is threading.main_thread()  # which alone may handle signals
    if main:
        signal.signal(signal.SIGINT, note)
    try:
        with bar() as show:

            def progress(share: float) -> bool:
                begun.set()
                show(title, share)
                return not stop.is_set()

            yield progress
    finally:
        if main:
            signal.signal(signal.SIGINT, before)
