"""Machines of a Dask cluster: the executor of a ``distributed`` client."""

# The client is the current one of this process (distributed.Client(address)), else that of the scheduler
# named by the environment variable DASK_SCHEDULER_ADDRESS, else of a cluster of processes made here. A task
# whose worker dies is run again by another one.

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any

from routes.executors.base import ONE_THREAD, ExecutorCosts, ExecutorType

#: Run by each process of a cluster made here: Ctrl-C reaches all of them, and this one ends the others.
_NO_CTRL_C = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"


@contextmanager
def open_cluster(workers: int) -> Iterator[Executor]:
    """Executor of the current client; without one, of a new client, which is closed at the end."""
    with ExitStack() as stack:
        yield _client(workers, stack).get_executor(pure=False)


def _client(workers: int, stack: ExitStack) -> Any:
    import dask

    distributed: Any = import_module("distributed")
    try:
        return distributed.default_client()
    except ValueError:
        pass
    address = dask.config.get("scheduler-address", None)
    if address is None:
        address = stack.enter_context(
            distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                dashboard_address=":0",
                env=ONE_THREAD,
                preload=_NO_CTRL_C,
                silence_logs=logging.CRITICAL,  # faults come back by the futures
            )
        )
    return stack.enter_context(distributed.Client(address))


EXECUTOR = ExecutorType(
    "cluster",
    open_cluster,
    "separate",
    ExecutorCosts(5e-2, 2.0, 5e-3, 5e-3, assumed=True),
    measurable=False,
    requires="distributed",
    extra="cluster",
)
