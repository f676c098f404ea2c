"""One task after another, in the calling thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any

from routes.executors.base import ExecutorCosts, ExecutorType


class Immediate(Executor):
    """Executor that runs each call in :meth:`submit`."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@contextmanager
def open_immediate(workers: int) -> Iterator[Executor]:
    """Executor of the calling thread, whatever the number of workers."""
    yield Immediate()


EXECUTOR = ExecutorType(
    "sequential",
    open_immediate,
    "shared",
    ExecutorCosts(0.0, 0.0, 5e-6, 0.0, assumed=True),
    parallel=False,
    ahead=1,
)
