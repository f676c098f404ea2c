"""Submission of tasks to an executor as soon as their predecessors are done, lowest number first."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, Future, wait
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from heapq import heappop, heappush
from typing import Any

#: Seconds between two checks of whether the run has been stopped.
CHECK_EVERY = 0.1

#: A function and its arguments.
Call = tuple[Any, ...]


class CallFailed(RuntimeError):
    """A call that raised an exception, which is the cause."""

    def __init__(self, task: int, running: list[int]) -> None:
        super().__init__(f"task {task}")
        self.task, self.running = task, running


def dispatch(
    predecessors: Mapping[int, Iterable[int]],
    pool: Executor,
    call: Callable[[int], Call],
    take: Callable[[int, Any], bool],
    wanted: Callable[[], bool],
    at_once: int,
    stop: Callable[[], None] = lambda: None,
) -> None:
    """Run all tasks, or stop; no call is running when this returns or raises."""
    # `take` handles one result at a time, and returns False to run the task again. `wanted` is called between
    # tasks and every 0.1 s, by one thread at a time; `stop` after an exception, before running calls are
    # awaited.
    _Dispatch(TopologicalSorter(predecessors), pool, call, take, wanted, at_once).to_the_end(stop)


@dataclass
class _Dispatch:
    """State of a dispatch."""

    # The worker that ends a call submits the next ones itself, in the callback of its future, so that a chain
    # of tasks stays on one thread (8 to 20 µs a task; 60 µs by way of the calling thread).

    sorter: TopologicalSorter[int]
    pool: Executor
    call: Callable[[int], Call]
    take: Callable[[int, Any], bool]
    wanted: Callable[[], bool]
    at_once: int
    ready: list[int] = field(default_factory=list)
    running: dict[Future[Any], int] = field(default_factory=dict)
    ended: deque[Future[Any]] = field(default_factory=deque)
    lock: threading.Lock = field(default_factory=threading.Lock)
    over: threading.Event = field(default_factory=threading.Event)
    failure: BaseException | None = None

    def to_the_end(self, stop: Callable[[], None]) -> None:
        """Run, stop or fail; then await the calls that are running, and take their results."""
        self.sorter.prepare()
        try:
            self._advance(check=True)
            while not self.over.wait(CHECK_EVERY):
                self._advance(check=True)
            if self.failure is not None:
                raise self.failure
        except BaseException:
            stop()
            raise
        finally:
            self.over.set()
            with self.lock:
                pending = {future: task for future, task in self.running.items() if not future.cancel()}
            wait(pending)
            for future, task in pending.items():
                if future.exception() is None:
                    self.take(task, future.result())

    def _note(self, future: Future[Any]) -> None:
        self.ended.append(future)
        self._advance()

    def _advance(self, check: bool = False) -> None:
        """Take results and submit ready tasks, by one thread at a time; other threads return at once."""
        while (self.ended or check) and not self.over.is_set() and self.lock.acquire(blocking=False):
            check = False
            try:
                self._submit()
                while self.ended:
                    self._take_one(self.ended.popleft())
                    self._submit()
            except BaseException as failure:
                self.failure = failure
                self.over.set()
            finally:
                self.lock.release()

    def _take_one(self, future: Future[Any]) -> None:
        task = self.running[future]
        try:
            result = future.result()
        except Exception as error:
            raise CallFailed(task, list(self.running.values())) from error
        del self.running[future]
        if self.take(task, result):
            self.sorter.done(task)
        else:
            heappush(self.ready, task)

    def _submit(self) -> None:
        if self.over.is_set() or not self.wanted() or not self.sorter.is_active():
            self.over.set()
            return
        for task in self.sorter.get_ready():
            heappush(self.ready, task)
        while self.ready and len(self.running) < self.at_once:
            task = heappop(self.ready)
            function, *arguments = self.call(task)
            try:
                future = self.pool.submit(function, *arguments)
            except Exception as error:
                raise CallFailed(task, [*self.running.values(), task]) from error
            self.running[future] = task
            future.add_done_callback(self._note)
