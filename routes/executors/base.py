"""Contract of an executor: a factory of :class:`concurrent.futures.Executor`, and its traits."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

#: Environment that limits the thread pools of numerical libraries to one thread in each worker process.
ONE_THREAD = {
    f"{library}_NUM_THREADS": "1"
    for library in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR", "NUMBA", "VECLIB_MAXIMUM")
}


@dataclass(frozen=True)
class ExecutorCosts:
    """Seconds that an executor adds to its tasks.

    Attributes
    ----------
    start : of every run: connection to the workers and transfer of the job
    cold : of the first run of a process, beyond ``start``
    handing : of submitting each task, on the worker that takes it
    wake : of each task that an idle worker takes
    slowdown : (workers, factor) by which tasks last longer while so many run at once: they share caches,
        memory, and often the arithmetic units of a core. Ascending, from 1 worker on
    at_once : mean number of workers that ran at once while the slowdown was measured; less than the number of
        workers if other programs had the cores
    assumed : not measured

    Examples
    --------
    >>> ExecutorCosts(0.0, 0.0, 5e-6, 0.0, assumed=True).slowdown
    ((1.0, 1.0),)
    """

    start: float
    cold: float
    handing: float
    wake: float
    slowdown: tuple[tuple[float, float], ...] = ((1.0, 1.0),)
    at_once: float = 1.0
    assumed: bool = False


@dataclass(frozen=True)
class ExecutorType:
    """An executor: a factory and its traits. No other file depends on an executor's name.

    Attributes
    ----------
    name : of its file
    open : context manager of an executor with a number of workers; None in a process that has only served as
        one of the workers. An exception that ends the context ends the other processes of a launcher too
    memory : access of the workers to the arrays of a run: the same process (``shared``), files of the same
        machine (``mapped``), or inputs and results sent with every task (``separate``)
    costs : assumed until they are measured
    parallel : whether tasks run outside the calling thread
    measurable : whether costs can be measured on this machine
    ahead : tasks submitted at once for each worker
    requires, extra : package that it needs, and the extra of this distribution that installs it
    started : number of workers that its launcher (such as ``mpiexec``) has started; 0 without one
    """

    name: str
    open: Callable[[int], AbstractContextManager[Executor | None]]
    memory: Literal["shared", "mapped", "separate"]
    costs: ExecutorCosts
    parallel: bool = True
    measurable: bool = True
    ahead: int = 2
    requires: str = "concurrent"
    extra: str = ""
    started: Callable[[], int] = lambda: 0

    def at_once(self, workers: int) -> int:
        """Number of tasks that are submitted and not done, at most."""
        return self.ahead * workers if self.parallel else 1

    def check_installed(self) -> None:
        """Check that the required package is installed.

        Raises
        ------
        ValueError
            It is not; the message names the extra.
        """
        if find_spec(self.requires) is None:
            raise ValueError(
                f"executor {self.name}: {self.requires} is not installed; pip install 'mbssa[{self.extra}]'"
            )
