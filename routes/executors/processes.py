"""Processes of this machine, which stay for the next run: loky's, which come with joblib.

Tasks are handed over as futures. ``joblib.Parallel`` looks for the end of its jobs every 10 ms, which is more
than most tasks take (``benchmarks/test_routes_handing.py``).
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Sequence
from concurrent.futures import Future, wait
from queue import Empty, SimpleQueue
from typing import Any

from routes.executors.elsewhere import ONE_THREAD, Handed, handed_over, perform_in
from routes.executors.parent import follow
from routes.executors.ready import Ready
from routes.executors.watch import Watch
from routes.job import Bench, TaskError

#: Seconds after which a process that has nothing to do ends.
IDLE = 60

#: Tasks that are handed over for each process: one that it does, and one that it need not wait for.
AHEAD = 2

#: Seconds between two looks at whether the run is still wanted.
LOOK = 0.1


def execute(bench: Bench, todo: Sequence[int], watch: Watch) -> None:
    """Do the tasks, the lowest first of those whose needs are done.

    Raises
    ------
    TaskError
        Of the first task that failed, or that was under way when its process died; those under way are
        finished, no other is begun.
    """
    workers = min(bench.job.plan.workers, len(todo))
    if workers == 0:
        return
    with handed_over(bench) as handed:
        pool = _pool(workers)
        run = _Run(bench, todo, watch, handed, pool)
        try:
            run.to_its_end(AHEAD * workers)
        except BaseException:
            handed.stop()
            try:
                wait(run.under_way)
            except KeyboardInterrupt:  # asked twice
                pool.shutdown(kill_workers=True)
                raise
            raise


class _Run:
    def __init__(self, bench: Bench, todo: Sequence[int], watch: Watch, handed: Handed, pool: Any) -> None:
        self.bench, self.watch, self.handed, self.pool = bench, watch, handed, pool
        self.ready = Ready(bench.job.tasks, todo)
        self.under_way: dict[Future[bool], int] = {}
        self.dead: list[int] = []
        self.ended: SimpleQueue[Future[bool]] = SimpleQueue()

    def to_its_end(self, at_once: int) -> None:
        while True:
            while len(self.under_way) < at_once and (task := self.ready.take_now()) is not None:
                self._hand_over(task)
            if not self.under_way:
                return
            try:
                future = self.ended.get(timeout=LOOK)
            except Empty:
                future = None
            if future is not None:
                self._take_back(future)
            if not self.watch.wanted():
                self.ready.give_up()
                self.handed.stop()

    def _hand_over(self, task: int) -> None:
        from joblib.externals.loky.process_executor import BrokenProcessPool

        try:
            future = self.pool.submit(perform_in, self.handed.folder, task)
        except BrokenProcessPool as error:
            raise self._died(error) from None
        self.under_way[future] = task
        future.add_done_callback(self._note)

    def _take_back(self, future: Future[bool]) -> None:
        from joblib.externals.loky.process_executor import BrokenProcessPool

        try:
            done = future.result()
        except BrokenProcessPool as error:
            raise self._died(error) from None
        except TaskError:
            raise
        except Exception as error:  # before the task began: its process could not open the run
            raise self.bench.failed(self.under_way[future], error) from error
        task = self.under_way.pop(future)
        if done:
            self.ready.finish(task)
            self.watch.finished(task)
        else:
            self.ready.give_up()

    def _note(self, future: Future[bool]) -> None:
        """Called as a future ends; where its process has died, before the pool ends the other ones."""
        task, error = self.under_way.get(future), future.exception()
        if error is not None and not isinstance(error, TaskError) and task is not None and not self.dead:
            self.dead = [other for other in self._begun() if not _lives(int(self.handed.at[other]))]
        self.ended.put(future)

    def _begun(self) -> list[int]:
        done, at = self.bench.space.done, self.handed.at
        return sorted(task for task in list(self.under_way.values()) if at[task] and not done[task])

    def _died(self, error: BaseException) -> TaskError:
        """Names the task whose process died; where that cannot be known, the first one under way."""
        tasks = self.dead or self._begun() or sorted(self.under_way.values())
        how = str(error).partition("The exit codes of the workers are ")[2].partition("\n")[0]
        why = f"its process died{f', {how}' if how else ''}"
        return self.bench.failed(tasks[0] if tasks else 0, why)


_pools: dict[int, Any] = {}


def _pool(workers: int) -> Any:
    """Processes, of an earlier run if they still live; not joblib's, whose pool has other habits."""
    from joblib.externals.loky import ProcessPoolExecutor

    try:
        if workers in _pools:
            _pools[workers].submit(os.getpid)
            return _pools[workers]
    except RuntimeError:  # one has died, or they were told to end
        del _pools[workers]
    if not _pools:
        atexit.register(_end_pools)
    _pools[workers] = ProcessPoolExecutor(
        workers, timeout=IDLE, initializer=follow, initargs=(os.getpid(),), env=ONE_THREAD
    )
    return _pools[workers]


def _end_pools() -> None:
    """Before loky's own end, which finds half of itself gone."""
    atexit.unregister(_end_pools)
    while _pools:
        _pools.popitem()[1].shutdown(kill_workers=True)


def _lives(process: int) -> bool:
    if os.name != "posix" or process == 0:  # elsewhere, asking would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
