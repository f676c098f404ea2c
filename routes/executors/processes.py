"""Processes of this machine: loky's reusable executor, which comes with joblib."""

# The processes stay for the next run, and map the arrays from files. joblib.Parallel itself polls for the end
# of its jobs every 10 ms, longer than most tasks take (benchmarks/test_routes_handing.py).

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from routes.executors.base import ONE_THREAD, ExecutorCosts, ExecutorType, without_ctrl_c

#: Seconds after which an idle process ends.
IDLE = 60

#: Seconds between two checks of the parent process.
CHECK_EVERY = 0.5


@contextmanager
def open_processes(workers: int) -> Iterator[Executor]:
    """Executor of loky, with the processes of an earlier run if they are alive."""
    from joblib.externals.loky import get_reusable_executor
    from joblib.externals.loky.backend import resource_tracker

    # A worker that ends, idle or grown too large, is replaced. Where warnings are errors, the one that loky
    # gives of it would end the thread that does so, and no task would ever be done.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", module="joblib")
    resource_tracker.ensure_running()  # as in without_ctrl_c
    with without_ctrl_c():  # it is the parent's; a first task starts the processes
        pool = get_reusable_executor(
            workers, timeout=IDLE, initializer=follow_parent, initargs=(os.getpid(),), env=ONE_THREAD
        )
        pool.submit(int)
    try:
        yield pool
    except KeyboardInterrupt:
        pool.shutdown(kill_workers=True)
        raise


def follow_parent(parent: int) -> None:
    """Leave Ctrl-C to the parent process, and end with it; loky's processes outlive a killed parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where signals cannot be masked

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(CHECK_EVERY)
        os._exit(1)

    if hasattr(os, "getppid") and os.getppid() == parent:
        threading.Thread(target=watch, daemon=True).start()


EXECUTOR = ExecutorType(
    "processes", open_processes, "mapped", ExecutorCosts(2e-2, 2.0, 5e-4, 2e-4, assumed=True)
)
