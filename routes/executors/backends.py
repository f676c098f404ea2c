"""Any backend that joblib knows, the user's own too: waves of tasks through ``joblib.Parallel``.

Its workers map the arrays of the run, so they must see its folder as processes of one machine do. For several
machines there is the executor ``mpi``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from routes.executors.elsewhere import handed_over, perform_in
from routes.executors.ready import Ready
from routes.executors.watch import Watch
from routes.job import Bench, TaskError

#: Backends that copy this process as it is, threads and locks of libraries too, which may hang.
FORKS = ("multiprocessing",)


def executor_on(name: str) -> Callable[[Bench, Sequence[int], Watch], None]:
    """The executor that runs on a joblib backend: a wave has all tasks whose needs are done.

    Raises
    ------
    ValueError
        joblib knows no such backend, or it is one that forks: which there are.

    Examples
    --------
    >>> executor_on("no such")
    Traceback (most recent call last):
        ...
    ValueError: there is no executor 'no such'; write sequential, threads, processes or mpi, or a backend of joblib: dask, loky, threading
    """  # noqa: E501
    from joblib.parallel import BACKENDS, EXTERNAL_BACKENDS

    known = sorted({*BACKENDS, *EXTERNAL_BACKENDS} - {"sequential", *FORKS})
    if name not in known:
        why = "forks, which libraries with threads do not survive" if name in FORKS else ""
        said = f"joblib's {name} {why}" if why else f"there is no executor {name!r}"
        raise ValueError(
            f"{said}; write sequential, threads, processes or mpi, or a backend of joblib: {', '.join(known)}"
        )

    def execute(bench: Bench, todo: Sequence[int], watch: Watch) -> None:
        _on_backend(name, bench, todo, watch)

    return execute


def _on_backend(name: str, bench: Bench, todo: Sequence[int], watch: Watch) -> None:
    from joblib import Parallel, delayed, parallel_config

    workers = min(bench.job.plan.workers, len(todo))
    if workers == 0:
        return
    ready = Ready(bench.job.tasks, todo)
    with (
        handed_over(bench) as handed,
        parallel_config(backend=name, n_jobs=workers),
        Parallel(return_as="generator", batch_size=1) as parallel,
    ):
        while wave := list(iter(ready.take_now, None)):
            ended = parallel(delayed(perform_in)(handed.folder, task) for task in wave)
            try:
                for task in wave:
                    if not _next(ended, task, bench):
                        handed.stop()
                        break
                    ready.finish(task)
                    watch.finished(task)
                    if not watch.wanted():
                        handed.stop()
            except BaseException:
                handed.stop()
                raise
            finally:
                # A backend that is left in the middle complains later, where nobody can hear it.
                with suppress(Exception):
                    deque(ended, maxlen=0)
            if handed.unwanted[0]:
                return


def _next(ended: Iterator[bool], task: int, bench: Bench) -> bool:
    """Whether the next task was done; a backend that fails itself does so at this one or a later one."""
    try:
        return next(ended)
    except TaskError:
        raise
    except Exception as error:
        raise bench.failed(task, error) from error
