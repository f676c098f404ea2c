"""Threads of this process: kernels hold no GIL, and every array is everybody's.

The pool is the standard library's. joblib's threading backend looks for the end of its jobs every 10 ms,
which is half the time of a run of 10,000 instants (``benchmarks/test_routes_handing.py``); it can be had by
its name, ``threading``, as every backend of joblib.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from routes.executors.ready import Ready
from routes.executors.watch import Watch
from routes.job import Bench


def execute(bench: Bench, todo: Sequence[int], watch: Watch) -> None:
    """Do the tasks, the lowest first of those whose needs are done.

    Raises
    ------
    TaskError
        Of the first task that failed; no other is begun or finished.
    """
    workers = min(bench.job.plan.workers, len(todo))
    if workers == 0:
        return
    ready = Ready(bench.job.tasks, todo)
    with ThreadPoolExecutor(max(1, workers - 1)) as pool:
        others = [pool.submit(_work, bench, ready, watch, k) for k in range(1, workers)]
        try:
            _work(bench, ready, watch, 0)
        except BaseException:
            watch.stop()
            ready.give_up()
            raise
        for other in others:
            other.result()


def _work(bench: Bench, ready: Ready, watch: Watch, worker: int) -> None:
    while (task := ready.take()) is not None:
        try:
            done = bench.perform(task, worker, watch.wanted)
        except BaseException:
            watch.stop()
            ready.give_up()
            raise
        if not done:
            ready.give_up()
            return
        ready.finish(task)
        watch.finished(task)
