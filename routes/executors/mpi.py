"""Ranks of MPI, on one machine or on many: :class:`mpi4py.futures.MPICommExecutor`."""

# Every rank opens the executor. Rank 0 gets it and works too, in a thread beside the pool of the other ranks,
# which serve until rank 0 ends.

from __future__ import annotations

import pickle
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, cast

from mbssa.mpi_rank import launched, mpiexec, size
from routes.executors.base import ExecutorCosts, ExecutorType

#: Printed by the shell that outlives rank 0 if MPI ends all ranks at once.
KILLED = "error: a rank has died; what a checkpoint or a store has is kept, resume continues from it"


class AllRanks(Executor):
    """The pool of the other ranks and a thread of rank 0; a call goes where the load per worker is less."""

    def __init__(self, here: Executor, others: Executor, n_others: int) -> None:
        self._pools = (here, 1), (others, n_others)
        self._pending: tuple[set[Future[Any]], ...] = (set(), set())

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        loads = []
        for pending, (_, workers) in zip(self._pending, self._pools, strict=True):
            pending -= {future for future in pending if future.done()}
            loads.append(len(pending) / workers if workers else float("inf"))
        chosen = int(loads[1] <= loads[0])
        future = self._pools[chosen][0].submit(fn, *args, **kwargs)
        self._pending[chosen].add(future)
        return future


@contextmanager
def open_ranks(workers: int) -> Iterator[Executor | None]:
    """Executor of all ranks on rank 0; None on the others, once they have served."""
    # The exception that ended the context on rank 0 is raised on all ranks.
    try:
        from mpi4py import MPI
        from mpi4py.futures import MPICommExecutor
    except (ImportError, RuntimeError) as error:
        raise ValueError(f"executor mpi: {error}; pip install -e '.[mpi]' in the clone") from None
    comm = MPI.COMM_WORLD
    failure: BaseException | None = None
    with _interrupted_once(comm.rank), MPICommExecutor(comm, use_pkl5=True) as others:
        if others is not None:
            try:
                if workers != comm.size:
                    raise ValueError(_other_ranks(workers, comm.size))
                with _message_if_killed(KILLED), ThreadPoolExecutor(1) as here:
                    yield AllRanks(here, cast(Executor, others), comm.size - 1)
            except BaseException as error:
                failure = error
    failed = comm.bcast(None if failure is None else _portable(failure))
    if failure is not None or failed is not None:
        raise failure or failed
    if comm.rank:
        yield None


def _other_ranks(wanted: int, there: int) -> str:
    try:
        command = str(mpiexec())
    except FileNotFoundError:
        command = "mpiexec"
    return (
        f"executor mpi: the plan has {wanted} ranks and {there} were started; start it with "
        f"{command} -n {wanted}, or plan for {there}"
    )


@contextmanager
def _interrupted_once(rank: int) -> Iterator[None]:
    """Raise Ctrl-C once, on rank 0: it ends the others, and a message cut short would block them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def once(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, signal.SIG_IGN if rank else once)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _portable(failure: BaseException) -> BaseException:
    """The same failure without its attributes, such as results, if other ranks can raise that."""
    try:
        found = type(failure)(*failure.args)
        pickle.dumps(found)
    except Exception:
        return RuntimeError(f"{type(failure).__name__}: {failure}")
    return found


@contextmanager
def _message_if_killed(text: str) -> Iterator[None]:
    """Print a text on standard error if this process is killed: mpiexec then leaves the ranks no time."""
    shell = None
    with suppress(OSError):
        waits = ["/bin/sh", "-c", 'read -r word || echo "$0" >&2', text]
        shell = subprocess.Popen(
            waits, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
        )
    try:
        yield
    finally:
        if shell is not None:
            with suppress(OSError):
                shell.communicate(b"well\n")


EXECUTOR = ExecutorType(
    "mpi",
    open_ranks,
    "separate",
    ExecutorCosts(2e-3, 0.0, 1e-4, 1e-4, assumed=True),
    measurable=False,
    requires="mpi4py",
    extra="mpi",
    started=lambda: size() if launched() else 0,
)
