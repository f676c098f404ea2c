"""Which tasks can be begun: those whose needs are done, the lowest number first."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from heapq import heapify, heappop, heappush

from routes.tasks import Tasks


class Ready:
    """Tasks whose needs are done, handed out in ascending order, to threads too.

    Parameters
    ----------
    todo : tasks that are not done, ascending
    """

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

    def take_now(self) -> int | None:
        """The next task, if one can be begun now."""
        with self._changed:
            return heappop(self._heap) if self._heap and self._left > 0 else None

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
