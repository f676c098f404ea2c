"""Threads of this process: kernels hold no GIL, and every array is everybody's.

The pool is the standard library's. joblib's threading backend looks for the end of its jobs every 10 ms,
which is half the time of a run of 10,000 instants (``benchmarks/test_routes_handing.py``); it can be had by
its name, ``threading``, as every backend of joblib.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from heapq import heapify, heappop, heappush

from routes.executors.watch import Watch
from routes.job import Bench
from routes.tasks import Tasks


def execute(bench: Bench, todo: Sequence[int], watch: Watch) -> None:
    """Do the tasks, the lowest first of those whose needs are done.

    Raises
    ------
    TaskError
        Of the first task that failed; those under way are finished, no other is begun.
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
            ready.give_up()
            raise
        for other in others:
            other.result()


def _work(bench: Bench, ready: Ready, watch: Watch, worker: int) -> None:
    while (task := ready.take()) is not None:
        try:
            done = bench.perform(task, worker, watch.wanted)
        except BaseException:
            ready.give_up()
            raise
        if not done:
            ready.give_up()
            return
        ready.finish(task)
        watch.finished(task)


class Ready:
    """Tasks whose needs are done, handed to threads in ascending order."""

    def __init__(self, tasks: Tasks, todo: Sequence[int]) -> None:
        open_tasks = set(todo)
        self._waiting: dict[int, int] = {}
        self._after: dict[int, list[int]] = {}
        for task in todo:
            needs = [need for need in tasks.before(task).tolist() if need in open_tasks]
            self._waiting[task] = len(needs)
            for need in needs:
                self._after.setdefault(need, []).append(task)
        self._heap = [task for task, count in self._waiting.items() if count == 0]
        heapify(self._heap)
        self._left = len(todo)
        self._changed = threading.Condition()

    def take(self) -> int | None:
        """The next task, waited for; None once there is no other."""
        with self._changed:
            while not self._heap and self._left > 0:
                self._changed.wait()
            return heappop(self._heap) if self._left > 0 else None

    def finish(self, task: int) -> None:
        """Note a task that is done."""
        with self._changed:
            self._left -= 1
            for after in self._after.get(task, ()):
                self._waiting[after] -= 1
                if self._waiting[after] == 0:
                    heappush(self._heap, after)
            self._changed.notify_all()

    def give_up(self) -> None:
        """Begin no other task."""
        with self._changed:
            self._left = 0
            self._changed.notify_all()
