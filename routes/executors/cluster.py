"""Machines of a Dask cluster: the executor of a ``distributed`` client."""

# The client is the current one of this process (distributed.Client(address)), else that of the scheduler
# named by the environment variable DASK_SCHEDULER_ADDRESS, else of a cluster of processes made here. A task
# whose worker dies is run again by another one.

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any

from routes.executors.base import ONE_THREAD, ExecutorCosts, ExecutorType, without_ctrl_c

#: Run by each process of a cluster made here, where signals cannot be masked.
_NO_CTRL_C = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"

#: Timeout for the answer of a scheduler, and for its first worker, s.
PATIENCE = 10.0


@contextmanager
def open_cluster(workers: int) -> Iterator[Executor]:
    """Executor of the current client; without one, of a new client, which is closed at the end."""
    with ExitStack() as stack:
        yield _client(workers, stack).get_executor(pure=False)


def _client(workers: int, stack: ExitStack) -> Any:
    import dask

    distributed: Any = import_module("distributed")
    try:
        client = distributed.default_client()
    except ValueError:
        address = dask.config.get("scheduler-address", None)
        if address is None:
            return _client_of_processes(workers, stack)
        _check_answers(address)
        client = stack.enter_context(distributed.Client(address))
    address = client.scheduler.address
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise ValueError(
            f"executor cluster: the scheduler at {address} has had no worker for {PATIENCE:g} s; start one "
            f"by dask worker {address}"
        ) from None
    return client


def _client_of_processes(workers: int, stack: ExitStack) -> Any:
    """Client of a cluster made here; Ctrl-C reaches all of its processes, and this one ends the others."""
    distributed: Any = import_module("distributed")
    with without_ctrl_c():  # its thread, which starts the processes later
        cluster = stack.enter_context(
            distributed.LocalCluster(
                n_workers=0,
                threads_per_worker=1,
                dashboard_address=":0",
                env=ONE_THREAD,
                preload=_NO_CTRL_C,
                silence_logs=logging.CRITICAL,  # faults come back by the futures
            )
        )
    cluster.scale(workers)
    client = stack.enter_context(distributed.Client(cluster))
    client.wait_for_workers(workers)
    return client


def _check_answers(address: str) -> None:
    """Check that a scheduler answers in time: the client itself waits for a mute one for ever."""
    distributed: Any = import_module("distributed")

    async def greet() -> None:
        security = distributed.Security().get_connection_args("client")
        (await asyncio.wait_for(distributed.core.connect(address, **security), PATIENCE)).abort()

    try:
        with ThreadPoolExecutor(1) as thread:  # the caller may be in a loop of its own, as in a notebook
            thread.submit(asyncio.run, greet()).result()
    except (OSError, ValueError) as error:
        what = f"for {PATIENCE:g} s" if isinstance(error, TimeoutError) else f"({error})"
        raise ValueError(
            f"executor cluster: no scheduler answers at {address} {what}; start dask scheduler there, or "
            "name another address in DASK_SCHEDULER_ADDRESS, such as tcp://127.0.0.1:8786"
        ) from None


EXECUTOR = ExecutorType(
    "cluster",
    open_cluster,
    "separate",
    ExecutorCosts(5e-2, 2.0, 5e-3, 5e-3, assumed=True),
    measurable=False,
    requires="distributed",
    extra="cluster",
)
