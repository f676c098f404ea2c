"""One task after another, where the caller is."""

from __future__ import annotations

from collections.abc import Sequence

from routes.executors.watch import Watch
from routes.job import Bench


def execute(bench: Bench, todo: Sequence[int], watch: Watch) -> None:
    """Do the tasks in ascending order.

    Raises
    ------
    TaskError
        Of the first task that failed.
    """
    for task in todo:
        if not bench.perform(task, 0, watch.wanted):
            return
        watch.finished(task)
