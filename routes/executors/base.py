"""Contract of an executor: a factory of :class:`concurrent.futures.Executor`, and its traits."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing import resource_tracker
from typing import Literal

#: Environment that limits the thread pools of numerical libraries to one thread in each worker process.
ONE_THREAD = {
    f"{library}_NUM_THREADS": "1"
    for library in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR", "VECLIB_MAXIMUM")
}


@contextmanager
def without_ctrl_c() -> Iterator[None]:
    """Processes started inside get no Ctrl-C, from their first line; one here comes at the end."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # started later, it would end the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass(frozen=True)
class ExecutorCosts:
    """Seconds that an executor adds to its tasks."""

    start: float  # of every run: connection to the workers and transfer of the job
    cold: float  # of the first run of a process, beyond start
    handing: float  # of submitting each task, on the worker that takes it
    wake: float  # of each task that an idle worker takes
    # Tasks last longer while so many run at once: they share caches, memory, and often the arithmetic units
    # of a core.
    slowdown: tuple[tuple[float, float], ...] = ((1.0, 1.0),)  # (workers, factor), ascending from 1 worker
    # Less than the number of workers if other programs had the cores.
    at_once: float = 1.0  # mean number of workers that ran while the slowdown was measured
    assumed: bool = False  # not measured


@dataclass(frozen=True)
class ExecutorType:
    """Factory of an executor and its traits; no other file depends on an executor's name."""

    name: str  # of its file
    # By the number of workers; None in a process that has only served as a worker. An exception that ends the
    # context ends the other processes of a launcher too.
    open: Callable[[int], AbstractContextManager[Executor | None]]
    # The workers' access to arrays: in process, files of the machine, sent with tasks.
    memory: Literal["shared", "mapped", "separate"]
    costs: ExecutorCosts  # assumed until they are measured
    parallel: bool = True  # tasks run outside the calling thread
    measurable: bool = True  # on this machine
    ahead: int = 2  # tasks submitted at once for each worker
    requires: str = "concurrent"  # package that it needs
    extra: str = ""  # of this distribution, which installs the package
    # Workers that its launcher (such as mpiexec) has started; 0 without one.
    started: Callable[[], int] = lambda: 0

    def at_once(self, workers: int) -> int:
        """Number of tasks that are submitted and not done, at most."""
        return self.ahead * workers if self.parallel else 1

    def check_installed(self) -> None:
        """Check that the required package is installed; the ValueError names the extra."""
        if find_spec(self.requires) is None:
            raise ValueError(
                f"executor {self.name}: {self.requires} is not installed; "
                f"pip install -e '.[{self.extra}]' in the clone"
            )
