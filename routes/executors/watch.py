"""How far a run is, and whether it is still wanted."""

from __future__ import annotations

import threading
from collections.abc import Callable

from routes.tasks import Tasks

Progress = Callable[[float], object]


class Watch:
    """Passes on the share of the work that is done; False from the one who is told stops the run.

    Parameters
    ----------
    tasks : of the run
    done : tasks that an earlier run has done
    progress : called with the share that is done now and then, never by two threads at once
    """

    def __init__(self, tasks: Tasks, done: int = 0, progress: Progress | None = None) -> None:
        self._progress, self._lock = progress, threading.Lock()
        self._share = [len(call) for call in tasks.calls]
        self._tasks, self._wanted = tasks, True
        self._whole = float(sum(self._share)) * float(tasks.bounds[-1])
        self._done = 0.0 if done == 0 else self._whole * done / len(tasks)

    def wanted(self) -> bool:
        """Whether anybody still wants the answer; asks whoever is told of the progress."""
        if self._progress is not None:
            self._tell()
        return self._wanted

    def stop(self) -> None:
        """Say that nobody wants it any more."""
        self._wanted = False

    def finished(self, task: int) -> None:
        """Note a task that is done."""
        first, stop = self._tasks.span(task)
        with self._lock:
            self._done += self._share[task % len(self._share)] * (stop - first)
        if self._progress is not None:
            self._tell()

    def _tell(self) -> None:
        if self._progress is None or not self._lock.acquire(blocking=False):
            return
        try:
            if self._progress(min(1.0, self._done / self._whole)) is False:
                self._wanted = False
        finally:
            self._lock.release()
